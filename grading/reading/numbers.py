"""Numbers as they are meant: decimals exact, irrationals to a double with a bound, or to 60 digits on demand."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from functools import lru_cache
from typing import Any

from grading.errors import Unreadable

ULP = 2.0**-52


class Real:
    """One number that was read or computed.

    approx: the nearest double or one within `error` of the number; NaN and infinities stand for themselves.
    text: how it was typed. The exact rational, or 60 digits of an irrational, are worked out on first use.
    """

    __slots__ = ("_exact", "_source", "approx", "error", "text")

    def __init__(self, approx: float, error: float, text: str, exact: Fraction | None = None, source: Any = None):
        self.approx = approx
        self.error = error
        self.text = text
        self._exact = exact
        self._source = source  # a decimal literal, two of them for a quotient, or the tree of an irrational

    def is_rational(self) -> bool:
        """Whether the number is a fraction that can be written down exactly."""
        source = self._source
        if self._exact is not None or source is None or isinstance(source, str | tuple):
            return True
        return isinstance(source, _Scaled) and source.base.is_rational()

    def rational(self) -> Fraction:
        """The exact value, or for an irrational a fraction that agrees with it to some 55 digits."""
        if self._exact is None:
            source = self._source
            if isinstance(source, str):
                self._exact = Fraction(source)
            elif isinstance(source, tuple):
                self._exact = Fraction(source[0]) / Fraction(source[1])
            elif source is None:
                self._exact = Fraction(self.approx)
            elif isinstance(source, _Scaled):
                return source.base.rational() * source.factor
            else:
                from grading.reading.evaluate import fine

                return fine(source)
        return self._exact

    def scaled(self, factor: Fraction, text: str = "") -> Real:
        """This number times an exact factor (a unit conversion)."""
        text = text or self.text
        if factor == 1 or not math.isfinite(self.approx):
            return Real(self.approx, self.error, text, self._exact, self._source)
        f = factor.numerator / factor.denominator
        approx = self.approx * f
        if not math.isfinite(approx):
            return from_fraction(self.rational() * factor, text)
        return Real(approx, (self.error + abs(self.approx) * ULP) * abs(f) * 1.01, text, None, _Scaled(self, factor))

    def inverted(self, text: str = "") -> Real:
        """One over this number, or `Unreadable` for zero."""
        if self.approx == 0:
            raise Unreadable("a rate of zero cannot be turned round")
        if not math.isfinite(self.approx):
            return Real(0.0, 0.0, text or self.text, Fraction(0))
        return from_fraction(1 / self.rational(), text or self.text)


class _Scaled:
    """A number times a rational, multiplied out on demand."""

    __slots__ = ("base", "factor")

    def __init__(self, base: Real, factor: Fraction) -> None:
        self.base = base
        self.factor = factor


def from_fraction(value: Fraction, text: str = "") -> Real:
    """A rational as a Real."""
    try:
        approx = value.numerator / value.denominator
    except OverflowError:
        approx = 1.7e308 if value > 0 else -1.7e308
        return Real(approx, math.inf, text or str(value), value)
    return Real(approx, abs(approx) * ULP, text or str(value), value)


@lru_cache(maxsize=4096)
def _of_plain(value: object) -> Real:
    if isinstance(value, str):
        if value.lower() in ("nan", "undefined"):
            return Real(math.nan, 0.0, "NaN")
        raise ValueError(f"{value!r} is no number")
    if isinstance(value, float):
        if math.isfinite(value):
            literal = float.__repr__(value)  # a numpy float has another repr
            return Real(float(value), abs(float(value)) * ULP, literal, source=literal)
        return Real(value, 0.0, "NaN" if value != value else ("inf" if value > 0 else "-inf"))
    if isinstance(value, int | Fraction):
        return from_fraction(Fraction(value), str(value))
    raise ValueError(f"{value!r} is no number")


def real_of(value: object) -> Real:
    """A plain value (int, float, Fraction, "nan") or a Real as a Real; the shortest decimal of a float is meant."""
    if isinstance(value, Real):
        return value
    if isinstance(value, int | float | Fraction | str):
        return _of_plain(value)
    if hasattr(value, "item"):  # a numpy scalar from a solver
        return _of_plain(value.item())
    raise ValueError(f"{value!r} is no number")


_QUICK = (
    r"\s{0,9}([+\-−]?)(\d{1,40}(?:,\d{3}){0,9}|)(\.\d{0,40})?(?:[eE]([+\-−]?\d{1,3}))?\s{0,9}"
    r"([A-Za-zµμ][A-Za-zµμ/ ]{0,30}|%)?\s{0,9}\Z"
)


@lru_cache(maxsize=2)
def _compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern, compiled when it is first needed so that starting up stays cheap."""
    if flags:
        pattern = re.sub(r"~|(?<=\()[DE](?=\))", lambda found: _PARTS[found.group()], pattern)
    return re.compile(pattern, flags)


def quick(text: str) -> tuple[Real, str] | None:
    """A plain decimal with an optional unit word, or None where the full grammar has to look.

    Handles what most people type: 0.576, .576, 5.76e-1, 1,024, 512 KiB, 57.6%.
    """
    found = _compiled(_QUICK).match(text)
    if found is None:
        return None
    sign, whole, point, exponent, unit = found.groups()
    if not whole and (point is None or len(point) < 2):
        return None
    literal = whole
    if "," in whole:
        if len(whole) - whole.index(",") == len(whole) or whole[0] == "0" or whole.index(",") > 3:
            return None
        literal = whole.replace(",", "")
    if point is not None:
        literal = literal + point if literal else "0" + point
    if sign == "-" or sign == "−":
        literal = "-" + literal
    if exponent is not None:
        literal += "e" + exponent.replace("−", "-")
    approx = float(literal)
    if approx in (math.inf, -math.inf):
        return None
    if approx == 0.0 and exponent is not None and literal.strip("-0.").partition("e")[0].strip("0."):
        return None  # underflow: the rationals decide
    return Real(approx, abs(approx) * ULP, literal, source=literal), unit or ""


_NOTATION = r"""~([+\-−]?)~(?:
  (D)~(?:×|\*|·|⋅|\\times(?![A-Za-z])|\\cdot(?![A-Za-z]))~10~(?:
    (?:\^|\*\*)~(?:(E)|\{~(E)~\}|\(~(E)~\))|([⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}))
 |(D)~[/÷∕]~(D)
 |\\[dt]?frac~\{~(D)~\}~\{~(D)~\}
 |(\d{1,6})~(?:\^|\*\*)~(?:(E)|\{~(E)~\})
 |(\d{1,3}(?:\ \d{3})+)
)~([A-Za-zµμ][A-Za-zµμ/ ]{0,30})?~\Z"""
_PARTS = {"~": r"\s{0,9}", "D": r"\d{1,18}(?:\.\d{0,18})?|\.\d{1,18}", "E": r"[+\-−]?\d{1,3}"}
"""~ is a little space, D a decimal, E an exponent. All repetitions are bounded, so that no text can be slow."""
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")


def notation(text: str) -> tuple[Real, str] | None:
    """The commonest notations beyond plain decimals, as the grammar reads them: 5.76×10^-1, 9/50, \\frac{9}{50},
    2^26, 67 108 864, each with an optional unit word. None where the grammar has to look."""
    found = _compiled(_NOTATION, re.VERBOSE).match(text)
    if found is None:
        return None
    sign, mantissa, t1, t2, t3, t4, a, b, c, d, base, e1, e2, grouped, unit = found.groups()
    minus = "-" if sign in ("-", "−") else ""
    unit = unit or ""
    if mantissa is not None:
        power = (t1 or t2 or t3 or t4.translate(_RAISED)).replace("−", "-").lstrip("+")
        shown = f"({power})" if power[0] == "-" else power
        literal = f"{minus}{mantissa}e{power}"
        approx = float(literal)
        if not 1e-300 < abs(approx) < 1e300:
            return None
        return Real(approx, abs(approx) * ULP, f"{minus}{mantissa}·10^{shown}", None, literal), unit
    if a is not None or c is not None:
        above, below = (a, b) if a is not None else (c, d)
        divisor = float(below)
        if divisor == 0.0:
            return None
        if not above.isascii() or (a is not None and unit and unit[0] in "eE"):
            return None
        approx = float(minus + above) / divisor
        return Real(approx, abs(approx) * 4 * ULP, f"{minus}{above}/{below}", None, (minus + above, below)), unit
    if base is not None:
        exponent = int((e1 or e2).replace("−", "-"))
        if abs(exponent) > 200 or base.strip("0") == "":
            return None
        size = int(base) ** abs(exponent)
        exact = Fraction(size) if exponent >= 0 else Fraction(1, size)
        shown = f"{minus}{base}^{exponent}" if exponent >= 0 else f"{minus}{base}^({exponent})"
        return from_fraction(-exact if minus else exact, shown), unit
    if grouped[0] == "0":
        return None
    literal = minus + grouped.replace(" ", "")
    approx = float(literal)
    return Real(approx, abs(approx) * ULP, literal, None, literal), unit
