"""Kind indexed: p_i (delta_ij − p_j) and everything equal to it for all indices and all arrays of the declared kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from grading.errors import BadKey, Unreadable
from grading.kinds.base import Comparison, Finding, Kind, Samples
from grading.kinds.expression import pairs, shown_tree

if TYPE_CHECKING:
    from grading.equivalence.index_key import (
        Compiled,
        IndexedKey,
        IndexSetting,
    )
    from grading.reading.names import Declared
    from grading.reading.tree import Node


@dataclass(frozen=True, slots=True)
class Given:
    """An expression with indices that was read; `compiled` keeps its program by the key's indices."""

    text: str
    tree: Node
    compiled: dict[tuple[tuple[str, Any], ...], Compiled] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True)
class Indexed(Kind):
    """An expression with indices.

    arrays: "simplex", "real vector", "unit vector" or "real matrix" by name; shapes: dimensions by name, [T] for a
    vector and [T, T] for a matrix where nothing is said; symbols: domains of scalars. The free indices are the key's.
    """

    name: ClassVar[str] = "indexed"
    arrays: Any = ()
    symbols: Any = ()
    shapes: Any = ()

    def __post_init__(self) -> None:
        for part in ("arrays", "symbols", "shapes"):
            object.__setattr__(self, part, pairs(getattr(self, part), part))

    def parse(self, text: str) -> Given:
        """Read an expression; indices that do not fit are said by `compare`."""
        from grading.equivalence.constants import check_constants
        from grading.reading.grammar import read

        _, names = _setting(self.arrays, self.symbols, self.shapes)
        tree = read(text, names)
        check_constants(tree, names.functions)
        return Given(text, tree)

    def reading(self, given: Given) -> str:
        """What was understood, in the learner's own order."""
        return shown_tree(given.tree)

    def show(self, value: Any) -> str:
        """The text of the expression."""
        return str(value)

    def compare(self, given: Given, value: Any) -> Comparison:
        """All index tuples on drawn arrays."""
        from grading.equivalence.index_key import decide_indexed

        key = _key(self, str(value))
        outcome = decide_indexed(key, self._compiled(key, given))
        return Comparison(outcome.right, outcome.method, outcome.detail, witness=outcome.witness)

    def _compiled(self, key: IndexedKey, given: Given) -> Compiled:
        from grading.equivalence.index_key import compiled

        asked = tuple(key.free.items())
        found = given.compiled.get(asked)
        if found is None:
            setting, _ = _setting(self.arrays, self.symbols, self.shapes)
            found = given.compiled[asked] = compiled(given.tree, setting, key.free, given.text)
        return found

    def agrees(self, a: Any, b: Any, slack: float = 1.0) -> bool:
        """Whether expression `b` would pass for key `a`."""
        return self.compare(self.parse(str(b)), a).right is True

    def findings(self, given: Given, value: Any) -> tuple[Finding, ...]:
        """Sign, factor, exchanged indices, right on the diagonal only."""
        from grading.equivalence.index_key import indexed_findings

        key = _key(self, str(value))
        return tuple(Finding(name, text) for name, text in indexed_findings(key, self._compiled(key, given)))

    def plain(self, given: Given) -> str:
        """The text that was typed."""
        return given.text

    def answer_format(self) -> str:
        """What to type."""
        names = ", ".join(name for name, _ in self.arrays)
        return f"an expression in {names} with indices, e.g. p_i, v_jc, sum_r p_r, delta_ij or 1[i=j]"

    def precision(self) -> str:
        """The rule in force."""
        return "any expression equal to it for all indices and all arrays of this kind"

    def samples(self, value: Any) -> Samples:
        """Right, wrong and unreadable answers made from the key."""
        from grading.equivalence.variants import variants

        names = _setting(self.arrays, self.symbols, self.shapes)[1]
        return variants(self, str(value), names, commutes=True)

    def declared(self) -> Mapping[str, Any]:
        """Arrays, symbols and shapes of design 4.5."""
        out: dict[str, Any] = {"arrays": dict(self.arrays)}
        if self.symbols:
            out["symbols"] = dict(self.symbols)
        if self.shapes:
            out["shapes"] = {name: list(shape) for name, shape in self.shapes}
        return out


@lru_cache(maxsize=1024)
def _setting(arrays: Any, symbols: Any, shapes: Any) -> tuple[IndexSetting, Declared]:
    from grading.equivalence.domain import read_domain
    from grading.equivalence.draws import ARRAY_KINDS, read_shapes
    from grading.equivalence.index_key import IndexSetting
    from grading.reading.names import Declared

    domain = read_domain(dict(symbols))
    checked = dict(read_shapes(dict(shapes)))
    # an array that has a shape and nothing else is any real one
    kinds = {**dict.fromkeys(checked, "real matrix"), **dict(arrays)}
    if not kinds:
        raise BadKey("arrays: at least one array must be declared")
    for name, kind in kinds.items():
        if kind not in ARRAY_KINDS:
            raise BadKey(f"arrays.{name}: {kind!r} is unknown; use {', '.join(ARRAY_KINDS[:4])}")
        checked.setdefault(name, ("T", "T") if kind == "real matrix" else ("T",))
    both = sorted(set(kinds) & set(domain.order))
    if both:
        raise BadKey(f"{both[0]} is declared both as an array and as a number")
    dims = {dim for shape in checked.values() for dim in shape if isinstance(dim, str)}
    ranks = {name: len(shape) for name, shape in checked.items()}
    names = Declared(symbols=frozenset(domain.order) | dims, arrays=ranks, functions=domain.functions)
    return IndexSetting(kinds, checked, domain), names


@lru_cache(maxsize=1024)
def _key(kind: Indexed, text: str) -> IndexedKey:
    from grading.equivalence.index_key import IndexedKey, compiled
    from grading.reading.grammar import read

    setting, names = _setting(kind.arrays, kind.symbols, kind.shapes)
    try:
        tree = read(text, names)
    except Unreadable as error:
        raise BadKey(f"the key cannot be read: {error.message}") from None
    key = compiled(tree, setting, None, text)
    if key.program is None:
        raise BadKey(f"the key's indices do not fit: {key.reason}")
    return IndexedKey(key, setting)
