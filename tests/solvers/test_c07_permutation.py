"""Properties of card 7's solvers: reorderings of every length, and what a layer shows under them."""

from itertools import permutations

import numpy as np
import pytest

from solvers import c07_permutation as c07
from solvers.algebra import attention
from solvers.draws import Draws


@pytest.mark.parametrize("pi", list(permutations(range(1, 5))))
def test_reorderings_are_matrix_products(pi):
    A = np.arange(16.0).reshape(4, 4)
    Pi = np.array(c07.permutation_matrix(pi))
    np.testing.assert_array_equal(c07.permute_rows(A, pi), Pi @ A)
    np.testing.assert_array_equal(c07.permute_columns(A, pi), A @ Pi.T)
    np.testing.assert_array_equal(c07.permute_both(A, pi), Pi @ A @ Pi.T)
    np.testing.assert_array_equal(c07.permutation_matrix(c07.inverse(pi)), Pi.T)
    for how in ("mean", "max", "sum"):
        assert c07.pool_rows(c07.permute_rows(A, pi), how) == c07.pool_rows(A.tolist(), how)


def test_drawn_reorderings_differ_from_their_inverse():
    assert {T: len(found) for T, found in c07.REORDERINGS.items()} == {3: 2, 4: 14}


def test_symmetry_of_layers():
    draws = Draws("test/c07")
    X = [[draws.gauss() for _ in range(3)] for _ in range(5)]
    pi = [3, 1, 5, 2, 4]
    mask = [[0.0 if j <= i else float("-inf") for j in range(5)] for i in range(5)]
    assert c07.symmetry(lambda A: attention(A, A, A)[1], X, pi) == "equivariant"
    assert c07.symmetry(lambda A: [c07.pool_rows(attention(A, A, A)[1], "mean")], X, pi) == "invariant"
    assert c07.symmetry(lambda A: attention(A, A, A, mask)[1], X, pi) == "neither"
    assert c07.symmetry(lambda A: attention(A, A, A)[1][:1], X, pi) == "neither"


def test_equal_scores():
    assert c07.running_means([4, 0, 2, 6]) == [4, 2, 2, 3]
    assert [c07.first_tokens_output(t, 2) for t in (1, 2, 4)] == [1, 1, 0.5]
