"""PDF by Typst: one fixed template, everything else as data; tagged, PDF/UA-1, the same bytes every time.

Typst runs threads of its own: never fork a process after this module has compiled anything.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drillgen.output import Refused
from drillgen.typeset import typst as write
from drillgen.typeset.markdown import read
from drillgen.worksheet import qr
from drillgen.worksheet.names import Fonts, fit, load
from drillgen.worksheet.options import Options
from drillgen.worksheet.question import Part, Question, named_slips

if TYPE_CHECKING:
    from drillgen.worksheet.sheets import Sheet

TEXT_FONTS = ("Libertinus Serif",)
LARGE = 500_000
"""Characters of input (some forty students' sheets) from which a document is made in a process of its own."""
MOST = 12_000_000
"""Characters of input (some seven hundred students' sheets) that would take more memory than most machines have."""
BATCH = 25
"""Separate documents that one process makes."""
STAMP = 1_704_067_200
"""Seconds since 1970 of the creation date that every document carries (the start of 2024): same input, same bytes."""


@dataclass(frozen=True)
class Order:
    """One document to be made: what the template gets, the fonts, the PDF standards."""

    inputs: str
    fonts: Fonts
    standards: Sequence[str]


def render(sheets: Sequence[Sheet], options: Options, key: bool) -> bytes:
    """One PDF of all sheets, or of all their keys.

    Where some character of a name or title is in no font, the document is tagged but does not claim PDF/UA-1.
    """
    order = _order(sheets, options, key)
    if len(order.inputs) > MOST:
        raise Refused(
            f"{len(sheets)} sheets in one PDF would take several GB of memory to set: make fewer, or one file each "
            "(--split DIR)"
        )
    if len(order.inputs) > LARGE:
        return in_child([order])[0]
    return compile_here(order)


def render_each(sheets: Sequence[Sheet], options: Options) -> Iterator[bytes]:
    """A PDF for each sheet; many are made in processes of their own, two at a time."""
    from concurrent.futures import ThreadPoolExecutor

    orders = [_order([sheet], options, False) for sheet in sheets]
    if len(orders) <= BATCH:
        yield from map(compile_here, orders)
        return
    batches = [orders[i : i + BATCH] for i in range(0, len(orders), BATCH)]
    with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        for made in pool.map(in_child, batches):
            yield from made


def _order(sheets: Sequence[Sheet], options: Options, key: bool) -> Order:
    fitted = fit(sheets, options)
    inputs = json.dumps(data(fitted.sheets, fitted.options, key), ensure_ascii=False)
    return Order(inputs, fitted.fonts, ("ua-1",) if fitted.whole else ())


def data(sheets: Sequence[Sheet], options: Options, key: bool) -> dict[str, Any]:
    """What the template gets."""
    return {
        "title": f"Key: {options.title}" if key else options.title,
        "heading": f"Key: {options.title}" if key else options.title,
        "key": key, "solutions": options.solutions,
        "instructions": [line for line in options.instructions.splitlines() if line.strip()],
        "paper": {"a4": "a4", "letter": "us-letter"}[options.paper],
        "columns": 1 if key else options.columns, "spread": not key and options.space is None,
        "fonts": list(TEXT_FONTS), "fallback": True,
        "compact": key and not options.solutions,
        "command": f"{options.command} ID …",
        "sheets": [_sheet(sheet, options, key) for sheet in sheets],
    }  # fmt: skip


def _sheet(sheet: Sheet, options: Options, key: bool) -> dict[str, Any]:
    ids = [question.id for question in sheet.questions]
    student = sheet.student.label if sheet.student else ""
    title = f"Key: {options.title}" if key else options.title
    codes = [] if key else qr.codes(options.command, ids)
    return {
        "student": student, "points": sheet.points, "footer": f"{title} · {student}" if student else title, "ids": ids,
        "command": f"{options.command} {' '.join(ids)}", "qr": [list(code) for code in codes],
        # Few codes go into the last page's footer, so that they never cost a page of their own.
        "long": len(codes) > 2,
        "problems": [_solved(q, options) if key else _asked(q) for q in sheet.questions],
    }  # fmt: skip


@lru_cache(maxsize=4096)
def _typeset(markdown: str) -> str:
    return write.blocks(read(markdown))


@lru_cache(maxsize=4096)
def _phrase(markdown: str) -> str:
    return write.phrase(read(markdown))


def _asked(question: Question) -> dict[str, Any]:
    several = len(question.parts) > 1 or bool(question.parts[0].name)
    parts = [_part(part) for part in question.parts]
    minutes = f" · {question.minutes} min"
    lead = _typeset(question.lead) if question.lead else ""
    shared = {"number": question.number, "id": question.id, "note": minutes, "lead": lead}
    if not several:
        return {**shared, "parts": [], **parts[0]}
    return {**shared, "parts": parts, "whole": height(question) < 170}


def height(question: Question) -> float:
    """About how many mm a problem in parts takes in one column, on the safe side."""
    texts = [question.lead, *(part.prompt for part in question.parts)]
    lines = sum(len(text) / 70 + text.count("\n\n") + 3 * text.count("$$") + 1 for text in texts)
    rows = sum(len(part.choices) for part in question.parts)
    return 5 * (lines + rows) + sum(part.space + 18 for part in question.parts)


def _part(part: Part) -> dict[str, Any]:
    return {
        "name": part.name, "body": _typeset(part.prompt), "format": part.format, "space": part.space,
        "line": not part.choices,
        "options": [
            {"letter": c.letter, "text": plain(c.text, part.code) if c.plain else _phrase(c.text)}
            for c in part.choices
        ],
    }  # fmt: skip


def plain(text: str, code: bool) -> str:
    """A text that is no Markdown, as an expression."""
    return f"raw({write.string(text)})" if code else write.string(text)


def _solved(question: Question, options: Options) -> dict[str, Any]:
    out: dict[str, Any] = {
        "number": question.number, "id": question.id,
        "answers": [_answer(part) for part in question.parts],
    }  # fmt: skip
    if options.solutions:
        out["solution"] = _typeset(str(question.problem["solution"]))
        out["slips"] = [
            {"part": slip.mark, "show": slip.show, "remark": _phrase(slip.remark)} for slip in named_slips(question)
        ]
    return out


def _answer(part: Part) -> dict[str, Any]:
    right = [choice for choice in part.choices if choice.right]
    # The sheet words its own options and a solution goes through them, so the letters alone say enough.
    shown = [c for c in right if c.plain]
    detail = [plain(c.text, part.code) if c.plain else _phrase(c.text) for c in shown]
    note = "" if part.choices else part.precision
    return {"name": part.name, "answer": part.answer, "code": part.code and not right, "detail": detail, "note": note}


@cache
def _template() -> bytes:
    import templates

    assert templates.__file__ is not None
    return (Path(templates.__file__).parent / "_worksheet.typ").read_bytes()


def compile_here(order: Order) -> bytes:
    """Run Typst on the template with these inputs: no packages, no network, an empty root."""
    import typst

    standards: Any = list(order.standards)
    with tempfile.TemporaryDirectory(prefix="drillgen-") as empty:
        compiler = typst.Compiler(
            input=_template(), root=empty, font_paths=load(order.fonts), sys_inputs={"data": order.inputs},
            package_path=empty, package_cache_path=empty,
        )  # fmt: skip
        made = compiler.compile(format="pdf", pdf_standards=standards, timestamp=STAMP)
    assert isinstance(made, bytes)
    return made


def in_child(orders: Sequence[Order]) -> list[bytes]:
    """Documents made in a fresh process: Typst keeps what it has laid out until its process ends."""
    wanted = json.dumps(
        [{"inputs": o.inputs, "folder": o.fonts.folder, "system": o.fonts.system, "standards": list(o.standards)}
         for o in orders]
    )  # fmt: skip
    made = subprocess.run(
        [sys.executable, "-c", "from drillgen.worksheet.pdf import child; child()"],
        input=wanted.encode(), capture_output=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    if made.returncode:
        raise RuntimeError(f"typesetting failed: {made.stderr.decode(errors='replace')[-2000:]}")
    out: list[bytes] = []
    at = 0
    while at < len(made.stdout):
        size = int.from_bytes(made.stdout[at : at + 8])
        out.append(made.stdout[at + 8 : at + 8 + size])
        at += 8 + size
    return out


def child() -> None:
    """The other end of `in_child`: orders on standard input, documents on standard output, each behind its length."""
    for order in json.loads(sys.stdin.buffer.read()):
        fonts = Fonts(order["folder"], order["system"])
        made = compile_here(Order(order["inputs"], fonts, order["standards"]))
        sys.stdout.buffer.write(len(made).to_bytes(8) + made)
