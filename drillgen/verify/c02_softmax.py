"""Card 2: published numbers of the softmax."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal, localcontext

from drillgen.verify.rows import Property, Row
from solvers import facts
from solvers.algebra import logsumexp, softmax
from solvers.c02_softmax import largest_exponent, lse_gradient, shift_of

RAW = (0, 2, 1)
"""Raw scores of bank's row: its query with the keys of the, river, bank."""
SCALED = tuple(s / math.sqrt(2) for s in RAW)
ROWS_DRAWN = ((0.3, -1.2, 2.5, 0.9, -0.4, 1.7), (-3.1, 4.2, 0.0, 4.1), (12.0, 12.0, 12.0), (5.5,), (-40.0, 9.0))
"""Rows of several lengths, one with equal scores and one nearly one-hot."""


def direct_softmax(scores: Sequence[float], tau: float = 1.0) -> list[float]:
    """Fifty-digit exponentials over their sum, nothing subtracted."""
    with localcontext() as context:
        context.prec = 50
        terms = [(Decimal(s) / Decimal(tau)).exp() for s in scores]
        return [float(t / sum(terms)) for t in terms]


def fits(x: float) -> float:
    """1 if e^x is finite in double precision, found by computing it."""
    import numpy as np

    with np.errstate(over="ignore"):
        return float(np.isfinite(np.exp(np.float64(x))))


def lse_differences(scores: Sequence[float], h: float = 1e-5) -> list[float]:
    """Central differences of ln of the plain sum of exponentials."""

    def f(s: Sequence[float]) -> float:
        return math.log(sum(math.exp(v) for v in s))

    out = []
    for i in range(len(scores)):
        up = [v + h * (i == j) for j, v in enumerate(scores)]
        down = [v - h * (i == j) for j, v in enumerate(scores)]
        out.append((f(up) - f(down)) / (2 * h))
    return out


def squared_weights(scores: Sequence[float]) -> list[float]:
    """Doubling the scores squares the weights before they are normalised again."""
    p = direct_softmax(scores)
    return [v * v / sum(w * w for w in p) for v in p]


def changed(doubled: Sequence[float]) -> list[float]:
    """Weights of doubled scores, and whether they are others than before."""
    return [*doubled, float(max(abs(a - b) for a, b in zip(doubled, direct_softmax(SCALED), strict=True)) > 0.01)]


def _exponents(schemes: Sequence[str]) -> list[float]:
    row = (0, 800)
    return [max(row) - shift_of(s, row) for s in schemes]


ROWS = {
    "c2.fp16.max": Row(lambda: int((2 - 2.0**-10) * 2**15), note="largest significand times largest power of two"),
    "c2.fp16.overflow_x": Row(lambda: largest_exponent("fp16")),
    "c2.fp64.overflow_1000": Property(
        left=lambda: [fits(x) for x in (700, 709, 710, 1000)],
        right=lambda: [float(x <= largest_exponent("fp64")) for x in (700, 709, 710, 1000)],
        limit=0,
        note="exp computed in double precision against its argument held to ln of the largest number",
    ),
    "c2.lse.1000_999": Row(lambda: logsumexp((1000, 999))),
    "c2.shift.plus10": Property(
        left=lambda: softmax([s + 10 for s in SCALED]), right=lambda: direct_softmax(SCALED),
        note="shifted row in floats against the unshifted one in 50-digit decimals",
    ),
    "c2.softmax.unscaled": Row(lambda: softmax(RAW)),
    "c2.temperature.sqrt_dk": Property(
        left=lambda: softmax(RAW, math.sqrt(2)), right=lambda: direct_softmax(SCALED),
    ),
    "c2.sum.bounds": Property(
        left=lambda: [math.exp(logsumexp(s) - max(s)) for s in ROWS_DRAWN],
        right=lambda: [min(max(sum(math.exp(v - max(s)) for v in s), 1), len(s)) for s in ROWS_DRAWN],
        limit=1e-12,
        note="sums of five rows against the same sums clipped to 1..T",
    ),
    "c2.sum.top_term": Row(lambda: max(math.exp(v - max(SCALED)) for v in SCALED)),
    "c2.limit.cold": Row(lambda: softmax(RAW, 0.001)),
    "c2.limit.hot": Property(left=lambda: softmax((0.3, -1.2, 2.5, 0.9), 1e9), right=lambda: [0.25] * 4),
    "c2.lse.gradient": Property(
        left=lambda: [lse_gradient(s) for s in ROWS_DRAWN[:2]],
        right=lambda: [lse_differences(s) for s in ROWS_DRAWN[:2]],
        note="softmax against central differences, h = 1e-5",
    ),
    "c2.lse.identity": Property(
        left=lambda: [logsumexp(s) for s in ROWS_DRAWN[:2]],
        right=lambda: [math.log(math.fsum(math.exp(v) for v in s)) for s in ROWS_DRAWN[:2]],
    ),
    "c2.min_shift.overflow": Property(
        left=lambda: [1 - fits(x) for x in _exponents(("subtract_min", "subtract_max"))],
        right=lambda: [float(math.log(facts.LARGEST["fp64"]) < 800), 0.0],
        limit=0,
        note="row (0, 800): exp(s - min) is computed and infinite, exp(s - max) is finite",
    ),
    "c2.not_scale_invariant": Property(
        left=lambda: changed(softmax([2 * s for s in SCALED])), right=lambda: [*squared_weights(SCALED), 1.0],
        limit=1e-14,
        note="doubled scores give squared weights, normalised anew, and these differ from the old ones",
    ),
}  # fmt: skip
