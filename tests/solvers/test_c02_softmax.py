"""Card 2: general properties of the softmax solvers."""

import math

import numpy as np
import pytest

from solvers import facts
from solvers.algebra import entropy, logsumexp, softmax
from solvers.c02_softmax import (
    SMALLEST,
    SMALLEST_NORMAL,
    largest_equal_row,
    largest_exponent,
    log_softmax_jacobian,
    safe_schemes,
    shift_works,
    softmax_limit,
    temperature_for,
)

RNG = np.random.default_rng(2)


@pytest.mark.parametrize("T", [1, 2, 7, 300])
def test_softmax_is_a_distribution_and_shift_invariant(T):
    s = RNG.normal(0, 5, T).tolist()
    p = softmax(s)
    assert math.isclose(sum(p), 1, rel_tol=1e-14)
    assert min(p) >= 0
    assert np.allclose(p, softmax([v - 1e6 for v in s]), atol=1e-9)


def test_blocked_keys():
    assert softmax([-math.inf, 0.0, 0.0]) == [0.0, 0.5, 0.5]
    assert all(math.isnan(p) for p in softmax([-math.inf] * 3))
    assert logsumexp([-math.inf] * 3) == -math.inf
    assert logsumexp([]) == -math.inf


def test_logsumexp_bounds():
    for T in (1, 3, 50):
        s = RNG.normal(900, 30, T).tolist()
        assert max(s) <= logsumexp(s) <= max(s) + math.log(T) + 1e-12


def test_entropy_lies_between_hard_and_flat():
    assert entropy([0.0, 1.0, 0.0]) == 0
    assert math.isclose(entropy([0.25] * 4), math.log(4), rel_tol=1e-15)


def test_colder_is_sharper():
    s = [0.2, 1.4, -0.7, 1.1]
    tops = [max(softmax(s, tau)) for tau in (0.1, 0.5, 1, 3, 50)]
    assert tops == sorted(tops, reverse=True)
    assert softmax_limit(s, "zero") == [0, 1, 0, 0]
    assert softmax_limit([1, 3, 3], "zero") == [0, 0.5, 0.5]


def test_temperature_for_inverts_the_weight():
    for gap, w in ((1, 0.6), (3, 0.99), (5, 0.75)):
        assert math.isclose(max(softmax([0, gap], temperature_for(gap, w))), w, rel_tol=1e-12)


def test_log_softmax_rows_follow_the_softmax_jacobian():
    s = [0.1, -2.0, 1.5]
    p = softmax(s)
    J = log_softmax_jacobian(s)
    for i in range(3):
        assert math.isclose(sum(p[j] * J[j][i] for j in range(3)), 0, abs_tol=1e-15)


@pytest.mark.parametrize("dtype", ["fp16", "fp32", "fp64"])
def test_limits_are_those_of_numpy(dtype):
    form = {"fp16": np.float16, "fp32": np.float32, "fp64": np.float64}[dtype]
    info = np.finfo(form)
    assert facts.LARGEST[dtype] == float(info.max)
    assert SMALLEST_NORMAL[dtype] == float(info.smallest_normal)
    assert SMALLEST[dtype] == float(info.smallest_subnormal)


def test_bf16_limits_are_those_of_torch():
    torch = pytest.importorskip("torch", reason="bfloat16 limits are read from torch")
    info = torch.finfo(torch.bfloat16)
    assert (facts.LARGEST["bf16"], SMALLEST_NORMAL["bf16"]) == (info.max, info.smallest_normal)


def test_the_maximum_is_always_safe():
    for _ in range(200):
        s = RNG.normal(0, 400, 6).tolist()
        for dtype in ("fp16", "bf16", "fp32"):
            assert shift_works(s, max(s), dtype)
            assert "subtract_max" in safe_schemes(s, dtype)


def test_rows_of_equal_scores_fill_the_format():
    for x in (0.5, 3, 7.25):
        T = largest_equal_row(x, "fp16")
        assert T * math.exp(x) <= 65504 < (T + 1) * math.exp(x)
    assert largest_exponent("bf16") < largest_exponent("fp32")
