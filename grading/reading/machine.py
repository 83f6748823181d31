"""What every part of the grammar stands on: the tokens at hand, limits, and errors in words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from grading.errors import Unreadable
from grading.reading.names import Declared
from grading.reading.tokens import Token
from grading.reading.tree import RELATIONS, Node

MAX_DEPTH = 60
MAX_NODES = 400

SUM, PRODUCT, SIDE_BY_SIDE = 10, 20, 30
"""How tightly operators bind: + and −; products with a sign or a space between, and /; products side by side."""

CLOSERS = {"(": ")", "[": "]", "{": "}", "⌈": "⌉", "⌊": "⌋"}


class Machine(ABC):
    """Reads one list of tokens, and is used once. Its grammar is spread over the classes below it."""

    __slots__ = ("at", "bars", "columns", "commas", "declared", "depth", "nodes", "numpy", "tokens")

    def __init__(self, tokens: list[Token], declared: Declared) -> None:
        self.tokens: list[Any] = [*tokens, *[tokens[-1]] * 4]  # looking ahead never leaves the list
        self.at = 0
        self.declared = declared
        self.depth = 0
        self.nodes = 0
        self.bars = 0
        self.columns = False  # axis=0 was just read
        self.commas = True  # a comma before exactly three digits groups thousands here
        self.numpy = bool(declared.matrices) and _numpy_style(tokens)

    def made(self, node: Node) -> Node:
        """Count a node against the limit."""
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise Unreadable(f"the answer has more than {MAX_NODES} parts", node.start)
        return node

    def is_op(self, *texts: str) -> bool:
        """Whether the token at hand is one of these operators."""
        token = self.tokens[self.at]
        return token[0] == "op" and token[1] in texts

    def expect(self, text: str, opened: int | None = None) -> Token:
        """Take a required operator."""
        token: Token = self.tokens[self.at]
        if token[0] != "op" or token[1] != text:
            if token[0] == "end" and opened is not None:
                raise Unreadable(f"{text!r} is missing: this bracket is never closed", opened)
            error = self.unexpected()
            raise Unreadable(f"{error.message} ({text!r} is expected)", token[2])
        self.at += 1
        return token

    def enter(self) -> None:
        """One level deeper."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unreadable(f"nested more than {MAX_DEPTH} levels deep", self.tokens[self.at][2])

    @abstractmethod
    def whole(self) -> Node:
        """The one expression that all tokens make up."""

    @abstractmethod
    def expression(self, least: int = 0) -> Node:
        """Operands joined by operators that bind more tightly than `least`."""

    @abstractmethod
    def operand(self, after_slash: bool = False, percent: bool = True) -> Node:
        """One factor with all that is attached to it."""

    @abstractmethod
    def bracketed(self, text: str) -> Node:
        """An operand that begins with an operator."""

    @abstractmethod
    def group(self, opening: str) -> Node:
        """The inside of a pair of brackets."""

    @abstractmethod
    def exponent(self) -> Node:
        """What stands after ^."""

    @abstractmethod
    def superscript(self, base: Node, text: str, start: int, end: int) -> Node:
        """A base with unicode superscripts."""

    @abstractmethod
    def index_letter(self, letter: str, start: int) -> Node:
        """One index typed as a letter or a digit."""

    @abstractmethod
    def name(self) -> Node:
        """An operand that begins with a name."""

    def unexpected(self) -> Unreadable:
        """The error for the token at hand."""
        kind, text, start, _, _ = self.tokens[self.at]
        if kind == "end":
            return Unreadable("the answer ends too early: a number, a name or a bracket is expected", start)
        if kind == "num":
            return Unreadable("two numbers side by side: an operator or a point is missing", start)
        if text == ",":
            before, after = self.tokens[self.at - 1], self.tokens[self.at + 1]
            if before[0] == "num" and after[0] == "num" and not after[4] and self.at == self.commas_before() + 1:
                hint = "write a point for a decimal comma; a comma groups exactly three digits"
                return Unreadable(f"the comma cannot be read here: {hint}", start)
            return Unreadable("one answer is expected, not a list", start)
        if text in (";", "or", "and", "\\\\", "&"):
            return Unreadable("one answer is expected, not several", start)
        if kind == "op" and text in (")", "]", "}", "⌉", "⌋", "|"):
            return Unreadable(f"a closing {text!r} without an opening one", start)
        if text in RELATIONS:
            return Unreadable(f"an expression is expected, not a comparison ({text})", start)
        if kind == "command":
            if text in ("text", "mathrm", "mathbf", "operatorname"):
                return Unreadable(f"\\{text}{{…}} can hold a name or a unit only", start)
            if text == "begin":
                return Unreadable("one value is expected, not a matrix", start)
            return Unreadable(f"the command \\{text[:30]} is not known here", start)
        return Unreadable(f"{text[:30]!r} is not expected here", start)

    def commas_before(self) -> int:
        """How many tokens stand before the number at hand, signs left out, if it begins the answer; else -1."""
        first = 1 if self.tokens[0][1] in ("-", "+") else 0
        return first if self.at == first + 1 else -1


def _numpy_style(tokens: list[Token]) -> bool:
    """Whether * must be numpy's: the answer uses @ or a method sum."""
    for at, (kind, text, _, _, _) in enumerate(tokens):
        if kind == "op" and text == "@":
            return True
        if kind == "name" and text == "sum" and at and tokens[at - 1][1] == ".":
            return True
    return False
