"""Sums in the normal form: short ones term by term, polynomial ones in closed form."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from grading.equivalence.pieces import HALF, add_to, constant_of, number_poly, plus
from grading.equivalence.polynomial import Mono, Poly
from grading.equivalence.rationals import Rational, TooBig
from grading.reading.tree import Sum

if TYPE_CHECKING:
    from grading.equivalence.normal import Form


def sum_poly(form: Form, node: Sum) -> Poly:
    """A sum with bounds as a polynomial; `TooBig` where there is no closed form."""
    if node.lower is None or node.upper is None or node.skip is not None:
        raise TooBig("a sum without a closed form")
    lower, upper = form.poly(node.lower), form.poly(node.upper)
    first, last = constant_of(lower), constant_of(upper)
    if first is not None and last is not None:
        return _short_sum(form, node, first, last)
    if node.product:
        raise TooBig("a product without a closed form")
    return _closed_sum(form, node, lower, upper)


def _short_sum(form: Form, node: Sum, first: Rational, last: Rational) -> Poly:
    if first.denominator != 1 or last.denominator != 1 or last - first > 60:
        raise TooBig("a long sum")
    out: Poly = {(): 1} if node.product else {}
    hidden = form.bound.get(node.index)
    for i in range(int(first), int(last) + 1):
        form.bound[node.index] = number_poly(i)
        if node.product:
            out = form.product(out, form.poly(node.body))
        else:
            add_to(out, form.poly(node.body), 1)
    _restore(form, node.index, hidden)
    return out


def _closed_sum(form: Form, node: Sum, lower: Poly, upper: Poly) -> Poly:
    """A body that is a polynomial in the running index, up to the third power."""
    table = form.table
    at = table.atom("fn", ("running", node.index, len(form.bound)))
    hidden = form.bound.get(node.index)
    form.bound[node.index] = {((at, 1),): 1}
    body = form.poly(node.body)
    _restore(form, node.index, hidden)
    by_power: dict[int, Poly] = {}
    for mono, number in body.items():
        exponent = dict(mono).get(at, 0)
        rest = tuple(pair for pair in mono if pair[0] != at)
        if exponent not in (0, 1, 2, 3) or mentions(rest, at):
            raise TooBig("a sum without a closed form")
        add_to(by_power.setdefault(int(exponent), {}), {rest: number}, 1)
    out: Poly = {}
    before = plus(lower, -1)
    for exponent, factor in by_power.items():
        closed: Poly = {}
        add_to(closed, faulhaber(form, upper, exponent), 1)
        add_to(closed, faulhaber(form, before, exponent), -1)
        add_to(out, form.product(factor, closed), 1)
    return out


def mentions(mono: Mono, at: int) -> bool:
    """Whether an atom occurs inside the atoms of a monomial: then the monomial is not constant in it."""
    # an atom made of the running index is newer than it
    return any(k > at for k, _ in mono)


def faulhaber(form: Form, n: Poly, exponent: int) -> Poly:
    """1^k + … + n^k."""
    if exponent == 0:
        return n
    square = form.table.times(n, plus(n, 1))
    if exponent == 1:
        return form.table.scaled(square, (HALF, ()))
    if exponent == 2:
        twice = plus({m: 2 * c for m, c in n.items()}, 1)
        return form.table.scaled(form.table.times(square, twice), (Fraction(1, 6), ()))
    return form.table.scaled(form.table.times(square, square), (Fraction(1, 4), ()))


def _restore(form: Form, index: str, hidden: Poly | None) -> None:
    if hidden is None:
        form.bound.pop(index, None)
    else:
        form.bound[index] = hidden
