"""A notebook that grades its own answer cells with drillgen."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from drillgen.pack.items import Item
from drillgen.worksheet.md import escape

_SETUP = '''\
# Run this first: it needs drillgen in the notebook's kernel (pip install drillgen).
from IPython.display import Markdown, display

from drillgen.instance import open_id
from drillgen.say import verdict_lines


def _open(id):
    return open_id(id.partition("#")[0]), id.partition("#")[2]


def check(id, answer):
    """Grade an answer and say how it was read; "" means not answered yet."""
    if not str(answer).strip():
        print("not answered yet")
        return None
    found, part = _open(id)
    verdict = found.grade(str(answer), part) if part else found.grade(str(answer))
    print("\\n".join(verdict_lines(verdict, _asked(id))))
    return verdict.verdict


def _asked(id):
    found, part = _open(id)
    problem = found.problem(True)
    return next(p for p in problem["parts"] if p["name"] == part) if part else problem


def hint(id, number=1):
    """Hint 1, 2 or 3."""
    display(Markdown(_asked(id)["hints"][number - 1]))


def solution(id):
    """The worked solution."""
    display(Markdown(_asked(id)["solution"]))
'''


def write(items: Sequence[Item], title: str) -> bytes:
    """nbformat 4.5, with cell ids that hang on the problems alone."""
    cells = [_cell("markdown", "title", f"# {escape(title)}"), _cell("code", "setup", _SETUP)]
    for number, item in enumerate(items, 1):
        cells.append(_cell("markdown", f"{number}/{item.id}/ask", _question(number, item)))
        source = f'answer = ""  # between the quotes\ncheck({json.dumps(item.id)}, answer)'
        cells.append(_cell("code", f"{number}/{item.id}/answer", source))
    notebook = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return (json.dumps(notebook, ensure_ascii=False, indent=1) + "\n").encode()


def _question(number: int, item: Item) -> str:
    lines = [f"### {number}. `{item.id}`", "", item.prompt, ""]
    lines += [f"- **{c.letter}.** {escape(c.text) if c.plain else c.text}" for c in item.choices]
    asked = item.asked or ("all right letters" if item.kind == "multi_choice" else "one letter")
    lines += ["", f"*{escape(asked)}*"]
    return "\n".join(lines)


def _cell(kind: str, key: str, source: str) -> dict[str, Any]:
    cell: dict[str, Any] = {
        "cell_type": kind,
        "id": blake2b(key.encode(), digest_size=8).hexdigest(),
        "metadata": {},
        "source": source.splitlines(keepends=True),
    }
    return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})
