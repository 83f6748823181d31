"""One precedence grammar for plain typing, Python and LaTeX: from tokens to the tree (design section 5).

How tightly things bind, loosest first: + and −; products with a sign or a space between, and /; products typed side by
side; powers. A slash between two number literals is a fraction; a sum runs to the next + or − of its level; a function
name or √ without brackets takes the next factor with its power.
"""

from __future__ import annotations

from grading.errors import Unreadable
from grading.reading import applied
from grading.reading.brackets import Brackets
from grading.reading.literals import literal
from grading.reading.machine import PRODUCT, SIDE_BY_SIDE, SUM
from grading.reading.names import Declared
from grading.reading.tokens import VULGAR, Token, tokenize, undressed
from grading.reading.tree import Add, Call, Div, Entry, Mul, Neg, Node, Number, Product, Sub, Transpose
from grading.reading.words import WHOLE

__all__ = ["Declared", "Parser", "literal", "read"]

_TIMES: dict[str, Product] = {"*": "star", "·": "dot", "×": "dot", "@": "at", "∘": "entry"}
_OPENERS = frozenset({"(", "[", "{", "√", "∛", "∜", "\\frac", "\\sqrt", "\\binom", "⌈", "⌊", "sum", "prod", "∞"})
_CLOSING = frozenset({")", "]", "}", ",", ";"})
_ATTACHED = frozenset({"^", "!", "%", "'", ".", "_", "["})
_AFTER_PLAIN = frozenset({"+", "-", "*", "·", "×", "/", ")", "]", "}"})
"""What may follow a literal that stands for itself alone."""
_JOINERS = frozenset({"or", "and", "for", "in", "if", "else"})


def read(text: str, declared: Declared, offset: int = 0) -> Node:
    """The tree of one answer, or `Unreadable` with the column and what was expected there.

    A left side `name =` is dropped. offset: where `text` begins in what was typed.
    """
    if text[:1] in ("*", "`"):
        bare = undressed(text)
        offset += text.find(bare)
        text = bare
    tokens = tokenize(text, offset)
    if len(tokens) == 1:
        raise Unreadable("the answer is empty", offset)
    return Parser(after_name(tokens), declared).whole()


def after_name(tokens: list[Token]) -> list[Token]:
    """The tokens after a left side that only names what is given (`dS =`, `H(p) ≈`, `dp_i/ds_j =`)."""
    depth = 0
    for at, (kind, text, start, _, _) in enumerate(tokens):
        if kind != "op":
            continue
        if text in "([{" or text == "⌈" or text == "⌊":
            depth += 1
        elif text in ")]}" or text == "⌉" or text == "⌋":
            depth -= 1
        elif depth == 0 and text in ("=", "≈"):
            if at == 0 or _is_name(tokens[:at]):
                return after_name(tokens[at + 1 :])
            raise Unreadable("one expression is expected, not an equation", start)
    return tokens


def _is_name(left: list[Token]) -> bool:
    """Whether a left side is a name, an entry of it, or a derivative: nothing that has to be worked out."""
    words = [token for token in left if token[0] in ("name", "command", "sub")]
    if not words:
        return False
    if any(token[0] == "command" and token[1] == "partial" for token in left):
        return True
    slashes = [token for token in left if token[1] == "/"]
    if len(slashes) == 1 and all(token[1].startswith("d") for token in left if token[0] == "name"):
        return all(token[0] in ("name", "sub") or token[1] in "/_{}(),[]" or token[0] == "num" for token in left)
    if any(token[0] == "op" and token[1] in ("+", "*", "-", "^", "@", "∘", "·", "×", "√", "!") for token in left):
        return False
    if len([token for token in left if token[0] in ("name", "command")]) == 1:
        return left[0][0] in ("name", "command")
    follows = left[1:]
    call = left[0][0] == "name" and any(token[1] in ("(", "[") for token in follows[:2])
    return call and left[-1][1] in (")", "]") and not any(token[1] == "/" for token in left)


class Parser(Brackets):
    """The grammar as a whole. A parser reads one list of tokens and is used once."""

    __slots__ = ()

    def whole(self) -> Node:
        """The one expression that all tokens make up."""
        found = self.expression()
        kind, text, _, _, _ = self.tokens[self.at]
        if kind == "op" and text == ".":
            self.at += 1
            kind = self.tokens[self.at][0]
        if kind != "end":
            raise self.unexpected()
        return found

    def expression(self, least: int = 0) -> Node:
        """Operands joined by operators that bind more tightly than `least`."""
        self.enter()
        left = self.operand(after_slash=least == PRODUCT + 1)
        while True:
            kind, text, _, _, spaced = self.tokens[self.at]
            if kind == "op":
                if text in _CLOSING:
                    break
                if text in ("+", "-"):
                    if least >= SUM:
                        break
                    self.at += 1
                    right = self.expression(SUM)
                    make = Add if text == "+" else Sub
                    left = self.made(make(left, right, start=left.start, end=right.end))
                    continue
                if text in _TIMES:
                    if least >= PRODUCT:
                        break
                    if text == "@" and not (self.declared.matrices or self.declared.arrays):
                        raise self.unexpected()
                    self.at += 1
                    how = _TIMES[text]
                    if how == "star" and self.numpy:
                        how = "entry"
                    right = self.expression(PRODUCT)
                    left = self.made(Mul(left, right, how, start=left.start, end=right.end))
                    continue
                if text == "/" or (text == ":" and self.is_ratio()):
                    if least >= PRODUCT:
                        break
                    self.at += 1
                    right = self.expression(PRODUCT + 1)
                    left = self.made(Div(left, right, start=left.start, end=right.end))
                    continue
            elif kind == "end":
                break
            if not self.begins_operand():
                break
            if kind == "name" and text == "o" and self.is_entry_sign():
                if least >= PRODUCT:
                    break
                self.at += 1
                right = self.expression(PRODUCT)
                left = self.made(Mul(left, right, "entry", start=left.start, end=right.end))
                continue
            level = PRODUCT if spaced else SIDE_BY_SIDE
            if least >= level:
                break
            right = self.expression(level)
            left = self.made(Mul(left, right, "space", start=left.start, end=right.end))
        self.depth -= 1
        return left

    def is_ratio(self) -> bool:
        """8:1 is a quotient where no names are declared."""
        return not self.declared.symbols and not self.declared.matrices and not self.declared.arrays

    def is_entry_sign(self) -> bool:
        """A letter o between two matrices stands for the entrywise product."""
        return bool(self.declared.matrices) and not self.declared.knows("o")

    def begins_operand(self) -> bool:
        """Whether the token at hand can begin a factor of a product without a sign."""
        kind, text, _, _, spaced = self.tokens[self.at]
        if kind in ("name", "atom", "vulgar"):
            return not (kind == "name" and text in _JOINERS and not self.declared.knows(text))
        if kind == "num":
            if self.tokens[self.at - 1][0] != "num":
                return True
            return bool(spaced) and (self.starts_mixed(self.at) or self.starts_indicator(self.at))
        if kind == "op":
            return text in _OPENERS or (text in ("|", "‖") and not self.bars)
        return bool(kind == "command")

    def operand(self, after_slash: bool = False, percent: bool = True) -> Node:
        """One factor with all that is attached to it: powers, factorials, transposes, indices.

        percent: not in an exponent, where 10^{-1} % is a tenth of a percent."""
        kind, text, start, end, _ = self.tokens[self.at]
        if kind == "op" and text in ("-", "+"):
            self.at += 1
            self.enter()
            inner = self.expression(PRODUCT) if not after_slash else self.expression(PRODUCT + 1)
            self.depth -= 1
            return inner if text == "+" else self.made(Neg(inner, start=start, end=inner.end))
        if kind == "num":
            if self.is_plain(after_slash):
                self.at += 1
                return self.made(Number(literal(text), text, start=start, end=end))
            base = self.number(after_slash)
        elif kind == "name":
            base = self.name()
        elif kind == "atom":
            self.at += 1
            base = self.made(text)
        elif kind == "op":
            base = self.bracketed(text)
        elif kind == "vulgar":
            self.at += 1
            base = self.made(Number(VULGAR[text], text, start=start, end=end))
        elif kind == "command":
            if self.declared.function(text) is None:
                raise self.unexpected()
            base = self.name()
        else:
            raise self.unexpected()
        return self.attached(base, percent)

    def is_plain(self, after_slash: bool) -> bool:
        """Whether the literal at hand is a short one with nothing attached: no group, fraction, power or index."""
        kind, text, _, _, _ = self.tokens[self.at + 1]
        if kind == "op":
            if text not in _AFTER_PLAIN or (text == "/" and not after_slash and self.tokens[self.at + 2][0] == "num"):
                return False
        elif kind != "end":
            return False
        return len(self.tokens[self.at][1]) < 30 and "e" not in self.tokens[self.at][1].lower()

    def attached(self, base: Node, percent: bool) -> Node:
        """Powers, factorials, percent signs, transposes, method calls and indices after an operand."""
        while True:
            kind, text, start, end, spaced = self.tokens[self.at]
            if kind == "op":
                if text not in _ATTACHED:
                    return base
                if text == "^":
                    self.at += 1
                    base = self.power(base)
                elif text == "!":
                    self.at += 1
                    base = self.made(Call("factorial", (base,), start=base.start, end=end))
                elif text == "%" and percent:
                    self.at += 1
                    base = self.percent(base, end)
                elif text == "'" and self.declared.matrices:
                    self.at += 1
                    base = self.made(Transpose(base, start=base.start, end=end))
                elif text == "." and not spaced and self.tokens[self.at + 1][0] == "name":
                    base = applied.method(self, base)
                elif text == "_" or (text == "[" and not spaced and self.declared.indexed and isinstance(base, Call)):
                    base = self.entry(base)
                else:
                    return base
            elif kind == "sup":
                self.at += 1
                base = self.superscript(base, text, start, end)
            elif kind == "sub" and isinstance(base, WHOLE) and self.declared.indexed:
                self.at += 1
                letters = tuple(self.index_letter(letter, start) for letter in text)
                base = self.made(Entry(base, letters, start=base.start, end=end))
            else:
                return base
