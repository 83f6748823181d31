"""Packages for other systems: one file a format, each a function from items to bytes.

items = [item for problem in problems for item in flatten(problem)]
pack("moodle", items, "Attention drills")
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from drillgen.pack.items import Item

FORMATS = {
    "anki": "An Anki deck (.apkg): importing again updates, never duplicates.",
    "moodle": "Moodle XML: numerical, multichoice, shortanswer and cloze questions.",
    "qti": "QTI 2.1 package (.zip).",
    "canvas": "QTI 1.2 package (.zip), as Canvas imports it.",
    "ipynb": "A notebook that grades its own answer cells.",
    "jsonl": "Rows for datasets, lm-eval, TRL and verifiers.",
}
ENDINGS = {"anki": ".apkg", "moodle": ".xml", "qti": ".zip", "canvas": ".zip", "ipynb": ".ipynb", "jsonl": ".jsonl"}

BINARY = frozenset({"anki", "qti", "canvas"})
"""Formats that are archives and nothing for a terminal."""


def pack(form: str, items: Sequence[Item], title: str) -> bytes:
    """The package; raises KeyError for a format that is not in FORMATS, MissingExtra where a package is missing."""
    if form not in FORMATS:
        raise KeyError(form)
    made = import_module(f"drillgen.pack.{form}").write(items, title)
    assert isinstance(made, bytes)
    return made
