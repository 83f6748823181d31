"""Indices after a name, and what stands at a sum's sign."""

from __future__ import annotations

from fractions import Fraction

from grading.errors import Unreadable
from grading.reading.machine import CLOSERS, Machine
from grading.reading.tree import Add, Node, Number, Sub, Symbol

Head = tuple[str, Node | None, Node | None, Node | None]
"""The index of a sum, its lower and its upper bound, and the value that it leaves out."""


def indices(parser: Machine, rank: int | None) -> tuple[tuple[Node, ...], int]:
    """_{ij}, _{i,j}, _{i j}, [i, j], [i][j]: the indices and where they end."""
    found: list[Node] = []
    end = parser.tokens[parser.at][3]
    while True:
        kind, text, start, _, _ = parser.tokens[parser.at]
        if kind == "op" and text == "_":
            parser.at += 1
        if not parser.is_op("[", "{", "("):
            break
        opening = parser.tokens[parser.at][1]
        parser.at += 1
        while not parser.is_op(CLOSERS[opening]):
            found.extend(_index_run(parser))
            if parser.is_op(","):
                parser.at += 1
                if parser.is_op(CLOSERS[opening]):
                    raise Unreadable("an index is missing after the comma", parser.tokens[parser.at][2])
            if parser.tokens[parser.at][0] == "end":
                raise Unreadable("the bracket of the indices is never closed", start)
        end = parser.expect(CLOSERS[opening])[3]
        if opening != "[" or not parser.is_op("["):
            break
    if not found:
        raise Unreadable("an index is missing", end)
    if rank is not None and len(found) != rank:
        raise Unreadable(f"{rank} ind{'ex is' if rank == 1 else 'ices are'} expected, {len(found)} given", end)
    return tuple(found), end


def _index_run(parser: Machine) -> list[Node]:
    """The letters of one run as indices: ij is i and j; i+1 is one index."""
    kind, text, start, _, _ = parser.tokens[parser.at]
    following = parser.tokens[parser.at + 1]
    if kind == "name" and len(text) > 1 and not (following[0] == "op" and following[1] in "+-"):
        parser.at += 1
        return [parser.index_letter(letter, start + at) for at, letter in enumerate(text)]
    return [index(parser)]


def index(parser: Machine) -> Node:
    """One index or a side of an indicator: a letter, a number, or one of them plus or minus another."""
    found = _index_atom(parser)
    while parser.is_op("+", "-"):
        sign = parser.tokens[parser.at][1]
        parser.at += 1
        right = _index_atom(parser)
        make = Add if sign == "+" else Sub
        found = parser.made(make(found, right, start=found.start, end=right.end))
    return found


def _index_atom(parser: Machine) -> Node:
    kind, text, start, end, _ = parser.tokens[parser.at]
    if kind == "num" and text.isdigit():
        parser.at += 1
        return parser.made(Number(Fraction(int(text)), text, start=start, end=end))
    if kind == "name" and (len(text) == 1 or text in parser.declared.symbols):
        parser.at += 1
        return parser.made(Symbol(text, start=start, end=end))
    if kind == "op" and text in ("(", "{"):
        parser.at += 1
        inner = index(parser)
        parser.expect(CLOSERS[text], start)
        return inner
    raise Unreadable("an index (a letter or a number) is expected", start)


def sum_heads(parser: Machine, start: int) -> list[Head]:
    """What stands at a sum's sign: _r, _{r=1}^{T}, _{j \\ne i}, _{i,j}."""
    first = _upper(parser) if parser.is_op("^") else None
    kind, text, at, _, _ = parser.tokens[parser.at]
    if kind == "sub":
        parser.at += 1
        if not text.isalpha():
            raise Unreadable("the index of a sum is a letter", at)
        heads: list[Head] = [(letter, None, None, None) for letter in text]
    elif kind == "op" and text == "_":
        parser.at += 1
        heads = _braced_heads(parser)
    else:
        raise Unreadable("a sum needs its index: sum_r or \\sum_{r=1}^{T}", start)
    upper = _upper(parser) if parser.is_op("^") else first
    if upper is not None:
        index_name, lower, _, skip = heads[-1]
        heads[-1] = (index_name, lower, upper, skip)
    return heads


def _upper(parser: Machine) -> Node:
    """The upper bound of a sum, after ^."""
    parser.at += 1
    return parser.group("{") if parser.is_op("{") else _bound(parser)


def _bound(parser: Machine) -> Node:
    """An upper bound without braces: one number or one declared name."""
    kind, text, start, end, _ = parser.tokens[parser.at]
    if kind == "num":
        parser.at += 1
        from grading.reading.literals import literal

        return parser.made(Number(literal(text), text, start=start, end=end))
    parser.enter()
    found = parser.operand(after_slash=True)
    parser.depth -= 1
    return found


def _braced_heads(parser: Machine) -> list[Head]:
    """The indices between the braces under a sum."""
    opened = parser.expect(parser.tokens[parser.at][1] if parser.is_op("{", "(") else "{")
    closing = CLOSERS[opened[1]]
    heads: list[Head] = []
    while True:
        kind, text, at, _, _ = parser.tokens[parser.at]
        if kind != "name" or not text.isalpha():
            raise Unreadable("the index of a sum is a letter", at)
        parser.at += 1
        lower = upper = skip = None
        if parser.is_op("<", "<=", ">", ">="):
            relation = parser.tokens[parser.at][1]
            parser.at += 1
            bound = index(parser)
            if len(relation) == 1:
                one = parser.made(Number(Fraction(1), "1", start=bound.start, end=bound.end))
                shift = Sub if relation == "<" else Add
                bound = parser.made(shift(bound, one, start=bound.start, end=bound.end))
            lower, upper = (None, bound) if relation[0] == "<" else (bound, None)
        elif parser.is_op("="):
            parser.at += 1
            lower = parser.expression()
        elif parser.is_op("!="):
            parser.at += 1
            skip = index(parser)
        if len(text) > 1 and (lower is not None or upper is not None or skip is not None):
            raise Unreadable("the index of a sum is one letter", at)
        heads += [(letter, lower, upper, skip) for letter in text]
        if parser.is_op(","):
            parser.at += 1
            continue
        parser.expect(closing, opened[2])
        return heads
