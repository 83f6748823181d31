r"""QTI 1.2 as Canvas imports it: numerical answers with margins, multiple choice, several answers, short answers.

Canvas numbers have no units and its blanks no tolerance: quantities are asked in the unit that the text names, and
vectors and matrices become multiple choice made of their slips, or an essay with the key as its comment where there
are too few slips. Formulas stand between \( \), which Canvas hands to MathJax.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from html import escape

from drillgen.pack import web
from drillgen.pack.archive import zipped
from drillgen.pack.items import NUMERIC, Item, decimal, is_number, slack, spellings
from drillgen.worksheet.choices import Choice, of_slips

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


def write(items: Sequence[Item], title: str) -> bytes:
    """The package as a ZIP: manifest, assessment and its settings."""
    quiz = "g" + blake2b(title.encode(), digest_size=16).hexdigest()
    meta = f"{quiz}-meta"
    members = [
        ("imsmanifest.xml", _manifest(quiz, meta)),
        (f"{quiz}/assessment_meta.xml", _settings(quiz, title, len(items))),
        (f"{quiz}/{quiz}.xml", _assessment(quiz, items, title)),
    ]
    return zipped([(name, text.encode()) for name, text in members])


def _manifest(quiz: str, meta: str) -> str:
    return (
        f'{_HEAD}<manifest identifier="{quiz}-manifest" xmlns="http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1">\n'
        "<metadata><schema>IMS Content</schema><schemaversion>1.1.3</schemaversion></metadata>\n<organizations/>\n"
        f'<resources>\n<resource identifier="{quiz}" type="imsqti_xmlv1p2"><file href="{quiz}/{quiz}.xml"/>'
        f'<dependency identifierref="{meta}"/></resource>\n'
        f'<resource identifier="{meta}" type="associatedcontent/imscc_xmlv1p1/learning-application-resource" '
        f'href="{quiz}/assessment_meta.xml"><file href="{quiz}/assessment_meta.xml"/></resource>\n'
        "</resources>\n</manifest>\n"
    )


def _settings(quiz: str, title: str, count: int) -> str:
    return (
        f'{_HEAD}<quiz identifier="{quiz}" xmlns="http://canvas.instructure.com/xsd/cccv1p0">\n'
        f"<title>{escape(title)}</title>\n<shuffle_answers>false</shuffle_answers>\n"
        f"<quiz_type>assignment</quiz_type>\n<points_possible>{count}</points_possible>\n</quiz>\n"
    )


def _assessment(quiz: str, items: Sequence[Item], title: str) -> str:
    listed = "".join(_item(number, item) for number, item in enumerate(items, 1))
    return (
        f'{_HEAD}<questestinterop xmlns="http://www.imsglobal.org/xsd/ims_qtiasiv1p2">\n'
        f'<assessment ident="{quiz}" title="{escape(title)}">\n'
        f"<qtimetadata>{_field('cc_maxattempts', '1')}</qtimetadata>\n"
        f'<section ident="root_section">\n{listed}</section>\n</assessment>\n</questestinterop>\n'
    )


def _field(label: str, entry: str) -> str:
    return (
        f"<qtimetadatafield><fieldlabel>{label}</fieldlabel><fieldentry>{escape(entry)}</fieldentry></qtimetadatafield>"
    )


def _item(number: int, item: Item) -> str:
    choices = item.choices
    if not choices and item.kind in ("vector", "matrix", "table", "parts"):
        choices = of_slips({**item.problem, "id": item.id})
    if choices:
        several = item.kind == "multi_choice"
        name = "multiple_answers_question" if several else "multiple_choice_question"
        response, rules = _choices(item, choices, several)
    elif item.kind in NUMERIC and is_number(item.value):
        name = "numerical_question"
        response, rules = _number(item)
    elif item.kind in ("vector", "matrix", "table", "parts"):
        name, rules = "essay_question", ""
        response = _blank("")
    else:
        name = "short_answer_question"
        response, rules = _short(item)
    unit = f"<p><small>Type the number alone, in {escape(item.unit)}.</small></p>" if item.unit and not choices else ""
    listed = ""
    if "parts" in item.problem:
        listed = "".join(f"<p>({escape(p['name'])}) {web.phrase(p['prompt'])}</p>" for p in item.problem["parts"])
    comment = f"<p><b>{web.answer(item)}</b></p>{web.html(item.solution)}{web.slips(item)}"
    return (
        f'<item ident="q{number:03d}" title="{escape(item.id)}">\n<itemmetadata><qtimetadata>'
        f"{_field('question_type', name)}{_field('points_possible', '1')}</qtimetadata></itemmetadata>\n"
        f"<presentation>{_material(web.question(item) + listed + unit)}{response}</presentation>\n"
        '<resprocessing><outcomes><decvar maxvalue="100" minvalue="0" varname="SCORE" vartype="Decimal"/></outcomes>\n'
        '<respcondition continue="Yes"><conditionvar><other/></conditionvar>'
        '<displayfeedback feedbacktype="Response" linkrefid="general_fb"/></respcondition>\n'
        f"{rules}</resprocessing>\n"
        f'<itemfeedback ident="general_fb"><flow_mat>{_material(comment)}</flow_mat></itemfeedback>\n</item>\n'
    )


def _material(html: str) -> str:
    return f'<material><mattext texttype="text/html">{escape(html)}</mattext></material>'


def _right(condition: str) -> str:
    return (
        f'<respcondition continue="No"><conditionvar>{condition}</conditionvar>'
        '<setvar action="Set" varname="SCORE">100</setvar></respcondition>\n'
    )


def _choices(item: Item, choices: Sequence[Choice], several: bool) -> tuple[str, str]:
    labels = "".join(
        f'<response_label ident="{c.letter}">{_material(web.option(c, item.symbolic))}</response_label>'
        for c in choices
    )
    cardinality = "Multiple" if several else "Single"
    response = (
        f'<response_lid ident="response1" rcardinality="{cardinality}"><render_choice>'
        f"{labels}</render_choice></response_lid>"
    )
    tests = [f'<varequal respident="response1">{c.letter}</varequal>' for c in choices]
    if not several:
        (right,) = (test for test, choice in zip(tests, choices, strict=True) if choice.right)
        return response, _right(right)
    both = "".join(t if c.right else f"<not>{t}</not>" for t, c in zip(tests, choices, strict=True))
    return response, _right(f"<and>{both}</and>")


def _number(item: Item) -> tuple[str, str]:
    value = item.value
    band = slack(value, item.problem["tolerance"])
    exact = f'<varequal respident="response1">{decimal(value)}</varequal>'
    low, high = decimal(value - band), decimal(value + band)
    margin = f'<and><vargte respident="response1">{low}</vargte><varlte respident="response1">{high}</varlte></and>'
    return _blank(' fibtype="Decimal"'), _right(f"<or>{exact}{margin}</or>")


def _blank(kind: str) -> str:
    return (
        f'<response_str ident="response1" rcardinality="Single"><render_fib{kind}>'
        '<response_label ident="answer1"/></render_fib></response_str>'
    )


def _short(item: Item) -> tuple[str, str]:
    tests = "".join(f'<varequal respident="response1">{escape(text)}</varequal>' for text in spellings(item))
    return _blank(""), _right(f"<or>{tests}</or>")
