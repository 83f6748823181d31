"""The value of a tree without free names: an exact fraction where it is one, else a double with a bound.

Everything is bounded before it is computed: exponents, factorials, lengths of sums, sizes of results.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from grading.errors import Unreadable
from grading.reading.numbers import Real, from_fraction
from grading.reading.tree import Add, Call, Div, Mul, Neg, Node, Number, Pow, Sub, Sum, Symbol

MAX_BITS = 4000
"""Numerators and denominators of exact results stay below this length."""
MAX_TERMS = 10_000
MAX_FACTORIAL = 170


class Irrational(Exception):
    """The value is not (known to be) a fraction; floats and decimals take over."""


def value(tree: Node, text: str) -> Real:
    """The number a tree stands for, `Unreadable` where it has none. text: how it was typed."""
    try:
        exact = exact_at(tree, {})
    except Irrational:
        return _irrational(tree, text)
    return from_fraction(Fraction(exact), text)


def exact_at(tree: Node, names: Mapping[str, Fraction]) -> Fraction:
    """The exact value at given values of the names. Raises Irrational where there is none."""
    return Fraction(_exact(tree, names))


def _exact(node: Node, names: Mapping[str, Any]) -> Any:
    """An int or a Fraction; ints as long as possible, since they are much faster."""
    kind = type(node)
    if kind is Number:
        number = node.value  # type: ignore[attr-defined]
        return number.numerator if number.denominator == 1 else number
    try:
        return _EXACT[kind](node, names)
    except KeyError:
        raise Unreadable("a number is expected here", node.start) from None


def _symbol(node: Symbol, names: Mapping[str, Any]) -> Any:
    found = names.get(node.name)
    if found is None:
        raise Irrational
    return found


def _add(node: Add, names: Mapping[str, Any]) -> Any:
    return _exact(node.left, names) + _exact(node.right, names)


def _sub(node: Sub, names: Mapping[str, Any]) -> Any:
    return _exact(node.left, names) - _exact(node.right, names)


def _mul(node: Mul, names: Mapping[str, Any]) -> Any:
    return _sized(_exact(node.left, names) * _exact(node.right, names), node)


def _div(node: Div, names: Mapping[str, Any]) -> Any:
    left, right = _exact(node.left, names), _exact(node.right, names)
    if right == 0:
        raise Unreadable("a division by zero", node.right.start)
    if isinstance(left, int) and isinstance(right, int):
        whole, rest = divmod(left, right)
        return whole if rest == 0 else Fraction(left, right)
    return _sized(left / right, node)


def _pow(node: Pow, names: Mapping[str, Any]) -> Any:
    exponent = _exact(node.exponent, names)
    base = _exact(node.base, names)
    return power(base, exponent, node)


def power(base: Any, exponent: Any, node: Node) -> Any:
    """base^exponent for rationals, exact where it is rational and of bounded size."""
    if not isinstance(exponent, int):
        if exponent.denominator != 1:
            return _root_power(base, exponent, node)
        exponent = exponent.numerator
    if base == 0:
        if exponent == 0:
            raise Unreadable("0 to the power 0 has no value", node.start)
        if exponent < 0:
            raise Unreadable("a division by zero (0 to a negative power)", node.start)
        return 0
    if base in (1, -1):
        return base if exponent % 2 else 1
    size = max(base.numerator.bit_length(), base.denominator.bit_length())
    if (size - 1) * abs(exponent) > MAX_BITS:
        raise Unreadable("a power too large to work out", node.start)
    if exponent >= 0:
        return base**exponent
    return Fraction(base) ** exponent


def _root_power(base: Any, exponent: Fraction, node: Node) -> Any:
    """A rational power of a rational: exact for perfect powers, undefined for even roots of negative numbers."""
    if base == 0:
        if exponent < 0:
            raise Unreadable("a division by zero (0 to a negative power)", node.start)
        return 0
    degree = exponent.denominator
    sign = 1
    if base < 0:
        if degree % 2 == 0:
            raise Unreadable("an even root of a negative number", node.start)
        sign, base = -1 if exponent.numerator % 2 else 1, -base
    if degree > 64:
        raise Irrational
    top, bottom = _root(base.numerator, degree), _root(base.denominator, degree)
    if top is None or bottom is None:
        raise Irrational
    return sign * power(Fraction(top, bottom), exponent.numerator, node)


def _root(number: int, degree: int) -> int | None:
    """The whole root of a whole number, or None."""
    if degree == 2:
        guess = math.isqrt(number)
        return guess if guess * guess == number else None
    if number < 2:
        return number
    if number.bit_length() > 900:
        return None
    guess = round(number ** (1 / degree))
    for near in (guess - 1, guess, guess + 1):
        if near >= 0 and int(near) ** degree == number:
            return int(near)
    return None


def _call(node: Call, names: Mapping[str, Any]) -> Any:
    name = node.name
    if name not in _CALLS:
        raise Irrational
    return _CALLS[name](node, [_exact(arg, names) for arg in node.args])


def _factorial(node: Call, args: list[Any]) -> Any:
    number = args[0]
    if number.denominator != 1 or number < 0:
        raise Unreadable("a factorial needs a whole number that is not negative", node.start)
    if number > MAX_FACTORIAL:
        raise Unreadable(f"factorials are worked out up to {MAX_FACTORIAL}", node.start)
    return math.factorial(int(number))


def _binomial(node: Call, args: list[Any]) -> Any:
    n, k = args
    if n.denominator != 1 or k.denominator != 1 or n < 0:
        raise Irrational
    if n > 1000:
        raise Unreadable("a binomial coefficient too large to work out", node.start)
    return math.comb(int(n), int(k)) if k >= 0 else 0


def _sqrt(node: Call, args: list[Any]) -> Any:
    return _root_power(args[0], Fraction(1, 2), node) if args[0] else 0


def _ln(node: Call, args: list[Any]) -> Any:
    if args[0] <= 0:
        raise Unreadable("a logarithm needs a positive number", node.start)
    if args[0] == 1:
        return 0
    raise Irrational


def _log(node: Call, args: list[Any]) -> Any:
    number, base = args
    if number <= 0 or base <= 0 or base == 1:
        raise Unreadable("a logarithm needs positive numbers, and a base other than 1", node.start)
    guess = round(_log_of(number) / _log_of(base))
    if abs(guess) < 2000 and Fraction(base) ** guess == number:
        return guess
    raise Irrational


def _log_of(number: Any) -> float:
    return math.log(number.numerator) - math.log(number.denominator)


def _exp(_node: Call, args: list[Any]) -> Any:
    if args[0] == 0:
        return 1
    raise Irrational


_CALLS = {
    "sqrt": _sqrt,
    "abs": lambda _node, args: abs(args[0]),
    "min": lambda _node, args: min(args),
    "max": lambda _node, args: max(args),
    "floor": lambda _node, args: math.floor(args[0]),
    "ceil": lambda _node, args: math.ceil(args[0]),
    "sign": lambda _node, args: (args[0] > 0) - (args[0] < 0),
    "factorial": _factorial,
    "binomial": _binomial,
    "ln": _ln,
    "log": _log,
    "exp": _exp,
}


def _sum(node: Sum, names: Mapping[str, Any]) -> Any:
    if node.lower is None or node.upper is None:
        raise Unreadable("this sum needs its bounds", node.start)
    low, high = _exact(node.lower, names), _exact(node.upper, names)
    if low.denominator != 1 or high.denominator != 1:
        raise Unreadable("the bounds of a sum are whole numbers", node.start)
    if high - low >= MAX_TERMS:
        raise Unreadable(f"a sum of more than {MAX_TERMS} terms", node.start)
    inside = _depth_of_sums(node.body)
    if inside and (high - low + 1) ** (inside + 1) > MAX_TERMS:
        raise Unreadable("nested sums of too many terms", node.start)
    total: Any = 1 if node.product else 0
    for at in range(int(low), int(high) + 1):
        term = _exact(node.body, {**names, node.index: at})
        total = _sized(total * term if node.product else total + term, node)
    return total


def _depth_of_sums(node: Node) -> int:
    """How deeply sums are nested in a tree."""
    from grading.reading.tree import children

    deepest = 0
    stack = [(node, 0)]
    while stack:
        here, depth = stack.pop()
        depth += isinstance(here, Sum)
        deepest = max(deepest, depth)
        stack.extend((child, depth) for child in children(here))
    return deepest


_EXACT: dict[type, Any] = {
    Symbol: _symbol,
    Add: _add,
    Sub: _sub,
    Mul: _mul,
    Div: _div,
    Pow: _pow,
    Call: _call,
    Sum: _sum,
    Neg: lambda node, names: -_exact(node.arg, names),
}


def _sized(number: Any, node: Node) -> Any:
    """A result, as long as it is of bounded size."""
    if number.numerator.bit_length() > MAX_BITS or number.denominator.bit_length() > MAX_BITS:
        raise Unreadable("a number too large to work out", node.start)
    return number


# ----------------------------------------------------------------------------------------------------- irrationals


def _irrational(tree: Node, text: str) -> Real:
    """The value in floats with an error bound, or in decimals where floats do not settle it."""
    from grading.equivalence.balls import TooLarge, Unclear, Undefined
    from grading.equivalence.evaluate import Unsupported
    from grading.reading.rough import ball

    try:
        approx, error = ball(tree)
        return Real(approx, error * 2, text, None, tree)
    except Unclear:
        pass
    except Undefined as reason:
        raise Unreadable(f"this has no value: {reason}") from None
    except (Unsupported, TooLarge) as reason:
        raise Unreadable(f"this cannot be worked out: {reason}") from None
    exact = fine(tree)
    try:
        return Real(float(exact), abs(float(exact)) * 2.0**-52, text, None, tree)
    except OverflowError:
        return Real(1.7e308 if exact > 0 else -1.7e308, math.inf, text, None, tree)


def fine(tree: Node) -> Fraction:
    """The value to some 55 digits, as a fraction."""
    from grading.equivalence.balls import TooLarge, Unclear, Undefined
    from grading.equivalence.evaluate import Unsupported
    from grading.equivalence.precise import Precise

    try:
        found = Precise({}).value(tree)
    except Undefined as reason:
        raise Unreadable(f"this has no value: {reason}") from None
    except (TooLarge, Unclear, Unsupported) as reason:
        raise Unreadable(f"this cannot be worked out: {reason}") from None
    if isinstance(found, Fraction):
        return found
    middle = found[0]
    if middle.adjusted() > 1200 or (middle and middle.adjusted() < -1200):
        raise Unreadable("a number too large or too small to work out")
    return Fraction(middle)
