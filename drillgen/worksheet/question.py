"""A problem as a sheet sees it: what is asked, on which line it is answered, and what the key says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from drillgen.worksheet.choices import Choice, of_options, of_slips
from drillgen.worksheet.options import Options

if TYPE_CHECKING:
    from grading.verdict import Verdict

SYMBOLIC = frozenset({"expression", "indexed", "matrix_expression"})
ARRAYS = frozenset({"vector", "matrix", "table", "shape", "set"})
CODE = SYMBOLIC | ARRAYS
"""Kinds whose answers are printed as they are typed."""
PLAIN = frozenset({"integer", "number"})
"""Kinds whose answers are one number without a unit."""


@dataclass(frozen=True)
class Part:
    """What is asked and answered at one place; `name` is "" where a problem is not in parts.

    show: the answer as a person would type it. code: it is printed as code. space: mm of working space.
    """

    name: str
    kind: str
    prompt: str
    answer_format: str
    precision: str
    show: str
    choices: tuple[Choice, ...]
    space: float

    @property
    def code(self) -> bool:
        return self.kind in CODE

    @property
    def answer(self) -> str:
        """What the key prints: the letters of a choice, else the answer as typed."""
        if self.choices:
            return ", ".join(c.letter for c in self.choices if c.right) or "none"
        return grouped(self.show) if self.kind in PLAIN else self.show

    @property
    def format(self) -> str:
        """The small print under the answer line."""
        if self.kind == "multi_choice":
            return "circle all that are right (none may be)"
        if self.choices:
            return "circle one"
        return f"{self.answer_format}; {self.precision}"


@dataclass(frozen=True)
class Slip:
    """A known wrong answer as the key lists it. part: the part's name in a scenario, else "". remark: Markdown."""

    part: str
    show: str
    remark: str

    @property
    def mark(self) -> str:
        """The part before it: "(a) ", or nothing."""
        return f"({self.part}) " if self.part else ""


@dataclass(frozen=True)
class Question:
    """A numbered problem. lead: what stands before the parts ("" where there is one part without a name)."""

    number: int
    problem: Mapping[str, Any]
    lead: str
    parts: tuple[Part, ...]
    grade: Callable[[str], Verdict] | None = None

    @property
    def id(self) -> str:
        return str(self.problem["id"])

    @property
    def minutes(self) -> int:
        return int(self.problem["minutes"])

    @property
    def points(self) -> int:
        """What it counts on the score line: a scenario's parts are drills of their own, one point each."""
        return len(self.parts) if _apart(self.problem) else 1


def question(
    number: int,
    problem: Mapping[str, Any],
    options: Options,
    grade: Callable[[str], Verdict] | None = None,
) -> Question:
    """The question of a problem with its answers (design 4.2)."""
    if "parts" not in problem:
        return Question(number, problem, "", (_part("", problem, options, grade),), grade)
    shows = _shows(problem)
    parts = tuple(
        _part(str(p["name"]), {"minutes": _minutes(problem), **p}, options, None, show)
        for p, show in zip(problem["parts"], shows, strict=True)
    )
    return Question(number, problem, str(problem["prompt"]), parts, grade)


def _apart(problem: Mapping[str, Any]) -> bool:
    """Whether the parts bring their own answers and slips, as a scenario's do."""
    return all("answer" in part for part in problem.get("parts", ())) and "parts" in problem


def _minutes(problem: Mapping[str, Any]) -> float:
    # Parts that share one working get less room each than they would alone.
    return float(problem["minutes"]) / max(1, len(problem["parts"])) / 1.5


def _shows(problem: Mapping[str, Any]) -> list[str]:
    """What to print for each part: a scenario's parts bring their own answers, others are shown in one string."""
    parts: Sequence[Mapping[str, Any]] = problem["parts"]
    if _apart(problem):
        return [str(part["answer"]["show"]) for part in parts]
    pieces = str(problem["answer"]["show"]).split(";" if ";" in problem["answer"]["show"] else "\n")
    if len(pieces) != len(parts):
        raise ValueError(f"{problem['id']}: {len(parts)} parts but {len(pieces)} answers are shown")
    return [piece.partition("=")[2].strip() if _named(piece, part) else piece.strip()
            for piece, part in zip(pieces, parts, strict=True)]  # fmt: skip


def _named(piece: str, part: Mapping[str, Any]) -> bool:
    return piece.partition("=")[0].strip() == str(part["name"]) and "=" in piece


def _part(
    name: str,
    problem: Mapping[str, Any],
    options: Options,
    grade: Callable[[str], Verdict] | None,
    show: str | None = None,
) -> Part:
    from drillgen.worksheet.space import millimetres

    choices: tuple[Choice, ...] = ()
    if "options" in problem:
        choices = of_options(problem)
    elif options.choices and "slips" in problem:
        choices = of_slips(problem, grade)
        if problem["kind"] in PLAIN:
            choices = tuple(replace(choice, text=grouped(choice.text)) for choice in choices)
    shown = str(problem["answer"]["show"]) if show is None else show
    space = millimetres(str(problem["kind"]), float(problem["minutes"]), options, made=bool(choices))
    return Part(
        name, str(problem["kind"]), str(problem["prompt"]), str(problem.get("answer_format", "")),
        str(problem.get("precision", "")), shown, choices, space,
    )  # fmt: skip


def named_slips(question: Question) -> list[Slip]:
    """The slips of a problem, or of each part of a scenario; options are named by their letters."""
    if _apart(question.problem):
        pairs = zip(question.parts, question.problem["parts"], strict=True)
        return [slip for part, asked in pairs for slip in _slips(part.name, (part,), asked)]
    return list(_slips("", question.parts, question.problem))


def _slips(name: str, parts: Sequence[Part], problem: Mapping[str, Any]) -> Iterator[Slip]:
    choices = [choice for part in parts for choice in part.choices]
    letters = {choice.key: choice.letter for choice in choices if choice.key}
    # Of several slips that show one value, the option keeps the first one's id; all of them lead to its letter.
    shown = {choice.text: choice.letter for choice in choices if choice.plain and not choice.right}
    for slip in problem.get("slips", ()):
        value = slip["value"]
        keys = [slip["id"]] if slip["id"] in letters else value if isinstance(value, list) else [value]
        if letters and all(isinstance(k, str) and k in letters for k in keys):
            show = ", ".join(sorted(letters[k] for k in keys)) or "none"
        else:
            text = grouped(str(slip["show"])) if problem["kind"] in PLAIN else str(slip["show"])
            show = shown.get(text, text)
        yield Slip(name, show, str(slip["remark"]))


def grouped(show: str) -> str:
    """A whole number with its thousands set apart, as the problem prints them; anything else as it is."""
    digits = show.removeprefix("-")
    return f"{int(show):,}" if digits.isdecimal() and digits.isascii() and len(digits) < 40 else show
