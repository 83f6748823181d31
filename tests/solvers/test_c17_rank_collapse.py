"""Card 17 beside its drills: bounds in logarithms, collapse in simulation, and bent orders."""

import math
import random

import numpy as np
import pytest

from drillgen.verify.c17_rank_collapse import departure_order, near_collapse
from drillgen.verify.run import matches, published
from solvers.c17_rank_collapse import (
    attention_layer,
    collapse,
    cubic_ratios,
    depth_bound,
    layers_needed,
    log_depth_bound,
    relative_residual,
    residual,
    residual_scaling,
    split_logit,
    uniform_variance,
)
from solvers.errors import BadParameter


@pytest.mark.parametrize("C", [0.25, 0.5, 1.0, 2.0, 4.0])
def test_bound_in_logarithms(C):
    for tenth in range(2, 13):
        r_0 = tenth / 10
        for L in (0, 1, 2, 3, 4, 6):
            log_r = math.log(r_0)
            for _ in range(L):
                log_r = math.log(C) + 3 * log_r
            assert log_depth_bound(C, r_0, L) == pytest.approx(log_r, rel=1e-10, abs=1e-10)
            if log_r > -700:
                assert math.log(depth_bound(C, r_0, L)) == pytest.approx(log_r, rel=1e-9, abs=1e-9)


def test_layers_needed_is_the_first():
    for C, r_0, eps in [(0.5, 0.9, 1e-6), (1, 0.97, 1e-12), (2, 0.5, 1e-3), (0.25, 0.5, 0.6)]:
        n = layers_needed(C, r_0, eps)
        assert log_depth_bound(C, r_0, n) <= math.log(eps)
        assert n == 0 or log_depth_bound(C, r_0, n - 1) > math.log(eps)


def test_uniform_variance_of_dice():
    """All outcomes of three dice, weighted alike."""
    faces = range(1, 7)
    means = [(a + b + c) / 3 for a in faces for b in faces for c in faces]
    assert float(np.var(means)) == pytest.approx(uniform_variance(3, math.sqrt(35 / 12)), rel=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_split_adds_up(seed):
    rng = random.Random(seed)
    draw = lambda: [rng.randint(-4, 4) for _ in range(3)]  # noqa: E731
    mean, r_i, r_j, W = draw(), draw(), draw(), [draw() for _ in range(3)]
    x, y = np.add(mean, r_i), np.add(mean, r_j)
    assert sum(split_logit(mean, r_i, r_j, W)) == x @ np.array(W) @ y


def test_residual_scaling_is_what_layers_do():
    """Two layers take a deviation c times smaller to one c^9 times smaller."""
    X, W, W_V = near_collapse(1e-2)
    Y = near_collapse(1e-2 / 1.5)[0]
    big, small = (np.linalg.norm(residual(attention_layer(t, W, W_V))) for t in (X, Y))
    assert big / small == pytest.approx(1.5**3, rel=0.05)
    assert residual_scaling(2, 1) == 8
    assert residual_scaling(2, 2) == 512


def test_identical_tokens_stay_identical():
    X, W, W_V = near_collapse(0.0)
    assert relative_residual(attention_layer(X, W, W_V)) < 1e-15


def test_skips_slow_the_collapse():
    pure, skipped = collapse(4, stacks=5), collapse(4, stacks=5, skip=True)
    assert pure[0] == pytest.approx(math.sqrt(31 / 32), abs=0.01)
    assert pure[4] < 1e-3 < 0.5 < skipped[4] < skipped[1]


def test_cubic_ratios_of_a_cubic_law():
    r = [0.9]
    for _ in range(4):
        r.append(0.7 * r[-1] ** 3)
    assert cubic_ratios(r) == pytest.approx([0.7] * 4, rel=1e-9)


def test_order_of_the_weights_falls_to_one_without_the_key_only_term():
    printed = next(r for r in published() if r.id == "c17.delta_order2")
    assert matches(departure_order(), printed.expected, printed.tol)
    bent = departure_order(key_only=False)
    assert bent == pytest.approx(1.0, abs=0.01)
    assert not matches(bent, printed.expected, printed.tol)


def test_bounds_that_say_nothing():
    assert depth_bound(4, 2, 8) == math.inf
    assert depth_bound(0.25, 0.5, 100) == 0.0
    assert layers_needed(1, 0.5, 2.0) == 0
    with pytest.raises(BadParameter, match="falls only"):
        layers_needed(4, 0.5, 1e-3)
    with pytest.raises(BadParameter, match="at most 6"):
        residual_scaling(20, 7)
