"""A set of numbers or of names: order and repeats do not count."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

from grading.errors import Unreadable
from grading.kinds.base import Comparison, Samples
from grading.kinds.numeric import Numeric
from grading.reading.lists import Cell, cleaned, cut, peeled, strip, words
from grading.reading.numbers import Real, from_fraction
from grading.reading.screen import printable
from grading.reading.typed import read_plain

MAX_MEMBERS = 10_000
_EMPTY = frozenset(
    {
        "none",
        "{}",
        "{ }",
        "[]",
        "()",
        "∅",
        "\\emptyset",
        "\\varnothing",
        "empty",
        "empty set",
        "the empty set",
        "nothing",
    }
)
_WORD = re.compile(r"\\?[A-Za-zα-ωΑ-Ω][\w{}\\'.-]*\Z")
_RANGE = re.compile(r"\s*(\d{1,6})\s*(-|–|—|−|\.\.\.?|…|to\b|\\ldots|\\dots)\s*(\d{1,6})\s*\Z")
_OPEN_RANGE = re.compile(r"\s*\d+\s*(?:-|–|—|\.\.+|…)\s*\Z|\s*(?:–|—|\.\.+|…)\s*\d+\s*\Z")
_SIGNED_RANGE = re.compile(r"\s*([-−+]?\d{1,6})\s*(\.\.\.?|…|to\b|through\b|\\ldots|\\dots)\s*([-−+]?\d{1,6})\s*\Z")
_AND = re.compile(r"(?:\s{0,20},)?\s{1,20}(?:and|und|&)\s{1,20}", re.IGNORECASE)
_UNION = re.compile(r"∪|\\cup(?![A-Za-z])")
_DOTS = re.compile(r"(\d+)\s{0,9},\s{0,9}(?:\\[lc]?dots|\.\.\.|…)\s{0,9},\s{0,9}(\d+)")
_MORE = re.compile(r"(\d\s*(?:-|–|—|−|\.\.\.?|…)\s*\d+)\s+(?=\d)")


@dataclass(frozen=True, slots=True)
class Members:
    """The members typed, each a number or a word, in the learner's order."""

    items: tuple[Real | str, ...]


@dataclass(frozen=True)
class Set(Numeric):
    """A set. Values: a list, ascending; numbers by value, names by code point. Ranges ("1-4, 27..30") are spelled
    out; `none`, {} and ∅ are the empty set."""

    name: ClassVar[str] = "set"

    def parse(self, text: str) -> Members:
        cell = cleaned(text)
        if cell.text.lower() in _EMPTY:
            return Members(())
        united = _UNION.split(cell.text)
        if 1 < len(united) <= 20:
            return Members(tuple(item for piece in united for item in self.parse(piece).items))
        inner = peeled(cell)
        cell = strip(cell if inner is None else inner)
        if not cell.text:
            return Members(())
        if re.search(r"(?:^|\s)or(?:\s|$)", cell.text, re.IGNORECASE):
            raise Unreadable("one set is expected, this offers alternatives", cell.start)
        plain = _DOTS.sub(lambda found: f"{found.group(1)}-{found.group(2)}".ljust(len(found.group())), cell.text)
        plain = _AND.sub(lambda found: ",".ljust(len(found.group())), plain)
        plain = _MORE.sub(lambda found: found.group(1) + ",".ljust(len(found.group()) - len(found.group(1))), plain)
        items: list[Real | str] = []
        for piece in _pieces(Cell(plain, cell.start)):
            items.extend(_member(piece))
            if len(items) > MAX_MEMBERS:
                raise Unreadable(f"more than {MAX_MEMBERS} members")
        return Members(tuple(items))

    def reading(self, given: Members) -> str:
        shown = [item if isinstance(item, str) else item.text for item in given.items[:40]]
        return printable("{" + ", ".join(shown) + (", …" if len(given.items) > 40 else "") + "}")

    def show(self, value: Any) -> str:
        if not value:
            return "{}"
        return "{" + ", ".join(x if _is_word(x) else self._close.show(x) for x in value) + "}"

    def compare(self, given: Members, value: Any) -> Comparison:
        missing, surplus = self._differ(given, value)
        method = self._method
        if not missing and not surplus:
            return Comparison(True, method)
        said = []
        if surplus:
            shown = printable(", ".join(surplus[:8]), 80) + (", …" if len(surplus) > 8 else "")
            said.append(f"{shown} {'does' if len(surplus) == 1 else 'do'} not belong")
        if missing:
            said.append(f"{missing} {'member is' if missing == 1 else 'members are'} missing")
        return Comparison(False, method, "; ".join(said))

    def _differ(self, given: Members, value: Any) -> tuple[int, list[str]]:
        """How many members of the key are missing, and which given ones are surplus."""
        words_key = {x for x in value if _is_word(x)}
        numbers_key = [self._bands.of(x) for x in value if not _is_word(x)]
        met = [False] * len(numbers_key)
        words_met = set()
        surplus = []
        for item in given.items:
            if isinstance(item, str):
                if item in words_key:
                    words_met.add(item)
                else:
                    surplus.append(item)
                continue
            hits = [at for at, band in enumerate(numbers_key) if band.holds(item)]
            for at in hits:
                met[at] = True
            if not hits:
                surplus.append(item.text)
        return met.count(False) + len(words_key - words_met), surplus

    def agrees(self, a: Any, b: Any, slack: float = 1.0) -> bool:
        if self.tolerance.exact:
            return set(a) == set(b)
        return all(any(self._close.number(x, y, slack) for x in a) for y in b) and all(
            any(self._close.number(x, y, slack) for y in b) for x in a
        )

    def answer_format(self) -> str:
        return "a set, e.g. {1, 9} or 1-4, 27-30 (none if it is empty)"

    def precision(self) -> str:
        return "exact" if self.tolerance.exact else f"{self._close.words()} for every member"

    def samples(self, value: Any) -> Samples:
        shown = [x if _is_word(x) else self._close.show(x) for x in value]
        right = [self.show(value)]
        wrong = []
        if value:
            right += [", ".join(reversed(shown)), f"[{', '.join([*shown, shown[0]])}]"]
            wrong += ["none", ", ".join([*shown, "987654"])]
        else:
            right += ["none", "∅"]
            wrong += ["1"]
        return Samples(tuple(right), tuple(wrong), ("", "{1; 3)", "{1", "1-"))


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and value != "nan"


def _pieces(cell: Cell) -> list[Cell]:
    """The members: by commas or semicolons, or by spaces where there are none."""
    pieces = cut(cell, ",;，\n")
    if len(pieces) == 1:
        return pieces if _RANGE.match(cell.text) or _SIGNED_RANGE.match(cell.text) else words(pieces[0])
    if len(pieces) == 2 and not strip(pieces[1]).text:
        pieces.pop()
    for piece in pieces:
        if not strip(piece).text:
            raise Unreadable("a member is missing between the commas", piece.start)
    return pieces


def _member(piece: Cell) -> list[Real | str]:
    """One member, or all of a range."""
    piece = strip(piece)
    text = piece.text
    if _WORD.match(text) and text.lower() not in ("nan", "inf", "infinity", "pi", "e"):
        return [_bare(text)]
    found = _RANGE.match(text) or _SIGNED_RANGE.match(text)
    if found is not None:
        low, high = (int(end.replace("−", "-")) for end in found.group(1, 3))
        if high < low:
            raise Unreadable(f"the range {text} runs backwards", piece.start)
        if high - low >= MAX_MEMBERS:
            raise Unreadable(f"the range {text} has more than {MAX_MEMBERS} members", piece.start)
        return [_whole(n) for n in range(low, high + 1)]
    if _OPEN_RANGE.match(text):
        raise Unreadable("the range has only one end", piece.start)
    return [read_plain(text, piece.start)]


def _bare(word: str) -> str:
    """A name without the LaTeX dress: \\text{psd} is not needed, \\mathrm neither."""
    return re.sub(r"\\(?:text|mathrm|mathit|operatorname)|[{}\\]", "", word)


def _whole(n: int) -> Real:
    from fractions import Fraction

    return from_fraction(Fraction(n), str(n))
