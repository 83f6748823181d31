"""The toolkit: the running toy, the four moves, and the identities that the cards take for granted."""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from drillgen.verify.rows import Property, Ratio, Row
from solvers import facts
from solvers.algebra import entropy, matmul, matvec, scaled, softmax, transpose
from solvers.c01_attention import causal_mask
from solvers.c02_softmax import log_softmax_jacobian

BANK = facts.TOY_TOKENS.index("bank")
TOY = "from the reconstructed token vectors and maps"
Law = Sequence[tuple[Fraction, Fraction]]
"""A finite distribution: values with their probabilities."""


def toy(weights: Sequence[Sequence[int]]) -> list[list[int]]:
    """The toy's queries, keys or values, [5, 2]."""
    return matmul(facts.TOY_X, weights)


def raw_scores() -> list[int]:
    """Dot products of bank's query with its visible keys."""
    return matvec(toy(facts.TOY_W_K)[: BANK + 1], toy(facts.TOY_W_Q)[BANK])


def weights() -> list[float]:
    """Bank's attention weights on what it sees under the causal mask."""
    row = [s + m for s, m in zip(_all_scaled(), causal_mask(5)[BANK], strict=True)]
    return softmax(row)[: BANK + 1]


def _all_scaled() -> list[float]:
    return scaled(matvec(toy(facts.TOY_W_K), toy(facts.TOY_W_Q)[BANK]), 1 / math.sqrt(2))


def output() -> list[float]:
    """Bank's output vector."""
    return [sum(p * v[c] for p, v in zip(weights(), toy(facts.TOY_W_V), strict=False)) for c in range(2)]


def counted_flops(m: int, k: int, n: int) -> Fraction:
    """Multiplications and additions of a matrix product that is carried out, per triple (row, column, inner)."""
    flops = 0
    for _ in range(m):
        for _ in range(n):
            total = 0
            for a, b in zip(range(k), range(k), strict=True):
                total += a * b
                flops += 2
    return Fraction(flops, m * k * n)


LAWS: tuple[Law, ...] = (
    ((Fraction(-2), Fraction(1, 3)), (Fraction(1), Fraction(2, 3))),
    ((Fraction(-1), Fraction(1, 2)), (Fraction(0), Fraction(1, 4)), (Fraction(2), Fraction(1, 4))),
    ((Fraction(-3), Fraction(1, 5)), (Fraction(3, 4), Fraction(4, 5))),
)
"""Three lopsided finite laws of mean zero."""


def variance(law: Law) -> Fraction:
    """Variance of a finite law."""
    mean = sum((x * p for x, p in law), Fraction(0))
    return sum(((x - mean) ** 2 * p for x, p in law), Fraction(0))


def combined(laws: Sequence[Law], combine: Any) -> Law:
    """The law of a function of independent variables, by every outcome."""
    out = []
    for outcome in itertools.product(*laws):
        out.append((Fraction(combine([x for x, _ in outcome])), math.prod((p for _, p in outcome), start=Fraction(1))))
    return out


SCORES = (0.3, -1.2, 2.5, 0.9, -0.4, 1.7)


def analytic_gradients() -> list[list[list[float]]]:
    """∂ ln p_i/∂s_j and ∂p_i/∂s_j by the one-hot-minus-weights rule."""
    log = log_softmax_jacobian(SCORES)
    p = softmax(SCORES)
    return [log, [[p[i] * x for x in row] for i, row in enumerate(log)]]


def numerical_gradients(h: float = 1e-5) -> list[list[list[float]]]:
    """The same by central differences of exponentials over their sum."""

    def p(s: Sequence[float]) -> list[float]:
        terms = [math.exp(v) for v in s]
        return [t / math.fsum(terms) for t in terms]

    columns = []
    for j in range(len(SCORES)):
        up, down = ([v + sign * h * (i == j) for i, v in enumerate(SCORES)] for sign in (1, -1))
        columns.append((p(up), p(down)))
    size = range(len(SCORES))
    log = [[(math.log(columns[j][0][i]) - math.log(columns[j][1][i])) / (2 * h) for j in size] for i in size]
    plain = [[(columns[j][0][i] - columns[j][1][i]) / (2 * h) for j in size] for i in size]
    return [log, plain]


def maps(d: int = 6, d_k: int = 3) -> tuple[Any, Any, Any]:
    """Seeded W_Q, W_K [d, d_k] and an invertible A [d_k, d_k]."""
    import numpy as np

    rng = np.random.default_rng(0)
    return rng.normal(size=(d, d_k)), rng.normal(size=(d, d_k)), rng.normal(size=(d_k, d_k)) + 2 * np.eye(d_k)


def circuit() -> Any:
    """W_Q W_Kᵀ [d, d]."""
    W_Q, W_K, _ = maps()
    return W_Q @ W_K.T


def circuit_in_another_basis() -> Any:
    """(W_Q A)(W_K A^{−ᵀ})ᵀ, the inverse transpose by solving for it."""
    import numpy as np

    W_Q, W_K, A = maps()
    return (W_Q @ A) @ np.linalg.solve(A, W_K.T)


def small_singular_values() -> list[float]:
    """The singular values of the score circuit beyond the d_k largest; all zero if its rank is at most d_k."""
    import numpy as np

    values: list[float] = np.linalg.svd(circuit(), compute_uv=False)[3:].tolist()
    return values


def minors() -> list[float]:
    """A second route to the same: determinants of every (d_k + 1)-square block of integer maps, exact."""
    W_Q, W_K, _ = maps()
    left, right = ([[round(100 * x) for x in row] for row in W.tolist()] for W in (W_Q, W_K))
    C = matmul(left, transpose(right))
    blocks = list(itertools.combinations(range(6), 4))
    worst = max(abs(_determinant([[C[i][j] for j in columns] for i in rows])) for rows in blocks for columns in blocks)
    return [float(worst)] * 3


def _determinant(M: list[list[int]]) -> int:
    if len(M) == 1:
        return M[0][0]
    return sum((-1) ** j * M[0][j] * _determinant([row[:j] + row[j + 1 :] for row in M[1:]]) for j in range(len(M)))


ROWS = {
    "c0.toy.dims": Row(
        lambda: [len(facts.TOY_X), len(facts.TOY_X[0]), len(facts.TOY_W_Q[0]), len(facts.TOY_W_V[0])], note=TOY
    ),
    "c0.toy.q_bank": Row(lambda: toy(facts.TOY_W_Q)[BANK], note=TOY),
    "c0.toy.keys": Row(lambda: toy(facts.TOY_W_K)[: BANK + 1], note=TOY),
    "c0.toy.values": Row(lambda: toy(facts.TOY_W_V)[: BANK + 1], note=TOY),
    "c0.toy.raw_scores": Row(raw_scores, note=TOY),
    "c0.toy.scaled_scores": Row(lambda: _all_scaled()[: BANK + 1], note=TOY),
    "c0.toy.weights": Row(weights, note=TOY),
    "c0.toy.output": Row(output, note=TOY),
    "c0.euler": Row(lambda: math.fsum(1 / math.factorial(n) for n in range(20)), note="sum of reciprocal factorials"),
    "c0.matmul.factor": Row(lambda: counted_flops(3, 5, 7), note="operations counted in the loops of a product"),
    "c0.bytes.fp16": Row(lambda: struct.calcsize("=e"), note="size of the IEEE format; bfloat16 has as many bits"),
    "c0.bytes.fp32": Row(lambda: struct.calcsize("=f"), note="size of the IEEE format"),
    "c0.var.sum": Ratio(
        left=lambda: variance(combined(LAWS, sum)), right=lambda: sum((variance(w) for w in LAWS), Fraction(0)),
        note="every outcome of three finite laws, exact",
    ),
    "c0.var.product": Ratio(
        left=lambda: variance(combined(LAWS[:2], math.prod)), right=lambda: variance(LAWS[0]) * variance(LAWS[1]),
        note="every outcome of two zero-mean laws, exact",
    ),
    "c0.grad.logsoftmax": Property(
        left=analytic_gradients, right=numerical_gradients, note="central differences, h = 1e-5"
    ),
    "c0.gauge.invariance": Property(left=circuit_in_another_basis, right=circuit, note="d = 6, d_k = 3, seed 0"),
    "c0.qk_circuit.rank": Property(
        left=small_singular_values, right=minors, limit=1e-12,
        note="trailing singular values of a 6 × 6 circuit of width 3, against all its 4 × 4 minors in integers",
    ),
    "c0.entropy.bounds": Row(
        lambda: [entropy([0.0, 1.0, 0.0, 0.0]), entropy([0.25] * 4) - math.log(4)],
        note="T = 4",
    ),
}  # fmt: skip
