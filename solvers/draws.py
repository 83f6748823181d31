"""The one source of chance: draws that give the same values on every Python for ever.

Only `random.Random(text).random()` is used, whose stream Python promises to keep; integers, choices, shuffles and
Gaussians are made from it here, since neither Python nor numpy promises stable streams for theirs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Draws:
    """A stream of draws keyed by text, e.g. `kv_cache.per_token@1/4821`."""

    __slots__ = ("unit",)

    def __init__(self, key: str) -> None:
        self.unit = Random(key).random
        """A float in [0, 1)."""

    def integer(self, low: int, high: int) -> int:
        """An integer in low..high, both included."""
        return low + int(self.unit() * (high - low + 1))

    def choice(self, items: Sequence[T]) -> T:
        """One of the items; repeated items weigh more."""
        return items[int(self.unit() * len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """The items in a drawn order."""
        out = list(items)
        for i in range(len(out) - 1, 0, -1):
            j = int(self.unit() * (i + 1))
            out[i], out[j] = out[j], out[i]
        return out

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """`count` different items in a drawn order."""
        return self.shuffled(items)[:count]

    def gauss(self) -> float:
        """A standard normal number (Box–Muller, one of the pair)."""
        return math.sqrt(-2.0 * math.log(1.0 - self.unit())) * math.cos(2.0 * math.pi * self.unit())
