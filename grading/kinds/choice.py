"""One of several options, by key, letter or number."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from grading.errors import Unreadable
from grading.kinds.base import Comparison, Kind, Samples
from grading.kinds.option import Option
from grading.reading.screen import printable

__all__ = ["Choice", "Option", "Optioned", "Picked"]

_EDGES = " \t\r\n()[]{}.,:;\"'`*$"
_LETTER = re.compile(r"\(?(\w)[).:]\s*(\S.{0,200})\Z", re.DOTALL)
_TWO = re.compile(r"\s{1,20}(?:or|and|oder|/)\s{1,20}|[,;/|&+]", re.IGNORECASE)


class Picked(NamedTuple):
    """What was picked: the key of an option, or a text that is none."""

    key: str | None
    text: str


@dataclass(frozen=True)
class Optioned(Kind):
    """Common part of the kinds that pick among options. Letters and numbers follow the order given."""

    options: tuple[Option, ...] = ()

    @cached_property
    def _names(self) -> dict[str, str]:
        """Everything that names an option, in lower case; a key goes before a letter, a letter before a number."""
        out: dict[str, str] = {}
        for option in self.options:
            out[_plain(option.key)] = option.key
        for at, option in enumerate(self.options):
            if at < 26:
                out.setdefault(chr(ord("a") + at), option.key)
        for at, option in enumerate(self.options, 1):
            out.setdefault(str(at), option.key)
        for option in self.options:
            if option.text:
                out.setdefault(_plain(option.text), option.key)
        last = [_plain(option.key).rpartition(" ")[2] for option in self.options]
        for word, option in zip(last, self.options, strict=True):
            if last.count(word) == 1:  # "max" where only one key ends so, subtract_max
                out.setdefault(word, option.key)
        return out

    def _pick(self, text: str) -> Picked:
        """The option that a text names; without options any single word is one."""
        plain = _plain(text)
        if not plain:
            raise Unreadable("the answer is empty", 0)
        key = self._names.get(plain)
        if key is None:
            found = _LETTER.match(text.strip())
            if found is not None:  # B) with the text of the option behind it
                key = self._names.get(_plain(found.group(1)))
                key = key if key is not None and key == self._names.get(_plain(found.group(2))) else None
        return Picked(key, key) if key is not None else Picked(None, bare(text))

    def _listed(self) -> str:
        return ", ".join(option.key for option in self.options)

    def precision(self) -> str:
        return "exact"

    def agrees(self, a: Any, b: Any, slack: float = 1.0) -> bool:
        return bool(a == b)


_DRESS = re.compile(r"\\(?:text|mathrm|textbf|mathbf|boxed)\s{0,9}\{([^{}]{0,80})\}")
_JOINED = re.compile(r"(?<=\w)-(?=\w)|_")
_CALLED = re.compile(r"(?:option|answer|choice|letter|key)\s{0,9}:?\s{1,9}(?=\S)", re.IGNORECASE)


def bare(text: str) -> str:
    """A text without LaTeX dress, "option", brackets and full stop."""
    text = _DRESS.sub(r"\1", text).strip(_EDGES)
    called = _CALLED.match(text)
    return (text if called is None else text[called.end() :]).strip(_EDGES)


def _plain(text: str) -> str:
    """Case, brackets, spaces at the ends and a full stop do not count; underscores and hyphens are spaces."""
    return " ".join(_JOINED.sub(" ", bare(text).lower()).split())


@dataclass(frozen=True)
class Choice(Optioned):
    """One option. Values: the key of the right option. Without options (ad-hoc rows) keys are compared as words."""

    name: ClassVar[str] = "choice"

    def parse(self, text: str) -> Picked:
        picked = self._pick(text)
        if picked.key is None:
            pieces = [piece for piece in _TWO.split(picked.text) if piece.strip(_EDGES)]
            if len(pieces) > 1:
                raise Unreadable("one option is expected, this names several")
            if len(picked.text.split()) > (1 if self.options else 3) or len(picked.text) > 60:
                raise Unreadable(
                    f"type the letter or the key of one option{': ' + self._listed() if self.options else ''}"
                )
        return picked

    def reading(self, given: Picked) -> str:
        return printable(given.text)

    def show(self, value: Any) -> str:
        return str(value)

    def compare(self, given: Picked, value: Any) -> Comparison:
        if given.key is not None:
            return Comparison(given.key == value, "exact")
        if not self.options:
            return Comparison(_plain(given.text) == _plain(str(value)), "exact")
        return Comparison(False, "exact", f"{printable(given.text, 60)!r} is no option: {self._listed()}")

    def answer_format(self) -> str:
        return "the letter of one option" if self.options else "the name of one option"

    def samples(self, value: Any) -> Samples:
        others = [option.key for option in self.options if option.key != value]
        first = [option.key for option in self.options][:2] or [str(value), "b"]
        return Samples(
            (str(value), f" {value} ", f"({value})", f"{value}.", str(value).upper()),
            (*others, "zzz"),
            ("", "  ", f"{first[0]} or {first[-1]}", "it is one of those two I think"),
        )
