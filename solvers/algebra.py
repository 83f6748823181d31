"""Linear algebra on plain lists, and the softmax row: what several cards share, fast at drill sizes.

A matrix is a list of equally long rows. Nothing here imports numpy, since problems are generated without it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

Row = Sequence[float]
Rows = Sequence[Row]


def dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """a · b for two rows of equal length; exact for ints and fractions."""
    return sum(x * y for x, y in zip(a, b, strict=True))


def transpose(A: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """[m, n] → [n, m]."""
    return [list(column) for column in zip(*A, strict=True)]


def matmul(A: Sequence[Sequence[Any]], B: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """[m, k] · [k, n] → [m, n]."""
    columns = list(zip(*B, strict=True))
    return [[dot(row, column) for column in columns] for row in A]


def matvec(A: Sequence[Sequence[Any]], x: Sequence[Any]) -> list[Any]:
    """[m, n] · [n] → [m]."""
    return [dot(row, x) for row in A]


def scaled(x: Row, factor: float) -> list[float]:
    """Every entry times the factor."""
    return [factor * v for v in x]


def average(weights: Row, values: Rows) -> list[float]:
    """Σ_j weights_j · values_j for weights [T] and values [T, d_v] → [d_v] (weights need not sum to one)."""
    return [dot(weights, column) for column in zip(*values, strict=True)]


def logsumexp(s: Row) -> float:
    """ln Σ_j e^{s_j} with the maximum factored out, in nats (card 2); −inf for an empty or masked row."""
    m = max(s, default=-math.inf)
    if math.isinf(m):
        return m
    return m + math.log(math.fsum(math.exp(v - m) for v in s))


def softmax(s: Row, tau: float = 1.0) -> list[float]:
    """e^{s_j/τ} / Σ_r e^{s_r/τ} with the maximum subtracted first (card 2); [T] → [T].

    Blocked keys may hold −inf; a row of them alone gives NaN, as 0/0 does.
    """
    m = max(s)
    if m == -math.inf:
        return [math.nan] * len(s)
    terms = [math.exp((v - m) / tau) for v in s]
    total = sum(terms)
    return [t / total for t in terms]


def entropy(p: Row) -> float:
    """−Σ_j p_j ln p_j in nats; empty shares count nothing."""
    return 0.0 - math.fsum(v * math.log(v) for v in p if v > 0)


def attention(Q: Rows, K: Rows, V: Rows, mask: Rows | None = None) -> tuple[list[list[float]], list[list[float]]]:
    """P = softmax(Q Kᵀ/√d_k + mask) by rows and O = P V (card 1).

    Q [T_q, d_k], K [T_k, d_k], V [T_k, d_v]; mask [T_q, T_k] of 0 and −inf, added to the scaled scores →
    P [T_q, T_k], O [T_q, d_v].
    """
    root = math.sqrt(len(K[0]))
    P = []
    for i, q in enumerate(Q):
        s = [dot(q, k) / root for k in K]
        P.append(softmax(s if mask is None else [v + m for v, m in zip(s, mask[i], strict=True)]))
    return P, matmul(P, V)
