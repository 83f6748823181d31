"""Functions in the normal form: circular and hyperbolic ones as exponentials, extremes, steps, factorials."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from grading.equivalence.pieces import HALF, add_to, as_poly, constant_of, leading, number_poly, plus
from grading.equivalence.polynomial import Mono, Poly, Term
from grading.equivalence.ranges import LINE, POSITIVE, Range
from grading.equivalence.rationals import Rational, TooBig, size_of
from grading.reading.tree import Node

if TYPE_CHECKING:
    from grading.equivalence.normal import Form


def pi(form: Form) -> int:
    """The atom π."""
    return form.table.atom("pi", 0, None, (3.0, 4.0, True, True))


def turn(form: Form, angle: Poly) -> Poly:
    """e^(i · angle)."""
    table = form.table
    out: Poly = {(): 1}
    half_turn = pi(form)
    for mono, number in angle.items():
        rest = tuple(pair for pair in mono if pair[0] != half_turn)
        times_pi = dict(mono).get(half_turn)
        if times_pi == 1 and not rest:
            piece = root_of_unity(form, Fraction(number) % 2)
        elif times_pi == 1 and number.denominator == 1 and form.whole({rest: 1}):
            piece = as_poly(form.sign_power({rest: number}))
        else:
            piece = {((table.atom("expi", mono), number),): 1}
        out = table.times(out, piece)
    return out


def root_of_unity(form: Form, share: Fraction) -> Poly:
    """e^(iπ share), in square roots where the angle is a multiple of 15°, 30° or 45°."""
    table = form.table
    quarter, rest = divmod(share * 2, 1)
    base: Poly = {((table.imaginary(), 1),): 1}
    out = table.whole_power(base, int(quarter))
    if not rest:
        return out
    i: Mono = ((table.imaginary(), 1),)
    root3: Term = form.number_power(3, HALF)
    root2: Term = form.number_power(2, HALF)
    cosines: dict[Fraction, Poly] = {
        Fraction(1, 3): {root3[1]: HALF, i: HALF},
        Fraction(2, 3): table.times({(): 1}, {(): HALF, table.times_mono(i, root3[1])[1]: HALF}),
        Fraction(1, 2): {root2[1]: HALF, table.times_mono(i, root2[1])[1]: HALF},
    }
    if rest in cosines:
        return table.times(out, cosines[rest])
    return table.times(out, {((table.atom("expi", ((pi(form), 1),)), rest / 2),): 1})


def circular(form: Form, angle: Poly, sign: int) -> Poly:
    """cos (sign 1) or sin (sign −1) as exponentials."""
    table = form.table
    out: Poly = {}
    add_to(out, turn(form, angle), 1)
    add_to(out, turn(form, {m: -c for m, c in angle.items()}), sign)
    scale: Term = (HALF, ()) if sign > 0 else (-HALF, ((table.imaginary(), 1),))
    return table.scaled(out, scale)


def hyperbolic(form: Form, arg: Poly, sign: int) -> Poly:
    """cosh (sign 1) or sinh (sign −1)."""
    out: Poly = {}
    add_to(out, as_poly(form.exp(arg)), HALF)
    add_to(out, as_poly(form.exp({m: -c for m, c in arg.items()})), sign * HALF)
    return out


def over(form: Form, top: Poly, bottom: Poly) -> Poly:
    """top/bottom."""
    return form.table.scaled(top, form.term_power(form.table.wrap(bottom), -1))


def opaque(form: Form, name: str, args: list[Poly], reach: Range = LINE) -> Poly:
    """A function about which nothing is known but that equal arguments give equal values."""
    plain = [frozenset(form.table.canonical(arg).items()) for arg in args]
    return {((form.table.atom("fn", (name, *plain), None, reach), 1),): 1}


def odd(form: Form, name: str, arg: Poly, known: Mapping[Rational, Rational]) -> Poly:
    """An odd function: f(−x) = −f(x); `known` gives some values as multiples of π."""
    constant = constant_of(arg)
    if constant == 0:
        return {}
    if constant is not None and size_of(constant) in known:
        share = known[size_of(constant)]
        return {((pi(form), 1),): share if constant > 0 else -share}
    if leading(arg) < 0:
        flipped = opaque(form, name, [{m: -c for m, c in arg.items()}])
        return {m: -c for m, c in flipped.items()}
    return opaque(form, name, [arg])


def extreme(form: Form, parts: list[Poly], sign: int) -> Poly:
    """The largest (sign 1) or smallest of several, by absolute values of differences."""
    best = parts[0]
    for other in parts[1:]:
        gap: Poly = {}
        add_to(gap, best, 1)
        add_to(gap, other, -1)
        out: Poly = {}
        add_to(out, best, HALF)
        add_to(out, other, HALF)
        add_to(out, as_poly(form.abs_of(form.table.wrap(gap))), sign * HALF)
        best = out
    return best


def step(form: Form, arg: Poly) -> Poly:
    """floor: whole parts come out."""
    constant = constant_of(arg)
    if constant is not None:
        return number_poly(math.floor(constant))
    out: Poly = {}
    rest: Poly = {}
    for mono, number in arg.items():
        if mono and form.whole({mono: number}):
            out[mono] = number
        else:
            rest[mono] = number
    shift = math.floor(rest.get((), 0))
    add_to(out, number_poly(shift), 1)
    add_to(rest, number_poly(shift), -1)
    constant = constant_of(rest)
    if constant is not None:
        return out
    form.table.kinked = True
    add_to(out, opaque(form, "floor", [rest]), 1)
    return out


def sign(form: Form, arg: Node) -> Poly:
    """x/|x|."""
    term = form.term(arg)
    if not term[0]:
        return {}
    return as_poly(form.table.times_term(term, form.term_power(form.abs_of(term), -1)))


def factorial(form: Form, arg: Poly) -> Poly:
    """n!, with whole shifts multiplied out: (n + 1)! = (n + 1) n!."""
    constant = constant_of(arg)
    if constant is not None and constant.denominator == 1:
        if not 0 <= constant <= 300:
            raise TooBig("a factorial out of range")
        return {(): math.factorial(int(constant))}
    shift = math.floor(arg.get((), 0))
    if abs(shift) > 12:
        raise TooBig("a factorial far from its base")
    base: Poly = {}
    add_to(base, arg, 1)
    add_to(base, number_poly(shift), -1)
    out = opaque(form, "factorial", [base], POSITIVE if form.table.range_of(base)[0] > -1 else LINE)
    for step in range(1, shift + 1):
        out = form.product(out, plus(base, step))
    for step in range(shift + 1, 1):
        out = over(form, out, plus(base, step))
    return out


def binomial(form: Form, top: Node, below: Node) -> Poly:
    """n!/(k! (n − k)!)."""
    n, k = form.poly(top), form.poly(below)
    fixed = constant_of(k)
    if fixed is not None and fixed.denominator == 1 and 0 <= fixed <= 20:
        out: Poly = {(): 1}
        for i in range(int(fixed)):
            out = form.table.scaled(form.product(out, plus(n, -i)), (Fraction(1, i + 1), ()))
        return out
    rest: Poly = {}
    add_to(rest, n, 1)
    add_to(rest, k, -1)
    return over(form, over(form, factorial(form, n), factorial(form, k)), factorial(form, rest))


def _asinh(form: Form, arg: Node) -> Poly:
    x = form.poly(arg)
    root = form.term_power(form.table.wrap(plus(form.table.times(x, x), 1)), HALF)
    inside = dict(x)
    add_to(inside, as_poly(root), 1)
    # the argument of the logarithm is positive, which its terms do not show
    partial = form.table.partial
    out = form.ln(form.table.wrap(inside))
    form.table.partial = partial
    return out


def _acosh(form: Form, arg: Node) -> Poly:
    x = form.poly(arg)
    root = form.term_power(form.table.wrap(plus(form.table.times(x, x), -1)), HALF)
    inside = dict(x)
    add_to(inside, as_poly(root), 1)
    return form.ln(form.table.wrap(inside))


def _atanh(form: Form, arg: Node) -> Poly:
    x = form.poly(arg)
    out: Poly = {}
    add_to(out, form.ln(form.table.wrap(plus(x, 1))), HALF)
    add_to(out, form.ln(form.table.wrap(plus({m: -c for m, c in x.items()}, 1))), -HALF)
    return out


def _acos(form: Form, arg: Node) -> Poly:
    out: Poly = {((pi(form), 1),): HALF}
    add_to(out, odd(form, "asin", form.poly(arg), _ARCS), -1)
    return out


def _phi(form: Form, arg: Node) -> Poly:
    x = form.poly(arg)
    if leading(x) >= 0:
        return opaque(form, "Phi", [x], POSITIVE)
    out: Poly = {(): 1}
    add_to(out, opaque(form, "Phi", [{m: -c for m, c in x.items()}], POSITIVE), -1)
    return out


def _log_base(form: Form, arg: Node, base: Node) -> Poly:
    return over(form, form.ln(form.term(arg)), form.ln(form.term(base)))


def _ceil(form: Form, arg: Node) -> Poly:
    down = step(form, {m: -c for m, c in form.poly(arg).items()})
    return {m: -c for m, c in down.items()}


_ARCS: Mapping[Rational, Rational] = {1: HALF, HALF: Fraction(1, 6)}
_TANS: Mapping[Rational, Rational] = {1: Fraction(1, 4)}

CALLS: dict[tuple[str, int], Callable[..., Poly]] = {
    ("sqrt", 1): lambda f, a: as_poly(f.term_power(f.term(a), HALF)),
    ("exp", 1): lambda f, a: as_poly(f.exp(f.poly(a))),
    ("ln", 1): lambda f, a: f.ln(f.term(a)),
    ("abs", 1): lambda f, a: as_poly(f.abs_of(f.table.wrap(f.poly(a)))),
    ("sign", 1): sign,
    ("log", 2): _log_base,
    ("logistic", 1): lambda f, a: over(f, {(): 1}, plus(as_poly(f.exp({m: -c for m, c in f.poly(a).items()})), 1)),
    ("sin", 1): lambda f, a: circular(f, f.poly(a), -1),
    ("cos", 1): lambda f, a: circular(f, f.poly(a), 1),
    ("tan", 1): lambda f, a: over(f, circular(f, f.poly(a), -1), circular(f, f.poly(a), 1)),
    ("cot", 1): lambda f, a: over(f, circular(f, f.poly(a), 1), circular(f, f.poly(a), -1)),
    ("sec", 1): lambda f, a: over(f, {(): 1}, circular(f, f.poly(a), 1)),
    ("csc", 1): lambda f, a: over(f, {(): 1}, circular(f, f.poly(a), -1)),
    ("sinh", 1): lambda f, a: hyperbolic(f, f.poly(a), -1),
    ("cosh", 1): lambda f, a: hyperbolic(f, f.poly(a), 1),
    ("tanh", 1): lambda f, a: over(f, hyperbolic(f, f.poly(a), -1), hyperbolic(f, f.poly(a), 1)),
    ("coth", 1): lambda f, a: over(f, hyperbolic(f, f.poly(a), 1), hyperbolic(f, f.poly(a), -1)),
    ("sech", 1): lambda f, a: over(f, {(): 1}, hyperbolic(f, f.poly(a), 1)),
    ("csch", 1): lambda f, a: over(f, {(): 1}, hyperbolic(f, f.poly(a), -1)),
    ("asin", 1): lambda f, a: odd(f, "asin", f.poly(a), _ARCS),
    ("acos", 1): _acos,
    ("atan", 1): lambda f, a: odd(f, "atan", f.poly(a), _TANS),
    ("erf", 1): lambda f, a: odd(f, "erf", f.poly(a), {}),
    ("Phi", 1): _phi,
    ("asinh", 1): _asinh,
    ("acosh", 1): _acosh,
    ("atanh", 1): _atanh,
    ("floor", 1): lambda f, a: step(f, f.poly(a)),
    ("ceil", 1): _ceil,
    ("factorial", 1): lambda f, a: factorial(f, f.poly(a)),
    ("gamma", 1): lambda f, a: factorial(f, plus(f.poly(a), -1)),
    ("binomial", 2): binomial,
}
