"""The tree that every reader builds and every comparison walks.

Nodes are immutable, keep the learner's own order and remember where they came from: `start` and `end` are
0-based offsets into the text as typed (positions take no part in equality). Nothing here evaluates anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Literal

Product = Literal["space", "dot", "star", "at", "entry"]
"""How a product was typed: side by side, a dot or cross, `*`, `@`, or entrywise (∘ ⊙ \\odot)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Common part of every node: its place in the text."""

    start: int = field(default=-1, compare=False)
    end: int = field(default=-1, compare=False)


@dataclass(frozen=True, slots=True)
class Number(Node):
    """A number literal; the written decimal is meant exactly. `text` is how it was typed."""

    value: Fraction
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Symbol(Node):
    """A declared name, case kept (`d_k`, `H_kv`, `T`), or one of the constants `pi` and `e`."""

    name: str


@dataclass(frozen=True, slots=True)
class Indexed(Node):
    """An array with its indices: p_i, q_{ic}, W_{1,2}; `delta` with two indices is the Kronecker delta."""

    name: str
    indices: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Entry(Node):
    """One entry of what a function or bracket gives: softmax(s)_j, diag(p)_{ij}."""

    arg: Node
    indices: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Neg(Node):
    """Minus a term."""

    arg: Node


@dataclass(frozen=True, slots=True)
class Add(Node):
    """left + right."""

    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Sub(Node):
    """left − right."""

    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Mul(Node):
    """left times right, with the way it was typed (a matrix kind decides what `*` means)."""

    left: Node
    right: Node
    how: Product = field(default="star")


@dataclass(frozen=True, slots=True)
class Div(Node):
    """left / right."""

    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Pow(Node):
    """base to the power exponent."""

    base: Node
    exponent: Node


@dataclass(frozen=True, slots=True)
class Transpose(Node):
    """A^T, A.T, A^\\top, transpose(A)."""

    arg: Node


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A function by its one canonical name: ln, exp, sqrt, abs, min, max, factorial, binomial, floor, ceil, sign,
    sin … atanh, sec, csc, cot, logistic, Phi, log (two arguments: argument, base), softmax, diag, rowsum, colsum,
    trace, inverse, mean, or a function that the problem declares."""

    name: str
    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Sum(Node):
    """sum over `index` of `body`; without bounds it runs over the axis that the index indexes."""

    index: str
    body: Node
    lower: Node | None = None
    upper: Node | None = None
    skip: Node | None = None  # \sum_{j \ne i}: the index value left out
    product: bool = False  # \prod instead of \sum


@dataclass(frozen=True, slots=True)
class Indicator(Node):
    """1[left relation right]; relation is one of = != < <= > >=."""

    left: Node
    relation: str
    right: Node


RELATIONS: Mapping[str, Callable[[Any, Any], Any]] = {"=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
"""What the relations of an indicator mean, on numbers and on arrays."""


@dataclass(frozen=True, slots=True)
class Listing(Node):
    """Members in order between brackets: `brackets` is "()", "[]", "{}", "" (typed bare) or "matrix" (rows)."""

    items: tuple[Node, ...]
    brackets: str = field(default="", compare=False)


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below, in the order in which they were typed."""
    match node:
        case Neg(arg=a) | Transpose(arg=a):
            return (a,)
        case Add(left=a, right=b) | Sub(left=a, right=b) | Mul(left=a, right=b) | Div(left=a, right=b):
            return (a, b)
        case Pow(base=a, exponent=b):
            return (a, b)
        case Entry(arg=a, indices=items):
            return (a, *items)
        case Indexed(indices=items) | Call(args=items) | Listing(items=items):
            return items
        case Sum(body=body, lower=lower, upper=upper, skip=skip):
            return tuple(n for n in (lower, upper, skip, body) if n is not None)
        case Indicator(left=a, right=b):
            return (a, b)
        case _:
            return ()
