"""Polynomials over atoms with exact coefficients and rational exponents: the arithmetic under the normal form.

An atom is a symbol, a prime under a root, e to a monomial, the logarithm of an atom, a sum that does not split further.
A monomial is a tuple of (atom, exponent) sorted by atom; a polynomial maps monomials to coefficients other than 0.
All work is counted against a budget, so that no input runs long: `TooBig` says that the proof is given up.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from grading.equivalence import ranges
from grading.equivalence.domain import Domain
from grading.equivalence.ranges import LINE, Range
from grading.equivalence.rationals import MAX_BITS, Rational, TooBig, power, quotient

Mono = tuple[tuple[int, Rational], ...]
Poly = dict[Mono, Rational]
Term = tuple[Rational, Mono]

BUDGET = 12_000
"""Products of two terms in one proof."""
HUGE = 10**300


@dataclass(slots=True)
class Atom:
    """kind: sym, num (a prime), pi, i, exp, expi, par, ln, lns, sum, abs or fn; data: what it is made of."""

    kind: str
    data: Any
    range: Range = LINE
    integer: bool = False


class Table:
    """The atoms of one proof, numbered. A key's table is forked for every answer, so that atoms are shared."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.intervals = dict(domain.names)
        self.keys: dict[Hashable, int] = {}
        self.atoms: list[Atom] = []
        self.special: set[int] = set()
        self.complex: set[int] = set()
        self.sums: set[int] = set()
        self.budget = BUDGET
        self.partial = False
        self.kinked = False
        """Set when a rule was used that holds only where the expression is defined."""
        self.assume: dict[frozenset[tuple[Mono, Rational]], int] = {}
        self.switches: dict[frozenset[tuple[Mono, Rational]], None] = {}

    def fork(self) -> Table:
        """A copy that can grow on its own."""
        other = Table.__new__(Table)
        other.domain, other.intervals = self.domain, self.intervals
        other.keys, other.atoms = dict(self.keys), list(self.atoms)
        other.special, other.complex, other.sums = set(self.special), set(self.complex), set(self.sums)
        other.budget, other.partial, other.kinked = BUDGET, self.partial, self.kinked
        other.assume, other.switches = dict(self.assume), dict(self.switches)
        return other

    # ------------------------------------------------------------------------------------------------------ atoms

    def atom(self, kind: str, data: Hashable, payload: Any = None, reach: Range = LINE, integer: bool = False) -> int:
        """The number of an atom, made when it is new."""
        key = (kind, data)
        at = self.keys.get(key)
        if at is None:
            at = len(self.atoms)
            if at > 400:
                raise TooBig("too many atoms")
            self.keys[key] = at
            self.atoms.append(Atom(kind, data if payload is None else payload, reach, integer))
            if kind in _SPECIAL:
                self.special.add(at)
            if kind in ("i", "expi"):
                self.complex.add(at)
            if kind == "sum":
                self.sums.add(at)
        return at

    def symbol(self, name: str) -> Term:
        """A declared name; one that is never positive stands as minus a positive atom."""
        interval = self.intervals.get(name)
        if interval is None:
            return 1, ((self.atom("sym", name), 1),)
        reach = ranges.of_interval(interval)
        if reach[1] <= 0 and reach[0] < 0:
            flipped = (-reach[1], -reach[0], reach[3], reach[2])
            return -1, ((self.atom("sym", "-" + name, None, flipped, interval.integer), 1),)
        return 1, ((self.atom("sym", name, None, reach, interval.integer), 1),)

    def prime(self, number: int) -> int:
        """The atom of a prime (or of a factor too large to split), used under roots and logarithms."""
        return self.atom("num", number, None, (float(min(number, 1e300)),) * 2 + (False, False))

    def imaginary(self) -> int:
        """The imaginary unit, through which sine and cosine become exponentials."""
        return self.atom("i", 0)

    def positive(self, at: int) -> bool:
        """Whether an atom is known not to be negative (zero alone has measure zero)."""
        return self.atoms[at].range[0] >= 0

    # -------------------------------------------------------------------------------------------------- monomials

    def spend(self, amount: int) -> None:
        """Count work."""
        self.budget -= amount
        if self.budget < 0:
            raise TooBig("too much work")

    def reduce(self, at: int, exponent: Rational) -> Term:
        """An atom with rules of its own to a power: √2² = 2, i² = −1, |x|² = x², ((−1)^n)² = 1."""
        atom = self.atoms[at]
        if exponent == 0:
            return 1, ()
        if atom.kind == "num":
            whole = math.floor(exponent)
            rest = exponent - whole
            return power(atom.data, whole), ((at, rest),) if rest else ()
        if exponent.denominator != 1:
            return 1, ((at, exponent),)
        if atom.kind == "i":
            turn = int(exponent) % 4
            return (1, 1, -1, -1)[turn], ((at, 1),) if turn % 2 else ()
        if atom.kind == "par":
            return 1, ((at, 1),) if exponent % 2 else ()
        rest = exponent % 2
        even = exponent - rest
        pairs = [(atom.data, even)] if even else []
        if rest:
            pairs.append((at, 1))
        return 1, tuple(sorted(pairs))

    def times_mono(self, a: Mono, b: Mono) -> Term:
        """The product of two monomials, with the number that special atoms leave."""
        if not a:
            return 1, b
        if not b:
            return 1, a
        merged = dict(a)
        factor: Rational = 1
        special = self.special
        for at, exponent in b:
            before = merged.get(at)
            if before is None:
                merged[at] = exponent
                continue
            total = before + exponent
            if at in special:
                del merged[at]
                number, rest = self.reduce(at, total)
                factor *= number
                for other, more in rest:
                    total = merged.get(other, 0) + more
                    if total:
                        merged[other] = total
                    else:
                        del merged[other]
            elif total:
                merged[at] = total
            else:
                del merged[at]
        return factor, tuple(sorted(merged.items()))

    def times_term(self, a: Term, b: Term) -> Term:
        """The product of two terms."""
        factor, mono = self.times_mono(a[1], b[1])
        return a[0] * b[0] * factor, mono

    def mono_power(self, mono: Mono, exponent: Rational) -> Term:
        """A monomial to a power, exponent by exponent: signs have been looked after by the caller."""
        factor: Rational = 1
        pairs: Mono = ()
        plain = []
        for at, e in mono:
            if at in self.special:
                number, rest = self.reduce(at, e * exponent)
                extra, pairs = self.times_mono(pairs, rest)
                factor *= number * extra
            else:
                plain.append((at, e * exponent))
        if not pairs:
            return factor, tuple(plain)
        extra, pairs = self.times_mono(tuple(plain), pairs)
        return factor * extra, pairs

    # ------------------------------------------------------------------------------------------------ polynomials

    def times(self, a: Poly, b: Poly) -> Poly:
        """The product, multiplied out."""
        if len(a) > len(b):
            a, b = b, a
        self.spend(len(a) * len(b))
        out: Poly = {}
        for left, x in a.items():
            for right, y in b.items():
                factor, mono = self.times_mono(left, right)
                value = x * y * factor + out.get(mono, 0)
                if value:
                    out[mono] = value
                else:
                    del out[mono]
        return out

    def scaled(self, poly: Poly, term: Term) -> Poly:
        """A polynomial times one term."""
        number, mono = term
        if not mono:
            return {m: c * number for m, c in poly.items()} if number != 1 else poly
        return self.times(poly, {mono: number}) if number else {}

    def whole_power(self, poly: Poly, n: int) -> Poly:
        """A polynomial to a whole power n ≥ 0, multiplied out."""
        if len(poly) > 1 and math.comb(n + len(poly) - 1, len(poly) - 1) > BUDGET // 4:
            raise TooBig("a large power of a sum")
        out: Poly = {(): 1}
        while n:
            if n & 1:
                out = self.times(out, poly)
            n >>= 1
            if n:
                poly = self.times(poly, poly)
        for number in out.values():
            if number.numerator.bit_length() > MAX_BITS:
                raise TooBig("long coefficients")
        return out

    # ----------------------------------------------------------------------------------------------------- ranges

    def range_of(self, poly: Poly) -> Range:
        """Bounds on a polynomial over the domain, term by term."""
        low, high, low_open, high_open = 0.0, 0.0, False, False
        for mono, number in poly.items():
            reach = self.range_of_mono(mono)
            factor = float(number) if -HUGE < number < HUGE else (math.inf if number > 0 else -math.inf)
            if factor < 0:
                reach = (reach[1], reach[0], reach[3], reach[2])
            low, high = low + factor * reach[0], high + factor * reach[1]
            low_open, high_open = low_open or reach[2], high_open or reach[3]
        if low != low or high != high:
            return LINE
        return low, high, low_open, high_open

    def range_of_mono(self, mono: Mono) -> Range:
        """Bounds on a product of powers."""
        out: Range = (1.0, 1.0, False, False)
        for at, exponent in mono:
            if at in self.complex:
                return LINE
            out = ranges.of_product(out, ranges.of_power(self.atoms[at].range, exponent))
            if out is LINE:
                return LINE
        return out

    # ------------------------------------------------------------------------------------------- sums as one atom

    def wrap(self, poly: Poly) -> Term:
        """A polynomial as number × monomial, its irreducible rest being one atom with a canonical sign."""
        if len(poly) < 2:
            return next(((number, mono) for mono, number in poly.items()), (0, ()))
        below: Mono = ()
        if self.has_sums(poly):
            poly, below = self.cleared(poly)
            if len(poly) < 2:
                return self.times_term(next(((c, m) for m, c in poly.items()), (0, ())), (1, below))
        poly, content = self.divided(poly)
        number = _content(poly)
        reach = self.range_of(poly)
        if reach[1] <= 0 or (reach[0] < 0 and poly[min(poly)] < 0):
            number = -number
        primitive = poly if number == 1 else {mono: quotient(c, number) for mono, c in poly.items()}
        at = self.sum_atom(primitive)
        term = self.times_term((number, content), (1, ((at, 1),)))
        return self.times_term(term, (1, below)) if below else term

    def sum_atom(self, primitive: Poly) -> int:
        """The atom of a sum, as it stands."""
        data = frozenset(primitive.items())
        at = self.keys.get(("sum", data))
        if at is not None:
            return at
        return self.atom("sum", data, primitive, self.range_of(primitive))

    def has_sums(self, poly: Poly) -> bool:
        """Whether a sum that was kept as one atom occurs."""
        sums = self.sums
        return bool(sums) and any(at in sums for mono in poly for at, _ in mono)

    def divided(self, poly: Poly) -> tuple[Poly, Mono]:
        """(rest, monomial): the largest common monomial taken out, negative exponents included."""
        lowest: dict[int, Rational] = {}
        count: dict[int, int] = {}
        for mono in poly:
            for at, exponent in mono:
                seen = lowest.get(at)
                if seen is None or exponent < seen:
                    lowest[at] = exponent
                count[at] = count.get(at, 0) + 1
        if any(at in self.complex for at in lowest):
            return poly, ()
        total = len(poly)
        common = []
        for at, exponent in lowest.items():
            if count[at] < total and exponent > 0:
                continue
            if at not in self.special:
                common.append((at, exponent))
        if not common:
            return poly, ()
        content = tuple(sorted(common))
        return self.times(poly, {tuple((at, -e) for at, e in content): 1}), content

    def canonical(self, poly: Poly) -> Poly:
        """One way of writing a polynomial with sums in it: over one denominator, all else multiplied out."""
        if not self.has_sums(poly):
            return poly
        top, below = self.cleared(poly)
        rest: list[tuple[int, Rational]] = []
        for at, exponent in below:
            whole = math.floor(exponent) if at in self.sums else 0
            if whole > 0:
                top = self.times(top, self.whole_power(self.atoms[at].data, whole))
                exponent -= whole
            if exponent:
                rest.append((at, exponent))
        return self.times(top, {tuple(rest): 1}) if rest else top

    def divided_by(self, poly: Poly, divisor: Poly) -> Poly | None:
        """The exact quotient of two polynomials, or None where there is a remainder."""
        names = sorted({at for mono in (*poly, *divisor) for at, _ in mono})
        places = {at: place for place, at in enumerate(names)}

        def vector(mono: Mono) -> tuple[Rational, ...]:
            out: list[Rational] = [0] * len(names)
            for at, exponent in mono:
                out[places[at]] = exponent
            return tuple(out)

        rest = {vector(mono): number for mono, number in poly.items()}
        other = {vector(mono): number for mono, number in divisor.items()}
        lead = max(other)
        out: Poly = {}
        while rest:
            top = max(rest)
            share = tuple(a - b for a, b in zip(top, lead, strict=True))
            if min(share) < 0 or len(out) > 40:
                return None
            number = quotient(rest[top], other[lead])
            out[tuple((at, e) for at, e in zip(names, share, strict=True) if e)] = number
            self.spend(len(other))
            for mono, factor in other.items():
                moved = tuple(a + b for a, b in zip(mono, share, strict=True))
                total = rest.get(moved, 0) - number * factor
                if total:
                    rest[moved] = total
                else:
                    rest.pop(moved, None)
        return out

    def cleared(self, poly: Poly) -> tuple[Poly, Mono]:
        """(top, below) with poly = top × below: no sum atom in `top` but under a root, all multiplied out."""
        below: Mono = ()
        for _ in range(8):
            lowest: dict[int, Rational] = {}
            highest: dict[int, Rational] = {}
            count: dict[int, int] = {}
            for mono in poly:
                for at, exponent in mono:
                    if at in self.sums:
                        lowest[at] = min(lowest.get(at, exponent), exponent)
                        highest[at] = max(highest.get(at, exponent), exponent)
                        count[at] = count.get(at, 0) + 1
            shift: dict[int, Rational] = {}
            for at, exponent in lowest.items():
                least = exponent if count[at] == len(poly) else min(exponent, 0)
                if least or highest[at] >= 1:
                    shift[at] = least
            if not shift:
                return poly, below
            taken = tuple(sorted((at, least) for at, least in shift.items() if least))
            extra, below = self.times_mono(below, taken)
            poly = self._shifted(poly, shift)
            if extra != 1:
                poly = {mono: c * extra for mono, c in poly.items()}
        raise TooBig("sums nested too deeply")

    def _shifted(self, poly: Poly, shift: dict[int, Rational]) -> Poly:
        """Divide by the powers of `shift` and multiply the whole powers of sums out."""
        out: Poly = {}
        powers: dict[tuple[int, int], Poly] = {}
        for mono, number in poly.items():
            rest: list[tuple[int, Rational]] = []
            factors: list[Poly] = []
            present = dict(mono)
            for at, least in shift.items():
                exponent = present.pop(at, 0) - least
                whole = math.floor(exponent)
                if exponent - whole:
                    rest.append((at, exponent - whole))
                if whole:
                    key = (at, whole)
                    if key not in powers:
                        powers[key] = self.whole_power(self.atoms[at].data, whole)
                    factors.append(powers[key])
            rest.extend(present.items())
            piece: Poly = {tuple(sorted(rest)): number}
            for factor in factors:
                piece = self.times(piece, factor)
            for m, c in piece.items():
                total = out.get(m, 0) + c
                if total:
                    out[m] = total
                else:
                    del out[m]
        return out


_SPECIAL = frozenset(("num", "i", "par", "abs"))


def _content(poly: Poly) -> Rational:
    top, bottom = 0, 1
    for number in poly.values():
        top = math.gcd(top, number.numerator)
        bottom = math.lcm(bottom, number.denominator)
    return top if bottom == 1 else Fraction(top, bottom)
