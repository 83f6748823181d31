"""Card 6: published numbers of causal masks, most of them on the reconstructed toy sentence."""

from __future__ import annotations

import math
from collections.abc import Callable

from drillgen.verify.rows import Property, Row
from drillgen.verify.toy import BANK, causal_weights, projections
from solvers import c06_causal_mask as c06
from solvers import facts
from solvers.algebra import Rows, attention, average, softmax

Mat = list[list[float]]
MAPS = (facts.TOY_W_Q, facts.TOY_W_K, facts.TOY_W_V)
TOY = "on the reconstructed toy: the text prints only what bank sees"


def scores(X: Rows = facts.TOY_X) -> list[float]:
    """Bank's scaled scores with all five tokens."""
    Q, K, _ = projections(X)
    return [sum(a * b for a, b in zip(Q[BANK], k, strict=True)) / math.sqrt(2) for k in K]


def plain_output(X: Rows = facts.TOY_X) -> list[float]:
    """Bank's output without a mask."""
    return average(softmax(scores(X)), projections(X)[2])


def zeroed_output(X: Rows = facts.TOY_X) -> list[float]:
    """Bank's output where the future is zeroed after the softmax."""
    return average(c06.zeroed_weights(scores(X), BANK + 1), projections(X)[2])


def movement(output: Callable[[Rows], list[float]]) -> float:
    """How far an output of bank moves when the last token is replaced (largest coordinate)."""
    return c06.largest_change([output(facts.TOY_X)], [output(facts.TOY_X_CHANGED)])


def first_four(X: Rows, k: int = 1) -> Mat:
    """Causal outputs of the first four tokens; k bends the mask."""
    Q, K, V = projections(X)
    return attention(Q, K, V, c06.additive(c06.blocked(5, k)))[1][:4]


def above_diagonal(P: Mat) -> list[float]:
    """Entries of a weight matrix whose key comes after the query."""
    return [p for i, row in enumerate(P) for p in row[i + 1 :]]


def counted_pairs(k: int = 1) -> list[int]:
    """Visible pairs for T = 1..39, counted one by one."""
    return [sum(not b for row in c06.blocked(T, k) for b in row) for T in range(1, 40)]


def nan_pattern(k: int) -> list[bool]:
    """Which of five rows turn NaN when triu(ones, k) is blocked with −inf over equal scores."""
    return [any(math.isnan(w) for w in softmax(row)) for row in c06.additive(c06.blocked(5, k))]


ROWS: dict[str, Row | Property] = {
    "c6.future.causal": Property(
        lambda: first_four(facts.TOY_X_CHANGED), lambda: first_four(facts.TOY_X), note=f"to the last bit, {TOY}"
    ),
    "c6.future.no_mask": Row(lambda: movement(plain_output), TOY),
    "c6.cache.exact": Property(
        lambda: c06.cached_outputs(facts.TOY_X, *MAPS), lambda: c06.causal_outputs(facts.TOY_X, *MAPS), note=TOY
    ),
    "c6.masked_row.nan": Row(
        lambda: all(math.isnan(w) for w in softmax([-math.inf] * 5)), "a softmax that subtracts the maximum"
    ),
    "c6.triu0.first_row": Property(
        lambda: nan_pattern(0), lambda: [True, False, False, False, False], limit=0, note="only the first row is empty"
    ),
    "c6.fill.uniform": Row(lambda: c06.blank_row_weight(5, "-1e9")),
    "c6.post.kept_sum": Row(lambda: c06.kept_sum(scores(), BANK + 1), TOY),
    "c6.post.leak": Row(lambda: movement(zeroed_output), TOY),
    "c6.post.renormalized": Property(
        lambda: average(c06.renormalised_weights(scores(), BANK + 1), projections()[2]),
        lambda: c06.causal_outputs(facts.TOY_X, *MAPS)[BANK],
        note=TOY,
    ),
    "c6.pairs.T5": Row(lambda: [c06.allowed_pairs(5), 5 * 5]),
    "c6.fraction.T5": Row(lambda: c06.allowed_fraction(5)),
    "c6.fraction.T4096": Row(lambda: c06.allowed_fraction(4096)),
    "c6.pairs.formula": Property(
        lambda: [c06.allowed_pairs(T) for T in range(1, 40)], counted_pairs, limit=0, note="T = 1..39"
    ),
    "c6.exact_zero": Property(lambda: above_diagonal(causal_weights()), lambda: [0.0] * 10, note=f"exact zeros, {TOY}"),
}
