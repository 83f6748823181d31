"""The whole backward pass against torch's autograd, for several shapes and masks."""

import math

import numpy as np
import pytest

from solvers import c05_backward as c05
from solvers.algebra import average, matvec, softmax
from solvers.draws import Draws

SHAPES = [(1, 2, 2, 2), (3, 4, 2, 3), (6, 5, 3, 2), (9, 8, 4, 4)]


def matrix(draws, rows, columns):
    return [[draws.gauss() for _ in range(columns)] for _ in range(rows)]


def masks(T):
    causal = [[0.0 if j <= i else -math.inf for j in range(T)] for i in range(T)]
    window = [[0.0 if abs(i - j) <= 1 else -math.inf for j in range(T)] for i in range(T)]
    return {"none": None, "causal": causal, "window": window}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("which", ["none", "causal", "window"])
def test_head_backward_is_autograd(shape, which):
    torch = pytest.importorskip("torch", reason="autograd is torch's")
    T, d, d_k, d_v = shape
    draws = Draws(f"test/c05/{shape}")
    X, dO = matrix(draws, T, d), matrix(draws, T, d_v)
    maps = [matrix(draws, d, n) for n in (d_k, d_k, d_v)]
    mask = masks(T)[which]
    found = c05.head_backward(X, *maps, dO, mask)
    x = torch.tensor(X, dtype=torch.float64, requires_grad=True)
    ws = [torch.tensor(W, dtype=torch.float64, requires_grad=True) for W in maps]
    q, k, v = (x @ w for w in ws)
    s = q @ k.T / math.sqrt(d_k)
    if mask is not None:
        s = s + torch.tensor(mask, dtype=torch.float64)
    p = s.softmax(dim=-1)
    for t in (q, k, v, s, p):
        t.retain_grad()
    ((p @ v) * torch.tensor(dO, dtype=torch.float64)).sum().backward()
    inner = found.inner
    pairs = [
        (found.dX, x), (found.dW_Q, ws[0]), (found.dW_K, ws[1]), (found.dW_V, ws[2]),
        (inner.dQ, q), (inner.dK, k), (inner.dV, v), (inner.dP, p), (inner.dS, s),
    ]  # fmt: skip
    for ours, theirs in pairs:
        np.testing.assert_allclose(ours, theirs.grad.numpy(), atol=1e-13)
    np.testing.assert_allclose(inner.D, c05.row_sums(c05.entrywise(inner.P, inner.dP)), atol=1e-13)


@pytest.mark.parametrize("T", [2, 3, 7])
def test_one_row_is_a_row_of_the_matrices(T):
    draws = Draws(f"test/c05/row/{T}")
    Q, K, V, dO = matrix(draws, 1, 3), matrix(draws, T, 3), matrix(draws, T, 2), matrix(draws, 1, 2)
    found = c05.attention_backward(Q, K, V, dO)
    p, g = found.P[0], dO[0]
    np.testing.assert_allclose(c05.score_gradient(p, V, g), found.dS[0], atol=1e-14)
    np.testing.assert_allclose(c05.query_gradient(p, V, g, K), found.dQ[0], atol=1e-14)
    for j in range(1, T + 1):
        np.testing.assert_allclose(c05.key_gradient(p, V, g, Q[0], j), found.dK[j - 1], atol=1e-14)
        np.testing.assert_allclose(c05.value_gradient(p, g, j), found.dV[j - 1], atol=1e-14)
    np.testing.assert_allclose(c05.row_number(p, V, g), found.D[0], atol=1e-14)
    np.testing.assert_allclose(np.dot(g, average(p, V)), found.D[0], atol=1e-14)


def test_descent_lowers_the_loss_and_ties_stay():
    p, V, g = softmax([0.0, 1.0, 0.5]), [[0, 0], [1, 0], [0, 1]], [-1, 0]
    signs = c05.descent_signs(p, V, g)
    assert signs == [-1, 1, -1]
    s = [math.log(x) + 1e-4 * sign for x, sign in zip(p, signs, strict=True)]
    y = matvec(V, g)
    assert sum(a * b for a, b in zip(softmax(s), y, strict=True)) < sum(a * b for a, b in zip(p, y, strict=True))
    assert c05.descent_signs([0.5, 0.25, 0.25], [[1, 0], [1, 2], [1, 3]], [1, 0]) == [0, 0, 0]
