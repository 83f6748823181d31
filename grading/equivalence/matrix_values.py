"""Values of one draw of matrices, as floats or as decimals, and the operations on them."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Context, Decimal, InvalidOperation, Overflow, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any

from grading.equivalence.draws import Dim, Draw

Shape = tuple[Dim, Dim]

EXACT_DIGITS = 60
MAX_CHOICE = 1000
ILL = 1e8
"""A draw in which an inverse is conditioned worse than this is thrown away."""


class Redraw(ArithmeticError):
    """This draw cannot be used: an inverse is close to singular, or a value does not exist."""


class Values:
    """The values of one draw, as floats or as decimals."""

    __slots__ = ("arrays", "dims", "exact", "scalars")

    def __init__(self, draw: Draw, exact: bool = False) -> None:
        import numpy as np

        self.dims = draw.dims
        self.exact = exact
        make = to_decimal if exact else float
        self.scalars: dict[str, Any] = {name: make(value) for name, value in draw.scalars.items()}
        dtype: Any = object if exact else float
        self.arrays: dict[str, Any] = {}
        for name, entries in draw.arrays.items():
            array = np.array(_mapped(entries, make), dtype=dtype)
            self.arrays[name] = array.reshape(-1, 1) if array.ndim == 1 else array

    def size(self, dim: Dim) -> int:
        """The size of a dimension."""
        return dim if isinstance(dim, int) else self.dims[dim]

    def number(self, value: Fraction) -> Any:
        """A rational in the arithmetic of this draw."""
        try:
            return to_decimal(value) if self.exact else float(value)
        except OverflowError:
            raise Redraw("a number beyond the range of floats") from None

    def eye(self, dim: Dim) -> Any:
        """The identity."""
        import numpy as np

        n = self.size(dim)
        out = np.eye(n)
        return np.array([[Decimal(int(x)) for x in row] for row in out], dtype=object) if self.exact else out

    def ones(self, rows: Dim, columns: Dim) -> Any:
        """All ones."""
        import numpy as np

        sizes = (self.size(rows), self.size(columns))
        return np.full(sizes, Decimal(1), dtype=object) if self.exact else np.ones(sizes)


def _mapped(entries: Any, make: Callable[[Fraction], Any]) -> Any:
    return [_mapped(entry, make) for entry in entries] if isinstance(entries, tuple) else make(entries)


def to_decimal(value: Fraction) -> Decimal:
    """The value to the digits of the context in force."""
    return Decimal(value.numerator) / Decimal(value.denominator)


def exactly(draw: Draw, program: Callable[[Values], Any]) -> Any:
    """Run a program in decimals of 60 digits; `Redraw` where a value does not exist."""
    with localcontext(Context(prec=EXACT_DIGITS, Emax=999_999, Emin=-999_999, traps=[InvalidOperation, Overflow])):
        try:
            return program(Values(draw, exact=True))
        except (ArithmeticError, ValueError) as error:
            raise Redraw(str(error)) from None


def over(a: Any, b: Any) -> Any:
    """a/b; `Redraw` where b is zero."""
    try:
        return a / b
    except (ZeroDivisionError, InvalidOperation):
        raise Redraw("division by zero") from None


def scalar_power(base: Any, exponent: Any, fixed: Fraction | None) -> Any:
    """A power of a number or of a 1×1 product."""
    if hasattr(base, "shape") and getattr(base, "shape", ()) != ():
        import numpy as np

        return np.array([[scalar_power(base[0, 0], exponent, fixed)]], dtype=base.dtype)
    if hasattr(exponent, "shape") and getattr(exponent, "shape", ()) != ():
        exponent = exponent[0, 0]
    try:
        if base < 0 and fixed is not None and fixed.denominator % 2 and fixed.denominator > 1:
            root = (-base) ** exponent
            return -root if fixed.numerator % 2 else root
        result = base**exponent
    except (ZeroDivisionError, OverflowError, InvalidOperation):
        raise Redraw("a power that does not exist") from None
    if isinstance(result, complex):
        raise Redraw("a root of a negative number")
    return result


def matrix_power(matrix: Any, n: int, values: Values, shape: Shape) -> Any:
    """matrix^n for n ≥ 0, by repeated products."""
    out = values.eye(shape[0])
    for _ in range(n):
        out = out @ matrix
    return out


def inverted(matrix: Any) -> Any:
    """The inverse; `Redraw` where it is singular or badly conditioned."""
    import numpy as np

    if matrix.dtype == object:
        return _gauss(matrix)
    try:
        out = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        raise Redraw("a singular matrix") from None
    if not abs(out).max() * abs(matrix).max() < ILL:
        raise Redraw("a badly conditioned matrix")
    return out


def _gauss(matrix: Any) -> Any:
    """Inverse of a matrix of decimals."""
    import numpy as np

    n = len(matrix)
    work = [list(row) + [Decimal(int(i == j)) for j in range(n)] for i, row in enumerate(matrix)]
    for column in range(n):
        pivot = max(range(column, n), key=lambda row: abs(work[row][column]))
        if abs(work[pivot][column]) < Decimal("1e-30"):
            raise Redraw("a singular matrix")
        work[column], work[pivot] = work[pivot], work[column]
        lead = work[column][column]
        work[column] = [value / lead for value in work[column]]
        for row in range(n):
            if row != column and work[row][column]:
                factor = work[row][column]
                work[row] = [a - factor * b for a, b in zip(work[row], work[column], strict=True)]
    return np.array([row[n:] for row in work], dtype=object)


def softmax(matrix: Any, axis: int, exact: bool) -> Any:
    """Softmax along an axis, in decimals or in floats."""
    import numpy as np

    if exact:
        powers = each(Decimal.exp, matrix)
        return powers / powers.sum(axis=axis, keepdims=True)
    powers = np.exp(matrix - matrix.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def each(function: Callable[[Any], Any], value: Any) -> Any:
    """A function of one decimal on every entry."""
    import numpy as np

    if not isinstance(value, np.ndarray):
        return function(value)
    return np.array([[function(x) for x in row] for row in value], dtype=object)


@lru_cache(maxsize=4)
def constant(name: str) -> Decimal:
    """e or pi to the digits of the exact run."""
    if name == "e":
        return Context(prec=EXACT_DIGITS).exp(Decimal(1))
    from mpmath import libmp

    return Decimal(libmp.to_str(libmp.mpf_pi(240), EXACT_DIGITS + 3))


def _safe(name: str) -> Callable[[Any], Any]:
    """numpy's function by name; values that do not exist become nan, which the comparison sees."""

    def run(value: Any) -> Any:
        import numpy as np

        return getattr(np, name)(value)

    return run


def _exact_tanh(x: Decimal) -> Decimal:
    power = (2 * x).exp()
    return (power - 1) / (power + 1)


def _exact_root(x: Decimal) -> Decimal:
    if x < 0:
        raise Redraw("a root of a negative number")
    return x.sqrt()


def _exact_ln(x: Decimal) -> Decimal:
    if x <= 0:
        raise Redraw("a logarithm of a number that is not positive")
    return x.ln()


ENTRYWISE: dict[str, tuple[Callable[[Any], Any], Callable[[Decimal], Decimal]]] = {
    "exp": (_safe("exp"), Decimal.exp),
    "ln": (_safe("log"), _exact_ln),
    "sqrt": (_safe("sqrt"), _exact_root),
    "abs": (abs, abs),
    "tanh": (_safe("tanh"), _exact_tanh),
    "logistic": (lambda x: 1.0 / (1.0 + _safe("exp")(-x)), lambda x: 1 / (1 + (-x).exp())),
    "sign": (_safe("sign"), lambda x: Decimal((x > 0) - (x < 0))),
}


def _log(x: Any, base: Any) -> Any:
    if not (x > 0 and base > 0 and base != 1):
        raise Redraw("a logarithm that does not exist")
    return over(x.ln(), base.ln()) if isinstance(x, Decimal) else math.log(x) / math.log(base)


def _binomial(n: Any, k: Any) -> Any:
    if not (0 <= n <= MAX_CHOICE and n == int(n) and 0 <= k <= MAX_CHOICE and k == int(k)):
        raise Redraw("a binomial coefficient of numbers that are not small and whole")
    count = math.comb(int(n), int(k))
    return Decimal(count) if isinstance(n, Decimal) else float(count)


TWO: dict[str, Callable[[Any, Any], Any]] = {
    "min": min,
    "max": max,
    "log": _log,
    "binomial": _binomial,
}
