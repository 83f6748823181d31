"""A key is printed only after the grader has accepted every answer in it."""

from __future__ import annotations

from collections.abc import Iterable

from drillgen.output import Refused
from drillgen.worksheet.question import Question


class KeyRefused(Refused):
    """A key that its own grader does not accept; nothing is written (exit 3)."""


def regrade(questions: Iterable[Question]) -> None:
    """Grade what the key will say; raise KeyRefused, naming the problem, unless all of it is right."""
    for question in questions:
        if question.grade is None:
            raise KeyRefused(f"{question.id}: there is no grader for this key, so it is not printed")
        _accept(question, str(question.problem["answer"]["show"]))
        for part in question.parts:
            if part.choices and not part.name:
                _choices(question)
            elif not part.name and part.answer != part.show:
                _accept(question, part.answer)


def _accept(question: Question, text: str) -> None:
    assert question.grade is not None
    verdict = question.grade(text)
    if verdict.verdict != "right":
        why = verdict.detail.splitlines()[0] if verdict.detail else verdict.status
        raise KeyRefused(
            f"{question.id}: the key says {text[:80]!r}, which its own grader does not accept ({why}); "
            "nothing was written. Please report this id."
        )


def _choices(question: Question) -> None:
    (part,) = question.parts
    if not part.choices[0].plain:
        _accept(question, part.answer)
        return
    if sum(choice.right for choice in part.choices) != 1:
        raise KeyRefused(f"{question.id}: its options do not hold exactly one right answer; nothing was written")
    for choice in part.choices:
        assert question.grade is not None
        if (question.grade(choice.text).verdict == "right") != choice.right:
            raise KeyRefused(f"{question.id}: option {choice.letter} is graded against its key; nothing was written")
