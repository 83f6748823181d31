"""Brackets, bars, roots and fractions; powers and transposes."""

from __future__ import annotations

from fractions import Fraction

from grading.errors import Unreadable
from grading.reading.literals import literal
from grading.reading.machine import CLOSERS
from grading.reading.names import split
from grading.reading.tokens import tokenize
from grading.reading.tree import Call, Div, Neg, Node, Number, Pow, Transpose
from grading.reading.words import Words


def widen(node: Node, start: int, end: int) -> None:
    """Let a node that was just made, and that nobody else has seen, take its brackets in."""
    object.__setattr__(node, "start", start)
    object.__setattr__(node, "end", end)


class Brackets(Words):
    """The part of the grammar that begins with a sign, and what stands after ^."""

    __slots__ = ()

    def bracketed(self, text: str) -> Node:
        """An operand that begins with an operator: brackets, bars, roots, fractions, sums."""
        start = self.tokens[self.at][2]
        if text in ("(", "[", "{"):
            if text != "{" and self.declared.indexed and self.has_relation(self.at):
                return self.indicator()
            if text == "{" and self.is_dressed_name():
                self.tokens[self.at : self.at + 3] = [self.tokens[self.at + 1]]
                return self.name()
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
            close = self.expect(CLOSERS[text], start)
            return self.made(Call("ceil" if text == "⌈" else "floor", (inner,), start=start, end=close[3]))
        if text in ("sum", "prod"):
            self.at += 1
            return self.sum(start, product=text == "prod")
        if text == "∞":
            raise Unreadable("an infinity cannot be part of a formula", start)
        raise self.unexpected()

    def is_dressed_name(self) -> bool:
        """{x}_1: braces round a name that is about to get its subscript."""
        tokens, at = self.tokens, self.at
        if tokens[at + 1][0] != "name" or tokens[at + 2][:2] != ("op", "}"):
            return False
        return bool(tokens[at + 3][0] == "sub" or tokens[at + 3][:2] == ("op", "_"))

    def group(self, opening: str) -> Node:
        """The inside of a pair of brackets."""
        start = self.tokens[self.at][2]
        self.at += 1
        bars, self.bars = self.bars, 0
        if self.is_op(CLOSERS[opening]):
            raise Unreadable("there is nothing between these brackets", start)
        inner = self.expression()
        if self.is_op("\\choose", "\\over"):
            infix = self.tokens[self.at][1]
            self.at += 1
            below = self.expression()
            if infix == "\\over":
                inner = self.made(Div(inner, below, start=inner.start, end=below.end))
            else:
                inner = self.made(Call("binomial", (inner, below), start=inner.start, end=below.end))
        if self.is_op(","):
            if self.tokens[self.at + 1][1] == CLOSERS[opening]:
                self.at += 1
            else:
                raise self.unexpected()
        close = self.expect(CLOSERS[opening], start)
        self.bars = bars
        widen(inner, start, close[3])
        return inner

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
        return self.operand(after_slash=True, percent=False)

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
        if brace and tokens[at + 1][:2] != ("op", CLOSERS[brace]):
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
        exponent = type(self)(inner, self.declared).whole()
        self.made(exponent)
        return self.made(Pow(base, exponent, start=base.start, end=end))
