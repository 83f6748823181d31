"""Fast evaluation of a tree: floats that carry a bound on their own rounding error.

`compile_tree` turns a tree into nested closures once; each call takes the values of the names and returns
(value, error) with |true value − value| ≤ error up to terms of second order, which the decision covers with a wide
margin. Nothing is decided here: a point where the real value does not exist raises `Undefined`, one that floats cannot
settle raises `Unclear`, and `grading.equivalence.precise` takes over.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache

from grading.reading.tree import (
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

Ball = tuple[float, float]
Slots = list[Ball]
Program = Callable[[Slots], Ball]

U = 2.0**-52
"""Twice the unit roundoff: one operation rounds by at most half of this, relative to its result."""
MAX_TERMS = 2000
"""A sum that runs over more terms than this (nested sums counted together) is not evaluated."""
HUGE = 1e300
TINY = 1e-290


class Undefined(ArithmeticError):
    """The expression has no real value at this point; the text says why."""


class Unclear(ArithmeticError):
    """Floats cannot settle this point: more digits are needed."""


class TooLarge(ArithmeticError):
    """The value or the work is beyond every limit."""


class Unsupported(ValueError):
    """A node that means nothing in an expression of real numbers (a transpose, a list)."""


class Frame:
    """The names of one compilation and their places in the list of values.

    `arrays` maps an array's name to its nested tuples of balls; it is consulted by Indexed nodes only.
    """

    def __init__(self, names: tuple[str, ...] = (), functions: frozenset[str] = frozenset()) -> None:
        self.slots = {name: at for at, name in enumerate(names)}
        self.size = len(names)
        self.functions = functions
        self.nested = 0
        self.terms = 1

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


def as_ball(value: Fraction) -> Ball:
    """A rational as a float with its rounding error."""
    try:
        nearest = value.numerator / value.denominator
    except OverflowError:
        raise Unclear("beyond the range of floats") from None
    if value.denominator & (value.denominator - 1) == 0 and abs(value.numerator) < 2**53:
        return nearest, 0.0
    return nearest, abs(nearest) * U + 5e-324


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
            total = a + sign * b
            return total, ea + eb + abs(total) * U

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


def int_pow(ball: Ball, n: int) -> Ball:
    """ball to a whole power; 0 to a negative power and 0^0 are undefined."""
    a, ea = ball
    size = abs(a)
    if n <= 0 and size <= 4 * ea:
        if a == 0.0 and ea == 0.0:
            raise Undefined("0^0" if n == 0 else "division by zero")
        raise Unclear("a divisor close to zero")
    try:
        value = a**n
    except OverflowError:
        raise Unclear("overflow") from None
    if size and not TINY < abs(value) < HUGE:
        raise Unclear("beyond the range of floats")
    if not size:
        return value, (ea**n if n > 0 else 0.0)
    return value, abs(value) * abs(n) * (ea / size * 1.01 + U)


def root_pow(ball: Ball, exponent: Fraction) -> Ball:
    """ball to a fraction in lowest terms; an even root needs a base that is not negative, an odd one does not."""
    a, ea = ball
    if a < 0 and exponent.denominator % 2:
        value, error = root_pow((-a, ea), exponent)
        return (-value if exponent.numerator % 2 else value), error
    if abs(a) <= 4 * ea or a == 0.0:
        if a == 0.0 and ea == 0.0:
            if exponent > 0:
                return 0.0, 0.0
            raise Undefined("division by zero")
        raise Unclear("a root close to zero")
    if a < 0:
        raise Undefined("an even root of a negative number")
    try:
        value = math.sqrt(a) if exponent == 0.5 else a ** (exponent.numerator / exponent.denominator)
    except OverflowError:
        raise Unclear("overflow") from None
    if not TINY < value < HUGE:
        raise Unclear("beyond the range of floats")
    power = abs(exponent.numerator / exponent.denominator)
    return value, value * (power * ea / a * 1.01 + (2 + power * abs(math.log(a))) * U)


def pow_balls(base: Ball, power: Ball) -> Ball:
    """base to a power that is not a literal; a negative base needs a power that is a whole number exactly."""
    a, ea = base
    x, ex = power
    if ex == 0.0 and x == int(x) and abs(x) < 1e6:
        return int_pow(base, int(x))
    if a == 0.0 and ea == 0.0:
        if x > 4 * ex:
            return 0.0, 0.0
        if x < -4 * ex:
            raise Undefined("division by zero")
        raise Unclear("0^0")
    if abs(a) <= 4 * ea:
        raise Unclear("a power of nearly zero")
    if a < 0:
        if abs(x - round(x)) <= 4 * ex:
            raise Unclear("a power that may be whole")
        raise Undefined("a power of a negative number")
    log = math.log(a)
    return exp_ball(x * log, abs(log) * ex + abs(x) * ea / a * 1.01 + abs(x * log) * 2 * U)


def exp_ball(x: float, error: float) -> Ball:
    """e^x."""
    if not -660.0 < x < 700.0 or error > 0.1:
        raise Unclear("overflow")
    value = math.exp(x)
    return value, value * (error * 1.1 + U)


# ------------------------------------------------------------------------------------------------------ functions


def ln_ball(x: float, error: float) -> Ball:
    """Natural logarithm."""
    if abs(x) <= 4 * error:
        raise Unclear("a logarithm close to zero")
    if x <= 0.0:
        raise Undefined("a logarithm of zero" if x == 0.0 else "a logarithm of a negative number")
    value = math.log(x)
    return value, error / x * 1.4 + abs(value) * U


def _slope(
    function: Callable[[float], float], slope: Callable[[float], float]
) -> Callable[[float, float], Ball]:
    """A smooth function on the whole line: the error grows by the slope."""

    def run(x: float, error: float) -> Ball:
        if error > 1e-3 or abs(x) > 1e6:
            raise Unclear("too coarse")
        try:
            value = function(x)
            return value, error * abs(slope(x)) * 1.1 + error * error + abs(value) * 4 * U
        except OverflowError:
            raise Unclear("overflow") from None

    return run


def _over(bottom: Callable[[float], float], top: Callable[[float], float]) -> Callable[[float, float], Ball]:
    """top/bottom of two smooth functions with slopes of at most cosh: tan, sec, coth …"""

    def run(x: float, error: float) -> Ball:
        if error > 1e-3 or abs(x) > 300.0:
            raise Unclear("too coarse")
        below = bottom(x)
        above = top(x)
        size = max(1.0, abs(below), abs(above))
        drift = (error * 1.1 + 4 * U * (1.0 + abs(x))) * size
        if abs(below) <= 8 * drift:
            if below == 0.0 and error == 0.0:
                raise Undefined("division by zero")
            raise Unclear("a pole")
        value = above / below
        return value, (drift + abs(value) * drift) / abs(below) + abs(value) * 4 * U

    return run


def _arc(function: Callable[[float], float]) -> Callable[[float, float], Ball]:
    """arcsin and arccos on [-1, 1]."""

    def run(x: float, error: float) -> Ball:
        room = 1.0 - abs(x)
        if room < -4 * error - 4 * U:
            raise Undefined("outside [-1, 1]")
        if error == 0.0 and abs(x) == 1.0:
            return function(x), 4 * U
        if room <= 8 * error + 1e-12:
            raise Unclear("the edge of [-1, 1]")
        value = function(x)
        return value, error / math.sqrt(room) * 1.2 + 4 * U

    return run


def _acosh(x: float, error: float) -> Ball:
    if x < 1.0 - 4 * error - 4 * U:
        raise Undefined("arcosh below 1")
    if x - 1.0 <= 8 * error + 1e-12:
        if x == 1.0 and error == 0.0:
            return 0.0, 0.0
        raise Unclear("the edge of arcosh")
    value = math.acosh(x)
    return value, error / math.sqrt((x - 1.0) * (x + 1.0)) * 1.2 + abs(value) * 8 * U


def _atanh(x: float, error: float) -> Ball:
    room = 1.0 - abs(x)
    if room < -4 * error or (room == 0.0 and error == 0.0):
        raise Undefined("artanh outside (-1, 1)")
    if room <= 8 * error + 1e-12:
        raise Unclear("the edge of artanh")
    value = math.atanh(x)
    return value, error / room * 1.2 + abs(value) * 8 * U


def _floor(x: float, error: float) -> Ball:
    below = math.floor(x)
    if error and (x - below <= 4 * error or below + 1 - x <= 4 * error):
        raise Unclear("a step")
    return float(below), 0.0


def _ceil(x: float, error: float) -> Ball:
    value, _ = _floor(-x, error)
    return -value, 0.0


def _sign(x: float, error: float) -> Ball:
    if abs(x) <= 4 * error and error:
        raise Unclear("a sign")
    return float((x > 0) - (x < 0)), 0.0


def _abs(x: float, error: float) -> Ball:
    return abs(x), error


def gamma_ball(x: float, error: float) -> Ball:
    """Γ(x): the factorial of x − 1, also between whole numbers."""
    if x < 0.5:
        if error == 0.0 and x == math.floor(x):
            raise Undefined("the factorial of a negative whole number")
        raise Unclear("gamma")
    if x > 165.0 or error > 1e-3:
        raise Unclear("overflow")
    value = math.gamma(x)
    if error == 0.0 and x == math.floor(x):
        value = float(math.factorial(int(x) - 1))
    return value, value * (error * (math.log(x + 1.0) + 2.5) + 8 * U)


def _factorial(x: float, error: float) -> Ball:
    return gamma_ball(x + 1.0, error)


def _logistic(x: float, error: float) -> Ball:
    if x > 600.0 or error > 1e-3:
        raise Unclear("overflow")
    if x < 0:
        power, spread = exp_ball(x, error)
        value = power / (1.0 + power)
        return value, spread + value * 4 * U
    power, spread = exp_ball(-x, error)
    return 1.0 / (1.0 + power), spread + 4 * U


def _phi(x: float, error: float) -> Ball:
    value = 0.5 * math.erfc(-x / math.sqrt(2.0))
    if value < 1e-250:
        raise Unclear("underflow")
    return value, error * 0.4 + value * (8 + 8 * x * x) * U


UNARY: dict[str, Callable[[float, float], Ball]] = {
    "ln": ln_ball,
    "exp": exp_ball,
    "sqrt": lambda x, error: root_pow((x, error), Fraction(1, 2)),
    "abs": _abs,
    "floor": _floor,
    "ceil": _ceil,
    "sign": _sign,
    "sin": _slope(math.sin, lambda _x: 1.0),
    "cos": _slope(math.cos, lambda _x: 1.0),
    "tan": _over(math.cos, math.sin),
    "cot": _over(math.sin, math.cos),
    "sec": _over(math.cos, lambda _x: 1.0),
    "csc": _over(math.sin, lambda _x: 1.0),
    "sinh": _slope(math.sinh, math.cosh),
    "cosh": _slope(math.cosh, math.sinh),
    "tanh": _slope(math.tanh, lambda _x: 1.0),
    "coth": _over(math.sinh, math.cosh),
    "sech": _over(math.cosh, lambda _x: 1.0),
    "csch": _over(math.sinh, lambda _x: 1.0),
    "asin": _arc(math.asin),
    "acos": _arc(math.acos),
    "atan": _slope(math.atan, lambda _x: 1.0),
    "asinh": _slope(math.asinh, lambda _x: 1.0),
    "acosh": _acosh,
    "atanh": _atanh,
    "logistic": _logistic,
    "Phi": _phi,
    "factorial": _factorial,
    "gamma": gamma_ball,
    "erf": _slope(math.erf, lambda _x: 1.13),
}
"""Functions of one real number, by the reader's canonical names."""


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
        return lambda slots: _mean([part(slots) for part in total])
    if len(args) == 2 and name in ("log", "binomial"):
        first, second = compile_tree(args[0], frame), compile_tree(args[1], frame)
        function2 = _log_base if name == "log" else binomial_balls
        return lambda slots: function2(first(slots), second(slots))
    raise Unsupported(f"{name} of {len(args)} arguments is not known")


def _mean(parts: list[Ball]) -> Ball:
    n = len(parts)
    total = math.fsum(value for value, _ in parts)
    return total / n, sum(error for _, error in parts) / n + abs(total / n) * 2 * U


def _extreme(name: str, parts: list[Program]) -> Program:
    pick = min if name == "min" else max

    def run(slots: Slots) -> Ball:
        balls = [part(slots) for part in parts]
        return pick(value for value, _ in balls), max(error for _, error in balls)

    return run


def _log_base(argument: Ball, base: Ball) -> Ball:
    top, et = ln_ball(*argument)
    bottom, eb = ln_ball(*base)
    if abs(bottom) <= 4 * eb:
        if base == (1.0, 0.0):
            raise Undefined("a logarithm to base 1")
        raise Unclear("a logarithm to a base close to 1")
    value = top / bottom
    return value, (et + abs(value) * eb) / abs(bottom) + abs(value) * U


def binomial_balls(n: Ball, k: Ball) -> Ball:
    """n over k: by the falling product for a small whole k, else through gamma."""
    (a, ea), (b, eb) = n, k
    if eb == 0.0 and b == int(b) and abs(b) <= 60:
        if ea == 0.0 and a == int(a) and a >= 0:
            return as_ball(Fraction(math.comb(int(a), int(b)) if b >= 0 else 0))
        if b < 0:
            return 0.0, 0.0
        value, spread = 1.0, 0.0
        for i in range(int(b)):
            if abs(a - i) <= 4 * ea:
                raise Unclear("a factor close to zero")
            value *= (a - i) / (i + 1)
            spread += ea / abs(a - i) + 3 * U
        return value, abs(value) * spread * 1.1
    top, et = gamma_ball(a + 1.0, ea)
    first, e1 = gamma_ball(b + 1.0, eb)
    second, e2 = gamma_ball(a - b + 1.0, ea + eb + abs(a) * U)
    value = top / first / second
    return value, value * (et / top + e1 / first + e2 / second + 4 * U)


@lru_cache(maxsize=64)
def unknown_coefficients(name: str, count: int) -> tuple[tuple[Fraction, Fraction], ...]:
    """What stands for an unknown function: sum of c x/(1 + x²) + d x over its arguments plus a constant.

    Rational and smooth, with coefficients drawn from the name, so that equal arguments give equal values and
    others do not.
    """
    seed = zlib.crc32(f"{name}/{count}".encode())
    parts = []
    for _ in range(count + 1):
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        c = Fraction(seed % 251 + 17, 128)
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        parts.append((c, Fraction(seed % 239 + 19, 128)))
    return tuple(parts)


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
        cap = int(MAX_TERMS ** (1.0 / frame.nested))
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
        return total, error

    return run


def whole(ball: Ball) -> int:
    """A bound of a sum or an index: a whole number, or the point is undefined."""
    value, error = ball
    if not abs(value) < 1e9 or error > 0.1:
        raise TooLarge("a bound that is too large")
    nearest = round(value)
    if abs(value - nearest) > 4 * error:
        raise Undefined("a bound that is not a whole number")
    return nearest


_RELATIONS: dict[str, Callable[[float], bool]] = {
    "=": lambda gap: gap == 0,
    "!=": lambda gap: gap != 0,
    "<": lambda gap: gap < 0,
    "<=": lambda gap: gap <= 0,
    ">": lambda gap: gap > 0,
    ">=": lambda gap: gap >= 0,
}


def _indicator(node: Indicator, frame: Frame) -> Program:
    left, right = compile_tree(node.left, frame), compile_tree(node.right, frame)
    test = _RELATIONS[node.relation]

    def run(slots: Slots) -> Ball:
        a, ea = left(slots)
        b, eb = right(slots)
        gap = a - b
        if abs(gap) <= 4 * (ea + eb) and ea + eb > 0.0:
            raise Unclear("a comparison")
        return (1.0, 0.0) if test(gap) else (0.0, 0.0)

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
