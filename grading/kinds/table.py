"""A table that is filled in row by row, each row from the one before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from grading.errors import Unreadable
from grading.kinds.base import Comparison, Samples
from grading.kinds.number import carried
from grading.kinds.vector import Entries, Grid, flatten, grid_text

Follow = Callable[[int, Sequence[Any]], Sequence[Any] | None]
"""The row `index`, from 0, that follows from the learner's own previous row; None where none does."""


@dataclass(frozen=True)
class Table(Entries):
    """A table of numbers. columns: their names. Values: a list of rows. Cells are separated by commas or spaces,
    rows by semicolons or newlines.

    follow: the next row from the learner's own previous row. A row that meets only that one is right, and says so.
    """

    name: ClassVar[str] = "table"
    columns: tuple[str, ...] = ()
    follow: Follow | None = None

    def parse(self, text: str) -> Grid:
        found = super().parse(_without_heading(text, self.columns))
        width = len(self.columns)
        if width and len(found.rows[0]) != width and not (len(found.rows) == 1 and len(found.rows[0]) % width == 0):
            raise Unreadable(f"each row has {width} cells: {', '.join(self.columns)}")
        return found

    def reading(self, given: Grid) -> str:
        return grid_text(given)

    def show(self, value: Any) -> str:
        return "; ".join(", ".join(self._close.show(x) for x in line) for line in value)

    def compare(self, given: Grid, value: Any) -> Comparison:
        height, width = len(value), len(value[0])
        lines = list(given.rows)
        if (len(lines), len(lines[0])) != (height, width):
            reason = f"{height} rows of {width} cells are expected, {given.words} given"
            return Comparison(False, self._method, reason, 0.0)
        wrong: list[str] = []
        own: list[int] = []
        outcomes = []
        for at, line in enumerate(lines):
            bad = self._wrong(line, value[at])
            followed = self._followed(at, lines) if bad else None
            if followed is not None and not self._wrong(line, followed):
                own.append(at + 1)
                bad = []
            wrong += [f"({at + 1}, {self.columns[c] if c < len(self.columns) else c + 1})" for c in bad]
            entry = {"name": str(at + 1), "verdict": "wrong" if bad else "right", "score": float(not bad)}
            outcomes.append(entry | ({"follows_own": True} if at + 1 in own else {}))
        right = not wrong and not own
        share = sum(float(entry["verdict"] == "right") for entry in outcomes) / height
        said = []
        if wrong:
            said.append(
                f"{'cell' if len(wrong) == 1 else 'cells'} {', '.join(wrong[:12])} differ{'s' * (len(wrong) == 1)}"
            )
        if own:
            said.append(f"row{'s' * (len(own) > 1)} {', '.join(map(str, own))} consistent with your row before")
        score = 1.0 if right else (share if self.part_credit or self.follow is not None else 0.0)
        return Comparison(right, self._method, "; ".join(said), score, parts=tuple(outcomes))

    def _followed(self, at: int, lines: Sequence[Sequence[Any]]) -> Sequence[Any] | None:
        """The row that follows from the learner's own previous row."""
        if self.follow is None or at == 0:
            return None
        before = [None if x is None else carried(x) for x in lines[at - 1]]
        if any(x is None for x in before):
            return None
        try:
            return self.follow(at, before)
        except (ArithmeticError, ValueError, TypeError):
            return None  # a carried value outside the domain: nothing follows from it

    def is_slip(self, given: Grid, slip: Any, key: Any) -> bool:
        flat = [x for line in given.rows for x in line]
        wanted = flatten(slip)
        return len(flat) == len(wanted) and not self._wrong(flat, wanted)

    def answer_format(self) -> str:
        names = ", ".join(self.columns) or "the cells"
        return f"one row a line (or separated by semicolons), cells {names} separated by commas"

    def samples(self, value: Any) -> Samples:
        shown = self.show(value)
        cells = [[self._close.show(x) for x in line] for line in value]
        right = (
            shown,
            "\n".join(" ".join(line) for line in cells),
            "; ".join(f"({', '.join(line)})" for line in cells),
        )
        wrong = (f"{shown}; {', '.join('0' for _ in cells[0])}", f"{shown}+1000")
        return Samples(right if len(cells) > 1 else (shown,), wrong, ("", "geography then money", shown + ", ,"))


def _without_heading(text: str, columns: tuple[str, ...]) -> str:
    """The text with a first line of column names blanked out."""
    first, newline, rest = text.partition("\n")
    if (
        newline
        and columns
        and [word.strip() for word in first.replace("|", ",").replace(",", " ").split()] == list(columns)
    ):
        return " " * len(first) + newline + rest
    return text
