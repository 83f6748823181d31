"""Card 14: heads and groups, intensity, pooling and budgets at any size."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.c14_gqa import (
    attention_parameters,
    cache_ratio,
    decode_flops,
    decode_intensity,
    head_bound,
    kv_head_of,
    kv_heads,
    largest_divisor,
    mean_pool,
    peak_share,
    ridge_point,
)
from solvers.simulate.attention import attention
from solvers.sizes import cache_bytes

groups = st.tuples(st.integers(1, 8), st.integers(1, 8))


@given(groups)
def test_every_kv_head_is_read_by_one_group(sizes):
    G, H_kv = sizes
    h = G * H_kv
    read = [kv_head_of(n, h, H_kv) for n in range(h)]
    assert read == sorted(read)
    assert [read.count(k) for k in range(H_kv)] == [G] * H_kv


@given(groups, st.sampled_from([0.5, 1, 2, 4, 8]))
def test_intensity_is_flops_over_bytes_at_any_length(sizes, b):
    G, H_kv = sizes
    for T, d_h in ((1, 1), (100, 64)):
        counted = decode_flops(T, d_h, G * H_kv) / cache_bytes(1, H_kv, d_h, b, T)
        assert decode_intensity(G * H_kv, H_kv, b) == pytest.approx(counted)
    assert decode_intensity(G * H_kv, H_kv, 2) == cache_ratio(G * H_kv, H_kv)


def test_share_is_capped_at_the_whole_peak():
    ridge = ridge_point(300e12, 2e12)
    assert peak_share(1, ridge) == pytest.approx(1 / 150)
    assert peak_share(1000, ridge) == 1


@pytest.mark.parametrize(("scheme", "expected"), [("mha", 64), ("gqa", 8), ("mqa", 1)])
def test_schemes(scheme, expected):
    assert kv_heads(scheme, 64, 8) == expected


def test_parameters_of_full_heads_are_four_squares():
    assert attention_parameters(4096, 128, 32, 32) == 4 * 4096**2


@given(st.integers(1, 200), st.floats(0, 300))
def test_largest_divisor(h, bound):
    k = largest_divisor(h, bound)
    if bound < 1:
        assert k == 0
    else:
        assert k <= bound
        assert h % k == 0
        assert not any(h % j == 0 for j in range(k + 1, min(int(bound), h) + 1))


def test_budget_is_met_by_the_bound_exactly():
    assert cache_bytes(32, head_bound(8, 32, 128, 2, 8192, 4), 128, 2, 8192, 4) == 8 * 2**30


def test_pooling_equal_heads_changes_nothing():
    """A grouped layer made of pooled equal heads gives what the full layer gave."""
    rng = np.random.default_rng(14)
    q = rng.standard_normal((1, 4, 3, 5))
    shared_k, shared_v = rng.standard_normal((2, 2, 3, 5))
    k, v = (np.repeat(x, 2, axis=0)[None] for x in (shared_k, shared_v))
    pooled_k, pooled_v = (np.array(mean_pool(x[0].reshape(4, -1).tolist(), 2)).reshape(1, 2, 3, 5) for x in (k, v))
    full, grouped = attention(q, k, v), attention(q, pooled_k, pooled_v)
    assert full.o == pytest.approx(grouped.o)


def test_pooling_into_one_is_the_mean_of_all():
    assert mean_pool([[1, 2], [3, 4], [5, 12]], 1) == [[3, 6]]
