"""The value of a number typed as a formula, in floats with a bound on their error, worked out once and thrown away.

What is rare (sums, trigonometry …) goes through the compiled evaluation of `grading.equivalence.evaluate`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from grading.equivalence.balls import (
    Ball,
    U,
    Unclear,
    Undefined,
    as_ball,
    exp_ball,
    ln_ball,
    log_base,
    pow_balls,
    root_pow,
)
from grading.equivalence.evaluate import Frame, compile_tree, rational
from grading.reading.tree import Add, Call, Div, Mul, Neg, Node, Number, Pow, Sub, Symbol

HUGE = 1e300
HALF = Fraction(1, 2)


def ball(node: Node) -> Ball:
    """(value, error) of a tree without free names; raises as `grading.equivalence.balls` does."""
    run = _RUN.get(type(node), _compiled)
    return run(node)


def _compiled(node: Node) -> Ball:
    return compile_tree(node, Frame())([(0.0, 0.0)] * 64)


def _number(node: Number) -> Ball:
    return as_ball(node.value)


def _symbol(node: Symbol) -> Ball:
    if node.name == "pi":
        return math.pi, math.pi * U
    return (math.e, math.e * U) if node.name == "e" else _compiled(node)


def _neg(node: Neg) -> Ball:
    value, error = ball(node.arg)
    return -value, error


def _add(node: Add) -> Ball:
    (a, ea), (b, eb) = ball(node.left), ball(node.right)
    return a + b, ea + eb + abs(a + b) * U


def _sub(node: Sub) -> Ball:
    (a, ea), (b, eb) = ball(node.left), ball(node.right)
    return a - b, ea + eb + abs(a - b) * U


def _mul(node: Mul) -> Ball:
    (a, ea), (b, eb) = ball(node.left), ball(node.right)
    product = a * b
    size = abs(product)
    if size > HUGE or (size < 1e-290 and a and b):
        raise Unclear("beyond the range of floats")
    return product, abs(a) * eb + abs(b) * ea + ea * eb + size * U


def _div(node: Div) -> Ball:
    (a, ea), (b, eb) = ball(node.left), ball(node.right)
    size = abs(b)
    if size <= 4 * eb:
        if b == 0.0 and eb == 0.0:
            raise Undefined("division by zero")
        raise Unclear("a divisor close to zero")
    quotient = a / b
    reach = abs(quotient)
    if reach > HUGE or (reach < 1e-290 and a):
        raise Unclear("beyond the range of floats")
    return quotient, (ea + reach * eb) / (size - eb) + reach * U


def _pow(node: Pow) -> Ball:
    exponent = rational(node.exponent)
    if exponent is not None and exponent.denominator > 1:
        return root_pow(ball(node.base), exponent)
    if exponent is None and isinstance(node.base, Symbol) and node.base.name == "e":
        return exp_ball(*ball(node.exponent))
    return pow_balls(ball(node.base), ball(node.exponent))


def _sqrt(args: list[Ball]) -> Ball:
    value, error = args[0]
    if value <= 4 * error or not 1e-290 < value < HUGE:
        return root_pow(args[0], HALF)
    root = math.sqrt(value)
    return root, error / root + root * U


_CALLS: dict[str, Callable[[Any], Ball]] = {
    "sqrt": _sqrt,
    "ln": lambda args: ln_ball(*args[0]),
    "exp": lambda args: exp_ball(*args[0]),
    "log": lambda args: log_base(args[0], args[1]),
}


def _call(node: Call) -> Ball:
    run = _CALLS.get(node.name)
    return _compiled(node) if run is None else run([ball(arg) for arg in node.args])


_RUN: dict[type, Callable[[Any], Ball]] = {
    Number: _number,
    Symbol: _symbol,
    Neg: _neg,
    Add: _add,
    Sub: _sub,
    Mul: _mul,
    Div: _div,
    Pow: _pow,
    Call: _call,
}
