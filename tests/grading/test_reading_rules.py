"""The rules of reading, one line each: how a text is understood, or why it is not."""

from __future__ import annotations

import pytest

from grading.errors import Unreadable
from grading.reading.grammar import Declared, read
from grading.reading.show import latex, show

SCALARS = """
T d d_k d_ff H_kv d_h L b B h w x y a c p sigma_s sigma_q s_1 s_2 tau theta n x_2 lambda_2 alpha_2
m_old
"""

NAMES = Declared(symbols=frozenset(SCALARS.split()))
ARRAYS = Declared(symbols=frozenset({"T", "tau"}), arrays={"p": 1, "s": 1, "a": 1, "g": 1, "v": 2, "q": 2})
MATRIX_NAMES = """
P dO Q K V A W_Q W_K W_1 p y Pi S dP dS
"""

MATRICES = Declared(symbols=frozenset({"d_k"}), matrices=frozenset(MATRIX_NAMES.split()))

READINGS = [
    # products and slashes
    ("2 L H_kv d_h b", "2 L H_kv d_h b"),
    ("4Td", "4 T d"),
    ("x2", "x (2)"),
    ("2x2y", "2 x (2) y"),
    ("1/2 ln(x)", "1/2 ln(x)"),
    ("3/2 d_ff", "3/2 d_ff"),
    ("1/ab", "1/(a b)"),
    ("a/b c", "a/b c"),
    ("1/2T", "1/2 T"),
    ("a b/c", "a b/c"),
    ("8/4/2", "8/4/2"),
    ("T(T+1)/2", "T (T + 1)/2"),
    ("1/2^3", "1/2^3"),
    # powers and signs
    ("-x^2", "-x^2"),
    ("a^b^c", "a^(b^c)"),
    ("e^-x^2", "e^(-x^2)"),
    ("2^-1", "2^(-1)"),
    ("d_k^1/4", "d_k^1/4"),
    ("x**2", "x^2"),
    ("2/-4", "2/(-4)"),
    ("1+-1", "1 + -1"),
    ("--1", "--1"),
    ("x² y⁻³", "x^2 y^(-3)"),
    # functions
    ("ln 4096^2", "ln(4096^2)"),
    ("ln T - sigma_s^2/2", "ln(T) - sigma_s^2/2"),
    ("ln 2T", "ln(2 T)"),
    ("ln T x", "ln(T) x"),
    ("8√2", "8 sqrt(2)"),
    ("1/√d_k", "1/sqrt(d_k)"),
    ("√2/2", "sqrt(2)/2"),
    (r"\cos^2(x)", "cos(x)^2"),
    (r"\sin^{-1} a", "asin(a)"),
    (r"\sin \cos \theta", "sin(cos(theta))"),
    ("log_2 8", "log(8, 2)"),
    (r"\log_3(9)", "log(9, 3)"),
    ("log10(x)", "log(x, 10)"),
    ("math.sqrt(x)", "sqrt(x)"),
    ("np.exp(-x)", "exp(-x)"),
    ("sigma(x)", "logistic(x)"),
    ("|x|", "abs(x)"),
    ("||x||", "abs(abs(x))"),
    ("|x||y|", "abs(x) abs(y)"),
    ("5!7!", "5! (7!)"),
    (r"\sqrt[4]{x}", "x^(1/4)"),
    (r"\lceil x\rceil", "ceil(x)"),
    (r"\binom{n}{2}", "binomial(n, 2)"),
    # numbers
    ("1,024 T", "1024 T"),
    ("1_024 T", "1_024 T"),
    ("67 108 864", "67108864"),
    ("78.539 816", "78.539816"),
    ("ln(9,207)", "ln(9207)"),
    ("max(1,500)", "max(1, 500)"),
    (r"\frac12", "1/2"),
    (r"\frac12y", "1/2 y"),
    (r"\frac1234", "1/2 (34)"),
    (r"3 1\frac{1}{2}", "3 (1 + 1/2)"),
    (r"-3 \frac{1}{2}", "-(3 + 1/2)"),
    ("8½", "8½"),
    ("½T² + ½T", "½ T^2 + ½ T"),
    ("57.6 %", "57.6%"),
    ("5.12×10^5", "5.12·10^5"),
    # names
    (r"H_{\text{kv}}d_h", "H_kv d_h"),
    (r"6Td\,d_{\text{ff}}", "6 T d d_ff"),
    ("2Td_hb", "2 T d_h b"),
    (r"\sigma_q^2\sigma_s^2", "sigma_q^2 sigma_s^2"),
    ("σ_q²σ_s²", "sigma_q^2 sigma_s^2"),
    (r"\lambda^2_2", "lambda_2^2"),
    (r"\alpha ^{2}_{2}", "alpha_2^2"),
    ("x^{2}_{2}", "x_2^2"),
    ("dₖ", "d_k"),
    ("KV = 2 L b", "2 L b"),
    ("y ≈ x^2", "x^2"),
    (r"\{1+x\}\{3-y\}", "(1 + x) (3 - y)"),
    (r"\exp\left(-\frac{a}{\tau}\right)", "exp(-(a/tau))"),
]


@pytest.mark.parametrize(("typed", "understood"), READINGS, ids=[typed for typed, _ in READINGS])
def test_reading(typed: str, understood: str) -> None:
    tree = read(typed, NAMES)
    assert show(tree) == understood
    assert read(understood, NAMES) == tree


INDEXED = [
    ("p_i*(delta_ij - p_j)", "p_{i}*(delta_{i,j} - p_{j})"),
    (r"p_{i}\left(\delta_{ij}-p_{j}\right)", "p_{i} (delta_{i,j} - p_{j})"),
    ("δ_ij − p_j", "delta_{i,j} - p_{j}"),
    ("p_i 1[i=j]", "p_{i} (1[i=j])"),
    (r"\mathbb{1}[i=j] - p_j", "1[i=j] - p_{j}"),
    (r"p_i \mathbf{1}_{i=j}", "p_{i} (1[i=j])"),
    ("[i=j] - p_j", "1[i=j] - p_{j}"),
    ("p_ip_j", "p_{i} p_{j}"),
    ("v_{i j} + v_{i,j} + v[i,j] + v[i][j]", "v_{i,j} + v_{i,j} + v_{i,j} + v_{i,j}"),
    ("p_j*sum_r p_r*(a_j - a_r)", "p_{j}*(sum_r p_{r}*(a_{j} - a_{r}))"),
    ("sum_r p_r a_r - a_j", "sum_r p_{r} a_{r} - a_{j}"),
    (r"\sum_{r=1}^{T} e^{s_r}", "sum_{r=1}^{T} e^s_{r}"),
    (r"\sum_{j \ne i} p_j", "sum_{j≠i} p_{j}"),
    ("Σ_r p_r", "sum_r p_{r}"),
    ("softmax(s)_j", "softmax(s)_{j}"),
    (r"\operatorname{diag}(p)_{ij}", "diag(p)_{i,j}"),
    (r"\frac{\partial p_i}{\partial s_j} = p_i", "p_{i}"),
    ("p_{i+1}", "p_{i + 1}"),
]


@pytest.mark.parametrize(("typed", "understood"), INDEXED, ids=[typed for typed, _ in INDEXED])
def test_indexed_reading(typed: str, understood: str) -> None:
    tree = read(typed, ARRAYS)
    assert show(tree) == understood
    assert read(understood, ARRAYS) == tree


MATRIX = [
    ("P.T @ dO", "P^T @ dO"),
    ("P^T dO", "P^T dO"),
    (r"P^{\top} dO", "P^T dO"),
    ("Pᵀ dO", "P^T dO"),
    ("P^TdO", "P^T dO"),
    ("transpose(P) dO", "P^T dO"),
    ("QK^T", "Q K^T"),
    ("pp^\\top y", "p p^T y"),
    ("P o dP", "P ∘ dP"),
    (r"P \odot dP", "P ∘ dP"),
    ("P*dO", "P*dO"),
    ("P * (Q @ K.T)", "P ∘ (Q @ K^T)"),
    ("(P * dP).sum(axis=1, keepdims=True)", "rowsum(P ∘ dP)"),
    ("dP - (P * dP).sum(axis=0, keepdims=True)", "dP - colsum(P ∘ dP)"),
    ("A^{-T}", "(A^(-1))^T"),
    ("outer(p, p)", "p @ p^T"),
    ("Q @ K.T / np.sqrt(d_k)", "Q @ K^T/sqrt(d_k)"),
    ("softmax(Q K^T, axis=-1) V", "softmax(Q K^T) V"),
    ("Π S Πᵀ", "Pi S Pi^T"),
    ("W_1.T", "W_1^T"),
    ("dQ = dS K", "dS K"),
]


@pytest.mark.parametrize(("typed", "understood"), MATRIX, ids=[typed for typed, _ in MATRIX])
def test_matrix_reading(typed: str, understood: str) -> None:
    assert show(read(typed, MATRICES)) == understood


REFUSED = [
    ("1 2", 2, "two numbers"),
    ("12 34.5", 3, "two numbers"),
    ("0.5.76", 0, "two points"),
    ("1,5", 1, "point"),
    ("10,24,", 2, "three digits"),
    ("0,576", 1, "point"),
    ("x, y", 1, "list"),
    ("x or y", 2, "several"),
    ("9 * * 1023", 4, "not expected"),
    ("2 /", 3, "ends too early"),
    ("1//2", 2, "not expected"),
    ("ln(x", 2, "never closed"),
    ("x)", 1, "without an opening"),
    ("foo(3)", 0, "not known"),
    ("omega", 0, "not known"),
    ("D_k", 0, "did you mean d_k"),
    ("0x10", 0, "base ten"),
    ("1<2<3", 1, "comparison"),
    ("х", 0, "cyrillic"),
    ("1\x002", 1, "U+0000"),
    ("x\u202e", 1, "U+202E"),
    ("\\", 0, "backslash"),
    (r"\input{x}", 0, "not known"),
    ("1e999", 0, "out of range"),
    ("9" * 500, 0, "digits"),
    ("x" * 3000, None, "longer"),
    ("(" * 100 + "1" + ")" * 100, 60, "deep"),
    ("+".join("x" * 300), None, "parts"),
    ("", 0, "empty"),
    ("a = b = 2 + c + 1 =", None, ""),
]


@pytest.mark.parametrize(("typed", "column", "said"), REFUSED, ids=[repr(typed[:20]) for typed, _, _ in REFUSED])
def test_refusals(typed: str, column: int | None, said: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read(typed, NAMES)
    assert said in caught.value.message
    if column is not None:
        assert caught.value.column == column


def test_numpy_sums_without_keepdims_are_refused_where_they_broadcast() -> None:
    with pytest.raises(Unreadable, match="keepdims"):
        read("P * (dP - (P * dP).sum(axis=1))", MATRICES)
    assert show(read("(P * dP).sum(axis=1)", MATRICES)) == "rowsum(P ∘ dP)"


def test_latex_of_names() -> None:
    tree = read("sigma_q d_k H_kv m_old / x_2", NAMES)
    assert latex(tree) == r"\frac{\sigma_{q} d_{k} H_{\text{kv}} m_{\text{old}}}{x_{2}}"


def test_positions_point_into_the_text() -> None:
    typed = "2 + (x  -  y)"
    tree = read(typed, NAMES)
    assert typed[tree.right.start : tree.right.end] == "(x  -  y)"
