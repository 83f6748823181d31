"""Kind matrix_expression: products that do not commute, shapes in words, numpy's notation, known matrices."""

from __future__ import annotations

from typing import Any

import pytest

from grading.errors import BadKey, Unreadable
from grading.kinds.base import Comparison
from grading.kinds.matrix_expression import MatrixExpression
from tests.grading.laws import samples_hold

BACK: dict[str, Any] = {"shapes": {"P": ["T", "T"], "dO": ["T", "d_v"], "V": ["T", "d_v"], "dP": ["T", "T"]}}
ATT: dict[str, Any] = {
    "shapes": {"Q": ["T", "d_k"], "K": ["T", "d_k"], "V": ["T", "d_v"]},
    "symbols": {"d_k": "integer >= 1"},
}
VEC: dict[str, Any] = {"shapes": {"p": ["T", 1], "y": ["T", 1], "ones": ["T", 1]}}
WEI: dict[str, Any] = {"shapes": {"W_Q": ["d", "d_k"], "W_K": ["d", "d_k"], "A": ["d_k", "d_k"]}}
PERM: dict[str, Any] = {"shapes": {"Pi": ["T", "T"], "S": ["T", "T"]}, "known": {"Pi": "permutation"}}
OUT: dict[str, Any] = {
    "shapes": {"P": ["T", "T"], "V": ["T", "d_v"], "dO": ["T", "d_v"], "O": ["T", "d_v"], "dP": ["T", "T"]},
    "known": {"O": "P V", "dP": "dO V^T"},
}


def compare(declared: dict[str, Any], key: str, answer: str) -> Comparison:
    kind = MatrixExpression(**declared)
    return kind.compare(kind.parse(answer), key)


@pytest.mark.parametrize(
    ("declared", "key", "answer"),
    [
        (BACK, "P^T dO", "P.T @ dO"),
        (BACK, "P^T dO", r"P^\top\,dO"),
        (BACK, "P^T dO", "(dO^T P)^T"),
        (BACK, "P^T dO", "transpose(P) @ dO"),
        (BACK, "P^T dO", "Pᵀ dO"),
        (BACK, "P^T dO", "P^T*dO"),
        (BACK, "P^T dO", "I P^T dO"),
        (BACK, "P o (dP - rowsum(P o dP))", "P * (dP - (P * dP).sum(axis=1, keepdims=True))"),
        (BACK, "P o (dP - rowsum(P o dP))", "P ∘ dP − diag(rowsum(P ∘ dP)) P"),
        (BACK, "P o (dP - rowsum(P o dP))", r"P\odot dP-\operatorname{rowsum}(P\odot dP)\odot P"),
        (BACK, "rowsum(P o (dO V^T))", "rowsum(dO o (P V))"),
        (ATT, "softmax(Q K^T/sqrt(d_k)) V", r"\operatorname{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)V"),
        (ATT, "softmax(Q K^T/sqrt(d_k)) V", "softmax((Q d_k^(-1/4)) (K/d_k^(1/4))^T) V"),
        (ATT, "softmax(Q K^T/sqrt(d_k)) V", "(exp(Q K^T/sqrt(d_k))/rowsum(exp(Q K^T/sqrt(d_k)))) V"),
        (ATT, "Q K^T/sqrt(d_k)", "(K Q^T)^T d_k^-0.5"),
        (VEC, "p o (y - ones (p^T y))", "p o y - p p^T y"),
        (VEC, "p o (y - ones (p^T y))", "(diag(p) - p p^T) y"),
        (VEC, "p o (y - ones (p^T y))", "diag(p) (y - (p^T y) ones)"),
        (VEC, "p o (y - ones (p^T y))", "p o (y - y^T p)"),
        (VEC, "p o (y - ones (p^T y))", "p * (y - p.T @ y)"),
        (VEC, "diag(p) - p p^T", "diag(p) - outer(p, p)"),
        (VEC, "diag(p) - p p^T", "diag(p) (I - ones p^T)"),
        (WEI, "W_Q W_K^T", "(W_Q A)(W_K A^{-T})^T"),
        (WEI, "W_Q W_K^T", "W_Q @ np.linalg.inv(A) @ A @ W_K.T"),
        (PERM, "Pi S Pi^T", "Pi S Pi^{-1}"),
        (OUT, "P o (dP - rowsum(P o dP))", "P o (dP - rowsum(dO o O))"),
        (OUT, "P o (dP - rowsum(P o dP))", "P o (dO V^T - rowsum(dO o (P V)))"),
        (BACK, "dO^T P", "(P^T dO)^T"),
    ],
)
def test_right(declared: dict[str, Any], key: str, answer: str) -> None:
    outcome = compare(declared, key, answer)
    assert outcome.right is True, outcome.detail
    assert outcome.method in ("proved", "sampled")


@pytest.mark.parametrize(
    ("declared", "key", "answer"),
    [
        (BACK, "P^T dO", "P dO"),
        (BACK, "P^T dO", "-P^T dO"),
        (BACK, "P^T dO", "P^T P dO"),
        (BACK, "P o (dP - rowsum(P o dP))", "P (dP - rowsum(P o dP))"),
        (BACK, "P o (dP - rowsum(P o dP))", "P o (dP - colsum(P o dP))"),
        (BACK, "P o (dP - rowsum(P o dP))", "P * (dP - (P * dP).sum(axis=0, keepdims=True))"),
        (ATT, "Q K^T/sqrt(d_k)", "Q K^T/d_k"),
        (ATT, "softmax(Q K^T/sqrt(d_k)) V", "softmax(K Q^T/sqrt(d_k)) V"),
        (ATT, "softmax(Q K^T/sqrt(d_k)) V", "softmax(Q K^T/sqrt(d_k))^T V"),
        (VEC, "p o (y - ones (p^T y))", "p o y"),
        (VEC, "p o (y - ones (p^T y))", "p o (ones - p) o y"),
        (WEI, "W_Q W_K^T", "(W_Q A)(W_K A^{-1})^T"),
        (WEI, "W_Q W_K^T", "W_Q A W_K^T"),
        (PERM, "Pi S Pi^T", "Pi^T S Pi"),
        (PERM, "Pi S Pi^T", "Pi S Pi"),
        (BACK, "P^T dO", "P^T dO + 0.0000000000001 dO"),
    ],
)
def test_wrong_with_the_entry_that_differs(declared: dict[str, Any], key: str, answer: str) -> None:
    outcome = compare(declared, key, answer)
    assert (outcome.right, outcome.method) == (False, "refuted")
    assert outcome.witness is not None
    assert outcome.witness["key"] != outcome.witness["answer"]
    assert "entry" in outcome.detail


@pytest.mark.parametrize(
    ("declared", "key", "answer", "words"),
    [
        (BACK, "P^T dO", "dO P", "dO is T×d_v, P is T×T: cannot multiply"),
        (BACK, "P^T dO", "P.T @ dO.T", "cannot multiply"),
        (BACK, "P^T dO", "P + dO", "P is T×T, dO is T×d_v: cannot add"),
        (BACK, "P^T dO", "dO^T P", "the answer is d_v×T, what is asked is T×d_v"),
        (BACK, "P^T dO", "P o dO", "cannot multiply entry by entry"),
        (BACK, "P^T dO", "dO^2", "only a square matrix has powers"),
        (BACK, "P^T dO", "dO^{-1} P", "only a square matrix"),
        (BACK, "P^T dO", "7", "the answer is a scalar"),
        (VEC, "diag(p) - p p^T", "diag(p) - p^T p", "diag(p) is T×T, p^T p is 1×1: cannot subtract"),
        (VEC, "diag(p) - p p^T", "p o (ones - p)", "the answer is T×1, what is asked is T×T"),
        (VEC, "diag(p) - p p^T", "diag(p) - p p", "p is T×1, p is T×1: cannot multiply"),
        (ATT, "softmax(Q K^T/sqrt(d_k)) V", "softmax(Q^T K/sqrt(d_k)) V", "is d_k×d_k, V is T×d_v: cannot multiply"),
    ],
)
def test_shapes_are_explained(declared: dict[str, Any], key: str, answer: str, words: str) -> None:
    outcome = compare(declared, key, answer)
    assert (outcome.right, outcome.method) == (False, "refuted")
    assert words in outcome.detail


@pytest.mark.parametrize(
    ("declared", "key", "answer", "finding"),
    [
        (BACK, "P^T dO", "-P^T dO", "sign"),
        (BACK, "P^T dO", "dO^T P", "transposed"),
        (BACK, "P^T dO", "2 P^T dO", "factor_2"),
        (BACK, "P^T dO", "5 P^T dO", "constant_factor"),
        (ATT, "Q K^T/sqrt(d_k)", "Q K^T/d_k", "scalar_factor"),
        (WEI, "W_Q W_K^T", "W_K W_Q^T", "transposed"),
    ],
)
def test_findings(declared: dict[str, Any], key: str, answer: str, finding: str) -> None:
    kind = MatrixExpression(**declared)
    assert [found.id for found in kind.findings(kind.parse(answer), key)] == [finding]


@pytest.mark.parametrize("answer", ["P^T dO)", "P^T dX", "", "P.T @", "P^T dO or dO P", "P/0", "9^9^9^9 P", "ln(-1) P"])
def test_unreadable(answer: str) -> None:
    with pytest.raises(Unreadable):
        MatrixExpression(**BACK).parse(answer)


@pytest.mark.parametrize(
    ("declared", "key"),
    [
        ({"shapes": {}}, "P"),
        (BACK, "dO P"),
        (BACK, "P +"),
        (BACK, "X"),
        ({"shapes": {"P": ["T", "T"]}, "symbols": {"P": "real"}}, "P"),
        ({"shapes": {"P": ["T", "T", "T"]}}, "P"),
        ({"shapes": {"P": ["T", -1]}}, "P"),
        ({"shapes": {"P": ["T", "T"]}, "known": {"Q": "P P"}}, "P"),
        ({"shapes": {"P": ["T", "d"]}, "known": {"P": "permutation"}}, "P"),
    ],
)
def test_what_cannot_be_used_is_the_authors_fault(declared: dict[str, Any], key: str) -> None:
    with pytest.raises(BadKey):
        compare(declared, key, "P P")


def test_a_dimension_that_is_also_a_symbol_has_one_value() -> None:
    assert compare(ATT, "rowsum(Q o K)", "rowsum(Q o K) d_k/d_k").right
    declared = {"shapes": {"Q": ["T", "d_k"], "o_k": ["d_k", 1]}, "symbols": {"d_k": "integer >= 1"}}
    assert compare({**declared, "shapes": {**declared["shapes"], "ones": ["d_k", 1]}}, "ones^T ones", "d_k").right


def test_kind_is_a_value() -> None:
    kind = MatrixExpression(**ATT)
    assert hash(kind) == hash(MatrixExpression(**ATT))
    assert kind.declared() == {
        "symbols": {"d_k": "integer >= 1"},
        "shapes": {"Q": ["T", "d_k"], "K": ["T", "d_k"], "V": ["T", "d_v"]},
    }
    assert kind.agrees("Q K^T", "(K Q^T)^T")
    assert not kind.agrees("Q K^T", "K Q^T")


@pytest.mark.parametrize(
    ("declared", "key"), [(BACK, "P^T dO"), (ATT, "softmax(Q K^T/sqrt(d_k)) V"), (VEC, "p o (y - ones (p^T y))")]
)
def test_samples_hold(declared: dict[str, Any], key: str) -> None:
    samples_hold(MatrixExpression(**declared), key, wrong=4)


@pytest.mark.parametrize(
    ("declared", "key", "answer"),
    [
        (BACK, "P^T dO", "(dO^T P)^T"),
        (BACK, "P o (dP - rowsum(P o dP))", "P o dP - diag(rowsum(dP o P)) P"),
        (BACK, "(P + dP)^2", "P^2 + P dP + dP P + dP^2"),
        (BACK, "(P dP)^{-1}", "dP^{-1} P^{-1}"),
        (BACK, "trace(P dP)", "trace(dP^T P^T)"),
        (BACK, "colsum(P)", "rowsum(P^T)^T"),
        (BACK, "rowsum(P)", "np.sum(P, axis=1, keepdims=True)"),
        (ATT, "Q K^T/sqrt(d_k)", "(Q d_k^(-1/4)) (K d_k^(-1/4))^T"),
        (ATT, "softmax(Q K^T/sqrt(d_k)) V", "softmax((K Q^T)^T d_k^-0.5) V"),
        (VEC, "p o (y - ones (p^T y))", "(diag(p) - p p^T) y"),
        (VEC, "diag(p) - p p^T", "(I - p ones^T) diag(p)"),
        (VEC, "p^T y", "(y * p).sum()"),
        (VEC, "ones^T ones", "T"),
        (WEI, "W_Q W_K^T", "(W_Q A)(W_K A^{-T})^T"),
    ],
)
def test_linear_algebra_is_proved(declared: dict[str, Any], key: str, answer: str) -> None:
    outcome = compare(declared, key, answer)
    assert (outcome.right, outcome.method) == (True, "proved"), outcome.detail


@pytest.mark.parametrize(
    "text", [r"P^{\mathsf T} dO", r"P^\intercal dO", "P.T.dot(dO)", "np.dot(P.T, dO)", "P.mT @ dO"]
)
def test_notations_of_a_product(text: str) -> None:
    assert compare(BACK, "P^T dO", text).right
