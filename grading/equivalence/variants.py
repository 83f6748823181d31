"""Right, wrong and unreadable texts made from a symbolic key, by which a kind tests itself."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from grading.errors import Unreadable
from grading.kinds.base import Kind, Samples
from grading.reading.grammar import read
from grading.reading.names import Declared
from grading.reading.show import latex, show
from grading.reading.tree import (
    Add,
    Call,
    Div,
    Entry,
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


def variants(kind: Kind, text: str, names: Declared, commutes: bool) -> Samples:
    """Samples of a key: other notations and orders are right; a changed sign, number, exponent or index is wrong.

    commutes: whether factors may be exchanged. Changes that happen to give an equal expression are left out.
    """
    tree = read(text, names)
    turned = _turned(tree, commutes)
    right = [
        text,
        show(tree),
        f"({text})",
        f"  {text} ",
        latex(tree),
        show(tree).replace("^", "**"),
        show(turned),
        latex(turned),
    ]
    wrong = [f"-({text})", f"2 ({text})", f"({text})/2", *(show(other) for other in _changed(tree, names))]
    unreadable = ["", "   ", f"{text} +", f"({text}", f"{text})", f"{text} or {text}", f"* {text}", "unheard_of_name"]
    return Samples(
        tuple(dict.fromkeys(right)),
        tuple(dict.fromkeys(other for other in wrong if _refuted(kind, other, text))),
        tuple(unreadable),
    )


def _refuted(kind: Kind, text: str, key: str) -> bool:
    try:
        return kind.compare(kind.parse(text), key).right is False
    except Unreadable:
        return False


def _turned(node: Node, commutes: bool) -> Node:
    """Every sum, and where that is allowed every product, the other way round."""

    def go(part: Any) -> Any:
        return _turned(part, commutes)

    match node:
        case Add(left=left, right=right):
            return Add(go(right), go(left))
        case Mul(left=left, right=right, how=how) if commutes or how == "entry":
            return Mul(go(right), go(left), how)
        case Sub(left=left, right=right):
            return Add(Neg(go(right)), go(left))
        case _:
            return _rebuilt(node, go)


def _rebuilt(node: Node, go: Any) -> Node:
    """A node with its direct parts replaced."""
    match node:
        case Add() | Sub() | Mul() | Div() | Indicator():
            return replace(node, left=go(node.left), right=go(node.right))
        case Neg() | Transpose():
            return replace(node, arg=go(node.arg))
        case Pow():
            return replace(node, base=go(node.base), exponent=go(node.exponent))
        case Call():
            return replace(node, args=tuple(go(arg) for arg in node.args))
        case Sum():
            return replace(node, body=go(node.body))
        case Entry():
            return replace(node, arg=go(node.arg))
        case _:
            return node


def _changed(tree: Node, names: Declared) -> list[Node]:
    """Trees in which one place was changed as a slip would: up to a dozen."""
    found: list[Node] = []

    def visit(node: Node, put: Any) -> None:
        for other in _slips(node, names):
            found.append(put(other))
        for place, child in _places(node):
            visit(child, lambda new, node=node, place=place, put=put: put(_with(node, place, new)))

    visit(tree, lambda new: new)
    return found[:: max(1, len(found) // 12)]


def _slips(node: Node, names: Declared) -> list[Node]:
    match node:
        case Number(value=value):
            return [Number(value + 1)]
        case Add(left=left, right=right):
            return [Sub(left, right)]
        case Sub(left=left, right=right):
            return [Add(left, right)]
        case Pow(base=base):
            return [base]
        case Transpose(arg=arg):
            return [arg]
        case Div(left=left, right=right):
            return [Mul(left, right), left]
        case Mul(left=left, right=right):
            return [left, right]
        case Indexed(name=name, indices=(first, second)) if first != second:
            return [Indexed(name, (first, first))] if name != "delta" else [Number(Fraction(1))]
        case Call(name="sqrt", args=(arg,)):
            return [arg]
        case Symbol(name=name) if name in names.symbols:
            return [Symbol(other) for other in sorted(names.symbols - {name})[:1]]
        case _:
            return []


def _places(node: Node) -> list[tuple[str, Node]]:
    match node:
        case Add() | Sub() | Mul() | Div():
            return [("left", node.left), ("right", node.right)]
        case Neg() | Transpose() | Entry():
            return [("arg", node.arg)]
        case Pow():
            return [("base", node.base), ("exponent", node.exponent)]
        case Call(args=(arg,)):
            return [("args", arg)]
        case Sum():
            return [("body", node.body)]
        case _:
            return []


def _with(node: Any, place: str, new: Node) -> Node:
    changed: Node = replace(node, **{place: (new,) if place == "args" else new})
    return changed
