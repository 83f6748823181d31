"""Card 7: published numbers of reordered tokens, on the reconstructed toy and on seeded random inputs."""

from __future__ import annotations

from collections.abc import Callable

from drillgen.verify.rows import Property, Row
from drillgen.verify.toy import causal, gaussian, projections
from solvers import c07_permutation as c07
from solvers import facts
from solvers.algebra import Rows, attention, matmul, transpose
from solvers.draws import Draws

Mat = list[list[float]]

REVERSED = [5, 4, 3, 2, 1]
NINE = [4, 1, 7, 9, 3, 8, 2, 6, 5]
"""A reordering of nine tokens that is not its own inverse."""
TOY = "on the reconstructed toy: the text prints only what bank sees"


def toy(X: Rows = facts.TOY_X, mask: Rows | None = None) -> Mat:
    """Outputs of the toy head."""
    return attention(*projections(X), mask)[1]


def random_head() -> Callable[[Rows], Mat]:
    """An unmasked head of width 6 with random maps."""
    draws = Draws("verify/c07")
    maps = [gaussian(draws, 6, 3), gaussian(draws, 6, 3), gaussian(draws, 6, 4)]
    return lambda X: attention(matmul(X, maps[0]), matmul(X, maps[1]), matmul(X, maps[2]))[1]


def nine() -> Mat:
    """Nine random tokens."""
    return gaussian(Draws("verify/c07/X"), 9, 6)


def first_shares(masked: bool = True) -> list[float]:
    """Weight on the first token for T = 1..50 equal scores, at the last position of a whole attention matrix."""
    out = []
    for T in range(1, 51):
        zeros = [[0.0]] * T
        P, _ = attention(zeros, zeros, zeros, causal(T) if masked else None)
        out.append(P[-1][0])
    return out


def unmasked_shares(T: int = 50) -> list[float]:
    """Weight on the first token at every position without a mask."""
    zeros = [[0.0]] * T
    return [row[0] for row in attention(zeros, zeros, zeros)[0]]


def visible(T: int = 5) -> list[list[int]]:
    """1 where a causal mask lets a query see a key."""
    return [[int(m == 0) for m in row] for row in causal(T)]


ROWS: dict[str, Row | Property] = {
    "c7.perm.toy": Property(
        lambda: toy(c07.permute_rows(facts.TOY_X, REVERSED)),
        lambda: c07.permute_rows(toy(), REVERSED),
        note=TOY,
    ),
    "c7.perm.random": Property(
        lambda: random_head()(c07.permute_rows(nine(), NINE)),
        lambda: matmul(c07.permutation_matrix(NINE), random_head()(nine())),
    ),
    "c7.pool.invariant": Property(
        lambda: c07.pool_rows(random_head()(c07.permute_rows(nine(), NINE)), "mean"),
        lambda: c07.pool_rows(random_head()(nine()), "mean"),
    ),
    "c7.causal.reversed": Row(
        lambda: max(
            abs(a - b)
            for x, y in zip(
                toy(c07.permute_rows(facts.TOY_X, REVERSED), causal(5)),
                c07.permute_rows(toy(mask=causal(5)), REVERSED),
                strict=True,
            )
            for a, b in zip(x, y, strict=True)
        ),
        TOY,
    ),
    "c7.bos.share": Property(first_shares, lambda: [c07.first_token_share(t) for t in range(1, 51)]),
    "c7.bos.no_mask": Property(unmasked_shares, lambda: [1 / 50] * 50),
    "c7.perm.orthogonal": Property(
        lambda: matmul(transpose(c07.permutation_matrix(NINE)), c07.permutation_matrix(NINE)),
        lambda: [[int(i == j) for j in range(9)] for i in range(9)],
    ),
    "c7.mask.not_invariant": Property(
        lambda: c07.permute_both(visible(), REVERSED),
        lambda: transpose(visible()),
        limit=0,
        note="the reversed mask is the transposed one, hence another than before",
    ),
}
