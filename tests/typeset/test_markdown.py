"""The Markdown reader: blocks and inlines, and what it refuses."""

from __future__ import annotations

import pytest

from drillgen.typeset import TypesetError, check
from drillgen.typeset import blocks as b
from drillgen.typeset.markdown import read

from .samples import TEXTS


def test_the_samples_use_every_block_and_inline() -> None:
    seen: set[type] = set()

    def walk(item: object) -> None:
        if isinstance(item, tuple):
            for one in item:
                walk(one)
        elif isinstance(item, b.INLINE_TYPES + b.BLOCK_TYPES):
            seen.add(type(item))
            for name in getattr(type(item), "__slots__", ()):
                walk(getattr(item, name))

    for text in TEXTS:
        walk(read(text))
    assert seen == set(b.INLINE_TYPES) | set(b.BLOCK_TYPES)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("# head", 0, "heading"),
        ("a\n\n> quoted", 3, "quotation"),
        ("a\n---\nb", 2, "heading"),
        ("***", 0, "rule"),
        ("    code", 0, "four spaces"),
        ("a\tb", 1, "tab"),
        ("see [a](b)", 6, "link"),
        ("![a](b)", 0, "image"),
        ("a <b>x</b>", 2, "HTML"),
        ("<!-- c -->", 0, "HTML"),
        ("x &lt; y", 2, "entity"),
        ("~~a~~", 0, "struck"),
        ("_a_ b", 0, "underscore"),
        ("2*L*H", 1, "inside a word"),
        ("a **b", 2, "never closed"),
        ("a *b", 2, "never closed"),
        ("a* b", 1, "closes nothing"),
        ("a `b", 2, "never closed"),
        ("cost $5", 5, "never closed"),
        ("$ x$", 0, "space inside"),
        ("$x $", 0, "space inside"),
        (r"use \frac12", 4, "outside a formula"),
        ("a\n\nb $x + \\foo$", 10, "not a command"),
        ("- a\n- b $\\foo$", 9, "not a command"),
        ("| a | b |\n|---|---|\n| 1 |", 20, "cells"),
        ("| a | b |\n|---|", 10, "separator"),
        ("```\nx", 0, "never closed"),
        ("-\n\nx", 1, "empty list item"),
        ("- " * 12 + "x", 18, "deep"),
        ("**a $$b$$**", 2, "displayed"),
    ],
)
def test_refused(text: str, column: int, message: str) -> None:
    with pytest.raises(TypesetError) as error:
        check(text)
    assert message in error.value.message
    assert error.value.column == column


@pytest.mark.parametrize(
    "text",
    ["a_b and d_k and H_kv", "2 * 3 * 4", "x < 3 and y > 2", "P^T", "[1, 2]", "(a) [b]",
     "50 % of $5\\%$", "\\$5", "a - b",
     "5. of the rows", "x = 3\ny = 4", "2024 \\* 3", "a | b", "A & B", "snake_case_name_"],
)  # fmt: skip
def test_plain_signs_stay_text(text: str) -> None:
    check(text)


def test_a_number_that_wraps_to_a_line_start_is_no_list() -> None:
    (block,) = read("the value of row\n12. is large")
    assert isinstance(block, b.Paragraph)


def test_columns_of_errors_in_lists_and_tables_point_into_the_source() -> None:
    text = "1. one\n   more $\\alpha$\n2. two $\\foo$"
    with pytest.raises(TypesetError) as error:
        check(text)
    assert text[error.value.column :].startswith(r"\foo")
    table = "| a |\n|---|\n| $\\foo$ |"
    with pytest.raises(TypesetError) as error:
        check(table)
    assert table[error.value.column :].startswith(r"\foo")
