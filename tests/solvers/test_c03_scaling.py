"""Card 3: quadratures against scipy, simulation against theory, limits of the formulas."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from drillgen.instance import build
from solvers.algebra import entropy
from solvers.c03_scaling import (
    alpha_of,
    both_tails,
    chi_square_mean,
    divisor,
    effective_keys,
    gap_for,
    gaussian_entropy,
    gaussian_mean,
    logit_sd,
    participation,
    simulate_rows,
    two_key_exact,
    two_key_gauss,
    unit_multiplier,
    validity_edge,
)


@pytest.mark.parametrize("x", [0.3, 2.0])
@pytest.mark.parametrize("d", [1, 2, 3, 16, 64, 257, 1024])
def test_chi_square_mean_against_scipy(d, x):
    assert math.isclose(chi_square_mean(lambda n: 1.0, d), 1, rel_tol=1e-12)
    mine = chi_square_mean(lambda n: both_tails(x * math.sqrt(d / n)), d)
    law = stats.chi2(d)
    theirs, _ = integrate.quad(
        lambda n: 2 * stats.norm.sf(x * math.sqrt(d / n)) * law.pdf(n), *law.ppf([1e-16, 1 - 1e-15]), limit=400
    )
    assert math.isclose(mine, theirs, rel_tol=1e-7)


def test_gaussian_mean_of_moments():
    for sigma in (0.2, 1.0, 3.0):
        assert math.isclose(gaussian_mean(lambda s: s * s, sigma), sigma**2, rel_tol=1e-12)
        assert math.isclose(gaussian_mean(math.exp, sigma), math.exp(sigma**2 / 2), rel_tol=1e-12)


def test_two_key_probability_by_simulation():
    rng = np.random.default_rng(7)
    d, w = 32, 0.95
    q, a, b = (rng.standard_normal((200_000, d), dtype=np.float32) for _ in range(3))
    gap = np.abs(np.einsum("nc,nc->n", q, a - b)) / math.sqrt(d)
    share = float((gap > gap_for(w)).mean())
    exact = two_key_exact(d, w, alpha_of("inv_sqrt", d))
    assert abs(share - exact) < 4 * math.sqrt(exact / 200_000)
    assert abs(two_key_gauss(d, w, alpha_of("inv_sqrt", d)) / exact - 1) > 0.03


def test_wide_queries_bring_the_shortcut_closer():
    errors = [abs(two_key_gauss(d, 0.99, d**-0.5) / two_key_exact(d, 0.99, d**-0.5) - 1) for d in (16, 64, 512)]
    assert errors == sorted(errors, reverse=True)


def test_scales():
    assert logit_sd(64, scale="sqrt_dk") == 1
    assert math.isclose(logit_sd(64, scale="dk"), 1 / 8)
    assert divisor("sqrt_d", 64, 4096) == 64
    assert math.isclose(unit_multiplier(64, 1.5, 0.5) * logit_sd(64, 1.5, 0.5), 1)


def test_effective_keys_of_equal_shares():
    for n in (1, 5, 100):
        assert math.isclose(effective_keys(entropy([1 / n] * n)), n, rel_tol=1e-12)
        assert math.isclose(participation([1 / n] * n), n, rel_tol=1e-12)


def test_estimate_is_zero_at_its_edge():
    for T in (64, 4096, 131072):
        assert math.isclose(gaussian_entropy(T, validity_edge(T)), 0, abs_tol=1e-12)


def test_simulated_rows_follow_the_estimate_where_it_holds():
    found = simulate_rows(0.8, T=2048, rows=200, seed=3)
    assert abs(found.entropy - gaussian_entropy(2048, 0.8)) < 0.02
    assert found.above_99 == 0
    again = simulate_rows(0.8, T=2048, rows=200, seed=3)
    assert again == found
    sharp = simulate_rows(1.0, T=512, rows=100, seed=3, d_k=400)
    assert sharp.top > 0.5 > found.top


def test_the_gaussian_shortcut_is_a_near_miss_and_no_slip():
    for seed in range(20):
        one = build(f"scaling.two_key_exact/{seed}")
        shortcut = two_key_gauss(one.values["d_k"], one.values["w"], one.values["factor"])
        verdict = one.grade(f"{shortcut:.6g}")
        assert (verdict.verdict, verdict.slips) == ("wrong", ())
        assert "gaussian_shortcut" in [f.id for f in verdict.findings]
        assert one.grade(one.kind.show(one.answer)).findings == ()
