"""Drawn arrays: the dimensions, the entries and the scalars at which expressions of arrays are compared.

Entries are exact rationals (floats of them are made once), so that decimals can settle what floats leave open. All
named dimensions differ from each other within a draw. The stream is fixed: the same declaration gives the same draws.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from grading.equivalence.domain import Domain, mixed
from grading.errors import BadKey

Dim = str | int
Shape = tuple[Dim, ...]

ARRAY_KINDS = ("simplex", "real vector", "unit vector", "real matrix", "permutation", "row stochastic", "ones")
MAX_SIZE = 12
LARGEST = 36
"""Largest size that a dimension is drawn with, where its domain asks for it."""
_SIZES = ((3, 2, 4, 5, 7, 6), (2, 5, 3, 4, 6, 7), (19, 3, 2, 4, 7, 6), (4, 3, 5, 2, 6, 7), (3, 5, 2, 7, 4, 6))


@dataclass(frozen=True, slots=True)
class Draw:
    """One draw: sizes of the named dimensions, exact values of scalars, nested tuples of exact entries."""

    dims: Mapping[str, int]
    scalars: Mapping[str, Fraction]
    arrays: Mapping[str, Any]


def read_shapes(shapes: Mapping[str, Any] | None) -> tuple[tuple[str, Shape], ...]:
    """Checked shapes: names or positive integers; `BadKey` on anything else."""
    out = []
    for name, shape in (shapes or {}).items():
        if isinstance(shape, (str, int)) or not isinstance(shape, (list, tuple)) or not 1 <= len(shape) <= 3:
            raise BadKey(f"shapes.{name}: a shape is a list of one to three dimensions, such as ['T', 'd_v']")
        for dim in shape:
            named = isinstance(dim, str) and dim.strip() != "" and not dim.strip().isdigit()
            sized = isinstance(dim, int) and not isinstance(dim, bool) and 1 <= dim <= MAX_SIZE
            if not (named or sized):
                raise BadKey(f"shapes.{name}: {dim!r} is no dimension; use a name or a number from 1 to {MAX_SIZE}")
        out.append((name, tuple(shape)))
    return tuple(out)


def dimensions(shapes: Mapping[str, Shape]) -> tuple[str, ...]:
    """The named dimensions in order of appearance."""
    return tuple(dict.fromkeys(dim for shape in shapes.values() for dim in shape if isinstance(dim, str)))


def draw(kinds: Mapping[str, str], shapes: Mapping[str, Shape], domain: Domain, turn: int) -> Draw:
    """The draw number `turn` for arrays of the given kinds and shapes."""
    dims = _dims(shapes, domain, turn)
    points = domain.points()
    scalars = dict(points[turn % len(points)])
    scalars.update((name, Fraction(size)) for name, size in dims.items())
    arrays: dict[str, Any] = {}
    for name, shape in shapes.items():
        sizes = tuple(dims[dim] if isinstance(dim, str) else dim for dim in shape)
        arrays[name] = _entries(kinds.get(name, "real matrix"), sizes, _Stream(f"{name}/{turn}"))
    return Draw(dims, scalars, arrays)


def _dims(shapes: Mapping[str, Shape], domain: Domain, turn: int) -> dict[str, int]:
    """Sizes of the named dimensions: all different, and inside the domain of a symbol of the same name."""
    order = _SIZES[turn % len(_SIZES)]
    taken = {dim for shape in shapes.values() for dim in shape if isinstance(dim, int) and dim > 1}
    out: dict[str, int] = {}
    for name in dimensions(shapes):
        interval = domain.interval(name)
        wanted = [*order, *range(2, LARGEST + 1), 1]
        # a domain of large numbers cannot be lived up to: any size tells the same there
        candidates = [size for size in wanted if interval.holds(Fraction(size))] or wanted
        size = next((size for size in candidates if size not in taken), None)
        if size is None:
            raise BadKey(f"{name} is a dimension: its domain leaves it no size of its own")
        out[name] = size
        taken.add(size)
    return out


class _Stream:
    """Pseudo-random rationals, the same for ever for the same seed text."""

    def __init__(self, seed: str) -> None:
        self.seed = zlib.crc32(seed.encode())
        self.turn = 0

    def below(self, n: int) -> int:
        """A whole number from 0 to n − 1."""
        self.turn += 1
        return mixed(self.seed, self.turn) * n >> 32

    def entry(self) -> Fraction:
        """A sixteenth between −2 and 2, never 0."""
        value = self.below(62) - 31
        return Fraction(value if value else 29, 16)


def _entries(kind: str, sizes: tuple[int, ...], stream: _Stream) -> Any:
    if kind == "ones":
        return _ones(sizes)
    if kind == "permutation":
        return _permutation(sizes, stream)
    if len(sizes) > 1:
        if kind in ("simplex", "unit vector", "row stochastic") and sizes[-1] == 1:
            column = _vector("simplex" if kind == "row stochastic" else kind, sizes[0], stream)
            return tuple((value,) for value in column)
        return tuple(_entries(kind, sizes[1:], stream) for _ in range(sizes[0]))
    return _vector("simplex" if kind == "row stochastic" else kind, sizes[0], stream)


def _ones(sizes: tuple[int, ...]) -> Any:
    return tuple(_ones(sizes[1:]) for _ in range(sizes[0])) if sizes else Fraction(1)


def _vector(kind: str, n: int, stream: _Stream) -> tuple[Fraction, ...]:
    if kind == "simplex":
        weights = [stream.below(40) + 3 for _ in range(n)]
        total = sum(weights)
        return tuple(Fraction(weight, total) for weight in weights)
    if kind == "unit vector" and n > 1:
        # a rational point of the sphere, by projection from a pole
        flat = [stream.entry() for _ in range(n - 1)]
        square = sum((value * value for value in flat), Fraction(0))
        return (*(2 * value / (1 + square) for value in flat), (square - 1) / (1 + square))
    if kind == "unit vector":
        return (Fraction(1),)
    return tuple(stream.entry() for _ in range(n))


def _permutation(sizes: tuple[int, ...], stream: _Stream) -> Any:
    """A permutation matrix that is not its own inverse where there is one (a cycle, then shuffled rows)."""
    n = sizes[0]
    if sizes != (n, n):
        raise BadKey("a permutation matrix is square")
    shift = 1 + stream.below(max(n - 1, 1)) if n > 2 else 1
    if n > 2 and 2 * shift == n:
        shift = 1
    return tuple(tuple(Fraction(int((row + shift) % n == column)) for column in range(n)) for row in range(n))
