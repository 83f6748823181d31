"""Slow and sure evaluation of a tree: exact rationals as long as they last, then decimals with an error bound.

It settles what floats cannot: points where a difference is close to rounding noise, towers beyond the range of floats,
steps, zeros. A value is a `Fraction` (exact) or a pair of decimals (value, error). Exponents are bounded: a huge tower
ends as `TooLarge` at once and never hangs. Functions beyond +, −, ×, ÷, roots, exp and ln come from mpmath's
stateless kernel, imported when first needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import (
    ROUND_UP,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
    Underflow,
)
from fractions import Fraction
from typing import Any

from grading.equivalence.balls import TooLarge, Unclear, Undefined, unknown_coefficients
from grading.equivalence.evaluate import MAX_LENGTH, Unsupported, rational
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
)

Spread = tuple[Decimal, Decimal]
Value = Fraction | Spread

DIGITS = 60
"""Working precision; results are compared at 40 digits or more."""
MAX_BITS = 2000
"""An exact rational with a longer numerator or denominator goes on as a decimal."""
REACH = 999_999
"""Largest decimal exponent of a value."""
MAX_STEPS = 8_000
"""Nodes visited in one evaluation, the terms of sums counted each time."""

_ZERO = Decimal(0)
_ONE = Fraction(1)


class Precise:
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
        traps = [InvalidOperation, DivisionByZero, Overflow, Underflow]
        self.names: dict[str, Value] = dict(names)
        self.functions = functions
        self.arrays = arrays or {}
        self.axes = axes or {}
        self.digits = digits
        self.ctx = Context(prec=digits, Emax=REACH, Emin=-REACH, traps=traps)
        # errors are rounded up and may shrink below any value
        self.err = Context(prec=5, Emax=10**12, Emin=-(10**12), rounding=ROUND_UP, traps=[InvalidOperation])
        self.unit = Decimal((0, (1,), 1 - digits))
        self.steps, self.limit = 0, limit

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

    # -------------------------------------------------------------------------------------------- kinds of value

    def spread(self, value: Value) -> Spread:
        """Any value as (decimal, error)."""
        if isinstance(value, tuple):
            return value
        quotient = self.ctx.divide(Decimal(value.numerator), Decimal(value.denominator))
        return quotient, self.rounding(quotient)

    def rounding(self, value: Decimal) -> Decimal:
        """A bound on the rounding error of one operation with this result."""
        return self.err.multiply(abs(value), self.unit)

    def exact(self, value: Fraction) -> Value:
        """A rational, as long as it is short."""
        bits = max(value.numerator.bit_length(), value.denominator.bit_length())
        self.steps += bits >> 6
        return self.spread(value) if bits > MAX_BITS else value

    def settled(self, value: Value) -> int:
        """The sign: 0 where a value cannot be told from zero although its error is tiny."""
        if isinstance(value, Fraction):
            return (value > 0) - (value < 0)
        middle, error = value
        if abs(middle) > error:
            return 1 if middle > 0 else -1
        if error > self.tiny:
            raise Unclear("too close to zero")
        return 0

    @property
    def tiny(self) -> Decimal:
        """Below half of the working digits a difference is taken for zero."""
        return Decimal((0, (1,), -self.digits // 2))

    # ------------------------------------------------------------------------------------------------ arithmetic

    def plus(self, a: Value, b: Value, sign: int = 1) -> Value:
        """a + sign b."""
        if isinstance(a, Fraction) and isinstance(b, Fraction):
            return self.exact(a + b if sign > 0 else a - b)
        (x, ex), (y, ey) = self.spread(a), self.spread(b)
        total = self.ctx.add(x, y) if sign > 0 else self.ctx.subtract(x, y)
        return total, self.err.add(self.err.add(ex, ey), self.rounding(total))

    def times(self, a: Value, b: Value) -> Value:
        """a b."""
        if isinstance(a, Fraction) and isinstance(b, Fraction):
            return self.exact(a * b)
        (x, ex), (y, ey) = self.spread(a), self.spread(b)
        product = self.ctx.multiply(x, y)
        err = self.err
        error = err.add(err.multiply(abs(x), ey), err.multiply(abs(y), ex))
        error = err.add(error, err.multiply(ex, ey))
        return product, err.add(error, self.rounding(product))

    def over(self, a: Value, b: Value) -> Value:
        """a / b."""
        if self.settled(b) == 0:
            raise Undefined("division by zero")
        if isinstance(a, Fraction) and isinstance(b, Fraction):
            return self.exact(a / b)
        (x, ex), (y, ey) = self.spread(a), self.spread(b)
        quotient = self.ctx.divide(x, y)
        err = self.err
        room = err.subtract(abs(y), err.multiply(ey, Decimal("1.01")))
        if room <= 0:
            raise Unclear("a divisor close to zero")
        error = err.divide(err.add(ex, err.multiply(abs(quotient), ey)), room)
        return quotient, err.add(err.multiply(error, Decimal("1.01")), self.rounding(quotient))

    def negative(self, a: Value) -> Value:
        """−a."""
        return -a if isinstance(a, Fraction) else (a[0].copy_negate(), a[1])

    def exp(self, a: Value) -> Value:
        """e^a."""
        if a == 0:
            return _ONE
        x, error = self.spread(a)
        if abs(x) > 2_400_000:
            raise TooLarge("e to a huge power")
        if error > Decimal("0.01"):
            raise Unclear("a power that is not known well enough")
        power = self.ctx.exp(x)
        return power, self.err.add(
            self.err.multiply(power, self.err.multiply(error, Decimal("1.1"))), self.rounding(power)
        )

    def ln(self, a: Value) -> Value:
        """Natural logarithm."""
        if a == 1:
            return Fraction(0)
        sign = self.settled(a)
        if sign <= 0:
            raise Undefined("a logarithm of zero" if sign == 0 else "a logarithm of a negative number")
        x, error = self.spread(a)
        log = self.ctx.ln(x)
        room = self.err.subtract(x, self.err.multiply(error, Decimal("1.01")))
        if room <= 0:
            raise Unclear("a logarithm close to zero")
        drift = self.err.multiply(self.err.divide(error, room), Decimal("1.01"))
        return log, self.err.add(drift, self.rounding(log))

    def whole_power(self, a: Value, n: int) -> Value:
        """a^n for a whole n; 0^0 and 1/0 are undefined."""
        if n <= 0 and self.settled(a) == 0:
            raise Undefined("0^0" if n == 0 else "division by zero")
        if isinstance(a, Fraction):
            size = max(a.numerator.bit_length(), a.denominator.bit_length())
            if size * abs(n) <= MAX_BITS or abs(a) in (0, 1):
                return a**n if abs(a) not in (0, 1) else (a if n % 2 or not a else _ONE)
        x, error = self.spread(a)
        if abs(n) > 10**15 or (x and abs(float(self.ctx.log10(abs(x)))) * abs(n) > REACH):
            raise TooLarge("a huge power")
        with_guard = Context(
            prec=self.digits + len(str(n)),
            Emax=REACH,
            Emin=-REACH,
            traps=[InvalidOperation, Overflow, Underflow],
        )
        if not x:
            return _ZERO, self.err.power(error, n)
        value = self.ctx.plus(with_guard.power(x, n))
        share = self.err.divide(error, self.err.subtract(abs(x), error))
        drift = self.err.multiply(share, Decimal(abs(n)))
        if drift > Decimal("0.01"):
            raise Unclear("a power that is not known well enough")
        return value, self.err.multiply(
            abs(value), self.err.add(self.err.multiply(drift, Decimal("1.1")), 4 * self.unit)
        )

    def fraction_power(self, a: Value, exponent: Fraction) -> Value:
        """a to a fraction: an odd root takes any sign, an even one needs a ≥ 0."""
        if exponent.denominator == 1:
            return self.whole_power(a, exponent.numerator)
        sign = self.settled(a)
        if sign == 0:
            if exponent < 0:
                raise Undefined("division by zero")
            if isinstance(a, Fraction):
                return Fraction(0)
            bound = self.err.add(abs(a[0]), a[1])
            return _ZERO, self.err.power(
                bound, self.err.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
            )
        if sign < 0:
            if exponent.denominator % 2 == 0:
                raise Undefined("an even root of a negative number")
            positive = self.fraction_power(self.negative(a), exponent)
            return self.negative(positive) if exponent.numerator % 2 else positive
        if isinstance(a, Fraction):
            top, bottom = _root(a.numerator, exponent.denominator), _root(a.denominator, exponent.denominator)
            if top is not None and bottom is not None:
                return self.whole_power(Fraction(top, bottom), exponent.numerator)
        if exponent.denominator == 2:
            return self.whole_power(self.sqrt(a), exponent.numerator)
        return self.exp(self.times(self.ln(a), exponent))

    def sqrt(self, a: Value) -> Value:
        """Square root of a positive value."""
        x, error = self.spread(a)
        root = self.ctx.sqrt(x)
        return root, self.err.add(self.err.multiply(self.err.divide(error, root), Decimal("0.6")), self.rounding(root))

    def power(self, a: Value, b: Value) -> Value:
        """a^b where b is not a literal: a negative a needs a whole b."""
        if isinstance(b, Fraction) and b.denominator == 1:
            return self.whole_power(a, b.numerator)
        sign = self.settled(a)
        if sign == 0:
            side = self.settled(b)
            if side <= 0:
                raise Undefined("0^0" if side == 0 else "division by zero")
            return Fraction(0)
        if sign < 0:
            nearest = self.near_whole(b)
            if nearest is None:
                raise Undefined("a power of a negative number")
            return self.whole_power(a, nearest)
        return self.exp(self.times(b, self.ln(a)))

    def near_whole(self, a: Value) -> int | None:
        """The whole number that a value cannot be told from, or None."""
        if isinstance(a, Fraction):
            return a.numerator if a.denominator == 1 else None
        middle, error = a
        if abs(middle) > 10**15:
            raise TooLarge("beyond counting")
        nearest = int(middle.to_integral_value())
        if abs(self.ctx.subtract(middle, nearest)) > error:
            return None
        if error > self.tiny:
            raise Unclear("close to a whole number")
        return nearest

    def floor(self, a: Value) -> Value:
        """Largest whole number that is not above a."""
        nearest = self.near_whole(a)
        if nearest is not None:
            return Fraction(nearest)
        if isinstance(a, Fraction):
            return Fraction(a.numerator // a.denominator)
        return Fraction(math.floor(a[0]))

    # -------------------------------------------------------------------------------------------- mpmath's kernel

    def kernel(self, name: str, a: Value, slope: Callable[[float], float], reach: float = 1e6) -> Value:
        """A function of mpmath's stateless kernel; `slope` bounds the derivative near the argument."""
        from mpmath import libmp

        x, error = self.spread(a)
        if abs(x) > Decimal(reach) or error > Decimal("1e-9"):
            raise TooLarge(f"{name} of a huge number") if abs(x) > Decimal(reach) else Unclear("too coarse")
        bits = int(self.digits * 3.33) + 40
        if isinstance(a, Fraction):
            argument = libmp.from_rational(a.numerator, a.denominator, bits)
        else:
            argument = libmp.from_str(str(x), bits, "n")
        result = getattr(libmp, "mpf_" + name)(argument, bits, "n")
        value = Decimal(libmp.to_str(result, self.digits + 3, strip_zeros=False, min_fixed=1, max_fixed=0))
        drift = self.err.multiply(error, Decimal(slope(float(x)) * 1.1 + 1e-30))
        floor = self.err.multiply(max(abs(value), Decimal("1e-30")), 100 * self.unit)
        return self.ctx.plus(value), self.err.add(drift, floor)

    def sin(self, a: Value) -> Value:
        """Sine."""
        return Fraction(0) if a == 0 else self.kernel("sin", a, lambda _x: 1.0)

    def cos(self, a: Value) -> Value:
        """Cosine."""
        return _ONE if a == 0 else self.kernel("cos", a, lambda _x: 1.0)

    def arc(self, name: str, a: Value) -> Value:
        """arcsin and arccos; the ends are exact."""
        room = self.plus(_ONE, self.times(a, a), -1)
        side = self.settled(room)
        if side < 0:
            raise Undefined("outside [-1, 1]")
        if side == 0 and not isinstance(a, Fraction):
            a = Fraction(1 if a[0] > 0 else -1)
        return self.kernel(name, a, lambda x: 1.0 / math.sqrt(max(1.0 - x * x, 1e-30)))

    def gamma(self, a: Value) -> Value:
        """Γ, exact at whole numbers up to 400."""
        nearest = self.near_whole(a)
        if nearest is not None:
            if nearest <= 0:
                raise Undefined("the factorial of a negative whole number")
            if nearest <= 400:
                return Fraction(math.factorial(nearest - 1))
            if nearest > 100_000:
                raise TooLarge("a huge factorial")
        return self.kernel("gamma", a, _gamma_slope, 20_000)

    def binomial(self, n: Value, k: Value) -> Value:
        """n over k, by the falling product for a whole k."""
        count = self.near_whole(k)
        if count is not None:
            top = self.near_whole(n)
            if top is not None and top >= 0:
                count = min(count, top - count) if 0 <= count <= top else -1
            if count < 0:
                return Fraction(0)
            if count > 400:
                raise TooLarge("a huge binomial coefficient")
            value: Value = _ONE
            for i in range(count):
                value = self.over(self.times(value, self.plus(n, Fraction(i), -1)), Fraction(i + 1))
            return value
        top_value = self.gamma(self.plus(n, _ONE))
        below = self.times(self.gamma(self.plus(k, _ONE)), self.gamma(self.plus(self.plus(n, k, -1), _ONE)))
        return self.over(top_value, below)


def _gamma_slope(x: float) -> float:
    """A generous bound on |Γ′| at x, for error propagation only."""
    if x > 170:
        return 1e308
    return abs(math.gamma(x)) * (math.log(abs(x) + 2.0) + 10.0 + 1.0 / max(abs(x - round(x)), 1e-6))


def _root(n: int, k: int) -> int | None:
    """The exact k-th root of n ≥ 0, or None."""
    if n < 2:
        return n
    if k == 2:
        root = math.isqrt(n)
    elif n.bit_length() > 900:
        return None
    else:
        root = round(n ** (1.0 / k))
        while root**k > n:
            root -= 1
        while (root + 1) ** k <= n:
            root += 1
    return root if root**k == n else None


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
    if len(args) == 1 and node.name in _UNARY:
        return _UNARY[node.name](self, args[0])
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
        bent = self.over(x, self.plus(_ONE, self.times(x, x)))
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
    if last - first >= MAX_LENGTH:
        raise TooLarge("a sum of too many terms")
    left_out = None if node.skip is None else self.near_whole(self.value(node.skip))
    hidden = self.names.get(node.index)
    total: Value = _ONE if node.product else Fraction(0)
    for i in range(first, last + 1):
        if i == left_out:
            continue
        self.names[node.index] = Fraction(i)
        term = self.value(node.body)
        total = self.times(total, term) if node.product else self.plus(total, term)
    if hidden is None:
        self.names.pop(node.index, None)
    else:
        self.names[node.index] = hidden
    return total


_RELATIONS: dict[str, Callable[[int], bool]] = {
    "=": lambda sign: sign == 0,
    "!=": lambda sign: sign != 0,
    "<": lambda sign: sign < 0,
    "<=": lambda sign: sign <= 0,
    ">": lambda sign: sign > 0,
    ">=": lambda sign: sign >= 0,
}


def _indicator(self: Precise, node: Indicator) -> Value:
    gap = self.plus(self.value(node.left), self.value(node.right), -1)
    return Fraction(1 if _RELATIONS[node.relation](self.settled(gap)) else 0)


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


def _half(self: Precise, a: Value, sign: int) -> Value:
    """(e^a ± e^(−a)) / 2."""
    return self.over(self.plus(self.exp(a), self.exp(self.negative(a)), sign), Fraction(2))


def _asinh(self: Precise, a: Value) -> Value:
    if self.settled(a) < 0:
        return self.negative(_asinh(self, self.negative(a)))
    root = self.fraction_power(self.plus(self.times(a, a), _ONE), Fraction(1, 2))
    return self.ln(self.plus(a, root))


def _acosh(self: Precise, a: Value) -> Value:
    side = self.settled(self.plus(a, _ONE, -1))
    if side < 0:
        raise Undefined("arcosh below 1")
    if side == 0:
        return Fraction(0)
    root = self.fraction_power(self.plus(self.times(a, a), _ONE, -1), Fraction(1, 2))
    return self.ln(self.plus(a, root))


def _atanh(self: Precise, a: Value) -> Value:
    if self.settled(self.plus(_ONE, self.times(a, a), -1)) <= 0:
        raise Undefined("artanh outside (-1, 1)")
    return self.over(self.ln(self.over(self.plus(_ONE, a), self.plus(_ONE, a, -1))), Fraction(2))


def _phi(self: Precise, a: Value) -> Value:
    scaled = self.over(a, self.sqrt(Fraction(2)))
    return self.over(self.plus(_ONE, self.kernel("erf", scaled, lambda _x: 1.13)), Fraction(2))


def _abs(_self: Precise, a: Value) -> Value:
    return abs(a) if isinstance(a, Fraction) else (abs(a[0]), a[1])


_UNARY: dict[str, Callable[[Precise, Value], Value]] = {
    "ln": Precise.ln,
    "exp": Precise.exp,
    "sqrt": lambda self, a: self.fraction_power(a, Fraction(1, 2)),
    "abs": _abs,
    "floor": Precise.floor,
    "ceil": lambda self, a: self.negative(self.floor(self.negative(a))),
    "sign": lambda self, a: Fraction(self.settled(a)),
    "sin": Precise.sin,
    "cos": Precise.cos,
    "tan": lambda self, a: self.over(self.sin(a), self.cos(a)),
    "cot": lambda self, a: self.over(self.cos(a), self.sin(a)),
    "sec": lambda self, a: self.over(_ONE, self.cos(a)),
    "csc": lambda self, a: self.over(_ONE, self.sin(a)),
    "sinh": lambda self, a: _half(self, a, -1),
    "cosh": lambda self, a: _half(self, a, 1),
    "tanh": lambda self, a: self.over(_half(self, a, -1), _half(self, a, 1)),
    "coth": lambda self, a: self.over(_half(self, a, 1), _half(self, a, -1)),
    "sech": lambda self, a: self.over(_ONE, _half(self, a, 1)),
    "csch": lambda self, a: self.over(_ONE, _half(self, a, -1)),
    "asin": lambda self, a: self.arc("asin", a),
    "acos": lambda self, a: self.arc("acos", a),
    "atan": lambda self, a: self.kernel("atan", a, lambda _x: 1.0, 1e300),
    "asinh": _asinh,
    "acosh": _acosh,
    "atanh": _atanh,
    "logistic": lambda self, a: self.over(_ONE, self.plus(_ONE, self.exp(self.negative(a)))),
    "Phi": _phi,
    "erf": lambda self, a: self.kernel("erf", a, lambda _x: 1.13),
    "factorial": lambda self, a: self.gamma(self.plus(a, _ONE)),
    "gamma": Precise.gamma,
}

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
