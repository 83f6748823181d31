"""A list of numbers in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from grading.errors import Unreadable
from grading.kinds.base import Comparison, Finding, Samples
from grading.kinds.number import carried
from grading.kinds.numeric import Numeric
from grading.reading.lists import Cell, in_braces, rows
from grading.reading.numbers import Real, real_of
from grading.reading.typed import read_plain


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows of numbers as they were typed. None stands for an entry that holds a declared name: read, but no number."""

    rows: tuple[tuple[Real | None, ...], ...]
    braces: bool = False  # one list in braces: a set, which has no order

    @property
    def single(self) -> bool:
        """Only one number, no list."""
        return len(self.rows) == 1 and len(self.rows[0]) == 1

    @property
    def words(self) -> str:
        """The shape in words."""
        return f"{len(self.rows)} × {len(self.rows[0]) if self.rows else 0}"


@dataclass(frozen=True)
class Entries(Numeric):
    """Common part of vectors and matrices.

    part_credit: the share of right entries is the score of a wrong answer. symbols: names that may be typed without
    being numbers (the answer is then wrong rather than unreadable).
    """

    part_credit: bool = False
    symbols: tuple[str, ...] = field(default=(), kw_only=True)

    def parse(self, text: str) -> Grid:
        found = rows(text)
        if not found or not any(found):
            raise Unreadable("a list is expected, this one is empty", 0)
        width = len(found[0])
        for at, cells in enumerate(found, 1):
            if len(cells) != width:
                place = cells[0].start if cells else None
                raise Unreadable(f"row {at} has {len(cells)} entries, row 1 has {width}", place)
        braces = len(found) == 1 and width > 1 and in_braces(text)
        return Grid(tuple(tuple(self._entry(cell) for cell in cells) for cells in found), braces)

    def _entry(self, cell: Cell) -> Real | None:
        try:
            return read_plain(cell.text, cell.start)
        except Unreadable:
            said = self.word(cell.text)
            if said is not None:
                return real_of(said)
            if self.symbols and self._names(cell):
                return None
            raise

    def _names(self, cell: Cell) -> bool:
        from grading.reading.grammar import Declared, read

        try:
            read(cell.text, Declared(symbols=frozenset(self.symbols)))
        except Unreadable:
            return False
        return True

    def plain(self, given: Grid) -> list[Any] | None:
        lines = [[None if x is None else carried(x) for x in line] for line in given.rows]
        if any(x is None for line in lines for x in line):
            return None
        return lines[0] if self.name == "vector" and len(lines) == 1 else lines

    def agrees(self, a: Any, b: Any, slack: float = 1.0) -> bool:
        return self._close.nested(a, b, slack)

    def precision(self) -> str:
        words = self._close.words()
        return words if self.tolerance.exact else f"{words} in every entry"

    def _wrong(self, given: Sequence[Real | None], key: Sequence[Any]) -> list[int]:
        """The places at which the entries differ, from 0."""
        return [
            at for at, (x, y) in enumerate(zip(given, key, strict=True)) if x is None or not self._bands.of(y).holds(x)
        ]

    def _held(self, wrong: Sequence[str], total: int) -> Comparison:
        """The comparison of equally shaped entries, the wrong ones named."""
        if not wrong:
            return Comparison(True, self._method, score=1.0)
        share = 1 - len(wrong) / total if self.part_credit else 0.0
        return Comparison(False, self._method, named(wrong, total), share)

    def findings(self, given: Grid, value: Any) -> tuple[Finding, ...]:
        from grading.findings import of_entries

        flat = [x for line in given.rows for x in line]
        key = flatten(value)
        if len(flat) != len(key) or not key or any(x is None for x in flat):
            return ()
        reals = [x for x in flat if x is not None]
        shape = (len(value), len(value[0])) if isinstance(value[0], list | tuple) else None
        if shape is not None and (len(given.rows), len(given.rows[0])) != shape:
            return ()
        return of_entries(reals, [self._bands.of(y) for y in key], shape)


@dataclass(frozen=True)
class Vector(Entries):
    """A vector. length: a hint for the answer format; the key decides.

    Values: a list of numbers. One row or one column of a matrix is a vector; a single number is not (unless the key
    has one entry).
    """

    name: ClassVar[str] = "vector"
    length: int | None = None

    def reading(self, given: Grid) -> str:
        line = _line(given)
        if line is None:
            return grid_text(given)
        entries = ", ".join(_text(x) for x in line)
        return f"{{{entries}}}" if given.braces else f"({entries})"

    def show(self, value: Any) -> str:
        shown = [self._close.show(x) for x in value]
        return f"({', '.join(shown)})" if len(shown) != 1 else f"({shown[0]},)"

    def compare(self, given: Grid, value: Any) -> Comparison:
        line = _line(given)
        count = len(value)
        if given.single and count > 1:
            return Comparison(False, self._method, f"a vector of {count} entries is expected, one number given", 0.0)
        if line is None:
            return Comparison(False, self._method, f"a vector is expected, a {given.words} matrix given", 0.0)
        if given.braces:
            reason = "a set in braces has no order; a vector is written (a, b) or [a, b]"
            return Comparison(False, self._method, reason, 0.0)
        if len(line) != count:
            given_words = f"{len(line)} given"
            return Comparison(False, self._method, f"{count} entries are expected, {given_words}", 0.0)
        return self._held([str(at + 1) for at in self._wrong(line, value)], count)

    def answer_format(self) -> str:
        if self.length is None:
            return "a vector, e.g. (0.1, 0.7, 0.2)"
        example = ", ".join(("0.1", "0.7", "0.2", "0.4", "0.3", "0.6")[: max(1, min(self.length, 6))])
        return f"a vector of {self.length} numbers, e.g. ({example}{', …' if self.length > 6 else ''})"

    def samples(self, value: Any) -> Samples:
        entries = [self._close.show(x) for x in value]
        right = [self.show(value), f"[{' '.join(entries)}]" if len(entries) > 1 else entries[0]]
        if len(entries) > 1:
            right += [", ".join(entries), f"({'; '.join(entries)})"]
        wrong = [f"({', '.join([*entries, '0'])})", f"({', '.join([*entries[:-1], f'{entries[-1]}+1000'])})"]
        if "NaN" in entries or "inf" in entries:
            wrong.pop()
        return Samples(tuple(right), tuple(wrong), ("", f"({', '.join(entries)}", "(1, , 2)", "geography then money"))


def _line(given: Grid) -> tuple[Real | None, ...] | None:
    """The entries of a single row or a single column."""
    if len(given.rows) == 1:
        return given.rows[0]
    if all(len(line) == 1 for line in given.rows):
        return tuple(line[0] for line in given.rows)
    return None


def _text(entry: Real | None) -> str:
    return "?" if entry is None else entry.text


def grid_text(given: Grid) -> str:
    """The rows as [[a, b], [c, d]]."""
    lines = [f"[{', '.join(_text(x) for x in line)}]" for line in given.rows]
    return f"[{', '.join(lines)}]"


def flatten(value: Any) -> list[Any]:
    """A list of numbers, or of lists of numbers, in reading order."""
    return [x for item in value for x in (item if isinstance(item, list | tuple) else (item,))]


def named(wrong: Sequence[str], total: int) -> str:
    """Which entries are wrong, in words."""
    if len(wrong) == total and total > 1:
        return f"all {total} entries differ"
    if len(wrong) == 1:
        return f"entry {wrong[0]} differs"
    if len(wrong) > 12:
        return f"{len(wrong)} of {total} entries differ: {', '.join(wrong[:12])}, …"
    return f"entries {', '.join(wrong[:-1])} and {wrong[-1]} differ"
