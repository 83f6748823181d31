"""Card 5: published numbers of the backward pass. Random problems are drawn by `Draws` under fixed keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from drillgen.verify.rows import Property, Row
from drillgen.verify.toy import BANK, bank_row, causal, gaussian, projections, random_rows
from solvers import c05_backward as c05
from solvers.algebra import attention, dot, matmul, matvec, scaled, softmax, transpose
from solvers.draws import Draws

Mat = list[list[float]]

G = [-1.0, 0.0]
"""Upstream gradient at bank's output: more geography there lowers the loss."""


def keys() -> Mat:
    """The three keys that bank sees."""
    return projections()[1][: BANK + 1]


def values() -> Mat:
    """The three values that bank sees."""
    return projections()[2][: BANK + 1]


def query() -> list[float]:
    """Bank's query."""
    return projections()[0][BANK]


def dLdq() -> list[float]:
    """Gradient of bank's query."""
    return c05.query_gradient(bank_row(), values(), G, keys())


def bank_scores(q: list[float]) -> list[float]:
    """Bank's three scaled scores for a query."""
    return [s / 2**0.5 for s in matvec(keys(), q)]


def bank_loss(q: list[float]) -> float:
    """gᵀo for a query of bank."""
    loss: float = dot(softmax(bank_scores(q)), matvec(values(), G))
    return loss


def central(loss: Callable[[list[float]], float], at: list[float], h: float = 1e-6) -> list[float]:
    """Gradient of a loss by central differences."""
    out = []
    for k in range(len(at)):
        up, down = list(at), list(at)
        up[k] += h
        down[k] -= h
        out.append((loss(up) - loss(down)) / (2 * h))
    return out


def step_signs(direction: list[float]) -> list[int]:
    """Signs of what a step of 1/1000 along a direction does to river's score, bank's own score and the geography."""
    q = query()
    moved = [a + b / 1000 for a, b in zip(q, direction, strict=True)]
    before, after = bank_scores(q), bank_scores(moved)
    gain = [after[1] - before[1], after[2] - before[2], bank_loss(q) - bank_loss(moved)]
    return [(x > 0) - (x < 0) for x in gain]


def random_row_gradients(gradient: Callable[[list[float], Mat, list[float]], list[float]], sign: float = 1.0) -> Mat:
    """Score gradients of thirty random rows with random values and upstream gradients."""
    draws = Draws("verify/c05")
    out = []
    for p in random_rows("c05", 30, range(2, 9)):
        V, (g,) = gaussian(draws, len(p), 3), gaussian(draws, 1, 3)
        out.append(gradient(p, V, scaled(g, sign)))
    return out


def problem_6() -> tuple[Mat, Mat, Mat, Mat]:
    """Q, K [6, 3], V and dO [6, 2] of a random causal problem."""
    draws = Draws("verify/c05/T6")
    return gaussian(draws, 6, 3), gaussian(draws, 6, 3), gaussian(draws, 6, 2), gaussian(draws, 6, 2)


def closed_6(backward: Callable[..., c05.Gradients] = c05.attention_backward) -> list[Mat]:
    """dQ, dK, dV of that problem from the matrix formulas."""
    Q, K, V, dO = problem_6()
    found = backward(Q, K, V, dO, causal(6))
    return [found.dQ, found.dK, found.dV]


def complex_step_6() -> list[Any]:
    """The same by automatic differentiation in complex arithmetic: the imaginary part carries the derivative."""
    import numpy as np

    Q, K, V, dO = (np.array(A) for A in problem_6())
    mask = np.triu(np.full((6, 6), -np.inf), 1)

    def loss(Q: Any, K: Any, V: Any) -> Any:
        S = Q @ K.T / np.sqrt(3)
        E = np.where(np.isinf(mask), 0, np.exp(S - S.real.max(axis=1, keepdims=True)))
        return np.sum(dO * (E / E.sum(axis=1, keepdims=True) @ V))

    out = []
    for which in range(3):
        inputs = [A.astype(complex) for A in (Q, K, V)]
        slopes = np.zeros(inputs[which].shape)
        for place in np.ndindex(slopes.shape):
            inputs[which][place] += 1e-30j
            slopes[place] = loss(*inputs).imag / 1e-30
            inputs[which][place] = inputs[which][place].real
        out.append(slopes)
    return out


def loss_of(Q: Mat, K: Mat, V: Mat, dO: Mat) -> float:
    """Σ dO ∘ O of the causal forward pass."""
    total: float = sum(dot(a, b) for a, b in zip(dO, attention(Q, K, V, causal(len(Q)))[1], strict=True))
    return total


def finite_differences_6() -> list[Mat]:
    """The same by central differences with h = 1e-6 of the whole forward pass."""
    Q, K, V, dO = problem_6()
    out = []
    for which in range(3):
        parts = [Q, K, V]
        width = len(parts[which][0])

        def loss(flat: list[float], which: int = which, width: int = width) -> float:
            inputs = [Q, K, V]
            inputs[which] = [flat[r * width : (r + 1) * width] for r in range(6)]
            return loss_of(inputs[0], inputs[1], inputs[2], dO)

        flat = central(loss, [x for row in parts[which] for x in row])
        out.append([flat[r * width : (r + 1) * width] for r in range(6)])
    return out


def maps_6() -> tuple[Mat, list[Mat], Mat]:
    """X [6, 5], the maps [5, 3], [5, 3], [5, 2] and dO [6, 2] of a random problem."""
    draws = Draws("verify/c05/dW")
    maps = [gaussian(draws, 5, 3, sd=0.6), gaussian(draws, 5, 3, sd=0.6), gaussian(draws, 5, 2, sd=0.6)]
    return gaussian(draws, 6, 5), maps, gaussian(draws, 6, 2)


def closed_maps(scale_q: float = 1.0, swap: bool = False) -> list[Mat]:
    """dW_Q, dW_K, dW_V from the chain; the arguments bend it for the tests."""
    X, (W_Q, W_K, W_V), dO = maps_6()
    found = c05.head_backward(X, W_Q, W_K, W_V, dO, causal(6))
    dW_Q = [scaled(row, scale_q) for row in found.dW_Q]
    return [found.dW_K, dW_Q, found.dW_V] if swap else [dW_Q, found.dW_K, found.dW_V]


def finite_difference_maps() -> list[Mat]:
    """The same by central differences of the loss in every entry of the maps."""
    X, maps, dO = maps_6()
    out = []
    for which, W in enumerate(maps):
        width = len(W[0])

        def loss(flat: list[float], which: int = which, width: int = width) -> float:
            now = list(maps)
            now[which] = [flat[r * width : (r + 1) * width] for r in range(5)]
            return loss_of(matmul(X, now[0]), matmul(X, now[1]), matmul(X, now[2]), dO)

        flat = central(loss, [x for row in W for x in row])
        out.append([flat[r * width : (r + 1) * width] for r in range(5)])
    return out


def toy_dV(transposed: bool = True) -> Mat:
    """dV of the toy for an upstream gradient at bank's output alone: rows the, river, bank."""
    Q, K, V = projections()
    dO = [G if i == BANK else [0.0, 0.0] for i in range(5)]
    found = c05.attention_backward(Q, K, V, dO, causal(5))
    dV = found.dV if transposed else matmul(found.P, dO)
    return dV[: BANK + 1]


def row_numbers(weighted: bool = True, by_rows: bool = True) -> list[float]:
    """rowsum(P ∘ dP) of the random six-token problem; the arguments bend it for the tests."""
    Q, K, V, dO = problem_6()
    found = c05.attention_backward(Q, K, V, dO, causal(6))
    product = c05.entrywise(found.P, found.dP) if weighted else found.dP
    return c05.row_sums(product if by_rows else transpose(product))


def dO_dot_O() -> list[float]:
    """rowsum(dO ∘ O) of the same problem."""
    Q, K, V, dO = problem_6()
    return [dot(a, b) for a, b in zip(dO, attention(Q, K, V, causal(6))[1], strict=True)]


ROWS: dict[str, Row | Property] = {
    "c5.toy.gv": Row(lambda: matvec(values(), G)),
    "c5.toy.go": Row(lambda: c05.row_number(bank_row(), values(), G)),
    "c5.toy.dLds": Row(lambda: c05.score_gradient(bank_row(), values(), G)),
    "c5.toy.dLdq": Row(dLdq),
    "c5.toy.descent_dir": Row(lambda: scaled(dLdq(), -1.0)),
    "c5.toy.descent_effect": Property(
        lambda: step_signs(scaled(dLdq(), -1.0)),
        lambda: [1, -1, 1],
        limit=0,
        note="a step of 1/1000 through the query: river's score up, bank's own down, geography up; 'the' has the "
        "zero key, so its score stays at 0 and 'lowers the other two' holds for a step on the scores only",
    ),
    "c5.toy.sign_flip": Property(
        lambda: random_row_gradients(c05.score_gradient, -1.0),
        lambda: [scaled(row, -1.0) for row in random_row_gradients(c05.score_gradient)],
    ),
    "c5.toy.fd_q": Property(dLdq, lambda: central(bank_loss, query()), note="central differences with h = 1e-6"),
    "c5.sum_zero": Property(lambda: [sum(row) for row in random_row_gradients(c05.score_gradient)], lambda: [0.0] * 30),
    "c5.dv_is_p_g": Property(toy_dV, lambda: [c05.value_gradient(bank_row(), G, j) for j in (1, 2, 3)]),
    "c5.D_identity": Property(row_numbers, dO_dot_O),
    "c5.T6.autograd": Property(
        closed_6,
        complex_step_6,
        note="automatic differentiation by complex steps in float64 (torch is optional; the tests compare with it)",
    ),
    "c5.T6.fd": Property(closed_6, finite_differences_6, note="central differences with h = 1e-6"),
    "c5.dW.fd": Property(closed_maps, finite_difference_maps, note="central differences with h = 1e-6"),
}
