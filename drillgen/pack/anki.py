"""An Anki deck. A note's identity hangs on the problem's id, the deck's on its title: importing again updates.

The back holds the answer, the hints, the worked solution and the known slips; formulas are MathJax, which Anki has.
"""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Sequence
from hashlib import blake2b
from html import escape
from pathlib import Path
from typing import Any

from drillgen.output import MissingExtra
from drillgen.pack import web
from drillgen.pack.archive import zipped
from drillgen.pack.items import Item

MODEL_ID = 1_718_203_941
"""Of the note type: fixed for ever, so that decks of all releases share it."""
STAMP = 1_704_067_200
FIELDS = ("Question", "Answer", "Hints", "Solution", "Slips", "Id")
_FRONT = """<div class="ask">{{Question}}</div>"""
_BACK = """{{FrontSide}}<hr id="answer"><div class="answer">{{Answer}}</div>
{{#Hints}}<details><summary>Hints</summary>{{Hints}}</details>{{/Hints}}
<details open><summary>Solution</summary>{{Solution}}</details>
{{#Slips}}<details><summary>Known slips</summary>{{Slips}}</details>{{/Slips}}
<div class="id">{{Id}}</div>"""
_CSS = """.card { font: 1.1em/1.5 Georgia, serif; text-align: left; max-width: 44em; margin: 0 auto; padding: .5em;
  color: #1a1a1a; background: #fff; }
.nightMode.card, .nightMode .card { color: #e6e6e6; background: #16181c; }
.answer { font-weight: bold; } summary { cursor: pointer; opacity: .8; } .id { opacity: .6; font-size: .7em; }
table { border-collapse: collapse; } th, td { border: 1px solid #888; padding: .2em .5em; }
ul.options { list-style: none; padding: 0; }"""


def write(items: Sequence[Item], title: str) -> bytes:
    """The .apkg; needs genanki (extra `anki`)."""
    try:
        import genanki
    except ImportError:
        raise MissingExtra("genanki", "anki", "an Anki deck") from None
    model = genanki.Model(
        MODEL_ID, "drillgen problem", fields=[{"name": name} for name in FIELDS],
        templates=[{"name": "Problem", "qfmt": _FRONT, "afmt": _BACK}], css=_CSS, sort_field_index=5,
    )  # fmt: skip
    deck = genanki.Deck(_deck_id(title), title)
    for item in items:
        deck.add_note(
            genanki.Note(model, _fields(item), guid=genanki.guid_for("drillgen", item.id), tags=list(item.tags))
        )
    return _packed(genanki.Package(deck))


def _deck_id(title: str) -> int:
    return (1 << 30) + int.from_bytes(blake2b(title.encode(), digest_size=4).digest()) % (1 << 30)


def _fields(item: Item) -> list[str]:
    options = "".join(f"<li><b>{c.letter}.</b> {web.option(c, item.symbolic)}</li>" for c in item.choices)
    question = web.question(item) + (f'<ul class="options">{options}</ul>' if options else "")
    hints = "<ol>" + "".join(f"<li>{web.phrase(hint)}</li>" for hint in item.hints) + "</ol>" if item.hints else ""
    return [question, web.answer(item), hints, web.html(item.solution), web.slips(item), escape(item.id)]


def _packed(package: Any) -> bytes:
    with tempfile.TemporaryDirectory(prefix="drillgen-") as folder:
        path = Path(folder) / "deck.apkg"
        package.write_to_file(str(path), timestamp=STAMP)
        with zipfile.ZipFile(path) as archive:
            # Written anew, since the archive's own dates would differ from run to run.
            return zipped([(name, archive.read(name)) for name in sorted(archive.namelist())])
