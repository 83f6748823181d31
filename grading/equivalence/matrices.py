"""Expressions of matrices: shapes inferred by name, mismatches in words, values on drawn matrices.

`plan` makes of a tree its shape and a closure; the closure runs on floats and, where those leave a doubt, on decimals
(numpy arrays of objects). Products do not commute, a 1×1 product acts as a scalar, +, −, ∘ and / broadcast a scalar, a
column or a row as numpy does, `I` is the identity that fits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from grading.equivalence.draws import Dim
from grading.equivalence.evaluate import rational
from grading.equivalence.matrix_values import (
    ENTRYWISE,
    TWO,
    Shape,
    Values,
    constant,
    each,
    inverted,
    matrix_power,
    over,
    scalar_power,
    softmax,
    to_decimal,
)
from grading.reading.tree import Add, Call, Div, Mul, Neg, Node, Number, Pow, Sub, Symbol, Transpose

Program = Callable[["Values"], Any]

MAX_POWER = 12
MAX_PLAIN_BITS = 40


class ShapeError(ValueError):
    """Shapes that do not fit: a wrong answer, with the reason in words."""


@dataclass(frozen=True, slots=True)
class Plan:
    """shape: (rows, columns), None for a scalar, "I" for a multiple of the identity that fits (the program gives the
    factor), "1" for a row of ones that fits. delicate: inverses, powers or large literals occur."""

    shape: Shape | str | None
    run: Program


class Planner:
    """Makes plans over declared shapes and scalars; `text` is what was typed, for naming parts in messages;
    numpy says that the answer is in numpy's notation."""

    def __init__(
        self, shapes: Mapping[str, Shape], scalars: frozenset[str], text: str = "", numpy: bool = False
    ) -> None:
        self.shapes = shapes
        self.scalars = scalars
        self.dims = frozenset(dim for shape in shapes.values() for dim in shape if isinstance(dim, str))
        self.text = text
        self.numpy = numpy
        self.delicate = False
        self.bits = 0
        self.doubts: list[str] = []

    def plan(self, node: Node) -> Plan:
        """Shape and program of a tree, or `ShapeError` in words."""
        run = _PLANS.get(type(node))
        if run is None:
            raise ShapeError(f"{self.name(node)} has no meaning among matrices")
        return run(self, node)

    def name(self, node: Node) -> str:
        """What was typed for a part, short, or the part described."""
        if isinstance(node, Symbol):
            return node.name
        if isinstance(node, Transpose) and isinstance(node.arg, Symbol):
            return f"{node.arg.name}^T"
        typed = self.text[node.start : node.end].strip() if 0 <= node.start < node.end else ""
        if 0 < len(typed) <= 40:
            return typed
        return "the factor" if isinstance(node, (Symbol, Transpose, Pow)) else "a part"

    # ----------------------------------------------------------------------------------------------------- leaves

    def number(self, node: Number) -> Plan:
        """A literal."""
        value = node.value
        # literals that together are long could hide a difference from floats
        self.bits += value.numerator.bit_length() + value.denominator.bit_length()
        self.delicate = self.delicate or self.bits > MAX_PLAIN_BITS
        plain = float(value) if abs(value) < 10**300 else math.inf
        return Plan(None, lambda values: to_decimal(value) if values.exact else plain)

    def symbol(self, node: Symbol) -> Plan:
        """A matrix, a scalar, a dimension, the identity or a constant."""
        name = node.name
        if name in self.shapes:
            return Plan(self.shapes[name], lambda values: values.arrays[name])
        if name in self.scalars or name in self.dims:
            return Plan(None, lambda values: values.scalars[name])
        if name == "I":
            return Plan("I", lambda values: values.number(Fraction(1)))
        if name in ("pi", "e"):
            value = math.pi if name == "pi" else math.e
            return Plan(None, lambda values: constant(name) if values.exact else value)
        raise ShapeError(f"{name} has no shape here")

    # ---------------------------------------------------------------------------------------------- entry by entry

    def total(self, node: Add | Sub) -> Plan:
        """a ± b with broadcasting."""
        left, right = self.plan(node.left), self.plan(node.right)
        minus = isinstance(node, Sub)
        if "I" in (left.shape, right.shape):
            left, right = self.identities(left, right)
        shape = self.broadcast(left, right, node.left, node.right, "subtract" if minus else "add")
        a, b = left.run, right.run
        if minus:
            return Plan(shape, lambda values: a(values) - b(values))
        return Plan(shape, lambda values: a(values) + b(values))

    def identities(self, left: Plan, right: Plan) -> tuple[Plan, Plan]:
        """Give an identity the size of the other side."""
        if left.shape == right.shape:
            return left, right
        shape: Any = right.shape if left.shape == "I" else left.shape
        if not isinstance(shape, tuple) or shape[0] != shape[1]:
            raise ShapeError(f"{self.shown(shape)} and the identity do not fit: a square matrix is needed beside I")
        return self.sized(left, shape[0]), self.sized(right, shape[0])

    def sized(self, plan: Plan, dim: Dim) -> Plan:
        """A multiple of the identity as a matrix of a given size; other plans as they are."""
        if plan.shape != "I":
            return plan
        run = plan.run
        return Plan((dim, dim), lambda values: values.eye(dim) * run(values))

    def broadcast(self, left: Plan, right: Plan, a: Node, b: Node, what: str) -> Shape | str | None:
        """The common shape of an operation entry by entry."""
        x, y = left.shape, right.shape
        if x == y:
            return x
        if x is None or y is None:
            return y if x is None else x
        if isinstance(x, str) or isinstance(y, str):
            raise ShapeError(f"{self.name(a)} and {self.name(b)} do not fit: cannot {what}")
        if (1, 1) in (x, y) and 1 not in (x if y == (1, 1) else y):
            # it is read as a number beside every entry; if the answer is wrong, this is why
            self.doubts.append(self.mismatch(a, x, b, y, what))
        out = []
        for p, q in zip(x, y, strict=True):
            if p == q or q == 1:
                out.append(p)
            elif p == 1:
                out.append(q)
            else:
                raise ShapeError(self.mismatch(a, x, b, y, what))
        return out[0], out[1]

    def mismatch(self, a: Node, x: Any, b: Node, y: Any, what: str) -> str:
        """The sentence about two shapes that do not fit."""
        return f"{self.name(a)} is {self.shown(x)}, {self.name(b)} is {self.shown(y)}: cannot {what}"

    def shown(self, shape: Any) -> str:
        """A shape in words."""
        return shown(shape)

    # --------------------------------------------------------------------------------------------------- products

    def product(self, node: Mul) -> Plan:
        """Entrywise where it was typed so, else a chain of matrix products."""
        if node.how == "entry":
            return self.entrywise(node)
        parts: list[tuple[Plan, Node, str]] = []
        rest: Node = node
        while isinstance(rest, Mul) and rest.how != "entry":
            parts.append((self.plan(rest.right), rest.right, rest.how))
            rest = rest.left
        parts.append((self.plan(rest), rest, "space"))
        parts.reverse()
        try:
            return self.from_left(parts)
        except ShapeError:
            if len(parts) < 3:
                raise
            # a product is associative: A p^T y is A (p^T y)
            other = self.from_right(parts)
            if other is None:
                raise
            return other

    def from_left(self, parts: list[tuple[Plan, Node, str]]) -> Plan:
        """((a b) c) …"""
        plan, node, _ = parts[0]
        first = node
        for right, right_node, how in parts[1:]:
            plan = self.pair(plan, right, node, right_node, how)
            node = _joined(first, right_node)
        return plan

    def from_right(self, parts: list[tuple[Plan, Node, str]]) -> Plan | None:
        """a (b (c …)), or None where that does not fit either."""
        plan, node, how = parts[-1]
        try:
            for left, left_node, next_how in reversed(parts[:-1]):
                plan = self.pair(left, plan, left_node, node, how)
                node, how = left_node, next_how
        except ShapeError:
            return None
        return plan

    def pair(self, left: Plan, right: Plan, a: Node, b: Node, how: str) -> Plan:
        """One product of two."""
        x, y = left.shape, right.shape
        f, g = left.run, right.run
        if x is None or y is None:
            return Plan(y if x is None else x, lambda values: f(values) * g(values))
        if x == "I" or y == "I":
            if x == "1" or y == "1":
                raise ShapeError("the row of ones and I do not fit")
            return Plan(y if x == "I" else x, lambda values: f(values) * g(values))
        if x == "1":
            if isinstance(y, str):
                raise ShapeError("a row of ones needs a matrix after it")
            return Plan((1, y[1]), lambda values: g(values).sum(axis=0, keepdims=True))
        if isinstance(x, str) or isinstance(y, str):
            raise ShapeError(f"{self.name(a)} times a row of ones of unknown length: use a declared name for it")
        if x[1] == y[0]:
            return Plan((x[0], y[1]), lambda values: f(values) @ g(values))
        if x == (1, 1) or y == (1, 1):
            # a number that came out of a product scales the other factor
            return Plan(y if x == (1, 1) else x, lambda values: f(values) * g(values))
        if how == "dot" and x == y and x[1] == 1:
            return Plan((1, 1), lambda values: f(values).T @ g(values))
        raise ShapeError(self.mismatch(a, x, b, y, "multiply"))

    def entrywise(self, node: Mul) -> Plan:
        """a ∘ b."""
        left, right = self.plan(node.left), self.plan(node.right)
        if "I" in (left.shape, right.shape) and None not in (left.shape, right.shape):
            left, right = self.identities(left, right)
        shape = self.broadcast(left, right, node.left, node.right, "multiply entry by entry")
        a, b = left.run, right.run
        return Plan(shape, lambda values: a(values) * b(values))

    def quotient(self, node: Div) -> Plan:
        """a / b: by a scalar or a 1×1 product, or entry by entry."""
        left, right = self.plan(node.left), self.plan(node.right)
        a, b = left.run, right.run
        if right.shape is None or right.shape == (1, 1):
            if right.shape is None:
                return Plan(left.shape, lambda values: over(a(values), b(values)))
            return Plan(left.shape or right.shape, lambda values: over(a(values), b(values)))
        if right.shape == "I" or left.shape == "I":
            raise ShapeError("a division by or of I has no meaning: use the inverse")
        shape = self.broadcast(left, right, node.left, node.right, "divide entry by entry")
        return Plan(shape, lambda values: over(a(values), b(values)))

    # ----------------------------------------------------------------------------------------- powers, transposes

    def power(self, node: Pow) -> Plan:
        """A scalar power, the inverse, or a whole power of a square matrix."""
        base = self.plan(node.base)
        exponent = rational(node.exponent)
        run = base.run
        if base.shape in (None, (1, 1), "I"):
            if exponent is None:
                power = self.plan(node.exponent)
                if power.shape not in (None, (1, 1)):
                    if base.shape is None and isinstance(node.base, Symbol) and node.base.name == "e":
                        return self.applied(power, "exp")
                    raise ShapeError(
                        f"{self.name(node.exponent)} is {self.shown(power.shape)}: an exponent is a number"
                    )
                raised = power.run
                return Plan(base.shape, lambda values: scalar_power(run(values), raised(values), None))
            self.delicate = self.delicate or abs(exponent) > 4
            fixed = exponent
            return Plan(base.shape, lambda values: scalar_power(run(values), values.number(fixed), fixed))
        if exponent is None or exponent.denominator != 1 or abs(exponent) > MAX_POWER or isinstance(base.shape, str):
            raise ShapeError(
                f"{self.name(node.base)} is {self.shown(base.shape)}: only whole powers of a matrix are known"
            )
        shape = base.shape
        assert isinstance(shape, tuple)
        if self.numpy:
            # numpy's ** works entry by entry
            times = int(exponent)
            return Plan(shape, lambda values: run(values) ** times)
        if shape[0] != shape[1]:
            raise ShapeError(
                f"{self.name(node.base)} is {self.shown(shape)}: only a square matrix has powers; for entry by entry"
                " write ∘"
            )
        n = int(exponent)
        self.delicate = True
        if n >= 0:
            return Plan(shape, lambda values: matrix_power(run(values), n, values, shape))
        return Plan(shape, lambda values: matrix_power(inverted(run(values)), -n, values, shape))

    def transposed(self, node: Transpose) -> Plan:
        """A^T."""
        if isinstance(node.arg, Number) and node.arg.value == 1:
            return Plan("1", lambda values: values.number(Fraction(1)))
        inner = self.plan(node.arg)
        if inner.shape is None or isinstance(inner.shape, str):
            return inner
        run = inner.run
        return Plan((inner.shape[1], inner.shape[0]), lambda values: run(values).T)

    # -------------------------------------------------------------------------------------------------- functions

    def call(self, node: Call) -> Plan:
        """softmax, diag, rowsum …, and functions of a number entry by entry."""
        name = node.name
        if len(node.args) == 2 and name in ("min", "max", "log", "binomial"):
            first, second = (self.plan(arg) for arg in node.args)
            if first.shape is None and second.shape is None:
                a, b, function = first.run, second.run, TWO[name]
                return Plan(None, lambda values: function(a(values), b(values)))
        if len(node.args) != 1:
            raise ShapeError(f"{name} of {len(node.args)} arguments is not known among matrices")
        arg = node.args[0]
        plan = self.plan(arg)
        if plan.shape == "I" and name in ("trace", "rowsum", "colsum", "diag", "softmax"):
            raise ShapeError(f"{name}(I): the size of I is not known here")
        special = _MATRIX_CALLS.get(name)
        if special is not None:
            return special(self, plan, arg)
        if name not in ENTRYWISE:
            raise ShapeError(f"{name} is not known among matrices")
        return self.applied(plan, name)

    def applied(self, plan: Plan, name: str) -> Plan:
        """A function of a number, entry by entry."""
        if plan.shape == "I":
            raise ShapeError(f"{name}(I): the size of I is not known here")
        self.delicate = self.delicate or (plan.shape is None and name not in ("sqrt", "abs"))
        run, (plain, exact) = plan.run, ENTRYWISE[name]
        return Plan(plan.shape, lambda values: each(exact, run(values)) if values.exact else plain(run(values)))

    def softmax(self, plan: Plan, node: Node) -> Plan:
        """Row by row; a column is taken as one row of weights."""
        if not isinstance(plan.shape, tuple):
            raise ShapeError(f"softmax needs a matrix, {self.name(node)} is {self.shown(plan.shape)}")
        axis = 0 if plan.shape[1] == 1 else 1
        run = plan.run
        return Plan(plan.shape, lambda values: softmax(run(values), axis, values.exact))

    def diagonal(self, plan: Plan, node: Node) -> Plan:
        """Column or row → matrix; square matrix → its diagonal as a column."""
        import numpy as np

        shape, run = plan.shape, plan.run
        if not isinstance(shape, tuple):
            raise ShapeError(f"diag needs a column or a matrix, {self.name(node)} is {self.shown(shape)}")
        if shape[1] == 1 or shape[0] == 1:
            long = shape[0] if shape[1] == 1 else shape[1]
            return Plan((long, long), lambda values: values.eye(long) * run(values).reshape(-1, 1))
        if shape[0] != shape[1]:
            raise ShapeError(f"{self.name(node)} is {self.shown(shape)}: diag needs a column or a square matrix")
        return Plan((shape[0], 1), lambda values: np.diagonal(run(values)).reshape(-1, 1))

    def summed(self, plan: Plan, node: Node, axis: int | None) -> Plan:
        """Sums over rows, columns or all entries."""
        shape, run = plan.shape, plan.run
        if not isinstance(shape, tuple):
            if axis is None:
                return plan
            raise ShapeError(f"a row or column sum needs a matrix, {self.name(node)} is {self.shown(shape)}")
        if axis is None:
            return Plan(None, lambda values: run(values).sum())
        out: Shape = (shape[0], 1) if axis == 1 else (1, shape[1])
        return Plan(out, lambda values: run(values).sum(axis=axis, keepdims=True))

    def mean(self, plan: Plan, node: Node) -> Plan:
        """The mean of all entries."""
        total, shape = self.summed(plan, node, None), plan.shape
        if not isinstance(shape, tuple):
            return plan
        rows, columns, run = shape[0], shape[1], total.run
        return Plan(None, lambda values: run(values) / (values.size(rows) * values.size(columns)))

    def square(self, plan: Plan, node: Node, what: str) -> Shape:
        """The shape of a matrix that must be square."""
        shape = plan.shape
        if not isinstance(shape, tuple) or shape[0] != shape[1]:
            raise ShapeError(f"{self.name(node)} is {self.shown(shape)}: {what} needs a square matrix")
        return shape

    def trace(self, plan: Plan, node: Node) -> Plan:
        """Sum of the diagonal."""
        import numpy as np

        self.square(plan, node, "the trace")
        run = plan.run
        return Plan(None, lambda values: np.trace(run(values)))

    def inverse(self, plan: Plan, node: Node) -> Plan:
        """A^(−1)."""
        run = plan.run
        if plan.shape is None or plan.shape == "I":
            return Plan(plan.shape, lambda values: over(values.number(Fraction(1)), run(values)))
        shape = self.square(plan, node, "an inverse")
        self.delicate = True
        return Plan(shape, lambda values: inverted(run(values)))


def shown(shape: Any) -> str:
    """A shape in words: "T×d_v", "a scalar"."""
    if shape is None:
        return "a scalar"
    if isinstance(shape, str):
        return "a multiple of the identity" if shape == "I" else "a row of ones"
    return f"{shape[0]}×{shape[1]}"


def _joined(first: Node, last: Node) -> Node:
    """A stand-in for a product so far, for naming it by what was typed."""
    return Number(Fraction(1), start=first.start, end=last.end)


_MATRIX_CALLS: dict[str, Callable[[Planner, Plan, Node], Plan]] = {
    "softmax": Planner.softmax,
    "diag": Planner.diagonal,
    "rowsum": lambda self, plan, node: self.summed(plan, node, 1),
    "colsum": lambda self, plan, node: self.summed(plan, node, 0),
    "sum": lambda self, plan, node: self.summed(plan, node, None),
    "mean": Planner.mean,
    "trace": Planner.trace,
    "inverse": Planner.inverse,
}


def _negative(self: Planner, node: Neg) -> Plan:
    inner = self.plan(node.arg)
    run = inner.run
    return Plan(inner.shape, lambda values: -run(values))


_PLANS: Mapping[type, Callable[..., Plan]] = {
    Number: Planner.number,
    Symbol: Planner.symbol,
    Neg: _negative,
    Add: Planner.total,
    Sub: Planner.total,
    Mul: Planner.product,
    Div: Planner.quotient,
    Pow: Planner.power,
    Transpose: Planner.transposed,
    Call: Planner.call,
}
