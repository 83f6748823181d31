"""Small operations on polynomials and trees that the normal form is made of."""

from __future__ import annotations

from fractions import Fraction

from grading.equivalence.polynomial import Poly, Term
from grading.equivalence.rationals import Rational
from grading.reading.tree import Mul, Node

HALF = Fraction(1, 2)


def add_to(out: Poly, part: Poly, factor: Rational) -> None:
    """out += factor · part, in place."""
    for mono, number in part.items():
        total = out.get(mono, 0) + number * factor
        if total:
            out[mono] = total
        else:
            out.pop(mono, None)


def as_poly(term: Term) -> Poly:
    """A polynomial of one term."""
    return {term[1]: term[0]} if term[0] else {}


def number_poly(number: Rational) -> Poly:
    """A constant polynomial."""
    return {(): number} if number else {}


def plus(poly: Poly, number: Rational) -> Poly:
    """poly + number, as a new one."""
    out = dict(poly)
    add_to(out, number_poly(number), 1)
    return out


def constant_of(poly: Poly) -> Rational | None:
    """The number that a polynomial is, or None."""
    if not poly:
        return 0
    if len(poly) == 1:
        return poly.get(())
    return None


def leading(poly: Poly) -> Rational:
    """The coefficient that decides a sum's sign: of its first monomial."""
    return poly[min(poly)] if poly else 1


def chain(node: Mul) -> list[Node]:
    """The factors of nested products, first one first."""
    parts: list[Node] = []
    rest: Node = node
    while isinstance(rest, Mul):
        parts.append(rest.right)
        rest = rest.left
    parts.append(rest)
    parts.reverse()
    return parts
