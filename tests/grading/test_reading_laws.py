"""Laws of reading: what is printed reads back to the same tree, in every notation."""

from __future__ import annotations

from hypothesis import assume, given, settings

from grading.reading.grammar import read
from grading.reading.show import latex, show
from grading.reading.tree import Node
from tests.grading.trees import (
    INDEXED,
    MATRIX,
    SCALAR,
    indexed,
    matrices,
    numbers,
    python,
    same_product,
    scalar_names,
    scalars,
    size,
)

PRODUCTS = ("space", "star", "dot")
from hypothesis import strategies as st  # noqa: E402

scalar_trees = scalars(st.one_of(numbers, scalar_names), PRODUCTS)
fits = settings(max_examples=400, deadline=None)


@fits
@given(scalar_trees)
def test_plain_text_reads_back(tree: Node) -> None:
    assume(size(tree) < 120)
    assert read(show(tree), SCALAR) == tree


@fits
@given(scalar_trees)
def test_latex_reads_back(tree: Node) -> None:
    assume(size(tree) < 120)
    assert same_product(read(latex(tree), SCALAR)) == same_product(tree)


@fits
@given(scalar_trees)
def test_python_reads_back(tree: Node) -> None:
    assume(size(tree) < 120)
    assert same_product(read(python(tree), SCALAR)) == same_product(tree)


@fits
@given(indexed())
def test_indexed_reads_back(tree: Node) -> None:
    assume(size(tree) < 120)
    assert read(show(tree), INDEXED) == tree
    assert same_product(read(latex(tree), INDEXED)) == same_product(tree)


@fits
@given(matrices())
def test_matrices_read_back(tree: Node) -> None:
    assume(size(tree) < 120)
    assert read(show(tree), MATRIX) == tree
    assert same_product(read(latex(tree), MATRIX)) == same_product(tree)
