"""A problem as other systems take it: one question with one answer; scenarios fall into their parts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drillgen.worksheet.choices import Choice, of_options, of_slips
from drillgen.worksheet.question import SYMBOLIC

NUMERIC = frozenset({"number", "integer", "quantity"})


@dataclass(frozen=True)
class Slip:
    """A wrong answer and its remark (Markdown)."""

    id: str
    value: Any
    show: str
    remark: str


@dataclass(frozen=True)
class Item:
    """One question. problem: design 4.2 with answers, of a plain drill or of one part of a scenario.

    id: what rebuilds it (a part's is the scenario's id with `#a`). prompt: with the scenario's lead where it has one.
    choices: the options, where it is a choice or was made one.
    """

    id: str
    problem: Mapping[str, Any]
    prompt: str
    choices: tuple[Choice, ...]

    @property
    def kind(self) -> str:
        """The answer kind; "choice" where options were made of slips."""
        return "choice" if self.choices and "options" not in self.problem else str(self.problem["kind"])

    @property
    def value(self) -> Any:
        return self.problem["answer"]["value"]

    @property
    def show(self) -> str:
        return str(self.problem["answer"]["show"])

    @property
    def unit(self) -> str:
        """The unit of the key's value; "" for a bare number."""
        unit = str(self.problem["answer"].get("unit", "")) if self.problem["kind"] == "quantity" else ""
        return "" if unit.startswith("none") else unit

    @property
    def asked(self) -> str:
        """How to answer, in words."""
        if self.choices:
            return ""
        return f"{self.problem['answer_format']}; {self.problem['precision']}"

    @property
    def slips(self) -> tuple[Slip, ...]:
        return tuple(
            Slip(str(s["id"]), s["value"], str(s["show"]), str(s["remark"])) for s in self.problem.get("slips", ())
        )

    @property
    def hints(self) -> tuple[str, ...]:
        return tuple(self.problem.get("hints", ()))

    @property
    def solution(self) -> str:
        return str(self.problem["solution"])

    @property
    def tags(self) -> tuple[str, ...]:
        """Words without spaces to file it under."""
        problem = self.problem
        topic = str(problem["drill"])
        moves = (f"move-{move}" for move in problem["moves"])
        return (
            "drillgen",
            f"card-{problem['card']:02d}",
            topic,
            f"stars-{problem['stars']}",
            str(problem["kind"]),
            *moves,
        )

    @property
    def symbolic(self) -> bool:
        return self.problem["kind"] in SYMBOLIC


def flatten(problem: Mapping[str, Any], made_choices: bool = False) -> Iterator[Item]:
    """The items of a problem with answers. made_choices: options are made of slips where there are enough."""
    if "cards" in problem and "parts" in problem:
        for part in problem["parts"]:
            lead = f"{problem['prompt']}\n\n**({part['name']})** " if part["prompt"] else str(problem["prompt"])
            yield _item(f"{problem['id']}#{part['name']}", part, lead + str(part["prompt"]), made_choices)
        return
    yield _item(str(problem["id"]), problem, str(problem["prompt"]), made_choices)


def _item(id: str, problem: Mapping[str, Any], prompt: str, made_choices: bool) -> Item:
    choices: tuple[Choice, ...] = ()
    if "options" in problem:
        choices = of_options(problem)
    elif made_choices and "parts" not in problem:
        choices = of_slips({**problem, "id": id})
    return Item(id, problem, prompt, choices)


def is_number(value: Any) -> bool:
    """Whether a value is a finite number (and not a bool)."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def slack(value: float, tolerance: Mapping[str, Any]) -> float:
    """How far from the key an answer may lie, in the key's unit: what other systems call the tolerance."""
    if "sig" in tolerance:
        if value == 0:
            return 0.0
        return 0.5 * 10.0 ** (math.floor(math.log10(abs(value))) + 1 - int(tolerance["sig"]))
    return float(tolerance.get("abs", 0.0)) + float(tolerance.get("rel", 0.0)) * abs(value)


def decimal(value: float) -> str:
    """A number as every system reads it: whole numbers whole, others with up to 12 digits, no grouping."""
    if isinstance(value, int) or (float(value).is_integer() and abs(value) < 1e15):
        return str(int(value))
    return f"{value:.12g}"


def entries(item: Item) -> list[list[Any]] | None:
    """What is entered field by field: vectors, matrices and tables of finite numbers; else None."""
    return cells(item.value) if item.problem["kind"] in ("vector", "matrix", "table") else None


def cells(value: Any) -> list[list[Any]] | None:
    """The entries of a vector (one row) or matrix, where all are finite numbers; else None."""
    if not isinstance(value, list) or not value:
        return None
    rows = value if all(isinstance(row, list) for row in value) else [value]
    if not all(row and all(is_number(entry) for entry in row) for row in rows):
        return None
    return rows


def spellings(item: Item) -> list[str]:
    """Texts of the key that a system which compares letter by letter should take as right."""
    show = item.show
    tight = show.replace(" ", "")
    out = [show, tight]
    if item.kind in ("shape", "set", "vector"):
        inner = show.strip("()[]{} ")
        parts = [part.strip() for part in inner.split(",")]
        for left, right in ("()", "[]", "{}", ("", "")):
            out += [f"{left}{', '.join(parts)}{right}", f"{left}{','.join(parts)}{right}"]
        if item.kind == "shape":
            out += [" x ".join(parts), "x".join(parts)]
    return list(dict.fromkeys(out))


def entries_of(slips: Sequence[Slip], row: int, column: int, nested: bool) -> Iterator[tuple[float, str]]:
    """What each slip has in one entry, with its remark, where the slip's value has the key's form."""
    for slip in slips:
        try:
            entry = slip.value[row][column] if nested else slip.value[column]
        except (TypeError, IndexError, KeyError):
            continue
        if is_number(entry):
            yield entry, slip.remark
