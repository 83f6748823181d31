"""Card 15: the invariant on any row, merging as a commutative monoid, and following the learner's own row."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drillgen.instance import build
from solvers.algebra import dot, softmax
from solvers.c15_online_softmax import (
    advance,
    blocks_of,
    merge,
    merge_outputs,
    output,
    recurrence,
    rescale_factor,
    state_logsumexp,
)
from solvers.simulate.trace import trace

scores = st.lists(st.floats(-30, 30), min_size=1, max_size=12)


def _values(n):
    rng = random.Random(n)
    return [rng.uniform(-5, 5) for _ in range(n)]


@given(scores, st.integers(1, 13))
def test_every_row_agrees_with_the_vector_trace(s, size):
    v = _values(len(s))
    for mine, theirs in zip(recurrence(s, v, size), trace(s, v, size).states[1:], strict=True):
        assert mine == pytest.approx([theirs.m, theirs.l, *theirs.u], rel=1e-12, abs=1e-12)


@given(scores, st.integers(1, 13))
def test_output_is_softmax_attention_whatever_the_block_size(s, size):
    v = _values(len(s))
    m, norm, u = recurrence(s, v, size)[-1]
    assert norm >= 1
    assert output(norm, [u]) == pytest.approx([dot(softmax(s), v)], abs=1e-12)
    assert state_logsumexp(m, norm) == pytest.approx(math.log(sum(math.exp(x) for x in s)))


@given(scores, scores)
def test_merging_is_commutative_and_equals_one_pass(a, b):
    v, w = _values(len(a)), _values(len(b) + 20)[: len(b)]
    left, right = tuple(recurrence(a, v, 3)[-1]), tuple(recurrence(b, w, 2)[-1])
    assert merge(left, right) == pytest.approx(merge(right, left))
    assert merge(left, right) == pytest.approx(tuple(recurrence(a + b, v + w, 1)[-1]), abs=1e-9)
    o, lse = merge_outputs(
        left[2] / left[1], state_logsumexp(*left[:2]), right[2] / right[1], state_logsumexp(*right[:2])
    )
    whole = merge(left, right)
    assert (o, lse) == pytest.approx((whole[2] / whole[1], state_logsumexp(*whole[:2])))


def test_empty_start_leaves_no_trace():
    assert rescale_factor(-math.inf, -50.0) == 0
    assert advance(-math.inf, 0.0, 0.0, [1.0], [3.0]) == (1.0, 1.0, 3.0)


def test_merging_far_apart_states_does_not_overflow():
    assert merge((2000.0, 1.0, 3.0), (-2000.0, 5.0, 7.0)) == (2000.0, 1.0, 3.0)
    assert merge_outputs(3.0, 1e5, 9.0, -1e5) == (3.0, 1e5)


def test_last_block_may_be_shorter():
    assert blocks_of([1, 2, 3, 4, 5], 2) == [[1, 2], [3, 4], [5]]


def _follows(verdict):
    return [p["name"] for p in verdict.parts if p.get("follows_own")]


def test_a_table_row_follows_from_the_learners_own_row():
    """A slip in one row costs that row alone."""
    one = next(i for i in (build(f"online_softmax.trace/{n}") for n in range(100)) if len(i.answer) >= 4)
    scores, values, size = (one.values[k] for k in ("scores", "values", "block_size"))
    own = [list(row) for row in one.answer]
    own[1][1] += 0.3
    for n in range(2, len(own)):
        own[n] = list(advance(*own[n - 1], blocks_of(scores, size)[n], blocks_of(values, size)[n]))
    verdict = one.grade(one.kind.show(own))
    assert verdict.verdict == "wrong"
    assert [p["verdict"] for p in verdict.parts] == ["right", "wrong", *["right"] * (len(own) - 2)]
    assert _follows(verdict)
    assert verdict.score == pytest.approx(1 - 1 / len(own))


def test_nothing_follows_from_a_row_that_is_no_state():
    one = build("online_softmax.trace/1")
    own = [list(row) for row in one.answer]
    own[0] = [own[0][0], 0.2, own[0][2]]
    m, norm, u = own[0]
    size = one.values["block_size"]
    own[1] = list(advance(m, norm, u, one.values["scores"][size : 2 * size], one.values["values"][size : 2 * size]))
    assert not _follows(one.grade(one.kind.show(own)))


def test_sums_follow_from_the_learners_own_maximum():
    """Whoever keeps the old maximum but works on consistently has made one mistake."""
    one = build("online_softmax.update/3")
    m, norm, u, block, values = (one.values[k] for k in ("m", "l", "u", "block", "values"))
    weights = [math.exp(s - m) for s in block]
    own = [m, norm + sum(weights), u + dot(weights, values)]
    verdict = one.grade("; ".join(map(str, own)))
    assert verdict.verdict == "wrong"
    assert _follows(verdict) == ["l", "u"]
    assert verdict.score == pytest.approx(2 / 3)
