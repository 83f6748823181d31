"""The normal form: a tree becomes a polynomial over atoms, and equal trees become equal polynomials.

Roots, powers, exponentials and logarithms are rewritten where the declared domain permits: √d² is d for d ≥ 1 and |d|
where the sign is open, ln(ab) is split, e^(a + ln b) is b e^a. Sine and cosine become exponentials of an imaginary
argument, so that every identity among them is one of polynomials; hyperbolic functions become real exponentials.
Factorials shift to one base, a binomial is three factorials, a maximum is (a + b + |a − b|)/2. What the form does not
know raises `TooBig`, and the decision goes by sampling.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from grading.equivalence.functions import CALLS, extreme, opaque, pi
from grading.equivalence.pieces import HALF, add_to, as_poly, chain, constant_of, number_poly
from grading.equivalence.polynomial import Poly, Table, Term
from grading.equivalence.powers import Powers
from grading.equivalence.rationals import TooBig, tidy
from grading.equivalence.sums import sum_poly
from grading.reading.tree import Add, Call, Div, Indicator, Mul, Neg, Node, Number, Pow, Sub, Sum, Symbol

EXPAND = 80
"""Products of sums with at most this many terms are multiplied out at once; larger ones stay factored."""


class Form(Powers):
    """The normal form of one tree within a table of atoms."""

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self.bound: dict[str, Poly] = {}

    # ------------------------------------------------------------------------------------------------------ trees

    def poly(self, node: Node) -> Poly:
        """The polynomial of a tree; callers must not change it."""
        run = _POLY.get(type(node))
        if run is None:
            raise TooBig(f"{type(node).__name__} has no normal form")
        return run(self, node)

    def term(self, node: Node) -> Term:
        """A tree as one factored term: what roots, logarithms and divisions work on."""
        match node:
            case Number(value=value):
                return tidy(value), ()
            case Neg(arg=arg):
                number, mono = self.term(arg)
                return -number, mono
            case Mul():
                out: Term = (1, ())
                for factor in chain(node):
                    out = self.table.times_term(out, self.term(factor))
                return out
            case Div(left=left, right=right):
                return self.table.times_term(self.term(left), self.term_power(self.term(right), -1))
            case Pow():
                return self._power_term(node)
            case Call(name="sqrt", args=(arg,)):
                return self.term_power(self.term(arg), HALF)
            case _:
                return self.table.wrap(self.poly(node))

    def _symbol(self, node: Symbol) -> Poly:
        bound = self.bound.get(node.name)
        if bound is not None:
            return bound
        if node.name not in self.table.intervals:
            if node.name == "pi":
                return {((pi(self), 1),): 1}
            if node.name == "e":
                return as_poly(self.exp({(): 1}))
        number, mono = self.table.symbol(node.name)
        return {mono: number}

    def _total(self, node: Add | Sub) -> Poly:
        out: Poly = {}
        rest: Node = node
        while True:
            if not isinstance(rest, (Add, Sub)):
                add_to(out, self.poly(rest), 1)
                return out
            add_to(out, self.poly(rest.right), -1 if isinstance(rest, Sub) else 1)
            rest = rest.left

    def _mul(self, node: Mul) -> Poly:
        out: Poly = {(): 1}
        for factor in chain(node):
            out = self.product(out, self.poly(factor))
        return out

    def product(self, a: Poly, b: Poly) -> Poly:
        """a b, multiplied out while that is short."""
        if len(a) == 1 or len(b) == 1 or len(a) * len(b) <= EXPAND:
            return self.table.times(a, b)
        return as_poly(self.table.times_term(self.table.wrap(a), self.table.wrap(b)))

    def _div(self, node: Div) -> Poly:
        return self.table.scaled(self.poly(node.left), self.term_power(self.term(node.right), -1))

    def _pow(self, node: Pow) -> Poly:
        exponent = self.poly(node.exponent)
        constant = constant_of(exponent)
        if constant is not None and constant.denominator == 1 and constant > 0:
            base = self.poly(node.base)
            n = int(constant)
            if len(base) == 1:
                return as_poly(self.term_power(next((c, m) for m, c in base.items()), n))
            if not base:
                return {}
            if n <= 40 and math.comb(n + len(base) - 1, n) <= EXPAND:
                return self.table.whole_power(base, n)
        return as_poly(self._power_term(node, exponent))

    def _power_term(self, node: Pow, exponent: Poly | None = None) -> Term:
        exponent = self.poly(node.exponent) if exponent is None else exponent
        constant = constant_of(exponent)
        if constant is not None:
            return self.term_power(self.term(node.base), constant)
        if isinstance(node.base, Symbol) and node.base.name == "e" and "e" not in self.table.intervals:
            return self.exp(exponent)
        return self.general_power(self.term(node.base), exponent)

    def _call(self, node: Call) -> Poly:
        name, args = node.name, node.args
        if name in self.table.domain.functions:
            return opaque(self, name, [self.poly(arg) for arg in args])
        run = CALLS.get((name, len(args)))
        if run is not None:
            return run(self, *args)
        if name in ("min", "max") and args:
            return extreme(self, [self.poly(arg) for arg in args], 1 if name == "max" else -1)
        if name == "mean" and args:
            out: Poly = {}
            for arg in args:
                add_to(out, self.poly(arg), Fraction(1, len(args)))
            return out
        raise TooBig(f"{name} has no normal form")


def _indicator(form: Form, node: Indicator) -> Poly:
    gap: Poly = {}
    add_to(gap, form.poly(node.left), 1)
    add_to(gap, form.poly(node.right), -1)
    low, high, _, _ = form.table.range_of(gap)
    constant = constant_of(gap)
    if constant is None and not (low > 0 or high < 0):
        raise TooBig("an open comparison")
    side = (1 if low > 0 else -1) if constant is None else constant
    holds = {
        "=": side == 0,
        "!=": side != 0,
        "<": side < 0,
        "<=": side <= 0,
        ">": side > 0,
        ">=": side >= 0,
    }
    return {(): 1} if holds[node.relation] else {}


_POLY: Mapping[type, Callable[..., Poly]] = {
    Number: lambda _form, node: number_poly(tidy(node.value)),
    Symbol: Form._symbol,
    Neg: lambda form, node: {m: -c for m, c in form.poly(node.arg).items()},
    Add: Form._total,
    Sub: Form._total,
    Mul: Form._mul,
    Div: Form._div,
    Pow: Form._pow,
    Call: Form._call,
    Sum: sum_poly,
    Indicator: _indicator,
}
