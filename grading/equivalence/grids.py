"""Grids of index values: numpy arrays in which every index has an axis of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grading.equivalence.draws import Dim, Draw
from grading.equivalence.matrix_values import Values

Program = Callable[["Grid"], Any]

MAX_AXES = 7


class Grid(Values):
    """One draw as floats, with index axes made on demand."""

    __slots__ = ("axes", "raw")

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self.raw = {
            name: self.arrays[name][:, 0] if not isinstance(entries[0], tuple) else self.arrays[name]
            for name, entries in draw.arrays.items()
        }
        self.axes: dict[tuple[int, int, int], Any] = {}

    def axis(self, place: int, first: int, size: int) -> Any:
        """Whole numbers from `first` along axis `place` of `MAX_AXES`."""
        import numpy as np

        key = (place, first, size)
        found = self.axes.get(key)
        if found is None:
            shape = [1] * MAX_AXES
            shape[place] = size
            found = self.axes[key] = np.arange(first, first + size).reshape(shape)
        return found


class Shifted:
    """Runs a body whose index does not start at 1: the axis of the index is replaced meanwhile."""

    def __init__(self, grid: Grid, place: int, values: Any) -> None:
        self.grid, self.place, self.values = grid, place, values

    def run(self, body: Program) -> Any:
        """The body with the index taking the given values."""
        return body(Replaced(self.grid, self.place, self.values))


class Replaced(Grid):
    """A grid in which one axis has other values."""

    __slots__ = ("place", "values")

    def __init__(self, grid: Grid, place: int, values: Any) -> None:
        self.dims, self.exact, self.scalars = grid.dims, grid.exact, grid.scalars
        self.arrays, self.raw, self.axes = grid.arrays, grid.raw, grid.axes
        self.place, self.values = place, values

    def axis(self, place: int, first: int, size: int) -> Any:
        """The replaced axis, or the plain one."""
        return self.values if place == self.place else super().axis(place, first, size)


def whole_sum(body: Program, place: int, dim: Dim, product: bool) -> Program:
    """The sum or product of a body over the whole axis that an index runs over."""

    def run(grid: Grid) -> Any:
        value = body(grid)
        size = grid.size(dim)
        if getattr(value, "ndim", 0) != MAX_AXES or value.shape[place] == 1 != size:
            # the body does not depend on the index
            return value**size if product else value * size
        return value.prod(axis=place, keepdims=True) if product else value.sum(axis=place, keepdims=True)

    return run


def _named(name: str) -> Callable[[Any], Any]:
    def run(value: Any) -> Any:
        import numpy as np

        return getattr(np, name)(value)

    return run


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "ln": _named("log"),
    "abs": abs,
    "ceil": _named("ceil"),
    "asin": _named("arcsin"),
    "acos": _named("arccos"),
    "atan": _named("arctan"),
    "asinh": _named("arcsinh"),
    "acosh": _named("arccosh"),
    "atanh": _named("arctanh"),
    "logistic": lambda x: 1.0 / (1.0 + _named("exp")(-x)),
    **{name: _named(name) for name in ("exp", "sqrt", "floor", "sign", "sin", "cos", "tan", "sinh", "cosh", "tanh")},
}
