"""States and partial results on arrays: blocks in any order, merges with their identity, bases."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.simulate.state import (
    Partial,
    SoftmaxState,
    finalise,
    init_state,
    lse_to_base,
    merge_many,
    merge_partials,
    merge_states,
    update_state,
)

torch = pytest.importorskip("torch")


def direct(s: Any, v: Any) -> Partial:
    """softmax(s) v and logsumexp by their definitions."""
    m = s.max(-1, keepdims=True)
    e = np.exp(s - m)
    return Partial((e / e.sum(-1, keepdims=True)) @ v, m[..., 0] + np.log(e.sum(-1)))


def run(s: Any, v: Any, parts: list[Any]) -> SoftmaxState:
    state = init_state(s.shape[:-1], v.shape[-1], like=s)
    for part in parts:
        state = update_state(state, s[..., part], v[part])
    return state


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize(("dtype", "o_tol", "lse_tol"), [("float64", 1e-14, 1e-14), ("float32", 5e-6, 5e-6)])
def test_the_cards_row_of_4096_keys(library: str, dtype: str, o_tol: float, lse_tol: float) -> None:
    draw = np.random.default_rng(0)
    s, v = draw.normal(size=4096).astype(dtype), draw.normal(size=(4096, 64)).astype(dtype)
    wanted = direct(s.astype(float), v.astype(float))
    if library == "torch":
        s, v = torch.from_numpy(s), torch.from_numpy(v)
    for block in (1000, 64, 128, 4096):
        o, lse = finalise(run(s, v, [slice(i, i + block) for i in range(0, 4096, block)]))
        assert np.abs(np.asarray(o) - wanted.o).max() <= o_tol
        assert abs(float(lse) - wanted.lse) <= lse_tol
    shuffled = list(np.random.default_rng(1).permutation(4096).reshape(32, 128))
    assert np.abs(np.asarray(finalise(run(s, v, shuffled)).o) - wanted.o).max() <= o_tol


@given(st.integers(1, 40), st.integers(1, 4), st.integers(0, 40), st.integers(0, 2**32 - 1), st.floats(0, 30))
@settings(max_examples=40, deadline=None)
def test_two_halves_merge_to_the_whole(n: int, d: int, cut: int, seed: int, spread: float) -> None:
    draw = np.random.default_rng(seed)
    s, v = draw.normal(size=(3, n)) * spread, draw.normal(size=(n, d))
    wanted = direct(s, v)
    halves = [run(s, v, [slice(0, cut)]), run(s, v, [slice(cut, None)])]
    by_state = finalise(merge_states(*halves))
    by_partial = merge_partials(*(finalise(h) for h in halves))
    for found in (by_state, by_partial):
        assert np.abs(found.o - wanted.o).max() <= 1e-13
        assert np.abs(found.lse - wanted.lse).max() <= 1e-13
    other_way = merge_partials(*(finalise(h) for h in reversed(halves)))
    assert np.array_equal(by_partial.o, other_way.o) and np.array_equal(by_partial.lse, other_way.lse)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_empty_results_are_the_identity_to_the_bit(library: str) -> None:
    draw = np.random.default_rng(2)
    a = Partial(draw.normal(size=(4, 3)), draw.normal(size=4))
    # What an empty side holds must not matter, not even a NaN in memory nobody wrote.
    nothing = Partial(np.full((4, 3), math.nan), np.full(4, -math.inf))
    if library == "torch":
        a, nothing = (Partial(torch.from_numpy(p.o), torch.from_numpy(p.lse)) for p in (a, nothing))
    for found in (merge_partials(a, nothing), merge_partials(nothing, a), merge_many([nothing, a, nothing])):
        assert (found.o == a.o).all() and (found.lse == a.lse).all()
    both = merge_partials(nothing, nothing)
    assert (both.o == 0).all() and (both.lse == -math.inf).all()


def test_folds_in_any_order_agree() -> None:
    draw = np.random.default_rng(3)
    parts = [Partial(draw.normal(size=(5, 2)), draw.normal(size=5) * 20) for _ in range(6)]
    left = merge_many(parts)
    right = merge_many(parts[::-1])
    tree = merge_partials(merge_many(parts[:3]), merge_many(parts[3:]))
    for other in (right, tree):
        assert np.abs(left.o - other.o).max() <= 1e-14
        assert np.abs(left.lse - other.lse).max() <= 1e-13
    with pytest.raises(ValueError, match="nothing to merge"):
        merge_many([])


def test_a_hidden_value_never_counts() -> None:
    s = np.array([[0.0, -math.inf, 1.0], [0.0, 2.0, 1.0], [-math.inf] * 3])
    v = np.array([[1.0], [math.nan], [3.0]])
    o, lse = finalise(run(s, v, [[0], [1, 2]]))
    assert o[0, 0] == pytest.approx((1 + 3 * math.e) / (1 + math.e))
    assert math.isnan(o[1, 0])  # this row does see it
    assert o[2, 0] == 0 and lse[2] == -math.inf


def test_lse_names_its_base() -> None:
    assert lse_to_base(3.0, from_=2) == pytest.approx(3 * math.log(2))
    assert lse_to_base(1.0, from_="e", to=2) == pytest.approx(1 / math.log(2))
    assert lse_to_base(lse_to_base(0.7, from_=2), from_="e", to=2) == pytest.approx(0.7)


def test_a_shift_of_the_scores_moves_only_lse() -> None:
    draw = np.random.default_rng(4)
    s, v = draw.normal(size=50), draw.normal(size=(50, 3))
    a, b = finalise(run(s, v, [slice(None)])), finalise(run(s + 7, v, [slice(None)]))
    assert np.abs(a.o - b.o).max() <= 1e-14
    assert b.lse - a.lse == pytest.approx(7, abs=1e-13)
