"""Sets: which drills and which seeds, from selectors and one seed text.

A set is a stream: `--count 20` begins with the problems of `--count 10`. It runs in rounds, each drill once a round in
a drawn order, so that every stretch of it is spread over the drills; equal problems are avoided while a drill has
others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from drillgen import catalog
from drillgen.ids import MAX_SEED, Secret
from drillgen.instance import Instance, make, plain
from drillgen.output import Refused
from drillgen.scenario import Scenario, ScenarioInstance, make_scenario, scenario
from solvers.draws import Draws
from solvers.drill import Card, Drill
from solvers.errors import Unknown

ATTEMPTS = 60
"""Seeds tried for a problem that the set does not hold yet, before the drill counts as exhausted."""

CHAINS = {
    "softmax": (2, 4, 5, 15),
    "scale": (3, 16, 18),
    "cost": (11, 12, 13, 14),
    "expressiveness": (1, 8, 10, 17),
    "order": (6, 7),
}
"""Cards that are one argument continued."""

KINDS = (
    "number", "integer", "quantity", "vector", "matrix", "shape", "set", "choice", "multi_choice", "table", "parts",
    "expression", "indexed", "matrix_expression",
)  # fmt: skip


Choice = tuple[Card, Drill] | Scenario
Drawn = Instance | ScenarioInstance


class Exhausted(Refused):
    """A set that was to hold no problem twice has no more problems (exit 3)."""


class NoDrill(Unknown):
    """Selectors that no drill meets together, or a range of cards that runs backwards."""

    def __init__(self, why: str) -> None:
        super().__init__("selection", "", ())
        self.args = (why,)


@dataclass(frozen=True)
class Selection:
    """What a set is drawn from; empty means everything."""

    cards: tuple[str, ...] = ()
    drills: tuple[str, ...] = ()
    stars: tuple[int, ...] = ()
    kinds: tuple[str, ...] = ()
    chain: str = ""
    moves: tuple[str, ...] = ()

    def chosen(self) -> list[Choice]:
        """The drills that meet every selector, in catalogue order, then the named scenarios.

        Scenarios come in by name only (--drill scenario.fit_on_one_gpu). Unknown names raise `Unknown`.
        """
        named = [scenario(d) for d in self.drills if d.startswith("scenario.")]
        drills = [d for d in self.drills if not d.startswith("scenario.")]
        if named and not (drills or self.cards or self.chain):
            return [*named]
        return [*self._drills(drills), *named]

    def _words(self) -> str:
        """The selectors as they are typed."""
        pairs = [("card", self.cards), ("drill", self.drills), ("stars", self.stars), ("kind", self.kinds)]
        words = [f"--{name} {value}" for name, values in pairs for value in values]
        return " ".join([*words, *([f"--chain {self.chain}"] if self.chain else []), *self.moves])

    def _drills(self, ids: Sequence[str]) -> list[tuple[Card, Drill]]:
        for kind in self.kinds:
            if kind not in KINDS:
                raise Unknown("kind", kind, KINDS)
        numbers = {n for text in self.cards for n in card_numbers(text)}
        if self.chain:
            if self.chain not in CHAINS:
                raise Unknown("chain", self.chain, CHAINS)
            numbers = (numbers or set(CHAINS[self.chain])) & set(CHAINS[self.chain])
        named = [catalog.drill(d) for d in ids]
        if named and not numbers:
            pool = list({d.id: (c, d) for c, d in named}.values())
        else:
            wanted = [catalog.by_slug(s) for n, s in catalog.slugs().items() if not numbers or n in numbers]
            pool = [(c, d) for c in wanted for d in c.drills]
            if named:
                wanted_ids = {d.id for _, d in named}
                pool = [(c, d) for c, d in pool if d.id in wanted_ids]
        pool = [
            (c, d)
            for c, d in pool
            if (not self.stars or d.stars in self.stars)
            and (not self.kinds or d.answer.name in self.kinds)
            and (not self.moves or set(self.moves) & set(d.moves))
        ]
        if not pool:
            raise NoDrill(f"no drill is all of this at once: {self._words()}")
        return pool


def card_numbers(text: str) -> list[int]:
    """Numbers of the cards that one selector names: 13, kv_cache, c13_kv_cache, 1-7,13."""
    out: list[int] = []
    for piece in text.split(","):
        low, dash, high = (end.strip() for end in piece.partition("-"))
        if dash and low.isdecimal() and high.isdecimal():
            first, last = catalog.card(low).number, catalog.card(high).number
            if first > last:
                raise NoDrill(f"{piece.strip()!r} is no range of cards: the lower number comes first, e.g. 3-7")
            out += range(first, last + 1)
        else:
            out.append(catalog.card(piece).number)
    return out


@dataclass
class Stream:
    """An endless stream of instances for one seed text."""

    chosen: Sequence[Choice]
    seed: str
    secret: Secret | None = None
    unique: bool = False
    balanced: bool = False
    on_repeat: Callable[[str], None] | None = None
    _seen: set[bytes] = field(default_factory=set)
    _spent: set[str] = field(default_factory=set)

    def __iter__(self) -> Iterator[Drawn]:
        draws = Draws(f"set/{self.seed}")
        order = _balanced if self.balanced else Draws.shuffled
        while True:
            for choice in order(draws, self.chosen):
                found = self._next(choice, draws)
                if found is not None:
                    yield found
            if self.unique and len(self._spent) == len(self.chosen):
                raise Exhausted(
                    f"the selected drills have no more than {_problems(len(self._seen))}; "
                    "ask for fewer, select more drills, or drop --unique"
                )

    def _next(self, choice: Choice, draws: Draws) -> Drawn | None:
        # One draw from the set's stream a problem, so that what one drill rejects never shifts the others.
        drill = choice if isinstance(choice, Scenario) else choice[1]
        seeds = Draws(f"{draws.unit()!r}/{drill.id}")
        first: Drawn | None = None
        for _ in range(1 if drill.id in self._spent and not self.unique else ATTEMPTS):
            found = self._make(choice, seeds.integer(0, MAX_SEED))
            first = first or found
            mark = fingerprint(found)
            if mark not in self._seen:
                self._seen.add(mark)
                return found
        if drill.id not in self._spent:
            self._spent.add(drill.id)
            if self.on_repeat and not self.unique:
                self.on_repeat(drill.id)
        return None if self.unique else first

    def _make(self, choice: Choice, seed: int) -> Drawn:
        if isinstance(choice, Scenario):
            return make_scenario(choice, seed, self.secret)
        return make(*choice, seed, self.secret)


def _problems(count: int) -> str:
    return f"{count:,} different problem{'' if count == 1 else 's'}"


def _balanced(draws: Draws, chosen: Sequence[Choice]) -> list[Choice]:
    """A drawn order in which every stretch is spread over cards, kinds, moves and stars.

    Greedy: next comes the drill (first in a drawn order among equals) whose features the order has used least.
    """
    left, used, out = draws.shuffled(chosen), dict[str, int](), list[Choice]()
    while left:
        best = min(left, key=lambda choice: sum(used.get(f, 0) for f in _features(choice)))
        left.remove(best)
        out.append(best)
        for feature in _features(best):
            used[feature] = used.get(feature, 0) + 1
    return out


def _features(choice: Choice) -> tuple[str, ...]:
    if isinstance(choice, Scenario):
        return (f"card {choice.cards[0]}", "parts", f"stars {choice.stars}", *choice.moves)
    card, drill = choice
    return (f"card {card.number}", drill.answer.name, f"stars {drill.stars}", *drill.moves)


def fingerprint(instance: Drawn) -> bytes:
    """What makes two problems equal: the drill and its values (options in any order)."""
    if isinstance(instance, ScenarioInstance):
        return blake2b(b"".join(fingerprint(one) for one in instance.parts.values()), digest_size=8).digest()
    values = {k: sorted(v) if k == "options" else v for k, v in instance.values.items() if k in instance.drill.params}
    text = json.dumps([instance.drill.id, plain(values)], sort_keys=True)
    return blake2b(text.encode(), digest_size=8).digest()


def take(stream: Stream, count: int | None = None, minutes: int | None = None) -> Iterator[Drawn]:
    """The first `count` problems, or as many as fill a time budget (at least one)."""
    spent, passed = 0, 0
    for number, instance in enumerate(stream, 1):
        if minutes is not None:
            if spent and spent + instance.minutes > minutes:
                passed += 1
                if spent + 5 > minutes or passed > 200:
                    return
                continue  # too long for what is left; a shorter one may still fit
            spent += instance.minutes
        yield instance
        if minutes is None and number == count:
            return
