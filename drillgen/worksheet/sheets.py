"""Sheets from instances, and their rendering in every form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drillgen.worksheet.options import FORMS, Options
from drillgen.worksheet.question import Question, question
from drillgen.worksheet.regrade import regrade

if TYPE_CHECKING:
    from drillgen.worksheet.roster import Student


@dataclass(frozen=True)
class Sheet:
    """One person's questions, regraded."""

    questions: tuple[Question, ...]
    student: Student | None = None

    @property
    def points(self) -> int:
        """What the score line counts to."""
        return sum(question.points for question in self.questions)


def build(instances: Iterable[Any], options: Options | None = None, student: Student | None = None) -> Sheet:
    """A sheet of instances (drills or scenarios), its key graded; raises KeyRefused where the grader refuses it."""
    options = options or Options()
    questions = tuple(
        question(number, instance.problem(True), options, instance.grade)
        for number, instance in enumerate(instances, 1)
    )
    if not questions:
        raise ValueError("a sheet holds at least one problem")
    regrade(questions)
    return Sheet(questions, student)


def render(sheets: Sequence[Sheet], options: Options | None = None, form: str = "pdf", key: bool = False) -> bytes:
    """All sheets, or with `key` all their keys, as one document: pdf, html, md or tex."""
    if form not in FORMS:
        raise ValueError(f"a sheet is {', '.join(FORMS)}, not {form}")
    made = _writer(form).render(sheets, options or Options(), key)
    return made if isinstance(made, bytes) else str(made).encode()


def render_each(sheets: Sequence[Sheet], options: Options | None = None, form: str = "pdf") -> Iterator[bytes]:
    """A document for each sheet, in order."""
    if form == "pdf":
        from drillgen.worksheet import pdf

        yield from pdf.render_each(sheets, options or Options())
        return
    for sheet in sheets:
        yield render([sheet], options, form)


def _writer(form: str) -> Any:
    from importlib import import_module

    return import_module(f"drillgen.worksheet.{form}")
