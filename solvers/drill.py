"""Card, Drill, Slip: what is computed, from what, how it goes wrong.

Every function of a drill (solve, a slip's compute, steps, require, derive, options) names the values it wants as
its parameters and gets them by name: the drawn parameters, what their domains derive (L, H_kv, b …), what `derive`
adds, and, for slips and steps, `answer`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from grading.kinds.base import Kind
from grading.kinds.option import Option
from solvers.domains import Domain
from solvers.draws import Draws
from solvers.errors import BadParameter, DrillError, Unknown

TRIES = 2000
"""Draws after which a drill whose constraints are never met is the author's fault."""
BOUND_TRIES = 200
"""Draws after which a scenario's bound parameters are taken to contradict `require`."""


class ByName:
    """Calls a function with the values that its parameters name."""

    __slots__ = ("defaults", "function", "names")

    def __init__(self, function: Callable[..., Any]) -> None:
        code = function.__code__
        self.function = function
        self.names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self.defaults = {*(function.__kwdefaults__ or ())}
        if function.__defaults__:
            self.defaults |= {*code.co_varnames[: code.co_argcount][-len(function.__defaults__) :]}

    def __call__(self, values: Mapping[str, Any]) -> Any:
        if self.defaults:
            return self.function(**{n: values[n] for n in self.names if n in values or n not in self.defaults})
        return self.function(**{n: values[n] for n in self.names})


@dataclass(eq=False, repr=False)
class Slip:
    """A wrong computation that people do make, and a remark that teaches.

    id: as in the catalogue. compute: the wrong value, or None where the slip does not apply to the drawn branch.
    remark: names the wrong operation and the right one, at most 200 characters, no numbers of the problem.
    branch: the slip belongs to one branch only, so a draw where it equals the key leaves it out instead of being
    redrawn (choices are always treated so).
    """

    id: str
    compute: Callable[..., Any]
    remark: str
    branch: bool = False

    @cached_property
    def call(self) -> ByName:
        """`compute` with its values by name."""
        return ByName(self.compute)


@dataclass(kw_only=True, eq=False, repr=False)
class Drill:
    """One family of problems.

    id: topic.name. version: raised by every change that alters a draw. asks: one line for `drillgen list`.
    params: drawn in this order; a later domain may look at earlier values. solve: the closed form. answer: the kind.
    steps: named values that the worked solution shows, in order; the last one is the answer.
    require: constraints on a draw beside the separation of slips. hold: parameters drawn once and kept while the
    others are redrawn, so that a branch (MHA or GQA) stays as likely as declared. options: for choices.
    near: approximations that are no mistakes; given instead of the exact answer they are named as findings.
    follow: for tables and parts, (values, index, the learner's own earlier row or parts) -> what row or part `index`
    is if those are taken as given; None where nothing follows. declare: the answer kind of one instance, where the
    names that an answer may use depend on the draw (`answer` then is one of them).
    """

    id: str
    asks: str
    stars: int
    moves: tuple[str, ...]
    params: Mapping[str, Domain]
    solve: Callable[..., Any]
    answer: Kind
    steps: Callable[..., Mapping[str, Any]]
    slips: tuple[Slip, ...] = ()
    near: tuple[Slip, ...] = ()
    derive: Callable[..., Mapping[str, Any]] | None = None
    require: Callable[..., bool] | None = None
    options: Callable[..., Sequence[Option]] | None = None
    hold: tuple[str, ...] = ()
    follow: Callable[[Mapping[str, Any], int, Sequence[Any]], Any] | None = None
    declare: Callable[..., Kind] | None = None
    version: int = 1
    space: float | None = None  # centimetres of working space, where the minutes are no guide
    notes: str = field(default="", compare=False)  # where a catalogue constraint is tightened, and why

    @property
    def minutes(self) -> int:
        """The practice protocol's time: 5, 10 or 15 minutes for one, two or three stars."""
        return 5 * self.stars

    @property
    def topic(self) -> str:
        """The part of the id before the dot."""
        return self.id.partition(".")[0]

    @property
    def name(self) -> str:
        """The part of the id after the dot: the template's file name."""
        return self.id.partition(".")[2]

    @property
    def varies(self) -> bool:
        """Whether the answer kind differs from instance to instance."""
        return bool(self.options or self.follow or self.declare)

    def instances(self) -> float:
        """How many parameter sets can be drawn at most (inf where the number says nothing)."""
        count = 1.0
        for domain in self.params.values():
            count *= domain.size()
        return count

    @cached_property
    def _calls(self) -> dict[str, ByName]:
        named = {"solve": self.solve, "steps": self.steps, "derive": self.derive, "require": self.require}
        more = {"options": self.options, "declare": self.declare}
        return {k: ByName(f) for k, f in {**named, **more}.items() if f is not None}

    def complete(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters with everything derived from them."""
        values = dict(params)
        for name, domain in self.params.items():
            values.update(domain.derive(params[name]))
        if "derive" in self._calls:
            values.update(self._calls["derive"](values))
        return values

    def solution(self, values: Mapping[str, Any]) -> Any:
        """The answer for completed values."""
        return self._calls["solve"](values)

    def named_steps(self, values: Mapping[str, Any], answer: Any) -> dict[str, Any]:
        """The worked solution's values by name, in order."""
        return dict(self._calls["steps"]({**values, "answer": answer}))

    def kind_for(self, values: Mapping[str, Any], draws: Draws | None = None) -> Kind:
        """The answer kind of one instance: choices with their options in the order shown, tables and parts with what
        follows from the learner's own earlier row or part, formulas with the names of this draw.
        """
        if "declare" in self._calls:
            declared: Kind = self._calls["declare"](values)
            return declared
        from dataclasses import replace

        if self.follow is not None:
            return replace(self.answer, follow=partial(self.follow, values))  # type: ignore[call-arg]
        if "options" not in self._calls:
            return self.answer
        options = list(self._calls["options"](values))
        if draws is not None and "options" not in self.params:
            options = draws.shuffled(options)
        return replace(self.answer, options=tuple(options))  # type: ignore[call-arg]

    def wrong(self, values: Mapping[str, Any], answer: Any, kind: Kind) -> dict[str, Any] | None:
        """Slip values by id; None where the draw must be rejected because a slip would pass for right.

        The two bands must not touch, so a slip counts as apart only beyond twice the tolerance.
        """
        out: dict[str, Any] = {}
        drops = hasattr(kind, "options")
        with_answer = {**values, "answer": answer}
        for slip in self.slips:
            value = slip.call(with_answer)
            if value is None:
                continue
            if self._touch(kind, answer, value):
                if drops or slip.branch:
                    continue
                return None
            out[slip.id] = value
        return out

    def _touch(self, kind: Kind, answer: Any, value: Any) -> bool:
        """Whether the bands of key and slip touch; formulas, which are dear to compare, are compared once a kind."""
        if type(answer) is not str or type(value) is not str:
            return kind.agrees(answer, value, 2.0) or kind.agrees(value, answer, 2.0)
        known = self._touching
        pair = (kind, answer, value)
        if pair not in known:
            known[pair] = kind.agrees(answer, value, 2.0) or kind.agrees(value, answer, 2.0)
        return known[pair]

    @cached_property
    def _touching(self) -> dict[tuple[Kind, str, str], bool]:
        return {}

    def draw(self, draws: Draws, bound: Mapping[str, Any] | None = None) -> tuple[dict[str, Any], Any, dict[str, Any]]:
        """One instance's completed values, answer and slip values.

        bound: parameters that a scenario fixes; where they contradict `require`, they win, and a slip that cannot be
        separated is left out at last.
        """
        if not self.params:
            return self._only
        bound = bound or {}
        kept = dict(bound)
        require = self._calls.get("require")
        met = not bound
        for tried in range(TRIES):
            params: dict[str, Any] = {}
            for name, domain in self.params.items():
                params[name] = kept[name] if name in kept else domain.draw(draws, params)
                if name in self.hold:
                    kept[name] = params[name]
            values = self.complete(params)
            if require is not None and not require(values):
                if set(bound) >= set(self.params):
                    break
                if not met and tried >= BOUND_TRIES:
                    require = None
                continue
            met = True
            answer = self.solution(values)
            same = self.options is None and self.declare is None
            wrong = self.wrong(values, answer, self.answer if same else self.kind_for(values))
            if wrong is not None:
                return values, answer, wrong
            if set(bound) >= set(self.params):
                break
        if bound:
            return self._fixed(kept, draws)
        raise DrillError(f"{self.id}: no parameters met its constraints in {TRIES} draws")

    @cached_property
    def _only(self) -> tuple[dict[str, Any], Any, dict[str, Any]]:
        """The one instance of a drill without parameters: comparing formulas at every draw would cost a millisecond."""
        return self.at({})

    def _fixed(self, kept: Mapping[str, Any], draws: Draws) -> tuple[dict[str, Any], Any, dict[str, Any]]:
        """An instance with fixed parameters, without the slips that they make equal to the key."""
        params: dict[str, Any] = {}
        for name, domain in self.params.items():
            params[name] = kept[name] if name in kept else domain.draw(draws, params)
        return self.at(params)

    def at(self, params: Mapping[str, Any]) -> tuple[dict[str, Any], Any, dict[str, Any]]:
        """Values, answer and slips at given parameters; slips that would pass for right are left out."""
        values = self.complete(params)
        answer = self.solution(values)
        kind = self.kind_for(values)
        wrong = {}
        for slip in self.slips:
            value = slip.call({**values, "answer": answer})
            if value is not None and not self._touch(kind, answer, value):
                wrong[slip.id] = value
        return values, answer, wrong

    def read_params(self, given: Mapping[str, str]) -> dict[str, Any]:
        """Parameters typed as name=value, every one of them; unknown or missing names and senseless values are said."""
        for name in given:
            if name not in self.params:
                raise Unknown(f"parameter of {self.id}", name, self.params)
        missing = [n for n in self.params if n not in given]
        if missing:
            raise BadParameter(f"{self.id} needs {', '.join(f'{n}=…' for n in missing)}")
        from solvers import sense

        params = {name: domain.read(given[name], name) for name, domain in self.params.items()}
        sense.check(self.params, params)
        return params


@dataclass(kw_only=True, eq=False, repr=False)
class Card:
    """One derivation card.

    slug: c13_kv_cache, the name of its module, template folder and tests. formulas: LaTeX, the card's key results.
    statement: what the card shows, in our own words.
    """

    number: int
    slug: str
    title: str
    stars: int
    moves: tuple[str, ...]
    statement: str
    formulas: tuple[str, ...]
    drills: tuple[Drill, ...]

    @property
    def topic(self) -> str:
        """The slug without its number."""
        return self.slug.partition("_")[2]
