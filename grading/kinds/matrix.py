"""A table of numbers with rows and columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from grading.kinds.base import Comparison, Samples
from grading.kinds.vector import Entries, Grid, flatten, grid_text


@dataclass(frozen=True)
class Matrix(Entries):
    """A matrix. Values: a list of rows, each a list of numbers. The shape is compared first, then every entry."""

    name: ClassVar[str] = "matrix"

    def reading(self, given: Grid) -> str:
        return grid_text(given)

    def show(self, value: Any) -> str:
        lines = [f"[{', '.join(self._close.show(x) for x in line)}]" for line in value]
        return f"[{', '.join(lines)}]"

    def compare(self, given: Grid, value: Any) -> Comparison:
        height, width = len(value), len(value[0])
        wanted = f"a {height} × {width} matrix is expected"
        if given.single and height * width > 1:
            return Comparison(False, self._method, f"{wanted}, one number given", 0.0)
        got = (len(given.rows), len(given.rows[0]))
        if got != (height, width):
            reason = f"{wanted}, {given.words} given"
            if got == (width, height) and self._same_entries(given, value):
                reason += ": this is the transposed matrix"
            return Comparison(False, self._method, reason, 0.0)
        flat = [x for line in given.rows for x in line]
        wrong = [f"({at // width + 1}, {at % width + 1})" for at in self._wrong(flat, flatten(value))]
        return self._held(wrong, height * width)

    def _same_entries(self, given: Grid, value: Any) -> bool:
        turned = [x for line in zip(*given.rows, strict=True) for x in line]
        return not self._wrong(turned, flatten(value))

    def answer_format(self) -> str:
        return "a matrix row by row, e.g. [[1, 2], [3, 4]] or 1 2; 3 4"

    def samples(self, value: Any) -> Samples:
        cells = [[self._close.show(x) for x in line] for line in value]
        shown = self.show(value)
        latex = r"\begin{pmatrix}" + r"\\".join(" & ".join(line) for line in cells) + r"\end{pmatrix}"
        right = [shown, latex, "\n".join(", ".join(line) for line in cells) if len(cells) > 1 else shown]
        if len(cells) > 1 and len(cells[0]) > 1:
            right.append("; ".join(" ".join(line) for line in cells))
        taller = f"[{shown[1:-1]}, [{', '.join('0' for _ in cells[0])}]]"
        wrong = [taller]
        if "NaN" not in shown and "inf" not in shown:
            wrong.append(f"{shown[:-2]}+1000]]")
        return Samples(tuple(right), tuple(wrong), ("", shown[:-1], r"\begin{pmatrix}1 & 2", "[[1, 2], [3]]"))
