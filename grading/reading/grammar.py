"""One precedence grammar for plain typing, Python and LaTeX: from tokens to the tree (design section 5).

How tightly things bind, loosest first: + and −; products with a sign or a space between, and /; products typed side by
side; powers. A slash between two number literals is a fraction; a sum runs to the next + or − of its level; a function
name or √ without brackets takes the next factor with its power.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from grading.errors import Unreadable
from grading.reading import applied
from grading.reading.names import FUNCTIONS, MODULES, Declared, split, unknown
from grading.reading.tokens import VULGAR, Token, tokenize
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
    Product,
    Sub,
    Sum,
    Symbol,
    Transpose,
)

__all__ = ["Declared", "Parser", "literal", "read"]

MAX_DEPTH = 60
MAX_NODES = 400
MAX_EXPONENT = 400

SUM, PRODUCT, SIDE_BY_SIDE, POWER = 10, 20, 30, 40

_TIMES: dict[str, Product] = {"*": "star", "·": "dot", "×": "dot", "@": "at", "∘": "entry"}
_CLOSERS = {"(": ")", "[": "]", "{": "}", "⌈": "⌉", "⌊": "⌋"}
_RELATIONS = frozenset({"=", "!=", "<", "<=", ">", ">="})
_OPENERS = frozenset({"(", "[", "{", "√", "∛", "∜", "\\frac", "\\sqrt", "\\binom", "⌈", "⌊", "sum", "prod", "∞"})


def read(text: str, declared: Declared, offset: int = 0) -> Node:
    """The tree of one answer, or `Unreadable` with the column and what was expected there.

    A left side `name =` is dropped. offset: where `text` begins in what was typed.
    """
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
    if any(token[0] == "op" and token[1] in ("+", "*", "-", "^", "@", "∘", "·", "×", "√", "!") for token in left):
        return False
    if len([token for token in left if token[0] in ("name", "command")]) == 1:
        return left[0][0] in ("name", "command")
    follows = left[1:]
    call = left[0][0] == "name" and any(token[1] in ("(", "[") for token in follows[:2])
    return call and left[-1][1] in (")", "]") and not any(token[1] == "/" for token in left)


def literal(text: str) -> Fraction:
    """A number literal exactly; the exponent is bounded."""
    if text.isdigit():
        return Fraction(int(text))
    mantissa, _, exponent = text.replace("_", "").replace("−", "-").lower().partition("e")
    power = int(exponent) if exponent and len(exponent) < 6 else (MAX_EXPONENT + 1 if exponent else 0)
    if abs(power) > MAX_EXPONENT:
        raise Unreadable(f"the exponent of {text[:30]} is out of range (at most {MAX_EXPONENT})")
    whole, _, decimals = mantissa.partition(".")
    number = int((whole + decimals) or "0")
    power -= len(decimals)
    return Fraction(number * 10**power) if power >= 0 else Fraction(number, 10**-power)


class Parser:
    """Reads one list of tokens. A parser is used once."""

    __slots__ = ("at", "bars", "commas", "declared", "depth", "nodes", "numpy", "tokens")

    def __init__(self, tokens: list[Token], declared: Declared) -> None:
        self.tokens: list[Any] = tokens
        self.at = 0
        self.declared = declared
        self.depth = 0
        self.nodes = 0
        self.bars = 0
        self.commas = True  # a comma before exactly three digits groups thousands here
        self.numpy = bool(declared.matrices) and _numpy_style(tokens)

    # ------------------------------------------------------------------------------------------------- machinery

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
        if text in _RELATIONS:
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

    # --------------------------------------------------------------------------------------------------- grammar

    def expression(self, least: int = 0) -> Node:
        """Operands joined by operators that bind more tightly than `least`."""
        self.enter()
        left = self.operand(after_slash=least == PRODUCT + 1)
        while True:
            kind, text, _, _, spaced = self.tokens[self.at]
            if kind == "op":
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
            return not (
                kind == "name" and text in ("or", "and", "for", "in", "if", "else") and not self.declared.knows(text)
            )
        if kind == "num":
            if self.tokens[self.at - 1][0] != "num":
                return True
            return bool(spaced) and (self.starts_mixed(self.at) or self.starts_indicator(self.at))
        if kind == "op":
            return text in _OPENERS or (text in ("|", "‖") and not self.bars)
        return kind == "command"

    def starts_indicator(self, at: int) -> bool:
        """Whether 1[i=j] begins here."""
        tokens = self.tokens
        opens = tokens[at + 1][1] in ("[", "{", "(") and not tokens[at + 1][4]
        return bool(tokens[at][1] == "1" and opens and self.declared.indexed and self.has_relation(at + 1))

    def starts_mixed(self, at: int) -> bool:
        """Whether a number literal stands before \\frac of two literals."""
        return self.tokens[at + 1][1] == "\\frac" and self.literal_fraction(at + 1) is not None

    def operand(self, after_slash: bool = False) -> Node:
        """One factor with all that is attached to it: powers, factorials, transposes, indices."""
        kind, text, start, end, _ = self.tokens[self.at]
        if kind == "op" and text in ("-", "+"):
            self.at += 1
            self.enter()
            inner = self.expression(PRODUCT) if not after_slash else self.expression(PRODUCT + 1)
            self.depth -= 1
            return inner if text == "+" else self.made(Neg(inner, start=start, end=inner.end))
        if kind == "num":
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
            if text not in FUNCTIONS:
                raise self.unexpected()
            base = self.name()
        else:
            raise self.unexpected()
        return self.attached(base)

    def number(self, after_slash: bool = False) -> Node:
        """A literal with its groups of thousands; a fraction of two literals; a mixed number; an indicator."""
        begin = self.at
        found = self.grouped()
        kind, text, start, _, spaced = self.tokens[self.at]
        if kind == "vulgar" and not spaced and found.value.denominator == 1:
            self.at += 1
            mixed = found.value + VULGAR[text]
            return self.made(Number(mixed, f"{found.text}{text}", start=found.start, end=start + 1))
        if kind == "op":
            if text == "\\frac" and found.value.denominator == 1:
                part = self.literal_fraction(self.at)
                if part is not None:
                    fraction = self.bracketed("\\frac")
                    self.made(found)
                    return self.made(Add(found, fraction, start=found.start, end=fraction.end))
            if self.is_indicator(found):
                return self.indicator()
            if text == "/" and not after_slash and self.tokens[self.at + 1][0] == "num":
                below = self.at
                self.at += 1
                divisor = self.grouped()
                nxt = self.tokens[self.at]
                if nxt[0] == "sup" or (
                    nxt[0] == "op" and (nxt[1] in ("^", "!", "%", "_") or self.is_indicator(divisor))
                ):
                    self.at = below
                else:
                    self.made(found)
                    self.made(divisor)
                    return self.made(Div(found, divisor, start=found.start, end=divisor.end))
            if text == "_" and found.text == "1" and self.declared.indexed and self.at == begin + 1:
                self.at += 1
                if self.is_op("{"):
                    inside = self.tokens[self.at + 1][:2] in (("op", "{"), ("op", "["), ("op", "("))
                    if not inside:
                        return self.indicator()
                    self.at += 1
                    found_inside = self.indicator()
                    self.expect("}")
                    return found_inside
                raise self.unexpected()
        return self.made(found)

    def is_indicator(self, one: Number) -> bool:
        """Whether a literal 1 has the bracket of an indicator behind it."""
        if one.text != "1" or self.tokens[self.at][4] or not self.is_op("[", "{", "("):
            return False
        return self.has_relation(self.at)

    def grouped(self) -> Number:
        """A literal; "1,024", "67 108 864" and "78.539 816" are one number where commas and spaces do not separate."""
        tokens = self.tokens
        _, text, start, end, _ = tokens[self.at]
        try:
            value = literal(text)
        except Unreadable as error:
            raise Unreadable(error.message, start) from None
        self.at += 1
        kind, sign, _, _, spaced = tokens[self.at]
        if kind == "num" and not spaced:
            raise Unreadable("a number with two points", start)
        if kind == "num" or (kind == "op" and sign == "," and not spaced and self.commas):
            groups = self.groups(text, "" if kind == "num" else ",")
            if groups:
                text = "".join((text, *groups))
                value = literal(text)
                end = tokens[self.at - 1][3]
        return Number(value, text, start=start, end=end)

    def groups(self, first: str, sign: str) -> list[str]:
        """The digit groups that follow a literal, taken; empty if they are none."""
        tokens, at = self.tokens, self.at
        whole, point, decimals = first.partition(".")
        if not first.replace(".", "").isdigit() or (not point and not 1 <= len(whole) <= 3):
            return []
        if point and (sign or len(decimals) != 3):
            return []
        if not point and whole.startswith("0"):
            return []
        out: list[str] = []
        while True:
            if sign:
                if tokens[at][:2] != ("op", ",") or tokens[at][4] or tokens[at + 1][4]:
                    break
                token = tokens[at + 1]
            else:
                token = tokens[at]
            kind, text, _, _, spaced = token
            head, dot, _ = text.partition(".")
            if (
                kind != "num"
                or (not sign and not spaced)
                or not head.isdigit()
                or (dot and (point or not text.replace(".", "").isdigit()))
            ):
                break
            if len(head) != 3 and not (point and len(head) < 3):
                return []
            if not sign and self.starts_mixed(at):
                break
            out.append(text)
            at += 2 if sign else 1
            if dot or len(head) < 3:
                break
        self.at = at if out else self.at
        return out

    def literal_fraction(self, at: int) -> tuple[int, int] | None:
        """The two literals of a \\frac at a place, or None where it has other arguments."""
        tokens = self.tokens
        if tokens[at][1] != "\\frac":
            return None
        at += 1
        if tokens[at][0] == "num" and len(tokens[at][1]) >= 2 and tokens[at][1].isdigit():
            return int(tokens[at][1][0]), int(tokens[at][1][1])
        found = []
        for _ in range(2):
            if tokens[at][1] == "{" and tokens[at + 1][0] == "num" and tokens[at + 2][1] == "}":
                found.append(tokens[at + 1][1])
                at += 3
            elif tokens[at][0] == "num" and len(tokens[at][1]) == 1:
                found.append(tokens[at][1])
                at += 1
            else:
                return None
        if not all(text.isdigit() for text in found):
            return None
        return int(found[0][:9]), int(found[1][:9])

    def attached(self, base: Node) -> Node:
        """Powers, factorials, percent signs, transposes, method calls and indices after an operand."""
        while True:
            kind, text, start, end, spaced = self.tokens[self.at]
            if kind == "op":
                if text == "^":
                    self.at += 1
                    base = self.power(base)
                elif text == "!":
                    self.at += 1
                    base = self.made(Call("factorial", (base,), start=base.start, end=end))
                elif text == "%":
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
            elif kind == "sub" and isinstance(base, (Call, Entry)) and self.declared.indexed:
                self.at += 1
                letters = tuple(self.index_letter(letter, start) for letter in text)
                base = self.made(Entry(base, letters, start=base.start, end=end))
            else:
                return base

    def percent(self, base: Node, end: int) -> Node:
        """x % is x/100."""
        if isinstance(base, Number):
            return Number(base.value / 100, f"{base.text}%", start=base.start, end=end)
        return self.made(
            Div(base, self.made(Number(Fraction(100), "100", start=end, end=end)), start=base.start, end=end)
        )

    def power(self, base: Node) -> Node:
        """base ^ exponent; in a matrix question ^T is the transpose."""
        transpose = self.transpose_mark()
        if transpose is not None:
            end, inverse = transpose
            if inverse:
                minus = self.made(Neg(self.made(Number(Fraction(1), "1", start=end, end=end)), start=end, end=end))
                base = self.made(Pow(base, minus, start=base.start, end=end))
            return self.made(Transpose(base, start=base.start, end=end))
        self.enter()
        exponent = self.exponent()
        self.depth -= 1
        return self.made(Pow(base, exponent, start=base.start, end=exponent.end))

    def exponent(self) -> Node:
        """What stands after ^: signs, one factor, and its own powers."""
        kind, text, start, _, _ = self.tokens[self.at]
        if kind == "op" and text in ("-", "+"):
            self.at += 1
            self.enter()
            inner = self.exponent()
            self.depth -= 1
            return inner if text == "+" else self.made(Neg(inner, start=start, end=inner.end))
        return self.operand(after_slash=True)

    def transpose_mark(self) -> tuple[int, bool] | None:
        """Take T, \\top, {T}, {-T} after ^; returns its end and whether an inverse is meant too."""
        if not self.declared.matrices and not self.declared.arrays:
            return None
        tokens, at = self.tokens, self.at
        brace = tokens[at][1] if tokens[at][0] == "op" and tokens[at][1] in ("{", "(") else ""
        at += bool(brace)
        inverse = tokens[at][:2] == ("op", "-")
        at += inverse
        kind, text = tokens[at][:2]
        bare_t = kind == "name" and text in ("T", "t", "tr") and bool(self.declared.matrices)
        if (
            kind == "name"
            and not brace
            and text[:1] == "T"
            and len(text) > 1
            and self.declared.matrices
            and not inverse
        ):
            return self.transpose_in_run(at)
        if not (bare_t or (kind == "op" and text == "⊤")):
            return None
        if brace and tokens[at + 1][:2] != ("op", _CLOSERS[brace]):
            return None
        if not brace and inverse:
            return None
        at += 1 + bool(brace)
        self.at = at
        return tokens[at - 1][3], inverse

    def transpose_in_run(self, at: int) -> tuple[int, bool] | None:
        """P^TdO: the T of a run is the transpose where the rest is declared."""
        kind, text, start, end, _ = self.tokens[at]
        if self.declared.knows(text) or split(text[1:], self.declared) is None:
            return None
        self.tokens[at] = (kind, text[1:], start + 1, end, False)
        return start + 1, False

    def superscript(self, base: Node, text: str, start: int, end: int) -> Node:
        """Unicode superscripts: x², 10⁻³, Pᵀ."""
        if text in ("T", "t") and (self.declared.matrices or self.declared.arrays):
            return self.made(Transpose(base, start=base.start, end=end))
        inner = [(k, t, start, end, s) for k, t, _, _, s in tokenize(text)]
        exponent = Parser(inner, self.declared).whole()
        self.made(exponent)
        return self.made(Pow(base, exponent, start=base.start, end=end))

    def bracketed(self, text: str) -> Node:
        """An operand that begins with an operator: brackets, bars, roots, fractions, sums."""
        start = self.tokens[self.at][2]
        if text in ("(", "[", "{"):
            if text == "[" and self.declared.indexed and self.has_relation(self.at):
                return self.indicator()
            return self.group(text)
        if text in ("|", "‖"):
            return self.absolute(text)
        if text in ("√", "∛", "∜", "\\sqrt"):
            return self.root(text)
        if text in ("\\frac", "\\binom"):
            self.at += 1
            above, below = self.argument(), self.argument(last=True)
            if text == "\\binom":
                return self.made(Call("binomial", (above, below), start=start, end=below.end))
            return self.made(Div(above, below, start=start, end=below.end))
        if text in ("⌈", "⌊"):
            self.at += 1
            inner = self.expression()
            close = self.expect(_CLOSERS[text], start)
            return self.made(Call("ceil" if text == "⌈" else "floor", (inner,), start=start, end=close[3]))
        if text in ("sum", "prod"):
            self.at += 1
            return self.sum(start, product=text == "prod")
        if text == "∞":
            raise Unreadable("an infinity cannot be part of a formula", start)
        raise self.unexpected()

    def group(self, opening: str) -> Node:
        """The inside of a pair of brackets."""
        start = self.tokens[self.at][2]
        self.at += 1
        bars, self.bars = self.bars, 0
        if self.is_op(_CLOSERS[opening]):
            raise Unreadable("there is nothing between these brackets", start)
        inner = self.expression()
        if self.is_op(","):
            if self.tokens[self.at + 1][1] == _CLOSERS[opening]:
                self.at += 1
            else:
                raise self.unexpected()
        close = self.expect(_CLOSERS[opening], start)
        self.bars = bars
        return replace(inner, start=start, end=close[3])

    def absolute(self, bar: str) -> Node:
        """|x|, ||x||: the absolute value."""
        start = self.tokens[self.at][2]
        self.at += 1
        self.bars += 1
        inner = self.expression()
        if not self.is_op(bar):
            if self.tokens[self.at][0] == "end":
                raise Unreadable(f"this {bar!r} is never closed", start)
            raise self.unexpected()
        self.at += 1
        self.bars -= 1
        return self.made(Call("abs", (inner,), start=start, end=self.tokens[self.at - 1][3]))

    def root(self, sign: str) -> Node:
        """√x, \\sqrt{x}, \\sqrt[n]{x}: without brackets the next factor with its power."""
        start = self.tokens[self.at][2]
        self.at += 1
        degree: Node | None = None
        if sign == "\\sqrt" and self.is_op("["):
            opened = self.tokens[self.at][2]
            self.at += 1
            degree = self.expression()
            self.expect("]", opened)
        elif sign in ("∛", "∜"):
            degree = self.made(Number(Fraction(3 if sign == "∛" else 4), sign, start=start, end=start + 1))
        if self.is_op("(", "[", "{"):
            inner = self.group(self.tokens[self.at][1])
        elif self.is_op("-", "+"):
            raise Unreadable("brackets are needed round a signed number under a root", self.tokens[self.at][2])
        else:
            self.enter()
            inner = self.operand(after_slash=True)
            self.depth -= 1
        if degree is None:
            return self.made(Call("sqrt", (inner,), start=start, end=inner.end))
        one = self.made(Number(Fraction(1), "1", start=degree.start, end=degree.end))
        share = self.made(Div(one, degree, start=degree.start, end=degree.end))
        return self.made(Pow(inner, share, start=start, end=inner.end))

    def argument(self, last: bool = False) -> Node:
        """An argument of \\frac: a group, or the next single digit or letter."""
        kind, text, start, end, spaced = self.tokens[self.at]
        if kind == "op" and text == "{":
            return self.group("{")
        if (
            kind in ("num", "name")
            and len(text) > 1
            and (text.isdigit() or text.isalpha())
            and end - start == len(text)
        ):
            self.tokens[self.at] = (kind, text[0], start, start + 1, spaced)
            rest = text[1:]
            if rest.isdigit() and last:
                number = Number(literal(rest), rest, start=start + 1, end=end)
                self.tokens.insert(self.at + 1, ("atom", number, start + 1, end, False))
            else:
                self.tokens.insert(self.at + 1, (kind, rest, start + 1, end, False))
        if kind == "num":
            return self.made(self.grouped_digit())
        self.enter()
        found = self.name() if kind == "name" else self.operand(after_slash=True)
        self.depth -= 1
        return found

    def grouped_digit(self) -> Number:
        """One digit taken by itself."""
        _, text, start, end, _ = self.tokens[self.at]
        self.at += 1
        return Number(literal(text), text, start=start, end=end)

    # ---------------------------------------------------------------------------------------------------- names

    def name(self) -> Node:
        """A declared name, a function with its arguments, a sum, a constant; or a run that falls into several."""
        kind, word, start, end, _ = self.tokens[self.at]
        declared = self.declared
        if word in MODULES and self.tokens[self.at + 1][1] == "." and not declared.knows(word):
            while self.tokens[self.at][1] in MODULES and self.tokens[self.at + 1][1] == ".":
                self.at += 2
            kind, word, start, end, _ = self.tokens[self.at]
            if kind != "name" or word not in FUNCTIONS:
                raise self.unexpected()
        run, after, last = self.run(self.at)
        if run != word and declared.knows(run) and run not in declared.arrays:
            self.at = after
            return self.made(Symbol(run, start=start, end=last))
        if word in declared.functions or (word in FUNCTIONS and not declared.knows(word)):
            return applied.function(self)
        if word == "sum" and not declared.knows("sum"):
            self.at += 1
            return self.sum(start, product=False)
        if word in declared.arrays or (word == "delta" and declared.indexed and not declared.knows("delta")):
            found = self.array(word)
            if found is not None:
                return found
        if word in declared.arrays and run == word:
            self.at += 1
            return self.made(Symbol(word, start=start, end=end))
        special = applied.special(self, word)
        if special is not None:
            return special
        pieces = split(run, declared)
        if pieces is None and self.tokens[after][:2] == ("op", "_") and after == self.at + 1:
            pieces, after, last = self.braced_run(run, after)
        if pieces is None:
            if run == word and word in ("pi", "e"):
                self.at += 1
                return self.made(Symbol(word, start=start, end=end))
            raise unknown(run, declared, start)
        return self.spread(pieces, after, start, last)

    def run(self, at: int) -> tuple[str, int, int]:
        """A name with the subscripts that touch it: "d" "_k" -> "d_k"; a power before the subscript is passed over."""
        tokens = self.tokens
        _, text, _, end, _ = tokens[at]
        at += 1
        while tokens[at][0] == "sub":
            text += "_" + tokens[at][1]
            end = tokens[at][3]
            at += 1
        if tokens[at][:2] == ("op", "^"):
            text, at, end = self.turned(text, at, end)
        elif tokens[at][:2] == ("op", "_") and not self.declared.arrays:
            braced = self.subscript_text(at)
            if braced is not None and self.declared.knows(f"{text}_{braced[0]}"):
                return f"{text}_{braced[0]}", braced[1], tokens[braced[1] - 1][3]
        return text, at, end

    def turned(self, text: str, at: int, end: int) -> tuple[str, int, int]:
        """x^2_k is x_k^2: the power is moved behind the subscript."""
        tokens = self.tokens
        stop = at + 1
        if tokens[stop][:2] == ("op", "{"):
            depth = 0
            while tokens[stop][0] != "end":
                depth += (tokens[stop][:2] == ("op", "{")) - (tokens[stop][:2] == ("op", "}"))
                stop += 1
                if depth == 0:
                    break
        elif tokens[stop][0] in ("num", "name"):
            stop += 1
        else:
            return text, at, end
        if tokens[stop][0] == "sub":
            sub, after = tokens[stop][1], stop + 1
        elif tokens[stop][:2] == ("op", "_"):
            braced = self.subscript_text(stop)
            if braced is None:
                return text, at, end
            sub, after = braced
        else:
            return text, at, end
        if not self.declared.knows(f"{text}_{sub}"):
            return text, at, end
        power = tokens[at:stop]
        width = after - at
        tokens[at:after] = [("gone", "", end, end, False)] * (width - len(power)) + power
        return f"{text}_{sub}", at + width - len(power), tokens[at][3]

    def subscript_text(self, at: int) -> tuple[str, int] | None:
        """The text of _{ … } if it is plain letters and digits, and the place after it."""
        tokens = self.tokens
        if tokens[at + 1][:2] != ("op", "{"):
            return None
        at += 2
        text = ""
        while tokens[at][0] in ("num", "name", "sub"):
            text += ("_" if tokens[at][0] == "sub" else "") + tokens[at][1]
            at += 1
        if tokens[at][:2] != ("op", "}") or not text:
            return None
        return text, at + 1

    def braced_run(self, run: str, at: int) -> tuple[list[tuple[str, str]] | None, int, int]:
        """A run that ends in a braced subscript: Td_{ff} is T d_ff."""
        braced = self.subscript_text(at)
        if braced is None:
            return None, at, at
        sub, after = braced
        return split(f"{run}_{sub}", self.declared), after, self.tokens[after - 1][3]

    def spread(self, pieces: list[tuple[str, str]], after: int, start: int, end: int) -> Node:
        """Put the pieces of a run in its place as atoms and read the first."""
        nodes: list[Node] = []
        place = start
        for what, text in pieces:
            if what == "array":
                name, _, letters = text.partition("|")
                indices = tuple(self.index_letter(letter, place) for letter in letters.split(","))
                width = len(name) + 1 + len(indices)
                nodes.append(Indexed(name, indices, start=place, end=min(end, place + width)))
            elif what == "number":
                width = len(text)
                nodes.append(Number(literal(text), text, start=place, end=place + width))
            else:
                width = len(text)
                nodes.append(Symbol(text, start=place, end=end if len(pieces) == 1 else min(end, place + width)))
            place += width
        if len(nodes) == 1:
            self.at = after
            return self.made(nodes[0])
        atoms = [("atom", node, node.start, node.end, False) for node in nodes[1:]]
        self.tokens[self.at : after] = [("atom", nodes[0], start, nodes[0].end, False), *atoms]
        self.at += 1
        return self.made(nodes[0])

    # -------------------------------------------------------------------------------------------------- indices

    def index_letter(self, letter: str, start: int) -> Node:
        """One index typed as a letter or a digit."""
        if letter.isdigit():
            return Number(Fraction(int(letter)), letter, start=start, end=start + 1)
        return Symbol(letter, start=start, end=start + 1)

    def array(self, word: str) -> Node | None:
        """p_{ij}, p_{i,j}, p[i,j]: an array with bracketed indices; None where it is followed by something else."""
        tokens = self.tokens
        start = tokens[self.at][2]
        after = tokens[self.at + 1]
        if (
            after[0] == "op"
            and not after[4]
            and (after[1] == "[" or (after[1] == "_" and tokens[self.at + 2][1] in ("{", "(")))
        ):
            self.at += 1
            indices, end = applied.indices(self, self.declared.arrays.get(word, 2))
            return self.made(Indexed(word, indices, start=start, end=end))
        if after[0] == "sub":
            return None
        if after[0] == "op" and after[1] == "_":
            raise Unreadable("an index is expected after the underscore", after[3])
        return None

    def entry(self, base: Node) -> Node:
        """softmax(s)_j, diag(p)_{ij}: one entry of what a function gives."""
        if not self.declared.indexed or not isinstance(base, (Call, Entry, Transpose)):
            raise self.unexpected()
        indices, end = applied.indices(self, None)
        return self.made(Entry(base, indices, start=base.start, end=end))

    def sum(self, start: int, product: bool) -> Node:
        """sum_r …, \\sum_{r=1}^{T} …, \\sum_{j \\ne i} …; the body runs to the next + or − of its level."""
        heads = applied.sum_heads(self, start)
        self.enter()
        outside, fresh = self.declared, {head[0] for head in heads if not self.declared.knows(head[0])}
        if fresh:
            # inside the sum its index is a name of its own
            self.declared = replace(outside, symbols=outside.symbols | fresh)
        body = self.expression(SUM)
        self.declared = outside
        self.depth -= 1
        for index, lower, upper, skip in reversed(heads):
            body = self.made(Sum(index, body, lower, upper, skip, product, start=start, end=body.end))
        return body

    def has_relation(self, at: int) -> bool:
        """Whether a bracket holds a comparison at its own level."""
        depth = 0
        for kind, text, _, _, _ in self.tokens[at : at + 40]:
            if kind != "op":
                continue
            if text in _CLOSERS:
                depth += 1
            elif text in _CLOSERS.values():
                depth -= 1
                if depth == 0:
                    return False
            elif depth == 1 and text in _RELATIONS:
                return True
        return False

    def indicator(self) -> Node:
        """1[i = j], [i = j]: one where the relation holds, else zero."""
        opening = self.tokens[self.at][1]
        start = self.tokens[self.at][2]
        self.at += 1
        left = applied.index(self)
        token = self.tokens[self.at]
        if token[0] != "op" or token[1] not in _RELATIONS:
            raise self.unexpected()
        self.at += 1
        right = applied.index(self)
        close = self.expect(_CLOSERS[opening], start)
        return self.made(Indicator(left, token[1], right, start=start, end=close[3]))


def _numpy_style(tokens: list[Token]) -> bool:
    """Whether * must be numpy's: the answer uses @ or a method sum."""
    for at, (kind, text, _, _, _) in enumerate(tokens):
        if kind == "op" and text == "@":
            return True
        if kind == "name" and text == "sum" and at and tokens[at - 1][1] == ".":
            return True
    return False
