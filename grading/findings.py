"""What can be said about a wrong number when no known slip explains it. Never the right number itself."""

from __future__ import annotations

import math
from collections.abc import Sequence

from grading.band import Band
from grading.kinds.base import Finding
from grading.reading.numbers import Real
from grading.tolerance import Tolerance

SIGN = Finding("sign", "The size is right, the sign is not.")
RECIPROCAL = Finding("reciprocal", "This is one over the right value.")
SQUARE = Finding("square", "This is the square of the right value: a root is missing.")
ROOT = Finding("root", "This is the root of the right value: a square is missing.")
PERCENT = Finding("percent", "A share and a percentage are confused: a factor 100 and nothing else.")
OFF_BY_ONE = Finding("off_by_one", "Off by exactly one: check where counting starts and ends.")
PERMUTED = Finding("permuted", "The right entries in another order.")
TRANSPOSED = Finding("transposed", "This is the transposed matrix.")


def of_number(given: Real, band: Band, tolerance: Tolerance) -> tuple[Finding, ...]:
    """The simplest relation between a wrong number and its key; at most one."""
    x, key = given.approx, band.key.approx
    if not (math.isfinite(x) and math.isfinite(key)) or x == 0 or key == 0:
        return ()
    ratio = x / key
    if ratio == 0 or not math.isfinite(ratio):
        return ()
    leeway = band.leeway
    if abs(ratio + 1) <= leeway:
        return (SIGN,)
    if tolerance.exact and abs(key) >= 2 and abs(x - key) == 1 and given.is_rational():
        return (OFF_BY_ONE,)
    digits = _rounded_to(x, key) if abs(ratio - 1) < 0.06 else 0
    if digits:
        rest = "the exact value is wanted" if tolerance.exact else "carry more before rounding"
        return (Finding("rounded", f"Right to {digits} digits only: {rest}."),)
    if abs(x) == 1:
        return ()  # a factor to 1 would be the key itself
    return _factor(ratio, leeway) or _power(x, key, leeway)


_PREFIXES = (1.024, 1.024**2, 1.024**3, 1.024**4)
_CONFUSED = Finding("binary_prefix", "1024 and 1000 are confused (KiB and KB, MiB and MB …).")


def _factor(ratio: float, leeway: float) -> tuple[Finding, ...]:
    """A factor that is a known mistake: 2, 10ⁿ, 1024 for 1000."""
    if ratio < 0:
        return ()
    above = ratio if ratio > 1 else 1 / ratio
    if above < 1.9:
        if above > 1.012 and any(abs(above / prefix - 1) <= leeway / 2 for prefix in _PREFIXES):
            return (_CONFUSED,)
        return ()
    side = "too large" if ratio > 1 else "too small"
    for factor in (2.0, 4.0, 8.0):
        if abs(above / factor - 1) <= leeway:
            return (Finding(f"factor_{factor:.0f}", f"A factor {factor:.0f} {side}."),)
    if above < 9 or above > 1e16:
        return ()
    power = round(math.log10(above))
    if 1 <= power <= 15 and abs(above / 10.0**power - 1) <= leeway:
        if power == 2:
            return (PERCENT,)
        return (Finding(f"factor_1e{power}", f"A factor {10**power} {side}: count the zeros or the prefix."),)
    for steps, mark in enumerate(("", "²", "³", "⁴"), 1):
        if abs(above / 1024.0**steps - 1) <= leeway:
            return (Finding("binary_factor", f"A factor 1024{mark} {side}: check the prefix."),)
    return ()


def _power(x: float, key: float, leeway: float) -> tuple[Finding, ...]:
    """Reciprocal, square or root."""
    if abs(abs(key) - 1) < 0.05 or not 1e-150 < abs(key) < 1e150 or not 1e-150 < abs(x) < 1e150:
        return ()
    if abs(x * key - 1) <= leeway:
        return (RECIPROCAL,)
    if key > 0 and abs(x / (key * key) - 1) <= leeway:
        return (SQUARE,)
    if key > 0 and x > 0 and abs(x * x / key - 1) <= leeway:
        return (ROOT,)
    return ()


def _rounded_to(x: float, key: float) -> int:
    """To how many significant digits the key was rounded to give x; 0 where x is no rounding of it."""
    mantissa = f"{x:.14e}".partition("e")[0].lstrip("-").rstrip("0").replace(".", "")
    for digits in (len(mantissa), len(mantissa) + 1):  # one more where the rounding ends in a zero
        if 2 <= digits <= 13 and abs(float(f"{key:.{digits - 1}e}") - x) <= 1e-13 * abs(x):
            return digits
    return 0


def of_entries(given: Sequence[Real], bands: Sequence[Band], shape: tuple[int, int] | None) -> tuple[Finding, ...]:
    """What can be said about a wrong list of the right length, or matrix of the right shape."""
    if any(not math.isfinite(band.key.approx) for band in bands):
        return ()
    if shape is not None and shape[0] == shape[1] and shape[0] > 1:
        size = shape[0]
        turned = [given[column * size + row] for row in range(size) for column in range(size)]
        if all(band.holds(x) for band, x in zip(bands, turned, strict=True)):
            return (TRANSPOSED,)
    xs = sorted(given, key=lambda x: x.approx)
    ys = sorted(bands, key=lambda band: band.key.approx)
    if all(band.holds(x) for band, x in zip(ys, xs, strict=True)):
        return (PERMUTED,)
    ratios = {
        round(x.approx / band.key.approx, 9)
        for x, band in zip(given, bands, strict=True)
        if band.key.approx and math.isfinite(x.approx)
    }
    if any((band.key.approx == 0) != (x.approx == 0) for x, band in zip(given, bands, strict=True)) or not ratios:
        return ()
    low, high = min(ratios), max(ratios)
    if high - low > 0.02 * max(abs(low), abs(high)) or low * high <= 0:
        return ()
    middle = (low + high) / 2
    if abs(middle + 1) <= 0.01:
        return (Finding("sign", "All entries have the wrong sign."),)
    found = _factor(middle, 0.01)
    return tuple(Finding(f.id, f"All entries: {f.text[0].lower()}{f.text[1:]}") for f in found)
