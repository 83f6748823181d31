"""HTML: one self-contained file, formulas as MathML, for the screen (light, dark, phone) and for paper."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import cache, lru_cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from drillgen.typeset.html import Html
from drillgen.typeset.markdown import read
from drillgen.worksheet import qr
from drillgen.worksheet.options import Options
from drillgen.worksheet.question import Part, Question, named_slips

if TYPE_CHECKING:
    from drillgen.worksheet.sheets import Sheet

_PAGES = {"a4": "A4", "letter": "letter"}


def render(sheets: Sequence[Sheet], options: Options, key: bool) -> str:
    """One page of all sheets, or of all their keys."""
    title = f"Key: {options.title}" if key else options.title
    body = "\n".join(_sheet(sheet, options, key) for sheet in sheets)
    columns = "" if key or options.columns == 1 else "@media print { .sheet > ol { columns: 2; column-gap: 9mm; } }"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{_font()}{_style()}"
        f"@page {{ size: {_PAGES[options.paper]}; margin: 18mm 20mm; }}\n{columns}\n</style>\n</head>\n"
        f"<body{' class=key' if key else ''}>\n{body}\n</body>\n</html>\n"
    )


@cache
def _folder() -> Path:
    import templates

    assert templates.__file__ is not None
    return Path(templates.__file__).parent


@cache
def _style() -> str:
    return (_folder() / "_worksheet.css").read_text(encoding="utf-8")


@cache
def _font() -> str:
    """The maths font, inside the file, so that brackets grow and formulas look the same everywhere.

    A subset of STIX Two Math (SIL Open Font License 1.1, its text stands beside it), cut with pyftsubset to what
    `drillgen.typeset.mathml` writes; a test holds it to that.
    """
    data = base64.b64encode((_folder() / "_worksheet_math.woff").read_bytes()).decode()
    return f'@font-face {{ font-family: "drillgen math"; src: url("data:font/woff;base64,{data}") format("woff"); }}\n'


@lru_cache(maxsize=4096)
def _typeset(markdown: str, phrase: bool = False) -> str:
    writer = Html()
    return writer.phrase(read(markdown)) if phrase else writer.blocks(read(markdown))


def _sheet(sheet: Sheet, options: Options, key: bool) -> str:
    student = escape(sheet.student.label) if sheet.student else ""
    title = escape(f"Key: {options.title}" if key else options.title)
    head = f"<h1>{title}</h1>\n"
    if key:
        head += f'<h2 class="student">{student}</h2>\n' if student else ""
    else:
        name = f"<b>{student}</b>" if student else '<span class="fill"></span>'
        head += (
            f'<div class="head"><span class="name">Name {name}</span>'
            '<span>Date <span class="fill"></span></span>'
            f'<span>Score <span class="fill"></span> / {sheet.points}</span></div>\n'
        )
        head += "".join(f'<p class="instructions">{escape(s)}</p>\n' for s in options.instructions.splitlines() if s)
    problems = "\n".join(_solved(q, options) if key else _asked(q) for q in sheet.questions)
    ids = "" if key else _ids(sheet, options)
    return f'<section class="sheet">\n{head}<ol>\n{problems}\n</ol>\n{ids}</section>'


def _asked(question: Question) -> str:
    small = f'<span class="id">{escape(question.id)} · {question.minutes} min</span>'
    if not question.parts[0].name:
        (part,) = question.parts
        return f'<li class="problem">{_part(part, small)}</li>'
    parts = "".join(
        f'<div class="part"><span class="tag">({escape(part.name)})</span>{_part(part, "")}</div>'
        for part in question.parts
    )
    return (
        f'<li class="problem parted">{_typeset(question.lead)}<div class="small"><span></span>{small}</div>{parts}</li>'
    )


def _part(part: Part, small: str) -> str:
    options = "".join(f"<li><b>{c.letter}.</b> {_option(c.text, c.plain, part.code)}</li>" for c in part.choices)
    work = f'<div class="work" style="--room:{part.space:g}mm"></div>' if part.space else ""
    line = "" if part.choices else '<div class="answer">Answer <span class="fill"></span></div>'
    return (
        _typeset(part.prompt)
        + (f'<ul class="options">{options}</ul>' if options else "")
        + f'{work}{line}<div class="small"><span>{escape(part.format)}</span>{small}</div>'
    )


def _option(text: str, plain: bool, code: bool) -> str:
    if not plain:
        return _typeset(text, phrase=True)
    return f'<span class="typed">{escape(text)}</span>' if code else escape(text)


def _solved(question: Question, options: Options) -> str:
    answers = "".join(_answer(part) for part in question.parts)
    body = f'{answers}<p class="id key-id">{escape(question.id)}</p>'
    if options.solutions:
        body += f"<div>{_typeset(str(question.problem['solution']))}</div>"
        slips = "".join(
            f'<li>{escape(slip.mark)}<span class="typed">{escape(slip.show)}</span>: '
            f"{_typeset(slip.remark, phrase=True)}</li>"
            for slip in named_slips(question)
        )
        body += f'<div class="slips"><p>Known slips</p><ul>{slips}</ul></div>' if slips else ""
    return f'<li class="problem">{body}</li>'


def _answer(part: Part) -> str:
    name = f"<b>({escape(part.name)})</b> " if part.name else ""
    right = [c for c in part.choices if c.right]
    detail = " · ".join(_option(c.text, c.plain, part.code) for c in right)
    note = "" if part.choices else f' <span class="note">{escape(part.precision)}</span>'
    shown = (
        f'<b class="typed">{escape(part.answer)}</b>' if part.code and not right else f"<b>{escape(part.answer)}</b>"
    )
    return f'<p class="given">{name}{shown} {detail}{note}</p>'


def _ids(sheet: Sheet, options: Options) -> str:
    ids = [question.id for question in sheet.questions]
    codes = "".join(
        f'<img alt="QR code: {escape(text)}" src="data:image/png;base64,{base64.b64encode(code).decode()}">'
        for code, text in zip(qr.codes(options.command, ids), qr.commands(options.command, ids), strict=True)
    )
    listed = "".join(f'<span class="id">{escape(id)}</span> ' for id in ids)
    return (
        f'<div class="ids">{codes}<div>Key of this sheet: <code>{escape(options.command)} ID …</code><br>'
        f"{listed}</div></div>\n"
    )
