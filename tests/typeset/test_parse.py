"""The LaTeX reader: what is accepted, and that everything else is an error at the right place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drillgen.typeset import nodes as n
from drillgen.typeset import parse as module
from drillgen.typeset.errors import TypesetError
from drillgen.typeset.parse import parse
from drillgen.typeset.symbols import FUNCTIONS, LETTERS, SYMBOLS

from .samples import FORMULAS


def walk(node: Any) -> Iterator[Any]:
    """Every node of a tree."""
    if is_dataclass(node):
        yield node
        for field in fields(node):
            yield from walk(getattr(node, field.name))
    elif isinstance(node, tuple):
        for item in node:
            yield from walk(item)


def test_the_samples_use_every_node() -> None:
    seen = {type(node) for source in FORMULAS for node in walk(parse(source))}
    assert set(n.NODE_TYPES) - seen == set()
    assert seen - set(n.NODE_TYPES) == set()


def test_node_types_lists_every_class_of_the_module() -> None:
    made = {c for c in vars(n).values() if isinstance(c, type) and c.__module__ == n.__name__ and is_dataclass(c)}
    assert made == set(n.NODE_TYPES)


@pytest.mark.parametrize(
    ("source", "column", "message"),
    [
        (r"x + \foo", 4, "not a command"),
        (r"\bm q", 0, r"did you mean \boldsymbol"),
        (r"\softmax(x)", 0, r"\operatorname{softmax}"),
        (r"x^12", 2, "needs braces"),
        (r"x_a_b", 3, "second subscript"),
        (r"x^a^b", 3, "second superscript"),
        (r"\frac{1}{2", 10, "ends inside a group"),
        (r"\frac{1}", 8, "denominator"),
        (r"\left( x", 8, r"\left"),
        (r"x \right)", 2, r"\right without"),
        (r"x}", 1, "closing brace"),
        (r"a & b", 2, "outside an environment"),
        (r"\begin{align} x \end{align}", 6, "write aligned"),
        (r"\begin{pmatrix} 1 & 2 \\ 3 \end{pmatrix}", 6, "differ in length"),
        (r"\begin{cases} a & b & c \end{cases}", 6, "two columns"),
        (r"\begin{matrix} a \end{pmatrix}", 17, "is ended by"),
        (r"\begin{array}{lx} a \end{array}", 13, "l, c and r"),
        (r"\begin{array}{l} a & b \end{array}", 6, "1 columns"),
        (r"a \\ b", 2, "outside an environment"),
        (r"\begin{matrix} a \\[2pt] b \end{matrix}", 19, "row spacing"),
        (r"\text{a $x$}", 8, "inside a text"),
        (r"\text{\frac}", 6, "inside a text"),
        (r"50%", 2, r"write \%"),
        (r"a $ b", 2, r"write \$"),
        (r"#1", 0, r"write \#"),
        (r"é", 0, "not LaTeX"),
        (r"a\tag{1}", 1, "not a command"),
        (r"\mathbb q", 0, "capital letters"),
        (r"\mathbb 2", 0, "capital letters"),
        (r"\mathcal l", 0, "capital letters"),
        (r"x^\frac12", 2, "braces around"),
        (r"\big x", 5, "delimiter"),
        (r"x\limits_j", 1, "no limits"),
        (r"^", 1, "superscript"),
        (r"\color{red} x", 0, "not a command"),
        (r"\\", 0, "outside an environment"),
        ("", 0, "empty"),
        ("  ", 0, "empty"),
        ("{" * 60 + "}" * 60, 40, "deep"),
        ("x" * 20_001, 0, "more than"),
    ],
)
def test_refused(source: str, column: int, message: str) -> None:
    with pytest.raises(TypesetError) as error:
        parse(source)
    assert message in error.value.message
    assert error.value.column == column


def test_the_error_points_at_the_place() -> None:
    with pytest.raises(TypesetError) as error:
        parse(r"a + b + \foo + c")
    lines = str(error.value).split("\n")
    assert lines[2].index("^") == lines[1].index(r"\foo")


def test_the_docstring_lists_exactly_the_commands_that_are_read() -> None:
    table = (module.__doc__ or "").split("Not read")[0]
    listed = set(re.findall(r"\\([A-Za-z]+)", table))
    known = set(SYMBOLS) | set(LETTERS) | set(FUNCTIONS)
    missing = known - listed - set(LETTERS)  # Greek stands there as "all of it"
    assert missing == set()
    unknown = {name for name in listed if name not in module._KNOWN}
    assert unknown == set()


def test_thousands_are_one_number_and_a_comma_is_not() -> None:
    assert parse("7{,}241{,}732.5") == n.Number("7,241,732.5")
    assert [type(i) for i in parse("1,234").items] == [n.Number, n.Symbol, n.Number]  # type: ignore[union-attr]


def test_scripts_bind_to_the_atom_before() -> None:
    tree = parse(r"2x_i^2")
    assert tree == n.Row((n.Number("2"), n.Scripts(n.Letter("x"), n.Letter("i"), n.Number("2"))))


def test_a_label_of_a_brace_is_its_label() -> None:
    assert parse(r"\underbrace{x}_{y}^2") == n.Scripts(
        n.Brace(False, n.Letter("x"), n.Letter("y")), None, n.Number("2")
    )


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="\\{}^_&$#%abx12()[]|.,' \nfracleftrightsqrt", max_size=40))
def test_any_text_is_a_tree_or_an_error_inside_it(source: str) -> None:
    try:
        parse(source)
    except TypesetError as error:
        assert 0 <= error.column <= max(len(source), 1)
        assert error.message
