"""Random trees and the notations in which they are printed, for the laws of reading."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from hypothesis import strategies as st

from grading.reading.names import Declared
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

SCALARS = ("x", "y", "T", "d_k", "H_kv", "sigma_q", "lambda", "S")
SCALAR = Declared(symbols=frozenset(SCALARS))
INDEXED = Declared(symbols=frozenset({"T", "tau"}), arrays={"p": 1, "s": 1, "v": 2, "q": 2})
MATRIX = Declared(symbols=frozenset({"d_k"}), matrices=frozenset({"P", "dO", "V", "W_Q", "S"}))

numbers = st.one_of(
    st.integers(0, 999).map(lambda n: Number(Fraction(n), str(n))),
    st.decimals(0, 99, places=2).map(lambda d: Number(Fraction(d), str(d))),
)
scalar_names = st.sampled_from(SCALARS).map(Symbol)
ONE_ARGUMENT = ("ln", "exp", "sqrt", "abs", "sin", "cos", "tanh", "floor", "factorial", "logistic", "atan")


def scalars(leaves: st.SearchStrategy[Node], products: tuple[str, ...]) -> st.SearchStrategy[Node]:
    """Trees of arithmetic and functions over the leaves."""

    def grow(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
        return st.one_of(
            st.builds(Add, inner, inner),
            st.builds(Sub, inner, inner),
            st.builds(Mul, inner, inner, st.sampled_from(products)),
            st.builds(Div, inner, inner),
            st.builds(Pow, inner, inner),
            st.builds(Neg, inner),
            st.builds(lambda name, arg: Call(name, (arg,)), st.sampled_from(ONE_ARGUMENT), inner),
            st.builds(lambda a, b: Call("max", (a, b)), inner, inner),
            st.builds(lambda a, b: Call("log", (a, b)), inner, numbers),
        )

    return st.recursive(leaves, grow, max_leaves=14)


indices = st.sampled_from("ijr").map(Symbol)
entries = st.one_of(
    st.builds(lambda name, i: Indexed(name, (i,)), st.sampled_from("ps"), indices),
    st.builds(lambda name, i, j: Indexed(name, (i, j)), st.sampled_from(("v", "q", "delta")), indices, indices),
    st.builds(Indicator, indices, st.sampled_from(("=", "!=", "<", "<=", ">", ">=")), indices),
)


def sums(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    """Sums over an index, with and without bounds."""
    return st.one_of(
        st.builds(lambda body: Sum("r", body), inner),
        st.builds(lambda body: Sum("r", body, Number(Fraction(1), "1"), Symbol("T")), inner),
        st.builds(lambda body, i: Sum("j", body, skip=i), inner, indices),
    )


def indexed() -> st.SearchStrategy[Node]:
    """Trees with arrays, sums, deltas and indicators."""
    leaves = st.one_of(numbers, entries, st.just(Symbol("tau")))
    return st.recursive(
        leaves,
        lambda inner: st.one_of(scalars(inner, ("space", "star", "dot")), sums(inner)),
        max_leaves=6,
    )


def matrices() -> st.SearchStrategy[Node]:
    """Trees of matrix products, transposes and entrywise products."""
    leaves = st.one_of(st.sampled_from(("P", "dO", "V", "W_Q", "S")).map(Symbol), numbers)

    def grow(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
        return st.one_of(
            st.builds(Add, inner, inner),
            st.builds(Sub, inner, inner),
            st.builds(Mul, inner, inner, st.sampled_from(("space", "at", "entry"))),
            st.builds(Transpose, inner),
            st.builds(lambda a: Call("rowsum", (a,)), inner),
            st.builds(lambda a: Div(a, Call("sqrt", (Symbol("d_k"),))), inner),
        )

    return st.recursive(leaves, grow, max_leaves=10)


def size(node: Node) -> int:
    """Number of nodes."""
    from grading.reading.tree import children

    return 1 + sum(map(size, children(node)))


def same_product(node: Node) -> Node:
    """The tree with every ordinary product typed alike: notations differ in which signs they have."""
    match node:
        case Mul(left=a, right=b, how=how):
            return Mul(same_product(a), same_product(b), "entry" if how == "entry" else "star")
        case Add(left=a, right=b) | Sub(left=a, right=b) | Div(left=a, right=b):
            return type(node)(same_product(a), same_product(b))
        case Pow(base=a, exponent=b):
            return Pow(same_product(a), same_product(b))
        case Neg(arg=a) | Transpose(arg=a):
            return type(node)(same_product(a))
        case Call(name=name, args=args):
            return Call(name, tuple(map(same_product, args)))
        case Sum():
            return replace(node, body=same_product(node.body))
        case _:
            return node


_PYTHON = {"ln": "math.log", "abs": "abs", "floor": "math.floor", "factorial": "math.factorial", "atan": "np.arctan"}


def python(node: Node) -> str:
    """The tree as a Python expression, brackets wherever they may stand."""
    match node:
        case Number(text=text):
            return text
        case Symbol(name=name):
            return name
        case Neg(arg=a):
            return f"(-{python(a)})"
        case Add(left=a, right=b):
            return f"({python(a)} + {python(b)})"
        case Sub(left=a, right=b):
            return f"({python(a)} - {python(b)})"
        case Mul(left=a, right=b):
            return f"({python(a)} * {python(b)})"
        case Div(left=a, right=b):
            return f"({python(a)} / {python(b)})"
        case Pow(base=a, exponent=b):
            return f"({python(a)}**{python(b)})"
        case Call(name="log", args=(a, b)):
            return f"math.log({python(a)}, {python(b)})"
        case Call(name=name, args=args):
            return f"{_PYTHON.get(name, name)}({', '.join(map(python, args))})"
    raise TypeError(type(node))
