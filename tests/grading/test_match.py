"""Rows that bring their own key."""

from __future__ import annotations

import doctest
import json
import threading
import time
from typing import Any

import pytest

import grading.match
from grading.match import match, match_row


def test_the_example_of_the_docstring() -> None:
    assert doctest.testmod(grading.match).failed == 0


BAD_ROWS = [
    None,
    [],
    "row",
    {},
    {"kind": "number", "key": "1"},
    {"kind": "number", "answer": "1"},
    {"kind": "sonnet", "key": "1", "answer": "1"},
    {"kind": "parts", "key": "1", "answer": "1"},
    {"kind": 3, "key": "1", "answer": "1"},
    {"kind": "number", "key": 1, "answer": "1"},
    {"kind": "number", "key": "1", "answer": 1},
    {"kind": "number", "key": "1", "answer": None},
]


@pytest.mark.parametrize("row", BAD_ROWS, ids=repr)
def test_rows_that_are_no_rows(row: Any) -> None:
    verdict = match_row(row)
    assert verdict["status"] == "bad_row"
    assert verdict["verdict"] is None
    assert verdict["score"] is None
    assert verdict["detail"]


BAD_KEYS = [
    {"kind": "number", "key": "x"},
    {"kind": "number", "key": ""},
    {"kind": "number", "key": "1/0"},
    {"kind": "number", "key": "9" * 3000},
    {"kind": "number", "key": "1", "tolerance": {"rel": -1}},
    {"kind": "number", "key": "1", "tolerance": {"rel": "1"}},
    {"kind": "number", "key": "1", "tolerance": {"sig": 2.5}},
    {"kind": "number", "key": "1", "tolerance": {"sig": 0}},
    {"kind": "number", "key": "1", "tolerance": {"exact": False}},
    {"kind": "number", "key": "1", "tolerance": {"loose": 1}},
    {"kind": "number", "key": "1", "tolerance": [0.01]},
    {"kind": "number", "key": "1", "tolerance": {}},
    {"kind": "number", "key": "1", "tolerance": {"rel": float("nan")}},
    {"kind": "quantity", "key": "5 fortnights"},
    {"kind": "vector", "key": "(1, 2"},
    {"kind": "vector", "key": "[[1, 2], [3, 4]]"},
    {"kind": "matrix", "key": "[[1, 2], [3]]"},
    {"kind": "set", "key": "{1; 3)"},
    {"kind": "expression", "key": "x +", "symbols": ["x"]},
    {"kind": "expression", "key": "x", "symbols": {"x": "sometimes"}},
    {"kind": "expression", "key": "x", "symbols": 3},
    {"kind": "expression", "key": "x", "symbols": {"x": 3}},
]


@pytest.mark.parametrize("row", BAD_KEYS, ids=lambda row: json.dumps(row)[:60])
def test_keys_that_cannot_be_used(row: dict[str, Any]) -> None:
    verdict = match_row({"id": "k", "answer": "1", **row})
    assert verdict["status"] == "bad_key", verdict
    assert verdict["verdict"] is None
    assert verdict["id"] == "k"


def test_tolerances_that_are_equal_as_python_values_stay_apart() -> None:
    assert match(kind="number", key="10", answer="10.4", tolerance={"rel": 1}).right
    assert match(kind="number", key="10", answer="10.4", tolerance={"rel": True}).status == "bad_key"
    assert match(kind="number", key="10", answer="10.4", tolerance={"sig": 2}).right
    assert match(kind="number", key="10", answer="10.4", tolerance={"sig": 2.0}).status == "bad_key"


@pytest.mark.parametrize(
    ("tolerance", "key", "inside", "outside"),
    [
        ({"abs": 0.0005}, "0.5765", "0.577", "0.57701"),
        ({"rel": 0.01}, "100", "101", "101.0000001"),
        ({"rel": 0.01, "abs": 0.5}, "100", "101.5", "101.51"),
        ({"sig": 3}, "1.234", "1.235", "1.24"),
        ({"sig": 3}, "1234", "1239", "1240"),
        ({"exact": True}, "1/3", "2/6", "0.3333333333333333"),
        ({"equivalent": True}, "sqrt(2)/2", "1/sqrt(2)", "0.70710678118654752"),
        (None, "0.1", "1/10", "0.1000000000000000055511151231257827"),
    ],
)
def test_tolerances_are_inclusive_and_exact(tolerance: Any, key: str, inside: str, outside: str) -> None:
    assert match(kind="number", key=key, answer=inside, tolerance=tolerance).verdict == "right"
    assert match(kind="number", key=key, answer=outside, tolerance=tolerance).verdict == "wrong"


def test_a_declared_name_in_a_number_is_wrong_and_an_unknown_one_unreadable() -> None:
    row = {"kind": "number", "key": "3", "symbols": ["x"]}
    assert match_row({**row, "answer": "3 + x"})["verdict"] == "wrong"
    assert match_row({**row, "answer": "3 + y"})["status"] == "invalid"


def test_threads_agree() -> None:
    answers = [f"{n / 7:.9g}" for n in range(200)]
    expected = [match(kind="number", key="1", answer=text, tolerance={"rel": 0.5}).verdict for text in answers]
    found: list[list[Any]] = []

    def work() -> None:
        found.append([match(kind="number", key="1", answer=text, tolerance={"rel": 0.5}).verdict for text in answers])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


def test_verdicts_are_json() -> None:
    verdict = match_row(
        {"id": {"any": ["thing"]}, "kind": "number", "key": "2", "answer": "4", "tolerance": {"rel": 0.01}}
    )
    assert json.loads(json.dumps(verdict)) == verdict
    assert verdict["id"] == {"any": ["thing"]}
    assert verdict["findings"] == [{"id": "factor_2", "text": "A factor 2 too large."}]


@pytest.mark.parametrize(
    ("key", "answer", "outcome"),
    [
        ("2^26", "x = 2^26 = 67108864", "right"),
        ("67108864", "2*3 = 7", "invalid"),
        ("3", "7 = 3", "invalid"),
        ("0.576", "p ≈ 0.576", "right"),
        ("0.576", r"\boxed{0.576}", "right"),
        ("30", "at most 30", "right"),
        ("0.5", "~ 0.5", "right"),
        ("10", r"\sum_{i=1}^{4} i", "right"),
        ("6", r"\prod_{i=1}^{3} i", "right"),
        ("0.1", "1 - 90%", "right"),
        ("131072", "131,072 tokens", "right"),
        ("131072", "128 KiB", "wrong"),
    ],
)
def test_dressed_numbers(key: str, answer: str, outcome: str) -> None:
    verdict = match(kind="number", key=key, answer=answer, tolerance={"rel": 0.001})
    assert (verdict.verdict or verdict.status) == outcome


@pytest.mark.parametrize(
    ("kind", "key", "answer"),
    [
        ("quantity", "1 B", "1" + " B" * 40),
        ("number", "1", " " * 1900 + "K"),
        ("number", "1", "1/" + " " * 1900 + "!"),
        ("number", "1", "1" + "/40961" * 300),
        ("set", "{1}", "1" + " " * 1900 + "z"),
        ("vector", "(1, 2)", "1 + " * 480 + "1"),
        ("shape", "(1, 2)", "2" + " " * 1900 + "x"),
        ("choice", "B", "a" + " " * 1900 + "z"),
        ("expression", "x", "(" * 59 + "x" + ")" * 59),
        ("expression", "x", "x" * 1999),
        ("expression", "x", "x+" * 199 + "x"),
    ],
)
def test_texts_that_once_were_slow(kind: str, key: str, answer: str) -> None:
    row = {"kind": kind, "key": key, "symbols": ["x"] if kind == "expression" else None}
    match_row({**row, "answer": key})
    begun = time.process_time()
    assert match_row({**row, "answer": answer})["status"] in ("graded", "invalid")
    assert time.process_time() - begun < 1.0


@pytest.mark.parametrize(
    ("key", "answer"), [("1e400", "0.06%"), ("4096^-60", "2"), ("1", "1e-320"), ("1e-320", "1e-319")]
)
def test_numbers_beyond_floats(key: str, answer: str) -> None:
    assert match(kind="number", key=key, answer=answer, tolerance={"rel": 0.01}).verdict == "wrong"
    assert match(kind="number", key=key, answer=key, tolerance={"rel": 0.01}).verdict == "right"
