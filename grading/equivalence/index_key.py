"""Whether an expression with indices equals a key: all index tuples, on drawn arrays of the declared kinds and sizes.

Three draws with different lengths are compared in float64, every tuple of the key's free indices at once. What floats
leave open, and answers with long literals, are settled in decimals tuple by tuple.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from grading.equivalence.balls import TooLarge, Unclear, Undefined
from grading.equivalence.decide import Outcome, _same, decimal
from grading.equivalence.decimals import DIGITS, Value
from grading.equivalence.domain import Domain
from grading.equivalence.draws import Dim, Draw, draw
from grading.equivalence.evaluate import Unsupported
from grading.equivalence.grids import MAX_AXES, Grid, Program
from grading.equivalence.indices import Counter, IndexPlanner
from grading.equivalence.matrices import ShapeError
from grading.equivalence.matrix_key import compare, finite
from grading.equivalence.matrix_values import Redraw
from grading.equivalence.precise import Precise
from grading.reading.tree import Node

DRAWS = 3
MAX_TURNS = 30
ENOUGH = 24
"""Index tuples that are compared at least, all draws together."""
TUPLES = 8
"""Tuples that are settled in decimals at most, a draw."""
MAX_CELLS = 200_000
"""Larger arrays are not made: an answer with many nested sums is held against the short draws only."""
STEPS = 1500
"""Nodes visited for one of them."""


@dataclass(frozen=True, slots=True)
class IndexSetting:
    """Declared arrays: their kinds, their shapes, and the domains of scalars."""

    kinds: Mapping[str, str]
    shapes: Mapping[str, tuple[Dim, ...]]
    domain: Domain

    @property
    def scalars(self) -> frozenset[str]:
        """The declared scalars."""
        return frozenset(self.domain.order)


@dataclass(frozen=True, slots=True)
class Compiled:
    """A tree with its program over grids, or the sentence why its indices do not fit."""

    tree: Node
    program: Program | None
    seen: Counter | None
    reason: str = ""


@dataclass(slots=True)
class _Bench:
    """One draw with its grid and the key's value for all tuples."""

    draw: Draw
    grid: Grid
    key: Any


def compiled(tree: Node, setting: IndexSetting, free: Mapping[str, Dim] | None, text: str) -> Compiled:
    """Compile a tree; `free` are the key's indices, None for a key that brings its own."""
    planner = IndexPlanner(setting.shapes, setting.scalars, free, text)
    try:
        return Compiled(tree, planner.whole(tree), planner.seen)
    except ShapeError as error:
        return Compiled(tree, None, None, str(error))


class IndexedKey:
    """A key with its values on the draws, made once for many answers."""

    def __init__(self, key: Compiled, setting: IndexSetting) -> None:
        assert key.program is not None
        assert key.seen is not None
        self.tree = key.tree
        self.program, self.seen = key.program, key.seen
        self.setting = setting
        self.free = {name: index.dim for name, index in key.seen.free.items() if index.dim is not None}
        self.places = tuple(index.place for index in key.seen.free.values())

    @cached_property
    def benches(self) -> tuple[_Bench, ...]:
        """Draws on which the key has a value."""
        import numpy as np

        found = []
        tuples = 0
        with np.errstate(all="ignore"):
            for turn in range(MAX_TURNS):
                sample = draw(self.setting.kinds, self.setting.shapes, self.setting.domain, turn)
                if _cells(sample, self.seen) > MAX_CELLS:
                    continue
                grid = Grid(sample)
                try:
                    value = self.full(self.cells(self.program(grid), self.places), grid)
                except Redraw:
                    continue
                if finite(value):
                    found.append(_Bench(sample, grid, value))
                    tuples += int(value.size)
                if len(found) >= DRAWS and tuples >= ENOUGH:
                    break
        return tuple(found)

    def cells(self, value: Any, places: tuple[int, ...]) -> Any:
        """A value as an array over the free indices in the key's order; an axis that it does not need has size 1."""
        import numpy as np

        value = np.asarray(value, dtype=float)
        if value.ndim == MAX_AXES:
            shape = [value.shape[place] for place in places]
            if any(a > b for a, b in itertools.pairwise(places)):
                rest = [axis for axis in range(MAX_AXES) if axis not in places]
                value = value.transpose([*places, *rest])
            value = value.reshape(shape)
        return value

    def full(self, value: Any, grid: Grid) -> Any:
        """A value for every tuple of indices."""
        import numpy as np

        return np.broadcast_to(value, tuple(grid.size(dim) for dim in self.free.values()))

    def exact(self, sample: Draw, cell: tuple[int, ...], tree: Node, seen: Counter, limit: int) -> Value:
        """A tree's value for one tuple of indices (1-based) in decimals, visiting `limit` nodes at most."""
        names = dict(sample.scalars)
        names.update((name, Fraction(at)) for name, at in zip(self.free, cell, strict=True))
        axes = {node: _size(dim, sample) for node, (dim, _) in seen.sums.items() if dim is not None}
        return Precise(names, self.setting.domain.functions, sample.arrays, DIGITS, axes, limit).value(tree)


def _cells(sample: Draw, seen: Counter) -> int:
    """How large an array may get while a tree is evaluated on a draw."""
    sizes = [*sample.dims.values(), 1]
    for shape_size in (dim for dim, _ in seen.sums.values() if isinstance(dim, int)):
        sizes.append(shape_size)
    return int(max(sizes) ** seen.axes)


def _size(dim: Dim, sample: Draw) -> int:
    return dim if isinstance(dim, int) else sample.dims[dim]


def decide_indexed(key: IndexedKey, given: Compiled) -> Outcome:
    """Whether an answer equals the key for all index tuples."""
    import numpy as np

    if given.tree == key.tree:
        return Outcome(True, "proved", "the same expression")
    if given.program is None or given.seen is None:
        return Outcome(False, "refuted", given.reason)
    places = tuple(index.place for index in given.seen.free.values())
    delicate = given.seen.delicate or key.seen.delicate
    used = tuples = 0
    with np.errstate(all="ignore"):
        for bench in key.benches:
            if _cells(bench.draw, given.seen) > MAX_CELLS:
                continue
            try:
                value = key.cells(given.program(bench.grid), places)
            except Redraw as reason:
                return Outcome(False, "refuted", f"the answer has no value: {reason}", _where(bench))
            verdict = compare(bench.key, value)
            if verdict is None or (delicate and finite(value)):
                verdict = settled(key, given, bench, key.full(value, bench.grid), verdict)
            if verdict is False:
                return refuted(key, bench, key.full(value, bench.grid))
            if verdict:
                used += 1
                tuples += int(bench.key.size)
    if not used:
        return Outcome(None, "undecided", "no arrays were found on which both have a value")
    return Outcome(
        True, "sampled", f"equal for all {tuples} index tuples of {used} draws of arrays of different lengths"
    )


def settled(key: IndexedKey, given: Compiled, bench: _Bench, value: Any, floats: bool | None) -> bool | None:
    """The same question in decimals, for the tuples that differ most; the floats' verdict where decimals have none."""
    import numpy as np

    assert given.seen is not None
    gaps = abs(bench.key - value)
    order = np.argsort(gaps, axis=None)[::-1][:TUPLES] if gaps.ndim else [0]
    for flat in order:
        cell = tuple(int(at) + 1 for at in np.unravel_index(int(flat), gaps.shape)) if gaps.ndim else ()
        try:
            ours = key.exact(bench.draw, cell, key.tree, key.seen, STEPS)
            theirs = key.exact(bench.draw, cell, given.tree, given.seen, STEPS)
        except (Undefined, Unclear, TooLarge, Unsupported):
            return floats
        same = _same(ours, theirs, DIGITS)
        if same is False:
            return False
    return True


def refuted(key: IndexedKey, bench: _Bench, value: Any) -> Outcome:
    """The outcome with the tuple that differs most."""
    import numpy as np

    gaps = abs(bench.key - value)
    gaps = np.where(np.isnan(gaps), np.inf, gaps)
    cell = np.unravel_index(int(np.argmax(gaps)), gaps.shape) if gaps.ndim else ()
    ours, theirs = float(bench.key[cell]), float(value[cell])
    key_text, answer = _pair(ours, theirs)
    point = {name: str(at + 1) for name, at in zip(key.free, cell, strict=True)}
    sizes = {name: str(size) for name, size in bench.draw.dims.items()}
    where = ", ".join(f"{name} = {at}" for name, at in point.items())
    lengths = ", ".join(f"{name} = {size}" for name, size in sizes.items())
    detail = f"on drawn arrays with {lengths}" + (f", at {where}," if where else ",")
    return Outcome(
        False,
        "refuted",
        f"{detail} the key is {key_text}, the answer {answer}",
        {"point": {**sizes, **point}, "key": key_text, "answer": answer},
    )


def _pair(ours: float, theirs: float) -> tuple[str, str]:
    shown = "undefined" if theirs != theirs or abs(theirs) == float("inf") else None
    for digits in (6, 10, 17):
        left, right = decimal(ours, digits), shown or decimal(theirs, digits)
        if left != right:
            return left, right
    return left, f"{right} (other digits follow)"


def _where(bench: _Bench) -> dict[str, Any]:
    return {"point": {name: str(size) for name, size in bench.draw.dims.items()}}


def indexed_findings(key: IndexedKey, given: Compiled) -> tuple[tuple[str, str], ...]:
    """Sign, factor, exchanged indices, a lost delta: what relates a wrong answer to the key on every draw."""
    import numpy as np

    if given.program is None or given.seen is None:
        return ()
    places = tuple(index.place for index in given.seen.free.values())
    pairs = []
    with np.errstate(all="ignore"):
        for bench in key.benches:
            if _cells(bench.draw, given.seen) > MAX_CELLS:
                continue
            try:
                value = key.cells(given.program(bench.grid), places)
            except Redraw:
                return ()
            if not finite(value):
                return ()
            pairs.append((bench.key, key.full(value, bench.grid)))
        return _relations(key, pairs)


def _relations(key: IndexedKey, pairs: list[tuple[Any, Any]]) -> tuple[tuple[str, str], ...]:
    import numpy as np

    if not pairs:
        return ()
    for name, text, factor in (
        ("sign", "The sign is the other way round.", -1.0),
        ("factor_2", "A factor 2 is too much.", 2.0),
        ("factor_half", "A factor 2 is missing.", 0.5),
    ):
        if all(compare(k * factor, v) for k, v in pairs):
            return ((name, text),)
    dims = list(key.free.values())
    if len(dims) == 2 and dims[0] == dims[1]:
        if all(compare(k.T, v) for k, v in pairs):
            return (("indices_swapped", "The two indices are exchanged."),)
        diagonal = all(compare(np.diagonal(k).copy(), np.diagonal(v).copy()) for k, v in pairs)
        off = [~np.eye(len(k), dtype=bool) for k, _ in pairs]
        others = all(compare(k[m], v[m]) for (k, v), m in zip(pairs, off, strict=True))
        names = list(itertools.islice(key.free, 2))
        if diagonal:
            return (("diagonal_only", f"It is right where {names[0]} = {names[1]}, and only there."),)
        if others:
            return (("off_diagonal_only", f"It is right where {names[0]} and {names[1]} differ, and only there."),)
    return ()
