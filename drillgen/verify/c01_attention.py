"""Card 1: published numbers of attention in matrix form; checked on the toy and on seeded random rows."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from drillgen.verify.rows import Property, Row
from solvers import facts
from solvers.algebra import attention, matmul, transpose
from solvers.c01_attention import (
    attention_arrays,
    causal_mask,
    column_softmax,
    product_shape,
    scores,
    shapes,
)

SEED = "seed 1"


@cache
def toy() -> tuple[list[list[float]], ...]:
    """Q, K, V of the toy sentence, [5, 2] each."""
    return matmul(facts.TOY_X, facts.TOY_W_Q), matmul(facts.TOY_X, facts.TOY_W_K), matmul(facts.TOY_X, facts.TOY_W_V)


@cache
def drawn(T: int = 30, d_k: int = 8, d_v: int = 5) -> tuple[Any, Any, Any]:
    """Seeded standard normal Q, K and V as numpy arrays."""
    import numpy as np

    rng = np.random.default_rng(1)
    return tuple(rng.normal(size=(T, n)) for n in (d_k, d_k, d_v))  # type: ignore[return-value]


def one_query_at_a_time(Q: Any, K: Any, V: Any) -> list[list[float]]:
    """o_i as a sum over keys, written out in floats for each query."""
    out = []
    for q in Q:
        terms = [math.exp(sum(a * b for a, b in zip(q, k, strict=True)) / math.sqrt(len(q))) for k in K]
        total = math.fsum(terms)
        out.append([math.fsum(t * v[c] for t, v in zip(terms, V, strict=True)) / total for c in range(len(V[0]))])
    return out


def row_totals() -> list[float]:
    """What the weight rows of the random and the toy example add up to."""
    return [math.fsum(row) for Q, K, V in (drawn(), toy()) for row in attention_arrays(Q, K, V)[1].tolist()]


def outputs() -> list[Any]:
    """Matrix form on both examples."""
    return [attention_arrays(Q, K, V)[2] for Q, K, V in (drawn(), toy())]


def clipped(rows: list[list[float]], V: Any) -> list[list[float]]:
    """Every coordinate of the outputs, brought back between the extremes of that value coordinate."""
    columns = list(zip(*[list(row) for row in V], strict=True))
    return [[min(max(x, min(c)), max(c)) for x, c in zip(row, columns, strict=True)] for row in rows]


def bank() -> list[float]:
    """The toy's output for bank under the causal mask."""
    Q, K, V = toy()
    return attention(Q, K, V, causal_mask(5))[1][2]


def down_the_columns() -> list[list[float]]:
    """Column and row totals of a softmax over the query axis of the random example's scores."""
    P = column_softmax(scores(drawn()[0].tolist(), drawn()[1].tolist()))
    return [[math.fsum(c) for c in zip(*P, strict=True)], [math.fsum(row) for row in P]]


def down_the_columns_numpy() -> list[list[float]]:
    """The same totals: ones for the columns, and the rows from numpy."""
    import numpy as np

    Q, K, _ = drawn()
    terms = np.exp(Q @ K.T / math.sqrt(Q.shape[1]))
    return [[1.0] * len(Q), (terms / terms.sum(axis=0)).sum(axis=1).tolist()]


def batched(B: int, h: int, T: int, d_k: int, d_v: int) -> tuple[list[int], list[int]]:
    """Shapes of scores and outputs of arrays that were really multiplied."""
    import numpy as np

    S, _, out = attention_arrays(np.ones((B, h, T, d_k)), np.ones((B, h, T, d_k)), np.ones((B, h, T, d_v)))
    return list(S.shape), list(out.shape)


ROWS = {
    "c1.shape.scores": Row(lambda: _shape(scores(toy()[0], toy()[1]))),
    "c1.shape.output": Row(lambda: _shape(attention(*toy())[1])),
    "c1.shape.batch_scores": Property(
        left=lambda: batched(2, 3, 5, 4, 7)[0], right=lambda: shapes(2, 3, 5, 4, 7, 12)["S"], limit=0,
        note="shape of a product that numpy carried out against the tally",
    ),
    "c1.shape.batch_out": Property(
        left=lambda: batched(2, 3, 5, 4, 7)[1], right=lambda: shapes(2, 3, 5, 4, 7, 12)["O"], limit=0,
        note="shape of a product that numpy carried out against the tally",
    ),
    "c1.shape.llama_scores": Row(lambda: product_shape((4096, 128), (128, 4096))),
    "c1.shape.wrong_qtk": Row(lambda: _shape(matmul(transpose(toy()[0]), toy()[1]))),
    "c1.rows.sum_one": Property(left=row_totals, right=lambda: [1.0] * 35, note=f"30 random rows ({SEED}) and the toy"),
    "c1.matrix_equals_rows": Property(
        left=outputs, right=lambda: [one_query_at_a_time(*drawn()), one_query_at_a_time(*toy())],
        note=f"matrix form in numpy against sums written out; random rows ({SEED}) and the toy",
    ),
    "c1.convex.violation": Property(
        left=lambda: outputs()[0], right=lambda: clipped(one_query_at_a_time(*drawn()), drawn()[2]),
        note=f"outputs against sums clipped to the range of each value coordinate; T = 30, d_v = 5 ({SEED})",
    ),
    "c1.bank.range": Property(
        left=bank, right=lambda: clipped([one_query_at_a_time(*(M[:3] for M in toy()))[2]], [[0, 0], [1, 1]])[0],
        limit=1e-14,
        note="bank's output against its sum over three keys, clipped to 0..1",
    ),
    "c1.wrong_axis": Property(
        left=down_the_columns, right=down_the_columns_numpy, limit=1e-13,
        note=f"columns add up to one; the rows' totals, which do not, agree with numpy's ({SEED})",
    ),
}  # fmt: skip


def _shape(M: list[list[float]]) -> list[int]:
    return [len(M), len(M[0])]
