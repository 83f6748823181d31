"""Grade one answer against one key and name the mistake (design 4.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from grading.errors import Unreadable
from grading.kinds.base import Comparison, Kind
from grading.verdict import Verdict


class SlipKey(NamedTuple):
    """The value that a known mistake leads to, and what to say to whoever made it."""

    id: str
    value: Any
    remark: str


def grade(kind: Kind, text: str, value: Any, slips: Sequence[SlipKey] = (), *, id: Any = None) -> Verdict:
    """Read `text` as an answer of `kind` and hold it against the key `value`, then against every slip.

    An unreadable text gives status invalid (it costs no attempt). All slips that the answer agrees with are named;
    generic findings are looked for only where none does. Failures of the grader itself are not caught here: they
    belong to whoever keeps the books, and are never a 0.
    """
    try:
        given = kind.parse(text)
    except Unreadable as error:
        return invalid(kind, text, error, id)
    outcome = kind.compare(given, value)
    if outcome.right is not False:
        return judged(kind, given, outcome, id=id)
    matching = [slip for slip in slips if kind.is_slip(given, slip.value, value)] if slips else ()
    return judged(kind, given, outcome, matching, kind.findings(given, value) if not matching else (), id)


def invalid(kind: Kind, text: str, error: Unreadable, id: Any = None) -> Verdict:
    """The verdict on a text that cannot be read: the message and the text with a caret under the place."""
    from grading.reading.screen import caret

    detail = error.message
    if error.column is not None:
        detail += "\n" + caret(text, error.column)
    return Verdict(status="invalid", kind=kind.name, detail=detail, id=id)


def judged(
    kind: Kind,
    given: Any,
    outcome: Comparison,
    slips: Sequence[SlipKey] = (),
    findings: Sequence[Any] = (),
    id: Any = None,
) -> Verdict:
    """The verdict on a comparison that was made."""
    right = outcome.right
    score = outcome.score
    if score is None and right is not None:
        score = 1.0 if right else 0.0
    return Verdict(
        status="graded",
        verdict=None if right is None else ("right" if right else "wrong"),
        score=score,
        method=outcome.method,
        slips=tuple(slip.id for slip in slips) if slips else (),
        remarks=_remarks(slips) if slips else (),
        findings=() if slips else (*outcome.findings, *findings),
        reading=kind.reading(given),
        detail=outcome.detail,
        witness=outcome.witness,
        parts=outcome.parts,
        kind=kind.name,
        id=id,
    )


def _remarks(slips: Sequence[SlipKey]) -> tuple[str, ...]:
    """One remark as it is; several mistakes that lead to the same value are offered as alternatives."""
    texts = list(dict.fromkeys(slip.remark for slip in slips if slip.remark))
    if len(texts) < 2:
        return tuple(texts)
    return ("either: " + " — or: ".join(texts),)
