"""Properties of card 6's solvers: masks of any offset, cached decoding of longer random inputs, leaks."""

import math

import numpy as np
import pytest

from solvers import c06_causal_mask as c06
from solvers.draws import Draws


def matrix(draws, rows, columns):
    return [[draws.gauss() for _ in range(columns)] for _ in range(rows)]


@pytest.mark.parametrize("T", [1, 2, 5, 8])
@pytest.mark.parametrize("k", range(-9, 10))
def test_blocked_is_triu(T, k):
    np.testing.assert_array_equal(c06.blocked(T, k), np.triu(np.ones((T, T)), k).astype(bool))
    for i in range(1, T + 1):
        assert c06.visible_keys(T, i, k) == sum(not b for b in c06.blocked(T, k)[i - 1])


@pytest.mark.parametrize("T", [1, 2, 7, 20])
def test_cached_decode_is_the_full_pass_and_the_past_stays(T):
    draws = Draws(f"test/c06/{T}")
    X = matrix(draws, T, 5)
    maps = [matrix(draws, 5, n) for n in (3, 3, 4)]
    full = c06.causal_outputs(X, *maps)
    np.testing.assert_allclose(c06.cached_outputs(X, *maps), full, atol=1e-13)
    for j in range(1, T + 1):
        changed = [*X[: j - 1], [9.0] * 5, *X[j:]]
        after = c06.causal_outputs(changed, *maps)
        assert after[: j - 1] == full[: j - 1]
        assert c06.largest_change([full[j - 1]], [after[j - 1]]) > 0


def test_weights_of_a_row():
    s = [0.0, 1.0, -1.0, 2.0, 0.5]
    for i in range(1, 6):
        causal = c06.masked_weights(s, i)
        assert math.isclose(sum(causal), 1)
        np.testing.assert_allclose(c06.renormalised_weights(s, i), causal, atol=1e-15)
        assert c06.kept_sum(s, i) <= 1 + 1e-15
    assert c06.kept_sum(s, 5) == pytest.approx(1)


def test_a_leak_needs_visible_value_and_a_new_score():
    assert c06.leak([0, 1, 2], [1, 2, 3], 2, 2) == 0
    assert c06.leak([0, 1, 2], [0, 0, 3], 2, 5) == 0
    assert c06.leak([0, 1, 2], [1, 0, 0], 2, 5) > 0


@pytest.mark.parametrize("fill", ["-1e9", "finfo_min"])
def test_blank_rows(fill):
    assert c06.blank_row_weight(4, fill) == 0.25
    assert math.isnan(c06.blank_row_weight(4, "-inf"))
    assert c06.blank_row_weight(4, "finfo_min_then_zeroed") == 0


def test_safe_weights_of_padded_rows():
    assert c06.safe_weights([3.0, 1.0, 2.0], [False] * 3) == [0, 0, 0]
    assert c06.safe_weights([3.0, 1.0, 2.0], [False, True, False]) == [0, 1, 0]
    assert c06.safe_weights([3.0, 1.0, 2.0], [True, True, False]) == c06.masked_weights([3.0, 1.0, 2.0], 2)
