"""Sheets and keys in every form: what stands on them, what never does, and that bytes repeat."""

from __future__ import annotations

import html
import io
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from pypdf import PdfReader

from drillgen.instance import open_id
from drillgen.output import Refused
from drillgen.typeset.markdown import read
from drillgen.worksheet import KeyRefused, Options, Sheet, build, render
from drillgen.worksheet.choices import of_slips
from drillgen.worksheet.md import escape
from drillgen.worksheet.qr import BYTES, commands
from drillgen.worksheet.question import named_slips
from drillgen.worksheet.roster import Student

from .fakes import KINDS, Fake, everything

ALL = Options()
HOSTILE = 'Quiz #1: $x$ "A" <b>bold</b> \\end{document} *i* `c` #panic() [l](u) & 50% _u_ {{ 7*7 }}'


def pages(pdf: bytes) -> list[str]:
    return [re.sub(r"\s+", " ", page.extract_text()) for page in PdfReader(io.BytesIO(pdf)).pages]


def words(pdf: bytes) -> str:
    return " ".join(pages(pdf))


@pytest.mark.parametrize("form", ["pdf", "html", "md", "tex"])
def test_same_input_same_bytes_in_another_process_too(form: str) -> None:
    options = Options(solutions=True)
    first = [render([build(everything(), options)], options, form, key) for key in (False, True)]
    again = [render([build(everything(), options)], options, form, key) for key in (False, True)]
    assert first == again
    code = (
        "import sys, hashlib; sys.path[:0] = [sys.argv[1]]\n"
        "from fakes import everything\n"
        "from drillgen.worksheet import Options, build, render\n"
        f"o = Options(solutions=True); s = build(everything(), o)\n"
        f"print([hashlib.sha256(render([s], o, {form!r}, k)).hexdigest() for k in (False, True)])"
    )
    import hashlib

    made = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parent)], capture_output=True, text=True, check=True, cwd="/"
    )
    assert made.stdout.strip() == str([hashlib.sha256(body).hexdigest() for body in first])


@pytest.mark.parametrize("form", ["pdf", "html", "md", "tex"])
def test_a_sheet_holds_no_answer_and_a_key_all_of_them(form: str) -> None:
    options = Options(solutions=True)
    problems = [Fake(kind) for kind in KINDS if kind not in ("choice", "multi_choice", "parts", "shape", "set")]
    sheet = build(problems, options)
    asked, solved = (render([sheet], options, form, key) for key in (False, True))
    asked_text, solved_text = ((words(b) if form == "pdf" else b.decode()) for b in (asked, solved))
    for problem in problems:
        assert problem.id.replace("_", "") in asked_text.replace("\\_", "").replace("_", "")
        show = problem.show
        plain = re.sub(r"[\\{}~ ]|textasciicircum", "", solved_text)
        assert re.sub(r"[ ^]", "", show) in plain.replace("^", "")
        if len(show) > 6:
            assert re.sub(r"[ ^]", "", show) not in re.sub(r"[\\{}~ ]|textasciicircum", "", asked_text).replace("^", "")
    assert "Known slips" in solved_text
    assert "Known slips" not in asked_text
    assert "Work it out" not in asked_text


@pytest.mark.parametrize(("paper", "size"), [("a4", (595, 842)), ("letter", (612, 792))])
@pytest.mark.parametrize("columns", [1, 2])
def test_paper_and_columns(paper: str, size: tuple[int, int], columns: int) -> None:
    options = Options(paper=paper, columns=columns)  # type: ignore[arg-type]
    made = render([build(everything(), options)], options)
    reader = PdfReader(io.BytesIO(made))
    box = reader.pages[0].mediabox
    assert (round(box.width), round(box.height)) == size
    count = len(reader.pages)
    for number, text in enumerate(pages(made), 1):
        assert f"page {number} of {count}" in text
    assert all(f"{n}." in words(made) for n in range(1, len(KINDS) + 1))


def test_no_problem_is_split_over_pages() -> None:
    problems = [Fake(kind, seed) for seed in range(1, 5) for kind in ("matrix", "parts", "table", "choice")]
    made = render([build(problems)], ALL)
    # The prompt's first words and the small print with the id stand on one page.
    starts = {"matrix": "Transpose", "parts": "Two sums", "table": "Fill in", "choice": "Which is right"}
    for text in pages(made):
        ids = re.findall(r"fake\.(\w+)@1/\d+ · 5 min", text)
        for kind, start in starts.items():
            assert text.count(start) == ids.count(kind)
        assert text.count("(a)") == text.count("(b)") == ids.count("parts")


def test_the_pdf_is_tagged_accessible_and_every_formula_has_words() -> None:
    options = Options(solutions=True)
    sheet = build(everything(), options)
    for key in (False, True):
        made = render([sheet], options, "pdf", key)
        reader = PdfReader(io.BytesIO(made))
        root = reader.trailer["/Root"]
        assert root["/MarkInfo"]["/Marked"] is not None
        assert b"pdfuaid" in root["/Metadata"].get_object().get_data()
        assert root["/Lang"] == "en"
    asked = PdfReader(io.BytesIO(render([sheet], options)))
    alts = [str(o.get("/Alt")) for o in _objects(asked) if "/Alt" in o]
    assert "the fraction 1 over the square root of d sub k, end fraction" in alts
    assert any(a.startswith("A equals the 2 by 2 matrix") for a in alts)


def _objects(reader: PdfReader) -> list[dict[str, object]]:
    from pypdf.generic import DictionaryObject

    found = [reader.get_object(n) for n in range(1, len(reader.xref[0]) + len(reader.xref_objStm) + 1)]
    return [o for o in found if isinstance(o, DictionaryObject)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_that_the_grader_refuses_stops_everything(kind: str) -> None:
    with pytest.raises(KeyRefused, match=f"fake.{kind}@1/1"):
        build([Fake("number"), Fake(kind, refuses=True)])


@pytest.mark.parametrize("form", ["pdf", "html", "md", "tex"])
def test_titles_instructions_and_names_are_only_text(form: str) -> None:
    options = Options(title=HOSTILE, instructions=HOSTILE + "\n\nsecond line")
    student = Student(2, HOSTILE, "1", label=HOSTILE)
    for key in (False, True):
        made = render([build([Fake("number")], options, student)], options, form, key)
        if form == "pdf":
            assert HOSTILE in words(made)
        elif form == "html":
            seen = _Text()
            seen.feed(made.decode())
            assert HOSTILE in seen.text
        elif form == "md":
            from drillgen.typeset import blocks

            first = made.decode().split("\n")[0].removeprefix("# ")
            (block,) = read(first)
            assert isinstance(block, blocks.Paragraph)
            (text,) = block.body
            assert isinstance(text, blocks.Text)
            assert text.text == ("Key: " if key else "") + HOSTILE
        else:
            body = made.decode()
            assert body.count("\\end{document}") == 1
            assert r"\textbackslash{}end\{document\}" in body


class _Text(HTMLParser):
    """The text of a page."""

    text = ""

    def handle_data(self, data: str) -> None:
        self.text += data


def test_html_is_one_file_that_asks_for_nothing() -> None:
    options = Options(solutions=True)
    for key in (False, True):
        made = render([build(everything(), options)], options, "html", key).decode()
        links = re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?([^"')\s]{0,60})""", made)
        assert all(link.startswith(("data:font/woff;", "data:image/png")) for link in links)
        assert set(re.findall(r"https?://[^\s\"<]+", made)) == {"http://www.w3.org/1998/Math/MathML"}
        assert "<script" not in made
        assert "prefers-color-scheme: dark" in made and "@media print" in made and "width=device-width" in made
        assert "<math" in made and "$" not in re.sub(r"<style>.*?</style>", "", made, flags=re.S)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_the_tex_export_compiles(tmp_path: Path) -> None:
    options = Options(solutions=True, choices=True, title=HOSTILE + " 李 é", instructions=HOSTILE)
    sheet = build(everything(), options, Student(2, HOSTILE, label=HOSTILE))
    for key in (False, True):
        (tmp_path / "s.tex").write_bytes(render([sheet], options, "tex", key))
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "s.tex"]
        made = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120)
        assert made.returncode == 0, made.stdout[-2000:]


def test_options_made_of_slips() -> None:
    options = Options(choices=True)
    sheet = build(everything(), options)
    made = {q.problem["kind"]: q.parts[0] for q in sheet.questions}
    assert len(made["quantity"].choices) == 4
    assert sum(c.right for c in made["quantity"].choices) == 1
    assert made["quantity"].answer in "ABCD"
    assert made["choice"].answer == "B"
    assert made["multi_choice"].answer == "A, C"
    assert all(not part.choices for part in sheet.questions[-1].parts)
    assert next(c for c in made["quantity"].choices if c.right).text == "128 KiB"


def test_too_few_slips_leave_the_question_open() -> None:
    assert of_slips(Fake("number", slips=1).problem(True)) == ()
    problem = Fake("number", slips=3).problem(True)
    for slip in problem["slips"]:
        slip["show"] = "0.25"
    assert of_slips(problem) == ()


def test_key_letters_are_spread_evenly() -> None:
    letters = Counter(
        choice.letter
        for seed in range(2000)
        for choice in of_slips(Fake("quantity", seed).problem(True))
        if choice.right
    )
    expected = 2000 / 4
    chi_squared = sum((n - expected) ** 2 / expected for n in letters.values())
    assert set(letters) == set("ABCD")
    assert chi_squared < 16.3  # 0.1 % point of chi-squared with 3 degrees of freedom


def test_codes_hold_whole_commands_of_all_ids() -> None:
    ids = [f"kv_cache.per_token@1/{n}" for n in range(100_000_000, 100_000_040)]
    made = list(commands("drillgen key", ids))
    assert all(len(text) <= BYTES and text.startswith("drillgen key ") for text in made)
    assert [id for text in made for id in text.split()[2:]] == ids


@pytest.mark.parametrize("count", [1, 8, 40])
def test_every_sheet_carries_its_codes_and_ids(count: int) -> None:
    made = render([build([Fake("number", n) for n in range(count)])], ALL)
    text = words(made).replace(" ", "")
    assert "Key:drillgenkeyID" in text
    assert all(text.count(f"fake.number@1/{n}·") == 1 for n in range(count))
    last = pages(made)[-1]
    assert f"fake.number@1/{count - 1}" in last


def test_space() -> None:
    few, many = (len(pages(render([build([Fake("number")] * 8, o)], o))) for o in (Options(space=0), Options(space=11)))
    assert few == 1
    assert many == 8


def test_a_code_is_an_image_of_its_modules() -> None:
    from PIL import Image

    from drillgen.worksheet.qr import matrix, png

    modules = matrix("drillgen key kv_cache.per_token@1/1")
    image = Image.open(io.BytesIO(png(modules))).convert("L")
    assert image.size == ((len(modules) + 4) * 4,) * 2
    for y, row in enumerate(modules):
        for x, dark in enumerate(row):
            assert image.getpixel(((x + 2) * 4 + 1, (y + 2) * 4 + 3)) == (0 if dark else 255)
    assert image.getpixel((0, 0)) == 255


def test_a_large_run_in_a_process_of_its_own_gives_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    from drillgen.worksheet import pdf

    sheet = build(everything())
    here = render([sheet])
    monkeypatch.setattr(pdf, "LARGE", 0)
    assert render([sheet]) == here
    monkeypatch.setattr(pdf, "BATCH", 2)
    assert list(pdf.render_each([sheet] * 3, ALL)) == [here] * 3
    monkeypatch.setattr(pdf, "MOST", 0)
    with pytest.raises(Refused, match="--split"):
        render([sheet])


def test_the_maths_font_has_every_glyph_that_mathml_writes() -> None:
    from fontTools.ttLib import TTFont

    import templates
    from drillgen.typeset import mathml, symbols

    letters = [chr(c) for c in (*range(ord("A"), ord("Z") + 1), *range(ord("a"), ord("z") + 1))]
    wanted = set(symbols.LETTERS.values()) | set(letters) | set("0123456789.,") | set(mathml._ACCENTS.values())
    wanted |= {s.char for s in (*symbols.SYMBOLS.values(), *symbols.ESCAPES.values(), *symbols.PLAIN.values())}
    for style in ("bf", "bs", "sf", "tt"):
        wanted |= {mathml._char(c, style) for c in letters + list("0123456789")}
    wanted |= {mathml._char(c, style) for style in ("bf", "bs") for c in symbols.GREEK.values()}
    wanted |= {mathml._char(c, style) for style in ("bb", "cal") for c in letters if c.isupper()}
    assert templates.__file__
    font = TTFont(Path(templates.__file__).parent / "_worksheet_math.woff")
    assert {c for c in wanted if len(c) == 1 and ord(c) not in font.getBestCmap()} == set()
    assert "MATH" in font


def test_slips_of_one_value_lead_to_one_letter() -> None:
    fake = Fake("quantity", slips=4)
    fake.slips[1] = ("twin", fake.slips[0][1], "The same number another way.")
    (question,) = build([fake], Options(choices=True)).questions
    letters = {choice.text: choice.letter for choice in question.parts[0].choices}
    slips = named_slips(question)
    assert [slip.show for slip in slips] == [letters[show] for _, show, _ in fake.slips]
    assert slips[0].show == slips[1].show and slips[0].remark != slips[1].remark


def test_a_scenario_counts_its_parts_and_lists_their_slips() -> None:
    options = Options(solutions=True)
    scenario = open_id("scenario.fit_on_one_gpu@1/1")
    sheet = build([scenario, Fake("parts"), Fake("number")], options)
    assert [question.points for question in sheet.questions] == [6, 1, 1]
    for form in ("html", "md", "tex"):
        asked = html.unescape(re.sub("<[^>]*>", "", render([sheet], options, form).decode()))
        assert re.search(r"Score\b.*/ 8\b", asked), form
    assert re.search(r"Score ?/ 8\b", words(render([sheet], options)))
    slips = named_slips(sheet.questions[0])
    wanted = [(p["name"], s["show"]) for p in scenario.problem(True)["parts"] for s in p["slips"]]
    assert len(wanted) > 6 and {name for name, _ in wanted} >= {"a", "b"}
    assert [slip.part for slip in slips] == [name for name, _ in wanted]
    assert "- (a) `256 KiB`: " in render([sheet], options, "md", key=True).decode()
    assert "(a) 256 KiB: " in words(render([sheet], options, key=True))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("937.519 tokens/s", "937.519 tokens/s"), ("937.519", "937.519"), ("0.5", "0.5"), ("1. one", "1\\. one"),
        ("2) two", "2\\) two"), ("3.", "3\\."), ("1.)", "1.)"), ("- x", "\\- x"),
    ],
)  # fmt: skip
def test_markdown_escapes_what_would_begin_a_list_and_no_decimal(text: str, shown: str) -> None:
    assert escape(text) == shown


def test_right_options_stand_apart_without_semicolons() -> None:
    sheet = build([Fake("multi_choice")])
    assert "**A, C** one · three" in render([sheet], ALL, "md", key=True).decode()
    assert ";" not in _visible(render([sheet], ALL, "html", key=True).decode()).partition("A, C")[2]
    assert r"one \textperiodcentered{} three" in render([sheet], ALL, "tex", key=True).decode()


def _visible(page: str) -> str:
    return html.unescape(re.sub("<[^>]*>", "", page))


def test_the_heading_of_the_slips_never_ends_a_page() -> None:
    options = Options(solutions=True)
    parted = 0
    fakes = [Fake("quantity", seed) for seed in range(1, 7)]
    for fake in fakes:
        fake.slips = [
            (id, show, f"{remark} {'It takes more than two lines to say. ' * 6}") for id, show, remark in fake.slips
        ]
    for lines in range(20):
        questions = build(fakes, options).questions
        # A solution that grows pushes every list of slips over the end of the page, line by line.
        grown = {**questions[0].problem, "solution": "\n\n".join(["A line."] * (1 + lines))}
        sheet = Sheet((replace(questions[0], problem=grown), *questions[1:]))
        texts = pages(render([sheet], options, key=True))
        assert not any(re.search(r"Known slips ?Key: Attention drills ?page", text) for text in texts), lines
        parted += len(texts) > 1
    assert parted


@pytest.mark.parametrize("count", [2, 3, 5, 6, 7])
def test_both_columns_of_the_last_page_are_used(count: int) -> None:
    options = Options(columns=2, paper="letter")
    sheet = build([Fake("quantity", seed) for seed in range(1, count + 1)], options)
    reader = PdfReader(io.BytesIO(render([sheet], options)))
    last = reader.pages[-1]
    places: dict[str, float] = {}

    def place(text: str, cm: list[float], tm: list[float], *_: object) -> None:
        if found := re.fullmatch(r"(\d+)\.", text.strip()):
            places[found[1]] = cm[0] * tm[4] + cm[2] * tm[5] + cm[4]

    last.extract_text(visitor_text=place)
    middle = float(last.mediabox.width) / 2
    left, right = (sum(1 for x in places.values() if (x < middle) == side) for side in (True, False))
    assert left and right and abs(left - right) <= 1, places
