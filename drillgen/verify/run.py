"""Runs the rows and holds each against its printed value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from drillgen import catalog
from drillgen.instance import plain
from drillgen.verify.rows import Property, Row

TOOLKIT = "c00_toolkit"


@dataclass(frozen=True)
class Published:
    """One printed number. tol: {"abs": x}, {"rel": x}, {"max": x} or {"factor": x}."""

    id: str
    card: int
    what: str
    shown: str
    expected: Any
    tol: dict[str, float]
    kind: str
    scored: bool
    note: str


@dataclass(frozen=True)
class Result:
    """One row of the table: value and ok are None where a row cannot be recomputed (note says why)."""

    row: Published
    value: Any
    ok: bool | None
    note: str

    def to_json(self) -> dict[str, Any]:
        """The object of design 4.7."""
        return {
            "id": self.row.id, "card": self.row.card, "printed": self.row.shown, "value": plain(self.value),
            "ok": self.ok, "note": self.note,
        }  # fmt: skip


@cache
def published() -> tuple[Published, ...]:
    """All printed numbers in order."""
    text = (Path(__file__).parent / "published.jsonl").read_text("utf-8")
    return tuple(Published(**json.loads(line)) for line in text.splitlines())


@cache
def rows_of(card: int) -> dict[str, Row | Property]:
    """How the rows of a card (0: the toolkit) are recomputed."""
    slug = catalog.slugs()[card] if card else TOOLKIT
    found: dict[str, Row | Property] = import_module(f"drillgen.verify.{slug}").ROWS
    return found


def matches(value: Any, expected: Any, tol: dict[str, float]) -> bool:
    """Whether a recomputed value meets the printed one by the row's own rule, entry by entry."""
    if isinstance(expected, list):
        return (
            isinstance(value, list)
            and len(value) == len(expected)
            and all(matches(v, e, tol) for v, e in zip(value, expected, strict=True))
        )
    if isinstance(expected, bool) or isinstance(value, bool | str | None):
        return bool(value == expected) and type(value) is type(expected)
    if "max" in tol:
        return abs(float(value)) <= tol["max"]
    if "factor" in tol:
        return float(expected) / tol["factor"] <= float(value) <= float(expected) * tol["factor"]
    if "rel" in tol:
        return abs(float(value) - float(expected)) <= tol["rel"] * abs(float(expected))
    # The printed digits are meant, and their float neighbours are not to decide.
    return abs(float(value) - float(expected)) <= tol["abs"] * (1 + 1e-9) + 1e-15 * abs(float(expected))


def run(card: int | None = None) -> Iterator[Result]:
    """Recompute the rows of one card, or of all cards and the toolkit."""
    for row in published():
        if card is not None and row.card != card:
            continue
        if not row.scored:
            yield Result(row, None, None, row.note or "given, not computed")
            continue
        how = rows_of(row.card)[row.id]
        value = plain(how.value())
        yield Result(row, value, matches(value, row.expected, row.tol), how.note)
