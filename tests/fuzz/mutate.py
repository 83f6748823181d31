"""Seeded mutation of answers: characters, pieces and whole tokens of the case files, cut, doubled, swapped, spliced."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CASES = Path(__file__).parent.parent / "cases"
PIECES = (
    *[
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "|",
        "^",
        "_",
        "!",
        "%",
        ",",
        ";",
        ":",
        ".",
        "'",
        "=",
        "<",
        ">",
        "!=",
        "<=",
        "+",
        "-",
        "*",
        "/",
        "**",
        "//",
        "@",
    ],
    *["√", "∛", "½", "²", "⁻¹", "ᵀ", "·", "×", "÷", "−", "–", "∘", "⊙", "∞", "∅", "Σ_r", "х", "ℯ", "①", "𝑥", "￼"],
    *(
        r"\sum_{j \ne i}",
        r"\frac",
        r"\frac12",
        r"\sqrt[3]",
        r"\left(",
        r"\right)",
        r"\begin{pmatrix}",
        r"\end{pmatrix}",
    ),
    *(r"\\", "&", r"\text{", r"\operatorname{", r"\,", "$", "1[i=j]", "delta_ij", "sum_r", "delta_{", "p_{", "log_{"),
    *("e", "pi", "ln", "exp", "sqrt", "max(", "log_2", ".T", ".sum(axis=1)", "np.", "1e5", "1e400", "0x1", "1_000"),
    *("1,024", "9999999999", "KiB", "ms", "tokens/s", "per", "and", "or", "none", "nan", "inf", "..", " "),
    *("\x00", "\u202e", "\u200b", "\ud800"),
)


def corpus() -> list[dict[str, Any]]:
    """The rows of the case files."""
    rows = []
    for name in ("peers.jsonl", "domain.jsonl"):
        with (CASES / name).open(encoding="utf-8") as lines:
            rows += [json.loads(line) for line in lines if line.strip()]
    return rows


def hostile() -> list[str]:
    """The hostile texts, cut to a size that splicing can use."""
    texts = []
    with (CASES / "hostile.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            texts.append(row["input"] if row["input"] is not None else "".join(p * min(n, 80) for p, n in row["gen"]))
    return texts


def mutants(seed: str, count: int) -> Iterator[dict[str, Any]]:
    """Rows with a mutated answer, now and then a mutated key, the same for the same seed."""
    rng = random.Random(seed)
    rows, splices = corpus(), hostile()
    answers = [row["answer"] for row in rows]
    for _ in range(count):
        row = dict(rng.choice(rows))
        field = "key" if rng.random() < 0.1 else "answer"
        text = row[field]
        for _ in range(rng.choice((1, 1, 2, 3, 6))):
            text = mutated(text, rng, answers, splices)
        row[field] = text[:2500]
        yield row


def mutated(text: str, rng: random.Random, answers: list[str], splices: list[str]) -> str:
    """One change."""
    at = rng.randrange(len(text) + 1)
    end = min(len(text), at + rng.randrange(1, 8))
    match rng.randrange(9):
        case 0:
            return text[:at] + text[end:]
        case 1:
            return text[:at] + rng.choice(PIECES) + text[at:]
        case 2:
            return text[:at] + rng.choice(PIECES) + text[end:]
        case 3:
            return text[:end] + text[at:]
        case 4:
            other = rng.choice(answers)
            return text[:at] + other[rng.randrange(len(other) + 1) :]
        case 5:
            return text[:at] + text[at:end] * rng.choice((2, 3, 40)) + text[end:]
        case 6:
            return rng.choice(splices) if rng.random() < 0.3 else text[:at] + rng.choice(splices)[:60]
        case 7:
            return "".join(reversed(text[at:end])) + text[:at] + text[end:]
        case _:
            return text.replace(" ", rng.choice(("", "  ", "\n", "\t")), 2)


SLOWEST = 1.0
"""CPU seconds: five times what the grader promises, since first imports and busy machines count here; a hang still
shows. The promise itself is measured by the benchmarks."""


def judged(row: dict[str, object]) -> None:
    """One row: an answer in time, of a known status, that can be written and shown."""
    from grading.match import match_row

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
