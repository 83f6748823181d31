"""Wrong left routes for the property rows of card 2."""

import math

from drillgen.verify.c02_softmax import RAW, ROWS_DRAWN, SCALED, changed, direct_softmax, fits
from solvers.algebra import logsumexp, softmax

BENDS = {
    "c2.fp64.overflow_1000": [
        lambda: [fits(x / 2) for x in (700, 709, 710, 1000)],
        lambda: [1.0] * 4,
    ],
    "c2.shift.plus10": [
        lambda: softmax([s * 10 for s in SCALED]),
        lambda: [math.exp(10) * p for p in softmax(SCALED)],
        lambda: softmax([SCALED[0] + 10, *SCALED[1:]]),
    ],
    "c2.temperature.sqrt_dk": [
        lambda: softmax(RAW, 2),
        lambda: softmax(RAW, 1 / math.sqrt(2)),
        lambda: softmax(RAW),
    ],
    "c2.sum.bounds": [
        lambda: [math.exp(logsumexp(s)) for s in ROWS_DRAWN],
        lambda: [math.exp(logsumexp(s) - min(s)) for s in ROWS_DRAWN],
        lambda: [math.exp(logsumexp(s) - max(s)) - 1 for s in ROWS_DRAWN],
    ],
    "c2.limit.hot": [
        lambda: softmax((0.3, -1.2, 2.5, 0.9), 1e-9),
        lambda: softmax((0.3, -1.2, 2.5, 0.9)),
    ],
    "c2.lse.gradient": [
        lambda: [[-p for p in softmax(s)] for s in ROWS_DRAWN[:2]],
        lambda: [softmax(s, 2) for s in ROWS_DRAWN[:2]],
        lambda: [[math.exp(v) for v in s] for s in ROWS_DRAWN[:2]],
    ],
    "c2.lse.identity": [
        lambda: [logsumexp(s) - max(s) for s in ROWS_DRAWN[:2]],
        lambda: [2 * max(s) - logsumexp(s) for s in ROWS_DRAWN[:2]],
        lambda: [max(s) for s in ROWS_DRAWN[:2]],
    ],
    "c2.min_shift.overflow": [
        lambda: [1 - fits(0), 1 - fits(800)],
        lambda: [1 - fits(0 - 800), 0.0],
    ],
    "c2.not_scale_invariant": [
        lambda: changed(softmax(SCALED)),
        lambda: changed(direct_softmax(SCALED, 2)),
    ],
}
