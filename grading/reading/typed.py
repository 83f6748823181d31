"""What people type where a number is asked: the number and the unit words after it."""

from __future__ import annotations

from functools import lru_cache

from grading.errors import Unreadable
from grading.reading.numbers import Real, notation, quick
from grading.units import MAX_WORDS, meanings, split_phrase, table

MAX_LENGTH = 2000


def read_number(text: str, offset: int = 0) -> tuple[Real, tuple[str, ...]]:
    """The number and the words of its unit ("512 KiB per token" -> 512, ("KiB", "per", "token")).

    offset: where `text` begins in what the learner typed, for the columns of errors.
    """
    found = quick(text) or notation(text)
    if found is not None:
        number, unit = found
        if not unit:
            return number, ()
        words = _unit_words(unit)
        if words:
            return number, words
    if not text.strip():
        raise Unreadable("the answer is empty", offset)
    if len(text) > MAX_LENGTH:
        raise Unreadable(f"the answer is longer than {MAX_LENGTH} characters")
    from grading.reading.amounts import read_amount

    return read_amount(text, offset)


@lru_cache(maxsize=1024)
def _unit_words(unit: str) -> tuple[str, ...]:
    """A unit phrase as words if it is one, else nothing."""
    known = table()
    words = (unit,) if unit in known else split_phrase(unit)
    good = (
        len(words) <= MAX_WORDS and words[-1] in known and all(word in known or word in ("/", "per") for word in words)
    )
    if good and words[0] in ("/", "per"):
        good = any(unit.dimension or unit.counted for unit in meanings(words))  # "1/x" is no rate
    return words if good else ()


def read_plain(text: str, offset: int = 0) -> Real:
    """A number without unit, percent allowed: an entry of a list."""
    number, words = read_number(text, offset)
    if not words:
        return number
    if words == ("%",):
        from grading.units import PERCENT

        return number.scaled(PERCENT.factor, f"{number.text}%")
    raise Unreadable(f"a plain number is expected here, without {' '.join(words)!r}", offset)
