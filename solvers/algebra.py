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
    return -math.fsum(v * math.log(v) for v in p if v > 0)
