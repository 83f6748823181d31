"""Submissions in, verdicts out: one row at a time, in order, in bounded memory.

A row is {student, id, answer[, part]} from CSV (a header line; commas or semicolons; BOM accepted) or JSON Lines. A row
that is no row, an id that is unknown and an answer that cannot be read each get a verdict with that status: data, not
failure.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from drillgen.ids import BadId, Secret
from drillgen.instance import Instance, open_id
from drillgen.output import CannotWrite
from grading.verdict import Verdict
from solvers.errors import DrillError, Unknown

if TYPE_CHECKING:
    from drillgen.scenario import ScenarioInstance

MAX_FIELD = 100_000
COLUMNS = ("student", "id", "answer")


@dataclass(frozen=True, slots=True)
class Submission:
    """One row; `problem` says why it is no row. number: the line or record, from 1."""

    number: int
    student: str = ""
    id: Any = ""
    answer: str = ""
    part: str | None = None
    problem: str = ""


def read(stream: IO[bytes], name: str) -> Iterator[Submission]:
    """The submissions of one file; CSV or JSON Lines is told from the first character that is no space."""
    head = stream.peek(4096)[:4096] if hasattr(stream, "peek") else b""
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
    if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"["):
        return _json_rows(text)
    return _csv_rows(text, name)


def _csv_rows(text: IO[str], name: str) -> Iterator[Submission]:
    csv.field_size_limit(MAX_FIELD)
    first = text.readline(MAX_FIELD)
    comma, semicolon = first.count(","), first.count(";")
    delimiter = ";" if semicolon > comma else "\t" if "\t" in first and not comma else ","
    header = [h.strip().lower() for h in next(csv.reader([first], delimiter=delimiter), [])]
    missing = [c for c in COLUMNS if c not in header]
    if missing:
        raise CannotWrite(
            f"{name}: the header line must name the columns student, id, answer (and part where used); "
            f"missing: {', '.join(missing)}"
        )
    reader = csv.reader(text, delimiter=delimiter)
    number = 1
    while True:
        number += 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Submission(number, problem=f"row {number} is no CSV row: {error}")
            continue
        if not any(c.strip() for c in cells):
            continue
        if len(cells) != len(header):
            yield Submission(
                number,
                student=_cell(cells, header, "student"),
                id=_cell(cells, header, "id"),
                problem=f"row {number} has {len(cells)} cells where the header has {len(header)}: "
                "an answer that holds the separator must stand in double quotes",
            )
            continue
        yield Submission(
            number,
            _cell(cells, header, "student"),
            _cell(cells, header, "id"),
            cells[header.index("answer")],
            _cell(cells, header, "part") or None,
        )


def _cell(cells: list[str], header: list[str], name: str) -> str:
    at = header.index(name) if name in header else len(cells)
    return cells[at].strip() if at < len(cells) else ""


def _json_rows(text: IO[str]) -> Iterator[Submission]:
    number = 0
    while line := text.readline(4_000_000):
        number += 1
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            yield Submission(number, problem=f"line {number} is no JSON object")
            continue
        yield _from_json(row, number)


def _from_json(row: Any, number: int) -> Submission:
    if not isinstance(row, Mapping):
        return Submission(number, problem=f"line {number} is no JSON object")
    id, answer, part = row.get("id"), row.get("answer"), row.get("part")
    student = row.get("student", "")
    student = student if isinstance(student, str) else json.dumps(student)
    if isinstance(answer, int | float) and not isinstance(answer, bool):
        answer = repr(answer)  # a number in JSON is the answer that it spells
    if isinstance(part, int) and not isinstance(part, bool):
        part = str(part)  # rows of a table are named 1, 2, ...
    part = "" if part is None else part
    if isinstance(id, str) and isinstance(answer, str) and isinstance(part, str):
        return Submission(number, student, id, answer, part or None)
    name, value = next((n, v) for n, v in (("id", id), ("answer", answer), ("part", part)) if not isinstance(v, str))
    lacks = "is missing" if value is None else "is no text"
    return Submission(number, student, "" if id is None else id, problem=f"line {number}: {name!r} {lacks}")


class Grader:
    """Grades submissions one by one. Instances are built once for many answers (the last 4,096 ids are kept).

    opened: the problem of an id. choices: answers may be the letters of a sheet printed with --choices. earlier: what
    students answered to parts of scenarios so far, for follow-through.
    """

    def __init__(self, secret: Secret | None = None, decimal_comma: bool = False, choices: bool = False) -> None:
        self.opened = lru_cache(maxsize=4096)(lambda id: open_id(id, secret))
        self._comma = decimal_comma
        self._choices = choices
        self._letters = lru_cache(maxsize=4096)(_letters)
        self._earlier: dict[tuple[str, str], dict[str, str]] = {}

    def grade(self, row: Submission) -> Verdict:
        """The verdict on one row, with its student, id and part."""
        return self._verdict(row)._replace(id=row.id, student=row.student, part=row.part)

    def _verdict(self, row: Submission) -> Verdict:
        if row.problem:
            return Verdict(status="bad_row", detail=row.problem)
        try:
            found: Instance | ScenarioInstance = self.opened(row.id)
        except (Unknown, BadId) as error:
            return Verdict(status="unknown_id", detail=str(error))
        except DrillError as error:
            return Verdict(status="crash", detail=str(error))
        try:
            if isinstance(found, Instance) or row.part is None:
                return found.grade(self._typed(found, row), row.part, self._comma)
            earlier = self._earlier.setdefault((row.student, row.id), {})
            verdict = found.grade(row.answer, row.part, self._comma, earlier)
            earlier[row.part] = row.answer
            return verdict
        except Unknown as error:
            return Verdict(status="bad_row", detail=str(error))
        except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError, MemoryError) as error:
            # A fault of the grader is never a 0: the row is quarantined by name, and the others go on.
            return Verdict(status="crash", detail=f"the grader failed on this row: {type(error).__name__}")

    def _typed(self, found: Instance | ScenarioInstance, row: Submission) -> str:
        """The answer, or what its letter stands for on a sheet with --choices."""
        if not self._choices or not isinstance(found, Instance) or row.part:
            return row.answer
        return self._letters(found).get(row.answer.strip(" ().").upper(), row.answer)


def _letters(found: Instance) -> dict[str, str]:
    """What the letters of a sheet with --choices stand for; drills with options of their own read theirs themselves."""
    from drillgen.worksheet.choices import of_slips

    if hasattr(found.kind, "options"):
        return {}
    return {choice.letter: choice.text for choice in of_slips(found.problem(answers=True), found.grade)}


class Gradebook:
    """student × id with totals; the last of duplicate answers counts."""

    def __init__(self) -> None:
        self._marks: dict[str, dict[str, tuple[str, float | None]]] = {}
        self._columns: dict[str, None] = {}
        self.duplicates = 0

    def add(self, verdict: Verdict) -> None:
        """Enter one verdict."""
        if verdict.status == "bad_row" and not verdict.id:
            return
        column = str(verdict.id) + (f" ({verdict.part})" if verdict.part else "")
        row = self._marks.setdefault(verdict.student or "", {})
        self.duplicates += column in row
        self._columns.setdefault(column)
        if verdict.status == "graded" and verdict.score is not None:
            row[column] = (f"{verdict.score:g}", verdict.score)
        else:
            row[column] = ("?", None)

    def write(self, stream: IO[str]) -> None:
        """CSV: a student a row; total, answered, unreadable (the ? cells) in the last three columns."""
        writer = csv.writer(stream, lineterminator="\n")
        columns = list(self._columns)
        writer.writerow([harmless(c) for c in ("student", *columns, "total", "answered", "unreadable")])
        for student, marks in self._marks.items():
            scores = [s for _, s in marks.values() if s is not None]
            cells = [marks.get(c, ("", None))[0] for c in columns]
            total = f"{round(sum(scores), 10):g}"
            writer.writerow([harmless(student), *cells, total, len(marks), len(marks) - len(scores)])


def harmless(cell: str) -> str:
    """A cell that no spreadsheet runs or chokes on: what begins like a formula gets a leading apostrophe, and
    characters that cannot be seen are written out."""
    from grading.reading.screen import printable

    cell = printable(cell, 1000)
    return f"'{cell}" if cell[:1] in tuple("=+-@\t\r\n|%") else cell


def open_input(path: str) -> IO[bytes]:
    """A submission file (or - for standard input), or one line on why it cannot be read."""
    import sys

    if path == "-":
        return sys.stdin.buffer
    try:
        return Path(path).open("rb")
    except OSError as error:
        raise CannotWrite(f"cannot read {path}: {error.strerror}") from None
