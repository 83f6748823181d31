"""Moodle XML.

Numbers and quantities become numerical questions with tolerance and units, vectors, matrices, tables and parts cloze
questions with a field an entry, choices multichoice, everything else short answer. Every slip is an answer worth
nothing with its remark as feedback; the worked solution is the general feedback.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from html import escape
from typing import Any
from xml.etree import ElementTree as ET

from drillgen.pack import web
from drillgen.pack.items import NUMERIC, Item, cells, decimal, entries, entries_of, is_number, slack, spellings
from drillgen.typeset import terminal

_FAMILIES = (
    ("bytes", "B", "KiB", "MiB", "GiB", "TiB", "KB", "MB", "GB", "TB"),
    ("s", "ms", "µs", "us"),
    ("FLOP", "FLOPs", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"),
    ("FLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s"),
    ("bytes/s", "B/s", "KB/s", "MB/s", "GB/s", "TB/s"),
    ("nats", "bits"),
)


def write(items: Sequence[Item], title: str) -> bytes:
    """A quiz file with one category, named by the title."""
    quiz = ET.Element("quiz")
    category = ET.SubElement(quiz, "question", type="category")
    # A slash would open a subcategory; doubled, it is a slash.
    _text(ET.SubElement(category, "category"), "$course$/top/" + title.replace("/", "//"))
    for item in items:
        quiz.append(_question(item))
    ET.indent(quiz)
    body: bytes = ET.tostring(quiz, encoding="utf-8", xml_declaration=True)
    return body + b"\n"


def _text(parent: ET.Element, text: str) -> None:
    ET.SubElement(parent, "text").text = text


def _html(parent: ET.Element, tag: str, body: str) -> ET.Element:
    element = ET.SubElement(parent, tag, format="html")
    _text(element, body)
    return element


def _question(item: Item) -> ET.Element:
    if item.choices:
        return _choice(item)
    if item.kind in NUMERIC and is_number(item.value):
        return _numerical(item)
    if "parts" in item.problem or entries(item) is not None:
        return _cloze(item)
    return _short(item)


def _common(item: Item, kind: str, text: str) -> ET.Element:
    question = ET.Element("question", type=kind)
    _text(ET.SubElement(question, "name"), item.id)
    _html(question, "questiontext", text)
    _html(question, "generalfeedback", web.html(item.solution))
    if kind != "cloze":
        ET.SubElement(question, "defaultgrade").text = "1"
    ET.SubElement(question, "penalty").text = "0.3333333"
    ET.SubElement(question, "hidden").text = "0"
    ET.SubElement(question, "idnumber").text = item.id[:100]
    return question


def _close(question: ET.Element, item: Item) -> ET.Element:
    for hint in item.hints:
        _html(question, "hint", web.html(hint))
    tags = ET.SubElement(question, "tags")
    for tag in item.tags:
        _text(ET.SubElement(tags, "tag"), tag)
    return question


def _answer(
    question: ET.Element, fraction: str, text: str, feedback: str, form: str = "moodle_auto_format"
) -> ET.Element:
    answer = ET.SubElement(question, "answer", fraction=fraction, format=form)
    _text(answer, text)
    _html(answer, "feedback", feedback)
    return answer


def _numerical(item: Item) -> ET.Element:
    question = _common(item, "numerical", web.question(item))
    given = item.problem["tolerance"]
    right = _answer(question, "100", decimal(item.value), "")
    ET.SubElement(right, "tolerance").text = decimal(slack(item.value, given))
    for slip in item.slips:
        if is_number(slip.value):
            wrong = _answer(question, "0", decimal(slip.value), web.html(slip.remark))
            ET.SubElement(wrong, "tolerance").text = decimal(slack(slip.value, given))
    units = list(_units(item.unit))
    if units:
        listed = ET.SubElement(question, "units")
        for name, multiplier in units:
            unit = ET.SubElement(listed, "unit")
            ET.SubElement(unit, "multiplier").text = multiplier
            ET.SubElement(unit, "unit_name").text = name
    # 0 and 0: units may be typed and convert; 3: there are none.
    ET.SubElement(question, "unitgradingtype").text = "0"
    ET.SubElement(question, "unitpenalty").text = "0.1"
    ET.SubElement(question, "showunits").text = "0" if units else "3"
    ET.SubElement(question, "unitsleft").text = "0"
    return _close(question, item)


def _units(base: str) -> Iterator[tuple[str, str]]:
    """The unit and its relatives, each with how many of it make one of the key's unit; the key's unit first."""
    if not base:
        return
    from grading.units import named

    family = next((f for f in _FAMILIES if base in f), (base,))
    one = named(base).factor
    yield base, "1"
    for name in family:
        if name != base:
            ratio: Fraction = one / named(name).factor
            yield name, f"{float(ratio):.15g}"


def _choice(item: Item) -> ET.Element:
    question = _common(item, "multichoice", web.question(item))
    several = item.kind == "multi_choice"
    right = sum(choice.right for choice in item.choices)
    ET.SubElement(question, "single").text = "false" if several else "true"
    ET.SubElement(question, "shuffleanswers").text = "false"
    ET.SubElement(question, "answernumbering").text = "ABCD"
    remarks = {slip.id: slip.remark for slip in item.slips}
    wrong = len(item.choices) - right
    for choice in item.choices:
        share = 100 / max(1, right) if choice.right else -100 / max(1, wrong) if several else 0
        feedback = web.html(remarks[choice.key]) if choice.key in remarks and not choice.right else ""
        _answer(question, f"{share:.7g}", web.option(choice, item.symbolic), feedback, "html")
    return _close(question, item)


def _short(item: Item) -> ET.Element:
    question = _common(item, "shortanswer", web.question(item))
    ET.SubElement(question, "usecase").text = "1" if item.symbolic else "0"
    taken = spellings(item)
    for text in taken:
        _answer(question, "100", text.replace("*", r"\*"), "")
    for slip in item.slips:
        if slip.show not in taken:
            # An asterisk is a wildcard there.
            _answer(question, "0", slip.show.replace("*", r"\*"), web.html(slip.remark))
    return _close(question, item)


# -- cloze ---------------------------------------------------------------------------------------------------
def _cloze(item: Item) -> ET.Element:
    if "parts" in item.problem:
        body = _parts(item)
    else:
        rows = entries(item)
        assert rows is not None
        nested = isinstance(item.value[0], list)
        fields = [
            [
                _field(entry, item.problem["tolerance"], entries_of(item.slips, i, j, nested))
                for j, entry in enumerate(row)
            ]
            for i, row in enumerate(rows)
        ]
        body = (
            "<table>" + "".join("<tr>" + "".join(f"<td>{f}</td>" for f in row) + "</tr>" for row in fields) + "</table>"
        )
    return _close(_common(item, "cloze", f"{web.question(item)}{body}"), item)


def _parts(item: Item) -> str:
    parts: Sequence[Any] = item.problem["parts"]
    out = []
    for index, (part, value) in enumerate(zip(parts, item.value, strict=True)):
        wrongs = [
            (s.value[index], s.remark) for s in item.slips if isinstance(s.value, list) and len(s.value) == len(parts)
        ]
        rows = cells(value)
        if is_number(value):
            found = _field(value, part["tolerance"], [(v, r) for v, r in wrongs if is_number(v)])
        elif rows is not None:
            found = " ".join(_field(entry, part["tolerance"], ()) for row in rows for entry in row)
        else:
            found = f"{{1:SHORTANSWER:={_escaped(_plain(value))}}}"
        unit = f" {escape(str(part['unit']))}" if part.get("unit") not in (None, "", "none") else ""
        out.append(f"<p><b>({escape(part['name'])})</b> {web.phrase(part['prompt'])} {found}{unit}</p>")
    return "".join(out)


def _plain(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _field(value: float, tolerance: Any, slips: Any) -> str:
    """One numerical field; a slip that the key's band or an earlier slip's covers is left out."""
    band = slack(value, tolerance)
    taken = [(float(value), band)]
    out = f"{{1:NUMERICAL:={decimal(value)}:{decimal(band)}"
    for wrong, remark in slips:
        reach = slack(wrong, tolerance)
        if all(abs(wrong - v) > b + reach for v, b in taken):
            taken.append((float(wrong), reach))
            said = " ".join(terminal.write(remark, 10_000).split())
            out += f"~%0%{decimal(wrong)}:{decimal(reach)}#{_escaped(escape(said))}"
    return out + "}"


def _escaped(text: str) -> str:
    return "".join(f"\\{c}" if c in '\\}#~/"' else c for c in text)
