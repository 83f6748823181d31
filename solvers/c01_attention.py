"""Card 1: scaled dot-product attention in matrix form, and the shape of everything in it.

Source: card 1. Matrices are lists of rows; a query, key or value is a row. Masks hold 0 and −inf and are added.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from grading.kinds.expression import Expression
from grading.kinds.matrix import Matrix
from grading.kinds.matrix_expression import MatrixExpression
from grading.kinds.multi_choice import MultiChoice
from grading.kinds.number import Number
from grading.kinds.option import Option
from grading.kinds.shape import Shape
from grading.kinds.vector import Vector
from grading.tolerance import EQUIVALENT, rel, within
from solvers import algebra, domains
from solvers.algebra import Row, Rows, average, matmul, matvec, scaled, softmax, transpose
from solvers.domains import Ints, Made, OneOf, Steps, Values
from solvers.draws import Draws
from solvers.drill import Card, Drill, Slip

BLOCKED = -math.inf


# Computations -------------------------------------------------------------------------------------------------------


def shapes(B: int, h: int, T: int, d_k: int, d_v: int, d: int) -> dict[str, list[int]]:
    """Shapes of the tensors of a batched layer with h heads; the heads stay split up to `concat`."""
    return {
        "Q": [B, h, T, d_k],
        "K_transposed": [B, h, d_k, T],
        "V": [B, h, T, d_v],
        "S": [B, h, T, T],
        "P": [B, h, T, T],
        "O": [B, h, T, d_v],
        "concat": [B, T, h * d_v],
        "projected": [B, T, d],
    }


def product_shape(a: Sequence[int], b: Sequence[int]) -> list[int]:
    """Shape of a (…, m, k) · (…, k, n) product with equal leading axes; ValueError where the inner axes differ."""
    if a[-1] != b[-2] or list(a[:-2]) != list(b[:-2]):
        raise ValueError(f"{tuple(a)} and {tuple(b)} do not multiply")
    return [*a[:-1], b[-1]]


def scores(Q: Rows, K: Rows, scale: float | None = None) -> list[list[float]]:
    """S = Q Kᵀ · scale, [T_q, T_k]; the scale is 1/√d_k unless given."""
    factor = 1 / math.sqrt(len(K[0])) if scale is None else scale
    return [scaled(row, factor) for row in matmul(Q, transpose(K))]


def causal_mask(T: int) -> list[list[float]]:
    """[T, T]: 0 where key j is not after query i, −inf elsewhere."""
    return [[0.0 if j <= i else BLOCKED for j in range(T)] for i in range(T)]


def weights_row(q: Row, keys: Rows, scale: float | None = None) -> list[float]:
    """Attention weights [T] of one query over its visible keys [T, d_k]."""
    factor = 1 / math.sqrt(len(q)) if scale is None else scale
    return softmax(scaled(matvec(keys, q), factor))


def column_softmax(S: Rows) -> list[list[float]]:
    """Softmax down the columns (over the queries): what a call with dim=0 gives, [T_q, T_k]."""
    return transpose([softmax(column) for column in zip(*S, strict=True)])


def masked_average(S: Rows, V: Rows) -> list[list[float]]:
    """softmax_row(S) V for scores that already hold their mask."""
    return [average(softmax(row), V) for row in S]


def causal_output(Q: Rows, K: Rows, V: Rows) -> list[list[float]]:
    """Every output row [T, d_v] under the causal mask."""
    return algebra.attention(Q, K, V, causal_mask(len(Q)))[1]


def achievable(values: Row, candidate: float) -> bool:
    """Whether finite scores over scalar values can give that output: strictly between their extremes."""
    return min(values) < candidate < max(values)


def key_map_for(W_K: Rows, A: Rows) -> list[list[float]]:
    """W_K A^{−ᵀ} [d, 2]: the key map that keeps all scores when the query map becomes W_Q A, A [2, 2] invertible."""
    (a, b), (c, e) = A
    det = a * e - b * c
    return [[x / det for x in row] for row in matmul(W_K, [[e, -c], [-b, a]])]


def attention_arrays(q: Any, k: Any, v: Any, mask: Any = None) -> tuple[Any, Any, Any]:
    """(S, P, O) in numpy float64 for any leading axes.

    q [..., T_q, d_k], k [..., T_k, d_k], v [..., T_k, d_v]; mask broadcasts to [..., T_q, T_k] and is added.
    """
    import numpy as np

    q, k, v = (np.asarray(x, dtype=np.float64) for x in (q, k, v))
    s = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    if mask is not None:
        s = s + mask
    p = np.exp(s - s.max(axis=-1, keepdims=True))
    p = p / p.sum(axis=-1, keepdims=True)
    return s, p, p @ v


# What is drawn ------------------------------------------------------------------------------------------------------

TENSORS: Mapping[str, str] = {
    "Q": "the queries $Q$",
    "K_transposed": r"the transposed keys $K^\top$",
    "V": "the values $V$",
    "S": r"the scores $S = QK^\top/\sqrt{d_k}$",
    "P": r"the weights $P = \operatorname{softmax}(S)$",
    "O": "the outputs $O = PV$",
    "concat": "the concatenated outputs of the heads",
    "projected": "the layer's output, after the output projection",
}


def _invertible(draws: Draws, so_far: Values) -> list[list[int]]:
    """2 × 2 integers with determinant ±1 or ±2, neither symmetric nor orthogonal nor their own inverse."""
    del so_far
    while True:
        A = [[draws.integer(-2, 3) for _ in range(2)] for _ in range(2)]
        det = A[0][0] * A[1][1] - A[0][1] * A[1][0]
        if abs(det) not in (1, 2) or A[0][1] == A[1][0]:
            continue
        one = [[1, 0], [0, 1]]
        if matmul(A, A) != one and matmul(A, transpose(A)) != one:
            return A


def _rank_two(draws: Draws, so_far: Values) -> list[list[int]]:
    del so_far
    while True:
        W = [[draws.integer(-3, 3) for _ in range(2)] for _ in range(3)]
        if any(W[i][0] * W[j][1] != W[i][1] * W[j][0] for i in range(3) for j in range(i)):
            return W


def _mixed_values(draws: Draws, so_far: Values) -> list[int]:
    """T integers in -4..6, one of -2 or less and one of 2 or more."""
    return draws.shuffled(
        [draws.integer(-4, -2), draws.integer(2, 6), *(draws.integer(-4, 6) for _ in range(so_far["T"] - 2))]
    )


def _half_integers(draws: Draws, so_far: Values) -> list[float]:
    """4 or 5 half-integers: one below all values, a negative and a positive one in reach, the others around."""
    low, high = min(so_far["values"]), max(so_far["values"])
    below = low - 0.5 - draws.integer(0, 2)
    negative = draws.integer(low, -1) + 0.5
    positive = draws.integer(0, high - 1) + 0.5
    rest = [low - 1.5 + k for k in range(high - low + 4)]
    rest = [c for c in rest if c not in (below, negative, positive)]
    return draws.shuffled([below, negative, positive, *draws.sample(rest, draws.integer(1, 2))])


ONE_QUERY: Mapping[str, domains.Domain] = {
    "T": OneOf(3, 4),
    "d_k": OneOf(2, 3, 4),
    "d_v": OneOf(2),
    "q": domains.Vector("d_k", Ints(-2, 2)),
    "keys": domains.Matrix("T", "d_k", Ints(-2, 2)),
    "values": domains.Matrix("T", "d_v", Ints(-1, 3)),
}


def _dots(q: Row, keys: Rows) -> dict[str, Any]:
    """What the drills of one query derive once: its dot products with all keys, and their scaled values."""
    raw = matvec(keys, q)
    return {"raw": raw, "logits": scaled(raw, 1 / math.sqrt(len(q)))}


def _row_steps(raw: Row, logits: Row) -> dict[str, Any]:
    terms = [math.exp(s) for s in logits]
    return {"raw": raw, "logits": logits, "terms": terms, "total": sum(terms), "weights": softmax(logits)}


def _moderate(p: Row) -> bool:
    """A winner that does not take everything: the largest weight between 0.35 and 0.9."""
    return 0.35 <= max(p) <= 0.9


# Drills -------------------------------------------------------------------------------------------------------------


def _swapped(answer: list[int]) -> list[int] | None:
    other = [*answer[:-2], answer[-1], answer[-2]]
    return other if other != answer else None


def _heads_dropped(tensor: str, answer: list[int], d_v: int) -> list[int] | None:
    if tensor == "projected":
        return None
    return [*answer[:2], d_v] if tensor == "concat" else [answer[0], *answer[2:]]


def _full_width(tensor: str, answer: list[int], d: int) -> list[int] | None:
    if tensor in ("S", "P", "projected"):
        return None
    return [*answer[:2], d, answer[3]] if tensor == "K_transposed" else [*answer[:-1], d]


SHAPE_OF = Drill(
    id="attention.shape_of",
    asks="the shape of a tensor of a batched multi-head layer",
    stars=1,
    moves=("S",),
    params={
        "B": Ints(2, 8),
        "h": OneOf(2, 4, 6, 8, 12),
        "T": OneOf(5, 7, 10, 16, 128),
        "d_k": OneOf(3, 9, 32, 64),
        "d_v": OneOf(11, 20, 48, 96),
        "d": OneOf(100, 512, 768),
        "tensor": OneOf(*TENSORS),
    },
    derive=lambda tensor: {"named": TENSORS[tensor]},
    require=lambda B, h, T: len({B, h, T}) == 3,
    hold=("tensor",),
    solve=lambda B, h, T, d_k, d_v, d, tensor: shapes(B, h, T, d_k, d_v, d)[tensor],
    answer=Shape(),
    steps=lambda B, h, T, d_k, d_v, d, tensor, answer: {
        "split": tensor not in ("concat", "projected"),
        "scores": tensor in ("S", "P"),
        "tensor": tensor,
        "width": h * d_v,
        "shape": answer,
    },
    slips=(
        Slip(
            "axes_swapped",
            _swapped,
            "The last two axes are exchanged; tokens index the rows, and only the keys are transposed.",
        ),
        Slip(
            "heads_dropped",
            _heads_dropped,
            "The heads are missing: they are an axis of their own, until concatenation lays them side by side.",
        ),
        Slip(
            "qt_k",
            lambda tensor, B, h, d_k: [B, h, d_k, d_k] if tensor in ("S", "P") else None,
            r"This is the shape of $Q^\top K$; scores compare every query with every key, $QK^\top$.",
        ),
        Slip(
            "full_width",
            _full_width,
            "The model width stands where the heads' own width belongs; the output projection is what returns to $d$.",
        ),
    ),
)

SCORE_MATRIX = Drill(
    id="attention.score_matrix",
    asks="the matrix of scaled scores",
    stars=1,
    moves=("S",),
    params={
        "T": OneOf(2, 3),
        "d_k": OneOf(2, 4),
        "Q": domains.Matrix("T", "d_k", Ints(-2, 3)),
        "K": domains.Matrix("T", "d_k", Ints(-2, 3)),
    },
    derive=lambda Q, K: {"raw": matmul(Q, transpose(K))},
    require=lambda raw: raw != transpose(raw) and max(abs(x) for row in raw for x in row) >= 2,
    hold=("T", "d_k"),
    solve=lambda Q, K: scores(Q, K),
    answer=Matrix(tolerance=rel(0.01)),
    steps=lambda raw, d_k, answer: {"raw": raw, "root": math.sqrt(d_k), "scores": answer},
    slips=(
        Slip(
            "no_scale",
            lambda raw: raw,
            r"The dot products are not scaled; each is divided by $\sqrt{d_k}$.",
        ),
        Slip(
            "divided_by_dk",
            lambda raw, d_k: [[x / d_k for x in row] for row in raw],
            r"The dot products are divided by $d_k$; the scale is its square root.",
        ),
        Slip(
            "transposed",
            lambda answer: transpose(answer),
            "Keys index the rows; row $i$ belongs to query $i$ and column $j$ to key $j$.",
        ),
    ),
)

WEIGHTS_ROW = Drill(
    id="attention.weights_row",
    asks="the attention weights of one query",
    stars=1,
    moves=("S", "F"),
    params=ONE_QUERY,
    derive=_dots,
    require=lambda raw, logits: max(raw) - min(raw) >= 2 and _moderate(softmax(logits)),
    hold=("T", "d_k"),
    solve=lambda logits: softmax(logits),
    answer=Vector(tolerance=within(0.005)),
    steps=lambda raw, logits, answer: {**_row_steps(raw, logits), "weights": answer},
    slips=(
        Slip(
            "no_scale",
            lambda raw: softmax(raw),
            r"The dot products go into the softmax unscaled; divide them by $\sqrt{d_k}$ first.",
        ),
        Slip(
            "divided_by_dk",
            lambda raw, d_k: softmax(raw, d_k),
            r"The dot products are divided by $d_k$; the scale is its square root.",
        ),
        Slip(
            "not_normalised",
            lambda logits: [math.exp(s) for s in logits],
            "These are the exponentials; divided by their sum they become weights that add up to one.",
        ),
        Slip(
            "multiplied_by_root",
            lambda raw, d_k: softmax(scaled(raw, math.sqrt(d_k))),
            r"The dot products are multiplied by $\sqrt{d_k}$; they are divided by it.",
        ),
    ),
)

OUTPUT_ROW = Drill(
    id="attention.output_row",
    asks="the output vector of one query",
    stars=1,
    moves=("S", "F"),
    params=ONE_QUERY,
    derive=_dots,
    require=lambda logits, values: len({*map(tuple, values)}) >= 3 and _moderate(softmax(logits)),
    hold=("T", "d_k"),
    solve=lambda logits, values: average(softmax(logits), values),
    answer=Vector(tolerance=within(0.01)),
    steps=lambda raw, logits, answer: {**_row_steps(raw, logits), "output": answer},
    slips=(
        Slip(
            "no_scale",
            lambda raw, values: average(softmax(raw), values),
            r"The dot products go into the softmax unscaled; divide them by $\sqrt{d_k}$ first.",
        ),
        Slip(
            "divided_by_dk",
            lambda raw, values, d_k: average(softmax(raw, d_k), values),
            r"The dot products are divided by $d_k$; the scale is its square root.",
        ),
        Slip(
            "plain_mean",
            lambda values, T: average([1 / T] * T, values),
            "The values are averaged with equal shares; each counts with its attention weight.",
        ),
        Slip(
            "not_normalised",
            lambda logits, values: average([math.exp(s) for s in logits], values),
            "The values are weighted with bare exponentials; divide by their sum, so that the weights add up to one.",
        ),
        Slip(
            "top_key_only",
            lambda raw, values: values[raw.index(max(raw))],
            "Only the best key's value is read; softmax gives every visible key a share.",
        ),
    ),
)

CAUSAL_OUTPUT = Drill(
    id="attention.causal_output",
    asks="all output rows under a causal mask",
    stars=1,
    moves=("S", "F"),
    params={
        "T": OneOf(3),
        "d_k": OneOf(2),
        "d_v": OneOf(2),
        "Q": domains.Matrix("T", "d_k", Ints(-2, 2)),
        "K": domains.Matrix("T", "d_k", Ints(-2, 2)),
        "V": domains.Matrix("T", "d_v", Ints(0, 3)),
    },
    require=lambda V: len({*map(tuple, V)}) == 3,
    derive=lambda Q, K: {"S": scores(Q, K)},
    solve=lambda S, V: masked_average(_masked(S), V),
    answer=Matrix(tolerance=within(0.01)),
    steps=lambda S, T, answer: {
        "scores": S,
        "weights": [[*softmax(row[: i + 1]), *[0] * (T - 1 - i)] for i, row in enumerate(S)],
        "outputs": answer,
    },
    slips=(
        Slip(
            "wrong_axis",
            lambda S, V: matmul(column_softmax(_masked(S)), V),
            "The softmax runs down the columns; each query shares out one unit among its keys, along its row.",
        ),
        Slip(
            "mask_missing",
            lambda S, V: masked_average(S, V),
            "No mask is applied; under a causal mask a token sees itself and earlier ones alone.",
        ),
        Slip(
            "zero_one_mask_on_scores",
            lambda S, V: masked_average(_masked(S, 0.0), V),
            r"Blocked scores are set to 0, which keeps $e^0 = 1$; they must be $-\infty$ to get no weight.",
        ),
        Slip(
            "no_scale",
            lambda Q, K, V: masked_average(_masked(matmul(Q, transpose(K))), V),
            r"The dot products are not scaled; divide them by $\sqrt{d_k}$ first.",
        ),
    ),
    notes="That the unscaled output differs by more than 0.02 is the separation of the slip no_scale.",
)  # fmt: skip


def _masked(S: Rows, blocked: float = BLOCKED) -> list[list[float]]:
    return [[*row[: i + 1], *[blocked] * (len(row) - 1 - i)] for i, row in enumerate(S)]


def _query_sum(S: Rows, i: int) -> float:
    """What the weights of query row i (from 1) add up to after a softmax down the columns."""
    return sum(math.exp(row_i) / sum(math.exp(s) for s in column) for row_i, column in _columns(S, i))


def _columns(S: Rows, i: int) -> list[tuple[float, Row]]:
    return [(column[i - 1], column) for column in zip(*S, strict=True)]


WRONG_AXIS_ROWSUM = Drill(
    id="attention.wrong_axis_rowsum",
    asks="what a row adds up to after a softmax along the wrong axis",
    stars=1,
    moves=("S",),
    params={"T": OneOf(3), "scores": domains.Matrix("T", "T", Ints(-1, 2)), "i": Ints(1, 3)},
    require=lambda scores, i: abs(_query_sum(scores, i) - 1) > 0.1,
    hold=("i",),
    solve=lambda scores, i: _query_sum(scores, i),
    answer=Number(tolerance=rel(0.01)),
    steps=lambda scores, i, answer: {
        "terms": [math.exp(s) for s in scores[i - 1]],
        "sums": [sum(math.exp(s) for s in column) for column in zip(*scores, strict=True)],
        "weights": [math.exp(s) / sum(math.exp(v) for v in column) for s, column in _columns(scores, i)],
        "sum": answer,
    },
    slips=(
        Slip(
            "assumed_one",
            lambda: 1,
            "The row is taken to add up to one; with dim=0 the columns do, since each is normalised over the queries.",
        ),
        Slip(
            "diagonal_weight_only",
            lambda scores, i: column_softmax(scores)[i - 1][i - 1],
            "Only the weight on the diagonal is given; add the weights of all keys in the row.",
        ),
        Slip(
            "unnormalised",
            lambda scores, i: sum(math.exp(s) for s in scores[i - 1]),
            "The exponentials are added as they are; each is divided by the sum of its column first.",
        ),
    ),
)


def _number(c: float) -> str:
    return f"{c:g}"


def _candidate_options(values: Row, candidates: Row) -> list[Option]:
    low, high = min(values), max(values)
    reasons = {
        -1: f"It lies below the smallest value, ${low}$.",
        0: f"It lies between the smallest value, ${low}$, and the largest, ${high}$.",
        1: f"It lies above the largest value, ${high}$.",
    }
    return [Option(_number(c), f"$o = {_number(c)}$.", reasons[(c > high) - (c < low)]) for c in candidates]


def _keys(candidates: Sequence[float]) -> list[str]:
    return sorted(_number(c) for c in candidates)


ACHIEVABLE_OUTPUTS = Drill(
    id="attention.achievable_outputs",
    asks="which outputs some finite scores can produce",
    stars=1,
    moves=("S",),
    params={
        "T": OneOf(3, 4, 5),
        "values": Made(_mixed_values, like="vector"),
        "candidates": Made(_half_integers, like="vector"),
    },
    derive=lambda candidates: {"count": len(candidates)},
    solve=lambda values, candidates: _keys([c for c in candidates if achievable(values, c)]),
    options=_candidate_options,
    answer=MultiChoice(),
    steps=lambda values, answer: {"low": min(values), "high": max(values), "right": answer},
    slips=(
        Slip(
            "any_linear_combination",
            lambda candidates: _keys(candidates),
            "Every combination is allowed; positive weights that add up to one keep the output between the values.",
        ),
        Slip(
            "only_upper_bound",
            lambda values, candidates: _keys([c for c in candidates if c < max(values)]),
            "Only the largest value is taken as a bound; a weighted average stays above the smallest one as well.",
        ),
        Slip(
            "only_nonnegative",
            lambda values, candidates: _keys([c for c in candidates if 0 < c < max(values)]),
            "Outputs are taken to be positive because the weights are; negative values pull the average below zero.",
        ),
    ),
    notes="Some negative candidate is always reachable, and candidates lie strictly between integers.",
)

VALUE_AFFINE = Drill(
    id="attention.value_affine",
    asks="the output after all values are scaled and shifted",
    stars=1,
    moves=("S",),
    params={
        "o": domains.Vector(2, Steps(-2, 3, 0.1)),
        "c": OneOf(-2, -1, 0.5, 2, 3),
        "u": domains.Vector(2, Ints(-3, 4, without=(0,))),
    },
    solve=lambda o, c, u: [c * x + y for x, y in zip(o, u, strict=True)],
    answer=Vector(tolerance=within(0.0005)),
    steps=lambda o, c, answer: {"scaled": scaled(o, c), "output": answer},
    slips=(
        Slip(
            "shift_lost",
            lambda o, c: scaled(o, c),
            "The shift is lost; the weights add up to one, so the average moves by the whole shift.",
        ),
        Slip(
            "shift_scaled_too",
            lambda o, c, u: [c * (x + y) for x, y in zip(o, u, strict=True)],
            "The shift is multiplied by the factor as well; it is added after the scaling.",
        ),
        Slip(
            "unchanged",
            lambda o: o,
            "The output is left alone; softmax ignores a shift of the scores, but values are averaged as they are.",
        ),
    ),
)

QK_REPARAMETERISATION = Drill(
    id="attention.qk_reparameterisation",
    asks="the key map that keeps all scores when the query map changes",
    stars=1,
    moves=("S",),
    params={"W_K": Made(_rank_two, like="matrix"), "A": Made(_invertible, like="matrix")},
    solve=key_map_for,
    answer=Matrix(tolerance=rel(0.01)),
    steps=lambda A, answer: {
        "det": A[0][0] * A[1][1] - A[0][1] * A[1][0],
        "inverse": transpose(key_map_for([[1, 0], [0, 1]], A)),
        "inverse_transposed": key_map_for([[1, 0], [0, 1]], A),
        "key_map": answer,
    },
    slips=(
        Slip(
            "no_transpose",
            lambda W_K, A: matmul(W_K, transpose(key_map_for([[1, 0], [0, 1]], A))),
            r"The inverse is not transposed; the key map enters the scores transposed, so $B^\top$ is the inverse.",
        ),
        Slip(
            "same_matrix",
            lambda W_K, A: matmul(W_K, A),
            r"The key map gets the same factor; then $AA^\top$ stands between the maps instead of the identity.",
        ),
        Slip(
            "transpose_not_inverse",
            lambda W_K, A: matmul(W_K, transpose(A)),
            "Only the transpose is applied; the factors must cancel, which takes the inverse of the transpose.",
        ),
    ),
)

TWO_KEY_WEIGHT = Drill(
    id="attention.two_key_weight",
    asks="the weight of the first of two keys as a formula",
    stars=1,
    moves=("S", "F"),
    params={},
    solve=lambda: "1/(1+e^(s_2-s_1))",
    answer=Expression(symbols={"s_1": "real", "s_2": "real"}, tolerance=EQUIVALENT),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "swapped",
            lambda: "1/(1+e^(s_1-s_2))",
            "This is the weight of the second key: the sign of the gap is turned round.",
        ),
        Slip(
            "not_normalised",
            lambda: "e^(s_1)",
            "The exponential is not divided by the sum of both; weights add up to one.",
        ),
        Slip(
            "linear",
            lambda: "s_1/(s_1+s_2)",
            "The scores themselves are shared out; softmax shares out their exponentials.",
        ),
    ),
)

MATRIX_FORMULA = Drill(
    id="attention.matrix_formula",
    asks="attention in matrix form",
    stars=1,
    moves=("S",),
    params={},
    solve=lambda: "softmax(Q K^T/sqrt(d_k)) V",
    answer=MatrixExpression(
        shapes={"Q": ["T", "d_k"], "K": ["T", "d_k"], "V": ["T", "d_v"]},
        symbols={"d_k": "integer >= 1"},
        tolerance=EQUIVALENT,
    ),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "no_scale",
            lambda: "softmax(Q K^T) V",
            r"The scores are not scaled; they are divided by $\sqrt{d_k}$ inside the softmax.",
        ),
        Slip(
            "divided_by_dk",
            lambda: "softmax(Q K^T/d_k) V",
            r"The scores are divided by $d_k$; the scale is its square root.",
        ),
        Slip(
            "softmax_last",
            lambda: "softmax(Q K^T V/sqrt(d_k))",
            "The softmax comes last; it turns the scores into weights, before these average the values.",
        ),
    ),
)

CARD = Card(
    number=1,
    slug="c01_attention",
    title="Scaled dot-product attention and its shapes",
    stars=1,
    moves=("S", "F"),
    statement=(
        "Attention over T tokens is one matrix product for the scores, a softmax along each row and one product with "
        "the values; so every output is a weighted average of value rows, and further axes only repeat it."
    ),
    formulas=(
        r"O = \operatorname{softmax}\Big(\frac{QK^\top}{\sqrt{d_k}} + M\Big) V",
        r"\mathbf o_i = \sum_{j=1}^{T} p_{ij}\, \mathbf v_j, \quad p_{ij} = \frac{e^{s_{ij}}}{\sum_r e^{s_{ir}}}",
        r"(B, h, T, d_k)\,(B, h, d_k, T) \to (B, h, T, T)",
        r"\min_j v_{jc} \le o_{ic} \le \max_j v_{jc}",
    ),
    drills=(
        SHAPE_OF, SCORE_MATRIX, WEIGHTS_ROW, OUTPUT_ROW, CAUSAL_OUTPUT, WRONG_AXIS_ROWSUM, ACHIEVABLE_OUTPUTS,
        VALUE_AFFINE, QK_REPARAMETERISATION, TWO_KEY_WEIGHT, MATRIX_FORMULA,
    ),
)  # fmt: skip
