"""One number: a decimal, a fraction, a percentage or a formula without names."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from grading.band import Band
from grading.errors import Unreadable
from grading.findings import of_number
from grading.kinds.base import Comparison, Finding, Samples
from grading.kinds.numeric import Numeric
from grading.reading.numbers import Real, real_of
from grading.reading.typed import read_number
from grading.units import Unit, fit, kind_of, meanings, named, split_phrase


class Misfit(NamedTuple):
    """A number that was read but cannot be what is asked: wrong unit. Wrong, with the reason."""

    text: str
    reason: str
    finding: Finding


@dataclass(frozen=True)
class Scalar(Numeric):
    """Common part of the kinds whose answer is one number."""

    unit: str = "none"
    symbols: tuple[str, ...] = field(default=(), kw_only=True)

    @cached_property
    def _unit(self) -> Unit:
        return named(self.unit)

    @cached_property
    def _wanted(self) -> tuple[Unit, ...]:
        """The asked unit in all its meanings: bits of data, bits of entropy."""
        found = meanings(split_phrase(self.unit)) or (self._unit,)
        # B is a billion too, but not where bytes are asked for
        return tuple(unit for unit in found if bool(unit.dimension) == bool(found[0].dimension))

    @cached_property
    def _right(self) -> Comparison:
        return Comparison(True, self._method)

    def band(self, value: Any) -> Band:
        """The answers that pass for a key; worked out once a key."""
        return self._bands.of(value)

    def parse(self, text: str) -> Real | Misfit:
        try:
            number, words = read_number(text)
        except Unreadable:
            said = self.word(text)
            if said is not None:
                return real_of(said)
            if self.symbols and (named := self._with_names(text)):
                return named
            raise
        if not words:
            return number
        return self._in_unit(number, words)

    def _with_names(self, text: str) -> Misfit | None:
        """An answer that can be read with the declared names: no number, so wrong rather than unreadable."""
        from grading.reading.grammar import Declared, read
        from grading.reading.show import show

        try:
            tree = read(text, Declared(symbols=frozenset(self.symbols)))
        except Unreadable:
            return None
        return Misfit(show(tree), "a number is expected, this depends on names", Finding("names", "Put numbers in."))

    @cached_property
    def _scales(self) -> dict[tuple[str, ...], tuple[Fraction, bool, str] | None]:
        return {}

    def _scale(self, words: tuple[str, ...]) -> tuple[Fraction, bool, str] | None:
        """The factor from a unit phrase to the asked unit, whether the rate stands upside down, and how the phrase is
        echoed; None where it measures something else. Worked out once a phrase."""
        try:
            return self._scales[words]
        except KeyError:
            if len(self._scales) >= 512:
                self._scales.clear()
            self._scales[words] = found = self._fitted(words)
            return found

    def _fitted(self, words: tuple[str, ...]) -> tuple[Fraction, bool, str] | None:
        options = meanings(words)
        for wanted in self._wanted:
            found = fit(options, wanted)
            if found is not None:
                unit, upside_down = found
                factor = 1 / (unit.factor * wanted.factor) if upside_down else unit.factor / wanted.factor
                return factor, upside_down, echo(words, unit)
        return None

    def _in_unit(self, number: Real, words: tuple[str, ...]) -> Real | Misfit:
        scale = self._scale(words)
        if scale is None:
            return self._misfit(number.text + echo(words, meanings(words)[0]), meanings(words), words)
        factor, upside_down, label = scale
        typed = number.text + label
        if upside_down:
            return number.inverted(typed).scaled(factor, typed)
        return number.scaled(factor, typed)

    def _misfit(self, typed: str, options: tuple[Unit, ...], words: tuple[str, ...]) -> Misfit:
        got = options[0]
        phrase = " ".join(words).replace(" / ", "/")
        reason = f"the unit does not fit: {phrase} is {kind_of(got)}, {kind_of(self._unit)} is asked for"
        return Misfit(typed, reason, Finding("wrong_unit", f"The unit {got.label or typed} does not fit the question."))

    def reading(self, given: Real | Misfit) -> str:
        return given.text

    @cached_property
    def _wrong(self) -> Comparison:
        return Comparison(False, self._method, "the exact value is wanted" if self.tolerance.exact else "")

    def compare(self, given: Real | Misfit, value: Any) -> Comparison:
        if isinstance(given, Misfit):
            return Comparison(False, self._method, given.reason)
        band = self._bands.of(value)
        if band.holds(given):
            return self._right
        reason = self._why(given, band)
        return Comparison(False, self._method, reason) if reason else self._wrong

    def _why(self, given: Real, band: Band) -> str:
        """What is wrong beside the size, or nothing."""
        x = given.approx
        if x - x != 0.0:
            return "the answer is not a number (NaN)" if x != x else "the answer is infinite"
        return "" if band.special is None else "no finite number is right here"

    def findings(self, given: Real | Misfit, value: Any) -> tuple[Finding, ...]:
        if isinstance(given, Misfit):
            return (given.finding,)
        return of_number(given, self._bands.of(value), self.tolerance)

    def plain(self, given: Real | Misfit) -> int | float | None:
        return None if isinstance(given, Misfit) else carried(given)

    def agrees(self, a: Any, b: Any, slack: float = 1.0) -> bool:
        return self._close.number(a, b, slack)

    def show(self, value: Any) -> str:
        return self._close.show(value)

    def precision(self) -> str:
        return self._close.words(self._unit.label)

    def _refused(self, value: Any) -> tuple[str, ...]:
        return ("", "about nine or so", "(1", "1.2.3", f"{self.show(value)} or 3", "2 /")

    def samples(self, value: Any) -> Samples:
        key = real_of(value)
        shown = self.show(value)
        right, wrong = [shown, f" {shown} ", f"+{shown}" if shown[0].isdigit() else shown, f"${shown}$"], []
        if key.approx == key.approx and abs(key.approx) != float("inf"):
            exact = key.rational()
            wrong = [
                text
                for text, number in (
                    (f"-({shown})", -exact),
                    (f"10*({shown})", exact * 10),
                    (f"({shown})/2", exact / 2),
                    (f"({shown}) + 1", exact + 1),
                )
                if not self.band(value).holds(real_of(Fraction(number)))
            ]
        return Samples(tuple(right), (*wrong, "inf" if shown == "NaN" else "NaN"), self._refused(value))


@dataclass(frozen=True)
class Number(Scalar):
    """A number. `%` counts 1/100; the unit word of the question may follow. unit: as the catalogue spells it.

    Values: int, float, Fraction or "nan", in the unit of the question; a share is a fraction of 1.
    """

    name: ClassVar[str] = "number"

    def answer_format(self) -> str:
        if "%" in self.unit:
            return "a number or a percentage, e.g. 0.0012 or 0.12%"
        if self._unit.label:
            return f"a number in {self._unit.label}, e.g. {'7.82' if self._unit.label == 'nats' else '40.7'}"
        return "a number, e.g. -12.6 or -22/7"


def echo(words: tuple[str, ...], unit: Unit) -> str:
    """A unit phrase as it is echoed after its number: 512 KiB, 14.2%, 131k."""
    gap = "" if unit.plain and not unit.counted and len(words[0]) == 1 else " "
    return gap + " ".join(words).replace(" / ", "/")


def carried(given: Real) -> int | float | None:
    """The number as later parts take it over: whole numbers as int, others as float; NaN and infinities not."""
    if not math.isfinite(given.approx):
        return None
    if given.is_rational() and given.rational().denominator == 1:
        return given.rational().numerator
    return given.approx
