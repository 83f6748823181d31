"""Kind expression: a formula over declared names, equal to the key on the declared domain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from grading.errors import BadKey, Unreadable
from grading.kinds.base import Comparison, Finding, Kind, Samples

if TYPE_CHECKING:
    from grading.equivalence.decide import Key, Ready
    from grading.equivalence.domain import Domain
    from grading.reading.names import Declared
    from grading.reading.tree import Node


@dataclass(frozen=True, slots=True)
class Given:
    """A formula that was read: what was typed, and the tree made ready for evaluation."""

    text: str
    ready: Ready


def pairs(declared: Any, what: str) -> tuple[tuple[str, Any], ...]:
    """A declaration as pairs, so that a kind can be hashed: from an object, from pairs, or from a list of names."""
    if declared is None:
        return ()
    if isinstance(declared, Mapping):
        return tuple((name, frozen(value)) for name, value in declared.items())
    if isinstance(declared, (list, tuple, set, frozenset)):
        return tuple(
            (item, "real") if isinstance(item, str) else (item[0], frozen(item[1])) for item in declared if item
        )
    raise BadKey(f"{what}: an object or a list of names is needed")


def frozen(value: Any) -> Any:
    """Lists as tuples, all the way down."""
    return tuple(map(frozen, value)) if isinstance(value, (list, tuple)) else value


@dataclass(frozen=True)
class Expression(Kind):
    """A formula. symbols: domains by name (design 4.5), or a list of real names; values are texts of formulas."""

    name: ClassVar[str] = "expression"
    symbols: Any = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "symbols", pairs(self.symbols, "symbols"))

    def parse(self, text: str) -> Given:
        """Read a formula; `Unreadable` where it cannot be read or a constant part of it has no value."""
        from grading.equivalence.constants import check_constants
        from grading.equivalence.decide import ready
        from grading.equivalence.evaluate import Unsupported
        from grading.reading.grammar import read

        domain, names = _setting(self.symbols)
        tree = read(text, names)
        check_constants(tree, domain.functions)
        try:
            return Given(text, ready(tree, domain))
        except Unsupported as reason:
            raise Unreadable(str(reason)) from None

    def reading(self, given: Given) -> str:
        """What was understood, in the learner's own order."""
        return shown_tree(given.ready.tree)

    def show(self, value: Any) -> str:
        """The text of the formula."""
        return str(value)

    def compare(self, given: Given, value: Any) -> Comparison:
        """Hold a formula against the key's text: proved, sampled, refuted with a witness, or undecided."""
        from grading.equivalence.decide import decide, within

        key = _key(self, str(value))
        outcome = decide(key, given.ready)
        if outcome.right is False and self._loose and within(key, given.ready, self._allowed):
            return Comparison(True, "tolerance", f"within {self.precision()}")
        return Comparison(outcome.right, outcome.method, outcome.detail, witness=outcome.witness)

    @property
    def _loose(self) -> bool:
        rule = self.tolerance
        return not rule.equivalent and bool(rule.rel or rule.abs or rule.sig)

    def _allowed(self, key: Fraction) -> Fraction:
        """The width of the tolerance at a key value."""
        rule = self.tolerance
        if rule.sig is not None:
            return _half_unit(key, rule.sig)
        return (rule.abs or Fraction(0)) + (rule.rel or Fraction(0)) * abs(key)

    def agrees(self, a: Any, b: Any, slack: float = 1.0) -> bool:
        """Whether formula `b` would pass for key `a`."""
        return self.compare(self.parse(str(b)), a).right is True

    def findings(self, given: Given, value: Any) -> tuple[Finding, ...]:
        """Sign, factors, reciprocal and the like, where they hold at every point that is looked at."""
        from grading.equivalence.decide import findings

        return tuple(Finding(name, text) for name, text in findings(_key(self, str(value)), given.ready))

    def plain(self, given: Given) -> str:
        """The text that was typed."""
        return given.text

    def answer_format(self) -> str:
        """What to type."""
        names = [name for name, _ in self.symbols if not name.endswith("()")]
        return f"a formula in {', '.join(names)}" if names else "a number or formula, exact"

    def precision(self) -> str:
        """The rule in force."""
        rule = self.tolerance
        if not self._loose:
            return "any formula equal to it on the stated domain"
        if rule.sig is not None:
            return f"{rule.sig} significant digits"
        parts = [f"{float(part):g}" for part in (rule.abs,) if part]
        parts += [f"{float(part):g} of the value" for part in (rule.rel,) if part]
        return " + ".join(parts)

    def samples(self, value: Any) -> Samples:
        """Right, wrong and unreadable answers made from the key."""
        from grading.equivalence.variants import variants

        names = _setting(self.symbols)[1]
        return variants(self, str(value), names, commutes=True)

    def declared(self) -> Mapping[str, Any]:
        """The symbols of design 4.5."""
        return {"symbols": dict(self.symbols)} if self.symbols else {}


def shown_tree(tree: Node) -> str:
    """The reading of a tree: plain text, harmless on a screen, at most 200 characters."""
    from grading.reading.screen import printable
    from grading.reading.show import show

    return printable(show(tree))


@lru_cache(maxsize=1024)
def _setting(symbols: tuple[tuple[str, Any], ...]) -> tuple[Domain, Declared]:
    from grading.equivalence.domain import read_domain
    from grading.reading.names import Declared

    domain = read_domain(dict(symbols))
    return domain, Declared(symbols=frozenset(domain.order), functions=domain.functions)


@lru_cache(maxsize=1024)
def _key(kind: Expression, text: str) -> Key:
    from grading.equivalence.decide import Key

    domain, _ = _setting(kind.symbols)
    try:
        return Key(kind.parse(text).ready, domain)
    except Unreadable as error:
        raise BadKey(f"the key cannot be read: {error.message}") from None


def _half_unit(key: Fraction, sig: int) -> Fraction:
    """Half a unit of the key's n-th significant digit."""
    size = abs(key)
    if not size:
        return Fraction(0)
    exponent = len(str(size.numerator)) - len(str(size.denominator)) - 1
    while Fraction(10) ** (exponent + 1) <= size:
        exponent += 1
    return Fraction(10) ** (exponent - sig + 1) / 2
