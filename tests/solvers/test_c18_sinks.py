"""Card 18: inverse pairs, limits and bounds for any share, gain and length."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.algebra import softmax
from solvers.c18_sinks import (
    advantage,
    eviction_factor,
    gain_needed,
    kept_positions,
    kernel_bandwidth,
    output_with_sink,
    sink_share,
    weight_cap,
)

lengths = st.integers(2, 10**6)
shares = st.floats(0.001, 0.999)


@given(shares, lengths)
def test_advantage_and_share_are_inverse(w, T):
    assert sink_share(advantage(w, T), T) == pytest.approx(w)
    assert weight_cap(gain_needed(w, T), T) == pytest.approx(w)


@given(st.integers(2, 40), st.integers(1, 5), st.floats(-5, 5))
def test_share_of_several_sinks_is_that_of_the_whole_row(T, sinks, a):
    sinks = min(sinks, T - 1)
    p = softmax([a] * sinks + [0.0] * (T - sinks))
    assert sink_share(a, T, sinks) == pytest.approx(sum(p[:sinks]))


def test_no_advantage_means_an_even_share():
    assert sink_share(0, 50) == pytest.approx(1 / 50)
    assert weight_cap(0, 50) == pytest.approx(1 / 50)
    assert advantage(1 / 50, 50) == pytest.approx(0, abs=1e-12)


def test_extreme_advantages_do_not_overflow():
    assert sink_share(700, 10) == 1
    assert sink_share(-700, 10) < 1e-300
    assert weight_cap(600, 10) == 1


@given(st.floats(0.01, 8), lengths)
def test_cap_is_an_advantage_of_twice_the_gain(g, T):
    assert weight_cap(g, T) == pytest.approx(sink_share(2 * g, T))


def test_doubling_the_row_costs_ln_2():
    assert advantage(0.9, 2**17 + 1) - advantage(0.9, 2**16 + 1) == pytest.approx(math.log(2))


def test_bandwidth_of_the_usual_scale_is_the_fourth_root_of_d_k():
    assert kernel_bandwidth(1 / math.sqrt(128)) == pytest.approx(128**0.25)


@given(shares, st.lists(st.floats(-10, 10), min_size=1, max_size=9))
def test_eviction_gives_the_plain_mean_back(w, values):
    assert output_with_sink(w, values) * eviction_factor(w) == pytest.approx(sum(values) / len(values), abs=1e-9)


@pytest.mark.parametrize(
    ("n", "window", "t", "held"),
    [
        (4, 4, 30, [1, 2, 3, 4, 27, 28, 29, 30]),
        (2, 3, 4, [1, 2, 3, 4]),
        (4, 8, 3, [1, 2, 3]),
        (0, 2, 9, [8, 9]),
        (2, 0, 9, [1, 2]),
    ],
)
def test_kept_positions_at_any_step(n, window, t, held):
    assert kept_positions(n, window, t) == held
