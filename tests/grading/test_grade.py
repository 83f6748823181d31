"""Grading one answer: slips by name, findings without the answer, follow-through, status apart from score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from grading.grade import SlipKey, grade
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
from grading.tolerance import rel, within

BYTES = Quantity("bytes", tolerance=rel(0.01))
SLIPS = (
    SlipKey("one_of_k_v", 65536, "Keys and values are both kept."),
    SlipKey("width", 65536, "Two bytes a number."),
    SlipKey("query_heads", 524288, "The cache follows the KV heads."),
)


def test_right_answer() -> None:
    verdict = grade(BYTES, "131072 B", 131072, SLIPS)
    assert verdict.to_json() == {
        "schema": "drillgen.verdict/1", "kind": "quantity", "status": "graded", "verdict": "right", "score": 1.0,
        "method": "tolerance", "reading": "131072 B",
    }  # fmt: skip


def test_one_slip_is_named() -> None:
    verdict = grade(BYTES, "512 KiB", 131072, SLIPS)
    assert verdict.slips == ("query_heads",)
    assert verdict.remarks == ("The cache follows the KV heads.",)
    assert verdict.score == 0.0


def test_slips_that_coincide_are_both_named() -> None:
    verdict = grade(BYTES, "64 KiB", 131072, SLIPS)
    assert verdict.slips == ("one_of_k_v", "width")
    assert verdict.remarks == ("either: Keys and values are both kept. — or: Two bytes a number.",)
    assert not verdict.findings


def test_unreadable_is_invalid_and_shows_the_place() -> None:
    verdict = grade(BYTES, "(128 KiB", 131072)
    assert (verdict.status, verdict.verdict, verdict.score) == ("invalid", None, None)
    assert verdict.detail.splitlines()[1:] == ["(128 KiB", "^"]


def test_a_fault_of_the_grader_is_not_a_zero() -> None:
    class Broken(Number):
        def compare(self, given: Any, value: Any) -> Any:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        grade(Broken(), "1", 1)


FINDINGS = [
    (Number(tolerance=rel(0.01)), 0.576, "1.152", "factor_2"),
    (Number(tolerance=rel(0.01)), 0.576, "0.288", "factor_2"),
    (Number(tolerance=rel(0.01)), 0.576, "5.76", "factor_1e1"),
    (Number(tolerance=rel(0.01)), 0.576, "57.6", "percent"),
    (Number(tolerance=rel(0.01)), 0.576, "-0.576", "sign"),
    (Number(tolerance=rel(0.01)), 0.25, "4", "reciprocal"),
    (Number(tolerance=rel(0.01)), 7.0, "49", "square"),
    (Number(tolerance=rel(0.01)), 7.0, "sqrt(7)", "root"),
    (Number(tolerance=within(5e-4)), 0.576, "0.58", "rounded"),
    (Integer(), 67108864, "67.1M", "rounded"),
    (Integer(), 30, "31", "off_by_one"),
    (Quantity("KiB", tolerance=rel(0.01)), 512, "512 KB", "binary_prefix"),
    (Quantity("KiB", tolerance=rel(0.01)), 512, "512 MiB", "binary_factor"),
    (Quantity("bytes", tolerance=rel(0.01)), 512, "512 ms", "wrong_unit"),
    (Vector(tolerance=rel(0.01)), [1, 2, 3], "(3, 1, 2)", "permuted"),
    (Vector(tolerance=rel(0.01)), [1, 2, 3], "(2, 4, 6)", "factor_2"),
    (Vector(tolerance=rel(0.01)), [1, 2, 3], "(-1, -2, -3)", "sign"),
    (Matrix(), [[1, 2], [3, 4]], "[[1, 3], [2, 4]]", "transposed"),
]


@pytest.mark.parametrize(("kind", "key", "typed", "finding"), FINDINGS, ids=[f"{t}-{f}" for _, _, t, f in FINDINGS])
def test_findings(kind: Any, key: Any, typed: str, finding: str) -> None:
    verdict = grade(kind, typed, key)
    assert verdict.verdict == "wrong"
    assert [f.id for f in verdict.findings] == [finding]
    shown = kind.show(key)
    if len(shown) > 2:
        assert shown not in " ".join((*[f.text for f in verdict.findings], verdict.detail))


DETAILS = [
    (Vector(tolerance=rel(0.01)), [1, 2, 3], "(1, 2)", "3 entries are expected, 2 given"),
    (Vector(tolerance=rel(0.01)), [1, 2, 3], "7", "a vector of 3 entries is expected, one number given"),
    (Vector(tolerance=rel(0.01)), [1, 2, 3], "(1, 5, 6)", "entries 2 and 3 differ"),
    (Vector(tolerance=rel(0.01)), [1, 2, 3], "1 2; 3 4", "a vector is expected, a 2 × 2 matrix given"),
    (Matrix(), [[1, 2, 3], [4, 5, 6]], "1 2; 3 4", "a 2 × 3 matrix is expected, 2 × 2 given"),
    (Matrix(), [[1, 2], [3, 4]], "[[1, 2], [3, 5]]", "entry (2, 2) differs"),
    (Matrix(), [[1, 2, 3], [4, 5, 6]], "1 4; 2 5; 3 6", "this is the transposed matrix"),
    (Shape(), [2, 3, 5], "(3, 2, 5)", "the right sizes in another order"),
    (Shape(), [2, 3, 5], "(2, 3)", "3 axes are expected, 2 given"),
    (Set(), [1, 3], "{1, 2}", "2 does not belong; 1 member is missing"),
    (Integer(), 30, "30.5", "a whole number is wanted"),
    (Number(tolerance=rel(0.01)), 1, "inf", "the answer is infinite"),
    (Number(tolerance=rel(0.01)), "nan", "0", "no finite number is right here"),
]


@pytest.mark.parametrize(("kind", "key", "typed", "said"), DETAILS, ids=[f"{k.name}-{t}" for k, _, t, _ in DETAILS])
def test_details_in_words(kind: Any, key: Any, typed: str, said: str) -> None:
    verdict = grade(kind, typed, key)
    assert verdict.verdict == "wrong"
    assert said in verdict.detail


def test_part_credit_is_the_share_of_right_entries() -> None:
    key = [[1, 2], [3, 4]]
    assert grade(Matrix(part_credit=True), "[[1, 2], [3, 5]]", key).score == 0.75
    assert grade(Matrix(), "[[1, 2], [3, 5]]", key).score == 0.0


ENTROPY = Parts(
    parts=(Part("H", Number("nats", tolerance=rel(0.01))), Part("keys", Number(tolerance=rel(0.01)))),
    follow=lambda at, earlier: math.exp(earlier[0]) if at == 1 else None,
)


def test_a_part_follows_from_the_learners_own() -> None:
    verdict = grade(ENTROPY, "2; 7.39", [1.03, 2.8])
    assert verdict.verdict == "wrong"
    assert verdict.score == 0.5
    assert verdict.parts[1]["verdict"] == "right"
    assert verdict.parts[1]["follows_own"] is True
    assert "consistent with your part H" in verdict.detail


def test_nothing_follows_where_the_carried_value_leaves_the_domain() -> None:
    def root(at: int, earlier: Sequence[Any]) -> float:
        return math.sqrt(earlier[0])

    kind = Parts(parts=ENTROPY.parts, follow=root)
    assert grade(kind, "-4; 2", [1.03, 2.8]).parts[1]["verdict"] == "wrong"


@pytest.mark.parametrize(
    "typed",
    [
        "1.03; 2.8",
        "H = 1.03; keys = 2.8",
        "keys = 2.8; H = 1.03",
        "1.03\n2.8",
        "(1.03, 2.8)",
        "1.49 bits; 2.8",
        "1.03, 2.8",
    ],
)
def test_parts_are_read_in_order_or_by_name(typed: str) -> None:
    assert grade(ENTROPY, typed, [1.03, 2.8]).verdict == "right"


def test_a_missing_part_is_invalid_for_itself_alone() -> None:
    verdict = grade(ENTROPY, "1.03", [1.03, 2.8])
    assert verdict.status == "graded"
    assert verdict.score == 0.5
    assert verdict.parts[0]["verdict"] == "right"
    assert verdict.parts[1]["status"] == "invalid"
    assert grade(ENTROPY, ";", [1.03, 2.8]).status == "invalid"


def test_slips_of_parts_explain_the_wrong_ones() -> None:
    slips = (SlipKey("bits", [1.486, 4.42], "Base-2 logarithms."), SlipKey("other", [9, 9], ""))
    assert grade(ENTROPY, "1.486; 4.42", [1.03, 2.8], slips).slips == ("bits",)
    assert grade(ENTROPY, "1.486; 2.8", [1.03, 2.8], slips).slips == ("bits",)
    assert grade(ENTROPY, "1.486; 5", [1.03, 2.8], slips).slips == ()


TRACE = Table(
    columns=("m", "l", "u"),
    tolerance=rel(0.01),
    follow=lambda at, row: (row[0] + 1, row[1] * 2, row[2]),
)


def test_a_row_follows_from_the_row_before() -> None:
    key = [[0, 1, 5], [1, 2, 5], [2, 4, 5]]
    assert grade(TRACE, "0,1,5; 1,2,5; 2,4,5", key).verdict == "right"
    verdict = grade(TRACE, "0 1 5\n1 3 5\n2 6 5", key)
    assert verdict.verdict == "wrong"
    assert [part.get("follows_own", False) for part in verdict.parts] == [False, False, True]
    assert verdict.score == pytest.approx(2 / 3)
    assert "cell (2, l) differs" in verdict.detail


def test_a_heading_line_of_a_table_is_skipped() -> None:
    key = [[0, 1, 5], [1, 2, 5]]
    assert grade(TRACE, "m, l, u\n0, 1, 5\n1, 2, 5", key).verdict == "right"


OPTIONS = (Option("equivariant", "moves along"), Option("invariant", "stays"), Option("neither", "none of these"))


@pytest.mark.parametrize("typed", ["invariant", "B", "b)", "(2)", "2.", "INVARIANT", " invariant. ", "stays"])
def test_a_choice_by_key_letter_number_or_text(typed: str) -> None:
    assert grade(Choice(options=OPTIONS), typed, "invariant").verdict == "right"


@pytest.mark.parametrize(
    ("typed", "outcome"), [("A", "wrong"), ("D", "wrong"), ("A or B", None), ("A, B", None), ("", None), ("7", "wrong")]
)
def test_other_choices(typed: str, outcome: str | None) -> None:
    assert grade(Choice(options=OPTIONS), typed, "invariant").verdict == outcome


@pytest.mark.parametrize(
    "typed", ["A, C", "AC", "ca", "1 3", "neither and equivariant", "{equivariant, neither}", "A;C"]
)
def test_several_options(typed: str) -> None:
    assert grade(MultiChoice(options=OPTIONS), typed, ["equivariant", "neither"]).verdict == "right"


def test_missing_and_surplus_options_are_said_apart() -> None:
    verdict = grade(MultiChoice(options=OPTIONS), "A, B", ["equivariant", "neither"])
    assert verdict.detail == "1 chosen wrongly; 1 missing"


def test_answers_are_echoed_without_control_characters() -> None:
    verdict = grade(Choice(), "\x1b[31mB\u202e", "B")
    assert all(char.isprintable() for char in verdict.reading + verdict.detail)
