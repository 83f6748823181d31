"""Whether an expression of matrices equals a key: shapes first, in words, then values on drawn matrices.

All named dimensions differ within a draw, several draws are made, entries are compared in float64. A difference close
to rounding noise, or one in an answer with inverses, powers or long literals, is settled in decimals of 60 digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from grading.equivalence.decide import Outcome
from grading.equivalence.domain import Domain, Interval
from grading.equivalence.draws import Dim, Draw, draw
from grading.equivalence.matrices import Plan, Planner, ShapeError, shown
from grading.equivalence.matrix_values import Redraw, Shape, Values, exactly
from grading.equivalence.polynomial import Table
from grading.equivalence.words import Spelled
from grading.reading.tree import Node

DRAWS = 3
MAX_DRAWS = 24
ENTRIES = 24
_NOISE = 1e-13
_SURE = 1e-6
_EQUAL = 1e-10


@dataclass(frozen=True, slots=True)
class MatrixSetting:
    """Declared shapes and scalars; what is known of a matrix: "permutation", "row stochastic", or a formula for it."""

    shapes: Mapping[str, Shape]
    domain: Domain
    known: Mapping[str, str]
    formulas: Mapping[str, Node]

    @property
    def scalars(self) -> frozenset[str]:
        """The declared scalars."""
        return frozenset(self.domain.order)

    @property
    def scope(self) -> Domain:
        """The scalars and the dimensions, which are whole numbers from 1 where nothing else is declared."""
        known = self.domain.names
        dims = dict.fromkeys(dim for shape in self.shapes.values() for dim in shape if isinstance(dim, str))
        names = {name for name, _ in known}
        sizes = tuple((dim, Interval(Fraction(1), None, False, True, True)) for dim in dims if dim not in names)
        return Domain(known + sizes, self.domain.functions)


@dataclass(slots=True)
class _Bench:
    """One draw with its values and the key's value on it."""

    draw: Draw
    values: Values
    key: Any


@dataclass(frozen=True, slots=True)
class Planned:
    """An answer's tree with its plan, or the sentence why its shapes do not fit."""

    tree: Node
    plan: Plan | None
    reason: str
    delicate: bool
    doubts: tuple[str, ...] = ()


def planned(tree: Node, setting: MatrixSetting, text: str, numpy: bool = False) -> Planned:
    """Infer shapes and compile."""
    planner = Planner(setting.shapes, setting.scalars, text, numpy)
    try:
        plan = planner.plan(tree)
    except ShapeError as error:
        return Planned(tree, None, str(error), False)
    return Planned(tree, plan, "", planner.delicate, tuple(planner.doubts))


class MatrixKey:
    """A key with its values on the draws, made once for many answers."""

    def __init__(self, key: Planned, setting: MatrixSetting) -> None:
        assert key.plan is not None
        self.tree = key.tree
        self.plan = key.plan
        self.setting = setting
        self.delicate = key.delicate

    @cached_property
    def benches(self) -> tuple[_Bench, ...]:
        """Draws on which the key has a value; more of them for a key with few entries."""
        import numpy as np

        found: list[_Bench] = []
        entries = 0
        for turn in range(MAX_DRAWS + 6):
            with np.errstate(all="ignore"):
                bench = self.bench(turn)
            if bench is None:
                continue
            found.append(bench)
            entries += _count(bench.key)
            if len(found) >= DRAWS and (entries >= ENTRIES or len(found) == MAX_DRAWS):
                break
        return tuple(found)

    @cached_property
    def spelled(self) -> Spelled:
        """The key as a sum of words, for proofs."""
        return Spelled(self.tree, self.setting.shapes, Table(self.setting.scope))

    def bench(self, turn: int) -> _Bench | None:
        """Draw number `turn` with the key's value, or None where it has none."""
        sample = draw(self.setting.known, self.setting.shapes, self.setting.domain, turn)
        values = Values(sample)
        try:
            self.derive(values)
            key = as_array(self.plan, values, self.plan.run(values))
        except Redraw:
            return None
        return _Bench(sample, values, key) if finite(key) else None

    def derive(self, values: Values) -> None:
        """Fill in matrices that are given by a formula."""
        setting = self.setting
        for name, tree in setting.formulas.items():
            plan = Planner(setting.shapes, setting.scalars).plan(tree)
            values.arrays[name] = as_array(plan, values, plan.run(values))

    def exact(self, sample: Draw, plan: Plan) -> Any:
        """A plan's value on a draw in decimals."""

        def run(values: Values) -> Any:
            self.derive(values)
            return as_array(plan, values, plan.run(values))

        return exactly(sample, run)


def decide_matrix(key: MatrixKey, given: Planned) -> Outcome:
    """Whether an answer equals the key."""
    if given.tree == key.tree:
        return Outcome(True, "proved", "the same expression")
    plan = given.plan
    if plan is None:
        return Outcome(False, "refuted", given.reason)
    if not _fits(plan.shape, key.plan.shape):
        return Outcome(False, "refuted", f"the answer is {shown(plan.shape)}, what is asked is {shown(key.plan.shape)}")
    import numpy as np

    with np.errstate(all="ignore"):
        outcome = _on_benches(key, given, plan, key.benches[:1])
        if outcome.right:
            if key.spelled.proves(given.tree):
                return Outcome(True, "proved", "equal by the algebra of matrices")
            outcome = _on_benches(key, given, plan, key.benches)
    if outcome.right is False and given.doubts:
        return replace(outcome, detail=given.doubts[0])
    return outcome


def _on_benches(key: MatrixKey, given: Planned, plan: Plan, benches: tuple[_Bench, ...]) -> Outcome:
    """Compare values draw by draw."""
    entries = used = 0
    for bench in benches:
        try:
            value = as_array(plan, bench.values, plan.run(bench.values), key.plan.shape)
        except Redraw as reason:
            if "conditioned" in str(reason):
                continue
            return Outcome(False, "refuted", f"the answer has no value there: {reason}", _where(bench))
        verdict = compare(bench.key, value)
        if verdict is None or (verdict is False and (given.delicate or key.delicate)):
            verdict = settled(key, plan, bench)
        if verdict is False:
            return refuted(bench, value)
        if verdict:
            entries += _count(value)
            used += 1
    if not used:
        return Outcome(None, "undecided", "no matrices were found on which both have a value")
    if given.delicate:
        # long literals and inverses can hide what floats do not show
        for bench in benches[:2]:
            if settled(key, plan, bench) is False:
                return refuted(bench, plan.run(bench.values))
    return Outcome(True, "sampled", f"equal in {entries} entries of {used} draws of matrices, all dimensions different")


def as_array(plan: Plan, values: Values, value: Any, like: Any = None) -> Any:
    """A value as a matrix: scalars as 1×1, a multiple of I in the size that is asked."""
    import numpy as np

    if plan.shape == "I" and isinstance(like, tuple):
        return values.eye(like[0]) * value
    if not isinstance(value, np.ndarray) or value.ndim == 0:
        return np.array([[value]], dtype=object if values.exact else float)
    return value


def finite(value: Any) -> bool:
    """Whether every entry exists."""
    import numpy as np

    return bool(np.isfinite(value).all())


def compare(key: Any, value: Any) -> bool | None:
    """Equal within rounding, different for certain, or None; the value may be one that broadcasts to the key."""
    gap = abs(key - value)
    if gap.size and float(gap.max()) <= _EQUAL * 1e-4 * float(abs(key).max()):
        return True
    if not finite(value):
        return False
    size = abs(key) + abs(value)
    peak = float(size.max())
    if float(gap.max()) <= _EQUAL * 1e-3 * peak:
        return True
    over = gap - _SURE * size
    if float(over.max()) > 1e-9 * peak:
        return None if peak < _NOISE else False  # what is left of a sum that cancels says nothing
    return None


def settled(key: MatrixKey, plan: Plan, bench: _Bench) -> bool | None:
    """The same question in decimals."""
    try:
        ours = key.exact(bench.draw, key.plan)
        theirs = key.exact(bench.draw, plan)
    except Redraw:
        return None
    if ours.shape != theirs.shape:
        return False
    gap = abs(ours - theirs)
    peak = max(abs(ours).max(), abs(theirs).max(), Decimal(1))
    return bool(gap.max() <= peak * Decimal("1e-40"))


def refuted(bench: _Bench, value: Any) -> Outcome:
    """The outcome with the largest differing entry."""
    import numpy as np

    if not finite(value):
        return Outcome(False, "refuted", "the answer has no value for some matrices", _where(bench))
    row, column = np.unravel_index(int(np.argmax(abs(bench.key - value))), bench.key.shape)
    ours, theirs = float(bench.key[row, column]), float(value[row, column])
    for digits in (4, 8, 12, 17):
        key, answer = f"{ours:.{digits}g}", f"{theirs:.{digits}g}"
        if key != answer:
            break
    else:
        answer = f"{answer} (other digits follow)"
    place = f"entry ({row + 1}, {column + 1})" if bench.key.size > 1 else "the value"
    sizes = ", ".join(f"{name} = {size}" for name, size in bench.draw.dims.items())
    drawn = f"on matrices drawn at random with {sizes}" if sizes else "on matrices drawn at random"
    detail = f"{drawn}, {place} differs most: {key} in the key, {answer}"
    return Outcome(
        False,
        "refuted",
        f"{detail} in the answer",
        {**_where(bench), "entry": [int(row) + 1, int(column) + 1], "key": key, "answer": answer},
    )


def _where(bench: _Bench) -> dict[str, Any]:
    return {"point": {name: str(size) for name, size in bench.draw.dims.items()}}


def _count(value: Any) -> int:
    return int(value.size)


def _fits(answer: Any, key: Any) -> bool:
    if answer == key:
        return True
    if answer == "I":
        return isinstance(key, tuple) and key[0] == key[1]
    scalar: tuple[Dim, Dim] = (1, 1)
    return answer in (None, scalar) and key in (None, scalar)


# ---------------------------------------------------------------------------------------------------------- findings


def matrix_findings(key: MatrixKey, given: Planned) -> tuple[tuple[str, str], ...]:
    """Sign, factor, transposition: what relates a wrong answer to the key on every draw."""
    plan = given.plan
    if plan is None or not isinstance(plan.shape, (tuple, type(None))):
        return ()
    import numpy as np

    pairs = []
    with np.errstate(all="ignore"):
        for bench in key.benches[:DRAWS]:
            try:
                value = as_array(plan, bench.values, plan.run(bench.values))
            except Redraw:
                return ()
            if not finite(value):
                return ()
            pairs.append((bench.key, value))
    return _relations(pairs) if pairs else ()


def _relations(pairs: list[tuple[Any, Any]]) -> tuple[tuple[str, str], ...]:
    if all(k.T.shape == v.shape and compare(k.T, v) for k, v in pairs) and pairs[0][0].size > 1:
        return (("transposed", "It is the transpose."),)
    if any(k.shape != v.shape for k, v in pairs):
        return ()
    for name, text, factor in _FACTORS:
        if all(compare(k * factor, v) for k, v in pairs):
            return ((name, text),)
    for ratio in (_ratio(k, v) for k, v in pairs[:1]):
        if ratio is not None and all(compare(k * ratio, v) for k, v in pairs):
            return (("constant_factor", "It is right up to a constant factor."),)
    if all((r := _ratio(k, v)) is not None and compare(k * r, v) for k, v in pairs):
        return (("scalar_factor", "It is right up to a scalar factor such as a power of a dimension."),)
    return ()


def _ratio(key: Any, value: Any) -> float | None:
    import numpy as np

    at = np.unravel_index(int(np.argmax(abs(key))), key.shape)
    return float(value[at] / key[at]) if key[at] else None


_FACTORS = (
    ("sign", "The sign is the other way round.", -1.0),
    ("factor_2", "A factor 2 is too much.", 2.0),
    ("factor_half", "A factor 2 is missing.", 0.5),
)
