"""Card 5: the backward pass of attention, from the outputs to Q, K, V and the maps W_Q, W_K, W_V.

Source: card 5. Scores S = Q Kᵀ/√d_k + M, weights P = softmax(S) by rows, outputs O = P V, loss ℒ. X [T, d] are the
inputs, Q and K [T, d_k], V, O and dO [T, d_v], S, P and dP [T, T]; dA stands for ∂ℒ/∂A and has A's shape. One row
has weights p [T], values [T, d_v], query q [d_k] and upstream gradient g = ∂ℒ/∂o [d_v]. Plain numbers, no units.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grading.kinds.indexed import Indexed
from grading.kinds.matrix import Matrix
from grading.kinds.matrix_expression import MatrixExpression
from grading.kinds.number import Number
from grading.kinds.vector import Vector
from grading.tolerance import EQUIVALENT, EXACT, within
from solvers.algebra import Rows, attention, average, dot, matmul, matvec, scaled, transpose
from solvers.domains import Domain, Ints, Made, OneOf, Shares, Values
from solvers.domains import Matrix as MatrixOf
from solvers.domains import Vector as VectorOf
from solvers.draws import Draws
from solvers.drill import Card, Drill, Slip
from solvers.statements import Statement, minus, plus, statement_drill

Row = Sequence[float]
Mat = list[list[float]]


# ------------------------------------------------------------------------------------------------------- one row


def row_number(p: Row, values: Rows, g: Row) -> float:
    """D = Σ_j p_j gᵀv_j, which equals gᵀo: the one number that a row's softmax gradient subtracts."""
    D: float = dot(p, matvec(values, g))
    return D


def score_gradient(p: Row, values: Rows, g: Row) -> list[float]:
    """∂ℒ/∂s_j = p_j (gᵀv_j − gᵀo) for one row; the entries sum to zero."""
    y = matvec(values, g)
    D = dot(p, y)
    return [a * (b - D) for a, b in zip(p, y, strict=True)]


def query_gradient(p: Row, values: Rows, g: Row, keys: Rows) -> list[float]:
    """∂ℒ/∂q = Σ_j ∂ℒ/∂s_j k_j/√d_k; keys [T, d_k] → [d_k]."""
    return scaled(average(score_gradient(p, values, g), keys), 1 / math.sqrt(len(keys[0])))


def key_gradient(p: Row, values: Rows, g: Row, q: Row, j: int) -> list[float]:
    """What key j (from 1) receives from this row: ∂ℒ/∂s_j q/√d_k → [d_k]."""
    return scaled(q, score_gradient(p, values, g)[j - 1] / math.sqrt(len(q)))


def value_gradient(p: Row, g: Row, j: int) -> list[float]:
    """What value j (from 1) receives from this row: p_j g → [d_v]."""
    return scaled(g, p[j - 1])


def descent_signs(p: Row, values: Rows, g: Row) -> list[int]:
    """How each score moves in a small gradient-descent step on the scores: +1 up, −1 down, 0 not at all."""
    return [-_sign(x) for x in score_gradient(p, values, g)]


def _sign(x: float) -> int:
    return 0 if abs(x) < 1e-12 else (1 if x > 0 else -1)


# ------------------------------------------------------------------------------------------------- the whole pass


@dataclass(frozen=True)
class Gradients:
    """What one backward pass yields; D [T] is rowsum(dO ∘ O), the only number a row keeps for dS."""

    P: Mat
    O: Mat  # noqa: E741 - the field's name for the outputs
    D: list[float]
    dV: Mat
    dP: Mat
    dS: Mat
    dQ: Mat
    dK: Mat


def entrywise(A: Rows, B: Rows) -> Mat:
    """A ∘ B for equal shapes."""
    return [[a * b for a, b in zip(x, y, strict=True)] for x, y in zip(A, B, strict=True)]


def row_sums(A: Rows) -> list[float]:
    """[m, n] → [m]."""
    return [math.fsum(row) for row in A]


def softmax_backward(P: Rows, dP: Rows, D: Row | None = None) -> Mat:
    """dS = P ∘ (dP − D) with one number D_i a row, rowsum(P ∘ dP) unless it is given."""
    found = row_sums(entrywise(P, dP)) if D is None else D
    return [
        [w * (x - d) for w, x in zip(weights, slopes, strict=True)]
        for weights, slopes, d in zip(P, dP, found, strict=True)
    ]


def attention_backward(Q: Rows, K: Rows, V: Rows, dO: Rows, mask: Rows | None = None) -> Gradients:
    """All gradients of O = softmax(Q Kᵀ/√d_k + mask) V for upstream dO; the mask [T_q, T_k] is a constant."""
    P, O = attention(Q, K, V, mask)  # noqa: E741
    D = row_sums(entrywise(dO, O))
    dP = matmul(dO, transpose(V))
    dS = softmax_backward(P, dP, D)
    unit = 1 / math.sqrt(len(K[0]))
    return Gradients(
        P, O, D,
        dV=matmul(transpose(P), dO), dP=dP, dS=dS,
        dQ=[scaled(row, unit) for row in matmul(dS, K)],
        dK=[scaled(row, unit) for row in matmul(transpose(dS), Q)],
    )  # fmt: skip


@dataclass(frozen=True)
class LayerGradients:
    """Gradients of one head's maps and input: dW_Q, dW_K [d, d_k], dW_V [d, d_v], dX [T, d]."""

    dW_Q: Mat
    dW_K: Mat
    dW_V: Mat
    dX: Mat
    inner: Gradients


def head_backward(X: Rows, W_Q: Rows, W_K: Rows, W_V: Rows, dO: Rows, mask: Rows | None = None) -> LayerGradients:
    """From dO [T, d_v] through attention to the maps and the input of one head: dW = Xᵀ d(X W)."""
    inner = attention_backward(matmul(X, W_Q), matmul(X, W_K), matmul(X, W_V), dO, mask)
    Xt = transpose(X)
    through = [
        matmul(inner.dQ, transpose(W_Q)), matmul(inner.dK, transpose(W_K)), matmul(inner.dV, transpose(W_V)),
    ]  # fmt: skip
    return LayerGradients(
        dW_Q=matmul(Xt, inner.dQ),
        dW_K=matmul(Xt, inner.dK),
        dW_V=matmul(Xt, inner.dV),
        dX=[[a + b + c for a, b, c in zip(*rows, strict=True)] for rows in zip(*through, strict=True)],
        inner=inner,
    )


# --------------------------------------------------------------------------------------------------- what is drawn


def _upstream(draws: Draws, _: Values) -> list[int]:
    while not any(g := [draws.integer(-2, 2), draws.integer(-2, 2)]):
        pass
    return g


WEIGHTS = Shares("T", 20)
VALUES = MatrixOf("T", 2, Ints(-2, 3))
UPSTREAM = Made(_upstream, like="vector")
ROW: Mapping[str, Domain] = {"T": OneOf(3), "p": WEIGHTS, "values": VALUES, "g": UPSTREAM}
"""One row of three keys: weights in multiples of 0.05, integer values and upstream gradient."""


def _row_steps(p: Row, values: Rows, g: Row) -> dict[str, Any]:
    y = matvec(values, g)
    D = dot(p, y)
    gaps, dS = [b - D for b in y], score_gradient(p, values, g)
    return {"y": y, "o": _clean(average(p, values)), "D": D, "gaps": _clean(gaps), "dS": _clean(dS)}


def _clean(row: Row) -> list[float]:
    """Weights are multiples of 0.05, so what rounding leaves behind is taken off: 0 instead of 4e-16."""
    return [round(x, 12) + 0.0 for x in row]


def _clear_row(p: Row, values: Rows, g: Row) -> bool:
    """Values that differ along g, a mean that matters, and no score gradient that could pass for zero."""
    y = matvec(values, g)
    D = dot(p, y)
    return len(set(y)) > 1 and abs(D) > 0.1 and all(abs(a * (b - D)) > 0.02 for a, b in zip(p, y, strict=True))


# ----------------------------------------------------------------------------------------------------- the drills


@dataclass(frozen=True)
class Line:
    """One line of the backward pass: its formula and its slips, by slip id."""

    formula: str
    slips: Mapping[str, str]


LINES = {
    "dV": Line(
        "P^T dO",
        {"not_transposed": "P dO", "score_gradient_used": "dS^T dO"},
    ),
    "dP": Line("dO V^T", {"order_swapped": "V dO^T", "output_used": "dO O^T"}),
    "dS": Line(
        "P o (dP - rowsum(P o dP))",
        {
            "rowsum_missing": "P o dP",
            "columns_summed": "P o (dP - colsum(P o dP))",
            "sigmoid": "P o (1 - P) o dP",
            "weight_dropped": "dP - rowsum(P o dP)",
        },
    ),
    "dQ": Line(
        "dS K/sqrt(d_k)",
        {"no_scale": "dS K", "divided_by_dk": "dS K/d_k", "transposed_scores": "dS^T K/sqrt(d_k)"},
    ),
    "dK": Line(
        "dS^T Q/sqrt(d_k)",
        {"not_transposed": "dS Q/sqrt(d_k)", "no_scale": "dS^T Q", "divided_by_dk": "dS^T Q/d_k"},
    ),
    "dW_Q": Line("X^T dQ", {"key_gradient_used": "X^T dK", "score_gradient_only": "X^T (dS K)"}),
    "dW_K": Line("X^T dK", {"query_gradient_used": "X^T dQ", "score_gradient_only": "X^T (dS^T Q)"}),
    "dW_V": Line("X^T dV", {"weights_not_transposed": "X^T P dO", "upstream_directly": "X^T dO"}),
}
"""The eight lines by what they give."""


def _line_slip(id: str) -> Callable[[str], str | None]:
    return lambda target: LINES[target].slips.get(id)


LINE_REMARKS = {
    "not_transposed": "The first factor is not transposed; keys and values gather down the columns of a T × T matrix.",
    "score_gradient_used": "The score gradient stands where the weights belong; values enter through the weights.",
    "order_swapped": "The product is transposed; queries are the rows of P, so the upstream gradient comes first.",
    "output_used": "The outputs stand where the values belong; each weight multiplies a value.",
    "rowsum_missing": "The row sum is missing; every score also moves the other weights of its row.",
    "columns_summed": "The sum runs down the columns; softmax acts along a row, so one number a row is subtracted.",
    "sigmoid": "Softmax is treated entry by entry; subtract the weighted row sum instead of scaling by one minus P.",
    "weight_dropped": "The factor P in front is missing; a score gradient is weight times surprise.",
    "no_scale": "The scale is missing; the scores carry one over the root of $d_k$, so the gradient does too.",
    "divided_by_dk": "The scale is applied twice; the scores carry one over the root of $d_k$, not one over $d_k$.",
    "transposed_scores": "The score gradient is transposed; queries are its rows, so it stands as it is.",
    "key_gradient_used": "The keys' gradient is taken; the map of the queries receives the queries' gradient.",
    "query_gradient_used": "The queries' gradient is taken; the map of the keys receives the keys' gradient.",
    "score_gradient_only": "The scale is lost on the way; the map needs the whole gradient of its projection.",
    "weights_not_transposed": "The weights are not transposed; a value gathers down its column of the weights.",
    "upstream_directly": "The weights are skipped; the upstream gradient reaches the values through them.",
}

SHAPES = {
    "X": ["T", "d"], "Q": ["T", "d_k"], "K": ["T", "d_k"], "V": ["T", "d_v"], "P": ["T", "T"], "O": ["T", "d_v"],
    "dO": ["T", "d_v"], "dP": ["T", "T"], "dS": ["T", "T"],
    "dQ": ["T", "d_k"], "dK": ["T", "d_k"], "dV": ["T", "d_v"],
}  # fmt: skip
FORWARD = ("X", "Q", "K", "V", "P", "O", "dO")
USABLE = {
    "dV": (*FORWARD, "dP", "dS"),
    "dP": FORWARD,
    "dS": (*FORWARD, "dP"),
    "dQ": (*FORWARD, "dP", "dS"),
    "dK": (*FORWARD, "dP", "dS"),
} | {f"dW_{m}": (*FORWARD, "dP", "dS", "dQ", "dK", "dV") for m in "QKV"}
"""What each line may be written in: what the forward pass leaves and the gradients that do not hang on it."""


KNOWN = {"P": "softmax(Q K^T/sqrt(d_k))", "O": "P V"} | {
    name: LINES[name].formula for name in ("dP", "dS", "dQ", "dK", "dV")
}
"""How the named matrices hang together, so that e.g. rowsum(dO ∘ O) passes for rowsum(P ∘ dP)."""


def _line_kind(target: str) -> MatrixExpression:
    usable = USABLE[target]
    return MatrixExpression(
        symbols={"d_k": "integer >= 1"},
        shapes={name: SHAPES[name] for name in usable},
        known={name: formula for name, formula in KNOWN.items() if name in usable},
        tolerance=EQUIVALENT,
    )


LINE_KINDS = {target: _line_kind(target) for target in LINES}

GRADIENT_LINE = Drill(
    id="backward.gradient_line",
    asks="one line of the backward pass in matrices",
    stars=2,
    moves=("S", "O"),
    params={"target": OneOf(*LINES)},
    hold=("target",),
    derive=lambda target: {"names": ", ".join(f"`{name}`" for name in (*USABLE[target], "d_k"))},
    solve=lambda target: LINES[target].formula,
    answer=LINE_KINDS["dS"],
    declare=lambda target: LINE_KINDS[target],
    steps=lambda answer: {"formula": answer},
    slips=tuple(Slip(id, _line_slip(id), remark, branch=True) for id, remark in LINE_REMARKS.items()),
)

SCORE_GRADIENT = Drill(
    id="backward.score_gradient",
    asks="the gradient of every score of one row",
    stars=2,
    moves=("O",),
    params=ROW,
    require=_clear_row,
    solve=score_gradient,
    answer=Vector(tolerance=within(0.0005)),
    steps=lambda p, values, g, answer: {**_row_steps(p, values, g), "gradient": answer},
    slips=(
        Slip(
            "rowsum_missing",
            lambda p, values, g: [a * b for a, b in zip(p, matvec(values, g), strict=True)],
            "The row's average is not subtracted; a score also moves the weights of all other keys.",
        ),
        Slip(
            "sigmoid",
            lambda p, values, g: [a * (1 - a) * b for a, b in zip(p, matvec(values, g), strict=True)],
            "Softmax is treated entry by entry; compare each value with the row's weighted average instead.",
        ),
        Slip(
            "sign",
            lambda answer: [-x for x in answer],
            "The sign is exchanged; a value whose slope lies above the average has a positive score gradient.",
        ),
        Slip(
            "weight_dropped",
            lambda p, values, g: _row_steps(p, values, g)["gaps"],
            "The weight is missing; a key without weight cannot move the loss, so each gap is multiplied by it.",
        ),
    ),
)


def _keyed_sum(slopes: Row, keys: Rows, factor: float) -> list[float]:
    return scaled(average(slopes, keys), factor)


QUERY_GRADIENT = Drill(
    id="backward.query_gradient",
    asks="the gradient that reaches the query",
    stars=2,
    moves=("O", "S"),
    params={
        "T": OneOf(3), "d_k": OneOf(2, 4), "p": WEIGHTS, "values": VALUES, "g": UPSTREAM,
        "keys": MatrixOf("T", "d_k", Ints(-2, 2)),
    },
    hold=("d_k",),
    require=lambda p, values, g, keys: (
        _clear_row(p, values, g) and max(abs(x) for x in query_gradient(p, values, g, keys)) > 0.1
    ),
    solve=query_gradient,
    answer=Vector(tolerance=within(0.005)),
    steps=lambda p, values, g, keys, answer: {
        **_row_steps(p, values, g),
        "sum": _clean(average(score_gradient(p, values, g), keys)),
        "root": math.sqrt(len(keys[0])),
        "gradient": _clean(answer),
    },
    slips=(
        Slip(
            "no_scale",
            lambda p, values, g, keys: _keyed_sum(score_gradient(p, values, g), keys, 1.0),
            "The scale is missing; the scores are dot products over the root of $d_k$, and the chain rule keeps it.",
        ),
        Slip(
            "divided_by_dk",
            lambda p, values, g, keys: _keyed_sum(score_gradient(p, values, g), keys, 1 / len(keys[0])),
            "The sum is divided by $d_k$; the scores carry the root of $d_k$.",
        ),
        Slip(
            "rowsum_missing",
            lambda p, values, g, keys: _keyed_sum(
                [a * b for a, b in zip(p, matvec(values, g), strict=True)], keys, 1 / math.sqrt(len(keys[0]))
            ),
            "The score gradients lack the row's average; subtract it before the keys are weighted.",
        ),
        Slip(
            "sign",
            lambda answer: [-x for x in answer],
            "The sign is exchanged, which gives the direction of descent; the gradient itself is asked for.",
        ),
    ),
)  # fmt: skip

KEY_GRADIENT = Drill(
    id="backward.key_gradient",
    asks="the gradient that one key receives from a row",
    stars=2,
    moves=("O", "S"),
    params={
        "T": OneOf(3), "d_k": OneOf(2, 4), "p": WEIGHTS, "values": VALUES, "g": UPSTREAM,
        "q": VectorOf("d_k", Ints(-2, 2)), "j": Ints(1, 3),
    },
    hold=("d_k", "j"),
    require=lambda p, values, g, q, j: any(q) and abs(score_gradient(p, values, g)[j - 1]) > 0.02,
    solve=key_gradient,
    answer=Vector(tolerance=within(0.005)),
    steps=lambda p, values, g, q, j, answer: {
        **_row_steps(p, values, g),
        "weight": p[j - 1],
        "slope": matvec(values, g)[j - 1],
        "ds": score_gradient(p, values, g)[j - 1],
        "root": math.sqrt(len(q)),
        "gradient": answer,
    },
    slips=(
        Slip(
            "no_scale",
            lambda p, values, g, q, j: scaled(q, score_gradient(p, values, g)[j - 1]),
            "The scale is missing; the score is a dot product over the root of $d_k$, and its slope keeps that root.",
        ),
        Slip(
            "rowsum_missing",
            lambda p, values, g, q, j: scaled(q, p[j - 1] * matvec(values, g)[j - 1] / math.sqrt(len(q))),
            "The score gradient lacks the row's average; softmax makes every key compete with it.",
        ),
        Slip(
            "weight_used",
            lambda p, q, j: scaled(q, p[j - 1] / math.sqrt(len(q))),
            "The weight multiplies the query; what belongs there is the gradient of the key's score.",
        ),
        Slip(
            "divided_by_dk",
            lambda p, values, g, q, j: scaled(q, score_gradient(p, values, g)[j - 1] / len(q)),
            "The product is divided by $d_k$; the score carries the root of $d_k$.",
        ),
    ),
)  # fmt: skip

VALUE_GRADIENT = Drill(
    id="backward.value_gradient",
    asks="the gradient that one value receives from a row",
    stars=2,
    moves=("S",),
    params={**ROW, "j": Ints(1, 3)},
    hold=("j",),
    solve=value_gradient,
    answer=Vector(tolerance=within(0.0005)),
    steps=lambda p, j, answer: {"weight": p[j - 1], "gradient": answer},
    slips=(
        Slip(
            "score_gradient_used",
            lambda p, values, g, j: scaled(g, score_gradient(p, values, g)[j - 1]),
            "The score gradient multiplies the upstream gradient; a value enters the output by its weight alone.",
        ),
        Slip(
            "weight_dropped",
            lambda g: list(g),
            "The upstream gradient is passed on whole; the output holds only the weighted share of a value.",
        ),
        Slip(
            "jacobian_used",
            lambda p, g, j: scaled(g, p[j - 1] * (1 - p[j - 1])),
            "The softmax slope is used; the weights do not depend on the values, so the weight itself is the factor.",
        ),
    ),
)


def _telling_row_number(p: Row, values: Rows, g: Row) -> bool:
    """Whether D is none of the numbers in the text; the rest as in `_clear_row`, since scenarios carry the row on."""
    D = abs(row_number(p, values, g))
    shown = {*map(float, range(4)), *p}  # T, the values and g are whole numbers up to 3
    return _clear_row(p, values, g) and all(abs(D - x) > 1e-9 for x in shown)


ROW_NUMBER = Drill(
    id="backward.row_number",
    asks="the number that a row's backward pass subtracts",
    stars=2,
    moves=("O",),
    params=ROW,
    require=_telling_row_number,
    solve=row_number,
    answer=Number(tolerance=within(0.0005)),
    steps=lambda p, values, g, answer: {"y": matvec(values, g), "o": _clean(average(p, values)), "D": answer},
    slips=(
        Slip(
            "unweighted_sum",
            lambda values, g: sum(matvec(values, g)),
            "The slopes are added without weights; each counts with the weight of its key.",
        ),
        Slip(
            "unweighted_mean",
            lambda values, g: sum(matvec(values, g)) / len(values),
            "The plain mean of the slopes is given; the row's own weights take the mean here.",
        ),
        Slip(
            "squared_weights",
            lambda p, values, g: dot([a * a for a in p], matvec(values, g)),
            "The weights are squared; each key enters once, with its weight.",
        ),
        Slip(
            "sign",
            lambda answer: -answer,
            "The sign is exchanged; the number is the upstream gradient dotted with the output, then subtracted.",
        ),
    ),
    notes="D is never a number that the text shows (such a key could be guessed).",
)


def _weight_rows(draws: Draws, _: Values) -> list[list[float]]:
    return [[k / 10, (10 - k) / 10] for k in (draws.integer(1, 9), draws.integer(1, 9))]


def _less(P: Rows, dP: Rows, numbers: Rows) -> Mat:
    """P ∘ (dP − numbers), entry by entry."""
    return [[w * (x - n) for w, x, n in zip(*row, strict=True)] for row in zip(P, dP, numbers, strict=True)]


def _matrix_parts(P: Rows, dO: Rows, V: Rows) -> dict[str, Any]:
    dP = matmul(dO, transpose(V))
    product = entrywise(P, dP)
    return {
        "dP": dP,
        "product": product,
        "D": row_sums(product),
        "columns": row_sums(transpose(product)),
        "whole": math.fsum(row_sums(product)),
        "dS": softmax_backward(P, dP),
    }


SCORE_MATRIX = Drill(
    id="backward.score_matrix",
    asks="the gradient of a small score matrix",
    stars=2,
    moves=("O",),
    params={
        "P": Made(_weight_rows, like="matrix"),
        "dO": MatrixOf(2, 2, Ints(-2, 2)),
        "V": MatrixOf(2, 2, Ints(-1, 2)),
    },
    require=lambda P, dO, V: all(abs(x) > 0.02 for row in _matrix_parts(P, dO, V)["dS"] for x in row),
    solve=lambda P, dO, V: softmax_backward(P, matmul(dO, transpose(V))),
    answer=Matrix(tolerance=within(0.0005)),
    steps=lambda P, dO, V, answer: {
        "dP": matmul(dO, transpose(V)),
        "D": _matrix_parts(P, dO, V)["D"],
        "gaps": _less([[1, 1], [1, 1]], matmul(dO, transpose(V)), [[d, d] for d in _matrix_parts(P, dO, V)["D"]]),
        "dS": answer,
    },
    slips=(
        Slip(
            "columns_summed",
            lambda P, dO, V: _less(P, matmul(dO, transpose(V)), [_matrix_parts(P, dO, V)["columns"]] * 2),
            "The products are summed down the columns; softmax acts along a row, so each row has its own sum.",
        ),
        Slip(
            "rowsum_missing",
            lambda P, dO, V: _matrix_parts(P, dO, V)["product"],
            "Nothing is subtracted; each row loses its weighted mean first, which makes it add up to zero.",
        ),
        Slip(
            "whole_sum",
            lambda P, dO, V: _less(P, matmul(dO, transpose(V)), [[_matrix_parts(P, dO, V)["whole"]] * 2] * 2),
            "One number is subtracted from the whole matrix; every row has a softmax and a number of its own.",
        ),
    ),
)

DESCENT_SIGNS = Drill(
    id="backward.descent_signs",
    asks="which way each score moves in a descent step",
    stars=2,
    moves=("O",),
    params=ROW,
    require=lambda p, values, g: descent_signs(p, values, g) != [-_sign(y) for y in matvec(values, g)],
    solve=descent_signs,
    answer=Vector(tolerance=EXACT, words=(("up", 1), ("down", -1), ("rises", 1), ("falls", -1), ("+", 1), ("-", -1))),
    steps=lambda p, values, g, answer: {**_row_steps(p, values, g), "signs": answer},
    slips=(
        Slip(
            "gradient_sign",
            lambda answer: [-x for x in answer],
            "A positive gradient is read as a rise; descent steps against the gradient.",
        ),
        Slip(
            "all_raised",
            lambda answer: [1] * len(answer),
            "All scores are raised; score gradients of a row add up to zero, so some rise and some fall.",
        ),
        Slip(
            "sign_of_g_dot_v",
            lambda values, g: [-_sign(y) for y in matvec(values, g)],
            "Each slope is held against zero; what counts is whether it lies above the row's weighted average.",
        ),
    ),
)

STORED_TENSORS = statement_drill(
    id="backward.stored_tensors",
    asks="what an exact backward pass that rebuilds P has to read",
    stars=2,
    moves=("O", "S"),
    statements=(
        Statement(
            "P", r"The weights $P$ ($T \times T$).", False, r"They are rebuilt as $e^{S - \text{lse}}$, block by block."
        ),
        Statement("O", r"The outputs $O$.", True, r"$D_i$ is row $i$ of $dO$ dotted with row $i$ of $O$."),
        Statement(
            "logsumexp",
            "One logsumexp for each row of scores.",
            True,
            "Without it the rebuilt exponentials could not be normalised block by block.",
        ),
        Statement("dO", "The upstream gradient $dO$.", True, "Every gradient starts from it."),
        Statement("Q", "The queries $Q$.", True, "The scores are rebuilt from them, and $dK$ needs them."),
        Statement("K", "The keys $K$.", True, "The scores are rebuilt from them, and $dQ$ needs them."),
        Statement("V", "The values $V$.", True, r"$dP = dO\, V^\top$."),
        Statement("S", r"The scores $S$ ($T \times T$).", False, r"They are rebuilt as $Q K^\top / \sqrt{d_k}$."),
        Statement(
            "dropout_of_P",
            r"A stored copy ($T \times T$) of the weights after dropout.",
            False,
            "A dropout mask can be drawn again from its seed; no such copy is kept.",
        ),
        Statement(
            "row_max_and_P",
            r"The row maxima together with the weights ($T \times T$).",
            False,
            "The logsumexp holds the maximum already, and the weights are rebuilt.",
        ),
        Statement(
            "softmax_jacobian",
            r"The softmax Jacobian ($T \times T$) of each row.",
            False,
            r"Its product with a vector needs the weights and one number per row only.",
        ),
    ),
    always=("P", "O", "logsumexp", "dO"),
    count=2,
    slips=(
        Slip(
            "weights_kept",
            lambda answer, options: plus(answer, options, "P"),
            "The weights are marked as read; they are rebuilt from Q, K and one logsumexp per row.",
        ),
        Slip(
            "output_forgotten",
            lambda answer: minus(answer, "O"),
            "The outputs are left out; the row number is the upstream gradient dotted with them.",
        ),
        Slip(
            "logsumexp_forgotten",
            lambda answer: minus(answer, "logsumexp"),
            "The logsumexp is left out; without it the rebuilt weights of a block cannot be normalised.",
        ),
    ),
)

SCORE_GRADIENT_FORMULA = Drill(
    id="backward.score_gradient_formula",
    asks="the gradient of one score as a formula",
    stars=2,
    moves=("O",),
    params={},
    solve=lambda: "p_j (y_j - sum_r p_r y_r)",
    answer=Indexed(arrays={"p": "simplex", "y": "real vector"}, tolerance=EQUIVALENT),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "sum_dropped",
            lambda: "p_j y_j",
            "The weighted mean is missing; it comes from the other weights, which the score moves as well.",
        ),
        Slip(
            "diagonal_only",
            lambda: "p_j (1-p_j) y_j",
            "Only the key's own weight is followed; the score takes weight from all other keys too.",
        ),
        Slip(
            "weight_dropped",
            lambda: "y_j - sum_r p_r y_r",
            "The factor in front is missing; a score gradient is proportional to the key's own weight.",
        ),
        Slip(
            "sign",
            lambda: "p_j (sum_r p_r y_r - y_j)",
            "The sign is exchanged; a slope above the mean gives a positive gradient.",
        ),
    ),
)

CARD = Card(
    number=5,
    slug="c05_backward",
    title="The backward pass of attention",
    stars=2,
    moves=("O", "S"),
    statement=(
        "Going backwards, the values collect the upstream gradient by weight, and each score gets its weight times "
        "what its value's slope has over the row's average. One number per row, the upstream gradient dotted with "
        "the output, is all that the softmax adds; so the weights may be rebuilt instead of kept."
    ),
    formulas=(
        r"dV = P^\top dO, \qquad dP = dO\, V^\top, \qquad "
        r"dS = P \odot \big(dP - \operatorname{rowsum}(P \odot dP)\big)",
        r"dQ = \frac{dS\, K}{\sqrt{d_k}}, \qquad dK = \frac{dS^\top Q}{\sqrt{d_k}}, \qquad "
        r"dW_Q = X^\top dQ, \quad dW_K = X^\top dK, \quad dW_V = X^\top dV",
        r"\operatorname{rowsum}(P \odot dP) = \operatorname{rowsum}(dO \odot O)",
        r"\frac{\partial \mathcal L}{\partial s_j} = "
        r"p_j \big(\mathbf g^\top \mathbf v_j - \mathbf g^\top \mathbf o\big)",
    ),
    drills=(
        GRADIENT_LINE, SCORE_GRADIENT, QUERY_GRADIENT, KEY_GRADIENT, VALUE_GRADIENT, ROW_NUMBER, SCORE_MATRIX,
        DESCENT_SIGNS, STORED_TENSORS, SCORE_GRADIENT_FORMULA,
    ),
)  # fmt: skip
