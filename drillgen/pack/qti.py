"""QTI 2.1: a content package of items and a test that lists them; formulas are MathML.

Numbers are entered in the unit that the item names (QTI knows no units), vectors and matrices entry by entry; what is
compared letter by letter (formulas, sets, shapes) takes the usual spellings. Slips give modal feedback.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from html import escape
from typing import Any

from drillgen.pack import web
from drillgen.pack.archive import zipped
from drillgen.pack.items import NUMERIC, Item, cells, decimal, entries, is_number, slack, spellings

_QTI = "http://www.imsglobal.org/xsd/imsqti_v2p1"
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


def write(items: Sequence[Item], title: str) -> bytes:
    """The package as a ZIP."""
    named = [(f"q{number:03d}", item) for number, item in enumerate(items, 1)]
    members = [("imsmanifest.xml", _manifest(named, title)), ("test.xml", _test(named, title))]
    members += [(f"items/{name}.xml", _item(name, item)) for name, item in named]
    return zipped([(name, text.encode()) for name, text in members])


def _identifier(text: str) -> str:
    return "ID-" + blake2b(text.encode(), digest_size=8).hexdigest()


def _manifest(named: Sequence[tuple[str, Item]], title: str) -> str:
    resources = "".join(
        f'<resource identifier="{name}" type="imsqti_item_xmlv2p1" href="items/{name}.xml">'
        f'<file href="items/{name}.xml"/></resource>\n'
        for name, _ in named
    )
    dependencies = "".join(f'<dependency identifierref="{name}"/>' for name, _ in named)
    return (
        f'{_HEAD}<manifest xmlns="http://www.imsglobal.org/xsd/imscp_v1p1" identifier="{_identifier(title)}">\n'
        "<metadata><schema>QTIv2.1 Package</schema><schemaversion>1.0.0</schemaversion></metadata>\n"
        '<organizations/>\n<resources>\n<resource identifier="test" type="imsqti_test_xmlv2p1" href="test.xml">'
        f'<file href="test.xml"/>{dependencies}</resource>\n{resources}</resources>\n</manifest>\n'
    )


def _test(named: Sequence[tuple[str, Item]], title: str) -> str:
    refs = "".join(f'<assessmentItemRef identifier="{name}" href="items/{name}.xml"/>\n' for name, _ in named)
    return (
        f'{_HEAD}<assessmentTest xmlns="{_QTI}" identifier="test" title="{escape(title)}">\n'
        '<testPart identifier="part" navigationMode="nonlinear" submissionMode="simultaneous">\n'
        f'<assessmentSection identifier="section" title="{escape(title)}" visible="true">\n{refs}'
        "</assessmentSection>\n</testPart>\n</assessmentTest>\n"
    )


class _Parts:
    """What an item is made of: declarations, interactions in the body, conditions and feedback."""

    def __init__(self) -> None:
        self.declared: list[str] = []
        self.body: list[str] = []
        self.rules: list[str] = []
        self.feedback: list[str] = []


def _item(name: str, item: Item) -> str:
    made = _Parts()
    if item.choices:
        _choice(item, made)
    elif item.kind in NUMERIC and is_number(item.value):
        _number(item, made)
    elif entries(item) is not None:
        _entries(item, made)
    else:
        _strings(item, made)
    solution = (
        '<modalFeedback outcomeIdentifier="FEEDBACK" identifier="solution" showHide="show">'
        f"<div>{_body(item.solution)}</div></modalFeedback>"
    )
    shown = _set(
        "FEEDBACK",
        '<multiple><variable identifier="FEEDBACK"/><baseValue baseType="identifier">solution</baseValue></multiple>',
    )
    return (
        f'{_HEAD}<assessmentItem xmlns="{_QTI}" identifier="{name}" title="{escape(item.id)}" adaptive="false" '
        f'timeDependent="false">\n{"".join(made.declared)}'
        '<outcomeDeclaration identifier="SCORE" cardinality="single" baseType="float">'
        "<defaultValue><value>0</value></defaultValue></outcomeDeclaration>\n"
        '<outcomeDeclaration identifier="FEEDBACK" cardinality="multiple" baseType="identifier"/>\n'
        f"<itemBody>\n<div>{_body(item.prompt)}</div>\n{''.join(made.body)}\n</itemBody>\n"
        f"<responseProcessing>\n{''.join(made.rules)}{shown}</responseProcessing>\n"
        f"{''.join(made.feedback)}{solution}\n</assessmentItem>\n"
    )


def _body(markdown: str) -> str:
    """HTML within what QTI allows: no style attributes on cells, no numbers on lists."""
    made = web.html(markdown, mathml=True)
    made = re.sub(r'(<t[hd]) style="[^"]*"', r"\1", made)
    return re.sub(r'<ol start="\d+">', "<ol>", made)


def _declare(identifier: str, kind: str, values: Sequence[str], cardinality: str = "single") -> str:
    inner = "".join(f"<value>{escape(value)}</value>" for value in values)
    return (
        f'<responseDeclaration identifier="{identifier}" cardinality="{cardinality}" baseType="{kind}">'
        f"<correctResponse>{inner}</correctResponse></responseDeclaration>\n"
    )


def _set(identifier: str, expression: str) -> str:
    return f'<setOutcomeValue identifier="{identifier}">{expression}</setOutcomeValue>\n'


def _when(condition: str, *actions: str) -> str:
    return f"<responseCondition><responseIf>{condition}{''.join(actions)}</responseIf></responseCondition>\n"


def _score(points: str) -> str:
    return _set("SCORE", f'<baseValue baseType="float">{points}</baseValue>')


def _equal(identifier: str, value: float, band: float) -> str:
    if band == 0:
        mode = 'toleranceMode="exact"'
    else:
        mode = f'toleranceMode="absolute" tolerance="{decimal(band)} {decimal(band)}"'
    return (
        f'<equal {mode}><variable identifier="{identifier}"/>'
        f'<baseValue baseType="float">{decimal(value)}</baseValue></equal>'
    )


def _say(made: _Parts, name: str, condition: str, remark: str) -> None:
    """Show a slip's remark where its condition holds."""
    add = f'<multiple><variable identifier="FEEDBACK"/><baseValue baseType="identifier">{name}</baseValue></multiple>'
    made.rules.append(_when(condition, _set("FEEDBACK", add)))
    made.feedback.append(
        f'<modalFeedback outcomeIdentifier="FEEDBACK" identifier="{name}" showHide="show">'
        f"<div>{_body(remark)}</div></modalFeedback>\n"
    )


def _asked(item: Item, note: str = "") -> str:
    text = "; ".join(part for part in (item.asked, note) if part)
    return f"<div><p>{escape(text)}</p></div>\n" if text else ""


def _number(item: Item, made: _Parts) -> None:
    note = f"type the number alone, in {item.unit} (1.5e9 is read)" if item.unit else "type the number alone"
    tolerance = item.problem["tolerance"]
    made.declared.append(_declare("RESPONSE", "float", [decimal(item.value)]))
    made.body.append(_asked(item, note))
    made.body.append('<p><textEntryInteraction responseIdentifier="RESPONSE" expectedLength="20"/></p>')
    made.rules.append(_when(_equal("RESPONSE", item.value, slack(item.value, tolerance)), _score("1")))
    for slip in item.slips:
        if is_number(slip.value):
            _say(made, slip.id, _equal("RESPONSE", slip.value, slack(slip.value, tolerance)), slip.remark)


def _entries(item: Item, made: _Parts) -> None:
    rows = entries(item)
    assert rows is not None
    tolerance = item.problem["tolerance"]
    count = sum(len(row) for row in rows)
    made.body.append(_asked(item, "one number a field"))
    table = []
    for i, row in enumerate(rows, 1):
        fields = []
        for j, value in enumerate(row, 1):
            name = f"R{i}_{j}"
            made.declared.append(_declare(name, "float", [decimal(value)]))
            fields.append(f'<td><textEntryInteraction responseIdentifier="{name}" expectedLength="8"/></td>')
            more = f'<sum><variable identifier="SCORE"/><baseValue baseType="float">{1 / count:.6f}</baseValue></sum>'
            made.rules.append(_when(_equal(name, value, slack(value, tolerance)), _set("SCORE", more)))
        table.append(f"<tr>{''.join(fields)}</tr>")
    made.body.append(f"<table><tbody>{''.join(table)}</tbody></table>")
    for slip in item.slips:
        wrong = cells(slip.value)
        if wrong is not None and [len(r) for r in wrong] == [len(r) for r in rows]:
            tests = "".join(
                _equal(f"R{i}_{j}", value, slack(value, tolerance))
                for i, row in enumerate(wrong, 1)
                for j, value in enumerate(row, 1)
            )
            _say(made, slip.id, f"<and>{tests}</and>", slip.remark)


def _choice(item: Item, made: _Parts) -> None:
    several = item.kind == "multi_choice"
    right = [choice.letter for choice in item.choices if choice.right]
    cardinality = "multiple" if several else "single"
    made.declared.append(_declare("RESPONSE", "identifier", right, cardinality))
    options = "".join(
        f'<simpleChoice identifier="{c.letter}">{web.option(c, item.symbolic, mathml=True)}</simpleChoice>\n'
        for c in item.choices
    )
    made.body.append(
        f'<choiceInteraction responseIdentifier="RESPONSE" shuffle="false" maxChoices="{0 if several else 1}">\n'
        f"{options}</choiceInteraction>"
    )
    if several and not right:
        made.rules.append(_when('<isNull><variable identifier="RESPONSE"/></isNull>', _score("1")))
    else:
        match = '<match><variable identifier="RESPONSE"/><correct identifier="RESPONSE"/></match>'
        made.rules.append(_when(match, _score("1")))
    letters = {choice.key: choice.letter for choice in item.choices}
    for slip in item.slips:
        for letter in (letters[key] for key in _slip_keys(slip.id, slip.value, several) if key in letters):
            test = (
                f'<match><variable identifier="RESPONSE"/><baseValue baseType="identifier">{letter}</baseValue></match>'
            )
            _say(made, slip.id, test, slip.remark)


def _slip_keys(id: str, value: Any, several: bool) -> Iterator[str]:
    """The option that a slip chooses, where it chooses one."""
    if not several:
        yield id
        if isinstance(value, str) and value != id:
            yield value


def _strings(item: Item, made: _Parts) -> None:
    taken = spellings(item)
    made.declared.append(_declare("RESPONSE", "string", [item.show]))
    if "parts" in item.problem:
        listed = "".join(
            f"<p>({escape(part['name'])}) {web.phrase(part['prompt'], mathml=True)}</p>"
            for part in item.problem["parts"]
        )
        made.body.append(f"<div>{listed}</div>")
    made.body.append(_asked(item))
    made.body.append('<p><textEntryInteraction responseIdentifier="RESPONSE" expectedLength="40"/></p>')
    tests = "".join(_string_test(text, item.symbolic) for text in taken)
    made.rules.append(_when(f"<or>{tests}</or>", _score("1")))
    for slip in item.slips:
        if slip.show not in taken:
            _say(made, slip.id, _string_test(slip.show, item.symbolic), slip.remark)


def _string_test(text: str, exact: bool) -> str:
    return (
        f'<stringMatch caseSensitive="{"true" if exact else "false"}"><variable identifier="RESPONSE"/>'
        f'<baseValue baseType="string">{escape(text)}</baseValue></stringMatch>'
    )
