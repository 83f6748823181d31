"""What the kinds share that hold numbers against a tolerance: numbers, vectors, matrices, tables, sets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from grading.band import Bands
from grading.closeness import Closeness
from grading.kinds.base import Kind


@dataclass(frozen=True)
class Numeric(Kind):
    """Common part of kinds of numbers: how values are shown and which answers pass, worked out once a kind."""

    @cached_property
    def _close(self) -> Closeness:
        return Closeness(self.tolerance)

    @cached_property
    def _bands(self) -> Bands:
        return Bands(self.tolerance)

    @cached_property
    def _method(self) -> str:
        return "exact" if self.tolerance.exact else "tolerance"
