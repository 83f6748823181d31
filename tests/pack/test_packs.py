"""Packages for other systems, each read back by a reader that grades as that system does."""

from __future__ import annotations

import io
import json
import re
import sqlite3
import subprocess
import sys
import types
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import nbformat
import pytest

from drillgen.instance import open_id
from drillgen.pack import ENDINGS, FORMATS, pack, web
from drillgen.pack.items import Item, cells, decimal, flatten, slack

from ..worksheet.fakes import KINDS, Fake, everything

HOSTILE = 'A/B "quiz" <b>&amp; ]]> $x$ \\end #1'


def items(choices: bool = False, seed: int = 1) -> list[Item]:
    return [item for fake in everything(seed) for item in flatten(fake.problem(True), choices)]


def item(kind: str, choices: bool = False) -> Item:
    (found,) = flatten(Fake(kind).problem(True), choices)
    return found


@pytest.mark.parametrize("choices", [False, True])
@pytest.mark.parametrize("form", FORMATS)
def test_same_items_same_bytes(form: str, choices: bool) -> None:
    assert pack(form, items(choices), HOSTILE) == pack(form, items(choices), HOSTILE)
    assert ENDINGS[form].startswith(".")


@pytest.mark.parametrize("form", ["qti", "canvas"])
def test_archives_hold_well_formed_xml_and_list_what_they_hold(form: str) -> None:
    archive = zipfile.ZipFile(io.BytesIO(pack(form, items(), HOSTILE)))
    names = set(archive.namelist())
    for name in names:
        ET.fromstring(archive.read(name))
    manifest = archive.read("imsmanifest.xml").decode()
    assert set(re.findall(r'<file href="([^"]+)"', manifest)) == names - {"imsmanifest.xml"}


def test_a_scenario_falls_into_its_parts() -> None:
    from drillgen.scenario import scenarios

    id = next(iter(scenarios()))
    problem = open_id(f"{id}@1/3").problem(True)
    found = list(flatten(problem))
    assert [i.id for i in found] == [f"{id}@1/3#{part['name']}" for part in problem["parts"]]
    assert all(i.prompt.startswith(problem["prompt"]) for i in found)
    assert [i.show for i in found] == [part["answer"]["show"] for part in problem["parts"]]


# -- Anki ----------------------------------------------------------------------------------------------------
def notes(deck: bytes, folder: Path) -> list[tuple[str, list[str], str]]:
    """guid, fields and tags of every note in a package."""
    (folder / "c.anki2").write_bytes(zipfile.ZipFile(io.BytesIO(deck)).read("collection.anki2"))
    with sqlite3.connect(folder / "c.anki2") as base:
        rows = base.execute("select guid, flds, tags from notes order by id").fetchall()
    base.close()
    return [(guid, fields.split("\x1f"), tags) for guid, fields, tags in rows]


def test_anki_notes_keep_their_identity_when_their_words_change(tmp_path: Path) -> None:
    before = notes(pack("anki", items(), "T"), tmp_path)
    changed = [Fake(kind).problem(True) | {"solution": "Another $y$."} for kind in KINDS]
    after = notes(pack("anki", [i for p in changed for i in flatten(p)], "T"), tmp_path)
    assert [n[0] for n in before] == [n[0] for n in after]
    assert len({n[0] for n in before}) == len(KINDS)
    assert all(r"\(y\)" in n[1][3] for n in after)
    assert "$" not in "".join(field for n in before for field in n[1])


@pytest.mark.slow
def test_anki_imports_twice_without_duplicates(tmp_path: Path) -> None:
    pytest.importorskip("anki", reason="the real Anki backend is not installed")
    (tmp_path / "d.apkg").write_bytes(pack("anki", items(), "T"))
    code = """
import sys
from anki.collection import Collection, ImportAnkiPackageOptions, ImportAnkiPackageRequest
base = Collection(sys.argv[1] + "/c.anki2")
for _ in range(2):
    ask = ImportAnkiPackageRequest(package_path=sys.argv[1] + "/d.apkg", options=ImportAnkiPackageOptions())
    base.import_anki_package(ask)
card = base.get_note(base.find_notes("")[0]).cards()[0]
print(base.note_count(), base.card_count(), "\\\\(" in card.render_output().question_text)
"""
    made = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert made.stdout.split() == [str(len(KINDS)), str(len(KINDS)), "True"]


# -- Moodle --------------------------------------------------------------------------------------------------
def moodle(found: Sequence[Item]) -> dict[str, ET.Element]:
    quiz = ET.fromstring(pack("moodle", found, HOSTILE))
    assert quiz[0].findtext("category/text") == "$course$/top/" + HOSTILE.replace("/", "//")
    return {q.findtext("name/text", ""): q for q in quiz[1:]}


def test_moodle_kinds() -> None:
    made = moodle(items())
    kinds = {name.split(".")[1].split("@")[0]: q.get("type") for name, q in made.items()}
    assert kinds == {
        "quantity": "numerical", "number": "numerical", "integer": "numerical", "vector": "cloze", "matrix": "cloze",
        "table": "cloze", "shape": "shortanswer", "set": "shortanswer", "choice": "multichoice",
        "multi_choice": "multichoice",
        "expression": "shortanswer", "indexed": "shortanswer", "matrix_expression": "shortanswer", "parts": "cloze",
    }  # fmt: skip
    assert {q.get("type") for q in moodle(items(choices=True)).values()} >= {"multichoice", "cloze"}


def test_moodle_numbers_have_the_key_first_units_and_slips_with_feedback() -> None:
    instance = open_id("kv_cache.per_token@1/4821")
    problem = instance.problem(True)
    question = moodle(list(flatten(problem)))[problem["id"]]
    right, *wrong = question.findall("answer")
    assert (right.get("fraction"), right.findtext("text")) == ("100", str(problem["answer"]["value"]))
    assert float(right.findtext("tolerance", "")) == pytest.approx(0.01 * problem["answer"]["value"])
    assert [a.findtext("text") for a in wrong] == [decimal(s["value"]) for s in problem["slips"]]
    assert all(a.get("fraction") == "0" and a.findtext("feedback/text") for a in wrong)
    # Moodle divides what is typed by the multiplier of its unit.
    units = {u.findtext("unit_name", ""): float(u.findtext("multiplier", "")) for u in question.findall("units/unit")}
    assert next(iter(units)) == problem["answer"]["unit"]
    for text in (problem["answer"]["show"], f"{problem['answer']['value']} bytes"):
        number, unit = text.split()
        typed = float(number) / units[unit]
        assert abs(typed - problem["answer"]["value"]) <= float(right.findtext("tolerance", ""))
    assert (question.findtext("unitgradingtype"), question.findtext("showunits")) == ("0", "0")


def test_moodle_fractions_of_several_right_options() -> None:
    question = moodle(items())["fake.multi_choice@1/1"]
    assert [a.get("fraction") for a in question.findall("answer")] == ["50", "-100", "50"]
    assert question.findtext("single") == "false"
    assert [a.get("fraction") for a in moodle(items())["fake.choice@1/1"].findall("answer")] == ["0", "100", "0"]


def test_moodle_cloze_has_a_field_for_each_entry_with_the_slips_entry() -> None:
    instance = open_id("softmax.temperature@1/5")
    problem = instance.problem(True)
    (question,) = moodle(list(flatten(problem))).values()
    text = question.findtext("questiontext/text", "")
    fields = re.findall(r"\{1:NUMERICAL:=([^:]+):([^~}#]+)((?:\\.|[^}\\])*)\}", text)
    assert [float(f[0]) for f in fields] == pytest.approx(problem["answer"]["value"])
    assert all(float(f[1]) > 0 for f in fields)
    assert "%0%" in fields[0][2] and "#" in fields[0][2]


def test_moodle_stars_are_no_wildcards() -> None:
    question = moodle(items())["fake.indexed@1/1"]
    texts = [a.findtext("text", "") for a in question.findall("answer") if a.get("fraction") == "100"]
    assert r"p_i\*(delta_ij - p_j)" in texts
    assert not any(re.search(r"(?<!\\)\*", text) for text in texts)


# -- QTI 2.1 -------------------------------------------------------------------------------------------------
NS = "{http://www.imsglobal.org/xsd/imsqti_v2p1}"


class Delivery:
    """Runs an item's response processing as a delivery engine would."""

    def __init__(self, xml: bytes, answers: Mapping[str, Any]) -> None:
        self.root = ET.fromstring(xml)
        self.state: dict[str, Any] = {"SCORE": 0.0, "FEEDBACK": [], **answers}
        self.correct = {
            d.get("identifier"): [v.text for v in d.iter(f"{NS}value")]
            for d in self.root.iter(f"{NS}responseDeclaration")
        }
        for rule in self.root.find(f"{NS}responseProcessing") or ():
            self.run(rule)

    def run(self, rule: ET.Element) -> None:
        name = rule.tag.removeprefix(NS)
        if name == "responseCondition":
            condition, *actions = next(iter(rule))
            if self.value(condition):
                for action in actions:
                    self.run(action)
        else:
            assert name == "setOutcomeValue"
            self.state[rule.get("identifier", "")] = self.value(rule[0])

    def value(self, node: ET.Element) -> Any:
        name = node.tag.removeprefix(NS)
        inner = [self.value(child) for child in node]
        if name == "variable":
            return self.state.get(node.get("identifier", ""))
        if name == "correct":
            return self.correct[node.get("identifier")]
        if name == "baseValue":
            return float(node.text or "") if node.get("baseType") == "float" else node.text
        if name == "equal":
            if inner[0] is None:
                return False
            low, high = (float(t) for t in node.get("tolerance", "0 0").split())
            return inner[1] - low <= float(inner[0]) <= inner[1] + high
        if name == "match":
            left, right = (x if isinstance(x, list) else [x] for x in inner)
            return sorted(map(str, left)) == sorted(map(str, right))
        if name == "stringMatch":
            exact = node.get("caseSensitive") == "true"
            return inner[0] == inner[1] if exact else str(inner[0]).lower() == str(inner[1]).lower()
        if name == "multiple":
            return [*inner[0], *inner[1:]]
        return {"and": all, "or": any, "sum": sum, "isNull": lambda x: x[0] in (None, [])}[name](inner)


def delivered(found: Item, answers: Mapping[str, Any]) -> tuple[float, set[str]]:
    archive = zipfile.ZipFile(io.BytesIO(pack("qti", [found], "T")))
    run = Delivery(archive.read("items/q001.xml"), answers)
    shown = {f.get("identifier") for f in run.root.iter(f"{NS}modalFeedback")}
    assert set(run.state["FEEDBACK"]) <= shown
    return run.state["SCORE"], set(run.state["FEEDBACK"]) - {"solution"}


def test_qti_numbers() -> None:
    problem = open_id("kv_cache.per_token@1/4821").problem(True)
    (found,) = flatten(problem)
    assert delivered(found, {"RESPONSE": problem["answer"]["value"] * 1.009}) == (1.0, set())
    assert delivered(found, {"RESPONSE": problem["answer"]["value"] * 1.011})[0] == 0.0
    for slip in problem["slips"]:
        score, said = delivered(found, {"RESPONSE": slip["value"]})
        assert score == 0.0 and slip["id"] in said


def test_qti_entries() -> None:
    problem = open_id("softmax.temperature@1/5").problem(True)
    (found,) = flatten(problem)
    right = {f"R1_{j}": value for j, value in enumerate(problem["answer"]["value"], 1)}
    assert delivered(found, right)[0] == pytest.approx(1.0, abs=1e-5)
    assert delivered(found, right | {"R1_1": 7.0})[0] == pytest.approx(1 - 1 / len(right), abs=1e-5)
    slip = next(s for s in problem["slips"] if cells(s["value"]))
    assert slip["id"] in delivered(found, {f"R1_{j}": v for j, v in enumerate(slip["value"], 1)})[1]


def test_qti_choices_and_texts() -> None:
    assert delivered(item("choice"), {"RESPONSE": ["B"]})[0] == 1.0
    assert delivered(item("choice"), {"RESPONSE": ["A"]})[0] == 0.0
    assert delivered(item("multi_choice"), {"RESPONSE": ["C", "A"]})[0] == 1.0
    assert delivered(item("multi_choice"), {"RESPONSE": ["A"]})[0] == 0.0
    made = item("quantity", choices=True)
    right = next(c for c in made.choices if c.right)
    wrong = next(c for c in made.choices if not c.right)
    assert delivered(made, {"RESPONSE": [right.letter]})[0] == 1.0
    assert delivered(made, {"RESPONSE": [wrong.letter]}) == (0.0, {wrong.key})
    assert delivered(item("shape"), {"RESPONSE": "(b,H,t,T)"})[0] == 1.0
    assert delivered(item("expression"), {"RESPONSE": "s + ln(1 + e^Delta)"})[0] == 1.0
    assert delivered(item("expression"), {"RESPONSE": "S + ln(1 + e^Delta)"})[0] == 0.0


# -- Canvas --------------------------------------------------------------------------------------------------
CNS = "{http://www.imsglobal.org/xsd/ims_qtiasiv1p2}"


def canvas(found: Sequence[Item]) -> dict[str, ET.Element]:
    archive = zipfile.ZipFile(io.BytesIO(pack("canvas", found, HOSTILE)))
    name = next(n for n in archive.namelist() if n.count("/") == 1 and not n.endswith("assessment_meta.xml"))
    root = ET.fromstring(archive.read(name))
    assert root[0].get("title") == HOSTILE
    return {i.get("title", ""): i for i in root.iter(f"{CNS}item")}


def kind_of(question: ET.Element) -> str:
    fields = {
        f.findtext(f"{CNS}fieldlabel"): f.findtext(f"{CNS}fieldentry") for f in question.iter(f"{CNS}qtimetadatafield")
    }
    return fields["question_type"] or ""


def holds(node: ET.Element, given: Any) -> bool:
    name = node.tag.removeprefix(CNS)
    if name in ("conditionvar", "and"):
        return all(holds(child, given) for child in node)
    if name == "or":
        return any(holds(child, given) for child in node)
    if name == "not":
        return not holds(node[0], given)
    if name == "varequal":
        return node.text in given if isinstance(given, list) else str(given) == node.text
    return {"vargte": lambda a, b: a >= b, "varlte": lambda a, b: a <= b}[name](float(given), float(node.text or ""))


def scored(question: ET.Element, given: Any) -> bool:
    return any(
        holds(rule[0], given)
        for rule in question.iter(f"{CNS}respcondition")
        if rule.find(f"{CNS}setvar") is not None and not isinstance(given, ET.Element)
    )


def test_canvas_grades_as_the_key_says() -> None:
    made = {name.split(".")[1].split("@")[0]: q for name, q in canvas(items()).items()}
    assert kind_of(made["quantity"]) == "numerical_question"
    assert scored(made["quantity"], 131072 * 1.009) and not scored(made["quantity"], 131072 * 1.011)
    assert kind_of(made["choice"]) == "multiple_choice_question"
    assert scored(made["choice"], ["B"]) and not scored(made["choice"], ["A"])
    assert kind_of(made["multi_choice"]) == "multiple_answers_question"
    assert scored(made["multi_choice"], ["A", "C"]) and not scored(made["multi_choice"], ["A", "B", "C"])
    assert kind_of(made["matrix"]) == "multiple_choice_question"
    assert kind_of(made["expression"]) == "short_answer_question"
    assert scored(made["expression"], "s + ln(1 + e^Delta)") and not scored(made["expression"], "s")


# -- notebook and rows ---------------------------------------------------------------------------------------
def test_the_notebook_is_valid_and_its_cells_grade() -> None:
    problem = open_id("kv_cache.per_token@1/4821").problem(True)
    made = pack("ipynb", [*flatten(problem), *items()], "T")
    notebook = nbformat.reads(made.decode(), as_version=4)
    nbformat.validate(notebook)
    assert len({cell["id"] for cell in notebook.cells}) == len(notebook.cells)
    assert problem["answer"]["show"] not in made.decode()

    shown: list[Any] = []
    display = types.ModuleType("IPython.display")
    display.__dict__.update(Markdown=str, display=shown.append)
    before = {name: sys.modules.get(name) for name in ("IPython", "IPython.display")}
    sys.modules.update({"IPython": types.ModuleType("IPython"), "IPython.display": display})
    try:
        space: dict[str, Any] = {}
        exec(notebook.cells[1].source, space)  # noqa: S102
        exec(notebook.cells[3].source, space)  # noqa: S102
        assert space["check"](problem["id"], problem["answer"]["show"]) == "right"
        assert space["check"](problem["id"], problem["slips"][0]["show"]) == "wrong"
        space["hint"](problem["id"], 2)
        space["solution"](problem["id"])
        assert shown == [problem["hints"][1], problem["solution"]]
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


def test_rows_have_the_same_keys_and_types_on_every_line() -> None:
    rows = [json.loads(line) for line in pack("jsonl", items() + items(choices=True), "T").decode().splitlines()]
    assert len(rows) == 2 * len(KINDS)
    assert len({tuple((k, type(v)) for k, v in row.items()) for row in rows}) == 1
    for row in rows:
        assert isinstance(json.loads(row["metadata"]), dict)
        assert row["prompt"] == [{"role": "user", "content": row["question"]}]
        assert row["split"] == "test"
        assert row["answer"]
    assert rows[0]["answer"] == "128 KiB"
    assert rows[KINDS.index("choice")]["answer"] == "B"


def test_slack() -> None:
    assert slack(200, {"rel": 0.01}) == 2
    assert slack(200, {"abs": 0.5, "rel": 0.01}) == 2.5
    assert slack(123456, {"sig": 3}) == 500
    assert slack(0.00123, {"sig": 2}) == pytest.approx(0.00005)
    assert slack(5, {"exact": True}) == 0
    assert slack(0, {"sig": 3}) == 0


def test_decimal_never_groups_or_rounds_whole_numbers() -> None:
    assert [decimal(x) for x in (131072, 2.0, 0.1 + 0.2, 1e-9, 10**18, 1.5e300)] == [
        "131072", "2", "0.3", "1e-09", "1000000000000000000", "1.5e+300",
    ]  # fmt: skip


def test_the_command(tmp_path: Path) -> None:
    for form, ending in ENDINGS.items():
        args = ["pack", form, "--card", "13", "--count", "3", "--seed", "7", "--out", f"p-{form}{ending}"]
        made = subprocess.run([sys.executable, "-m", "drillgen", *args], cwd=tmp_path, capture_output=True, text=True)
        assert (made.returncode, made.stderr) == (0, "")
        assert (tmp_path / f"p-{form}{ending}").stat().st_size > 500
    wrong = [sys.executable, "-m", "drillgen", "pack", "anki", "--card", "13", "--out", "x.zip"]
    made = subprocess.run(wrong, cwd=tmp_path, capture_output=True, text=True)
    assert made.returncode == 3 and ".apkg" in made.stderr


@pytest.mark.parametrize("form", ["jsonl", "anki"])
def test_dash_is_standard_output(tmp_path: Path, form: str) -> None:
    args = [sys.executable, "-m", "drillgen", "pack", form, "--card", "13", "--count", "2", "--seed", "7", "--out"]
    name = f"p{ENDINGS[form]}"
    subprocess.run([*args, name], cwd=tmp_path, check=True)
    made = subprocess.run([*args, "-"], cwd=tmp_path, capture_output=True)
    assert (made.returncode, made.stderr) == (0, b"")
    assert made.stdout[:2] == (tmp_path / name).read_bytes()[:2]
    if form == "jsonl":
        assert made.stdout == (tmp_path / name).read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_the_notebook_names_options_by_letter(capsys: pytest.CaptureFixture[str]) -> None:
    problem = open_id("kv_cache.contents@1/7").problem(True)
    setup = "".join(json.loads(pack("ipynb", list(flatten(problem)), "T"))["cells"][1]["source"])
    space: dict[str, Any] = {}
    exec("from types import SimpleNamespace\n" + re.sub(r"(?m)^from IPython.*", "", setup), space)  # noqa: S102
    assert space["check"](problem["id"], "A, C, E") == "right"
    told = capsys.readouterr().out
    assert "A, C, E" in told
    assert not any(option["key"] in told for option in problem["options"])


def test_slips_of_one_value_lead_to_one_letter() -> None:
    problem = open_id("kv_cache.max_sequences@1/950725733").problem(True)
    (made,) = flatten(problem, made_choices=True)
    shows = Counter(slip.show for slip in made.slips)
    (twice,) = [show for show, count in shows.items() if count == 2]
    letter = next(choice.letter for choice in made.choices if choice.text == twice)
    listed = web.slips(made)
    assert listed.count(f"<code>{letter}</code>") == 2 and f"<code>{twice}</code>" not in listed


def test_no_brackets_in_brackets() -> None:
    (made,) = flatten(open_id("kv_cache.per_token@1/1").problem(True))
    assert made.asked.endswith("; 3 significant digits (within 1 %)")
