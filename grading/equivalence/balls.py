"""Floats that carry a bound on their own rounding error: powers and functions of them.

A ball is (value, error) with |true value − value| ≤ error up to terms of second order. A real value that does not exist
raises `Undefined`; what floats cannot settle raises `Unclear`.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

Ball = tuple[float, float]

U = 2.0**-52
"""Twice the unit roundoff: one operation rounds by at most half of this, relative to its result."""
HUGE = 1e300
TINY = 1e-290


class Undefined(ArithmeticError):
    """The expression has no real value at this point; the text says why."""


class Unclear(ArithmeticError):
    """Floats cannot settle this point: more digits are needed."""


class TooLarge(ArithmeticError):
    """The value or the work is beyond every limit."""


def as_ball(value: Fraction) -> Ball:
    """A rational as a float with its rounding error."""
    try:
        nearest = value.numerator / value.denominator
    except OverflowError:
        raise Unclear("beyond the range of floats") from None
    if value.denominator & (value.denominator - 1) == 0 and abs(value.numerator) < 2**53:
        return nearest, 0.0
    return nearest, abs(nearest) * U + 5e-324


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
    if not (abs(x) < HUGE and ex < HUGE):
        raise Unclear("beyond the range of floats")
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


def ln_ball(x: float, error: float) -> Ball:
    """Natural logarithm."""
    if abs(x) <= 4 * error:
        raise Unclear("a logarithm close to zero")
    if x <= 0.0:
        raise Undefined("a logarithm of zero" if x == 0.0 else "a logarithm of a negative number")
    value = math.log(x)
    return value, error / x * 1.4 + abs(value) * U


def _slope(function: Callable[[float], float], slope: Callable[[float], float]) -> Callable[[float, float], Ball]:
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
        if not error < 1.0:
            raise Unclear("too coarse")
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


def mean_ball(parts: list[Ball]) -> Ball:
    """The mean of some numbers."""
    n = len(parts)
    total = math.fsum(value for value, _ in parts)
    return total / n, sum(error for _, error in parts) / n + abs(total / n) * 2 * U


def log_base(argument: Ball, base: Ball) -> Ball:
    """ln(argument)/ln(base)."""
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


def whole(ball: Ball) -> int:
    """A bound of a sum or an index: a whole number, or the point is undefined."""
    value, error = ball
    if not abs(value) < 1e9 or error > 0.1:
        raise TooLarge("a bound that is too large")
    nearest = round(value)
    if abs(value - nearest) > 4 * error:
        raise Undefined("a bound that is not a whole number")
    return nearest
