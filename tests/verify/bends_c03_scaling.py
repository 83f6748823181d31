"""Wrong left routes for the property rows of card 3."""

import math
from fractions import Fraction

from drillgen.verify.c03_scaling import (
    ALPHA,
    INV,
    NARROW,
    QUERY,
    WIDE,
    _small_rows,
    enumerated_variance,
    gap_variance,
    norms_by_sums,
    rows,
    spread_after_scaling,
)
from solvers.algebra import softmax


def _without_the_outer_product():
    return [*(math.sqrt(sum(p * p for p in softmax(s))) for s in _small_rows()), 1.0]


def _plus_the_outer_product():
    out = []
    for s in _small_rows():
        p = softmax(s)
        two, three = sum(x**2 for x in p), sum(x**3 for x in p)
        out.append(math.sqrt(two + 2 * three + two**2))
    return [*out, 1.0]


def _order_reversed():
    return [*norms_by_sums()[:-1], float(rows(INV, 128).frobenius > rows(1.0, 128).frobenius)]


BENDS = {
    "c3.scale.unequal": [
        lambda: spread_after_scaling() * 8,
        lambda: spread_after_scaling() / (1.5 * 0.5) ** 2,
        lambda: math.sqrt(spread_after_scaling()) * 1.5,
    ],
    "c3.var.formula": [
        lambda: enumerated_variance(2, WIDE, NARROW),
        lambda: enumerated_variance(3, WIDE, WIDE),
        lambda: enumerated_variance(3, [x + 1 for x in WIDE], NARROW),
    ],
    "c3.gap.variance": [
        lambda: gap_variance(1 / ALPHA, QUERY),
        lambda: gap_variance(ALPHA, QUERY) / 2,
        lambda: gap_variance(ALPHA, [*QUERY[:2], Fraction(0)]),
    ],
    "c3.fro.order128": [_without_the_outer_product, _plus_the_outer_product, _order_reversed],
}
