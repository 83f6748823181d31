"""What the kinds share that hold numbers against a tolerance: numbers, vectors, matrices, tables, sets."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from grading.band import Bands
from grading.closeness import Closeness
from grading.kinds.base import Kind


@dataclass(frozen=True)
class Numeric(Kind):
    """Common part of kinds of numbers: how values are shown and which answers pass, worked out once a kind.

    words: what may be typed for a number where the question invites it: ("none", 0), ("up", 1).
    """

    words: tuple[tuple[str, int], ...] = field(default=(), kw_only=True)

    def word(self, text: str) -> int | None:
        """The number that a word stands for."""
        return dict(self.words).get(text.strip(" .").lower())

    @cached_property
    def _close(self) -> Closeness:
        return Closeness(self.tolerance)

    @cached_property
    def _bands(self) -> Bands:
        return Bands(self.tolerance)

    @cached_property
    def _method(self) -> str:
        return "exact" if self.tolerance.exact else "tolerance"
