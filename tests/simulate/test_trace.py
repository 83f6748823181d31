"""The recurrence one row at a time: the card's figures, the invariant in exact numbers, merges."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.simulate.trace import INF, State, lse, merge, trace, trace_exact

ROOT2 = math.sqrt(2)
weights = st.lists(st.fractions(0, 9, max_denominator=20), min_size=1, max_size=9)


def sizes(count: int, cuts: list[int]) -> list[int]:
    """Block sizes that add up to count, cut at the given places."""
    edges = sorted({0, count, *(c % (count + 1) for c in cuts)})
    return [b - a for a, b in pairwise(edges)]


def test_the_cards_row_of_three_keys() -> None:
    run = trace([0, ROOT2, ROOT2 / 2], [(0, 0), (1, 0), (0, 1)])
    assert run.states[0] == State(-INF, 0, (0, 0))
    assert run.states[1] == State(0, 1, (0, 0))
    assert run.steps[0].rescale == 0
    assert run.steps[1].raised and not run.steps[2].raised
    assert run.steps[1].rescale == pytest.approx(0.243, abs=5e-4)
    assert run.states[2].l == pytest.approx(1.243, abs=5e-4)
    assert run.final.l == pytest.approx(1.736, abs=5e-4)
    assert run.final.u == pytest.approx((1, 0.493), abs=5e-4)
    assert run.output == pytest.approx((0.576, 0.284), abs=5e-4)
    assert run.final.numbers == 2 + 2


def test_the_cards_merge_of_two_partials() -> None:
    a, b = trace([1, 3], [1, 2], 2).final, trace([2, 5], [3, 4], 2).final
    assert (a.m, a.l, a.u[0]) == pytest.approx((3, 1.1353, 2.1353), abs=5e-5)
    assert (b.m, b.l, b.u[0]) == pytest.approx((5, 1.0498, 4.1494), abs=5e-5)
    both = merge(a, b)
    assert both.output[0] == pytest.approx(3.6881, abs=5e-5)
    assert lse(both) == pytest.approx(5.1852, abs=5e-5)


@given(weights, st.lists(st.integers(0, 20), max_size=4), st.data())
@settings(max_examples=60, deadline=None)
def test_every_state_is_the_direct_sum_exactly(
    given_weights: list[Fraction], cuts: list[int], data: st.DataObject
) -> None:
    values = data.draw(st.lists(st.integers(-9, 9), min_size=len(given_weights), max_size=len(given_weights)))
    run = trace_exact(given_weights, values, sizes(len(given_weights), cuts))
    seen = 0
    for step in run.steps:
        seen = step.keys.stop
        top = max(given_weights[:seen])
        assert step.after.m == top
        if top == 0:
            assert step.after == State(0, 0, (0,))
            continue
        assert step.after.l == sum(given_weights[:seen]) / top
        assert step.after.u[0] == sum(w * v for w, v in zip(given_weights, values[:seen], strict=False)) / top
        assert step.after.l >= 1
        assert isinstance(step.after.l, Fraction)
    assert seen == len(given_weights)


def test_base_two_scores_stay_exact() -> None:
    run = trace([0, 3, 1], [1, 2, 3], 2, exp=lambda x: Fraction(2) ** x)
    assert run.final == State(3, Fraction(1, 8) + 1 + Fraction(1, 4), (Fraction(1, 8) + 2 + Fraction(3, 4),))


def test_masked_keys_are_never_read() -> None:
    run = trace([-INF, 1.0, -INF], [math.nan, 2.0, math.inf])
    assert run.states[1] == State(-INF, 0, (0,))
    assert run.output == (2.0,)
    assert run.lse == 1.0
    empty = trace([-INF, -INF], [1, 2])
    assert empty.output == (0,)
    assert empty.lse == -INF


def test_the_empty_state_is_the_identity() -> None:
    a, nothing = trace([1.0, -3.0], [2.0, 5.0]).final, State(-INF, 0, (0,))
    assert merge(a, nothing) == merge(nothing, a) == a
    assert merge(nothing, nothing) == nothing


@pytest.mark.parametrize(
    ("scores", "values", "block", "message"),
    [
        ([1, 2], [1], 1, "2 scores but 1 values"),
        ([1, 2], [(1, 2), (1,)], 1, "differ in length"),
        ([1, 2], [1, 2], 0, "at least one key"),
        ([1, 2], [1, 2], [1, 2], "do not add up"),
    ],
)
def test_what_does_not_fit_is_refused(scores: list[int], values: list[object], block: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        trace(scores, values, block)  # type: ignore[arg-type]


def test_negative_weights_are_refused() -> None:
    with pytest.raises(ValueError, match="never negative"):
        trace_exact([Fraction(-1)], [1])
