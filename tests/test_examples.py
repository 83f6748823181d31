"""The example beside a question shows the form of an answer and never happens to be the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from drillgen import catalog
from drillgen.instance import make
from drillgen.scenario import make_scenario, scenarios
from grading.errors import Unreadable
from grading.kinds.base import Kind

DRILLS = [(card, drill) for card in catalog.cards() for drill in card.drills]


def examples(kind: Kind) -> list[str]:
    if kind.name == "multi_choice":
        return []  # letters: any of them may be right
    found = re.search(r"e\.g\. ([^(]*|\(.*)", kind.answer_format())
    return re.split(r" or ", found[1]) if found else []


def asked(kind: Any, answer: Any) -> Iterator[tuple[Kind, Any]]:
    if hasattr(kind, "parts"):
        for part, value in zip(kind.parts, answer, strict=True):
            yield part.kind, value
    else:
        yield kind, answer


def gives_away(kind: Kind, answer: Any) -> bool:
    for text in examples(kind):
        try:
            if kind.compare(kind.parse(text), answer).right:
                return True
        except Unreadable:
            continue
    return False


@pytest.mark.parametrize(("card", "drill"), DRILLS, ids=[drill.id for _, drill in DRILLS])
def test_no_example_is_the_answer(card: Any, drill: Any) -> None:
    seeds = 40 if drill.params else 1
    for seed in range(seeds):
        one = make(card, drill, seed)
        for kind, answer in asked(one.kind, one.answer):
            assert not gives_away(kind, answer), (one.id, kind.answer_format())


@pytest.mark.parametrize("name", sorted(scenarios()))
def test_nor_in_an_interview(name: str) -> None:
    for seed in range(10):
        for one in make_scenario(scenarios()[name], seed).parts.values():
            for kind, answer in asked(one.kind, one.answer):
                assert not gives_away(kind, answer), (name, seed, one.drill.id, kind.answer_format())


def test_the_examples_are_found() -> None:
    kinds = {kind.name for card, drill in DRILLS for kind, _ in asked(*_first(card, drill)) if examples(kind)}
    assert kinds >= {"number", "integer", "quantity", "vector", "matrix", "set", "shape"}


def _first(card: Any, drill: Any) -> tuple[Any, Any]:
    one = make(card, drill, 0)
    return one.kind, one.answer
