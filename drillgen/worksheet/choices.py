"""Options: those that a drill words itself, and multiple choice made of a problem's slips.

The order of made options hangs on the id and each option's own text alone. So an id gives the same letters wherever
it is printed, keys are spread evenly over the letters, and the order gives nothing away, not even for a sealed set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grading.verdict import Verdict

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MOST = 5
FEWEST = 3
"""Fewer options than this are no question: such a problem stays open."""


@dataclass(frozen=True)
class Choice:
    """One option. text: Markdown where the drill words it, plain text where it is made of a slip. key: the drill's
    own key of the option, or the slip's id."""

    letter: str
    text: str
    plain: bool
    right: bool
    key: str = ""


def of_options(problem: Mapping[str, Any]) -> tuple[Choice, ...]:
    """The options that the problem shows, in its order."""
    value = problem["answer"]["value"]
    right = set(value) if isinstance(value, list) else {value}
    return tuple(
        Choice(letter, str(option["text"]), False, option["key"] in right, str(option["key"]))
        for letter, option in zip(LETTERS, problem["options"], strict=False)
    )


def of_slips(problem: Mapping[str, Any], grade: Callable[[str], Verdict] | None = None) -> tuple[Choice, ...]:
    """Key and slips as options; () where too few slips differ from the key and from each other.

    With `grade`, a slip counts only where its shown text is graded wrong.
    """
    key = str(problem["answer"]["show"])
    wrong: dict[str, str] = {}
    for slip in problem["slips"]:
        show = str(slip["show"])
        if show != key and show not in wrong and (grade is None or grade(show).verdict == "wrong"):
            wrong[show] = str(slip["id"])
    kept = sorted(wrong, key=lambda show: _rank(problem["id"], "which", show))[: MOST - 1]
    if len(kept) + 1 < FEWEST:
        return ()
    order = sorted([key, *kept], key=lambda show: _rank(problem["id"], "order", show))
    return tuple(
        Choice(letter, show, True, show == key, wrong.get(show, ""))
        for letter, show in zip(LETTERS, order, strict=False)
    )


def _rank(id: Any, what: str, show: str) -> bytes:
    return blake2b(f"{id}/{what}/{show}".encode(), digest_size=8).digest()
