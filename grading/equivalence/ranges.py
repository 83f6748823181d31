"""Between which bounds the values of an atom lie, and of products and powers of atoms."""

from __future__ import annotations

import math
from functools import lru_cache

from grading.equivalence.domain import Interval
from grading.equivalence.rationals import Rational

Range = tuple[float, float, bool, bool]
"""Lower and upper bound of an atom and whether each is left out."""

LINE: Range = (-math.inf, math.inf, True, True)
POSITIVE: Range = (0.0, math.inf, True, True)


@lru_cache(maxsize=512)
def of_interval(interval: Interval) -> Range:
    """The range of a declared name."""
    low = -math.inf if interval.lower is None else float(interval.lower)
    high = math.inf if interval.upper is None else float(interval.upper)
    return low, high, interval.lower_open, interval.upper_open


def of_product(a: Range, b: Range) -> Range:
    """Bounds of a product; where the bounds are infinite on both sides, nothing is known."""
    if a[0] >= 0 and b[0] >= 0:
        high = 0.0 if a[1] == 0 or b[1] == 0 else a[1] * b[1]
        return a[0] * b[0] if a[0] and b[0] else 0.0, high, a[2] or b[2], a[3] or b[3]
    corners = [x * y if x and y else 0.0 for x in a[:2] for y in b[:2]]
    low, high = min(corners), max(corners)
    return (low, high, False, False) if math.isfinite(low) or math.isfinite(high) else LINE


def of_power(reach: Range, exponent: Rational) -> Range:
    """Bounds of a power; nothing is known of an odd or broken power of what may be negative."""
    low, high, low_open, high_open = reach
    if exponent == 1:
        return reach
    if low < 0:
        if exponent.denominator == 1 and exponent % 2 == 0 and exponent > 0:
            top = max(abs(low), abs(high))
            return 0.0, _pow(top, exponent), high <= 0 and high_open, True
        return LINE
    if exponent > 0:
        return _pow(low, exponent), _pow(high, exponent), low_open, high_open
    return _pow(high, exponent), _pow(low, exponent), high_open or high == math.inf, low_open or low == 0


def _pow(base: float, exponent: Rational) -> float:
    if base == 0:
        return 0.0 if exponent > 0 else math.inf
    if math.isinf(base):
        return math.inf if exponent > 0 else 0.0
    try:
        return float(base ** float(exponent))
    except OverflowError:
        return math.inf
