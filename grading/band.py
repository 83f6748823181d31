"""Which numbers pass for a key: an interval decided in floats where that is safe and in rationals at its edges."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from grading.reading.numbers import Real, real_of
from grading.tolerance import NOISE, Tolerance

MARGIN = 2.0**-49
"""Relative guard round the float edges of a band; inside it the rationals decide."""

FUZZ = Fraction(1, 10**45)
"""Two irrationals that agree to 45 digits are taken for the same number."""


class Band:
    """The answers that a tolerance lets pass for one key. Ends are inclusive; NaN and infinities meet only themselves.

    value: int, float, Fraction, the string "nan", or a `Real` (a key that was read from text).
    """

    __slots__ = ("high", "inner", "key", "leeway", "low", "outer", "special")

    def __init__(self, tolerance: Tolerance, value: object, slack: float = 1.0) -> None:
        key = real_of(value)
        self.key = key
        self.special = None if math.isfinite(key.approx) else key.approx
        self.low = self.high = Fraction(0)
        self.inner = self.outer = (0.0, 0.0)
        self.leeway = 1e-9  # relative, kept so small that no two relations between numbers can be confused
        if self.special is not None:
            return
        centre = key.rational()
        width = tolerance.width(centre) * Fraction(slack)
        if tolerance.exact and isinstance(value, float):
            width = abs(centre) * NOISE
        if not key.is_rational():
            width += FUZZ * max(Fraction(1), abs(centre))
        if centre:
            self.leeway = min(max(_float(width / abs(centre)), 1e-9), 0.01)
        self.low, self.high = centre - width, centre + width
        low, high = _float(self.low), _float(self.high)
        guard_low = abs(low) * MARGIN + 5e-324
        guard_high = abs(high) * MARGIN + 5e-324
        self.inner = (low + guard_low, high - guard_high)
        self.outer = (low - guard_low, high + guard_high)

    def holds(self, given: Real) -> bool:
        """Whether the given number lies in the band."""
        x = given.approx
        if self.special is not None or not math.isfinite(x):
            special = self.special
            return special is not None and bool(x == special or (x != x and special != special))
        error = given.error
        if self.inner[0] + error <= x <= self.inner[1] - error:
            return True
        if x + error < self.outer[0] or x - error > self.outer[1]:
            return False
        exact = given.rational()
        if given.is_rational():
            return self.low <= exact <= self.high
        fuzz = FUZZ * max(Fraction(1), abs(exact))
        return bool(self.low - fuzz <= exact <= self.high + fuzz)


class Bands:
    """The bands of a tolerance, each worked out once a key. Shared between threads; bounded."""

    __slots__ = ("_made", "tolerance")

    def __init__(self, tolerance: Tolerance) -> None:
        self.tolerance = tolerance
        self._made: dict[Any, Band] = {}

    def of(self, value: Any) -> Band:
        """The band of a key."""
        try:
            return self._made[value]
        except KeyError:
            if len(self._made) >= 4096:
                self._made.clear()
            self._made[value] = band = Band(self.tolerance, value)
            return band


def _float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
