"""Drills that ask which of several statements are right: a pool of statements, each true or false for a reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from grading.kinds.multi_choice import MultiChoice
from grading.kinds.option import Option
from solvers.domains import Domain, Values
from solvers.draws import Draws
from solvers.drill import Drill, Slip
from solvers.errors import Unknown


class Statement(NamedTuple):
    """key: the catalogue's. text: a sentence that an expert cannot misread (Markdown, LaTeX). reason: a sentence."""

    key: str
    text: str
    true: bool
    reason: str


class Pick(Domain):
    """All of `always` and `count` of `pool`, in a drawn order."""

    def __init__(self, always: tuple[str, ...], pool: tuple[str, ...], count: int) -> None:
        self.always, self.pool, self.count = always, pool, count

    def draw(self, draws: Draws, so_far: Values) -> list[str]:
        return draws.shuffled([*self.always, *draws.sample(self.pool, self.count)])

    def read(self, text: str, name: str) -> Any:
        keys = [k.strip(" \"'") for k in text.strip("[]").split(",")]
        for key in keys:
            if key not in (*self.always, *self.pool):
                raise Unknown(name, key, (*self.always, *self.pool))
        return list(dict.fromkeys(keys))

    def size(self) -> float:
        from math import comb

        return comb(len(self.pool), self.count)


class Table:
    """The statements of one drill by key; gives the functions that a drill needs."""

    def __init__(self, statements: Sequence[Statement]) -> None:
        self.statements: Mapping[str, Statement] = {s.key: s for s in statements}

    def true_of(self, options: Sequence[str]) -> list[str]:
        """The right keys among the options, ascending."""
        return sorted(k for k in options if self.statements[k].true)

    def options_of(self, options: Sequence[str]) -> list[Option]:
        """The options in their order, with their sentences and reasons."""
        return [
            Option(k, self.statements[k].text, self.statements[k].reason) for k in options
        ]  # fmt: skip


def plus(answer: Sequence[str], options: Sequence[str], *keys: str) -> list[str]:
    """The answer with wrong members added, as far as they are options."""
    return sorted({*answer, *(k for k in keys if k in options)})


def minus(answer: Sequence[str], *keys: str) -> list[str]:
    """The answer with right members left out."""
    return sorted(set(answer) - set(keys))


def statement_drill(
    id: str,
    asks: str,
    stars: int,
    moves: tuple[str, ...],
    statements: Sequence[Statement],
    always: tuple[str, ...],
    count: int,
    slips: tuple[Slip, ...],
) -> Drill:
    """A drill over statements: parameter `options` (keys in the order shown), answer the true ones."""
    table = Table(statements)
    pool = tuple(k for k in table.statements if k not in always)
    return Drill(
        id=id, asks=asks, stars=stars, moves=moves,
        params={"options": Pick(always, pool, count)},
        solve=lambda options: table.true_of(options),  # noqa: PLW0108 - called by parameter name
        options=lambda options: table.options_of(options),  # noqa: PLW0108
        answer=MultiChoice(),
        steps=lambda answer: {"right": answer},
        slips=slips,
    )  # fmt: skip
