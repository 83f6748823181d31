"""Properties of card 4's solvers at general sizes, against numpy on the dense matrix."""

import math

import numpy as np
import pytest

from solvers import c04_jacobian as c04
from solvers.algebra import softmax
from solvers.draws import Draws

LENGTHS = [1, 2, 3, 5, 9, 40]


def row(T, spread=1.0):
    draws = Draws(f"test/c04/{T}/{spread}")
    return softmax([spread * draws.gauss() for _ in range(T)])


def dense(p):
    return np.diag(p) - np.outer(p, p)


@pytest.mark.parametrize("T", LENGTHS)
@pytest.mark.parametrize("spread", [0.1, 1.0, 6.0])
def test_eigenvalues_of_the_secular_equation_are_those_of_the_matrix(T, spread):
    p = row(T, spread)
    np.testing.assert_allclose(c04.eigenvalues(p), np.linalg.eigvalsh(dense(p)), atol=1e-13)


@pytest.mark.parametrize(
    "p", [[0.25] * 4, [0.4, 0.4, 0.2], [0.5, 0.0, 0.5, 0.0], [1.0, 0.0, 0.0], [0.3, 0.3, 0.3, 0.1]]
)
def test_repeated_and_zero_weights(p):
    np.testing.assert_allclose(c04.eigenvalues(p), np.linalg.eigvalsh(dense(p)), atol=1e-13)
    assert c04.rank(p) == np.linalg.matrix_rank(dense(p))


@pytest.mark.parametrize("T", LENGTHS)
def test_norms_and_products(T):
    p = row(T)
    u = [math.sin(k) for k in range(T)]
    J = dense(p)
    np.testing.assert_allclose(c04.jacobian(p), J, atol=1e-15)
    np.testing.assert_allclose(c04.frobenius_norm(p), np.linalg.norm(J), atol=1e-12)
    np.testing.assert_allclose(c04.spectral_norm(p), np.linalg.norm(J, 2), atol=1e-12)
    np.testing.assert_allclose(c04.jacobian_times(p, u), J @ u, atol=1e-15)
    np.testing.assert_allclose(c04.quadratic_form(p, u), u @ J @ np.array(u), atol=1e-14)
    np.testing.assert_allclose(c04.trace(p), np.trace(J), atol=1e-14)
    assert c04.spectral_norm(p) <= c04.gershgorin_bound(p) + 1e-15


def test_three_keys_are_the_general_case():
    p = [0.2, 0.35, 0.45]
    np.testing.assert_allclose(c04.eigenvalues(p)[::-1][:2], c04.three_key_eigenvalues(p), atol=1e-14)


def test_temperature_divides_the_jacobian():
    s, tau, h = [0.3, -1.0, 2.0], 2.5, 1e-6
    J = np.array(c04.jacobian_of_scores(s, tau))
    for j in range(3):
        up, down = list(s), list(s)
        up[j] += h
        down[j] -= h
        slope = (np.array(softmax(up, tau)) - np.array(softmax(down, tau))) / (2 * h)
        np.testing.assert_allclose(J[:, j], slope, atol=1e-9)
