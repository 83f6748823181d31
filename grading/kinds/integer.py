"""A whole number, met exactly however large."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from grading.band import Band
from grading.kinds.number import Scalar
from grading.reading.numbers import Real


@dataclass(frozen=True)
class Integer(Scalar):
    """A whole number (a few questions have halves); thousands separators, powers and products are fine."""

    name: ClassVar[str] = "integer"

    def _why(self, given: Real, band: Band) -> str:
        reason = super()._why(given, band)
        if reason or not (given.is_rational() and band.key.is_rational()):
            return reason
        whole = given.rational().denominator == 1 or band.key.rational().denominator != 1
        return "" if whole else "a whole number is wanted"

    def show(self, value: Any) -> str:
        if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
            value = int(value)
        return super().show(value)

    def answer_format(self) -> str:
        unit = {"FLOP": "FLOPs", "numbers": ""}.get(self._unit.label, self._unit.label)
        return f"a whole number{' of ' + unit if unit else ''}, e.g. 1331 or 11^3"

    def precision(self) -> str:
        return "exact" if self.tolerance.exact else super().precision()
