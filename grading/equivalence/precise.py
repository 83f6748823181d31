"""Slow and sure evaluation of a tree in rationals and decimals.

It settles what floats cannot: points where a difference is close to rounding noise, towers beyond the range of floats,
steps, zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal, Overflow, Underflow
from fractions import Fraction
from typing import Any

from grading.equivalence.balls import TooLarge, Undefined, unknown_coefficients
from grading.equivalence.decimals import DIGITS, ONE, REACH, UNARY, Decimals, Value
from grading.equivalence.evaluate import MAX_LENGTH, MAX_TERMS, Unsupported, rational
from grading.reading.tree import (
    RELATIONS,
    Add,
    Call,
    Div,
    Indexed,
    Indicator,
    Mul,
    Neg,
    Node,
    Number,
    Pow,
    Sub,
    Sum,
    Symbol,
)

MAX_STEPS = 8_000
"""Nodes visited in one evaluation, the terms of sums counted each time."""


class Precise(Decimals):
    """Evaluates trees at one point to `digits` digits. Cheap to make; used for one point and thrown away.

    names: values of the declared names, exact. functions: unknown functions. arrays: nested tuples of rationals for
    Indexed nodes, 1-based. axes: how far a sum without bounds runs, by the identity of its node. limit: of
    nodes visited.
    """

    def __init__(
        self,
        names: Mapping[str, Fraction],
        functions: frozenset[str] = frozenset(),
        arrays: Mapping[str, Any] | None = None,
        digits: int = DIGITS,
        axes: Mapping[int, int] | None = None,
        limit: int = MAX_STEPS,
    ) -> None:
        super().__init__(digits)
        self.names: dict[str, Value] = dict(names)
        self.functions = functions
        self.arrays = arrays or {}
        self.axes = axes or {}
        self.limit = limit
        self.nested = 0  # how many sums are being added up

    def value(self, node: Node) -> Value:
        """The value of a tree; `Undefined`, `Unclear` or `TooLarge` where there is none."""
        self.steps += 1
        if self.steps > self.limit:
            raise TooLarge("too many steps")
        try:
            run = _RUN[type(node)]
        except KeyError:
            raise Unsupported(f"{type(node).__name__} has no value among the real numbers") from None
        try:
            return run(self, node)
        except (Overflow, Underflow):
            raise TooLarge(f"beyond 10^±{REACH}") from None


# --------------------------------------------------------------------------------------------------------- nodes


def _symbol(self: Precise, node: Symbol) -> Value:
    value = self.names.get(node.name)
    if value is not None:
        return value
    if node.name == "pi":
        from mpmath import libmp

        bits = int(self.digits * 3.33) + 20
        pi = self.ctx.plus(Decimal(libmp.to_str(libmp.mpf_pi(bits), self.digits + 3)))
        return pi, self.rounding(pi)
    if node.name == "e":
        e = self.ctx.exp(Decimal(1))
        return e, self.rounding(e)
    raise Unsupported(f"{node.name} has no value")


def _total(self: Precise, node: Add | Sub) -> Value:
    parts: list[tuple[int, Node]] = []
    rest: Node = node
    while isinstance(rest, (Add, Sub)):
        parts.append((-1 if isinstance(rest, Sub) else 1, rest.right))
        rest = rest.left
    total = self.value(rest)
    for sign, part in reversed(parts):
        total = self.plus(total, self.value(part), sign)
    return total


def _mul(self: Precise, node: Mul) -> Value:
    parts: list[Node] = []
    rest: Node = node
    while isinstance(rest, Mul):
        parts.append(rest.right)
        rest = rest.left
    product = self.value(rest)
    for part in reversed(parts):
        product = self.times(product, self.value(part))
    return product


def _pow(self: Precise, node: Pow) -> Value:
    exponent = rational(node.exponent)
    if exponent is not None:
        return self.fraction_power(self.value(node.base), exponent)
    if isinstance(node.base, Symbol) and node.base.name == "e" and "e" not in self.names:
        return self.exp(self.value(node.exponent))
    return self.power(self.value(node.base), self.value(node.exponent))


def _call(self: Precise, node: Call) -> Value:
    args = [self.value(arg) for arg in node.args]
    if node.name in self.functions:
        return _unknown(self, node.name, args)
    if len(args) == 1 and node.name in UNARY:
        return UNARY[node.name](self, args[0])
    if node.name in ("min", "max") and args:
        best = args[0]
        for other in args[1:]:
            sign = self.settled(self.plus(other, best, -1))
            if (sign > 0) == (node.name == "max") and sign:
                best = other
        return best
    if node.name == "mean" and args:
        total = args[0]
        for other in args[1:]:
            total = self.plus(total, other)
        return self.over(total, Fraction(len(args)))
    if node.name == "log" and len(args) == 2:
        base = self.ln(args[1])
        if self.settled(base) == 0:
            raise Undefined("a logarithm to base 1")
        return self.over(self.ln(args[0]), base)
    if node.name == "binomial" and len(args) == 2:
        return self.binomial(args[0], args[1])
    raise Unsupported(f"{node.name} of {len(args)} arguments is not known")


def _unknown(self: Precise, name: str, args: list[Value]) -> Value:
    table = unknown_coefficients(name, len(args))
    total: Value = table[-1][0]
    for x, (c, d) in zip(args, table, strict=False):
        bent = self.over(x, self.plus(ONE, self.times(x, x)))
        total = self.plus(total, self.plus(self.times(bent, c), self.times(x, d)))
    return total


def _sum(self: Precise, node: Sum) -> Value:
    size = self.axes.get(id(node))
    if node.upper is None and size is None:
        raise Unsupported("a sum needs bounds here")
    first = 1 if node.lower is None else self.near_whole(self.value(node.lower))
    last = size if node.upper is None else self.near_whole(self.value(node.upper))
    if first is None or last is None:
        raise Undefined("a bound that is not a whole number")
    if last - first >= (MAX_LENGTH if not self.nested else int(MAX_TERMS ** (1.0 / (self.nested + 1)))):
        raise TooLarge("a sum of too many terms")
    left_out = None if node.skip is None else self.near_whole(self.value(node.skip))
    hidden = self.names.get(node.index)
    total: Value = ONE if node.product else Fraction(0)
    self.nested += 1
    for i in range(first, last + 1):
        if i == left_out:
            continue
        self.names[node.index] = Fraction(i)
        term = self.value(node.body)
        total = self.times(total, term) if node.product else self.plus(total, term)
    self.nested -= 1
    if hidden is None:
        self.names.pop(node.index, None)
    else:
        self.names[node.index] = hidden
    return total


def _indicator(self: Precise, node: Indicator) -> Value:
    gap = self.plus(self.value(node.left), self.value(node.right), -1)
    return Fraction(1 if RELATIONS[node.relation](self.settled(gap), 0) else 0)


def _indexed(self: Precise, node: Indexed) -> Value:
    if node.name == "delta" and len(node.indices) == 2 and "delta" not in self.arrays:
        return _indicator(self, Indicator(node.indices[0], "=", node.indices[1]))
    here = self.arrays.get(node.name)
    if here is None:
        raise Unsupported(f"{node.name} with indices has no value here")
    for index in node.indices:
        place = self.near_whole(self.value(index))
        if place is None or not isinstance(here, tuple) or not 1 <= place <= len(here):
            raise Undefined(f"an index of {node.name} outside its range")
        here = here[place - 1]
    if not isinstance(here, Fraction):
        raise Undefined(f"{node.name} needs more indices")
    return here


_RUN: Mapping[type, Callable[..., Value]] = {
    Number: lambda _self, node: node.value,
    Symbol: _symbol,
    Neg: lambda self, node: self.negative(self.value(node.arg)),
    Add: _total,
    Sub: _total,
    Mul: _mul,
    Div: lambda self, node: self.over(self.value(node.left), self.value(node.right)),
    Pow: _pow,
    Call: _call,
    Sum: _sum,
    Indicator: _indicator,
    Indexed: _indexed,
}
