"""Proofs by normal form: the difference of two trees vanishes, by algebra or case by case."""

from __future__ import annotations

import itertools
from contextlib import suppress

from grading.equivalence.normal import Form
from grading.equivalence.pieces import add_to, as_poly
from grading.equivalence.polynomial import Poly, Table, Term
from grading.equivalence.rationals import TooBig
from grading.reading.tree import Node

MAX_CASES = 3
"""A proof by cases splits on at most this many absolute values."""


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
                    factor = as_poly(form.term_power(whole, exponent))
                else:
                    factor = {((k, exponent),): 1}
                piece = table.times(piece, factor)
            add_to(out, piece, 1)
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
        with suppress(TooBig):
            self.poly = Form(table).poly(tree)

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
        add_to(gap, key, 1)
        add_to(gap, Form(table).poly(answer), -1)
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
