"""Who gets a sheet: a roster file, and each student's own numbers."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drillgen.output import Refused
from solvers.draws import Draws

if TYPE_CHECKING:
    from drillgen.ids import Secret

MOST_CHARACTERS = 200
ATTEMPTS = 60


class BadRoster(Refused):
    """A roster that cannot be read: which line, and what would be right (exit 3)."""


@dataclass(frozen=True)
class Student:
    """row: line of the roster file where the entry ends, from 1. label: what is printed as the name."""

    row: int
    name: str
    id: str = ""
    label: str = ""

    @property
    def key(self) -> str:
        """What a student's numbers hang on: the id where there is one, else the name, never the place in the file."""
        return self.id or self.label

    @property
    def slug(self) -> str:
        """A file name's stem: the row number, and what of the name is plain."""
        plain = unicodedata.normalize("NFKD", self.name).encode("ascii", "ignore").decode().lower()
        return f"{self.row:03d}-{re.sub(r'[^a-z0-9]+', '-', plain).strip('-')[:40].strip('-') or 'student'}"


def read(path: str | Path) -> list[Student]:
    """The students of a CSV file with a column `name` and perhaps `id`; commas or semicolons, BOM accepted."""
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise BadRoster(f"cannot read the roster {path}: {error.strerror}") from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise BadRoster(f"{path}, line {line}: not UTF-8; save the roster as CSV UTF-8") from None
    if "\0" in text:
        raise BadRoster(f"{path}, line {text.count(chr(10), 0, text.index(chr(0))) + 1}: a NUL character")
    return distinct(list(_rows(text, str(path))), str(path))


def _rows(text: str, path: str) -> Iterator[Student]:
    first = text.split("\n", 1)[0]
    separator = max(";,\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    columns: list[str] | None = None
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if columns is None:
                columns = [cell.strip().lower() for cell in cells]
                _check_header(columns, reader.line_num, path)
                continue
            row = dict(zip(columns, (clean(cell) for cell in cells), strict=False))
            name, id = row.get("name", ""), row.get("id", "")
            if not name and not id:
                raise BadRoster(f"{path}, line {reader.line_num}: neither a name nor an id")
            yield Student(reader.line_num, name, id)
    except csv.Error as error:
        raise BadRoster(f"{path}, line {reader.line_num}: {error}") from None
    if columns is None:
        raise BadRoster(f"{path} is empty; its first line names the columns, one of them `name`")


def _check_header(columns: Sequence[str], line: int, path: str) -> None:
    if "name" not in columns:
        found = ", ".join(c or "(empty)" for c in columns)[:100]
        raise BadRoster(f"{path}, line {line}: no column `name` (found: {clean(found)})")
    if columns.count("name") > 1 or columns.count("id") > 1:
        raise BadRoster(f"{path}, line {line}: a column stands there twice")


def clean(text: str, most: int = MOST_CHARACTERS) -> str:
    """A name or title on one line, without the control and bidi characters that could hide or reorder it."""
    kept = "".join(" " if c.isspace() else c for c in unicodedata.normalize("NFC", text) if _visible(c))
    return " ".join(kept.split())[:most]


def _visible(char: str) -> bool:
    if char in "\u200c\u200d\t\n\r":
        return True  # joiners shape Indic and Persian names and emoji
    return unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Cn", "Co")


def distinct(students: Sequence[Student], path: str) -> list[Student]:
    """The students with labels that tell them apart: the id goes with the name, the row where names repeat."""
    if not students:
        raise BadRoster(f"{path} names no students")
    names = Counter((s.name, s.id) for s in students)
    out: list[Student] = []
    for student in students:
        label = f"{student.name} ({student.id})" if student.name and student.id else student.name or student.id
        if names[(student.name, student.id)] > 1:
            label += f" (row {student.row})"
        out.append(replace(student, label=label))
    return out


def own_problems(base: Sequence[Any], seed: str, student: Student, secret: Secret | None = None) -> list[Any]:
    """The same drills in the same order with this student's own numbers, so that all sheets are equally hard.

    `base` holds instances or scenario instances. A student's numbers do not change when the roster does.
    """
    from drillgen import ids
    from drillgen.instance import open_id
    from drillgen.problemset import fingerprint

    seen: set[bytes] = set()
    out: list[Any] = []
    for number, instance in enumerate(base, 1):
        wanted = ids.parse(instance.id)
        seeds = Draws(f"student/{seed}/{student.key}/{number}")
        for _ in range(ATTEMPTS):
            id = ids.spell(wanted.drill, wanted.version or 1, seeds.integer(0, ids.MAX_SEED), secret)
            found = open_id(id, secret)
            mark = fingerprint(found) if hasattr(found, "values") else id.encode()
            if mark not in seen:
                break
        seen.add(mark)
        out.append(found)
    return out
