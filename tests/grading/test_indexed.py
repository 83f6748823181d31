"""Kind indexed: all index tuples, all notations of deltas and sums, indices that do not fit."""

from __future__ import annotations

from typing import Any

import pytest

from grading.errors import BadKey, Unreadable
from grading.kinds.base import Comparison
from grading.kinds.indexed import Indexed
from tests.grading.laws import samples_hold

P: dict[str, Any] = {"arrays": {"p": "simplex"}}
PY: dict[str, Any] = {"arrays": {"p": "simplex", "y": "real vector"}}
S: dict[str, Any] = {"arrays": {"s": "real vector"}, "symbols": {"c": "real", "T": "integer >= 2"}}
QK: dict[str, Any] = {
    "arrays": {"q": "real matrix", "k": "real matrix"},
    "shapes": {"q": ["T", "d_k"], "k": ["T", "d_k"]},
    "symbols": {"d_k": "integer >= 1"},
}
W: dict[str, Any] = {"arrays": {"w": "real matrix"}}
UNIT: dict[str, Any] = {"arrays": {"u": "unit vector", "v": "real vector"}, "shapes": {"u": ["d"], "v": ["d"]}}


def compare(declared: dict[str, Any], key: str, answer: str) -> Comparison:
    kind = Indexed(**declared)
    return kind.compare(kind.parse(answer), key)


@pytest.mark.parametrize(
    ("declared", "key", "answer"),
    [
        (P, "p_i*(delta_ij - p_j)", "p_i delta_ij - p_i p_j"),
        (P, "p_i*(delta_ij - p_j)", r"p_{i}\left(\delta_{ij}-p_{j}\right)"),
        (P, "p_i*(delta_ij - p_j)", "p_j (1[i=j] - p_i)"),
        (P, "p_i*(delta_ij - p_j)", r"\mathbb{1}[i=j] p_j - p_j p_i"),
        (P, "p_i*(delta_ij - p_j)", "δ_ij p_i − p_i p_j"),
        (P, "p_i*(delta_ij - p_j)", "p_i (delta_ji sum_r p_r - p_j)"),
        (P, "p_i*(delta_ij - p_j)", r"\operatorname{diag}(p)_{ij} - p_i p_j"),
        (P, "p_i*(delta_ij - p_j)", "p_i (1 - 1[i!=j]) - p_i p_j"),
        (P, "p_i*(delta_ij - p_j)", "p_i (delta_ij (1 - p_i) - (1 - delta_ij) p_j)"),
        (P, "p_i*(delta_ij - p_j)", "p[i]*((i==j) - p[j])"),
        (P, "p_i*(delta_ij - p_j)", "p_i (delta(i,j) - p_j)"),
        (P, "p_i*(delta_ij - p_j)", "(diag(p) - p p^T)_ij"),
        (P, "p_i*(delta_ij - p_j)", "np.diag(p)[i,j] - p[i]*p[j]"),
        (P, "delta_ij - p_j", "delta_ij sum_k p_k - p_j"),
        (PY, "p_j (y_j - sum_r p_r y_r)", "sum_r p_r (delta_rj - p_j) y_r"),
        (PY, "p_j (y_j - sum_r p_r y_r)", r"p_j\sum_r p_r(y_j-y_r)"),
        (PY, "p_j (y_j - sum_r p_r y_r)", r"p_j\left(y_j-\sum_{i} p_i y_i\right)"),
        (PY, "p_j (y_j - sum_r p_r y_r)", r"\sum_{r \ne j} p_r p_j (y_j - y_r)"),
        (PY, "p_j (y_j - sum_r p_r y_r)", "p_j (y_j - p^T y)"),
        (PY, "p_j (y_j - sum_r p_r y_r)", "p_j (y_j - p · y)"),
        (PY, "p_j (y_j - sum_r p_r y_r)", "p_j y_j (1 - p_j) - p_j sum_{r != j} p_r y_r"),
        (S, "exp(s_j)/sum_r exp(s_r)", "softmax(s)_j"),
        (S, "exp(s_j)/sum_r exp(s_r)", "exp(s_j - c)/sum_r exp(s_r - c)"),
        (S, "exp(s_j)/sum_r exp(s_r)", r"e^{s_j}\left(\sum_{r=1}^{T} e^{s_r}\right)^{-1}"),
        (S, "exp(s_j)/sum_r exp(s_r)", "1/(1 + sum_{r != j} exp(s_r - s_j))"),
        (S, "sum_r s_r/T", "1/T sum_{r=1}^{T} s_r"),
        (S, "sum_r s_r", "sum_k s_k"),
        (S, "sum_r s_r + 0 s_j", "sum_{r<=j} s_r + sum_{r>j} s_r"),
        (QK, "sum_c q_ic k_jc/sqrt(d_k)", r"\frac{1}{\sqrt{d_k}}\sum_c q_{ic}k_{jc}"),
        (QK, "sum_c q_ic k_jc/sqrt(d_k)", "sum_a (q_ia d_k^(-1/4)) (k_ja d_k^(-1/4))"),
        (W, "sum_r w_ir w_rj", "sum_k w_ik w_kj"),
        (W, "exp(w_ij)/sum_r exp(w_ir)", "softmax(w)_ij"),
        (UNIT, "v_i - u_i sum_r u_r v_r", "v_i sum_r u_r^2 - u_i sum_r u_r v_r"),
    ],
)
def test_right(declared: dict[str, Any], key: str, answer: str) -> None:
    outcome = compare(declared, key, answer)
    assert outcome.right is True, outcome.detail
    assert outcome.method in ("proved", "sampled")


@pytest.mark.parametrize(
    ("declared", "key", "answer"),
    [
        (P, "p_i*(delta_ij - p_j)", "p_i (1 - p_j)"),
        (P, "p_i*(delta_ij - p_j)", "p_i (delta_ij - p_i)"),
        (P, "p_i*(delta_ij - p_j)", "-p_i p_j"),
        (P, "p_i*(delta_ij - p_j)", "delta_ij p_i (1 - p_i)"),
        (P, "delta_ij - p_j", "delta_ij - p_i"),
        (P, "delta_ij - p_j", "p_j - delta_ij"),
        (PY, "p_j (y_j - sum_r p_r y_r)", "p_j (y_j - sum_r y_r)"),
        (PY, "p_j (y_j - sum_r p_r y_r)", "p_j (1-p_j) y_j"),
        (PY, "p_j (y_j - sum_r p_r y_r)", "p_j y_j - sum_r p_r y_r"),
        (PY, "p_j (y_j - sum_r p_r y_r)", "p_j (y_j - sum_r p_r y_r) + 0.0000000000001"),
        (S, "exp(s_j)/sum_r exp(s_r)", "exp(s_j)/(sum_r exp(s_r) - exp(s_j))"),
        (S, "exp(s_j)/sum_r exp(s_r)", "exp(s_j)/T"),
        (QK, "sum_c q_ic k_jc/sqrt(d_k)", "sum_c q_jc k_ic/sqrt(d_k)"),
        (QK, "sum_c q_ic k_jc/sqrt(d_k)", "sum_c q_ic k_jc/d_k"),
        (W, "sum_r w_ir w_rj", "sum_r w_ir w_jr"),
        (W, "exp(w_ij)/sum_r exp(w_ir)", "exp(w_ij)/sum_r exp(w_rj)"),
        (UNIT, "v_i - u_i sum_r u_r v_r", "v_i - u_i sum_r v_r"),
    ],
)
def test_wrong_with_a_witness(declared: dict[str, Any], key: str, answer: str) -> None:
    outcome = compare(declared, key, answer)
    assert (outcome.right, outcome.method) == (False, "refuted")
    assert outcome.witness is not None
    assert outcome.witness["key"] != outcome.witness["answer"]


@pytest.mark.parametrize(
    ("declared", "key", "answer", "words"),
    [
        (P, "p_i", "p_k", "k is not an index of what is asked"),
        (QK, "sum_c q_ic k_jc", "sum_c q_ic k_ci", "runs over"),
        (PY, "p_j y_j", "p y", "cannot multiply"),
    ],
)
def test_indices_that_do_not_fit_are_wrong_with_the_reason(
    declared: dict[str, Any], key: str, answer: str, words: str
) -> None:
    outcome = compare(declared, key, answer)
    assert outcome.right is False
    assert words in outcome.detail


@pytest.mark.parametrize(
    ("key", "answer", "finding"),
    [
        ("p_i*(delta_ij - p_j)", "-p_i*(delta_ij - p_j)", "sign"),
        ("delta_ij - p_j", "delta_ij - p_i", "indices_swapped"),
        ("p_i*(delta_ij - p_j)", "delta_ij p_i (1 - p_i)", "diagonal_only"),
        ("p_i*(delta_ij - p_j)", "-p_i p_j", "off_diagonal_only"),
        ("p_i p_j", "2 p_i p_j", "factor_2"),
    ],
)
def test_findings(key: str, answer: str, finding: str) -> None:
    kind = Indexed(**P)
    assert [found.id for found in kind.findings(kind.parse(answer), key)] == [finding]


@pytest.mark.parametrize("answer", ["p_i*(delta_ij -", "q_i", "", "p_i or p_j", "p_i/0", "p_i 9^9^9^9", "one minus p"])
def test_unreadable(answer: str) -> None:
    with pytest.raises(Unreadable):
        Indexed(**P).parse(answer)


@pytest.mark.parametrize(
    "declared",
    [
        {"arrays": {}},
        {"arrays": {"p": "vector of dreams"}},
        {"arrays": {"p": "simplex"}, "symbols": {"p": "real"}},
        {"arrays": {"p": "simplex"}, "shapes": {"p": [0]}},
        {"arrays": {"p": "simplex"}, "shapes": {"p": "T"}},
    ],
)
def test_declarations_that_cannot_be_used(declared: dict[str, Any]) -> None:
    with pytest.raises(BadKey):
        compare(declared, "p_i", "p_i")


def test_a_bad_key_is_the_authors_fault() -> None:
    with pytest.raises(BadKey):
        compare(P, "p_i +", "p_i")
    with pytest.raises(BadKey):
        compare(QK, "sum_c q_ic k_ci", "q_ij")


def test_kind_is_a_value() -> None:
    kind = Indexed(**QK)
    assert hash(kind) == hash(Indexed(**QK))
    assert kind.declared()["shapes"] == {"q": ["T", "d_k"], "k": ["T", "d_k"]}
    assert kind.declared()["arrays"] == {"q": "real matrix", "k": "real matrix"}
    assert kind.agrees("sum_c q_ic k_jc", "sum_a k_ja q_ia")


@pytest.mark.parametrize(
    ("declared", "key"),
    [(P, "p_i*(delta_ij - p_j)"), (PY, "p_j (y_j - sum_r p_r y_r)"), (QK, "sum_c q_ic k_jc/sqrt(d_k)")],
)
def test_samples_hold(declared: dict[str, Any], key: str) -> None:
    samples_hold(Indexed(**declared), key, wrong=4)
