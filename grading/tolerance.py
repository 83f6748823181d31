"""The rules by which a number counts as right, as one value that can be named in a prompt and in a verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from grading.errors import BadKey

Real = int | float | Fraction

NOISE = Fraction(1, 10**14)
"""Relative rounding noise granted to a key that was computed in floating point and is to be met exactly."""


def exactly(value: Real) -> Fraction:
    """The rational that the shortest decimal form of `value` spells: 0.1 is 1/10, not its binary neighbour."""
    return Fraction(float.__repr__(value)) if isinstance(value, float) else Fraction(value)


@dataclass(frozen=True, slots=True)
class Tolerance:
    """|answer − key| ≤ abs + rel·|key|, both inclusive; or `sig` significant digits; or exact (all None).

    sig n: within half a unit of the key's n-th significant digit. `equivalent` marks symbolic kinds.
    """

    rel: Fraction | None = None
    abs: Fraction | None = None
    sig: int | None = None
    equivalent: bool = False

    @property
    def exact(self) -> bool:
        """No leeway at all (`equivalent` means exact for numbers and lists)."""
        return self.rel is None and self.abs is None and self.sig is None

    def to_json(self) -> dict[str, Any]:
        """The spelling of design 4.5."""
        if self.equivalent:
            return {"equivalent": True}
        if self.sig is not None:
            return {"sig": self.sig}
        out = {k: float(v) for k, v in (("rel", self.rel), ("abs", self.abs)) if v is not None}
        return out or {"exact": True}

    def width(self, key: Fraction) -> Fraction:
        """How far from `key` an answer may lie."""
        if self.sig is not None:
            return half_unit(key, self.sig)
        return (self.abs or Fraction(0)) + (self.rel or Fraction(0)) * abs(key)

    def words(self, unit: str = "") -> str:
        """The rule for a prompt: "within 1 %", "3 significant digits", "exact"."""
        if self.sig is not None:
            return f"{self.sig} significant digit{'s' if self.sig > 1 else ''}, by rounding"
        bounds = []
        if self.rel is not None:
            bounds.append(f"{_plain(self.rel * 100)} %")
        if self.abs is not None:
            bounds.append(_plain(self.abs) + (f" {unit}" if unit else ""))
        return "within " + " plus ".join(bounds) if bounds else "exact"


EXACT = Tolerance()
EQUIVALENT = Tolerance(equivalent=True)


def rel(value: Real) -> Tolerance:
    """Relative tolerance."""
    return Tolerance(rel=_positive(value, "rel"))


def within(value: Real) -> Tolerance:
    """Absolute tolerance, in the key's unit."""
    return Tolerance(abs=_positive(value, "abs"))


def digits(count: int) -> Tolerance:
    """`count` significant digits by rounding."""
    if not 1 <= count <= 30:
        raise BadKey(f"sig is {count}: between 1 and 30 digits can be asked for")
    return Tolerance(sig=count)


def parse(spec: object) -> Tolerance:
    """The tolerance that a row spells as JSON (design 4.5), or `BadKey`. None means exact."""
    if spec is None:
        return EXACT
    if not isinstance(spec, dict):
        raise BadKey('tolerance must be an object such as {"rel": 0.01}')
    names = set(spec)
    if names == {"exact"} and spec["exact"] is True:
        return EXACT
    if names == {"equivalent"} and spec["equivalent"] is True:
        return EQUIVALENT
    if names == {"sig"}:
        count = spec["sig"]
        if isinstance(count, bool) or not isinstance(count, int):
            raise BadKey("tolerance sig must be a whole number of digits")
        return digits(count)
    if names and names <= {"rel", "abs"}:
        found = {name: _positive(spec[name], name) for name in names}
        return Tolerance(rel=found.get("rel"), abs=found.get("abs"))
    raise BadKey(f"tolerance {sorted(map(str, names))} is none of exact, equivalent, rel, abs, rel with abs, sig")


def half_unit(key: Fraction, count: int) -> Fraction:
    """Half a unit of the `count`-th significant digit of `key`; zero has no digits and gives zero."""
    if key == 0:
        return Fraction(0)
    return Fraction(1, 2) * Fraction(10) ** (magnitude(key) - count + 1)


def magnitude(value: Fraction) -> int:
    """The exponent of the leading decimal digit: 3 for 1234, −2 for 0.05."""
    n, d = abs(value.numerator), value.denominator
    guess = len(str(n)) - len(str(d))
    return guess if n >= d * Fraction(10) ** guess else guess - 1


def _positive(value: object, name: str) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        raise BadKey(f"tolerance {name} must be a number")
    if isinstance(value, float) and not math.isfinite(value):
        raise BadKey(f"tolerance {name} is {value}: it must be finite")
    number = exactly(value)
    if number < 0:
        raise BadKey(f"tolerance {name} is {value}: it cannot be negative")
    return number


def _plain(value: Fraction) -> str:
    return f"{float(value):.12g}"
