"""Kind matrix_expression: products that do not commute, shapes with named dimensions, values on drawn matrices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from grading.errors import BadKey, Unreadable
from grading.kinds.base import Comparison, Finding, Kind, Samples
from grading.kinds.expression import pairs, shown_tree

if TYPE_CHECKING:
    from grading.equivalence.matrix_key import (
        MatrixKey,
        MatrixSetting,
        Planned,
    )
    from grading.reading.names import Declared
    from grading.reading.tree import Node


@dataclass(frozen=True, slots=True)
class Given:
    """A matrix expression that was read: what was typed, and its tree with shapes and program."""

    text: str
    planned: Planned


@dataclass(frozen=True)
class MatrixExpression(Kind):
    """An expression of matrices.

    shapes: dimensions by name, [rows, columns]; symbols: domains of scalars; arrays: "simplex" or the like of some;
    known: what more holds of a matrix, "permutation", "row stochastic", or a formula in the others (O: "P V"), which
    drawn matrices then obey.
    """

    name: ClassVar[str] = "matrix_expression"
    shapes: Any = ()
    symbols: Any = ()
    arrays: Any = ()
    known: Any = ()

    def __post_init__(self) -> None:
        for part in ("shapes", "symbols", "arrays", "known"):
            object.__setattr__(self, part, pairs(getattr(self, part), part))

    def parse(self, text: str) -> Given:
        """Read an expression; shapes that do not fit are found here and said by `compare`."""
        from grading.equivalence.constants import check_constants
        from grading.equivalence.matrix_key import planned
        from grading.reading.grammar import read

        setting, names = _setting(self.shapes, self.symbols, self.arrays + self.known)
        tree = read(text, names)
        check_constants(tree)
        numpy = "@" in text or ".sum(" in text
        return Given(text, planned(tree, setting, text, numpy))

    def reading(self, given: Given) -> str:
        """What was understood, in the learner's own order."""
        return shown_tree(given.planned.tree)

    def show(self, value: Any) -> str:
        """The text of the expression."""
        return str(value)

    def compare(self, given: Given, value: Any) -> Comparison:
        """Shapes first, in words; then values on drawn matrices."""
        from grading.equivalence.matrix_key import decide_matrix

        outcome = decide_matrix(_key(self, str(value)), given.planned)
        return Comparison(outcome.right, outcome.method, outcome.detail, witness=outcome.witness)

    def agrees(self, a: Any, b: Any, slack: float = 1.0) -> bool:
        """Whether expression `b` would pass for key `a`."""
        return self.compare(self.parse(str(b)), a).right is True

    def findings(self, given: Given, value: Any) -> tuple[Finding, ...]:
        """Sign, factor or transposition."""
        from grading.equivalence.matrix_key import matrix_findings

        return tuple(Finding(name, text) for name, text in matrix_findings(_key(self, str(value)), given.planned))

    def plain(self, given: Given) -> str:
        """The text that was typed."""
        return given.text

    def answer_format(self) -> str:
        """What to type."""
        names = ", ".join(name for name, _ in self.shapes)
        return f"an expression in {names}; products do not commute; A^T or A.T, o or ∘ entry by entry, @ or a space"

    def precision(self) -> str:
        """The rule in force."""
        return "any expression equal to it for all matrices of these shapes"

    def samples(self, value: Any) -> Samples:
        """Right, wrong and unreadable answers made from the key."""
        from grading.equivalence.variants import variants

        names = _setting(self.shapes, self.symbols, self.arrays + self.known)[1]
        return variants(self, str(value), names, commutes=False)

    def declared(self) -> Mapping[str, Any]:
        """Symbols and shapes of design 4.5."""
        out: dict[str, Any] = {}
        if self.symbols:
            out["symbols"] = dict(self.symbols)
        if self.arrays:
            out["arrays"] = dict(self.arrays)
        out["shapes"] = {name: list(shape) for name, shape in self.shapes}
        return out


@lru_cache(maxsize=1024)
def _setting(shapes: Any, symbols: Any, known: Any) -> tuple[MatrixSetting, Declared]:
    from grading.equivalence.domain import read_domain
    from grading.equivalence.draws import ARRAY_KINDS, read_shapes
    from grading.equivalence.matrix_key import MatrixSetting
    from grading.reading.names import Declared

    domain = read_domain(dict(symbols))
    checked = {}
    for name, shape in read_shapes(dict(shapes)):
        if len(shape) > 2:
            raise BadKey(f"shapes.{name}: a matrix has two dimensions")
        checked[name] = (shape[0], shape[1] if len(shape) == 2 else 1)
    for name, what in known:
        if what in ARRAY_KINDS and name not in checked:
            checked[name] = ("T", "T" if what in ("real matrix", "permutation", "row stochastic") else 1)
    if not checked:
        raise BadKey("shapes: at least one matrix must be declared")
    dims = {dim for shape in checked.values() for dim in shape if isinstance(dim, str)}
    both = sorted(set(checked) & (set(domain.order) | dims))
    if both:
        raise BadKey(f"{both[0]} is declared both as a matrix and as a number")
    names = Declared(symbols=frozenset(domain.order) | dims, matrices=frozenset(checked))
    strange = sorted({name for name, _ in known} - set(checked))
    if strange:
        raise BadKey(f"{strange[0]} has no shape")
    for name, what in known:
        if what == "permutation" and checked[name][0] != checked[name][1]:
            raise BadKey(f"{name} is not square: it cannot be a permutation matrix")
    properties = {name: what for name, what in known if what in ARRAY_KINDS}
    if "ones" in checked:
        properties["ones"] = "ones"
    formulas = {name: _formula(name, what, names) for name, what in known if what not in ARRAY_KINDS}
    return MatrixSetting(checked, domain, properties, formulas), names


def _formula(name: str, text: Any, names: Declared) -> Node:
    from grading.reading.grammar import read

    try:
        return read(str(text), names)
    except Unreadable as error:
        raise BadKey(f"known.{name}: {error.message}") from None


@lru_cache(maxsize=1024)
def _key(kind: MatrixExpression, text: str) -> MatrixKey:
    from grading.equivalence.matrix_key import MatrixKey

    setting, _ = _setting(kind.shapes, kind.symbols, kind.arrays + kind.known)
    try:
        given = kind.parse(text)
    except Unreadable as error:
        raise BadKey(f"the key cannot be read: {error.message}") from None
    if given.planned.plan is None:
        raise BadKey(f"the key's shapes do not fit: {given.planned.reason}")
    return MatrixKey(given.planned, setting)
