"""Card 8 beside its drills: identities of the smoother in any dimension."""

import math
import random

import pytest

from solvers.c08_kernel_smoothing import (
    attention_weights,
    bandwidth_of_gain,
    bandwidth_of_width,
    key_bias,
    log_kernel,
    mean_value,
    nadaraya_watson,
    plain_attention,
    smoother_weights,
)


def _points(seed, T=6, d=3, d_v=2):
    rng = random.Random(seed)
    gauss = lambda n: [rng.gauss(0, 1) for _ in range(n)]  # noqa: E731
    return gauss(d), [gauss(d) for _ in range(T)], [gauss(d_v) for _ in range(T)]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("lam", [0.4, 1.0, 3.0])
def test_biased_attention_is_the_smoother(seed, lam):
    q, keys, values = _points(seed)
    want = nadaraya_watson(q, keys, values, lam)
    assert plain_attention(q, keys, values, lam, key_bias(keys, lam)) == pytest.approx(want, rel=1e-12, abs=1e-13)
    shifted = [b + 5 for b in key_bias(keys, lam)]
    assert plain_attention(q, keys, values, lam, shifted) == pytest.approx(want, rel=1e-12, abs=1e-13)


def test_bandwidth_limits():
    q, keys, values = _points(1)
    nearest = max(range(len(keys)), key=lambda j: log_kernel(q, keys[j], 1.0))
    assert nadaraya_watson(q, keys, values, 1e-3) == pytest.approx(values[nearest], abs=1e-12)
    assert nadaraya_watson(q, keys, values, 1e6) == pytest.approx(mean_value(values), rel=1e-9)


def test_far_queries_do_not_underflow():
    _, keys, values = _points(2)
    out = nadaraya_watson([1e4] * 3, keys, values, 0.5)
    assert all(math.isfinite(x) for x in out)
    assert all(min(c) <= x <= max(c) for x, c in zip(out, zip(*values, strict=True), strict=True))


def test_unit_keys_and_the_gain():
    """For unit vectors the gain g is a bandwidth 1/√g, and d_k^{-1/2} is such a gain."""
    rng = random.Random(3)
    keys = [[math.cos(a), math.sin(a)] for a in (rng.uniform(0, 6) for _ in range(7))]
    q = [math.cos(1.0), math.sin(1.0)]
    for g in (0.3, 1.0, 12.0):
        lam = bandwidth_of_gain(g)
        logits = [g * (q[0] * k[0] + q[1] * k[1]) for k in keys]
        total = sum(map(math.exp, logits))
        assert smoother_weights(q, keys, lam) == pytest.approx([math.exp(s) / total for s in logits], rel=1e-12)
    assert bandwidth_of_gain(1 / math.sqrt(128)) == pytest.approx(bandwidth_of_width(128), rel=1e-14)


def test_zero_query_takes_the_mean():
    _, keys, values = _points(4)
    assert attention_weights([0.0] * 3, keys, 1.0) == pytest.approx([1 / 6] * 6)
    assert plain_attention([0.0] * 3, keys, values, 1.0) == pytest.approx(mean_value(values), rel=1e-12)
