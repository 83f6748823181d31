"""The rules by which a number counts as right, as one value that can be named in a prompt and in a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from grading.errors import BadKey

Real = int | float | Fraction


def exactly(value: Real) -> Fraction:
    """The rational that the shortest decimal form of `value` spells: 0.1 is 1/10, not its binary neighbour."""
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


@dataclass(frozen=True, slots=True)
class Tolerance:
    """|answer − key| ≤ abs + rel·|key|, both inclusive; or `sig` significant digits; or exact (all None).

    sig n: within half a unit of the key's n-th significant digit. `equivalent` marks symbolic kinds.
    """

    rel: Fraction | None = None
    abs: Fraction | None = None
    sig: int | None = None
    equivalent: bool = False

    def to_json(self) -> dict[str, Any]:
        """The spelling of design 4.5."""
        if self.equivalent:
            return {"equivalent": True}
        if self.sig is not None:
            return {"sig": self.sig}
        out = {k: float(v) for k, v in (("rel", self.rel), ("abs", self.abs)) if v is not None}
        return out or {"exact": True}


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


def _positive(value: Real, name: str) -> Fraction:
    number = exactly(value)
    if number < 0:
        raise BadKey(f"tolerance {name} is {value}: it cannot be negative")
    return number
