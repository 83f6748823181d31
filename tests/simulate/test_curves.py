"""Rank collapse and entropy against what the cards print, with the tolerances of tests/data/checks.jsonl."""

from __future__ import annotations

import math

import pytest

from solvers.simulate.collapse import rank_collapse
from solvers.simulate.entropy import entropy_curve, limit


def test_attention_alone_collapses_cubically() -> None:
    found = rank_collapse(layers=5)
    assert found.pure[0] == pytest.approx(math.sqrt(31 / 32), abs=0.005)
    assert found.pure[1] == pytest.approx(0.783, abs=0.06)
    assert found.pure[2] == pytest.approx(0.273, abs=0.14)
    assert 1 / 5 <= found.pure[3] / 0.0126 <= 5
    assert 1 / 100 <= found.pure[4] / 2.2e-6 <= 100
    assert found.pure[5] < 1e-14
    assert all(0.2 < r < 2 for r in found.ratios[:4])
    assert rank_collapse(layers=2, stacks=2, seed=1) == rank_collapse(layers=2, stacks=2, seed=1)


def test_skip_connections_slow_it() -> None:
    found = rank_collapse()
    assert found.residual[5] == pytest.approx(0.746, abs=0.07)
    assert found.residual[12] == pytest.approx(0.103, abs=0.03)


def test_entropy_of_the_cards_spreads() -> None:
    flat, one, two, four, raw = entropy_curve(4096, (0.0, 1.0, 2.0, 4.0, math.sqrt(128)), rows=200)
    assert flat.entropy == pytest.approx(math.log(4096), abs=1e-12)
    assert flat.effective_keys == pytest.approx(4096)
    assert one.entropy == pytest.approx(7.83, abs=0.03)
    assert two.entropy == pytest.approx(6.41, abs=0.07)
    assert four.entropy == pytest.approx(3.17, abs=0.3)
    assert raw.entropy == pytest.approx(0.49, abs=0.35)
    assert four.approximation == pytest.approx(0.32, abs=0.005)
    assert limit(4096) == pytest.approx(4.08, abs=0.005)
    assert one.top_weight < two.top_weight < four.top_weight < raw.top_weight
