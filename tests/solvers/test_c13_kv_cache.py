"""Card 13: general shapes, edges and identities of the cache's sizes and times."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers import facts
from solvers.c13_kv_cache import break_even_context, decode_rate, step_time
from solvers.sizes import (
    bytes_per_token,
    cache_bytes,
    llama_parameters,
    longest_context,
    misread_as_binary,
    room,
    sequences_that_fit,
)

sizes = st.integers(1, 64)


@given(sizes, sizes, sizes, st.sampled_from([0.5, 1, 2, 4]), st.integers(0, 10**6), sizes)
def test_cache_is_linear_in_every_size(L, H_kv, d_h, b, T, B):
    assert cache_bytes(L, H_kv, d_h, b, T, B) == sum(cache_bytes(L, H_kv, d_h, b, T) for _ in range(B))
    assert cache_bytes(2 * L, H_kv, d_h, b, T) == cache_bytes(L, 2 * H_kv, d_h, b, T)
    assert cache_bytes(L, H_kv, d_h, b, 0, B) == 0


def test_four_bit_cache_has_half_bytes():
    assert bytes_per_token(1, 1, 1, facts.BYTES["int4"]) == 1


@given(st.integers(1, 10**12), st.integers(1, 10**9), sizes)
def test_what_fits_fits_and_one_more_does_not(free, cache, B):
    n = sequences_that_fit(free, cache)
    assert n * cache <= free < (n + 1) * cache
    T = longest_context(free, cache, B)
    assert T * cache * B <= free < (T + 1) * cache * B


def test_weights_larger_than_memory_leave_no_room():
    m = facts.model("llama2-70b")
    free = room(80e9, 1, m.N)
    assert free < 0
    assert sequences_that_fit(free, 2**30) == 0
    assert longest_context(free, 2**18, 1) == 0


@given(st.integers(1, 10**10), st.integers(1, 10**7), sizes)
def test_at_break_even_the_cache_doubles_the_step(N, per_token, B):
    T = break_even_context(N, per_token, B)
    assert step_time(2 * N, per_token * B * T, 1e12) == pytest.approx(2 * step_time(2 * N, 0, 1e12))


@given(st.integers(1, 10**11), st.integers(1, 10**10), sizes)
def test_batch_rate_rises_to_the_cache_bound(weights, cache, B):
    rate = decode_rate(weights, cache, 1e12, B)
    assert decode_rate(weights, cache, 1e12, B + 1) > rate
    assert rate < 1e12 / cache
    assert decode_rate(weights, cache, 1e12) == pytest.approx(1 / step_time(weights, cache, 1e12))


def test_half_of_the_bound_where_caches_weigh_as_much_as_weights():
    assert decode_rate(16e9, 2e9, 1e12, B=8) == pytest.approx(0.5 * 1e12 / 2e9)


@pytest.mark.parametrize("id", ["llama2-7b", "llama2-13b", "llama2-70b", "llama3-8b", "mistral-7b"])
def test_published_totals_are_the_sum_of_their_matrices(id):
    m = facts.model(id)
    assert llama_parameters(m.d, m.L, m.d_ff, m.vocab, m.H_kv * m.d_h) == m.N


@pytest.mark.parametrize(
    ("size", "read"), [(999, 999), (1000, 1024), (36864, 37748.736), (2 * 10**9, 2 * 2**30), (10**12, 2**40)]
)
def test_decimal_figure_with_a_binary_unit(size, read):
    assert misread_as_binary(size) == pytest.approx(read)
