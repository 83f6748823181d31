"""Markdown: problems as the templates wrote them, LaTeX passed through."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from drillgen.worksheet.options import Options
from drillgen.worksheet.question import Part, Question, named_slips

if TYPE_CHECKING:
    from drillgen.worksheet.sheets import Sheet


def escape(text: str) -> str:
    """A text as Markdown that shows it and does nothing else."""
    text = " ".join(text.split())
    text = re.sub(r"([\\`*_\[\]$<>&~|])", r"\\\1", text)
    return re.sub(r"^([#+\-=]|\d+(?=[.)](?:\s|$)))", _at_start, text)


def _at_start(found: re.Match[str]) -> str:
    """What would begin a heading, a list or an underline."""
    mark = found[1]
    return f"\\{mark}" if not mark.isdigit() else f"{mark}\\"


def code(text: str) -> str:
    """A text as a code span, whatever backticks it holds."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def render(sheets: Sequence[Sheet], options: Options, key: bool) -> str:
    """All sheets, or all their keys, one after the other."""
    pages = ["\n".join(_sheet(sheet, options, key)) for sheet in sheets]
    return "\n---\n\n".join(page.rstrip() + "\n" for page in pages)


def _sheet(sheet: Sheet, options: Options, key: bool) -> Iterator[str]:
    title = f"Key: {options.title}" if key else options.title
    yield f"# {escape(title)}"
    yield ""
    if sheet.student:
        yield f"**{escape(sheet.student.label)}**" if key else f"Name: **{escape(sheet.student.label)}**"
        yield ""
    if not key:
        yield f"{'' if sheet.student else 'Name: ________  '}Date: ________  Score: ____ / {sheet.points}"
        yield ""
        for line in options.instructions.splitlines():
            if line.strip():
                yield from (f"*{escape(line)}*", "")
    for question in sheet.questions:
        yield from _solved(question, options) if key else _asked(question)
    if not key:
        ids = " ".join(question.id for question in sheet.questions)
        yield f"Key of this sheet: {code(f'{options.command} {ids}')}"


def _asked(question: Question) -> Iterator[str]:
    yield f"## {question.number}. {code(question.id)}"
    yield ""
    if question.lead:
        yield from (question.lead, "")
    for part in question.parts:
        if part.name:
            yield from (f"### ({escape(part.name)})", "")
        yield from (part.prompt, "")
        for choice in part.choices:
            yield f"- **{choice.letter}.** {_option(choice.text, choice.plain, part)}"
        if part.choices:
            yield ""
        yield f"*{escape(part.format)}*" if part.choices else f"Answer: ________ *{escape(part.format)}*"
        yield ""


def _option(text: str, plain: bool, part: Part) -> str:
    if not plain:
        return text
    return code(text) if part.code else escape(text)


def _solved(question: Question, options: Options) -> Iterator[str]:
    yield f"## {question.number}. {code(question.id)}"
    yield ""
    for part in question.parts:
        name = f"({escape(part.name)}) " if part.name else ""
        right = [choice for choice in part.choices if choice.right]
        shown = code(part.answer) if part.code and not right else f"**{escape(part.answer)}**"
        detail = " · ".join(_option(choice.text, choice.plain, part) for choice in right)
        note = detail if right else f"*{escape(part.precision)}*"
        yield from (f"{name}{shown} {note}".rstrip(), "")
    if options.solutions:
        yield from (str(question.problem["solution"]), "")
        slips = named_slips(question)
        if slips:
            yield from ("*Known slips*", "")
            yield from (f"- {slip.mark}{code(slip.show)}: {slip.remark}" for slip in slips)
            yield ""
