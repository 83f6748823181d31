"""An id becomes a problem: parameters drawn, answer and slips computed, text rendered when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from drillgen import catalog, ids
from grading.kinds.base import Kind
from solvers.draws import Draws
from solvers.drill import Card, Drill
from solvers.errors import Unknown

if TYPE_CHECKING:
    from drillgen.scenario import ScenarioInstance
    from grading.grade import SlipKey
    from grading.verdict import Verdict

SCHEMA = "drillgen.problem/1"


class NoParts(Unknown):
    """A part was named of a problem that is one piece."""

    def __init__(self, id: str) -> None:
        super().__init__("part", "", ())
        self.args = (f"{id} has no parts: leave the part out",)


@dataclass(eq=False, repr=False)
class Instance:
    """A drill with a seed.

    values: parameters and what derives from them. wrong: slip values by id. group: the scenario it is a part of.
    """

    id: str
    card: Card
    drill: Drill
    seed: int
    values: Mapping[str, Any]
    answer: Any
    wrong: Mapping[str, Any]
    kind: Kind
    group: Mapping[str, str] | None = field(default=None)

    def slip_keys(self) -> tuple[SlipKey, ...]:
        """The slips of this instance as the grader wants them."""
        from grading.grade import SlipKey

        remarks = {s.id: s.remark for s in self.drill.slips}
        return tuple(SlipKey(name, value, remarks[name]) for name, value in self.wrong.items())

    def grade(self, text: str, part: str | None = None, decimal_comma: bool = False) -> Verdict:
        """The verdict on one answer; `part` names one part of a problem in parts."""
        from grading.grade import grade

        if decimal_comma:
            text = points(text)
        if part is None:
            return self._near(text, grade(self.kind, text, self.answer, self.slip_keys()))

        parts = getattr(self.kind, "parts", ())
        for index, one in enumerate(parts):
            if one.name == part:
                slips = [s._replace(value=s.value[index]) for s in self.slip_keys()]
                verdict = grade(one.kind, text, self.answer[index], slips)
                return verdict._replace(part=part)
        if not parts:
            raise NoParts(self.id)
        raise Unknown(f"part of {self.id}", part, [p.name for p in parts])

    def _near(self, text: str, verdict: Verdict) -> Verdict:
        """The verdict with a finding where a wrong answer is a known approximation."""
        if not self.drill.near or verdict.verdict != "wrong" or verdict.slips:
            return verdict

        from grading.kinds.base import Finding

        given, values = self.kind.parse(text), {**self.values, "answer": self.answer}
        found = [n for n in self.drill.near if self.kind.is_slip(given, n.call(values), self.answer)]
        return verdict._replace(findings=(*verdict.findings, *(Finding(n.id, n.remark) for n in found)))

    @property
    def minutes(self) -> int:
        """The time it is meant to take."""
        return self.drill.minutes

    @property
    def steps(self) -> dict[str, Any]:
        """The worked solution's values by name; the last is the answer."""
        return self.drill.named_steps(self.values, self.answer)

    def problem(self, answers: bool = False) -> dict[str, Any]:
        """The problem as design 4.2 wants it; answer, slips and solution only with `answers`."""
        from drillgen.render import render

        text = render(self, solution=answers)
        drill, kind = self.drill, self.kind
        out: dict[str, Any] = {
            "schema": SCHEMA, "id": self.id, "drill": drill.id, "version": drill.version, "seed": self.seed,
            "card": self.card.number, "stars": drill.stars, "moves": list(drill.moves), "minutes": drill.minutes,
            "kind": kind.name, "params": self._params(),
            "prompt": text["problem"], "answer_format": kind.answer_format(), "precision": kind.precision(),
            "tolerance": kind.tolerance.to_json(), "hints": [text["hint_1"], text["hint_2"], text["hint_3"]],
        }  # fmt: skip
        out.update({k: plain(v) for k, v in kind.declared().items()})
        if hasattr(kind, "options"):
            out["options"] = [{"key": o.key, "text": o.text} for o in kind.options]
        if hasattr(kind, "parts"):
            out["parts"] = [
                {"name": p.name, "kind": p.kind.name, "prompt": p.prompt, "answer_format": p.kind.answer_format(),
                 "precision": p.kind.precision(), "tolerance": p.kind.tolerance.to_json(),
                 **({"unit": p.kind.unit} if hasattr(p.kind, "unit") else {})}
                for p in kind.parts
            ]  # fmt: skip
        if self.group:
            out["group"] = dict(self.group)
        if answers:
            out["answer"] = self._valued(self.answer)
            remarks = {s.id: s.remark for s in drill.slips}
            out["slips"] = [
                {"id": name, "value": plain(value), "show": self.kind.show_beside(value, self.answer),
                 "remark": remarks[name]}
                for name, value in self.wrong.items()
            ]  # fmt: skip
            out["solution"] = text["solution"]
        return out

    def _params(self) -> dict[str, Any]:
        """The parameters and the sizes that come with them; what `derive` adds may be half of the answer."""
        shown: dict[str, Any] = {}
        for name, domain in self.drill.params.items():
            value = self.values[name]
            shown[name] = plain(value)
            shown.update({k: plain(v) for k, v in domain.derive(value).items()})
        return shown

    def _valued(self, value: Any) -> dict[str, Any]:
        out: dict[str, Any] = {"value": plain(value)}
        if hasattr(self.kind, "unit"):
            out["unit"] = self.kind.unit
        out["show"] = self.kind.show(value)
        return out


def points(text: str) -> str:
    """Decimal commas as points, nothing moved: 1,5 becomes 1.5; lists are then separated by ; or spaces."""
    import re

    return re.sub(r"(?<=\d),(?=\d)", ".", text)


def open_id(text: str, secret: ids.Secret | None = None) -> Instance | ScenarioInstance:
    """The problem or scenario of an id; `Unknown` or `BadId` where it cannot be built."""
    wanted = ids.parse(text)
    _unseal(wanted, text, secret)
    if wanted.drill.startswith("scenario."):
        from drillgen.scenario import build_scenario

        return build_scenario(wanted, text, secret)
    return build(text, secret)


def _unseal(wanted: ids.Id, text: str, secret: ids.Secret | None) -> None:
    """Refuse the id of a sealed set without its secret: an unsealed draw would be another problem."""
    if wanted.mark and (secret is None or secret.mark != wanted.mark):
        need = "another secret" if secret else "its secret"
        raise ids.BadId(f"{text[:80]!r} belongs to a sealed set: it takes {need} (--secret FILE) to rebuild it")


def build(text: str, secret: ids.Secret | None = None) -> Instance:
    """The instance of a drill's id; `Unknown` or `BadId` where it cannot be built."""
    wanted = ids.parse(text)
    _unseal(wanted, text, secret)
    card, drill = catalog.drill(wanted.drill)
    if wanted.version is not None and wanted.version != drill.version:
        shown, version = text[:80], wanted.version
        if version > drill.version:
            raise ids.BadId(
                f"{shown!r}: there is no version {version} of {drill.id} here, the newest is {drill.version}"
            )
        raise ids.BadId(
            f"{shown!r}: version {version} of {drill.id} cannot be built here, only {drill.version}: "
            "its draws have changed since (see the changelog)"
        )
    return make(card, drill, wanted.seed, secret if wanted.mark else None)


def make(
    card: Card,
    drill: Drill,
    seed: int,
    secret: ids.Secret | None = None,
    bound: Mapping[str, Any] | None = None,
    group: Mapping[str, str] | None = None,
    stream: str | None = None,
) -> Instance:
    """The instance of a drill and a seed; scenarios fix parameters (`bound`) and bring their own stream of draws."""
    key = stream or ids.draw_key(drill.id, drill.version, seed, secret)
    values, answer, wrong = drill.draw(Draws(key), bound)
    kind = drill.kind_for(values, Draws(key + "/options")) if drill.varies else drill.answer
    name = group["id"] if group else ids.spell(drill.id, drill.version, seed, secret)
    return Instance(name, card, drill, seed, values, answer, wrong, kind, group)


def plain(value: Any) -> Any:
    """A value as JSON can hold it: fractions and numpy-free floats, NaN as "nan", tuples as lists."""
    kind = type(value)
    if kind is float:
        return value if value == value else "nan"
    if kind is int or kind is str or kind is bool:
        return value
    if kind is list or kind is tuple:
        return [plain(v) for v in value]
    if isinstance(value, bool | int | str) or value is None:
        return value
    if isinstance(value, float | Fraction):
        number = float(value)
        if number != number:
            return "nan"
        return int(number) if isinstance(value, Fraction) and value.denominator == 1 else number
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, set | frozenset):
        return sorted(plain(v) for v in value)
    raise TypeError(f"{type(value).__name__} is no JSON value")
