"""Laws of the plain kinds: what is shown reads back right, samples are graded as listed, values agree with verdicts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grading.kinds.base import Kind
from grading.kinds.choice import Choice, Option
from grading.kinds.integer import Integer
from grading.kinds.matrix import Matrix
from grading.kinds.multi_choice import MultiChoice
from grading.kinds.number import Number
from grading.kinds.parts import Part, Parts
from grading.kinds.quantity import Quantity
from grading.kinds.set_ import Set
from grading.kinds.shape import Shape
from grading.kinds.table import Table
from grading.kinds.vector import Vector
from grading.tolerance import EXACT, digits, rel, within
from tests.grading.laws import samples_hold

fits = settings(max_examples=300, deadline=None)
reals = st.one_of(
    st.floats(-1e12, 1e12, allow_nan=False).filter(lambda x: x == 0 or abs(x) > 1e-12),
    st.integers(-(10**20), 10**20),
    st.fractions(-1000, 1000, max_denominator=999),
)
rules = st.sampled_from([EXACT, rel(0.01), rel(0.001), within(5e-4), within(0.05), digits(3), digits(6)])
UNITS = ("bytes", "FLOP", "FLOP/byte", "s", "tokens/s", "nats", "none", "tokens")


@fits
@given(reals, rules, st.sampled_from(("none", "none or %", "nats", "s", "FLOP/byte")))
@example(1e-9, rel(0.01), "none")
@example(0, within(1e-3), "nats")
@example(3.4028234663852886e38, rel(0.01), "none")
@example(Fraction(1, 3), EXACT, "none")
def test_number_reads_back(value: Any, rule: Any, unit: str) -> None:
    reads_back(Number(unit, tolerance=rule), value)


@fits
@given(st.integers(-(10**30), 10**30))
def test_integer_reads_back(value: int) -> None:
    kind = Integer()
    reads_back(kind, value)
    assert kind.compare(kind.parse(f"{value:,}"), value).right
    assert not kind.compare(kind.parse(str(value + 1)), value).right


@fits
@given(st.one_of(st.integers(0, 10**16), st.floats(1e-7, 1e15)), rules, st.sampled_from(UNITS))
@example(131072, rel(0.01), "bytes")
@example(33554433, EXACT, "bytes")
@example(0, within(0.5), "bytes")
def test_quantity_reads_back(value: Any, rule: Any, unit: str) -> None:
    reads_back(Quantity(unit, tolerance=rule), value)


@fits
@given(st.lists(reals, min_size=1, max_size=6), rules)
def test_vector_reads_back(value: list[Any], rule: Any) -> None:
    reads_back(Vector(tolerance=rule), value)


@fits
@given(st.integers(1, 4), st.integers(1, 4), st.data(), rules)
def test_matrix_reads_back(height: int, width: int, data: Any, rule: Any) -> None:
    rows = data.draw(st.lists(st.lists(reals, min_size=width, max_size=width), min_size=height, max_size=height))
    reads_back(Matrix(tolerance=rule), rows)


@fits
@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=6))
def test_shape_reads_back(value: list[int]) -> None:
    reads_back(Shape(), value)


words = st.from_regex(r"[a-z]{2,6}(_[a-z]{1,4})?", fullmatch=True).filter(
    lambda w: w not in ("or", "and", "none", "nothing", "empty", "nan", "inf", "pi", "infinity")
)


@fits
@given(st.one_of(st.sets(st.integers(-50, 50), max_size=8), st.sets(words, max_size=5)))
def test_set_reads_back(value: set[Any]) -> None:
    reads_back(Set(), sorted(value))


@fits
@given(st.integers(1, 5).flatmap(lambda n: st.lists(st.tuples(reals, reals, reals), min_size=n, max_size=n)))
def test_table_reads_back(value: list[tuple[Any, ...]]) -> None:
    reads_back(Table(columns=("m", "l", "u"), tolerance=rel(0.01)), [list(line) for line in value])


@fits
@given(reals, st.lists(reals, min_size=2, max_size=3), st.integers(0, 10**12))
def test_parts_read_back(number: Any, vector: list[Any], size: int) -> None:
    kind = Parts(
        parts=(
            Part("a", Number(tolerance=rel(0.01))),
            Part("b", Vector(tolerance=within(0.001))),
            Part("c", Quantity("bytes", tolerance=rel(0.01))),
        )
    )
    reads_back(kind, [number, vector, size])


def reads_back(kind: Kind, value: Any) -> None:
    """The shown value is right, is echoed, and agrees with itself."""
    shown = kind.show(value)
    given_back = kind.parse(shown)
    assert kind.compare(given_back, value).right is True, (shown, value)
    assert kind.parse(kind.reading(given_back)) is not None
    assert kind.agrees(value, value)


@fits
@given(reals, reals, rules)
def test_agreeing_values_are_right_answers(key: Any, other: Any, rule: Any) -> None:
    """`agrees` on plain values and `compare` on the typed value decide alike, away from the edge of the tolerance."""
    kind = Number(tolerance=rule)
    right = kind.compare(kind.parse(Number(tolerance=EXACT).show(other)), key).right
    if kind.agrees(key, other, 0.99):
        assert right or kind.tolerance.exact
    if not kind.agrees(key, other, 1.01):
        assert not right


OPTIONS = (Option("equivariant", "Rows move along"), Option("invariant", "Nothing moves"), Option("neither", "None"))
SAMPLED: list[tuple[Kind, Any]] = [
    (Number(tolerance=rel(0.01)), 0.576),
    (Number("nats", tolerance=within(1e-3)), 7.818),
    (Number(tolerance=rel(0.01)), "nan"),
    (Number(tolerance=EXACT), Fraction(1, 3)),
    (Integer(), 67108864),
    (Integer("heads"), 32),
    (Quantity("bytes", tolerance=rel(0.01)), 131072),
    (Quantity("FLOP", tolerance=rel(0.01)), 549755813888),
    (Quantity("s", tolerance=rel(0.01)), 0.00766),
    (Quantity("tokens/s", tolerance=rel(0.01)), 130.5),
    (Vector(tolerance=within(5e-4)), [0.14, 0.576, 0.284]),
    (Vector(tolerance=rel(0.01), part_credit=True), [1, 2]),
    (Matrix(tolerance=within(5e-4)), [[0.09, -0.09], [-0.09, 0.1]]),
    (Matrix(tolerance=EXACT), [[1, 2, 3], [4, 5, 6]]),
    (Shape(), [2, 3, 5, 5]),
    (Shape(symbols=("B", "h", "T", "d_v")), ["B", "T", "h*d_v"]),
    (Set(), [1, 3, 4]),
    (Set(), ["K", "Q", "V"]),
    (Set(), []),
    (Choice(options=OPTIONS), "invariant"),
    (MultiChoice(options=OPTIONS), ["equivariant", "neither"]),
    (MultiChoice(options=OPTIONS), []),
    (Table(columns=("m", "l", "u"), tolerance=rel(0.01)), [[0, 1, 0], [1.414, 1.243, 1]]),
    (
        Parts(parts=(Part("H", Number("nats", tolerance=rel(0.01))), Part("keys", Number(tolerance=rel(0.01))))),
        [1.03, 2.8],
    ),
]


@pytest.mark.parametrize(("kind", "value"), SAMPLED, ids=[f"{kind.name}-{at}" for at, (kind, _) in enumerate(SAMPLED)])
def test_samples_are_graded_as_listed(kind: Kind, value: Any) -> None:
    samples_hold(kind, value)


@pytest.mark.parametrize(("kind", "value"), SAMPLED, ids=[f"{kind.name}-{at}" for at, (kind, _) in enumerate(SAMPLED)])
def test_kinds_say_what_to_type_and_can_be_shared(kind: Kind, value: Any) -> None:
    assert kind.answer_format()
    assert kind.precision()
    assert hash(kind) == hash(replace(kind))
    assert kind.agrees(value, value)


@pytest.mark.parametrize(
    ("rule", "unit", "words"),
    [
        (rel(0.01), "none", "3 significant digits (within 1 %)"),
        (within(5e-4), "none", "3 decimals (within 0.0005)"),
        (within(1e-3), "nats", "3 decimals (within 0.001 nats)"),
        (digits(3), "none", "3 significant digits, by rounding"),
        (EXACT, "none", "exact"),
    ],
)
def test_precision_in_words(rule: Any, unit: str, words: str) -> None:
    assert Number(unit, tolerance=rule).precision() == words


SHOWN = [
    (Quantity("bytes", tolerance=rel(0.01)), 131072, "128 KiB"),
    (Quantity("bytes", tolerance=rel(0.01)), 2**31, "2 GiB"),
    (Quantity("bytes", tolerance=rel(0.01)), 2621440, "2.5 MiB"),
    (Quantity("bytes", tolerance=EXACT), 131073, "131073 B"),
    (Quantity("FLOP", tolerance=rel(0.01)), 549755813888, "549.756 GFLOP"),
    (Quantity("s", tolerance=rel(0.01)), 0.00766, "7.66 ms"),
    (Quantity("tokens/s", tolerance=rel(0.01)), 130.5, "130.5 tokens/s"),
    (Number(tolerance=within(5e-4)), 0.5761168847658291, "0.5761169"),
    (Number(tolerance=EXACT), Fraction(1, 3), "1/3"),
    (Number(tolerance=EXACT), 0.1, "0.1"),
    (Number(tolerance=rel(0.01)), "nan", "NaN"),
    (Integer(), 2**60, "1152921504606846976"),
    (Vector(tolerance=within(5e-4)), [0.14, 0.576, 0.284], "(0.14, 0.576, 0.284)"),
    (Matrix(), [[1, 2], [3, 4]], "[[1, 2], [3, 4]]"),
    (Shape(), [7], "(7,)"),
    (Set(), [], "{}"),
]


@pytest.mark.parametrize(("kind", "value", "text"), SHOWN, ids=[text for _, _, text in SHOWN])
def test_shown(kind: Kind, value: Any, text: str) -> None:
    assert kind.show(value) == text
