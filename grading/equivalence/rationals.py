"""Exact numbers of the normal form: integers as long as possible, fractions else, and no number that is too long."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

Rational = int | Fraction

MAX_BITS = 6000
"""Longest coefficient."""


class TooBig(ArithmeticError):
    """The proof is given up: too much work, or a construct that the normal form does not know."""


def power(number: Rational, n: int) -> Rational:
    """number^n, exact; `TooBig` beyond the limit on coefficients."""
    size = max(number.numerator.bit_length(), number.denominator.bit_length())
    if size > 1 and size * abs(n) > MAX_BITS:
        raise TooBig("a huge number")
    if n >= 0:
        return number**n
    if not number:
        raise TooBig("division by zero")
    return tidy(Fraction(1) / Fraction(number) ** -n)


def size_of(number: Rational) -> Rational:
    """|number|."""
    return -number if number < 0 else number


def inverse(number: Rational) -> Rational:
    """1/number."""
    if number in (1, -1):
        return number
    if not number:
        raise TooBig("division by zero")
    return tidy(Fraction(1) / number)


def quotient(a: Rational, b: Rational) -> Rational:
    """a/b, exact, a plain integer where it is one."""
    if isinstance(a, int) and isinstance(b, int) and a % b == 0:
        return a // b
    return tidy(Fraction(a) / b)


def tidy(number: Rational) -> Rational:
    """A plain integer where the number is whole."""
    return number.numerator if number.denominator == 1 else number


@lru_cache(maxsize=4096)
def factored(number: int) -> tuple[tuple[int, int], ...]:
    """The primes of a positive integer with their exponents; a rest without a factor below 1000 stays whole."""
    out = []
    divisor = 2
    while divisor * divisor <= number and divisor < 1000:
        count = 0
        while number % divisor == 0:
            number //= divisor
            count += 1
        if count:
            out.append((divisor, count))
        divisor += 1 if divisor == 2 else 2
    if number > 1:
        root = math.isqrt(number)
        out.append((root, 2) if root * root == number else (number, 1))
    return tuple(out)
