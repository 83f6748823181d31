"""Numbers as they are typed: groups of thousands, fractions of two literals, mixed numbers, percent; and indicators."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from grading.errors import Unreadable
from grading.reading.machine import CLOSERS, Machine
from grading.reading.subscripts import index
from grading.reading.tokens import VULGAR
from grading.reading.tree import RELATIONS, Add, Div, Indicator, Node, Number

MAX_EXPONENT = 400


@lru_cache(maxsize=4096)
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


class Literals(Machine):
    """The part of the grammar that begins with a digit."""

    __slots__ = ()

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

    def starts_indicator(self, at: int) -> bool:
        """Whether 1[i=j] begins here."""
        tokens = self.tokens
        opens = tokens[at + 1][1] in ("[", "{", "(") and not tokens[at + 1][4]
        return bool(tokens[at][1] == "1" and opens and self.declared.indexed and self.has_relation(at + 1))

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

    def starts_mixed(self, at: int) -> bool:
        """Whether a number literal stands before \\frac of two literals."""
        return self.tokens[at + 1][1] == "\\frac" and self.literal_fraction(at + 1) is not None

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

    def grouped_digit(self) -> Number:
        """One digit taken by itself."""
        _, text, start, end, _ = self.tokens[self.at]
        self.at += 1
        return Number(literal(text), text, start=start, end=end)

    def percent(self, base: Node, end: int) -> Node:
        """x % is x/100."""
        if isinstance(base, Number):
            if base.text.endswith("%"):
                raise Unreadable("one percent sign too many", end - 1)
            return Number(base.value / 100, f"{base.text}%", start=base.start, end=end)
        return self.made(
            Div(base, self.made(Number(Fraction(100), "100", start=end, end=end)), start=base.start, end=end)
        )

    def has_relation(self, at: int) -> bool:
        """Whether a bracket holds a comparison at its own level."""
        depth = 0
        for kind, text, _, _, _ in self.tokens[at : at + 40]:
            if kind != "op":
                continue
            if text in CLOSERS:
                depth += 1
            elif text in CLOSERS.values():
                depth -= 1
                if depth == 0:
                    return False
            elif depth == 1 and text in RELATIONS:
                return True
        return False

    def indicator(self) -> Node:
        """1[i = j], [i = j]: one where the relation holds, else zero."""
        opening = self.tokens[self.at][1]
        start = self.tokens[self.at][2]
        self.at += 1
        left = index(self)
        token = self.tokens[self.at]
        if token[0] != "op" or token[1] not in RELATIONS:
            raise self.unexpected()
        self.at += 1
        right = index(self)
        close = self.expect(CLOSERS[opening], start)
        return self.made(Indicator(left, token[1], right, start=start, end=close[3]))
