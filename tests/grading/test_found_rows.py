"""Answers that were once graded wrongly, by kind of fault: (kind, key, answer, expected outcome, what else the row has).

They were found by imagining what people type and what an attacker would; the expected outcome follows from the rules of
reading, not from what the program said.
"""

from __future__ import annotations

import time
from typing import Any

import pytest

from grading.match import match_row

Row = tuple[str, str, str, str, dict[str, Any]]

REAL_X: dict[str, Any] = {"symbols": ["x"]}
POSITIVE_X: dict[str, Any] = {"symbols": {"x": "x > 0"}}
SIMPLEX: dict[str, Any] = {"arrays": {"p": "simplex"}}

HUGE_FRACTIONS: list[Row] = [
    ("expression", "x^2", "|x|^(2+1e-50)", "wrong", REAL_X),
    ("expression", "ln(x)", "(x^(1e-40)-1)/1e-40", "wrong", POSITIVE_X),
    ("expression", "ln(x)", "ln(x)*x^(1e-40)", "wrong", POSITIVE_X),
    ("indexed", "p_i", "p_i^(1+1e-9)", "wrong", SIMPLEX),
    ("number", "2", "1024^(0.1+1e-39)", "wrong", {}),
]
"""An exact root was tried with a denominator of forty digits: minutes, and all the memory there is."""


def outcome(row: Row) -> str:
    kind, key, answer, _, rest = row
    verdict = match_row({"kind": kind, "key": key, "answer": answer, **rest})
    return str(verdict["verdict"] if verdict["status"] == "graded" else verdict["status"])


def named(row: Row) -> str:
    return f"{row[0]}: {row[2]}"


@pytest.mark.parametrize("row", HUGE_FRACTIONS, ids=named)
def test_huge_fractions_in_exponents_cost_nothing(row: Row) -> None:
    outcome((row[0], row[1], row[1], "", row[4]))  # imports are not on trial
    begun = time.process_time()
    assert outcome(row) == row[3]
    assert time.process_time() - begun < 0.5
