"""Scenarios: interviews in parts that share parameters and build on earlier results.

A scenario is one problem of kind `parts`. Each part is a drill whose parameters are partly bound: to parameters that
the scenario draws once, or to results of earlier parts. A part whose result rests on an earlier one says how to work
its answer out from what the learner gave there (`follow`), so that a wrong start is not punished twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from drillgen import catalog, ids
from drillgen.instance import SCHEMA, Instance, make
from solvers.draws import Draws
from solvers.errors import Unknown

if TYPE_CHECKING:
    from grading.verdict import Verdict

Bind = Callable[[Mapping[str, Any], Mapping[str, Instance]], Mapping[str, Any]]
"""(what the scenario drew, earlier parts by name) -> parameters of this part that are fixed by it."""

Follow = Callable[[Mapping[str, Any], Mapping[str, Any]], Any]
"""(this part's values, the learner's values of earlier parts by name) -> the answer that follows from them.

Returns None where nothing follows: an earlier value is missing, or leaves the valid domain.
"""


@dataclass(frozen=True)
class Part:
    """One question. name: a, b, c … drill: its id. ask: the interviewer's lead-in, one sentence. needs: the earlier
    parts whose results `follow` starts from."""

    name: str
    drill: str
    ask: str
    bind: Bind = field(default=lambda shared, earlier: {})
    needs: tuple[str, ...] = ()
    follow: Follow | None = None


@dataclass(frozen=True)
class Scenario:
    """id: scenario.whiteboard_attention. draw: the parameters drawn once. points: what a strong answer touches."""

    id: str
    cards: tuple[int, ...]
    prompt: str
    parts: tuple[Part, ...]
    points: tuple[str, ...]
    draw: Callable[[Draws], Mapping[str, Any]] = field(default=lambda draws: {})
    version: int = 1

    @property
    def name(self) -> str:
        """The id without `scenario.`."""
        return self.id.partition(".")[2]

    @property
    def stars(self) -> int:
        """The hardest part's stars."""
        return max(catalog.drill(p.drill)[1].stars for p in self.parts)

    @property
    def moves(self) -> tuple[str, ...]:
        """The moves of all parts, in order of appearance."""
        return tuple(dict.fromkeys(m for p in self.parts for m in catalog.drill(p.drill)[1].moves))

    @property
    def minutes(self) -> int:
        """The parts' minutes together."""
        return sum(catalog.drill(p.drill)[1].minutes for p in self.parts)


@dataclass(frozen=True, eq=False)
class ScenarioInstance:
    """A scenario with a seed: its parts as instances, in order."""

    id: str
    scenario: Scenario
    seed: int
    parts: Mapping[str, Instance]

    @property
    def minutes(self) -> int:
        """The time that all parts are meant to take."""
        return self.scenario.minutes

    def problem(self, answers: bool = False) -> dict[str, Any]:
        """One problem of kind parts; each entry of `parts` is a whole problem with its `name` and `group`."""
        found = []
        for part in self.scenario.parts:
            one = self.parts[part.name].problem(answers)
            one["prompt"] = f"{part.ask}\n\n{one['prompt']}" if part.ask else one["prompt"]
            found.append({"name": part.name, **one})
        scenario = self.scenario
        out: dict[str, Any] = {
            "schema": SCHEMA, "id": self.id, "drill": scenario.id, "version": scenario.version, "seed": self.seed,
            "card": scenario.cards[0], "cards": list(scenario.cards), "stars": scenario.stars,
            "moves": list(scenario.moves), "minutes": scenario.minutes, "kind": "parts", "params": {},
            "prompt": scenario.prompt, "answer_format": "one answer for each part",
            "precision": "as each part says", "tolerance": {"exact": True}, "hints": [], "parts": found,
        }  # fmt: skip
        if answers:
            out["answer"] = {
                "value": [p["answer"]["value"] for p in found],
                "show": "; ".join(f"{p['name']} = {p['answer']['show']}" for p in found),
            }
            out["slips"] = []
            out["solution"] = "\n\n".join(
                [f"**({p['name']})**{_gap(p['solution'])}{p['solution']}" for p in found]
                + ["A strong answer touches: " + "; ".join(scenario.points) + "."]
            )
        return out

    def grade(
        self,
        text: str,
        part: str | None = None,
        decimal_comma: bool = False,
        given: Mapping[str, str] | None = None,
    ) -> Verdict:
        """The verdict on one part, or on all parts typed in one text (`a = …; b = …`, or in order).

        given: what the learner answered to other parts, for follow-through.
        """
        from drillgen.follow import grade_all, grade_part

        if part is None:
            return grade_all(self, text, decimal_comma)
        if part not in self.parts:
            raise Unknown(f"part of {self.id}", part, self.parts)
        return grade_part(self, part, text, given or {}, decimal_comma)


def _gap(solution: str) -> str:
    """What parts a letter from its solution: a list begins on a line of its own."""
    return "\n\n" if solution.startswith("- ") else " "


@cache
def scenarios() -> dict[str, Scenario]:
    """All scenarios by id."""
    from drillgen.scenarios import ALL

    return {s.id: s for s in ALL}


def scenario(name: str) -> Scenario:
    """A scenario by id or bare name."""
    id = name if name.startswith("scenario.") else f"scenario.{name}"
    try:
        return scenarios()[id]
    except KeyError:
        bare = name.removeprefix("scenario.")
        raise Unknown("scenario", bare, [s.name for s in scenarios().values()]) from None


def make_scenario(found: Scenario, seed: int, secret: ids.Secret | None = None) -> ScenarioInstance:
    """The scenario of a seed: shared parameters first, then the parts in order, each on a stream of its own."""
    key = ids.draw_key(found.id, found.version, seed, secret)
    shared = found.draw(Draws(key))
    name = ids.spell(found.id, found.version, seed, secret)
    parts: dict[str, Instance] = {}
    for part in found.parts:
        card, drill = catalog.drill(part.drill)
        bound = part.bind(shared, parts)
        group = {"id": name, "part": part.name}
        parts[part.name] = make(card, drill, seed, secret, bound, group, stream=f"{key}/{part.name}")
    return ScenarioInstance(name, found, seed, parts)


def build_scenario(wanted: ids.Id, text: str, secret: ids.Secret | None) -> ScenarioInstance:
    """The scenario of a parsed id."""
    found = scenario(wanted.drill)
    if wanted.version not in (None, found.version):
        raise ids.BadId(f"{text[:80]!r}: there is no version {wanted.version} of {found.id}, only {found.version}")
    return make_scenario(found, wanted.seed, secret if wanted.mark else None)
