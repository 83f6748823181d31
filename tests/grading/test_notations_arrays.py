"""Formulas with indices and with matrices in many notations: each must be read as the key."""

from __future__ import annotations

from typing import Any

import pytest

from grading.match import match

ARRAYS: dict[str, Any] = {
    "arrays": {"p": "simplex", "a": "real vector", "s": "real vector", "v": "real matrix"},
    "shapes": {"p": ["T"], "a": ["T"], "s": ["T"], "v": ["T", "d_v"]},
    "symbols": {"tau": "0 < tau < 10", "T": "integer >= 2"},
}
ARRAYS_SAME = [
    ("p_i*(delta_ij - p_j)", "p_i (δ_{ij} − p_j)"),
    ("p_i*(delta_ij - p_j)", "p_i(\\delta_{i,j}-p_j)"),
    ("p_i*(delta_ij - p_j)", "p_i (1_{i=j} - p_j)"),
    ("p_i*(delta_ij - p_j)", "p_i([i=j]-p_j)"),
    ("p_i*(delta_ij - p_j)", "p_i(1[i==j] - p_j)"),
    ("p_i*(delta_ij - p_j)", "p_i*(1(i=j)-p_j)"),
    ("p_i*(delta_ij - p_j)", "p_i \\left( \\mathbf{1}_{\\{i=j\\}} - p_j \\right)"),
    ("p_i*(delta_ij - p_j)", "p_i(\\mathbb{1}\\{i=j\\} - p_j)"),
    ("p_i*(delta_ij - p_j)", "p_i*(δ_ij-p_j)"),
    ("p_i*(delta_ij - p_j)", "p[i]*(delta[i,j]-p[j])"),
    ("p_i*(delta_ij - p_j)", "p_i (I_{ij}-p_j)"),
    ("p_i*(delta_ij - p_j)", "p_i\\delta_{ij}-p_ip_j"),
    ("p_i*(delta_ij - p_j)", "diag(p)_ij - p_i p_j"),
    ("p_i*(delta_ij - p_j)", "∂p_i/∂s_j = p_i(δ_ij − p_j)"),
    ("p_i*(delta_ij - p_j)", "dp_i/ds_j = p_i(δ_ij − p_j)"),
    ("p_i*(delta_ij - p_j)", "pᵢ(δᵢⱼ − pⱼ)"),
    ("p_i*(delta_ij - p_j)", "p_{i}(\\delta_{ij}-p_{j})"),
    ("p_i*(delta_ij - p_j)", "p_i(𝟙[i=j]-p_j)"),
    ("p_i*(delta_ij - p_j)", "(diag(p) - p p^T)_{ij}"),
    ("p_i*(delta_ij - p_j)", "p_i*(delta(i,j) - p_j)"),
    ("sum_r p_r*a_r", "\\sum_r p_r a_r"),
    ("sum_r p_r*a_r", "Σ_r p_r a_r"),
    ("sum_r p_r*a_r", "\\sum_{r=1}^{T} p_r a_r"),
    ("sum_r p_r*a_r", "\\sum_{r=1}^T p_r a_r"),
    ("sum_r p_r*a_r", "sum_{r} p_r a_r"),
    ("sum_r p_r*a_r", "∑_r p_r a_r"),
    ("sum_r p_r*a_r", "\\sum\\limits_{r} p_r a_r"),
    ("sum_r p_r*a_r", "sum_k p_k a_k"),
    ("sum_r p_r*a_r", "\\sum_{j}p_ja_j"),
    ("sum_r p_r*a_r", "p^T a"),
    ("sum_r p_r*a_r", "p · a"),
    ("sum_r p_r*a_r", "p^\\top a"),
    ("sum_r p_r*a_r", "sum_r(p_r a_r)"),
    ("exp(s_j)/sum_r exp(s_r)", "softmax(s)_j"),
    ("exp(s_j)/sum_r exp(s_r)", "softmax(s)[j]"),
    ("exp(s_j)/sum_r exp(s_r)", "e^{s_j}/\\sum_k e^{s_k}"),
    ("exp(s_j)/sum_r exp(s_r)", "\\frac{\\exp(s_j)}{\\sum_{k}\\exp(s_k)}"),
    ("exp(s_j)/sum_r exp(s_r)", "\\operatorname{softmax}(s)_j"),
    ("exp(s_j)/sum_r exp(s_r)", "\\mathrm{softmax}(\\mathbf{s})_j"),
    ("exp(s_j)/sum_r exp(s_r)", "exp(s_j)/(sum_r exp(s_r))"),
    ("exp(s_j)/sum_r exp(s_r)", "1/(1 + sum_{r != j} exp(s_r - s_j))"),
    ("exp(s_j)/sum_r exp(s_r)", "\\frac{e^{s_j}}{e^{s_j} + \\sum_{r \\neq j} e^{s_r}}"),
]

MATRICES: dict[str, Any] = {
    "shapes": {
        "P": ["T", "T"],
        "dO": ["T", "d_v"],
        "dP": ["T", "T"],
        "Q": ["T", "d_k"],
        "K": ["T", "d_k"],
        "V": ["T", "d_v"],
        "p": ["T", 1],
        "y": ["T", 1],
    },
    "symbols": {"d_k": "integer >= 1"},
}
MATRICES_SAME = [
    ("P^T dO", "P.T@dO"),
    ("P^T dO", "P^T @ dO"),
    ("P^T dO", "P.transpose() @ dO"),
    ("P^T dO", "P.T.dot(dO)"),
    ("P^T dO", "np.matmul(P.T, dO)"),
    ("P^T dO", "np.dot(P.T, dO)"),
    ("P^T dO", "P' dO"),
    ("P^T dO", "P^T*dO"),
    ("P^T dO", "P^{\\mathsf T} dO"),
    ("P^T dO", "P^\\intercal dO"),
    ("P^T dO", "\\mathbf{P}^\\top dO"),
    ("P^T dO", "transpose(P) @ dO"),
    ("P^T dO", "P^{T}\\,dO"),
    ("P^T dO", "dV = P^T dO"),
    ("P^T dO", "torch.matmul(P.T, dO)"),
    ("P^T dO", "P^T·dO"),
    ("P^T dO", "P^T \\cdot dO"),
    ("P^T dO", "P^T \\times dO"),
    ("P^T dO", "(P)^T(dO)"),
    ("P^T dO", "P.mT @ dO"),
    ("P^T dO", "P.transpose(0, 1) @ dO"),
    ("P^T dO", "P.t() @ dO"),
    ("P ∘ (dP - rowsum(P ∘ dP))", "P ⊙ (dP − rowsum(P ⊙ dP))"),
    ("P ∘ (dP - rowsum(P ∘ dP))", "P * (dP - (P*dP).sum(-1, keepdim=True))"),
    ("P ∘ (dP - rowsum(P ∘ dP))", "P*(dP - np.sum(P*dP, axis=1, keepdims=True))"),
    ("P ∘ (dP - rowsum(P ∘ dP))", "P \\circ (dP - \\mathrm{rowsum}(P \\circ dP))"),
    ("P ∘ (dP - rowsum(P ∘ dP))", "dS = P ∘ (dP − rowsum(P ∘ dP))"),
    ("P ∘ (dP - rowsum(P ∘ dP))", "P .* (dP - rowsum(P .* dP))"),
    ("P ∘ (dP - rowsum(P ∘ dP))", "P ∘ (dP - row_sum(P ∘ dP))"),
    ("P ∘ (dP - rowsum(P ∘ dP))", "P ∘ (dP - sum(P ∘ dP, axis=1, keepdims=True))"),
    ("softmax(Q K^T / sqrt(d_k)) V", "softmax(Q @ K.T / math.sqrt(d_k)) @ V"),
    ("softmax(Q K^T / sqrt(d_k)) V", "F.softmax(Q @ K.T / d_k**0.5, dim=-1) @ V"),
    ("softmax(Q K^T / sqrt(d_k)) V", "\\mathrm{softmax}\\!\\left(\\frac{Q K^{\\top}}{\\sqrt{d_k}}\\right) V"),
    ("softmax(Q K^T / sqrt(d_k)) V", "softmax(QK^T/√d_k)V"),
    ("softmax(Q K^T / sqrt(d_k)) V", "softmax(d_k^{-1/2} Q K^T) V"),
    ("softmax(Q K^T / sqrt(d_k)) V", "torch.softmax(Q @ K.T / d_k**.5, -1) @ V"),
    ("diag(p) - p p^T", "np.diag(p) - np.outer(p,p)"),
    ("diag(p) - p p^T", "diag(p) - p @ p.T"),
    ("diag(p) - p p^T", "\\operatorname{diag}(p) - p p^\\top"),
    ("diag(p) - p p^T", "diag(p)-pp^T"),
]


@pytest.mark.parametrize(("key", "answer"), ARRAYS_SAME, ids=[answer for _, answer in ARRAYS_SAME])
def test_indexed_notations(key: str, answer: str) -> None:
    verdict = match(kind="indexed", key=key, answer=answer, tolerance={"equivalent": True}, **ARRAYS)
    assert verdict.verdict == "right", verdict


@pytest.mark.parametrize(("key", "answer"), MATRICES_SAME, ids=[answer for _, answer in MATRICES_SAME])
def test_matrix_notations(key: str, answer: str) -> None:
    verdict = match(kind="matrix_expression", key=key, answer=answer, tolerance={"equivalent": True}, **MATRICES)
    assert verdict.verdict == "right", verdict


@pytest.mark.parametrize(
    "answer", ["diag(p) - p⊗p", "einsum('ts,td->sd', P, dO)", "P * (dP - (P * dP).sum(axis=1))", "P^T dO or dO P"]
)
def test_matrix_notations_that_are_not_read(answer: str) -> None:
    assert match(kind="matrix_expression", key="P^T dO", answer=answer, **MATRICES).status == "invalid"
