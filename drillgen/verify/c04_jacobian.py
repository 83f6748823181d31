"""Card 4: published numbers of the softmax Jacobian. Random rows are drawn by `Draws` under fixed keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from drillgen.verify.rows import Property, Row
from drillgen.verify.toy import bank_row, random_rows
from solvers import c04_jacobian as c04
from solvers.algebra import dot, matvec, softmax, transpose
from solvers.draws import Draws

Rows = list[list[float]]

SHORT = [i / 64 for i in range(1, 64)]
"""Weights of the first of two keys."""


def rows() -> Rows:
    """Forty rows of 2 to 9 keys."""
    return random_rows("c04", 40, range(2, 10))


def directions() -> Rows:
    """One random vector for each of `rows`."""
    draws = Draws("verify/c04/u")
    return [[draws.gauss() for _ in p] for p in rows()]


def scores_7() -> list[float]:
    """Seven normal scores."""
    draws = Draws("verify/c04/7")
    return [draws.gauss() for _ in range(7)]


def finite_differences(s: list[float], h: float = 1e-6) -> Rows:
    """∂p_i/∂s_j by central differences of softmax."""
    columns = []
    for j in range(len(s)):
        up, down = list(s), list(s)
        up[j] += h
        down[j] -= h
        columns.append([(a - b) / (2 * h) for a, b in zip(softmax(up), softmax(down), strict=True)])
    return transpose(columns)


def dense_eigenvalues(p: list[float]) -> list[float]:
    """numpy's eigenvalues of diag(p) − p pᵀ, ascending."""
    import numpy as np

    a = np.array(p)
    out: list[float] = np.linalg.eigvalsh(np.diag(a) - np.outer(a, a)).tolist()
    return out


def dense_rank(p: list[float]) -> int:
    """numpy's rank of diag(p) − p pᵀ."""
    import numpy as np

    a = np.array(p)
    return int(np.linalg.matrix_rank(np.diag(a) - np.outer(a, a), tol=1e-10))


def largest(f: Callable[[float], float]) -> float:
    """The largest value of a concave f on (0, 1), by halving the bracket."""
    low, high = 0.0, 1.0
    for _ in range(100):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (a, high) if f(a) < f(b) else (low, b)
    return f((low + high) / 2)


def simulated_top() -> float:
    """Largest eigenvalue over 20,000 rows of 2 to 6 keys with normal scores of spread 3 (numpy, seed 4)."""
    import numpy as np

    rng, best = np.random.default_rng(4), 0.0
    for T in range(2, 7):
        s = 3 * rng.standard_normal((4000, T))
        p = np.exp(s - s.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        J = p[:, :, None] * (np.eye(T) - p[:, None, :])
        best = max(best, float(np.linalg.eigvalsh(J).max()))
    return best


def bounded_tops(bound: Callable[[list[float]], float]) -> list[float]:
    """For 2,000 rows: the dense top eigenvalue, or the bound where that is smaller."""
    return [min(dense_eigenvalues(p)[-1], bound(p) + 1e-14) for p in many()]


def many() -> Rows:
    """2,000 rows of 2 to 6 keys with scores of spread 3."""
    return random_rows("c04/2000", 2000, range(2, 7), sd=3.0)


def row_sums(J: Callable[[list[float]], Rows]) -> Rows:
    """J 1 for all rows."""
    return [matvec(J(p), [1.0] * len(p)) for p in rows()]


def quadratic(J: Callable[[list[float]], Rows]) -> list[Any]:
    """uᵀ(J u) with the dense matrix, for all rows and directions."""
    return [dot(u, matvec(J(p), u)) for p, u in zip(rows(), directions(), strict=True)]


def products(times: Callable[[list[float], list[float]], list[float]]) -> Rows:
    """J u for all rows and directions."""
    return [times(p, u) for p, u in zip(rows(), directions(), strict=True)]


def spread(p: list[float], u: list[float]) -> float:
    """Variance of u's entries under p by pairs: ½ Σ_ij p_i p_j (u_i − u_j)²."""
    pairs = [a * b * (x - y) ** 2 for a, x in zip(p, u, strict=True) for b, y in zip(p, u, strict=True)]
    return sum(pairs) / 2


ROWS: dict[str, Row | Property] = {
    "c4.bound.half": Row(lambda: largest(lambda p: c04.gershgorin_bound((p, 1 - p))), "maximum found by search"),
    "c4.bound.attained": Row(lambda: c04.eigenvalues([0.5, 0.5])[-1]),
    "c4.bound.sim20000": Row(
        simulated_top,
        "simulation: numpy seed 4, 4,000 rows for each of T = 2..6, normal scores of spread 3 (the text does not "
        "say how its rows are drawn; without two-key rows the maximum stays below 0.5)",
    ),
    "c4.bound.gershgorin_holds": Property(
        lambda: bounded_tops(c04.gershgorin_bound),
        lambda: [dense_eigenvalues(p)[-1] for p in many()],
        limit=1e-12,
        note="2,000 seeded rows: no dense eigenvalue is cut off by the bound",
    ),
    "c4.J.09": Row(lambda: c04.jacobian([0.9, 0.1])),
    "c4.eig.09": Row(lambda: c04.eigenvalues([0.9, 0.1])),
    "c4.eig.099": Row(lambda: c04.eigenvalues([0.99, 0.01])[-1]),
    "c4.eig.two_key": Property(
        lambda: [c04.two_key_eigenvalue(p) for p in SHORT],
        lambda: [dense_eigenvalues([p, 1 - p])[-1] for p in SHORT],
    ),
    "c4.J.bank": Row(lambda: c04.jacobian(bank_row())),
    "c4.eig.bank": Row(lambda: c04.eigenvalues(bank_row())[::-1]),
    "c4.gersh.bank": Row(lambda: c04.gershgorin_bound(bank_row())),
    "c4.bank.one_minus_river": Row(lambda: 1 - bank_row()[1]),
    "c4.fd.7key": Property(
        lambda: c04.jacobian_of_scores(scores_7()),
        lambda: finite_differences(scores_7()),
        note="central differences with h = 1e-6; the printed size depends on the step",
    ),
    "c4.rank.T_minus_1": Property(
        lambda: [c04.rank(softmax(scores_7())), c04.rank(bank_row())],
        lambda: [dense_rank(softmax(scores_7())), dense_rank(bank_row())],
        limit=0,
    ),
    "c4.rowsum.zero": Property(lambda: row_sums(c04.jacobian), lambda: [[0.0] * len(p) for p in rows()]),
    "c4.symmetric": Property(
        lambda: [c04.jacobian(p) for p in rows()], lambda: [transpose(c04.jacobian(p)) for p in rows()]
    ),
    "c4.quad_is_variance": Property(
        lambda: quadratic(c04.jacobian),
        lambda: [spread(p, u) for p, u in zip(rows(), directions(), strict=True)],
    ),
    "c4.psd": Property(
        lambda: [c04.eigenvalues(p) for p in rows()],
        lambda: [[max(0.0, x) for x in dense_eigenvalues(p)] for p in rows()],
        limit=1e-12,
        note="eigenvalues of the secular equation against the dense ones with anything negative cut off",
    ),
    "c4.jvp": Property(
        lambda: products(c04.jacobian_times),
        lambda: products(lambda p, u: matvec(c04.jacobian(p), u)),
    ),
    "c4.saturation": Property(
        lambda: c04.jacobian_of_scores([40.0, 0.0, 0.0]), lambda: [[0.0] * 3] * 3, note="one score 40 ahead of two"
    ),
    "c4.sigmoid.quarter": Row(lambda: largest(lambda s: s * (1 - s)), "maximum found by search"),
}
