"""Exact rationals as long as they last, then decimals with an error bound: the arithmetic under `precise`.

A value is a `Fraction` (exact) or a pair of decimals (value, error). Exponents are bounded: a huge tower ends as
`TooLarge` at once and never hangs. Functions beyond +, −, ×, ÷, roots, exp and ln come from mpmath's stateless kernel,
imported when first needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_UP, Context, Decimal, DivisionByZero, InvalidOperation, Overflow, Underflow
from fractions import Fraction

from grading.equivalence.balls import TooLarge, Unclear, Undefined

Spread = tuple[Decimal, Decimal]
Value = Fraction | Spread

DIGITS = 60
"""Working precision; results are compared at 40 digits or more."""
MAX_BITS = 2000
"""An exact rational with a longer numerator or denominator goes on as a decimal."""
REACH = 999_999
"""Largest decimal exponent of a value."""
ZERO = Decimal(0)
ONE = Fraction(1)


class Decimals:
    """Arithmetic to `digits` digits. Cheap to make; `steps` counts the work."""

    def __init__(self, digits: int = DIGITS) -> None:
        traps = [InvalidOperation, DivisionByZero, Overflow, Underflow]
        self.digits = digits
        self.ctx = Context(prec=digits, Emax=REACH, Emin=-REACH, traps=traps)
        # errors are rounded up and may shrink below any value
        self.err = Context(prec=5, Emax=10**12, Emin=-(10**12), rounding=ROUND_UP, traps=[InvalidOperation])
        self.unit = Decimal((0, (1,), 1 - digits))
        self.steps = 0

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
            return ONE
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
                return a**n if abs(a) not in (0, 1) else (a if n % 2 or not a else ONE)
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
            return ZERO, self.err.power(error, n)
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
            return ZERO, self.err.power(
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
        return ONE if a == 0 else self.kernel("cos", a, lambda _x: 1.0)

    def arc(self, name: str, a: Value) -> Value:
        """arcsin and arccos; the ends are exact."""
        room = self.plus(ONE, self.times(a, a), -1)
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
            value: Value = ONE
            for i in range(count):
                value = self.over(self.times(value, self.plus(n, Fraction(i), -1)), Fraction(i + 1))
            return value
        top_value = self.gamma(self.plus(n, ONE))
        below = self.times(self.gamma(self.plus(k, ONE)), self.gamma(self.plus(self.plus(n, k, -1), ONE)))
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
    elif k >= n.bit_length() or n.bit_length() > 900:
        return None  # 2^k is above n already; a large k must not be tried
    else:
        root = round(n ** (1.0 / k))
        while root**k > n:
            root -= 1
        while (root + 1) ** k <= n:
            root += 1
    return root if root**k == n else None


def _half(self: Decimals, a: Value, sign: int) -> Value:
    """(e^a ± e^(−a)) / 2."""
    return self.over(self.plus(self.exp(a), self.exp(self.negative(a)), sign), Fraction(2))


def _asinh(self: Decimals, a: Value) -> Value:
    if self.settled(a) < 0:
        return self.negative(_asinh(self, self.negative(a)))
    root = self.fraction_power(self.plus(self.times(a, a), ONE), Fraction(1, 2))
    return self.ln(self.plus(a, root))


def _acosh(self: Decimals, a: Value) -> Value:
    side = self.settled(self.plus(a, ONE, -1))
    if side < 0:
        raise Undefined("arcosh below 1")
    if side == 0:
        return Fraction(0)
    root = self.fraction_power(self.plus(self.times(a, a), ONE, -1), Fraction(1, 2))
    return self.ln(self.plus(a, root))


def _atanh(self: Decimals, a: Value) -> Value:
    if self.settled(self.plus(ONE, self.times(a, a), -1)) <= 0:
        raise Undefined("artanh outside (-1, 1)")
    return self.over(self.ln(self.over(self.plus(ONE, a), self.plus(ONE, a, -1))), Fraction(2))


def _phi(self: Decimals, a: Value) -> Value:
    scaled = self.over(a, self.sqrt(Fraction(2)))
    return self.over(self.plus(ONE, self.kernel("erf", scaled, lambda _x: 1.13)), Fraction(2))


def _abs(_self: Decimals, a: Value) -> Value:
    return abs(a) if isinstance(a, Fraction) else (abs(a[0]), a[1])


UNARY: dict[str, Callable[[Decimals, Value], Value]] = {
    "ln": Decimals.ln,
    "exp": Decimals.exp,
    "sqrt": lambda self, a: self.fraction_power(a, Fraction(1, 2)),
    "abs": _abs,
    "floor": Decimals.floor,
    "ceil": lambda self, a: self.negative(self.floor(self.negative(a))),
    "sign": lambda self, a: Fraction(self.settled(a)),
    "sin": Decimals.sin,
    "cos": Decimals.cos,
    "tan": lambda self, a: self.over(self.sin(a), self.cos(a)),
    "cot": lambda self, a: self.over(self.cos(a), self.sin(a)),
    "sec": lambda self, a: self.over(ONE, self.cos(a)),
    "csc": lambda self, a: self.over(ONE, self.sin(a)),
    "sinh": lambda self, a: _half(self, a, -1),
    "cosh": lambda self, a: _half(self, a, 1),
    "tanh": lambda self, a: self.over(_half(self, a, -1), _half(self, a, 1)),
    "coth": lambda self, a: self.over(_half(self, a, 1), _half(self, a, -1)),
    "sech": lambda self, a: self.over(ONE, _half(self, a, 1)),
    "csch": lambda self, a: self.over(ONE, _half(self, a, -1)),
    "asin": lambda self, a: self.arc("asin", a),
    "acos": lambda self, a: self.arc("acos", a),
    "atan": lambda self, a: self.kernel("atan", a, lambda _x: 1.0, 1e300),
    "asinh": _asinh,
    "acosh": _acosh,
    "atanh": _atanh,
    "logistic": lambda self, a: self.over(ONE, self.plus(ONE, self.exp(self.negative(a)))),
    "Phi": _phi,
    "erf": lambda self, a: self.kernel("erf", a, lambda _x: 1.13),
    "factorial": lambda self, a: self.gamma(self.plus(a, ONE)),
    "gamma": Decimals.gamma,
}
