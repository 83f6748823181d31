"""What people read in the terminal: problems and verdicts, as plain lines.

Everything that came from outside passes through `printable`, so that no control or bidi character of an answer
reaches the screen. Marks are words, never colour alone.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grading.verdict import Verdict

LETTERS = "ABCDEFGHIJKLMNOP"
MARKS = {"right": "right", "wrong": "wrong", None: "undecided"}


def width() -> int:
    """Columns to wrap at: the terminal's, between 40 and 100."""
    try:
        columns = int(os.environ.get("COLUMNS") or os.get_terminal_size(sys.stdout.fileno()).columns)
    except (OSError, ValueError):
        columns = 88
    return max(40, min(100, columns))


def prose(markdown: str, indent: str = "") -> str:
    """Markdown with LaTeX as terminal text: √d_k, qᵀk, Σ_j; wrapped, each line behind the indent."""
    room = width() - len(indent)
    if not set(markdown) & set("$*`\\\n"):
        lines = _filled(markdown, room)
    else:
        from drillgen.typeset import terminal

        lines = terminal.write(markdown, room).split("\n")
    return "\n".join(indent + line if line else "" for line in lines)


def one_line(markdown: str) -> str:
    """Markdown with LaTeX as terminal text on one line, for a table."""
    if not set(markdown) & set("$*`\\\n"):
        return markdown
    from drillgen.typeset import terminal

    return " ".join(terminal.write(markdown, 10_000).split())


def plain(text: str, indent: str = "") -> str:
    """Text that is no Markdown (an answer, a reading, an error), wrapped; what learners typed passes unharmed."""
    from grading.reading.screen import printable

    return "\n".join(indent + line for line in _filled(printable(text, 2000), width() - len(indent)))


def labelled(label: str, markdown: str, wrap: Callable[[str, str], str] = prose) -> str:
    """A text behind its label, further lines under its first word."""
    return label + wrap(markdown, " " * len(label))[len(label) :]


def _filled(text: str, room: int) -> list[str]:
    if len(text) <= room:
        return [text]
    import textwrap

    return textwrap.wrap(text, max(20, room), break_long_words=False, break_on_hyphens=False) or [""]


def verdict_lines(verdict: Verdict, problem: Mapping[str, Any] | None = None) -> Iterator[str]:
    """A verdict in lines: the mark, how the answer was read, the slip's remark or where it differs.

    problem: where it is at hand, options are named by the letters that the learner sees.
    """
    if verdict.status == "graded":
        yield MARKS[verdict.verdict] + _share(verdict)
    else:
        yield "cannot read this answer (no attempt charged)" if verdict.status == "invalid" else verdict.status
    if verdict.reading:
        yield labelled("  read as: ", lettered(verdict.reading, problem), plain)
    for remark in verdict.remarks:
        yield prose(remark, "  ")
    for finding in verdict.findings:
        yield _remark(finding.text)
    yield from _whole_scenario(verdict) if verdict.kind == "parts" and not verdict.part else _details(verdict)


def _share(verdict: Verdict) -> str:
    """How much of a wrong answer in parts is right."""
    if verdict.verdict != "wrong" or not verdict.score:
        return ""
    if verdict.parts:
        done = sum(1 for p in verdict.parts if p.get("verdict") == "right")
        return f" ({done} of {len(verdict.parts)} right)"
    return f" (score {verdict.score:.2f})"


def lettered(text: str, problem: Mapping[str, Any] | None) -> str:
    """The members of a choice by the letters shown, other texts as they are."""
    options = (problem or {}).get("options") or ()
    letters = {o["key"]: letter for letter, o in zip(LETTERS, options, strict=False)}
    if not letters:
        return text
    # Letters first, in their order; a member that is no option stays as it was typed.
    return ", ".join(sorted((letters.get(key, key) for key in text.split(", ")), key=lambda x: (x not in LETTERS, x)))


def _remark(text: str, indent: str = "  ") -> str:
    """A finding: it may quote what the learner typed, which need not be Markdown."""
    if "$" not in text:
        return plain(text, indent)
    from drillgen.typeset.errors import TypesetError

    try:
        return prose(text, indent)
    except TypesetError:
        return plain(text, indent)


def _details(verdict: Verdict) -> Iterator[str]:
    lines = (verdict.detail or "").splitlines()
    # The last two lines may be the text and a caret under it: they are windowed, never wrapped.
    pointed = lines[-2:] if len(lines) > 2 and lines[-1].strip() == "^" else []
    for line in lines[: len(lines) - len(pointed)]:
        yield plain(line, "  ")
    if pointed and pointed[0].strip():
        yield from _window(*pointed)
    own = any(part.get("follows_own") for part in verdict.parts)
    if not own:
        what = "row" if verdict.kind == "table" else "part"
        for part in verdict.parts:
            yield f"  {what} {_name(part)}: {_mark(part)}"
    if verdict.witness and not lines:
        yield plain(_witness(verdict.witness), "  ")


def _whole_scenario(verdict: Verdict) -> Iterator[str]:
    """Every part on a line of its own, with what there is to say about it."""
    import re

    # "part a: …; part b: …" or the same on lines of their own.
    before, *pairs = re.split(r"(?:^|\n|; )part ([^:;\n]{1,40}): ", verdict.detail or "")
    said = dict(zip(pairs[::2], pairs[1::2], strict=True))
    for line in before.splitlines():
        yield plain(line, "  ")
    for part in verdict.parts:
        text = said.get(str(part.get("name")), "").removeprefix("differs")
        gone = part.get("status") == "invalid" and (not text or text in ("nothing is given", "the answer is empty"))
        mark = "no answer" if gone else _mark(part)
        yield labelled(f"  {_name(part)}: ", f"{mark}; {text}" if text and not gone else mark, _remark)


def _name(part: Mapping[str, Any]) -> str:
    from grading.reading.screen import printable

    return printable(str(part.get("name", "")), 40)


def _mark(part: Mapping[str, Any]) -> str:
    status = part.get("status", "graded")
    return MARKS[part.get("verdict")] if status == "graded" else "not read" if status == "invalid" else str(status)


def _window(text: str, caret: str) -> Iterator[str]:
    """The text with its caret, cut to the width around the caret."""
    room, column = width() - 3, len(caret.rstrip()) - 1
    begin = max(0, column - room + 12) if len(text) > room else 0
    piece = text[begin : begin + room]
    lead = "…" if begin else ""
    yield f"  {lead}{piece[len(lead) :]}"
    yield "  " + " " * (column - begin) + "^"


def _witness(witness: Mapping[str, Any]) -> str:
    point = witness.get("point") or {}
    where = ", ".join(f"{k} = {v}" for k, v in point.items()) if isinstance(point, Mapping) else str(point)
    rest = "; ".join(f"{k}: {v}" for k, v in witness.items() if k != "point")
    return f"for example at {where}: {rest}" if where else rest


def head_line(problem: Mapping[str, Any]) -> str:
    """id · card · difficulty · time."""
    return f"{problem['id']}   {_cards(problem)} · {effort(problem)}"


def effort(problem: Mapping[str, Any]) -> str:
    """difficulty · time."""
    return f"{'★' * int(problem['stars'])} · {problem['minutes']} min"


def _cards(problem: Mapping[str, Any]) -> str:
    numbers = problem.get("cards") or [problem["card"]]
    return f"card{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def asked(problem: Mapping[str, Any]) -> str:
    """How to answer, and how precisely."""
    precision = "" if "choice" in problem["kind"] else f"; {problem['precision']}"
    return f"Answer: {problem['answer_format']}{precision}"


def problem_lines(problem: Mapping[str, Any], hints: bool = False) -> Iterator[str]:
    """A problem as terminal text; with answer, slips and solution where the problem holds them."""
    yield head_line(problem)
    yield ""
    yield prose(problem["prompt"])
    if problem["kind"] == "parts" and "parts" in problem and "cards" in problem:
        for part in problem["parts"]:
            yield ""
            yield from part_lines(part, hints)
        return
    yield from _body(problem, hints)


def part_lines(part: Mapping[str, Any], hints: bool = False) -> Iterator[str]:
    """A part of a scenario as terminal text."""
    yield f"({part['name']}) {effort(part)}"
    yield ""
    yield prose(part["prompt"])
    yield from _body(part, hints)


def _body(problem: Mapping[str, Any], hints: bool) -> Iterator[str]:
    if problem.get("options"):
        yield ""
    for letter, option in zip(LETTERS, problem.get("options", ()), strict=False):
        yield labelled(f"  {letter}. ", option["text"])
    yield ""
    yield labelled("Answer: ", asked(problem).removeprefix("Answer: "), plain)
    if hints:
        yield ""
        for number, hint in enumerate(problem["hints"], 1):
            yield hint_line(number, hint)
    if "answer" in problem:
        yield ""
        yield from key_lines(problem)


def hint_line(number: int, hint: str) -> str:
    """A hint behind its number."""
    return labelled(f"hint {number}: ", hint)


def key_lines(problem: Mapping[str, Any], slips: bool = True) -> Iterator[str]:
    """The answer, the slips where wanted, and the worked solution."""
    yield labelled("answer: ", lettered(problem["answer"]["show"], problem), plain)
    if slips and problem["slips"]:
        yield ""
        yield "slips:"
        for slip in problem["slips"]:
            yield labelled("  ", f"{lettered(slip['show'], problem)}  [{slip['id']}]", plain)
            yield prose(slip["remark"], "    ")
    yield ""
    yield prose(problem["solution"])


def problem_markdown(problem: Mapping[str, Any], number: int) -> str:
    """A problem as Markdown with LaTeX, passed through."""
    out = [f"## {number}. {head_line(problem)}", "", problem["prompt"], ""]
    parts = problem["parts"] if "cards" in problem else [problem]
    for part in parts:
        if part is not problem:
            out += [f"### ({part['name']})", "", part["prompt"], ""]
        out += [f"- {x}. {o['text']}" for x, o in zip(LETTERS, part.get("options", ()), strict=False)]
        out += [*([""] if part.get("options") else []), f"*{asked(part)}*", ""]
        if "answer" in part:
            # In code spans: the stars of a formula are no emphasis.
            out += [f"**Answer:** `{part['answer']['show']}`", ""]
            out += [f"- `{s['show']}` ({s['id']}): {s['remark']}" for s in part["slips"]]
            out += ["", part["solution"], ""]
    return "\n".join(out)
