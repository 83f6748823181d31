"""A short walk of the mutator through the grader; `python -m tests.fuzz.fuzz_match` walks for as long as it is told."""

from __future__ import annotations

import pytest

from grading.match import match_row
from tests.fuzz.mutate import judged, mutants


@pytest.mark.parametrize("seed", ["one", "two", "three", "four"])
def test_mutants_end_in_a_verdict(seed: str) -> None:
    warm = {"kind": "expression", "key": "sin(x)", "answer": "x", "symbols": ["x"]}
    match_row(warm)
    for row in mutants(seed, 1500):
        judged(row)
