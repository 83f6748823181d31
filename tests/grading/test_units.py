"""Units: conversion within a dimension, rates either way up, words with two meanings."""

from __future__ import annotations

from fractions import Fraction

import pytest

from grading.kinds.quantity import Quantity
from grading.tolerance import EXACT, rel
from grading.units import MAX_WORDS, fit, meanings, named, split_phrase


@pytest.mark.parametrize(
    ("phrase", "factor"),
    [
        ("B", 1), ("bytes", 1), ("KiB", 1024), ("kib", 1024), ("MiB", 2**20), ("GiB", 2**30), ("TiB", 2**40),
        ("KB", 1000), ("kB", 1000), ("kb", 1000), ("MB", 10**6), ("GB", 10**9), ("TB", 10**12), ("bit", Fraction(1, 8)),
        ("bits", Fraction(1, 8)), ("kilobytes", 1000), ("mebibyte", 2**20), ("Gibibytes", 2**30),
    ],
)  # fmt: skip
def test_sizes(phrase: str, factor: Fraction) -> None:
    unit, upside_down = fit(meanings((phrase,)), named("bytes")) or (None, None)
    assert unit is not None
    assert unit.factor == factor
    assert not upside_down


@pytest.mark.parametrize(
    ("asked", "typed", "value"),
    [
        ("FLOP", "2 GFLOPs", 2 * 10**9),
        ("FLOP/s", "312 TFLOPS", 312 * 10**12),
        ("FLOP/s", "312 TFLOP/s", 312 * 10**12),
        ("FLOP/byte", "153 FLOPs per byte", 153),
        ("FLOP/byte", "1 FLOP/bit", 8),
        ("s", "7.66 ms", Fraction("0.00766")),
        ("s", "2 min", 120),
        ("ms", "7660 µs", Fraction("7.66")),
        ("tokens/s", "8 ms/token", 125),
        ("tokens/s", "0.125 tokens per ms", 125),
        ("ms/token", "125 tokens/s", 8),
        ("bytes/s", "2 TB/s", 2 * 10**12),
        ("%", "14.2", Fraction("14.2")),
        ("%", "14.2%", Fraction("14.2")),
        ("bytes", "512 KiB per token", 512 * 1024),
    ],
)
def test_conversion_is_exact(asked: str, typed: str, value: Fraction) -> None:
    kind = Quantity(asked, tolerance=EXACT)
    assert kind.compare(kind.parse(typed), value).right, kind.parse(typed)


def test_bits_of_entropy_are_bits_of_data_where_bytes_are_asked() -> None:
    entropy = Quantity("nats", tolerance=rel(0.001))
    assert entropy.compare(entropy.parse("1 bit"), 0.693147).right
    size = Quantity("bytes", tolerance=EXACT)
    assert size.compare(size.parse("8 bits"), 1).right
    either = Quantity("bits", tolerance=rel(0.001))
    assert either.compare(either.parse("1.0397 nats"), 1.5).right
    assert either.compare(either.parse("1 B"), 8).right


@pytest.mark.parametrize("typed", ["7 ms", "7 FLOP", "7 tokens/s", "7%", "7 nats", "7 KiB/s"])
def test_another_dimension_is_wrong_with_the_reason(typed: str) -> None:
    kind = Quantity("bytes", tolerance=EXACT)
    outcome = kind.compare(kind.parse(typed), 7)
    assert outcome.right is False
    assert "unit does not fit" in outcome.detail


def test_phrases() -> None:
    assert split_phrase("FLOPs per byte") == ("FLOPs", "per", "byte")
    assert split_phrase("ms/token") == ("ms", "/", "token")
    assert meanings(("fortnight",)) == ()
    assert meanings(("B",) * (MAX_WORDS + 1)) == ()
    with pytest.raises(KeyError):
        named("fortnights")


def test_a_rate_of_zero_cannot_be_turned_round() -> None:
    from grading.errors import Unreadable

    with pytest.raises(Unreadable):
        Quantity("tokens/s").parse("0 ms/token")
