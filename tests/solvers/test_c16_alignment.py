"""Card 16: moments against simulation, and the two regimes at their ends."""

import math

import pytest

from solvers.c16_alignment import (
    divisor,
    logit_sd,
    mean_logit,
    raw_variance,
    simulate_dots,
    width_factor,
)


@pytest.mark.parametrize(("d_k", "rho"), [(16, 0.0), (16, 0.9), (100, 0.3), (64, 1.0)])
def test_moments_by_simulation(d_k, rho):
    n = 40_000
    dots = simulate_dots(d_k, rho, n, seed=5)
    assert len(dots) == n
    sd = math.sqrt(raw_variance(d_k, rho))
    assert abs(dots.mean() - mean_logit(d_k, rho, "none")) < 4 * sd / math.sqrt(n)
    assert abs(dots.var() / sd**2 - 1) < 0.06


def test_simulation_is_repeatable_and_seeded():
    assert (simulate_dots(8, 0.5, 10_500, seed=1) == simulate_dots(8, 0.5, 10_500, seed=1)).all()
    assert (simulate_dots(8, 0.5, 100, seed=1) != simulate_dots(8, 0.5, 100, seed=2)).any()


def test_independent_vectors_are_those_of_card_3():
    for d_k in (16, 128):
        assert logit_sd(d_k, 0, "sqrt_dk") == 1
        assert mean_logit(d_k, 0, "dk") == 0
        assert raw_variance(d_k, 0) == d_k


def test_scales_at_full_alignment():
    assert mean_logit(128, 1, "dk") == 1
    assert math.isclose(mean_logit(128, 1, "sqrt_dk"), math.sqrt(128))
    assert math.isclose(logit_sd(50, 1, "none"), 10)
    assert divisor("none", 77) == 1


def test_width_factors_follow_from_the_moments():
    for scale in ("none", "sqrt_dk", "dk"):
        for c in (2, 9):
            mean = mean_logit(64 * c, 0.3, scale) / mean_logit(64, 0.3, scale)
            sd = logit_sd(64 * c, 0.0, scale) / logit_sd(64, 0.0, scale)
            assert math.isclose(width_factor(c, "aligned_mean", scale), mean)
            assert math.isclose(width_factor(c, "random_sd", scale), sd)
