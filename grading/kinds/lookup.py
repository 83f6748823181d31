"""Kinds by name. A kind's module is imported only when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grading.kinds.base import Kind

_CLASSES = {
    "number": ("grading.kinds.number", "Number"),
    "integer": ("grading.kinds.integer", "Integer"),
    "quantity": ("grading.kinds.quantity", "Quantity"),
    "vector": ("grading.kinds.vector", "Vector"),
    "matrix": ("grading.kinds.matrix", "Matrix"),
    "shape": ("grading.kinds.shape", "Shape"),
    "set": ("grading.kinds.set_", "Set"),
    "choice": ("grading.kinds.choice", "Choice"),
    "multi_choice": ("grading.kinds.multi_choice", "MultiChoice"),
    "table": ("grading.kinds.table", "Table"),
    "parts": ("grading.kinds.parts", "Parts"),
    "expression": ("grading.kinds.expression", "Expression"),
    "indexed": ("grading.kinds.indexed", "Indexed"),
    "matrix_expression": ("grading.kinds.matrix_expression", "MatrixExpression"),
}

NAMES = tuple(_CLASSES)
ADHOC = tuple(name for name in NAMES if name not in ("multi_choice", "table", "parts"))
"""The kinds of rows that bring their own key (design 4.5)."""


def kind_class(name: str) -> type[Kind]:
    """The class of a kind. Raises KeyError for a name that is none."""
    module, attribute = _CLASSES[name]
    found: type[Kind] = getattr(import_module(module), attribute)
    return found
