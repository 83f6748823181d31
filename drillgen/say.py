"""What people read in the terminal: problems and verdicts, as plain lines.

Everything that came from outside passes through `printable`, so that no control or bidi character of an answer
reaches the screen. Marks are words, never colour alone.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grading.verdict import Verdict

MARKS = {"right": "right", "wrong": "wrong", None: "undecided"}


def width() -> int:
    """Columns to wrap at: the terminal's, between 40 and 100."""
    try:
        columns = int(os.environ.get("COLUMNS") or os.get_terminal_size(sys.stdout.fileno()).columns)
    except (OSError, ValueError):
        columns = 88
    return max(40, min(100, columns))


def ascii_only() -> bool:
    """Whether standard output cannot show the field's notation."""
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "")
    return encoding not in ("utf8", "utf16", "utf32", "utf8sig")


def prose(markdown: str) -> str:
    """Markdown with LaTeX as terminal text: √d_k, qᵀk, Σ_j."""
    if "$" not in markdown and "*" not in markdown and "`" not in markdown and len(markdown) < width():
        return markdown
    from drillgen.typeset import terminal

    return terminal.write(markdown, width())


def verdict_lines(verdict: Verdict) -> Iterator[str]:
    """A verdict in lines: the mark, how the answer was read, the slip's remark or where it differs."""
    from grading.reading.show import printable

    if verdict.status == "graded":
        head = MARKS[verdict.verdict]
        if verdict.verdict == "wrong" and verdict.score:
            head += f" (score {verdict.score:.2f})"
    else:
        head = "cannot read this answer (no attempt charged)" if verdict.status == "invalid" else verdict.status
    yield head
    if verdict.reading:
        yield f"  read as: {printable(verdict.reading)}"
    for remark in verdict.remarks:
        yield from _indented(prose(remark))
    for finding in verdict.findings:
        yield from _indented(prose(finding.text))
    for line in (verdict.detail or "").splitlines():
        yield "  " + printable(line, 400)
    for part in verdict.parts:
        note = " (consistent with your earlier part)" if part.get("follows_own") else ""
        mark = MARKS[part.get("verdict")] if part.get("status", "graded") == "graded" else part["status"]
        yield f"  part {printable(str(part.get('name', '')), 40)}: {mark}{note}"
    if verdict.witness:
        yield from _indented(_witness(verdict.witness))


def _indented(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield "  " + line


def _witness(witness: Mapping[str, Any]) -> str:
    from grading.reading.show import printable

    point = witness.get("point") or {}
    where = ", ".join(f"{k} = {v}" for k, v in point.items()) if isinstance(point, Mapping) else str(point)
    rest = "; ".join(f"{k}: {v}" for k, v in witness.items() if k != "point")
    return printable(f"for example at {where}: {rest}" if where else rest, 400)


def head_line(problem: Mapping[str, Any]) -> str:
    """id · card · difficulty · time."""
    stars = "★" * int(problem["stars"])
    return f"{problem['id']}   card {problem['card']} · {stars} · {problem['minutes']} min"


def asked(problem: Mapping[str, Any]) -> str:
    """How to answer, and how precisely."""
    return f"Answer: {problem['answer_format']} ({problem['precision']})"


def problem_lines(problem: Mapping[str, Any], hints: bool = False) -> Iterator[str]:
    """A problem as terminal text; with answer, slips and solution where the problem holds them."""
    yield head_line(problem)
    yield ""
    yield prose(problem["prompt"])
    if problem["kind"] == "parts" and "parts" in problem and "cards" in problem:
        for part in problem["parts"]:
            yield ""
            yield f"({part['name']})  [{part['minutes']} min]"
            yield from _body(part, hints)
        return
    yield from _body(problem, hints, first=False)


def _body(problem: Mapping[str, Any], hints: bool, first: bool = True) -> Iterator[str]:
    if first:
        yield prose(problem["prompt"])
    for letter, option in zip("ABCDEFGHIJKLMNOP", problem.get("options", ()), strict=False):
        yield f"  {letter}. {prose(option['text'])}"
    yield ""
    yield asked(problem)
    if hints:
        for number, hint in enumerate(problem["hints"], 1):
            yield ""
            yield f"hint {number}: {prose(hint)}"
    if "answer" in problem:
        yield ""
        yield f"answer: {prose(problem['answer']['show'])}"
        for slip in problem["slips"]:
            yield f"  {slip['id']}: {slip['show']} - {prose(slip['remark'])}"
        yield ""
        yield prose(problem["solution"])


def problem_markdown(problem: Mapping[str, Any], number: int) -> str:
    """A problem as Markdown with LaTeX, passed through."""
    out = [f"## {number}. {head_line(problem)}", "", problem["prompt"], ""]
    parts = problem["parts"] if "cards" in problem else [problem]
    for part in parts:
        if part is not problem:
            out += [f"### ({part['name']})", "", part["prompt"], ""]
        out += [f"- {x}. {o['text']}" for x, o in zip("ABCDEFGHIJKLMNOP", part.get("options", ()), strict=False)]
        out += [*([""] if part.get("options") else []), f"*{asked(part)}*", ""]
        if "answer" in part:
            out += [f"**Answer:** {part['answer']['show']}", ""]
            out += [f"- {s['id']}: {s['show']} ({s['remark']})" for s in part["slips"]]
            out += ["", part["solution"], ""]
    return "\n".join(out)
