"""Several of the options offered, in any order."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

from grading.errors import Unreadable
from grading.kinds.base import Comparison, Samples
from grading.kinds.choice import Optioned, Picked
from grading.reading.screen import printable

_BETWEEN = re.compile(r"\s*(?:[,;/&+]|\band\b|\s)\s*", re.IGNORECASE)
NOTHING = frozenset({"none", "{}", "[]", "()", "∅", r"\emptyset", r"\varnothing", "nothing", "none of them"})


@dataclass(frozen=True)
class MultiChoice(Optioned):
    """A choice of any number of options. Values: the keys of the right ones, ascending. Letters may stand together
    ("AC")."""

    name: ClassVar[str] = "multi_choice"

    def parse(self, text: str) -> tuple[Picked, ...]:
        stripped = text.strip()
        if not stripped:
            raise Unreadable("the answer is empty", 0)
        if stripped.lower().strip(" .$") in NOTHING and not any(o.key.lower() == "none" for o in self.options):
            return ()
        whole = self._pick(text)
        if whole.key is not None:
            return (whole,)
        if re.search(r"\bor\b", stripped, re.IGNORECASE):
            raise Unreadable("the options are to be listed, not offered as alternatives")
        picked: dict[str, Picked] = {}
        for piece in _BETWEEN.split(stripped.strip("{}[]() .$")):
            if piece:
                for one in self._letters(piece):
                    picked.setdefault(one.key or one.text, one)
        if not picked:
            raise Unreadable("the options are to be listed, e.g. A, C", 0)
        if self.options and len(picked) > 1 and not any(one.key for one in picked.values()):
            raise Unreadable(f"none of these words is an option: {self._listed()}")
        return tuple(picked.values())

    def _letters(self, piece: str) -> list[Picked]:
        one = self._pick(piece) if piece.strip("()[]{}.,:;\"'`*$ ") else None
        if one is None:
            return []
        if one.key is None and piece.isalpha() and len(piece) <= len(self.options):
            each = [self._names.get(letter.lower()) for letter in piece]
            if all(each) and len(set(each)) == len(each):
                return [Picked(key, key) for key in each if key]
        return [one]

    def reading(self, given: tuple[Picked, ...]) -> str:
        return ", ".join(printable(one.text, 60) for one in given) or "none"

    def show(self, value: Any) -> str:
        return ", ".join(value) or "none"

    def compare(self, given: tuple[Picked, ...], value: Any) -> Comparison:
        keys = {one.key for one in given if one.key is not None}
        strange = [one.text for one in given if one.key is None]
        missing = [key for key in value if key not in keys]
        surplus = sorted(keys - set(value))
        if not strange and not missing and not surplus:
            return Comparison(True, "exact")
        said = []
        if strange:
            said.append(f"{printable(', '.join(strange), 60)!r} is no option")
        if surplus:
            said.append(f"{len(surplus)} chosen wrongly")
        if missing:
            said.append(f"{len(missing)} missing")
        return Comparison(False, "exact", "; ".join(said))

    def agrees(self, a: Any, b: Any, slack: float = 1.0) -> bool:
        return set(a) == set(b)

    def answer_format(self) -> str:
        return "the letters of all that apply, e.g. A, C (or none)"

    def samples(self, value: Any) -> Samples:
        keys = [option.key for option in self.options]
        shown = self.show(value)
        right = [shown, f"{{{shown}}}" if value else "{}"]
        if len(value) > 1:
            right.append(" and ".join(reversed(value)))
        wrong = [", ".join(key for key in keys if key not in value) or "none"]
        wrong += [", ".join([*value, "zzz"])]
        return Samples(tuple(right), tuple(wrong), ("", " ", f"{keys[0]} or {keys[-1]}") if keys else ("", " "))
