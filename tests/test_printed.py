"""A number that a problem prints is the number that was drawn, not a rounding of it: else the key answers another
problem than the one on paper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from drillgen import catalog
from drillgen.instance import make

DRILLS = [(card, drill) for card in catalog.cards() for drill in card.drills if drill.params]
NEAR = 2e-3
"""Closer than this (relative) to a drawn number, a printed one is meant to be it."""


def drawn(value: Any) -> Iterator[float]:
    if isinstance(value, list | tuple):
        for item in value:
            yield from drawn(item)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield float(value)


def printed(problem: dict[str, Any]) -> set[float]:
    texts = [problem["prompt"], *(option["text"] for option in problem.get("options", []))]
    plain = re.sub(r"(?<=\d),(?=\d{3}\b)", "", " ".join(texts).replace("{,}", ""))
    powers = {float(m) * 10.0 ** int(e) for m, e in re.findall(r"([\d.]+) \\times 10\^\{(-?\d+)\}", plain)}
    return {abs(float(number)) for number in re.findall(r"\d+(?:\.\d+)?", plain)} | powers


@pytest.mark.parametrize(("card", "drill"), DRILLS, ids=[drill.id for _, drill in DRILLS])
def test_printed_numbers_are_exact(card: Any, drill: Any) -> None:
    for seed in range(40):
        one = make(card, drill, seed)
        shown = printed(one.problem())
        for name in drill.params:
            for value in map(abs, drawn(one.values[name])):
                close = [x for x in shown if abs(x - value) <= NEAR * value]
                assert not close or any(abs(x - value) <= 1e-9 * value for x in close), (one.id, name, value, close)
