"""Card 1: general properties of the attention solvers."""

import math

import numpy as np
import pytest

from solvers.algebra import attention, average, matmul, softmax, transpose
from solvers.c01_attention import (
    achievable,
    attention_arrays,
    causal_mask,
    causal_output,
    column_softmax,
    key_map_for,
    product_shape,
    scores,
    shapes,
    weights_row,
)

RNG = np.random.default_rng(11)


def test_lists_and_arrays_agree_with_a_mask():
    Q, K, V = (RNG.normal(size=(6, n)).tolist() for n in (3, 3, 2))
    mask = causal_mask(6)
    P, out = attention(Q, K, V, mask)
    S, P2, O2 = attention_arrays(Q, K, V, np.asarray(mask))
    assert np.allclose(P, P2, atol=1e-14)
    assert np.allclose(out, O2, atol=1e-14)
    assert np.isneginf(S[0, 1:]).all()
    assert np.allclose(causal_output(Q, K, V), out, atol=1e-14)


def test_leading_axes_only_repeat():
    q, k, v = (RNG.normal(size=(2, 3, 5, n)) for n in (4, 4, 7))
    S, P, out = attention_arrays(q, k, v)
    assert (S.shape, P.shape, out.shape) == ((2, 3, 5, 5), (2, 3, 5, 5), (2, 3, 5, 7))
    alone = attention_arrays(q[1, 2], k[1, 2], v[1, 2])[2]
    assert np.allclose(out[1, 2], alone, atol=1e-14)


def test_linear_in_values_only():
    Q, K, V, W = (RNG.normal(size=(4, 2)) for _ in range(4))
    both = attention_arrays(Q, K, V + W)[2]
    assert np.allclose(both, attention_arrays(Q, K, V)[2] + attention_arrays(Q, K, W)[2], atol=1e-14)
    assert not np.allclose(attention_arrays(2 * Q, K, V)[2], 2 * attention_arrays(Q, K, V)[2])


def test_shapes_follow_from_products():
    s = shapes(B=2, h=3, T=5, d_k=4, d_v=7, d=12)
    assert product_shape(s["Q"], s["K_transposed"]) == s["S"] == s["P"]
    assert product_shape(s["P"], s["V"]) == s["O"]
    assert s["concat"] == [2, 5, 21]
    with pytest.raises(ValueError, match="do not multiply"):
        product_shape((5, 2), (5, 2))
    with pytest.raises(ValueError, match="do not multiply"):
        product_shape((2, 5, 2), (3, 2, 5))


def test_column_softmax_is_the_row_softmax_of_the_transpose():
    S = RNG.normal(size=(3, 4)).tolist()
    P = column_softmax(S)
    assert transpose(P) == [softmax(c) for c in transpose(S)]
    assert np.allclose(np.sum(P, axis=0), 1)


@pytest.mark.parametrize("A", [[[2, 1], [1, 1]], [[0, 2], [-1, 3]], [[0.5, 3.0], [1.0, -2.0]]])
def test_scores_survive_a_new_basis(A):
    W_Q, W_K, X = (RNG.normal(size=s).tolist() for s in ((3, 2), (3, 2), (4, 3)))
    old = scores(matmul(X, W_Q), matmul(X, W_K))
    new = scores(matmul(matmul(X, W_Q), A), matmul(X, key_map_for(W_K, A)))
    assert np.allclose(old, new, atol=1e-12)


def test_convex_combinations():
    values = [-1.0, 3.0, 2.0]
    assert achievable(values, 2.999)
    assert not achievable(values, 3.0)
    assert not achievable(values, -1.0)
    o = average(weights_row([1.0, -2.0], [[0.0, 1.0], [5.0, 0.0], [1.0, 1.0]]), [[v] for v in values])
    assert achievable(values, o[0])


def test_scale_is_the_root_of_the_key_width():
    q, keys = [1.0, 2.0, -1.0], [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]
    assert np.allclose(weights_row(q, keys), softmax([1 / math.sqrt(3), 1 / math.sqrt(3)]))
    assert weights_row(q, keys, 0.0) == [0.5, 0.5]
