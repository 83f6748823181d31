"""Domains, evaluation, the normal form and the decision, below the kinds."""

from __future__ import annotations

import math
import time
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grading.equivalence.balls import TooLarge, Undefined
from grading.equivalence.decide import Key, decide, ready
from grading.equivalence.domain import Domain, read_domain, read_interval
from grading.equivalence.evaluate import Frame, compile_tree
from grading.equivalence.precise import Precise
from grading.errors import BadKey
from grading.reading.tree import Add, Call, Div, Mul, Neg, Node, Number, Pow, Sub, Symbol

# ------------------------------------------------------------------------------------------------------- domains


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("real", ["-7/3", "0"], []),
        ("integer", ["-2", "0"], ["1/2"]),
        ("integer >= 2", ["2", "11"], ["1", "5/2"]),
        ("integer x >= 2", ["2"], ["1"]),
        ("x > 0", ["1/1000"], ["0", "-1"]),
        ("0 < x", ["1/1000"], ["0"]),
        ("x >= -3.5", ["-7/2"], ["-4"]),
        ("1/2 < x < 1", ["3/4"], ["1/2", "1"]),
        ("0 <= x <= 1", ["0", "1"], ["-1", "2"]),
        ("1 > x", ["-100"], ["1"]),
        ("integer 0 < x < 3", ["1", "2"], ["0", "3"]),
        ("x ≥ 1", ["1"], ["0"]),
        ("-1 < x < 1", ["0"], ["-1"]),
    ],
)
def test_domain_language(text: str, inside: list[str], outside: list[str]) -> None:
    interval = read_interval("x", text)
    assert all(interval.holds(Fraction(value)) for value in inside)
    assert not any(interval.holds(Fraction(value)) for value in outside)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "positive",
        "x",
        "x >",
        "x > a",
        "x = 3",
        "1 < 2",
        "0 < x <",
        "2 < x < 1",
        "x > 0 > 1",
        "x > 1/0",
        "int",
        3,
        None,
        "x >= 1 x",
    ],
)
def test_nonsense_domains_are_the_authors_fault(text: object) -> None:
    with pytest.raises(BadKey):
        read_interval("x", text)


def test_points_stay_inside_and_near_and_hold_the_special_values() -> None:
    domain = read_domain({"x": "real", "T": "integer >= 2", "w": "0 < w < 1", "b": "b > 100"})
    points = domain.points()
    assert len(points) >= 48
    assert points == read_domain({"x": "real", "T": "integer >= 2", "w": "0 < w < 1", "b": "b > 100"}).points()
    assert all(domain.holds(point) for point in points)
    seen = {point["x"] for point in points}
    assert {Fraction(n, d) for n, d in ((0, 1), (1, 1), (-1, 1), (2, 1), (-2, 1), (1, 2), (-1, 2))} <= seen
    assert all(abs(x) <= 10 for x in seen)
    assert {point["T"] for point in points} == {Fraction(n) for n in range(2, 13)}
    assert all(100 < point["b"] <= 110 for point in points)
    assert all(value.denominator & (value.denominator - 1) == 0 for point in points for value in point.values())


def test_plain_list_is_real_and_functions_are_set_apart() -> None:
    domain = read_domain(["x", "f()"])
    assert domain.order == ("x",)
    assert domain.functions == {"f"}
    assert not domain.interval("x").positive


# ---------------------------------------------------------------------------------------------------- evaluation

X, Y = Symbol("x"), Symbol("y")


def number(value: object) -> Number:
    return Number(Fraction(str(value)))


CALLS = ["ln", "exp", "sqrt", "abs", "sin", "cos", "tanh", "logistic"]


def trees(depth: int = 4) -> st.SearchStrategy[Node]:
    leaves = st.sampled_from([X, Y, number(1), number(2), number(3), number("0.5"), number("1.25")])

    def grow(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
        pair = st.tuples(inner, inner)
        return st.one_of(
            pair.map(lambda p: Add(*p)),
            pair.map(lambda p: Sub(*p)),
            pair.map(lambda p: Mul(*p)),
            pair.map(lambda p: Div(*p)),
            st.tuples(inner, st.integers(-3, 3)).map(
                lambda p: Pow(p[0], number(p[1]) if p[1] >= 0 else Neg(number(-p[1])))
            ),
            st.tuples(st.sampled_from(CALLS), inner).map(lambda p: Call(p[0], (p[1],))),
            inner.map(Neg),
        )

    return st.recursive(leaves, grow, max_leaves=8)


DOMAIN = Domain(read_domain({"x": "x > 0", "y": "real"}).names)
POINT = {"x": Fraction(13, 8), "y": Fraction(-11, 16)}


@settings(max_examples=300, deadline=None)
@given(trees())
def test_float_balls_hold_the_true_value(tree: Node) -> None:
    """|float − decimal| never exceeds the float's error bound (with the margin that the decision adds)."""
    program = compile_tree(tree, Frame(("x", "y")))
    try:
        value, error = program([(float(POINT["x"]), 0.0), (float(POINT["y"]), 0.0)])
        exact = Precise(POINT).value(tree)
    except (ArithmeticError, OverflowError):
        return
    true = exact if isinstance(exact, Fraction) else Fraction(exact[0])
    assert abs(Fraction(value) - true) <= 4 * Fraction(error) + abs(true) * Fraction(1, 10**30)


@settings(max_examples=300, deadline=None)
@given(trees())
def test_undefined_by_floats_is_undefined_in_decimals(tree: Node) -> None:
    program = compile_tree(tree, Frame(("x", "y")))
    try:
        program([(float(POINT["x"]), 0.0), (float(POINT["y"]), 0.0)])
    except Undefined:
        with pytest.raises((Undefined, TooLarge)):
            Precise(POINT).value(tree)
    except ArithmeticError:
        pass


@pytest.mark.parametrize(
    ("tree", "value"),
    [
        (Pow(Neg(number(8)), Div(number(1), number(3))), -2.0),
        (Pow(Neg(number(6)), number(3)), -216.0),
        (Call("binomial", (number(5), number(2))), 10.0),
        (Call("factorial", (number(5),)), 120.0),
        (Call("log", (number(9), number(3))), 2.0),
        (Call("max", (number(12), number(4))), 12.0),
        (Call("floor", (Neg(number("6.9")),)), -7.0),
        (Call("Phi", (number(0),)), 0.5),
        (Call("atanh", (number("0.5"),)), math.atanh(0.5)),
    ],
)
def test_values(tree: Node, value: float) -> None:
    got, error = compile_tree(tree, Frame())([(0.0, 0.0)])
    assert abs(got - value) <= 1e-12 + error
    exact = Precise({}).value(tree)
    assert float(exact if isinstance(exact, Fraction) else exact[0]) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("tree", "error"),
    [
        (Call("ln", (Neg(number(1)),)), Undefined),
        (Call("ln", (Sub(number(1), number(1)),)), Undefined),
        (Div(number(1), Sub(number(2), number(2))), Undefined),
        (Call("sqrt", (Neg(number(2)),)), Undefined),
        (Pow(number(0), number(0)), Undefined),
        (Pow(Neg(number(2)), Call("sqrt", (number(2),))), Undefined),
        (Call("factorial", (Neg(number(3)),)), Undefined),
        (Call("asin", (number(2),)), Undefined),
        (Pow(number(9), Pow(number(9), Pow(number(9), number(9)))), TooLarge),
        (Call("exp", (Call("exp", (Call("exp", (number(9),)),)),)), TooLarge),
        (Call("factorial", (number(10**9),)), TooLarge),
        (Call("binomial", (number(10**9), number(5 * 10**8))), TooLarge),
    ],
)
def test_points_without_a_value_are_said_at_once(tree: Node, error: type[Exception]) -> None:
    began = time.process_time()
    with pytest.raises(error):
        Precise({}).value(tree)
    assert time.process_time() - began < 0.1


# ------------------------------------------------------------------------------------------------------ decision


@settings(max_examples=150, deadline=None)
@given(trees(), trees())
def test_equal_by_construction_is_never_refuted(a: Node, b: Node) -> None:
    """Commuted, expanded, shifted: right, or undecided where no point gives a value."""
    pairs = [
        (Add(a, b), Add(b, a)),
        (Mul(a, b), Mul(b, a)),
        (Mul(a, Add(b, number(1))), Add(Mul(a, b), a)),
        (Sub(a, b), Neg(Sub(b, a))),
        (Pow(Sub(a, b), number(2)), Add(Sub(Mul(a, a), Mul(number(2), Mul(a, b))), Mul(b, b))),
        (Call("exp", (Sub(a, b),)), Div(Call("exp", (a,)), Call("exp", (b,)))),
    ]
    for left, right in pairs:
        outcome = decide(Key(ready(left, DOMAIN), DOMAIN), ready(right, DOMAIN))
        assert outcome.right is not False, outcome.detail
        assert outcome.right or outcome.method == "undecided"


@settings(max_examples=150, deadline=None)
@given(trees(), st.sampled_from(["sign", "plus", "double", "root"]))
def test_changed_is_refuted_unless_exactly_equal(tree: Node, change: str) -> None:
    other: Node = {
        "sign": Neg(tree),
        "plus": Add(tree, Div(number(1), number(1000))),
        "double": Mul(number(2), tree),
        "root": Mul(tree, X),
    }[change]
    outcome = decide(Key(ready(tree, DOMAIN), DOMAIN), ready(other, DOMAIN))
    if outcome.right:
        # only the zero function survives a change of sign or scale
        assert change != "plus"
        for point in DOMAIN.points()[:6]:
            try:
                value = Precise(point).value(tree)
            except ArithmeticError:
                continue
            assert value == 0 if isinstance(value, Fraction) else abs(value[0]) <= value[1] * 10
    elif outcome.right is False:
        assert outcome.method == "refuted"
        assert outcome.witness is not None


def _sum(parts: list[Node]) -> Node:
    out = parts[0]
    for part in parts[1:]:
        out = Add(out, part)
    return out


BIG = _sum([X, Y, Symbol("z"), Symbol("w"), number(1)])
SINES: list[Node] = [Call("sin", (Mul(number(i), X),)) for i in range(1, 60)]
SHARES: list[Node] = [Div(number(1), Add(number(i), X)) for i in range(1, 60)]
WIDE = read_domain(["x", "y", "z", "w"])


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        (Pow(BIG, number(400)), Mul(Pow(BIG, number(399)), BIG)),
        (Pow(BIG, number(400)), Add(Pow(BIG, number(400)), number(1))),
        (Pow(Sub(X, Y), number(6000)), Pow(Sub(Y, X), number(6000))),
        (X, Pow(X, Pow(X, Pow(X, Pow(X, X))))),
        (X, Call("exp", (Call("exp", (Call("exp", (Call("exp", (X,)),)),)),))),
        (_sum([SINES[i] for i in range(59)]), _sum([SINES[i] for i in range(58, -1, -1)])),
        (_sum([Div(number(1), Add(X, number(i))) for i in range(1, 60)]), _sum(SHARES[::-1])),
        (Mul(Pow(Add(X, Y), number(60)), Pow(Sub(X, Y), number(60))), Pow(Sub(Mul(X, X), Mul(Y, Y)), number(60))),
    ],
)
def test_hostile_sizes_stay_quick(key: Node, answer: Node) -> None:
    began = time.process_time()
    decide(Key(ready(key, WIDE), WIDE), ready(answer, WIDE))
    assert time.process_time() - began < 1.0


def test_few_easy_points_do_not_make_an_answer_right() -> None:
    """sin(10^300 x) is x at x = 0, the only point at which it can be worked out."""
    huge = Call("sin", (Mul(number(10**300), X),))
    outcome = decide(Key(ready(X, WIDE), WIDE), ready(huge, WIDE))
    assert outcome.right is None


def test_threads_share_a_key() -> None:
    """Keys are made lazily and shared: the same verdicts from many threads at once."""
    from concurrent.futures import ThreadPoolExecutor

    key = Key(ready(Add(Pow(X, number(2)), Call("exp", (Y,))), WIDE), WIDE)
    answers = [
        Add(Call("exp", (Y,)), Mul(X, X)),
        Add(Call("exp", (X,)), Mul(X, X)),
        Sub(Call("exp", (Y,)), Neg(Mul(X, X))),
    ]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda at: decide(key, ready(answers[at % 3], WIDE)).right, range(120)))
    assert found == [at % 3 != 1 for at in range(120)]
