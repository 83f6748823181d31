"""Properties of card 12's solvers: the longest context is the longest, and binary units are misread consistently."""

import math

import pytest

from solvers import c12_score_memory as c12
from solvers.algebra import logsumexp, softmax


@pytest.mark.parametrize("memory", [2**30, 10**9, 7 * 2**30 + 5, 12345678])
@pytest.mark.parametrize(("h", "b", "B"), [(32, 2, 1), (40, 2, 2), (64, 4, 3), (1, 1, 1)])
def test_max_context_is_the_last_that_fits(memory, h, b, B):
    T = c12.max_context(memory, h, b, B)
    assert c12.naive_bytes(T, b, h, B) <= memory < c12.naive_bytes(T + 1, b, h, B)


def test_shares_of_work_and_memory():
    assert 2 * c12.recompute_flops(4096, 512) == c12.quadratic_flops(4096, 512)
    assert c12.naive_bytes(4096, 2, 32, 4, 8) / c12.online_bytes(4096, 32, 4, 8) == 4096 * 2 / 4


def test_weights_are_rebuilt_far_out():
    s = [1000.0, 998.5, -2000.0]
    assert [c12.rebuilt_weight(s, j) for j in (1, 2, 3)] == pytest.approx(softmax(s))
    assert c12.rebuilt_weight(s, 2, lse=logsumexp(s)) == c12.rebuilt_weight(s, 2)


@pytest.mark.parametrize(("size", "factor"), [(500, 1), (32 * 2**10, 1.024), (32 * 2**20, 1.024**2), (2**40, 1.024**4)])
def test_binary_misread(size, factor):
    assert math.isclose(c12.binary_misread(size), size * factor)
