"""A number with a unit of measurement; units of the same dimension are converted."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from grading.band import Band
from grading.kinds.base import Samples
from grading.kinds.number import Scalar
from grading.reading.numbers import Real, real_of
from grading.units import BINARY, humanised, quick_rung


@dataclass(frozen=True)
class Quantity(Scalar):
    """A quantity. unit: the one in which values are given and in which a bare number is read ("bytes", "s" …).

    A percent sign is a unit here: it fits where the key is a percentage.
    """

    name: ClassVar[str] = "quantity"
    unit: str = "bytes"

    def _fitted(self, words: tuple[str, ...]) -> tuple[Fraction, bool, str] | None:
        if words == ("%",) and self._unit.label != "%":
            return None
        return super()._fitted(words)

    def _why(self, given: Real, band: Band) -> str:
        reason = super()._why(given, band)
        bare = not given.text[-1:].isalpha() and not given.text.endswith("%")
        if reason or not bare or not self._unit.label or given.approx == 0:
            return reason
        return f"no unit was given, so the number was read in {self._unit.label}"

    def show(self, value: Any) -> str:
        if type(value) is float or type(value) is int:
            rung = quick_rung(value, self._unit)
            text = self._close.quick(value, rung[0]) if rung else ""
            if rung and text:
                return f"{text} {rung[1]}"
        key = real_of(value)
        if key.approx != key.approx or abs(key.approx) == float("inf"):
            return self._close.show(value)
        scale, label = humanised(key.rational() * self._unit.factor, self._unit, exact=self.tolerance.exact)
        if not label:
            return f"{self._close.show(value)} {self._unit.label}".strip().replace(" %", "%")
        return f"{self._close.show_scaled(key, self._unit.factor / scale)} {label}"

    def show_beside(self, value: Any, key: Any) -> str:
        """With the key's binary prefix, even where the value is no round number in it: 8.58993 GiB beside 8 GiB."""
        shown, label = self.show(value), self.show(key).rpartition(" ")[2]
        if label not in BINARY or shown.rpartition(" ")[2] in BINARY:
            return shown
        return f"{self._close.show_scaled(real_of(value), self._unit.factor / BINARY[label])} {label}"

    def samples(self, value: Any) -> Samples:
        base = super().samples(value)
        shown = self.show(value)
        right = (shown, f" {shown} ", shown.replace(" ", ""), f"{self._close.show(value)}")
        other = "3 s" if dict(self._unit.dimension).keys() != {"time"} else "3 KiB"
        wrong = (*(text for text in base.wrong if "(" not in text), other)
        refused = tuple(text for text in base.unreadable if " or 3" not in text)
        return Samples(right, wrong, (*refused, "7 fortnights"))

    def answer_format(self) -> str:
        example = {"data": "12 KiB", "flop": "12.6 GFLOP", "time": "1.26 s"}
        names = [name for name, power in self._unit.dimension if power > 0]
        if len(self._unit.dimension) == 1 and names and names[0] in example:
            return f"a number with a unit, e.g. {example[names[0]]}"
        return f"a number with a unit, e.g. 12 {self._unit.label}"
