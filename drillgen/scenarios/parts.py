"""The words in which scenarios are written down: questions and what binds their parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drillgen.instance import Instance
from drillgen.scenario import Bind, Follow, Part, Scenario
from solvers.draws import Draws

Values = Mapping[str, Any]


Question = tuple[str, str, Bind, tuple[str, ...], Follow | None]


def scenario(
    name: str,
    cards: tuple[int, ...],
    prompt: str,
    questions: Sequence[Question],
    points: tuple[str, ...],
    draw: Any = lambda draws: {},
) -> Scenario:
    """A scenario whose parts are named a, b, c … in order."""
    parts = tuple(
        Part(letter, drill, ask, bind, needs, follow)
        for letter, (drill, ask, bind, needs, follow) in zip("abcdefghijkl", questions, strict=False)
    )
    return Scenario(f"scenario.{name}", cards, prompt, parts, points, draw)


def free(shared: Values, earlier: Mapping[str, Instance]) -> Values:
    """Nothing is bound."""
    del shared, earlier
    return {}


def fixed(**values: Any) -> Bind:
    """Parameters with stated values."""
    return lambda shared, earlier: values


def drawn(*names: str, **values: Any) -> Bind:
    """Parameters that the scenario draws once, and stated values."""
    return lambda shared, earlier: {**{n: shared[n] for n in names}, **values}


def same(part: str, *names: str, **values: Any) -> Bind:
    """Parameters taken over from an earlier part, and stated values."""
    return lambda shared, earlier: {**{n: earlier[part].values[n] for n in names}, **values}


def ask(
    drill: str, words: str, bind: Bind = free, needs: tuple[str, ...] = (), follow: Follow | None = None
) -> Question:
    """One question."""
    return drill, words, bind, needs, follow


def simplex(draws: Draws, count: int, tenths: int = 10) -> list[float]:
    """`count` positive multiples of 1/tenths that sum to one."""
    cuts = sorted(draws.sample(range(1, tenths), count - 1))
    return [(b - a) / tenths for a, b in zip([0, *cuts], [*cuts, tenths], strict=True)]


def also(bind: Bind, **values: Any) -> Bind:
    """A bind and stated values."""
    return lambda shared, earlier: {**bind(shared, earlier), **values}
