"""The shape of a tensor: axes in order, numbers or products of named sizes."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from grading.errors import Unreadable
from grading.kinds.base import Comparison, Kind, Samples
from grading.reading.lists import Cell, cleaned, cut, peeled, strip, words
from grading.reading.typed import read_plain

_TIMES = re.compile(r"×|\\times(?![A-Za-z])|✕|(?<![A-Za-z_\\])[xX](?![A-Za-z_])")
_SUM = re.compile(r"sum|prod|[∑∏Σ]")
_POINTS = tuple(
    {at: Fraction(prime) for at, prime in enumerate(primes)}
    for primes in (
        (3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41),
        (43, 2, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89),
        (97, 101, 6, 103, 107, 109, 113, 127, 131, 137, 139, 149),
    )
)


@dataclass(frozen=True, slots=True)
class Axes:
    """The axes typed: each its text and its value at every sample point of the declared sizes."""

    texts: tuple[str, ...]
    values: tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class Shape(Kind):
    """A shape. symbols: names of sizes that may be typed. Values: a list of whole numbers, or of texts such as
    "h*d_v" where sizes are named."""

    name: ClassVar[str] = "shape"
    symbols: tuple[str, ...] = ()

    def parse(self, text: str) -> Axes:
        cell = cleaned(text)
        inner = peeled(cell)
        cell = strip(cell if inner is None else inner)
        if not cell.text or cell.text.lower() == "scalar":
            return Axes((), ())
        return self._axes([self._axis(piece) for piece in _pieces(cell, self.symbols)])

    def _axis(self, piece: Cell) -> tuple[str, tuple[Fraction, ...]]:
        text = strip(piece).text
        if not text:
            raise Unreadable("an axis is missing", piece.start)
        if _SUM.search(text):
            raise Unreadable("an axis is a whole number or a product of sizes", piece.start)
        if self.symbols:
            from grading.reading.evaluate import Irrational, exact_at
            from grading.reading.grammar import Declared, read
            from grading.reading.show import show

            tree = read(text, Declared(symbols=frozenset(self.symbols)), offset=strip(piece).start)
            try:
                return show(tree), tuple(exact_at(tree, self._point(point)) for point in _POINTS)
            except Irrational:
                raise Unreadable("an axis is a whole number or a product of sizes", piece.start) from None
        number = read_plain(text, strip(piece).start)
        if not math.isfinite(number.approx):
            raise Unreadable("an axis is a whole number", strip(piece).start)
        return number.text, (number.rational(),) * len(_POINTS)

    def _point(self, point: Mapping[int, Fraction]) -> dict[str, Fraction]:
        return {name: point[at % len(point)] + 150 * (at // len(point)) for at, name in enumerate(self.symbols)}

    @staticmethod
    def _axes(found: list[tuple[str, tuple[Fraction, ...]]]) -> Axes:
        return Axes(tuple(text for text, _ in found), tuple(value for _, value in found))

    def _key(self, value: Any) -> Axes:
        if isinstance(value, Axes):
            return value
        return self._axes(
            [
                self._axis(Cell(axis, 0)) if isinstance(axis, str) else (str(axis), (Fraction(axis),) * len(_POINTS))
                for axis in value
            ]
        )

    def reading(self, given: Axes) -> str:
        return f"({', '.join(given.texts)}{',' if len(given.texts) == 1 else ''})"

    def show(self, value: Any) -> str:
        return self.reading(self._key(value))

    def compare(self, given: Axes, value: Any) -> Comparison:
        key = self._key(value)
        if len(given.values) != len(key.values):
            reason = f"{_counted(len(key.values))} expected, {len(given.values)} given"
            return Comparison(False, "exact", reason)
        wrong = [at for at, (x, y) in enumerate(zip(given.values, key.values, strict=True), 1) if x != y]
        if not wrong:
            return Comparison(True, "exact")
        if sorted(given.values) == sorted(key.values):
            return Comparison(False, "exact", "the right sizes in another order")
        return Comparison(False, "exact", f"{'axis' if len(wrong) == 1 else 'axes'} {', '.join(map(str, wrong))} wrong")

    def agrees(self, a: Any, b: Any, slack: float = 1.0) -> bool:
        if list(a) == list(b):
            return True
        return bool(self.symbols) and self._key(a).values == self._key(b).values

    def answer_format(self) -> str:
        return "a shape, e.g. (2, 3, 5, 5) or 2x3x5x5"

    def precision(self) -> str:
        return "exact"

    def samples(self, value: Any) -> Samples:
        axes = self._key(value).texts
        right = [self.show(value), f"[{', '.join(axes)}]"]
        if len(axes) > 1 and all(re.fullmatch(r"\w+", axis) for axis in axes):
            right += [" × ".join(axes), " x ".join(axes), r" \times ".join(axes)]
        wrong = (
            f"({', '.join([*axes, '1'])})",
            f"({', '.join([*axes[:-1], f'{axes[-1]} + 1'])})" if axes else "(1,)",
        )
        return Samples(tuple(right), wrong, ("", f"({', '.join(axes)}", "2x3x", "four axes"))


def _counted(count: int) -> str:
    return "one axis is" if count == 1 else f"{count} axes are"


def _pieces(cell: Cell, symbols: tuple[str, ...]) -> list[Cell]:
    """The axes: by commas or semicolons, by times signs or the letter x, or by spaces."""
    pieces = cut(cell, ",;，")
    if len(pieces) > 1:
        if not strip(pieces[-1]).text and len(pieces) == 2:
            pieces.pop()
        return pieces
    text = re.sub(r"\bby\b", "× ", cell.text)
    if "x" not in symbols and "X" not in symbols:
        text = re.sub(r"(?<=\d)[xX](?=\d)", "×", text)
        text = _unglued(text, symbols)
    if _TIMES.search(text):
        out, begin = [], 0
        for found in _TIMES.finditer(text):
            out.append(Cell(text[begin : found.start()], cell.start + begin))
            begin = found.end()
        out.append(Cell(text[begin:], cell.start + begin))
        return out
    return words(cell)


def _unglued(text: str, symbols: tuple[str, ...]) -> str:
    """BxTxd with times signs, where every piece is a declared size or a number."""
    names = "|".join(re.escape(name) for name in sorted(symbols, key=len, reverse=True))
    one = rf"(?:{names}|\d+)" if names else r"\d+"
    if not re.fullmatch(rf"\s*{one}(?:[xX]{one}){{1,9}}\s*", text):
        return text
    return re.sub(rf"({one})[xX](?={one})", r"\1×", text)
