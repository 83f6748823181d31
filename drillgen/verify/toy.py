"""The running toy and seeded random problems, for the rows of several cards."""

from __future__ import annotations

import math
from collections.abc import Sequence

from solvers import facts
from solvers.algebra import Rows, attention, matmul, softmax
from solvers.draws import Draws

BANK = 2
"""Row of the token "bank"."""


def projections(X: Rows = facts.TOY_X) -> tuple[list[list[float]], list[list[float]], list[list[float]]]:
    """Q, K and V of the toy for its own tokens or others [T, 4] → three of [T, 2]."""
    return matmul(X, facts.TOY_W_Q), matmul(X, facts.TOY_W_K), matmul(X, facts.TOY_W_V)


def causal(T: int) -> list[list[float]]:
    """The additive causal mask [T, T]: −inf where the key comes after the query."""
    return [[0.0 if j <= i else -math.inf for j in range(T)] for i in range(T)]


def causal_weights(X: Rows = facts.TOY_X) -> list[list[float]]:
    """The toy's causal weights [T, T]."""
    Q, K, V = projections(X)
    return attention(Q, K, V, causal(len(Q)))[0]


def bank_row() -> list[float]:
    """Bank's causal weights on the, river and bank."""
    return causal_weights()[BANK][: BANK + 1]


def gaussian(draws: Draws, *shape: int, sd: float = 1.0) -> list[list[float]]:
    """A matrix of independent normal numbers."""
    rows, columns = shape
    return [[sd * draws.gauss() for _ in range(columns)] for _ in range(rows)]


def random_rows(key: str, count: int, lengths: Sequence[int], sd: float = 1.5) -> list[list[float]]:
    """Softmax rows of drawn lengths over normal scores."""
    draws = Draws(f"verify/{key}")
    return [softmax([sd * draws.gauss() for _ in range(draws.choice(lengths))]) for _ in range(count)]
