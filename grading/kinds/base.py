"""The contract of an answer kind.

A *value* is what a solver returns and what a problem's JSON holds: int, float, Fraction or the string "nan" for
numbers; lists (of lists) of those for vectors, shapes, matrices and tables; a list for sets and choices, ascending;
a list in order for parts; the text of the expression for symbolic kinds. A *given* is what `parse` makes of a
learner's text: private to the kind, but it carries what is needed to echo the reading.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from grading.tolerance import EXACT, Tolerance


class Finding(NamedTuple):
    """Something that can be said about a wrong answer without giving the right one away."""

    id: str
    text: str


class Comparison(NamedTuple):
    """The outcome of holding one given against one key.

    right: True, False, or None where nothing could be decided. method: exact, tolerance, proved, sampled, refuted
    or undecided. detail: in words, where it differs (entry, shape, unit). score: share of right parts or entries.
    witness: the point and both values that refute. parts: one comparison a part, for kind parts.
    """

    right: bool | None
    method: str
    detail: str = ""
    score: float | None = None
    findings: tuple[Finding, ...] = ()
    witness: Mapping[str, Any] | None = None
    parts: tuple[Mapping[str, Any], ...] = ()


class Samples(NamedTuple):
    """Texts that a kind makes of a key to test itself: each must be graded as its list says."""

    right: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()


@dataclass(frozen=True)
class Kind(ABC):
    """An answer kind with its settings. Instances are immutable, hashable and shared between threads."""

    name: ClassVar[str]
    tolerance: Tolerance = field(default=EXACT, kw_only=True)

    @abstractmethod
    def parse(self, text: str) -> Any:
        """Read a learner's text, or raise `grading.errors.Unreadable`."""

    @abstractmethod
    def reading(self, given: Any) -> str:
        """What was understood, in the learner's own order, as plain text."""

    @abstractmethod
    def show(self, value: Any) -> str:
        """The value as a person would type it; `parse` reads it back as the same value."""

    def show_beside(self, value: Any, key: Any) -> str:
        """A slip's value as the person would type it who made the slip; the key tells in which unit, say."""
        return self.show(value)

    @abstractmethod
    def compare(self, given: Any, value: Any) -> Comparison:
        """Hold a given against a key (or a slip's value)."""

    @abstractmethod
    def agrees(self, a: Any, b: Any, slack: float = 1.0) -> bool:
        """Whether value `b`, as an answer, would pass for key `a` with the tolerance times `slack`.

        Works on plain values and is cheap: samplers call it for every slip of every draw.
        """

    @abstractmethod
    def answer_format(self) -> str:
        """What to type, with an example: "a number with a unit, e.g. 12 KiB"."""

    @abstractmethod
    def precision(self) -> str:
        """The rule in force, in words: "3 significant digits (within 1 %)"."""

    @abstractmethod
    def samples(self, value: Any) -> Samples:
        """Right, wrong and unreadable answers to a key, for the kind's own tests."""

    def is_slip(self, given: Any, slip: Any, key: Any) -> bool:
        """Whether a wrong given is what the slip leads to."""
        return self.compare(given, slip).right is True

    def findings(self, given: Any, value: Any) -> tuple[Finding, ...]:
        """What can be said about a wrong given that no slip explains, without giving the key away."""
        return ()

    def plain(self, given: Any) -> Any:
        """The value that was typed, to be carried into later parts; None where nothing can be."""
        return None

    def declared(self) -> Mapping[str, Any]:
        """symbols, arrays and shapes as in design 4.5, for symbolic kinds."""
        return {}
