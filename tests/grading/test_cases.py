"""Every row of the case files: other systems' own tests, our field, and hostile input."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from grading.match import match_row

CASES = Path(__file__).parent.parent / "cases"

MISTAKEN: dict[str, str] = {}
"""Rows judged mistaken, with the reason. None so far."""


def rows(name: str) -> list[dict[str, Any]]:
    with (CASES / name).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def outcome(verdict: dict[str, Any]) -> str:
    return str(verdict["verdict"] if verdict["status"] == "graded" else verdict["status"])


@pytest.mark.parametrize("file", ["peers.jsonl", "domain.jsonl"])
def test_expected_verdicts(file: str) -> None:
    differing = []
    for row in rows(file):
        verdict = match_row(row)
        if outcome(verdict) != row["expect"] and row["id"] not in MISTAKEN:
            differing.append((row["id"], row["key"], row["answer"], row["expect"], outcome(verdict), verdict))
    assert not differing


def test_no_expression_of_the_cases_ends_undecided() -> None:
    for row in rows("domain.jsonl"):
        assert match_row(row).get("method") != "undecided", row


def test_ids_are_echoed() -> None:
    row = rows("peers.jsonl")[0]
    assert match_row(row)["id"] == row["id"]


HOSTILE_KEYS: list[tuple[str, str, dict[str, Any]]] = [
    ("number", "1", {"tolerance": {"rel": 0.01}}),
    ("integer", "1", {}),
    ("quantity", "1 B", {"tolerance": {"rel": 0.01}}),
    ("vector", "(1, 3)", {}),
    ("matrix", "[[1, 3], [2, 4]]", {}),
    ("shape", "(1, 3)", {}),
    ("set", "{1}", {}),
    ("choice", "B", {}),
    ("expression", "1", {"symbols": ["x", "y", "z", "w"], "tolerance": {"equivalent": True}}),
    ("indexed", "p_i", {"arrays": {"p": "simplex"}, "tolerance": {"equivalent": True}}),
    ("matrix_expression", "P V", {"shapes": {"P": ["T", "T"], "V": ["T", "d"]}, "tolerance": {"equivalent": True}}),
]
ONE = {"--1"}
"""The only hostile texts that are 1."""


def text_of(row: dict[str, Any]) -> str:
    return row["input"] if row["input"] is not None else "".join(piece * count for piece, count in row["gen"])


@pytest.mark.parametrize(("kind", "key", "extra"), HOSTILE_KEYS, ids=[kind for kind, _, _ in HOSTILE_KEYS])
def test_hostile_input(
    kind: str, key: str, extra: dict[str, Any], capfd: pytest.CaptureFixture[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    match_row({"kind": kind, "key": key, "answer": key, **extra})  # imports and the key are not on trial
    for row in rows("hostile.jsonl"):
        text = text_of(row)
        begun = time.process_time()
        verdict = match_row({"id": row["id"], "kind": kind, "key": key, "answer": text, **extra})
        assert time.process_time() - begun < 1.0, row["id"]
        assert verdict["status"] in ("graded", "invalid"), (row["id"], verdict)
        if verdict["verdict"] == "right":
            assert text in ONE, (row["id"], text, verdict)
        shown = json.dumps(verdict, ensure_ascii=False)
        assert all(char.isprintable() for char in shown), row["id"]
        assert "Traceback" not in shown
    assert not list(tmp_path.iterdir())
    out, err = capfd.readouterr()
    assert "HI_EXECUTED" not in out + err
