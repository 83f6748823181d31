"""An answer in several parts, each of a kind of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from grading.errors import Unreadable
from grading.kinds.base import Comparison, Kind, Samples
from grading.reading.lists import Cell, cut, peeled, strip, words

Follow = Callable[[int, Sequence[Any]], Any]
"""The key of part `index`, from 0, worked out from the learner's own earlier answers (None where there is none);
None where it cannot be carried on."""

_NAMED = re.compile(r"\s*(?:\(?([A-Za-zα-ω][\w']*)\)?\s*(?:=|:(?!\d)|\))|\(([a-z])\))\s*")
_COUNT = re.compile(r"(^|[;\n])\s{0,20}\(?([A-Ia-i1-9])[).]\s{1,20}(?=\S)")
_SCALARS = frozenset({"number", "integer", "quantity"})
_NESTED = frozenset({"parts", "table", "matrix"})
"""Kinds whose own answers are separated by semicolons or newlines too."""


@dataclass(frozen=True, slots=True)
class Part:
    """name: how the part is called ("a", "H"). kind: how it is graded. prompt: what is asked."""

    name: str
    kind: Kind
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class Pieces:
    """What was read of every part: a given, or why it could not be read."""

    givens: tuple[Any, ...]


@dataclass(frozen=True)
class Parts(Kind):
    """Several parts. Values: a list, one value a part. In one string the parts are separated by semicolons or
    newlines (by commas where every part is one number), in order or as name = value.

    follow: how a later key follows from earlier answers. A part that meets only the key that follows from the
    learner's own earlier answers is right, and says so.
    """

    name: ClassVar[str] = "parts"
    parts: tuple[Part, ...] = ()
    follow: Follow | None = None

    def parse(self, text: str) -> Pieces:
        if not text.strip():
            raise Unreadable("the answer is empty", 0)
        cells = self._assigned(self._cells(text))
        givens: list[Any] = []
        for part, cell in zip(self.parts, cells, strict=True):
            if cell is None or not cell.text.strip():
                givens.append(Unreadable("nothing is given"))
                continue
            try:
                givens.append(part.kind.parse(cell.text))
            except Unreadable as error:
                column = None if error.column is None else error.column + cell.start
                givens.append(Unreadable(error.message, column))
        if all(isinstance(given, Unreadable) for given in givens):
            first: Unreadable = givens[0]
            raise Unreadable(f"part {self.parts[0].name}: {first.message}", first.column)
        return Pieces(tuple(givens))

    def texts(self, text: str) -> dict[str, str]:
        """The text typed for each part by its name; parts that are missing are left out."""
        cells = self._assigned(self._cells(text))
        return {
            part.name: cell.text.strip()
            for part, cell in zip(self.parts, cells, strict=True)
            if cell is not None and cell.text.strip()
        }

    def _cells(self, text: str) -> list[Cell]:
        whole = strip(Cell(self._unnumbered(text), 0))
        if any(part.kind.name in _NESTED for part in self.parts):
            lines = [piece for piece in cut(whole, "\n") if piece.text.strip()]
            if len(lines) > 1 and (len(lines) == len(self.parts) or all(map(self._label, lines))):
                return lines
        for separators in (";", "\n"):
            pieces = [piece for piece in cut(whole, separators) if piece.text.strip() or separators == ";"]
            if len(pieces) > 1:
                return pieces
        if all(part.kind.name in _SCALARS for part in self.parts) and len(self.parts) > 1:
            inner = peeled(whole)
            pieces = cut(whole if inner is None else inner, ",")
            if len(pieces) == len(self.parts):
                return pieces
            if inner is not None:
                for separators in (";", "\n"):
                    pieces = cut(inner, separators)
                    if len(pieces) > 1:
                        return pieces
            if all(part.kind.name != "quantity" for part in self.parts):
                spread = words(whole if inner is None else strip(inner))
                if len(spread) == len(self.parts):
                    return spread
        return [whole]

    def _unnumbered(self, text: str) -> str:
        """The text without (a) (b) … or 1) 2) … in front of the parts, blanked out, where they count all parts off."""
        found = list(_COUNT.finditer(text))
        marks = "".join(mark.group(2).lower() for mark in found)
        named = {part.name.lower() for part in self.parts} & set(marks)
        if (
            len(marks) != len(self.parts)
            or named
            or not ("abcdefghi".startswith(marks) or "123456789".startswith(marks))
        ):
            return text
        return _COUNT.sub(lambda mark: mark.group(1) + " " * (mark.end() - mark.end(1)), text)

    def _assigned(self, pieces: list[Cell]) -> list[Cell | None]:
        """The piece of every part: by name where all carry one, else in order."""
        found: list[Cell | None] = [None] * len(self.parts)
        labels = [self._label(piece) for piece in pieces]
        if any(labels):
            into: int | None = None
            for place, (label, piece) in enumerate(zip(labels, pieces, strict=True)):
                if label is None and into is not None and (before := found[into]) is not None:
                    # What follows a named part that has parts of its own belongs to it: b = -2; -6; 5.
                    found[into] = Cell(f"{before.text};{piece.text}", before.start)
                    continue
                vacant = place < len(found) and found[place] is None
                at, skip = label or (place if vacant else None, 0)
                if at is not None:
                    found[at] = Cell(piece.text[skip:], piece.start + skip)
                    into = at if label and self.parts[at].kind.name in _NESTED else None
            return found
        surplus = [piece for piece in pieces[len(self.parts) :] if piece.text.strip()]
        if surplus:
            raise Unreadable(f"{len(self.parts)} parts are expected, {len(pieces)} given", surplus[0].start)
        for at, piece in enumerate(pieces[: len(self.parts)]):
            found[at] = piece
        return found

    def _label(self, piece: Cell) -> tuple[int, int] | None:
        """The part that a piece names at its beginning, and where its answer begins; None where it names none."""
        label = _NAMED.match(piece.text)
        name = (label.group(1) or label.group(2)).lower() if label else ""
        for at, part in enumerate(self.parts):
            if label and part.name.lower() == name:
                return at, label.end()
        return None

    def reading(self, given: Pieces) -> str:
        shown = [
            f"{part.name} = {'?' if isinstance(piece, Unreadable) else part.kind.reading(piece)}"
            for part, piece in zip(self.parts, given.givens, strict=True)
        ]
        return "; ".join(shown)

    def show(self, value: Any) -> str:
        return "; ".join(part.kind.show(x) for part, x in zip(self.parts, value, strict=True))

    def compare(self, given: Pieces, value: Any) -> Comparison:
        carried = [
            None if isinstance(piece, Unreadable) else part.kind.plain(piece)
            for part, piece in zip(self.parts, given.givens, strict=True)
        ]
        said, outcomes, scores = [], [], []
        for at, (part, piece) in enumerate(zip(self.parts, given.givens, strict=True)):
            entry, score, words = self._one(at, part, piece, value[at], carried)
            outcomes.append(entry)
            scores.append(score)
            if words:
                said.append(f"part {part.name}: {words}")
        right: bool | None = all(entry["verdict"] == "right" and "follows_own" not in entry for entry in outcomes)
        if not right and any(entry["verdict"] is None and "status" not in entry for entry in outcomes):
            right = None if all(entry["verdict"] != "wrong" for entry in outcomes) else False
        method = "exact" if all(entry.get("method") in ("exact", None) for entry in outcomes) else "tolerance"
        return Comparison(right, method, "; ".join(said), sum(scores) / len(scores), parts=tuple(outcomes))

    def _one(
        self, at: int, part: Part, piece: Any, key: Any, carried: Sequence[Any]
    ) -> tuple[dict[str, Any], float, str]:
        """The entry of one part, its score, and what to say about it."""
        if isinstance(piece, Unreadable):
            return (
                {"name": part.name, "status": "invalid", "verdict": None, "score": None},
                0.0,
                piece.message,
            )
        outcome = part.kind.compare(piece, key)
        verdict = None if outcome.right is None else ("right" if outcome.right else "wrong")
        score = outcome.score if outcome.score is not None else float(bool(outcome.right))
        entry: dict[str, Any] = {
            "name": part.name,
            "verdict": verdict,
            "score": score,
            "method": outcome.method,
        }
        if outcome.right is False:
            own = self._followed(at, carried)
            if own is not None and part.kind.compare(piece, own).right:
                entry |= {"verdict": "right", "score": 1.0, "follows_own": True}
                return entry, 1.0, f"consistent with your part {self.parts[at - 1].name}"
        return entry, score, outcome.detail or ("differs" if outcome.right is False else "")

    def _followed(self, at: int, carried: Sequence[Any]) -> Any:
        """The key that follows from the learner's own earlier answers."""
        if self.follow is None or at == 0 or all(x is None for x in carried[:at]):
            return None
        try:
            return self.follow(at, tuple(carried[:at]))
        except (ArithmeticError, ValueError, TypeError):
            return None  # a carried value outside the domain: nothing follows from it

    def is_slip(self, given: Pieces, slip: Any, key: Any) -> bool:
        """A slip explains the answer where every part that is wrong is what the slip leads to."""
        wrong = 0
        for part, piece, x, y in zip(self.parts, given.givens, slip, key, strict=True):
            if isinstance(piece, Unreadable) or part.kind.compare(piece, y).right:
                continue
            if x is None or not part.kind.compare(piece, x).right:
                return False
            wrong += 1
        return wrong > 0

    def agrees(self, a: Any, b: Any, slack: float = 1.0) -> bool:
        return all(
            x is None or y is None or part.kind.agrees(x, y, slack) for part, x, y in zip(self.parts, a, b, strict=True)
        )

    def answer_format(self) -> str:
        names = "; ".join(f"{part.name} = …" for part in self.parts)
        return f"{len(self.parts)} parts separated by semicolons, in order or as {names}"

    def precision(self) -> str:
        rules = list(dict.fromkeys(part.kind.precision() for part in self.parts))
        if len(rules) == 1:
            return f"{rules[0]}, each part"
        return "; ".join(f"{part.name}: {part.kind.precision()}" for part in self.parts)

    def samples(self, value: Any) -> Samples:
        each = [part.kind.samples(x) for part, x in zip(self.parts, value, strict=True)]
        shown = [part.kind.show(x) for part, x in zip(self.parts, value, strict=True)]
        right = ["; ".join(shown), "\n".join(shown)]
        right.append("; ".join(f"{part.name} = {text}" for part, text in zip(self.parts, shown, strict=True)))
        wrong = ["; ".join([*shown[:-1], text]) for text in each[-1].wrong[:3] if ";" not in text and "\n" not in text]
        return Samples(tuple(right), tuple(wrong), ("", "   "))
