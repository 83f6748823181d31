"""Kind expression: what is right, what is wrong and why, what cannot be read."""

from __future__ import annotations

from typing import Any

import pytest

from grading.errors import BadKey, Unreadable
from grading.kinds.base import Comparison
from grading.kinds.expression import Expression
from grading.tolerance import EQUIVALENT, digits, rel, within
from tests.grading.laws import samples_hold

T1 = {"T": "integer >= 1"}
XY = ["x", "y"]


def compare(key: str, answer: str, symbols: Any = (), **settings: Any) -> Comparison:
    kind = Expression(symbols=symbols, **(settings or {"tolerance": EQUIVALENT}))
    return kind.compare(kind.parse(answer), key)


@pytest.mark.parametrize(
    ("key", "answer", "symbols"),
    [
        ("sqrt(x^2)", "|x|", ["x"]),
        ("sqrt(x*x)", "x", {"x": "x > 0"}),
        ("a^(b*c)", "(a^b)^c", {"a": "a > 0", "b": "real", "c": "real"}),
        ("(-6)^n", "(-1)^n 6^n", {"n": "integer"}),
        ("(-8)^(1/3)", "-2", []),
        ("1", "cos(x)^2+sin(x)^2", ["x"]),
        ("sec(x)^2", "1+tan(x)^2", ["x"]),
        ("sin(3x)", "3 sin(x) - 4 sin(x)^3", ["x"]),
        ("-log((1-x)/(x+1))", "log((x+1)/(1-x))", {"x": "-1 < x < 1"}),
        ("y^log(x)", "x^log(y)", XY),
        ("asinh(x)", "ln(x+sqrt(x^2+1))", ["x"]),
        ("atanh(x)", "ln((1+x)/(1-x))/2", {"x": "-1 < x < 1"}),
        ("factorial(n)", "n*factorial(n-1)", ["n"]),
        ("binomial(n+1,k)", "binomial(n,k)+binomial(n,k-1)", {"n": "integer >= 2", "k": "integer >= 2"}),
        ("T(T-1)/2", r"\binom{T}{2}", T1),
        ("T(T+1)/2", r"\sum_{i=1}^{T} \sum_{j=1}^{i} 1", T1),
        ("T(T+1)(2T+1)/6", r"\sum_{t=1}^{T} t^2", T1),
        ("min(T, d)", "T + d - max(T, d)", {"T": "integer >= 1", "d": "integer >= 1"}),
        ("ln(e^x+e^y)", "max(x,y) + ln(1+e^(-|x-y|))", XY),
        ("floor(x)+1", "floor(x+1)", ["x"]),
        ("1/(1+sqrt(2))", "sqrt(2)-1", []),
        ("sqrt(1-r^2)", "sqrt(1-r) sqrt(1+r)", {"r": "-1 < r < 1"}),
        ("ln(T^2-1)", "ln(T-1) + ln(T+1)", {"T": "integer >= 2"}),
        ("f(x+y)", "f(y + x)", {"x": "real", "y": "real", "f()": "real"}),
        ("0.138", "1.38*10^-1", []),
        ("log_2(x)", "ln(x)/ln 2", {"x": "x > 0"}),
        ("1", "x/x", ["x"]),
        ("T", "T (T-1)/(T-1)", T1),
        ("x", "exp(ln x)", {"x": "x >= 0"}),
    ],
)
def test_right_and_proved(key: str, answer: str, symbols: Any) -> None:
    outcome = compare(key, answer, symbols)
    assert (outcome.right, outcome.method) == (True, "proved"), outcome.detail


@pytest.mark.parametrize(
    ("key", "answer", "symbols"),
    [
        ("1", "abs(x^2-4)/(abs(x-2)*abs(x+2))", ["x"]),
        ("0", "sqrt(2*x*sqrt(x^2+1)+2*x^2+1)-sqrt(x^2+1)-x", ["x"]),
        ("1", "(930249+416020*sqrt(5))^(1/30)-(930249-416020*sqrt(5))^(1/30)", []),
        ("sqrt(sqrt(2)+2)/2", "(sqrt(2+sqrt(2))+sqrt(2-sqrt(2)))/(2*sqrt(2))", []),
        ("2^T - 1", r"\sum_{i=0}^{T-1} 2^i", T1),
    ],
)
def test_right_by_sampling(key: str, answer: str, symbols: Any) -> None:
    outcome = compare(key, answer, symbols)
    assert (outcome.right, outcome.method) == (True, "sampled"), outcome.detail
    assert "digits" in outcome.detail


@pytest.mark.parametrize(
    ("key", "answer", "symbols"),
    [
        ("sqrt(x^2)", "x", ["x"]),
        ("x", "exp(ln x)", ["x"]),
        ("ln(x^2)", "2 ln x", ["x"]),
        ("ln(a/b)", "ln a - ln b", ["a", "b"]),
        ("x", "sqrt(x)^2", ["x"]),
        ("sqrt(d_k) rho", "sqrt(rho^2 d_k)", {"d_k": "integer >= 1", "rho": "-1 < rho < 1"}),
        ("1+(-1)^T", "1+(-1)^(2T)", T1),
        ("4 d^2", "8 d", {"d": "integer >= 1"}),
        ("(x-a)^5999", "(x-a)^6000", ["x", "a"]),
        ("99999998/99999999", "99999999/10^8", []),
        ("1", "1 + 10^-60", []),
        ("x", "x + 10^-50", ["x"]),
        ("0", "10^-300", []),
        ("sqrt(3)+5", "6.73", []),
        ("x", "X", ["x", "X"]),
        ("f(x)", "f(-x)", {"x": "real", "f()": "real"}),
        ("binomial(n+1,k)", "binomial(n,k)+binomial(n,k+1)", {"n": "integer >= 2", "k": "integer >= 2"}),
        ("C^(-1/2) (sqrt(C) r)^(3^L)", "C^(-1/2) ((sqrt(C) r)^3)^L", {"C": "C > 0", "r": "r > 0", "L": "integer >= 2"}),
        ("1", "1/(x-x)", ["x"]),
        ("x^2", "x |x|", ["x"]),
        ("1/(ln(x)+2)", "sqrt(1/(ln(x)+2)^2)", ["x"]),
        ("2 x + 1 + |x| + y", "exp(ln|2 x + 1 + |x| + y|)", ["x", "y"]),
        ("max(x, 0)", "1/(1/max(x, 0))", ["x"]),
        ("y - 2.5 + x", "exp(ln(y + x + floor(-5/2) + 1/2))", {"x": "real", "y": "y > 0"}),
        ("(2*s^2+6*s-25)/(10*s)", "0.1*(2.0*s^2+6.0*s-25.00001)/s", ["s"]),
    ],
)
def test_wrong_with_a_witness_that_shows_it(key: str, answer: str, symbols: Any) -> None:
    outcome = compare(key, answer, symbols)
    assert (outcome.right, outcome.method) == (False, "refuted")
    assert outcome.witness is not None
    assert outcome.witness["key"] != outcome.witness["answer"]
    assert all(isinstance(value, str) for value in outcome.witness["point"].values())


@pytest.mark.parametrize(
    ("answer", "symbols"),
    [
        ("1/0", []),
        ("x/0", ["x"]),
        ("x/(2-2)", ["x"]),
        ("x + ln(-1)", ["x"]),
        ("0^0", []),
        ("sqrt(-2) x", ["x"]),
        ("9^9^9^9", []),
        ("x 9^9^9^9", ["x"]),
        ("(10^9)!", []),
        ("binomial(10^9, 5*10^8)", []),
        (r"\sum_{n=1}^{10^9} \frac{1}{n}", []),
        ("x or y", XY),
        ("", XY),
        ("z", XY),
        ("x +", XY),
        ("(x", XY),
    ],
)
def test_unreadable_is_not_wrong(answer: str, symbols: Any) -> None:
    with pytest.raises(Unreadable):
        Expression(symbols=symbols).parse(answer)


@pytest.mark.parametrize(
    ("symbols", "key"),
    [
        (["x"], "x +"),
        (["x"], "y"),
        ({"x": "x > a"}, "x"),
        ({"x": "often"}, "x"),
        (["x"], "1/0"),
        ({"x": "2 < x < 1"}, "x"),
    ],
)
def test_keys_that_cannot_be_used_are_the_authors_fault(symbols: Any, key: str) -> None:
    with pytest.raises(BadKey):
        compare(key, "1", symbols)


@pytest.mark.parametrize(
    ("key", "answer", "finding"),
    [
        ("x + y", "-x - y", "sign"),
        ("x + y", "2x + 2y", "factor_2"),
        ("2 x y", "x y", "factor_half"),
        ("x/y", "y/x", "reciprocal"),
        ("3 x", "5 x", "constant_factor"),
        ("x + y", "x + y + 3", "constant_term"),
    ],
)
def test_findings(key: str, answer: str, finding: str) -> None:
    kind = Expression(symbols=XY)
    assert [found.id for found in kind.findings(kind.parse(answer), key)] == [finding]


def test_no_finding_where_nothing_relates_them() -> None:
    kind = Expression(symbols=XY)
    assert kind.findings(kind.parse("x y + 1"), "x - y") == ()
    assert kind.findings(kind.parse("exp(ln x)"), "x") == ()


@pytest.mark.parametrize(
    ("tolerance", "answer", "right"),
    [
        (rel(1e-6), "arcsin(1)", True),
        (rel(1e-6), "1.5708", False),
        (within(1e-4), "1.5708", True),
        (digits(5), "1.5708", True),
        (digits(7), "1.5708", False),
        (EQUIVALENT, "arcsin(1)", False),
    ],
)
def test_tolerance_of_a_numeric_key(tolerance: Any, answer: str, right: bool) -> None:
    assert compare("1.5707963268", answer, [], tolerance=tolerance).right is right


def test_kind_is_a_value() -> None:
    """Hashable, equal by content, its declaration readable; given as mapping, pairs or list."""
    kind = Expression(symbols={"T": "integer >= 1"})
    assert kind == Expression(symbols=(("T", "integer >= 1"),))
    assert hash(kind) == hash(Expression({"T": "integer >= 1"}))
    assert kind.declared() == {"symbols": {"T": "integer >= 1"}}
    assert Expression(symbols=["x"]).declared() == {"symbols": {"x": "real"}}
    assert "T" in kind.answer_format()
    assert kind.agrees("T + T", "2 T")
    assert not kind.agrees("T + T", "2 T + 1")
    assert kind.show("2 T") == "2 T"


def test_reading_keeps_the_learners_order() -> None:
    kind = Expression(symbols=XY)
    assert kind.reading(kind.parse(r"\frac{y}{x}+x")) == "y/x + x"


@pytest.mark.parametrize("key", ["e^x/(e^x + y^2 + 1)", "x^2 - 3 x y/2", "ln(1 + x^2) + sqrt(2)"])
def test_samples_hold(key: str) -> None:
    kind = Expression(symbols=XY, tolerance=EQUIVALENT)
    samples_hold(kind, key, right=4, wrong=4)
