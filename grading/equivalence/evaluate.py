"""Fast evaluation of a tree: floats that carry a bound on their own rounding error.

`compile_tree` turns a tree into nested closures once; each call takes the values of the names and returns
(value, error) with |true value − value| ≤ error up to terms of second order, which the decision covers with a wide
margin. Nothing is decided here: a point where the real value does not exist raises `Undefined`, one that floats cannot
settle raises `Unclear`, and `grading.equivalence.precise` takes over.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from grading.equivalence.balls import (
    HUGE,
    TINY,
    UNARY,
    Ball,
    TooLarge,
    U,
    Unclear,
    Undefined,
    as_ball,
    binomial_balls,
    exp_ball,
    int_pow,
    log_base,
    mean_ball,
    pow_balls,
    root_pow,
    unknown_coefficients,
    whole,
)
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
    Transpose,
)

Slots = list[Ball]
Program = Callable[[Slots], Ball]

EXACT = 2.0**53
MAX_TERMS = 1600
"""Nested sums that run over more terms than this together are not evaluated."""
MAX_LENGTH = 500
"""Nor is a single sum of more terms than this."""


class Unsupported(ValueError):
    """A node that means nothing in an expression of real numbers (a transpose, a list)."""


class Frame:
    """The names of one compilation with their places in the list of values; running indices get their own places."""

    def __init__(self, names: tuple[str, ...] = (), functions: frozenset[str] = frozenset()) -> None:
        self.slots = {name: at for at, name in enumerate(names)}
        self.size = len(names)
        self.functions = functions
        self.nested = 0

    def open(self, name: str) -> tuple[int, int | None]:
        """A new place for a running index; returns it and the place that it hides."""
        hidden = self.slots.get(name)
        place = self.size
        self.slots[name] = place
        self.size += 1
        return place, hidden

    def close(self, name: str, hidden: int | None) -> None:
        """Give the name back to what it meant outside the sum."""
        if hidden is None:
            del self.slots[name]
        else:
            self.slots[name] = hidden


def compile_tree(node: Node, frame: Frame) -> Program:
    """The closure that evaluates `node`; call it with a list of at least `frame.size` balls."""
    try:
        build = _BUILDERS[type(node)]
    except KeyError:
        raise Unsupported(f"{type(node).__name__} has no value among the real numbers") from None
    return build(node, frame)


def rational(node: Node) -> Fraction | None:
    """The value of a small constant subtree of numbers, or None: what decides which power rule applies."""
    match node:
        case Number(value=value):
            return value
        case Neg(arg=arg):
            inner = rational(arg)
            return None if inner is None else -inner
        case Div(left=left, right=right):
            top, bottom = rational(left), rational(right)
            return None if top is None or not bottom else top / bottom
        case Add(left=left, right=right) | Sub(left=left, right=right):
            a, b = rational(left), rational(right)
            if a is None or b is None:
                return None
            return a + b if isinstance(node, Add) else a - b
        case _:
            return None


# ------------------------------------------------------------------------------------------------ leaves and sums


def _number(node: Number, _frame: Frame) -> Program:
    try:
        ball = as_ball(node.value)
    except Unclear:
        return _unclear
    return lambda _slots: ball


def _unclear(_slots: Slots) -> Ball:
    raise Unclear("beyond the range of floats")


_CONSTANTS = {"pi": (math.pi, math.pi * U), "e": (math.e, math.e * U)}


def _symbol(node: Symbol, frame: Frame) -> Program:
    place = frame.slots.get(node.name)
    if place is not None:
        return lambda slots: slots[place]
    ball = _CONSTANTS.get(node.name)
    if ball is None:
        raise Unsupported(f"{node.name} has no value")
    return lambda _slots: ball


def _neg(node: Neg, frame: Frame) -> Program:
    inner = compile_tree(node.arg, frame)

    def run(slots: Slots) -> Ball:
        value, error = inner(slots)
        return -value, error

    return run


def _total(node: Add | Sub, frame: Frame) -> Program:
    """A chain of + and −, flattened: long sums neither nest deeply nor cost a call a term."""
    parts: list[tuple[float, Program]] = []
    rest: Node = node
    while isinstance(rest, (Add, Sub)):
        parts.append((-1.0 if isinstance(rest, Sub) else 1.0, compile_tree(rest.right, frame)))
        rest = rest.left
    first = compile_tree(rest, frame)
    if len(parts) == 1:
        sign, second = parts[0]

        def run_two(slots: Slots) -> Ball:
            a, ea = first(slots)
            b, eb = second(slots)
            b *= sign
            total = a + b
            error = ea + eb
            if error == 0.0 and total - a == b and total - b == a:
                # nothing was rounded: steps and comparisons need to know
                return total, 0.0
            return total, error + abs(total) * U

        return run_two
    parts.reverse()

    def run(slots: Slots) -> Ball:
        total, error = first(slots)
        for sign, part in parts:
            value, spread = part(slots)
            total += sign * value
            error += spread + abs(total) * U
        return total, error

    return run


def _mul(node: Mul, frame: Frame) -> Program:
    parts: list[Program] = []
    rest: Node = node
    while isinstance(rest, Mul):
        parts.append(compile_tree(rest.right, frame))
        rest = rest.left
    parts.append(compile_tree(rest, frame))
    parts.reverse()
    if len(parts) == 2:
        left, right = parts

        def run_two(slots: Slots) -> Ball:
            a, ea = left(slots)
            b, eb = right(slots)
            product = a * b
            size = abs(product)
            if size > HUGE or (size < TINY and a and b):
                raise Unclear("beyond the range of floats")
            if ea + eb == 0.0 and size < EXACT and a.is_integer() and b.is_integer():
                return product, 0.0
            return product, abs(a) * eb + abs(b) * ea + size * U

        return run_two

    def run(slots: Slots) -> Ball:
        product, error = 1.0, 0.0
        for part in parts:
            value, spread = part(slots)
            before = product
            product *= value
            size = abs(product)
            if size > HUGE or (size < TINY and before and value):
                raise Unclear("beyond the range of floats")
            error = abs(before) * spread + abs(value) * error + size * U
        return product, error

    return run


def _div(node: Div, frame: Frame) -> Program:
    left, right = compile_tree(node.left, frame), compile_tree(node.right, frame)

    def run(slots: Slots) -> Ball:
        a, ea = left(slots)
        b, eb = right(slots)
        size = abs(b)
        if size <= 4 * eb:
            if b == 0.0 and eb == 0.0:
                raise Undefined("division by zero")
            raise Unclear("a divisor close to zero")
        quotient = a / b
        if ea + eb == 0.0 and abs(a) < EXACT and quotient.is_integer() and quotient * b == a:
            return quotient, 0.0
        reach = abs(quotient)
        if reach > HUGE or (reach < TINY and a):
            raise Unclear("beyond the range of floats")
        return quotient, (ea + reach * eb) / size + reach * U

    return run


# --------------------------------------------------------------------------------------------------------- powers


def _pow(node: Pow, frame: Frame) -> Program:
    exponent = rational(node.exponent)
    if exponent is None:
        if isinstance(node.base, Symbol) and node.base.name == "e" and "e" not in frame.slots:
            inner = compile_tree(node.exponent, frame)
            return lambda slots: exp_ball(*inner(slots))
        base, power = compile_tree(node.base, frame), compile_tree(node.exponent, frame)
        return lambda slots: pow_balls(base(slots), power(slots))
    base = compile_tree(node.base, frame)
    if exponent == 2:

        def square(slots: Slots) -> Ball:
            a, ea = base(slots)
            product = a * a
            if product > HUGE or (product < TINY and a):
                raise Unclear("beyond the range of floats")
            return product, 2 * abs(a) * ea + product * U

        return square
    if exponent.denominator == 1:
        whole = exponent.numerator
        return lambda slots: int_pow(base(slots), whole)
    return lambda slots: root_pow(base(slots), exponent)


# ------------------------------------------------------------------------------------------------------ functions


def _call(node: Call, frame: Frame) -> Program:
    name, args = node.name, node.args
    if name in frame.functions:
        return _unknown(name, [compile_tree(arg, frame) for arg in args])
    if len(args) == 1 and name in UNARY:
        inner, function = compile_tree(args[0], frame), UNARY[name]
        return lambda slots: function(*inner(slots))
    if name in ("min", "max") and args:
        return _extreme(name, [compile_tree(arg, frame) for arg in args])
    if name == "mean" and args:
        total = [compile_tree(arg, frame) for arg in args]
        return lambda slots: mean_ball([part(slots) for part in total])
    if len(args) == 2 and name in ("log", "binomial"):
        first, second = compile_tree(args[0], frame), compile_tree(args[1], frame)
        function2 = log_base if name == "log" else binomial_balls
        return lambda slots: function2(first(slots), second(slots))
    raise Unsupported(f"{name} of {len(args)} arguments is not known")


def _extreme(name: str, parts: list[Program]) -> Program:
    pick = min if name == "min" else max

    def run(slots: Slots) -> Ball:
        balls = [part(slots) for part in parts]
        return pick(value for value, _ in balls), max(error for _, error in balls)

    return run


def _unknown(name: str, parts: list[Program]) -> Program:
    table = [(float(c), float(d)) for c, d in unknown_coefficients(name, len(parts))]

    def run(slots: Slots) -> Ball:
        total, spread = table[-1][0], 0.0
        for part, (c, d) in zip(parts, table, strict=False):
            x, error = part(slots)
            total += c * x / (1.0 + x * x) + d * x
            spread += (c + d) * (error + abs(x) * 8 * U)
        return total, spread + abs(total) * 4 * U

    return run


# --------------------------------------------------------------------------------------- sums, indicators, arrays


def _sum(node: Sum, frame: Frame) -> Program:
    if node.lower is None or node.upper is None:
        raise Unsupported("a sum needs bounds here")
    lower, upper = compile_tree(node.lower, frame), compile_tree(node.upper, frame)
    skip = None if node.skip is None else compile_tree(node.skip, frame)
    place, hidden = frame.open(node.index)
    frame.nested += 1
    try:
        cap = min(MAX_LENGTH, int(MAX_TERMS ** (1.0 / frame.nested)))
        body = compile_tree(node.body, frame)
    finally:
        frame.nested -= 1
        frame.close(node.index, hidden)
    product = node.product

    def run(slots: Slots) -> Ball:
        first, last = whole(lower(slots)), whole(upper(slots))
        if last - first >= cap:
            raise TooLarge("a sum of too many terms")
        left_out = None if skip is None else whole(skip(slots))
        total, error = (1.0, 0.0) if product else (0.0, 0.0)
        for i in range(first, last + 1):
            if i == left_out:
                continue
            slots[place] = (float(i), 0.0)
            value, spread = body(slots)
            if product:
                error = abs(total) * spread + abs(value) * error + abs(total * value) * U
                total *= value
            else:
                total += value
                error += spread + abs(total) * U
        if not (abs(total) < HUGE and error < HUGE):
            raise TooLarge("a sum beyond the range of floats")
        return total, error

    return run


def _indicator(node: Indicator, frame: Frame) -> Program:
    left, right = compile_tree(node.left, frame), compile_tree(node.right, frame)
    holds = RELATIONS[node.relation]

    def run(slots: Slots) -> Ball:
        a, ea = left(slots)
        b, eb = right(slots)
        gap = a - b
        if abs(gap) <= 4 * (ea + eb) and ea + eb > 0.0:
            raise Unclear("a comparison")
        return (1.0, 0.0) if holds(gap, 0) else (0.0, 0.0)

    return run


def _indexed(node: Indexed, frame: Frame) -> Program:
    if node.name == "delta" and len(node.indices) == 2 and "delta" not in frame.slots:
        return _indicator(Indicator(node.indices[0], "=", node.indices[1]), frame)
    raise Unsupported(f"{node.name} with indices has no value here")


def _no_value(node: Node, _frame: Frame) -> Program:
    raise Unsupported(f"{type(node).__name__} has no value among the real numbers")


_BUILDERS: Mapping[type, Callable[..., Program]] = {
    Number: _number,
    Symbol: _symbol,
    Neg: _neg,
    Add: _total,
    Sub: _total,
    Mul: _mul,
    Div: _div,
    Pow: _pow,
    Call: _call,
    Sum: _sum,
    Indicator: _indicator,
    Indexed: _indexed,
    Transpose: _no_value,
}
