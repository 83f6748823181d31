"""Rows that datasets, lm-eval, TRL and verifiers read without change: flat, the same keys and types on every line.

`prompt` is a list of one message (TRL, verifiers), `question` its text (lm-eval, reasoning-gym's habit), `answer` the
key as a person types it, `metadata` a JSON string, since nested objects of varying shape break Arrow's inference.
The split stands in every row and in the name that lm-eval's `data_files` gives the file.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from drillgen.pack.items import Item

SPLIT = "test"


def write(items: Sequence[Item], title: str) -> bytes:
    """One row a line; `title` names the task."""
    return "".join(json.dumps(row(item, title), ensure_ascii=False) + "\n" for item in items).encode()


def question(item: Item) -> str:
    """The prompt with its options and how to answer, as one text."""
    lines = [item.prompt]
    if item.choices:
        lines.append("\n".join(f"{choice.letter}. {choice.text}" for choice in item.choices))
    several = item.kind == "multi_choice"
    wanted = ("the letters of all right options" if several else "one letter") if item.choices else item.asked
    lines.append(f"Answer with {wanted}.")
    return "\n\n".join(lines)


def answer(item: Item) -> str:
    """The key: letters where there are options, else as a person types it."""
    if item.choices:
        return ", ".join(choice.letter for choice in item.choices if choice.right) or "none"
    return item.show


def row(item: Item, title: str) -> dict[str, object]:
    """One row."""
    problem = item.problem
    metadata = {
        "schema": problem["schema"], "title": title, "params": problem["params"], "value": item.value,
        "unit": item.unit, "tolerance": problem["tolerance"], "moves": problem["moves"],
        "precision": problem["precision"], "hints": problem["hints"],
        "slips": [{"id": s.id, "value": s.value, "show": s.show, "remark": s.remark} for s in item.slips],
    }  # fmt: skip
    metadata |= {name: problem[name] for name in ("symbols", "arrays", "shapes", "options", "parts") if name in problem}
    return {
        "id": item.id, "drill": problem["drill"], "version": problem["version"], "seed": problem["seed"],
        "card": problem["card"], "stars": problem["stars"], "minutes": problem["minutes"], "kind": item.kind,
        "split": SPLIT, "question": question(item), "prompt": [{"role": "user", "content": question(item)}],
        "answer": answer(item), "solution": item.solution,
        "metadata": json.dumps(metadata, ensure_ascii=False, sort_keys=True),
    }  # fmt: skip
