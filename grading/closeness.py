"""Plain values held against each other in floats, and shown with as many digits as the tolerance cares for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from grading.reading.numbers import Real, real_of
from grading.tolerance import Tolerance, magnitude

_TENTHS = tuple(float(f"1e-{k}") for k in range(16))


class Closeness:
    """The tolerance as floats. Cheap: samplers ask for every slip of every draw."""

    __slots__ = ("abs", "exact", "rel", "sig", "tolerance")

    def __init__(self, tolerance: Tolerance) -> None:
        self.tolerance = tolerance
        self.rel = float(tolerance.rel or 0)
        self.abs = float(tolerance.abs or 0)
        self.sig = tolerance.sig
        self.exact = tolerance.exact

    def number(self, key: Any, other: Any, slack: float = 1.0) -> bool:
        """Whether `other` passes for `key`. Integers are compared as such, however large."""
        if key == other:
            return True
        if isinstance(key, str) or isinstance(other, str):
            return _is_nan(key) and _is_nan(other)
        gap = abs(key - other)
        if self.exact:
            if isinstance(key, int) and isinstance(other, int):
                return False
            return bool(gap <= 1e-12 * max(abs(key), abs(other))) or (_is_nan(key) and _is_nan(other))
        if gap != gap or gap == math.inf:
            return _is_nan(key) and _is_nan(other)
        size = abs(key)
        if self.sig is not None:
            width = 0.5 * 10.0 ** (math.floor(math.log10(size)) - self.sig + 1) if size else 0.0
        else:
            width = self.abs + self.rel * size
        return bool(gap <= slack * width * (1 + 1e-12))

    def nested(self, key: Any, other: Any, slack: float = 1.0) -> bool:
        """The same for numbers in lists of lists: shapes must agree, then every entry."""
        if _is_list(key):
            return (
                _is_list(other)
                and len(key) == len(other)
                and all(self.nested(a, b, slack) for a, b in zip(key, other, strict=True))
            )
        return not _is_list(other) and self.number(key, other, slack)

    def show(self, value: Any) -> str:
        """The number as a person would type it: exact where the key is, else to a thousandth of the tolerance."""
        if isinstance(value, Real):
            return value.text
        if type(value) is float or type(value) is int:
            quick = self.quick(value, 1)
            if quick:
                return quick
        return self.show_scaled(real_of(value), Fraction(1))

    def quick(self, value: float, scale: float) -> str:
        """The same for value/scale in floats, or "" where the careful way is needed. Generating lives on this.

        The count of decimals is found by comparisons alone, so that it is the same on every machine.
        """
        if self.exact or self.sig is not None:
            return ""
        if scale == 1 and type(value) is int and -(10**7) < value < 10**7:
            return str(value)
        size = abs(value)
        shown = size / scale
        if not 1e-4 <= shown < 1e7:
            return ""
        width = (self.abs + self.rel * size) / scale / 1000
        places = 0
        while width < _TENTHS[places]:
            places += 1
            if places == len(_TENTHS):
                return ""
        if places == 0:
            return ""
        text = f"{shown:.{places}f}".rstrip("0").rstrip(".")
        return f"-{text}" if value < 0 and text != "0" else text

    def show_scaled(self, key: Real, factor: Fraction) -> str:
        """The number times `factor`, with digits enough to read back as right."""
        if not math.isfinite(key.approx):
            return key.text
        exact = key.rational()
        shown = exact * factor
        if shown.denominator == 1 and (self.exact or abs(shown) < 10**7):
            return str(shown.numerator)
        if self.exact:
            return _exactly(shown, key.text if factor == 1 else "")
        width = self.tolerance.width(exact) * factor / 1000
        if width <= 0:
            return _exactly(shown, key.text if factor == 1 else "")
        return rounded(shown, width)

    def words(self, unit: str = "") -> str:
        """The rule for a person: digits first, the bound in brackets. Rounding to that many digits stays in bounds."""
        rule = self.tolerance
        if rule.exact:
            return "exact"
        if rule.sig is None and rule.abs is None and rule.rel:
            count = max(1, math.ceil(1 - math.log10(2 * rule.rel) - 1e-9))
            return f"{count} significant digit{'s' if count > 1 else ''} ({rule.words()})"
        if rule.sig is None and rule.rel is None and rule.abs and rule.abs < 1:
            count = math.ceil(-math.log10(2 * rule.abs) - 1e-9)
            if count >= 1:
                return f"{count} decimal{'s' if count > 1 else ''} ({rule.words(unit)})"
        return rule.words(unit)


def rounded(value: Fraction, width: Fraction) -> str:
    """A decimal within `width` of the value, without needless digits; scientific where it is far from 1."""
    if value == 0:
        return "0"
    places = -magnitude(width)
    unit = Fraction(10) ** -places
    steps = round(value / unit)
    if steps == 0:
        return "0"
    if places <= 0:
        whole = steps * int(unit)
        return str(whole) if abs(whole) < 10**7 else _scientific(Fraction(whole))
    if abs(value) < Fraction(1, 10**4):
        return _scientific(steps * unit)
    digits = str(abs(steps)).rjust(places + 1, "0")
    text = f"{digits[:-places]}.{digits[-places:]}".rstrip("0").rstrip(".")
    return f"-{text}" if steps < 0 else text


def _scientific(value: Fraction) -> str:
    power = magnitude(value)
    mantissa = value / Fraction(10) ** power
    digits = f"{float(mantissa):.15g}"
    return f"{digits}e{power}"


def _exactly(value: Fraction, text: str) -> str:
    """A terminating decimal where it is short, else a fraction."""
    if text:
        return text
    denominator = value.denominator
    for prime in (2, 5):
        while denominator % prime == 0:
            denominator //= prime
    if denominator == 1:
        places = 0
        while (value * 10**places).denominator != 1:
            places += 1
        if places <= 20:
            return rounded(value, Fraction(1, 10**places)) if abs(value) >= Fraction(1, 10**4) else str(value)
    return str(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _is_nan(value: Any) -> bool:
    return value == "nan" or (isinstance(value, float) and value != value)
