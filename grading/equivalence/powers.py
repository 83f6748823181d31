"""Powers, roots, exponentials and logarithms of factored terms, rewritten where the declared domain permits."""

from __future__ import annotations

import math

from grading.equivalence.pieces import add_to
from grading.equivalence.polynomial import Poly, Table, Term
from grading.equivalence.ranges import LINE, POSITIVE, Range
from grading.equivalence.rationals import Rational, TooBig, factored, inverse, power, size_of


class Powers:
    """What can be done with terms over a table of atoms."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def product(self, a: Poly, b: Poly) -> Poly:
        """a b, multiplied out."""
        return self.table.times(a, b)

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
            if not n:
                return 1, ()
            if n < 0 and table.kinked:
                # what has corners or steps may be 0 over a whole stretch
                table.partial = True
            factor, out = table.mono_power(mono, n)
            return (inverse(number) if n == -1 else power(number, n)) * factor, out
        if not number:
            return 0, ()
        out_term = self.number_power(size_of(number), exponent)
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
        table.kinked = True
        return 1, ((table.atom("abs", at, at, POSITIVE), 1),)

    def term_power_of_abs(self, at: int, exponent: Rational) -> Term:
        """|atom| to a power."""
        sign, mono = self.abs_atom(at)
        factor, out = self.table.mono_power(mono, exponent)
        if sign > 0 or (exponent.denominator == 1 and exponent % 2 == 0):
            return factor, out
        if exponent.denominator == 1:
            return -factor, out
        atom = self.table.atoms[at]
        if atom.kind != "sum":
            raise TooBig("a root of minus an atom")
        flipped = self.table.sum_atom({m: -c for m, c in atom.data.items()})
        return self.table.mono_power(((flipped, 1),), exponent)

    def abs_of(self, term: Term) -> Term:
        """|term|, factor by factor."""
        number, mono = term
        out: Term = (size_of(number), ())
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
                elif table.atoms[mono[0][0]].kind == "lns" or table.positive(at):
                    piece = table.mono_power(((at, 1),), number)
                else:
                    # a logarithm is that of the size
                    piece = self.term_power_of_abs(at, number)
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
                add_to(out, {((self.ln_atom(table.prime(prime)), 1),): sign * count}, 1)
        for at, e in mono:
            atom = table.atoms[at]
            if atom.kind == "exp":
                add_to(out, {atom.data: e}, 1)
                continue
            if atom.kind == "abs":
                at = atom.data
            elif not table.positive(at):
                known = False
            add_to(out, {((self.ln_atom(at), 1),): e}, 1)
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
        log = self.ln((size_of(number), ()))
        known = True
        for at, e in mono:
            atom = table.atoms[at]
            if atom.kind == "exp":
                add_to(log, {atom.data: e}, 1)
            elif table.positive(at):
                target = atom.data if atom.kind == "abs" else at
                add_to(log, {((self.ln_atom(target), 1),): e}, 1)
            elif whole and e.denominator == 1:
                add_to(log, {((table.atom("lns", at, at), 1),): e}, 1)
            else:
                known = known and e.numerator % 2 == 0 and e.denominator % 2 == 1
                add_to(log, {((self.ln_atom(at), 1),): e}, 1)
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


def _exp(x: float) -> float:
    return math.exp(x) if x < 700 else math.inf


def _log(x: float) -> float:
    return math.log(x) if 0 < x < math.inf else (math.inf if x > 0 else -math.inf)
