"""How one published number is recomputed.

`Row` recomputes a number (nested list, truth value) at full precision in the shape and unit of the printed one: by a
closed form, linear algebra, or a stated simulation whose note names seed and sample size. `Property` states that two
routes agree: it computes both and measures how far they are apart, so that a broken route shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """compute: the recomputed value. note: how (simulation: seed and size), or what is doubtful about the print."""

    compute: Callable[[], Any]
    note: str = ""

    def value(self) -> Any:
        """The recomputed value."""
        return self.compute()


@dataclass(frozen=True)
class Property:
    """left, right: two routes to the same numbers (a number, or nested lists of one shape), no code in common.

    limit: for rows whose printed value is `true`, the largest deviation that still counts as true; None where the
    row prints the deviation itself.
    """

    left: Callable[[], Any]
    right: Callable[[], Any]
    limit: float | None = None
    note: str = ""

    def deviation(self) -> float:
        """Largest absolute difference between the two routes (inf where shapes differ or a value is NaN)."""
        a, b = list(flat(self.left())), list(flat(self.right()))
        if len(a) != len(b):
            return float("inf")
        gaps = [abs(float(x) - float(y)) if x != y else 0.0 for x, y in zip(a, b, strict=True)]
        return max((g if g == g else float("inf") for g in gaps), default=0.0)

    def value(self) -> Any:
        """The deviation, or whether it stays within the limit."""
        gap = self.deviation()
        return gap if self.limit is None else gap <= self.limit


@dataclass(frozen=True)
class Ratio(Property):
    """The first route over the second, for rows that print the ratio of two routes (1 where they agree)."""

    def value(self) -> Any:
        """left / right, exact for fractions."""
        return self.left() / self.right()


def flat(value: Any) -> Iterable[Any]:
    """The numbers of a nested list (anything with `tolist` counts as one)."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        for item in value:
            yield from flat(item)
    else:
        yield value
