"""Card 15: published numbers of the online softmax.

Rows at scale use one query row of 4,096 normal scores (spread 3) and normal values of width 16 (numpy, seed 15).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from drillgen.verify.rows import Property, Row
from drillgen.verify.toy import BANK, projections
from solvers.algebra import dot
from solvers.c15_online_softmax import (
    advance,
    blocks_of,
    merge,
    recurrence,
    rescale_factor,
    state_logsumexp,
    state_numbers,
)
from solvers.draws import Draws
from solvers.simulate import state as arrays
from solvers.simulate.trace import Trace, trace

T, BLOCK = 4096, 128
BLOCK_SIZES = (1, 2, 7, 64, 128, 1000, 4096)
SIZE_NOTE = "4,096 normal scores of spread 3, values of width 16, seed 15"


def bank_trace() -> Trace:
    """Bank's causal row of the toy, one key at a time."""
    Q, K, V = projections()
    scores = [dot(Q[BANK], k) / math.sqrt(len(k)) for k in K[: BANK + 1]]
    return trace(scores, V[: BANK + 1], 1)


def bank_state(n: int) -> list[Any]:
    """[m, l, u] of bank after n keys."""
    s = bank_trace().states[n]
    return [s.m, s.l, list(s.u)]


def halves() -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """The two partial states of the merging example: scores 1, 3 and 2, 5 with values 1, 2 and 3, 4."""
    one, other = recurrence([1, 3], [1, 2], 2)[-1], recurrence([2, 5], [3, 4], 2)[-1]
    return (one[0], one[1], one[2]), (other[0], other[1], other[2])


def long_row(dtype: str = "float64") -> tuple[Any, Any]:
    """Scores [T] and values [T, 16] in that precision."""
    import numpy as np

    rng = np.random.default_rng(15)
    return (3 * rng.standard_normal(T)).astype(dtype), rng.standard_normal((T, 16)).astype(dtype)


def direct(dtype: str = "float64") -> Any:
    """softmax(s) V over the whole row at once, [16]."""
    import numpy as np

    s, v = long_row(dtype)
    p = np.exp(s - s.max())
    return (p / p.sum()) @ v


Update = Callable[[arrays.SoftmaxState, Any, Any], arrays.SoftmaxState]


def blocked(size: int, dtype: str = "float64", update: Update = arrays.update_state) -> Any:
    """The same row in blocks, [16]."""
    s, v = long_row(dtype)
    now = arrays.init_state((), v.shape[1], like=s)
    for start in range(0, T, size):
        now = update(now, s[start : start + size], v[start : start + size])
    return arrays.finalise(now).o


def merged(join: Callable[[arrays.Partial, arrays.Partial], arrays.Partial] = arrays.merge_partials) -> Any:
    """The two halves of the row attended apart and joined, [16]."""
    s, v = long_row()
    parts = []
    for half in (slice(0, T // 2), slice(T // 2, T)):
        start = arrays.init_state((), v.shape[1], like=s)
        parts.append(arrays.finalise(arrays.update_state(start, s[half], v[half])))
    return join(*parts).o


def short_rows() -> list[tuple[list[float], list[float], int]]:
    """Two hundred rows of 1 to 20 normal scores (spread 3) and values, with block sizes of 1 to 5."""
    draws, out = Draws("verify/c15"), []
    for _ in range(200):
        n = draws.integer(1, 20)
        out.append(([3 * draws.gauss() for _ in range(n)], [draws.gauss() for _ in range(n)], draws.integer(1, 5)))
    return out


def running(run: Callable[..., list[list[float]]] = recurrence) -> list[list[list[float]]]:
    """[l, u] after every block of every short row."""
    return [[list(state[1:]) for state in run(*row)] for row in short_rows()]


def direct_sums() -> list[list[list[float]]]:
    """[l, u] as sums over all keys seen so far, measured from their maximum."""
    out = []
    for scores, values, size in short_rows():
        rows = []
        for stop in range(size, len(scores) + size, size):
            top = max(scores[:stop])
            terms = [math.exp(s - top) for s in scores[:stop]]
            rows.append([math.fsum(terms), math.fsum(t * v for t, v in zip(terms, values, strict=False))])
        out.append(rows)
    return out


def floors(run: Callable[..., list[list[float]]] = recurrence) -> list[float]:
    """min(l, 1) after every block of every short row."""
    return [min(state[1], 1.0) for row in short_rows() for state in run(*row)]


def from_the_start(factor: Callable[[float, float], float] = rescale_factor) -> list[float]:
    """l and u after a first block, begun from m = −∞ with sums that should not count (7 and 9)."""
    out: list[float] = []
    for scores, values, size in short_rows():
        out += advance(-math.inf, 7.0, 9.0, scores[:size], values[:size], factor, factor)[1:]
    return out


def first_blocks() -> list[float]:
    """l and u of every first block alone."""
    out: list[float] = []
    for scores, values, size in short_rows():
        weights = [math.exp(s - max(scores[:size])) for s in scores[:size]]
        out += [sum(weights), sum(w * v for w, v in zip(weights, values, strict=False))]
    return out


def counted(d_v: int) -> list[int]:
    """Numbers in the arrays of a state of one row, after 1, 10 and 1,000 keys."""
    import numpy as np

    sizes = []
    for n in (1, 10, 1000):
        now = arrays.update_state(arrays.init_state((), d_v), np.zeros(n), np.zeros((n, d_v)))
        sizes.append(sum(np.asarray(x).size for x in now))
    return sizes


ROWS: dict[str, Row | Property] = {
    "c15.trace.rescale": Row(lambda: bank_trace().steps[1].rescale),
    "c15.trace.step1": Row(lambda: bank_state(1)),
    "c15.trace.step2": Row(lambda: bank_state(2)),
    "c15.trace.third_term": Row(lambda: bank_trace().steps[2].weights[0]),
    "c15.trace.l3": Row(lambda: bank_state(3)[1]),
    "c15.trace.u3": Row(lambda: bank_state(3)[2]),
    "c15.merge.partial_a": Row(
        lambda: list(halves()[0]), "scores and values are inferred; they meet every printed digit"
    ),
    "c15.merge.partial_b": Row(
        lambda: list(halves()[1]), "scores and values are inferred; they meet every printed digit"
    ),
    "c15.merge.output": Row(lambda: merge(*halves())[2] / merge(*halves())[1]),
    "c15.merge.lse": Row(lambda: state_logsumexp(*merge(*halves())[:2])),
    "c15.big.blocks": Row(lambda: len(blocks_of(range(T), BLOCK))),
    "c15.big.fp64": Property(lambda: blocked(BLOCK), direct, note=SIZE_NOTE),
    "c15.big.fp32": Property(lambda: blocked(BLOCK, "float32"), lambda: direct("float32"), note=SIZE_NOTE),
    "c15.big.block_sizes": Property(
        lambda: [blocked(size) for size in BLOCK_SIZES], lambda: [direct()] * len(BLOCK_SIZES), note=SIZE_NOTE
    ),
    "c15.big.merge": Property(merged, direct, note=SIZE_NOTE),
    "c15.invariant": Property(running, direct_sums, note="200 random rows of up to 20 keys, blocks of 1 to 5"),
    "c15.l_at_least_1": Property(
        floors, lambda: [1.0] * len(floors()), limit=0, note="200 random rows of up to 20 keys, blocks of 1 to 5"
    ),
    "c15.state.numbers": Property(
        lambda: [state_numbers(1, 64)] * 3, lambda: counted(64), limit=0, note="arrays counted after 1, 10, 1,000 keys"
    ),
    "c15.base.rescale": Property(
        from_the_start, first_blocks, note="sums of 7 and 9 before the first block leave no trace"
    ),
}
