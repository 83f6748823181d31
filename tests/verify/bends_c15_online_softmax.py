"""Card 15's property rows with one route bent: wrong sign, no rescaling, a missing term, the wrong scale."""

import math

import numpy as np

from drillgen.verify import c15_online_softmax as c15
from solvers.c15_online_softmax import inverse_factor, recurrence, rescale_factor, unchanged
from solvers.simulate import state as arrays


def _u_left_alone(now, scores, values):
    m = max(now.m, scores.max())
    p = np.exp(scores - m)
    return arrays.SoftmaxState(m, np.exp(now.m - m) * now.l + p.sum(), now.u + p @ values)


def _last_key_lost(now, scores, values):
    return arrays.update_state(now, scores[:-1], values[:-1])


def _single_precision(now, scores, values):
    return arrays.update_state(now, scores.astype(np.float16).astype(scores.dtype), values)


def _plain_mean(a, b):
    return arrays.Partial((a.o + b.o) / 2, a.lse)


def _swapped(a, b):
    return arrays.merge_partials(arrays.Partial(a.o, b.lse), arrays.Partial(b.o, a.lse))


def _bent(for_l, for_u):
    return lambda scores, values, size: recurrence(scores, values, size, for_l, for_u)


def _block_not_shifted(scores, values, size):
    """The new block on base 0."""
    rows = recurrence(scores, values, size)
    return [[m, norm * math.exp(min(m, 0)), u] for m, norm, u in rows]


BENDS = {
    "c15.big.fp64": [
        lambda: c15.blocked(c15.BLOCK, update=_u_left_alone),
        lambda: c15.blocked(c15.BLOCK, update=_last_key_lost),
        lambda: c15.blocked(c15.BLOCK, "float32"),
    ],
    "c15.big.fp32": [
        lambda: c15.blocked(c15.BLOCK, "float32", _u_left_alone),
        lambda: c15.blocked(c15.BLOCK, "float32", _single_precision),
    ],
    "c15.big.block_sizes": [
        lambda: [c15.blocked(size, update=_u_left_alone) for size in c15.BLOCK_SIZES],
        lambda: [c15.blocked(size) for size in c15.BLOCK_SIZES[:-1]],
    ],
    "c15.big.merge": [lambda: c15.merged(_plain_mean), lambda: c15.merged(_swapped)],
    "c15.invariant": [
        lambda: c15.running(_bent(unchanged, unchanged)),
        lambda: c15.running(_bent(rescale_factor, unchanged)),
        lambda: c15.running(_bent(inverse_factor, inverse_factor)),
    ],
    "c15.l_at_least_1": [lambda: c15.floors(_block_not_shifted)],
    "c15.state.numbers": [lambda: [64 + 1] * 3, lambda: [64 + 2, 64 + 2, 1000 + 64 + 2]],
    "c15.base.rescale": [lambda: c15.from_the_start(unchanged), lambda: c15.from_the_start(lambda _a, _b: 1e-3)],
}
