"""A short walk of the mutator through the grader; `python -m tests.fuzz.fuzz_match` walks for as long as it is told."""

from __future__ import annotations

import json
import time

import pytest

from grading.match import match_row
from tests.fuzz.mutate import mutants

SLOWEST = 0.2


def judged(row: dict[str, object]) -> None:
    """One row: an answer in time, of a known status, that can be written and shown."""
    begun = time.process_time()
    verdict = match_row(row)
    taken = time.process_time() - begun
    assert verdict["status"] in ("graded", "invalid", "bad_key", "bad_row"), (row, verdict)
    assert taken < SLOWEST, (row, taken)
    shown = json.dumps({name: value for name, value in verdict.items() if name != "id"}, ensure_ascii=False)
    assert shown.isprintable(), (row, shown)
    if verdict["status"] != "graded":
        assert verdict["verdict"] is None
        assert verdict["detail"]


@pytest.mark.parametrize("seed", ["one", "two", "three", "four"])
def test_mutants_end_in_a_verdict(seed: str) -> None:
    warm = {"kind": "expression", "key": "sin(x)", "answer": "x", "symbols": ["x"]}
    match_row(warm)
    for row in mutants(seed, 1500):
        judged(row)
