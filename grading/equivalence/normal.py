"""The normal form: a tree becomes a polynomial over atoms, and equal trees become equal polynomials.

Roots, powers, exponentials and logarithms are rewritten where the declared domain permits: √d² is d for d ≥ 1 and |d|
where the sign is open, ln(ab) is split, e^(a + ln b) is b e^a. Sine and cosine become exponentials of an imaginary
argument, so that every identity among them is one of polynomials; hyperbolic functions become real exponentials.
Factorials shift to one base, a binomial is three factorials, a maximum is (a + b + |a − b|)/2. What the form does not
know raises `TooBig`, and the decision goes by sampling.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from grading.equivalence.polynomial import (
    LINE,
    POSITIVE,
    Mono,
    Poly,
    Range,
    Rational,
    Table,
    Term,
    TooBig,
    factored,
    inverse,
    power,
)
from grading.reading.tree import Add, Call, Div, Indicator, Mul, Neg, Node, Number, Pow, Sub, Sum, Symbol

EXPAND = 80
"""Products of sums with at most this many terms are multiplied out at once; larger ones stay factored."""
MAX_CASES = 3
"""A proof by cases splits on at most this many absolute values."""
_HALF = Fraction(1, 2)


class Form:
    """The normal form of one tree within a table of atoms."""

    def __init__(self, table: Table) -> None:
        self.table = table
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
                return _plain(value), ()
            case Neg(arg=arg):
                number, mono = self.term(arg)
                return -number, mono
            case Mul():
                out: Term = (1, ())
                for factor in _chain(node):
                    out = self.table.times_term(out, self.term(factor))
                return out
            case Div(left=left, right=right):
                return self.table.times_term(self.term(left), self.term_power(self.term(right), -1))
            case Pow():
                return self._power_term(node)
            case Call(name="sqrt", args=(arg,)):
                return self.term_power(self.term(arg), _HALF)
            case _:
                return self.table.wrap(self.poly(node))

    def _symbol(self, node: Symbol) -> Poly:
        bound = self.bound.get(node.name)
        if bound is not None:
            return bound
        if node.name not in self.table.intervals:
            if node.name == "pi":
                return {((self.pi(), 1),): 1}
            if node.name == "e":
                return _as_poly(self.exp({(): 1}))
        number, mono = self.table.symbol(node.name)
        return {mono: number}

    def _total(self, node: Add | Sub) -> Poly:
        out: Poly = {}
        rest: Node = node
        while True:
            last = not isinstance(rest, (Add, Sub))
            part = self.poly(rest if last else rest.right)
            if isinstance(rest, Sub):
                _add(out, part, -1)
            else:
                _add(out, part, 1)
            if last:
                return out
            rest = rest.left

    def _mul(self, node: Mul) -> Poly:
        out: Poly = {(): 1}
        for factor in _chain(node):
            out = self.product(out, self.poly(factor))
        return out

    def product(self, a: Poly, b: Poly) -> Poly:
        """a b, multiplied out while that is short."""
        if len(a) == 1 or len(b) == 1 or len(a) * len(b) <= EXPAND:
            return self.table.times(a, b)
        return _as_poly(self.table.times_term(self.table.wrap(a), self.table.wrap(b)))

    def _div(self, node: Div) -> Poly:
        return self.table.scaled(self.poly(node.left), self.term_power(self.term(node.right), -1))

    def _pow(self, node: Pow) -> Poly:
        exponent = self.poly(node.exponent)
        constant = _constant(exponent)
        if constant is not None and constant.denominator == 1 and constant > 0:
            base = self.poly(node.base)
            n = int(constant)
            if len(base) == 1:
                return _as_poly(self.term_power(next((c, m) for m, c in base.items()), n))
            if not base:
                return {}
            if n <= 40 and math.comb(n + len(base) - 1, n) <= EXPAND:
                return self.table.whole_power(base, n)
        return _as_poly(self._power_term(node, exponent))

    def _power_term(self, node: Pow, exponent: Poly | None = None) -> Term:
        exponent = self.poly(node.exponent) if exponent is None else exponent
        constant = _constant(exponent)
        if constant is not None:
            return self.term_power(self.term(node.base), constant)
        if isinstance(node.base, Symbol) and node.base.name == "e" and "e" not in self.table.intervals:
            return self.exp(exponent)
        return self.general_power(self.term(node.base), exponent)

    # ------------------------------------------------------------------------------------------------------ powers

    def term_power(self, term: Term, exponent: Rational) -> Term:
        """A term to a rational power, with the signs that even roots ask for."""
        number, mono = term
        table = self.table
        if exponent.denominator == 1:
            n = int(exponent)
            if not number:
                if n <= 0:
                    raise TooBig("0 to a power that is not positive")
                return 0, ()
            factor, out = table.mono_power(mono, n)
            return (inverse(number) if n == -1 else power(number, n)) * factor, out
        if not number:
            return 0, ()
        out_term = self.number_power(abs(number), exponent)
        if exponent.denominator % 2:
            if number < 0 and exponent.numerator % 2:
                out_term = (-out_term[0], out_term[1])
            return table.times_term(out_term, table.mono_power(mono, exponent))
        open_signs: list[tuple[int, Rational]] = []
        for at, e in mono:
            if table.positive(at) or e.denominator % 2 == 0:
                out_term = table.times_term(out_term, table.mono_power(((at, e),), exponent))
            elif e.numerator % 2 == 0:
                out_term = table.times_term(out_term, self.term_power_of_abs(at, e * exponent))
            else:
                open_signs.append((at, e))
        if not open_signs:
            if number < 0:
                raise TooBig("an even root of a negative number")
            return out_term
        table.partial = True
        if len(open_signs) == 1:
            at, e = open_signs[0]
            if number < 0 and table.atoms[at].kind == "sum":
                data = table.atoms[at].data
                at, number = table.sum_atom({m: -c for m, c in data.items()}), -number
            if number > 0:
                return table.times_term(out_term, table.mono_power(((at, e),), exponent))
        for at, e in open_signs:
            out_term = table.times_term(out_term, self.term_power_of_abs(at, e * exponent))
        return out_term

    def number_power(self, number: Rational, exponent: Rational) -> Term:
        """A positive number to a fraction, by its primes: 12^(1/2) is 2 · 3^(1/2)."""
        out: Term = (1, ())
        for base, sign in ((number.numerator, 1), (number.denominator, -1)):
            for prime, count in factored(base):
                at = self.table.prime(prime)
                out = self.table.times_term(out, self.table.reduce(at, sign * count * exponent))
        return out

    def abs_atom(self, at: int) -> Term:
        """|atom| as a term, by the sign that is known or assumed for a case."""
        table = self.table
        atom = table.atoms[at]
        if table.positive(at) or atom.kind in ("abs", "num"):
            return 1, ((at, 1),)
        if atom.kind == "par":
            return 1, ()
        poly = atom.data if atom.kind == "sum" else {((at, 1),): 1}
        for sign, key in ((1, frozenset(poly.items())), (-1, frozenset((m, -c) for m, c in poly.items()))):
            if key in table.assume:
                return sign * table.assume[key], ((at, 1),)
        table.switches.setdefault(frozenset(poly.items()))
        return 1, ((table.atom("abs", at, at, POSITIVE), 1),)

    def term_power_of_abs(self, at: int, exponent: Rational) -> Term:
        """|atom| to a power."""
        sign, mono = self.abs_atom(at)
        if sign < 0 and exponent.denominator == 1 and exponent % 2:
            factor, out = self.table.mono_power(mono, exponent)
            return -factor, out
        return self.table.mono_power(mono, exponent)

    def abs_of(self, term: Term) -> Term:
        """|term|, factor by factor."""
        number, mono = term
        out: Term = (abs(number), ())
        for at, e in mono:
            if e.denominator % 2 == 0 or e.numerator % 2 == 0:
                piece = self.table.mono_power(((at, e),), 1)
            else:
                piece = self.term_power_of_abs(at, e)
            out = self.table.times_term(out, piece)
        return out

    def exp(self, exponent: Poly) -> Term:
        """e to a polynomial: a product of powers of atoms."""
        table = self.table
        exponent = table.canonical(exponent)
        out: Term = (1, ())
        for mono, number in exponent.items():
            if len(mono) == 1 and mono[0][1] == 1 and table.atoms[mono[0][0]].kind in ("ln", "lns"):
                at = table.atoms[mono[0][0]].data
                if table.atoms[at].kind == "num":
                    piece = self.number_power(table.atoms[at].data, number)
                else:
                    piece = table.mono_power(((at, 1),), number)
            else:
                reach = table.range_of_mono(mono)
                at = table.atom("exp", mono, None, (_exp(reach[0]), _exp(reach[1]), reach[2], reach[3]))
                piece = (1, ((at, number),))
            out = table.times_term(out, piece)
        return out

    def ln(self, term: Term) -> Poly:
        """The logarithm of a term, split into the logarithms of its factors."""
        number, mono = term
        if not number:
            raise TooBig("a logarithm of zero")
        table = self.table
        out: Poly = {}
        known = True
        for base, sign in ((abs(number.numerator), 1), (number.denominator, -1)):
            for prime, count in factored(base):
                _add(out, {((self.ln_atom(table.prime(prime)), 1),): sign * count}, 1)
        for at, e in mono:
            atom = table.atoms[at]
            if atom.kind == "exp":
                _add(out, {atom.data: e}, 1)
                continue
            if atom.kind == "abs":
                at = atom.data
            elif not table.positive(at):
                known = False
            _add(out, {((self.ln_atom(at), 1),): e}, 1)
        if known and number < 0:
            raise TooBig("a logarithm of a negative number")
        if not known:
            table.partial = True
        return out

    def ln_atom(self, at: int) -> int:
        """The logarithm of an atom's size."""
        table = self.table
        if table.atoms[at].kind == "sum" and not table.positive(at):
            _, mono = table.wrap(table.atoms[at].data)
            at = mono[0][0] if len(mono) == 1 else at
        low, high, low_open, high_open = table.atoms[at].range
        reach: Range = LINE if low < 0 else (_log(low), _log(high), low_open, high_open)
        return table.atom("ln", at, at, reach)

    def general_power(self, term: Term, exponent: Poly) -> Term:
        """A term to a power that is not a constant: e^(exponent · ln term), signs kept for whole exponents."""
        number, mono = term
        table = self.table
        if not number:
            raise TooBig("zero to an open power")
        whole = self.whole(exponent)
        out: Term = (1, ())
        log = self.ln((abs(number), ()))
        known = True
        for at, e in mono:
            atom = table.atoms[at]
            if atom.kind == "exp":
                _add(log, {atom.data: e}, 1)
            elif table.positive(at):
                target = atom.data if atom.kind == "abs" else at
                _add(log, {((self.ln_atom(target), 1),): e}, 1)
            elif whole and e.denominator == 1:
                _add(log, {((table.atom("lns", at, at), 1),): e}, 1)
            else:
                known = known and e.numerator % 2 == 0 and e.denominator % 2 == 1
                _add(log, {((self.ln_atom(at), 1),): e}, 1)
        if number < 0:
            if whole:
                out = self.sign_power(exponent)
            elif known:
                raise TooBig("a negative number to an open power")
        if not known:
            table.partial = True
        return table.times_term(out, self.exp(self.product(exponent, log)))

    def whole(self, poly: Poly) -> bool:
        """Whether a polynomial takes whole values only."""
        atoms = self.table.atoms
        return all(
            c.denominator == 1 and all(atoms[at].integer and e.denominator == 1 and e > 0 for at, e in mono)
            for mono, c in poly.items()
        )

    def sign_power(self, exponent: Poly) -> Term:
        """(−1) to a polynomial with whole values."""
        out: Term = (1, ())
        for mono, number in exponent.items():
            if not mono:
                out = (-out[0] if number % 2 else out[0], out[1])
            elif number % 2:
                # n^k has the parity of n
                flat = tuple((at, 1) for at, _ in mono)
                out = self.table.times_term(out, (1, ((self.table.atom("par", flat), 1),)))
        return out

    # --------------------------------------------------------------------------------------------------- functions

    def pi(self) -> int:
        """The atom π."""
        return self.table.atom("pi", 0, None, (3.0, 4.0, True, True))

    def turn(self, angle: Poly) -> Poly:
        """e^(i · angle)."""
        table = self.table
        out: Poly = {(): 1}
        pi = self.pi()
        for mono, number in angle.items():
            rest = tuple(pair for pair in mono if pair[0] != pi)
            times_pi = dict(mono).get(pi)
            if times_pi == 1 and not rest:
                piece = self.root_of_unity(Fraction(number) % 2)
            elif times_pi == 1 and number.denominator == 1 and self.whole({rest: 1}):
                piece = _as_poly(self.sign_power({rest: number}))
            else:
                piece = {((table.atom("expi", mono), number),): 1}
            out = table.times(out, piece)
        return out

    def root_of_unity(self, share: Fraction) -> Poly:
        """e^(iπ share), in square roots where the angle is a multiple of 15°, 30° or 45°."""
        table = self.table
        quarter, rest = divmod(share * 2, 1)
        base: Poly = {((table.imaginary(), 1),): 1}
        out = table.whole_power(base, int(quarter))
        if not rest:
            return out
        i: Mono = ((table.imaginary(), 1),)
        root3: Term = self.number_power(3, _HALF)
        root2: Term = self.number_power(2, _HALF)
        cosines: dict[Fraction, Poly] = {
            Fraction(1, 3): {root3[1]: _HALF, i: _HALF},
            Fraction(2, 3): table.times({(): 1}, {(): _HALF, table.times_mono(i, root3[1])[1]: _HALF}),
            Fraction(1, 2): {root2[1]: _HALF, table.times_mono(i, root2[1])[1]: _HALF},
        }
        if rest in cosines:
            return table.times(out, cosines[rest])
        return table.times(out, {((table.atom("expi", ((self.pi(), 1),)), rest / 2),): 1})

    def circular(self, angle: Poly, sign: int) -> Poly:
        """cos (sign 1) or sin (sign −1) as exponentials."""
        table = self.table
        out: Poly = {}
        _add(out, self.turn(angle), 1)
        _add(out, self.turn({m: -c for m, c in angle.items()}), sign)
        scale: Term = (_HALF, ()) if sign > 0 else (-_HALF, ((table.imaginary(), 1),))
        return table.scaled(out, scale)

    def hyperbolic(self, arg: Poly, sign: int) -> Poly:
        """cosh (sign 1) or sinh (sign −1)."""
        out: Poly = {}
        _add(out, _as_poly(self.exp(arg)), _HALF)
        _add(out, _as_poly(self.exp({m: -c for m, c in arg.items()})), sign * _HALF)
        return out

    def over(self, top: Poly, bottom: Poly) -> Poly:
        """top/bottom."""
        return self.table.scaled(top, self.term_power(self.table.wrap(bottom), -1))

    def _call(self, node: Call) -> Poly:
        name, args = node.name, node.args
        if name in self.table.domain.functions:
            return self.opaque(name, [self.poly(arg) for arg in args])
        run = _CALLS.get((name, len(args)))
        if run is not None:
            return run(self, *args)
        if name in ("min", "max") and args:
            return self.extreme([self.poly(arg) for arg in args], 1 if name == "max" else -1)
        if name == "mean" and args:
            out: Poly = {}
            for arg in args:
                _add(out, self.poly(arg), Fraction(1, len(args)))
            return out
        raise TooBig(f"{name} has no normal form")

    def opaque(self, name: str, args: list[Poly], reach: Range = LINE) -> Poly:
        """A function about which nothing is known but that equal arguments give equal values."""
        plain = [frozenset(self.table.canonical(arg).items()) for arg in args]
        return {((self.table.atom("fn", (name, *plain), None, reach), 1),): 1}

    def odd(self, name: str, arg: Poly, known: Mapping[Rational, Rational]) -> Poly:
        """An odd function: f(−x) = −f(x); `known` gives some values as multiples of π."""
        constant = _constant(arg)
        if constant == 0:
            return {}
        if constant is not None and abs(constant) in known:
            share = known[abs(constant)]
            return {((self.pi(), 1),): share if constant > 0 else -share}
        if _leading(arg) < 0:
            flipped = self.opaque(name, [{m: -c for m, c in arg.items()}])
            return {m: -c for m, c in flipped.items()}
        return self.opaque(name, [arg])

    def extreme(self, parts: list[Poly], sign: int) -> Poly:
        """The largest (sign 1) or smallest of several, by absolute values of differences."""
        best = parts[0]
        for other in parts[1:]:
            gap: Poly = {}
            _add(gap, best, 1)
            _add(gap, other, -1)
            out: Poly = {}
            _add(out, best, _HALF)
            _add(out, other, _HALF)
            _add(out, _as_poly(self.abs_of(self.table.wrap(gap))), sign * _HALF)
            best = out
        return best

    def step(self, arg: Poly) -> Poly:
        """floor: whole parts come out."""
        constant = _constant(arg)
        if constant is not None:
            return _number_poly(math.floor(constant))
        out: Poly = {}
        rest: Poly = {}
        for mono, number in arg.items():
            if mono and self.whole({mono: number}):
                out[mono] = number
            else:
                rest[mono] = number
        shift = math.floor(rest.get((), 0))
        _add(out, _number_poly(shift), 1)
        _add(rest, _number_poly(shift), -1)
        constant = _constant(rest)
        if constant is not None:
            return out
        _add(out, self.opaque("floor", [rest]), 1)
        return out

    def sign(self, arg: Node) -> Poly:
        """x/|x|."""
        term = self.term(arg)
        if not term[0]:
            return {}
        return _as_poly(self.table.times_term(term, self.term_power(self.abs_of(term), -1)))

    def factorial(self, arg: Poly) -> Poly:
        """n!, with whole shifts multiplied out: (n + 1)! = (n + 1) n!."""
        constant = _constant(arg)
        if constant is not None and constant.denominator == 1:
            if not 0 <= constant <= 300:
                raise TooBig("a factorial out of range")
            return {(): math.factorial(int(constant))}
        shift = math.floor(arg.get((), 0))
        if abs(shift) > 12:
            raise TooBig("a factorial far from its base")
        base: Poly = {}
        _add(base, arg, 1)
        _add(base, _number_poly(shift), -1)
        out = self.opaque("factorial", [base], POSITIVE if self.table.range_of(base)[0] > -1 else LINE)
        for step in range(1, shift + 1):
            out = self.product(out, _plus(base, step))
        for step in range(shift + 1, 1):
            out = self.over(out, _plus(base, step))
        return out

    def binomial(self, top: Node, below: Node) -> Poly:
        """n!/(k! (n − k)!)."""
        n, k = self.poly(top), self.poly(below)
        fixed = _constant(k)
        if fixed is not None and fixed.denominator == 1 and 0 <= fixed <= 20:
            out: Poly = {(): 1}
            for i in range(int(fixed)):
                out = self.table.scaled(self.product(out, _plus(n, -i)), (Fraction(1, i + 1), ()))
            return out
        rest: Poly = {}
        _add(rest, n, 1)
        _add(rest, k, -1)
        return self.over(self.over(self.factorial(n), self.factorial(k)), self.factorial(rest))

    # --------------------------------------------------------------------------------------------------------- sums

    def _sum(self, node: Sum) -> Poly:
        if node.lower is None or node.upper is None or node.skip is not None:
            raise TooBig("a sum without a closed form")
        lower, upper = self.poly(node.lower), self.poly(node.upper)
        first, last = _constant(lower), _constant(upper)
        if first is not None and last is not None:
            return self._short_sum(node, first, last)
        if node.product:
            raise TooBig("a product without a closed form")
        return self._closed_sum(node, lower, upper)

    def _short_sum(self, node: Sum, first: Rational, last: Rational) -> Poly:
        if first.denominator != 1 or last.denominator != 1 or last - first > 60:
            raise TooBig("a long sum")
        out: Poly = {(): 1} if node.product else {}
        hidden = self.bound.get(node.index)
        for i in range(int(first), int(last) + 1):
            self.bound[node.index] = _number_poly(i)
            if node.product:
                out = self.product(out, self.poly(node.body))
            else:
                _add(out, self.poly(node.body), 1)
        self._restore(node.index, hidden)
        return out

    def _closed_sum(self, node: Sum, lower: Poly, upper: Poly) -> Poly:
        """A body that is a polynomial in the running index, up to the third power."""
        table = self.table
        at = table.atom("fn", ("running", node.index, len(self.bound)))
        hidden = self.bound.get(node.index)
        self.bound[node.index] = {((at, 1),): 1}
        body = self.poly(node.body)
        self._restore(node.index, hidden)
        by_power: dict[int, Poly] = {}
        for mono, number in body.items():
            exponent = dict(mono).get(at, 0)
            rest = tuple(pair for pair in mono if pair[0] != at)
            if exponent not in (0, 1, 2, 3) or self.mentions(rest, at):
                raise TooBig("a sum without a closed form")
            _add(by_power.setdefault(int(exponent), {}), {rest: number}, 1)
        out: Poly = {}
        before = _plus(lower, -1)
        for exponent, factor in by_power.items():
            closed: Poly = {}
            _add(closed, self.faulhaber(upper, exponent), 1)
            _add(closed, self.faulhaber(before, exponent), -1)
            _add(out, self.product(factor, closed), 1)
        return out

    def mentions(self, mono: Mono, at: int) -> bool:
        """Whether an atom occurs inside the atoms of a monomial: then the monomial is not constant in it."""
        newest = [k for k, _ in mono]
        return any(k > at for k in newest)

    def faulhaber(self, n: Poly, exponent: int) -> Poly:
        """1^k + … + n^k."""
        if exponent == 0:
            return n
        square = self.table.times(n, _plus(n, 1))
        if exponent == 1:
            return self.table.scaled(square, (_HALF, ()))
        if exponent == 2:
            twice = _plus({m: 2 * c for m, c in n.items()}, 1)
            return self.table.scaled(self.table.times(square, twice), (Fraction(1, 6), ()))
        return self.table.scaled(self.table.times(square, square), (Fraction(1, 4), ()))

    def _restore(self, index: str, hidden: Poly | None) -> None:
        if hidden is None:
            self.bound.pop(index, None)
        else:
            self.bound[index] = hidden


# ------------------------------------------------------------------------------------------------------------ pieces


def _add(out: Poly, part: Poly, factor: Rational) -> None:
    """out += factor · part, in place."""
    for mono, number in part.items():
        total = out.get(mono, 0) + number * factor
        if total:
            out[mono] = total
        else:
            out.pop(mono, None)


def _as_poly(term: Term) -> Poly:
    return {term[1]: term[0]} if term[0] else {}


def _number_poly(number: Rational) -> Poly:
    return {(): number} if number else {}


def _plus(poly: Poly, number: Rational) -> Poly:
    out = dict(poly)
    _add(out, _number_poly(number), 1)
    return out


def _plain(value: Fraction) -> Rational:
    return value.numerator if value.denominator == 1 else value


def _constant(poly: Poly) -> Rational | None:
    if not poly:
        return 0
    if len(poly) == 1:
        return poly.get(())
    return None


def _leading(poly: Poly) -> Rational:
    return poly[min(poly)] if poly else 1


def _chain(node: Mul) -> list[Node]:
    """The factors of nested products, first one first."""
    parts: list[Node] = []
    rest: Node = node
    while isinstance(rest, Mul):
        parts.append(rest.right)
        rest = rest.left
    parts.append(rest)
    parts.reverse()
    return parts


def _exp(x: float) -> float:
    return math.exp(x) if x < 700 else math.inf


def _log(x: float) -> float:
    return math.log(x) if 0 < x < math.inf else (math.inf if x > 0 else -math.inf)


def _asinh(form: Form, arg: Node) -> Poly:
    x = form.poly(arg)
    root = form.term_power(form.table.wrap(_plus(form.table.times(x, x), 1)), _HALF)
    inside = dict(x)
    _add(inside, _as_poly(root), 1)
    # the argument of the logarithm is positive, which its terms do not show
    partial = form.table.partial
    out = form.ln(form.table.wrap(inside))
    form.table.partial = partial
    return out


def _acosh(form: Form, arg: Node) -> Poly:
    x = form.poly(arg)
    root = form.term_power(form.table.wrap(_plus(form.table.times(x, x), -1)), _HALF)
    inside = dict(x)
    _add(inside, _as_poly(root), 1)
    return form.ln(form.table.wrap(inside))


def _atanh(form: Form, arg: Node) -> Poly:
    x = form.poly(arg)
    out: Poly = {}
    _add(out, form.ln(form.table.wrap(_plus(x, 1))), _HALF)
    _add(out, form.ln(form.table.wrap(_plus({m: -c for m, c in x.items()}, 1))), -_HALF)
    return out


def _acos(form: Form, arg: Node) -> Poly:
    out: Poly = {((form.pi(), 1),): _HALF}
    _add(out, form.odd("asin", form.poly(arg), _ARCS), -1)
    return out


def _phi(form: Form, arg: Node) -> Poly:
    x = form.poly(arg)
    if _leading(x) >= 0:
        return form.opaque("Phi", [x], POSITIVE)
    out: Poly = {(): 1}
    _add(out, form.opaque("Phi", [{m: -c for m, c in x.items()}], POSITIVE), -1)
    return out


def _log_base(form: Form, arg: Node, base: Node) -> Poly:
    return form.over(form.ln(form.term(arg)), form.ln(form.term(base)))


def _ceil(form: Form, arg: Node) -> Poly:
    down = form.step({m: -c for m, c in form.poly(arg).items()})
    return {m: -c for m, c in down.items()}


_ARCS: Mapping[Rational, Rational] = {1: _HALF, _HALF: Fraction(1, 6)}
_TANS: Mapping[Rational, Rational] = {1: Fraction(1, 4)}

_CALLS: dict[tuple[str, int], Callable[..., Poly]] = {
    ("sqrt", 1): lambda f, a: _as_poly(f.term_power(f.term(a), _HALF)),
    ("exp", 1): lambda f, a: _as_poly(f.exp(f.poly(a))),
    ("ln", 1): lambda f, a: f.ln(f.term(a)),
    ("abs", 1): lambda f, a: _as_poly(f.abs_of(f.table.wrap(f.poly(a)))),
    ("sign", 1): lambda f, a: f.sign(a),
    ("log", 2): _log_base,
    ("logistic", 1): lambda f, a: f.over({(): 1}, _plus(_as_poly(f.exp({m: -c for m, c in f.poly(a).items()})), 1)),
    ("sin", 1): lambda f, a: f.circular(f.poly(a), -1),
    ("cos", 1): lambda f, a: f.circular(f.poly(a), 1),
    ("tan", 1): lambda f, a: f.over(f.circular(f.poly(a), -1), f.circular(f.poly(a), 1)),
    ("cot", 1): lambda f, a: f.over(f.circular(f.poly(a), 1), f.circular(f.poly(a), -1)),
    ("sec", 1): lambda f, a: f.over({(): 1}, f.circular(f.poly(a), 1)),
    ("csc", 1): lambda f, a: f.over({(): 1}, f.circular(f.poly(a), -1)),
    ("sinh", 1): lambda f, a: f.hyperbolic(f.poly(a), -1),
    ("cosh", 1): lambda f, a: f.hyperbolic(f.poly(a), 1),
    ("tanh", 1): lambda f, a: f.over(f.hyperbolic(f.poly(a), -1), f.hyperbolic(f.poly(a), 1)),
    ("coth", 1): lambda f, a: f.over(f.hyperbolic(f.poly(a), 1), f.hyperbolic(f.poly(a), -1)),
    ("sech", 1): lambda f, a: f.over({(): 1}, f.hyperbolic(f.poly(a), 1)),
    ("csch", 1): lambda f, a: f.over({(): 1}, f.hyperbolic(f.poly(a), -1)),
    ("asin", 1): lambda f, a: f.odd("asin", f.poly(a), _ARCS),
    ("acos", 1): _acos,
    ("atan", 1): lambda f, a: f.odd("atan", f.poly(a), _TANS),
    ("erf", 1): lambda f, a: f.odd("erf", f.poly(a), {}),
    ("Phi", 1): _phi,
    ("asinh", 1): _asinh,
    ("acosh", 1): _acosh,
    ("atanh", 1): _atanh,
    ("floor", 1): lambda f, a: f.step(f.poly(a)),
    ("ceil", 1): _ceil,
    ("factorial", 1): lambda f, a: f.factorial(f.poly(a)),
    ("gamma", 1): lambda f, a: f.factorial(_plus(f.poly(a), -1)),
    ("binomial", 2): lambda f, n, k: f.binomial(n, k),
}


def _indicator(form: Form, node: Indicator) -> Poly:
    gap: Poly = {}
    _add(gap, form.poly(node.left), 1)
    _add(gap, form.poly(node.right), -1)
    low, high, _, _ = form.table.range_of(gap)
    constant = _constant(gap)
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
    Number: lambda _form, node: _number_poly(_plain(node.value)),
    Symbol: Form._symbol,
    Neg: lambda form, node: {m: -c for m, c in form.poly(node.arg).items()},
    Add: Form._total,
    Sub: Form._total,
    Mul: Form._mul,
    Div: Form._div,
    Pow: Form._pow,
    Call: Form._call,
    Sum: Form._sum,
    Indicator: _indicator,
}


# ------------------------------------------------------------------------------------------------------------- proof


def _vanishes(gap: Poly, table: Table) -> bool:
    return table.has_sums(gap) and not table.cleared(gap)[0]


def _refined(gap: Poly, table: Table) -> bool:
    """Try again after splitting sums under roots and logarithms by one another: T² − 1 by T − 1."""
    form = Form(table)
    for _ in range(4):
        found = _split(gap, table)
        if found is None:
            return False
        at, pieces = found
        parts = [table.wrap(piece) for piece in pieces]
        whole: Term = (1, ())
        for part in parts:
            whole = table.times_term(whole, part)
        if not all(table.positive(k) for k, _ in whole[1]):
            table.partial = True
        log = table.keys.get(("ln", at))
        out: Poly = {}
        for mono, number in gap.items():
            piece: Poly = {(): number}
            for k, exponent in mono:
                if k == log and exponent.denominator == 1 and exponent > 0:
                    factor = table.whole_power(form.ln(whole), int(exponent))
                elif k == at:
                    factor = _as_poly(form.term_power(whole, exponent))
                else:
                    factor = {((k, exponent),): 1}
                piece = table.times(piece, factor)
            _add(out, piece, 1)
        gap = out
        if not gap or _vanishes(gap, table):
            return True
    return False


def _split(gap: Poly, table: Table) -> tuple[int, tuple[Poly, Poly]] | None:
    """A sum of the difference that another one divides, with divisor and quotient."""
    present: set[int] = set()
    for mono in gap:
        for at, exponent in mono:
            atom = table.atoms[at]
            if atom.kind == "sum" and exponent.denominator != 1:
                present.add(at)
            elif atom.kind == "ln" and table.atoms[atom.data].kind == "sum":
                present.add(atom.data)
    if not 2 <= len(present) <= 6:
        return None
    for at, other in itertools.permutations(sorted(present), 2):
        whole, divisor = table.atoms[at].data, table.atoms[other].data
        if len(divisor) <= len(whole) + 2 and not any(k in table.special for mono in divisor for k, _ in mono):
            rest = table.divided_by(whole, divisor)
            if rest is not None:
                return at, (divisor, rest)
    return None


class Normal:
    """A key's normal form, made once and held against many answers."""

    def __init__(self, tree: Node, table: Table) -> None:
        self.tree = tree
        self.table = table
        self.poly: Poly | None = None
        try:
            self.poly = Form(table).poly(tree)
        except TooBig:
            pass

    def proves(self, answer: Node) -> tuple[bool, bool]:
        """(equal, partial): whether an answer is shown equal, and whether only where both are defined."""
        if self.poly is None:
            return False, False
        table = self.table.fork()
        try:
            if self._same(self.poly, answer, table):
                return True, table.partial
            if table.switches:
                return self._by_cases(answer, table), True
        except TooBig:
            pass
        return False, False

    @staticmethod
    def _same(key: Poly, answer: Node, table: Table) -> bool:
        gap: Poly = {}
        _add(gap, key, 1)
        _add(gap, Form(table).poly(answer), -1)
        return not gap or _vanishes(gap, table) or _refined(gap, table)

    def _by_cases(self, answer: Node, table: Table) -> bool:
        """Take every |d| that occurs for d and for −d: equal in all cases is equal."""
        switches = list(table.switches)
        if len(switches) > MAX_CASES:
            return False
        for signs in itertools.product((1, -1), repeat=len(switches)):
            case = table.fork()
            case.budget = table.budget
            case.assume = dict(zip(switches, signs, strict=True))
            if not self._same(Form(case).poly(self.tree), answer, case):
                return False
        return True
