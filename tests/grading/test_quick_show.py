"""Showing plain numbers in floats says the same as the careful way in fractions."""

import random
from fractions import Fraction

import pytest

from grading.closeness import Closeness
from grading.kinds.quantity import Quantity
from grading.reading.numbers import real_of
from grading.tolerance import rel, within
from grading.units import humanised, named, quick_rung

DRAWS = random.Random(7)
NUMBERS = [DRAWS.uniform(-1, 1) * 10 ** DRAWS.randint(-5, 8) for _ in range(3000)]
NUMBERS += [DRAWS.randint(-(10**9), 10**9) for _ in range(500)] + [0, 1, -1, 0.5, 1e-4, 9999999.5, 64, 1024, 0.1]


@pytest.mark.parametrize("tolerance", [rel(0.01), within(0.005), within(0.0005), rel(0.02)])
def test_numbers(tolerance):
    close = Closeness(tolerance)
    for value in NUMBERS:
        slow = close.show_scaled(real_of(value), Fraction(1))
        shown = close.show(value)
        assert shown == slow or abs(Fraction(shown) - Fraction(slow)) <= tolerance.width(Fraction(value)) / 999, value
        assert len(shown) <= len(slow) + 1


@pytest.mark.parametrize(
    ("unit", "values"),
    [
        (
            "bytes",
            [2**k * m for k in range(0, 50, 3) for m in (1, 3, 5, 1000, 12345)] + [10**9, 131072, 137438953472.0],
        ),
        ("FLOP", [7 * 10**k for k in range(18)] + [549755813888, 1.5e12]),
        ("s", [10.0**-k * 7.66 for k in range(12)] + [1.0, 12.5]),
    ],
)
def test_quantities(unit, values):
    kind = Quantity(unit, tolerance=rel(0.01))
    for value in values:
        scale, label = humanised(real_of(value).rational() * kind._unit.factor, kind._unit, exact=False)
        rung = quick_rung(value, named(unit))
        assert rung is None or (Fraction(rung[0]).limit_denominator(10**12), rung[1]) == (scale, label), value
        shown = kind.show(value)
        slow = f"{kind._close.show_scaled(real_of(value), kind._unit.factor / scale)} {label}"
        assert shown == slow or abs(float(shown.split()[0]) / float(slow.split()[0]) - 1) < 1e-5, value
        assert kind.compare(kind.parse(shown), value).right
