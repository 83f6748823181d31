"""Every formula that a drill asks for, and forms of it that people type: all right, and proved so, not only sampled."""

from __future__ import annotations

import pytest

from grading.kinds.expression import Expression
from grading.tolerance import EQUIVALENT

T1, T2, D = "integer >= 1", "integer >= 2", "real"

FORMS: list[tuple[str, dict[str, str], str, list[str]]] = [
    (
        "two_key_weight",
        {"s_1": D, "s_2": D},
        "1/(1+e^(s_2-s_1))",
        [
            "e^(s_1)/(e^(s_1)+e^(s_2))",
            r"\frac{1}{1+e^{-(s_1-s_2)}}",
            "sigma(s_1 - s_2)",
            "1 - 1/(1+exp(s_1-s_2))",
            "exp(s_1 - ln(exp(s_1)+exp(s_2)))",
            r"\frac{e^{s_1}}{e^{s_1}+e^{s_2}}",
            "(1+tanh((s_1-s_2)/2))/2",
            "1/(1 + e^{s_2}/e^{s_1})",
        ],
    ),
    (
        "temperature_formula",
        {"Delta": "Delta > 0", "w": "1/2 < w < 1"},
        "Delta/ln(w/(1-w))",
        [
            "Delta/(ln w - ln(1-w))",
            "-Delta/ln((1-w)/w)",
            "Delta/ln(1/(1/w - 1))",
            "2 Delta/ln(w^2/(1-w)^2)",
            r"\frac{\Delta}{\ln\frac{w}{1-w}}",
            "Delta/log(w/(1-w))",
            "Delta (ln(w) - ln(1-w))^-1",
            "Delta/(2 atanh(2w-1))",
        ],
    ),
    (
        "lse_pair",
        {"s": D, "Delta": D},
        "s + ln(1+e^Delta)",
        [
            "ln(e^s + e^(s+Delta))",
            "s + Delta + ln(1 + e^(-Delta))",
            "ln(e^s (1+e^Delta))",
            "s + log(1+exp(Delta))",
            r"\ln\left(e^{s}+e^{s+\Delta}\right)",
            "max(s, s+Delta) + ln(1+e^(-|Delta|))",
            "s - ln(1/(1+e^Delta))",
            "s + Delta/2 + ln(2 cosh(Delta/2))",
        ],
    ),
    (
        "variance_formula",
        {"d_k": T1, "sigma_q": "sigma_q > 0", "sigma_k": "sigma_k > 0"},
        "d_k sigma_q^2 sigma_k^2",
        [
            "d_k (sigma_q sigma_k)^2",
            r"d_k\,\sigma_q^2\sigma_k^2",
            "(sqrt(d_k)*sigma_q*sigma_k)^2",
            "σ_q² σ_k² d_k",
            "d_k*sigma_q**2*sigma_k**2",
            "d_k^2 sigma_q^2 sigma_k^2/d_k",
            "exp(ln d_k + 2 ln(sigma_q sigma_k))",
        ],
    ),
    (
        "entropy_formula",
        {"T": T2, "sigma": "sigma > 0"},
        "ln(T) - sigma^2/2",
        [
            "log(T) - sigma**2/2",
            r"\ln T - \frac{\sigma^2}{2}",
            "ln T - 0.5 sigma^2",
            "(2 ln T - sigma^2)/2",
            "ln(T e^(-sigma^2/2))",
            "ln(T^2)/2 - (sigma/sqrt(2))^2",
            "-(sigma^2/2 - ln T)",
            "ln(sqrt(T)) + ln(T)/2 - sigma^2/2",
        ],
    ),
    (
        "two_key_eigenvalue",
        {"p": "0 < p < 1"},
        "2 p (1-p)",
        [
            "2p - 2p^2",
            "2(p - p^2)",
            r"\frac{1-(1-2p)^2}{2}",
            "1 - p^2 - (1-p)^2",
            "p(1-p) + (1-p)p",
            "2p - 2p²",
            "(1 - (2p-1)^2)/2",
        ],
    ),
    (
        "fraction_formula",
        {"T": T1},
        "(T+1)/(2 T)",
        [
            "1/2 + 1/(2T)",
            r"\frac{T+1}{2T}",
            "T(T+1)/2/T^2",
            "1 - (T-1)/(2T)",
            "(1 + 1/T)/2",
            "(T^2+T)/(2T^2)",
            "0.5 + 0.5/T",
            "T(T+1)/(2T^2)",
            r"\frac{1}{T^2}\sum_{i=1}^{T} i",
        ],
    ),
    (
        "running_mean",
        {"t": T1, "a": D, "c": D},
        "(a + (t-1) c)/t",
        [
            "a/t + (t-1)c/t",
            "c + (a - c)/t",
            r"\frac{a+(t-1)c}{t}",
            "a/t + c - c/t",
            "(1/t) a + (1 - 1/t) c",
            "(a - c + t c)/t",
            "(a + t c - c)*t^-1",
        ],
    ),
    (
        "bandwidth",
        {"d_k": T1},
        "d_k^(1/4)",
        [
            "sqrt(sqrt(d_k))",
            "d_k**0.25",
            r"\sqrt{\sqrt{d_k}}",
            r"\sqrt[4]{d_k}",
            "exp(ln(d_k)/4)",
            "d_k/d_k^(3/4)",
            "√(√d_k)",
            "1/d_k^(-1/4)",
        ],
    ),
    (
        "mha_formula",
        {"h": T1, "d": T1, "d_k": T1, "d_v": T1},
        "2 h d d_k + 2 h d d_v",
        [
            "2 h d (d_k + d_v)",
            "2hd(d_k+d_v)",
            "h d (2 d_k + 2 d_v)",
            r"2\,h\,d\,(d_k+d_v)",
            "h(d d_k + d d_k + d d_v + d_v d)",
            "2*h*d*d_v + 2*h*d*d_k",
            "(d_k + d_v)*2*d*h",
        ],
    ),
    (
        "gqa_formula",
        {"d": T1, "H_kv": T1, "d_h": T1},
        "2 d^2 + 2 d H_kv d_h",
        [
            "2d(d + H_kv d_h)",
            "2*d**2 + 2*d*H_kv*d_h",
            r"2d^2+2d\,H_{\text{kv}}d_h",
            "d^2 + d^2 + 2 d_h H_kv d",
            "2 d H_kv d_h + 2d²",
            "2d^2 (1 + H_kv d_h/d)",
            "(2d + 2 H_kv d_h) d",
        ],
    ),
    (
        "log_weight_bound",
        {"d_k": T1},
        "d_k + 1",
        [
            "1 + d_k",
            "(d_k^2 - 1)/(d_k - 1)",
            "d_k - (-1)",
            "(2 d_k + 2)/2",
            r"d_k+1",
            "1 + sqrt(d_k)^2",
            "2(d_k + 1) - d_k - 1",
        ],
    ),
    (
        "layer_formula",
        {"T": T1, "d": T1, "H_kv": T1, "d_h": T1, "d_ff": T1},
        "2 T d (2 d + 2 H_kv d_h) + 4 T^2 d + 6 T d d_ff",
        [
            "4 T d (d + H_kv d_h) + 4 T^2 d + 6 T d d_ff",
            "2 T d (2 d + 2 H_kv d_h + 2 T + 3 d_ff)",
            "4Td^2 + 4 T d H_kv d_h + 4T^2 d + 6 T d d_ff",
            r"2Td\left(2d+2H_{\text{kv}}d_h+2T+3d_{\text{ff}}\right)",
            "T (4 d^2 + 4 d H_kv d_h + 4 T d + 6 d d_ff)",
            "6*T*d*d_ff + 4*d*T**2 + 4*T*d**2 + 4*T*d*H_kv*d_h",
            "2*2*T*T*d + 3*2*T*d*d_ff + 2*T*d*d*2 + 2*T*d*2*H_kv*d_h",
        ],
    ),
    (
        "crossover",
        {"d": T1, "H_kv": T1, "d_h": T1, "d_ff": T1},
        "d + H_kv d_h + 3/2 d_ff",
        [
            "d + H_kv d_h + 1.5 d_ff",
            "(2d + 2 H_kv d_h + 3 d_ff)/2",
            r"d+H_{\text{kv}}d_h+\frac{3}{2}d_{\text{ff}}",
            "d + H_kv d_h + 3 d_ff/2",
            "1.5*d_ff + H_kv*d_h + d",
            "(4 d^2 + 4 d H_kv d_h + 6 d d_ff)/(4 d)",
            r"\frac{2d+2H_{kv}d_h+3d_{ff}}{2}",
        ],
    ),
    (
        "crossover_causal",
        {"d": T1, "d_ff": T1},
        "4 d + 3 d_ff - 1",
        [
            "2(2d + 1.5 d_ff) - 1",
            "3 d_ff + 4d - 1",
            "-1 + 4d + 3d_ff",
            "4*d + 3*d_ff - 1",
            "4(d + 3/4 d_ff) - 1",
            "4d + 3(d_ff - 1/3)",
            "(8d + 6d_ff - 2)/2",
        ],
    ),
    (
        "score_memory",
        {"T": T1, "b": "b > 0"},
        "T b/4",
        [
            "b T/4",
            "0.25 T b",
            r"\frac{Tb}{4}",
            "T*b/4",
            "(T^2 b)/(4 T)",
            "1/4 b T",
            "T b (1/4)",
            "T/(4/b)",
        ],
    ),
    (
        "kv_cache",
        {"L": T1, "H_kv": T1, "d_h": T1, "b": "b > 0", "T": T1, "B": T1},
        "2 L H_kv d_h b T B",
        [
            "2*L*H_kv*d_h*b*T*B",
            r"2\,L\,H_{\text{kv}}\,d_h\,b\,T\,B",
            "(2 L H_kv d_h b)(T B)",
            "B T b d_h H_kv L 2",
            "4 L H_kv d_h b T B/2",
            "2(L)(H_kv)(d_h)(b)(T)(B)",
            "L H_kv d_h b T B + L H_kv d_h b T B",
        ],
    ),
    (
        "throughput",
        {"B": T1, "W": "W > 0", "C": "C > 0", "s": "s > 0"},
        "B s/(W + B C)",
        [
            "s/(W/B + C)",
            r"\frac{Bs}{W+BC}",
            "B/((W + B C)/s)",
            "s B (W + C B)^(-1)",
            "1/(W/(B s) + C/s)",
            "s*B/(B*C + W)",
            "B s/(B (W/B + C))",
        ],
    ),
    (
        "intensity",
        {"h": T1, "H_kv": T1, "b": "b > 0"},
        "2 h/(b H_kv)",
        [
            "(2/b) (h/H_kv)",
            r"\frac{2h}{bH_{\text{kv}}}",
            "2h/b/H_kv",
            "h/(b H_kv/2)",
            "4 h/(2 b H_kv)",
            "2*h*b**-1*H_kv**-1",
            "2/((H_kv/h) b)",
        ],
    ),
    (
        "merge",
        {"m_a": D, "l_a": "l_a > 0", "u_a": D, "m_b": D, "l_b": "l_b > 0", "u_b": D},
        "(e^(m_a) u_a + e^(m_b) u_b)/(e^(m_a) l_a + e^(m_b) l_b)",
        [
            "(u_a + e^(m_b-m_a) u_b)/(l_a + e^(m_b-m_a) l_b)",
            r"\frac{e^{m_a}u_a+e^{m_b}u_b}{e^{m_a}l_a+e^{m_b}l_b}",
            "(exp(m_a-m_b)*u_a + u_b)/(exp(m_a-m_b)*l_a + l_b)",
            "(exp(m_a - max(m_a,m_b)) u_a + exp(m_b - max(m_a,m_b)) u_b)"
            "/(exp(m_a - max(m_a,m_b)) l_a + exp(m_b - max(m_a,m_b)) l_b)",
            "u_a/(l_a + e^(m_b-m_a) l_b) + u_b/(l_b + e^(m_a-m_b) l_a)",
            "(e^m_b u_b + e^m_a u_a)/(l_b e^m_b + l_a e^m_a)",
            "u_b/l_b + (u_a/l_a - u_b/l_b) e^m_a l_a/(e^m_a l_a + e^m_b l_b)",
        ],
    ),
    (
        "lse_merge",
        {"x": D, "y": D},
        "ln(e^x + e^y)",
        [
            "x + ln(1 + e^(y-x))",
            "log(exp(x) + exp(y))",
            "max(x,y) + ln(1 + exp(-abs(x-y)))",
            r"\ln\left(e^{x}+e^{y}\right)",
            "y + ln(1 + e^{x-y})",
            "-ln(1/(e^x+e^y))",
            "(x+y)/2 + ln(2 cosh((x-y)/2))",
            "y - ln(sigma(y-x))",
        ],
    ),
    (
        "bound",
        {"C": "C > 0", "r_0": "r_0 > 0", "L": T2},
        "C^(-1/2) (sqrt(C) r_0)^(3^L)",
        [
            "C^((3^L-1)/2) r_0^(3^L)",
            "(C r_0^2)^(3^L/2)/sqrt(C)",
            "e^(3^L ln(sqrt(C) r_0))/sqrt(C)",
            r"\frac{(\sqrt{C}\,r_0)^{3^L}}{\sqrt{C}}",
            "(sqrt(C)*r_0)**(3**L)/sqrt(C)",
            "C^(3^L/2 - 1/2) r_0^(3^L)",
            "sqrt(C^(3^L - 1)) r_0^(3^L)",
            "((sqrt(C) r_0)^(3^(L-1)))^3/sqrt(C)",
        ],
    ),
    (
        "uniform",
        {"sigma": "sigma > 0", "T": T1},
        "sigma^2/T",
        [
            "(sigma/sqrt(T))^2",
            r"\frac{\sigma^2}{T}",
            "T sigma^2/T^2",
            "sigma**2/T",
            "sigma²/T",
            "(1/T) sigma sigma",
            "1/(T/sigma^2)",
        ],
    ),
    (
        "share",
        {"a": D, "T": T2},
        "e^a/(e^a + T - 1)",
        [
            "1/(1 + (T-1) e^(-a))",
            "1 - (T-1)/(e^a + T - 1)",
            "1/(1 + e^(ln(T-1) - a))",
            r"\frac{e^a}{e^a+T-1}",
            "exp(a)/(exp(a)+(T-1))",
            "sigma(a - ln(T-1))",
            "(1 + (T-1)/e^a)^(-1)",
            "exp(a - ln(e^a + T - 1))",
        ],
    ),
    (
        "cap",
        {"g": "g > 0", "T": T2},
        "e^g/(e^g + (T-1) e^(-g))",
        [
            "1/(1 + (T-1) e^(-2g))",
            "e^(2g)/(e^(2g) + T - 1)",
            "(1 + (T-1)/e^(2g))^-1",
            r"\frac{e^{g}}{e^{g}+(T-1)e^{-g}}",
            "sigma(2g - ln(T-1))",
            "1 - (T-1)/(e^(2g) + T - 1)",
            "1/(1 + T e^(-2g) - exp(-2g))",
        ],
    ),
    (
        "gain",
        {"w": "0 < w < 1", "T": T2},
        "1/2 ln(w (T-1)/(1-w))",
        [
            "ln(w(T-1)/(1-w))/2",
            "ln(sqrt(w(T-1)/(1-w)))",
            "(ln w + ln(T-1) - ln(1-w))/2",
            r"\frac12\ln\frac{w(T-1)}{1-w}",
            "0.5*log(w*(T-1)/(1-w))",
            "ln((w T - w)/(1-w))/2",
            "-1/2 ln((1-w)/(w(T-1)))",
            "1/2 (ln(T-1) + ln(w/(1-w)))",
        ],
    ),
    (
        "sd",
        {"rho": "0 < rho < 1", "d_k": T1},
        "sqrt(1 + rho^2)",
        [
            "(1+rho^2)^(1/2)",
            r"\sqrt{1+\rho^2}",
            "sqrt(2 - (1-rho^2))",
            "√(1+ρ²)",
            "sqrt(d_k (1+rho^2)/d_k)",
            "(1+rho^2)/sqrt(1+rho^2)",
            "sqrt(d_k + d_k rho^2)/sqrt(d_k)",
            "exp(ln(1+rho^2)/2)",
        ],
    ),
]


def test_table_is_wide() -> None:
    """At least six forms a formula."""
    assert len(FORMS) >= 26
    assert all(len(forms) >= 6 for _, _, _, forms in FORMS)


@pytest.mark.parametrize(
    ("symbols", "key", "form"),
    [(symbols, key, form) for _, symbols, key, forms in FORMS for form in forms],
    ids=[f"{name}-{at}" for name, _, _, forms in FORMS for at in range(len(forms))],
)
def test_form_is_proved(symbols: dict[str, str], key: str, form: str) -> None:
    kind = Expression(symbols=symbols, tolerance=EQUIVALENT)
    outcome = kind.compare(kind.parse(form), key)
    assert (outcome.right, outcome.method) == (True, "proved"), outcome.detail


@pytest.mark.parametrize(
    ("symbols", "key"), [(symbols, key) for _, symbols, key, _ in FORMS], ids=[f[0] for f in FORMS]
)
def test_other_formulas_are_refuted(symbols: dict[str, str], key: str) -> None:
    """No formula of the table passes for another one over the same names, and a witness is given."""
    kind = Expression(symbols=symbols, tolerance=EQUIVALENT)
    for name in symbols:
        outcome = kind.compare(kind.parse(name), key)
        assert outcome.right is False
        assert outcome.witness is not None
        assert set(outcome.witness) == {"point", "key", "answer"}
        assert outcome.witness["key"] != outcome.witness["answer"]
