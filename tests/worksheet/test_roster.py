"""Rosters, names in any script, and each student's own numbers."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf import PdfReader

from drillgen.instance import open_id
from drillgen.worksheet import Options, build, render
from drillgen.worksheet.names import EMBEDDED, fit, uncovered
from drillgen.worksheet.roster import BadRoster, Student, clean, own_problems, read

from .fakes import Fake


def roster(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "r.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_columns_separators_bom_and_empty_lines(tmp_path: Path) -> None:
    path = roster(tmp_path, '\ufeffGroup;Name;ID\r\n\r\nA;"Ada ""A"" Lovelace";s1\r\n;;\r\nB;Łukasz;\r\n')
    assert [(s.row, s.name, s.id, s.label) for s in read(path)] == [
        (3, 'Ada "A" Lovelace', "s1", 'Ada "A" Lovelace (s1)'),
        (5, "Łukasz", "", "Łukasz"),
    ]


def test_names_that_repeat_are_told_apart(tmp_path: Path) -> None:
    path = roster(tmp_path, "name,id\nAda,\nAda,7\nAda,\n,9\n")
    assert [s.label for s in read(path)] == ["Ada (row 2)", "Ada (7)", "Ada (row 4)", "9"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("nom,id\nAda,1\n", "line 1: no column `name` (found: nom, id)"),
        ("name,name\na,b\n", "line 1: a column stands there twice"),
        ("name,id\n", "names no students"),
        ("name,id,mail\nAda,1,a\n,,b\n", "line 3: neither a name nor an id"),
        ('name\n"Ada\n', "line 2"),
        ("name\nA\0da\n", "line 2: a NUL"),
        (b"name\nAda\n\xff\xfe\n", "line 3: not UTF-8"),
    ],
)
def test_bad_rosters_name_the_line(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(BadRoster) as error:
        read(roster(tmp_path, text))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_roster() -> None:
    with pytest.raises(BadRoster, match="cannot read the roster"):
        read("/nonexistent/roster.csv")


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Ada Lovelace", "007-ada-lovelace"),
        ("../../etc/passwd", "007-etc-passwd"),
        ("..", "007-student"),
        ("李雷", "007-student"),
        ("Zoë O'Neil\\x", "007-zoe-o-neil-x"),
        ("a" * 300, "007-" + "a" * 40),
        ("CON:<>|?*", "007-con"),
    ],
)
def test_file_names_are_row_and_slug(name: str, slug: str) -> None:
    assert Student(7, name).slug == slug


def test_hidden_characters_are_dropped() -> None:
    assert clean("A\u202eda\x1b[31m \x00Love\u200blace\n\tx") == "Ada[31m Lovelace x"
    assert len(clean("x" * 1000)) == 200


def test_the_embedded_fonts_cover_what_is_taken_as_common() -> None:
    from drillgen.worksheet.names import _common

    common = frozenset(chr(c) for c in range(0x20, 0x2100) if _common(chr(c)))
    assert len(common) > 250
    assert uncovered(common, EMBEDDED) == frozenset()
    assert uncovered(frozenset("李a\u0301"), EMBEDDED) == frozenset("李")


def test_a_name_that_no_font_covers_warns_and_prints_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    import drillgen.worksheet.names as names

    monkeypatch.setattr(names, "_choose", lambda rare, options: (EMBEDDED, uncovered(rare, EMBEDDED)))
    who = [Student(2, "Ada", label="Ada"), Student(3, "Li 李雷", "s3", "Li 李雷 (s3)"), Student(4, "李", label="李")]
    sheets = [build([Fake("number")], student=student) for student in who]
    fitted = fit(sheets, Options())
    assert [s.student.label for s in fitted.sheets if s.student] == ["Ada", "Li (s3)", "(row 4)"]
    assert [line.split(":")[0] for line in fitted.warnings] == ["row 3", "row 4"]
    assert not fitted.whole

    def claims(pdf: bytes) -> bool:
        root = PdfReader(io.BytesIO(pdf)).trailer["/Root"]
        assert root["/MarkInfo"]["/Marked"] is not None
        return b"pdfuaid" in root["/Metadata"].get_object().get_data()

    assert [claims(render([sheet])) for sheet in sheets] == [True, False, False]
    assert not claims(render(sheets))
    text = PdfReader(io.BytesIO(render(sheets))).pages[1].extract_text()
    assert "Li (s3)" in text


def test_a_title_that_no_font_covers_does_not_stop_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    import drillgen.worksheet.names as names

    monkeypatch.setattr(names, "_choose", lambda rare, options: (EMBEDDED, uncovered(rare, EMBEDDED)))
    options = Options(title="Quiz 李", instructions="Go 雷\nnow")
    assert fit([build([Fake("number")], options)], options).warnings
    assert render([build([Fake("number")], options)], options).startswith(b"%PDF")


@settings(max_examples=25, deadline=None)
@given(st.text(max_size=40), st.text(max_size=10))
def test_no_name_stops_a_run(name: str, id: str) -> None:
    shown = clean(name)
    student = Student(2, shown, clean(id), f"{shown} ({clean(id)})")
    for form in ("pdf", "html", "md", "tex"):
        assert render([build([Fake("number")], student=student)], form=form)


def test_own_numbers_same_drills() -> None:
    base = [open_id(f"kv_cache.{name}@1/3") for name in ("per_token", "total", "max_context")]
    ann, bob = (own_problems(base, "7", Student(row, name, label=name)) for row, name in ((2, "Ann"), (3, "Bob")))
    assert [i.drill.id for i in ann] == [i.drill.id for i in bob] == [i.drill.id for i in base]
    assert not {i.id for i in ann} & {i.id for i in bob}
    moved = own_problems(base, "7", Student(40, "Ann", label="Ann"))
    assert [i.id for i in moved] == [i.id for i in ann]
    assert [i.id for i in own_problems(base, "8", Student(2, "Ann", label="Ann"))] != [i.id for i in ann]


def test_one_students_sheet_repeats_no_problem() -> None:
    base = [open_id("kv_cache.per_token@1/3")] * 20
    made = own_problems(base, "1", Student(2, "Ann", label="Ann"))
    assert len({str(sorted(i.problem()["params"].items(), key=str)) for i in made}) == 20


def test_one_sheet_each_with_pages_counted_by_student() -> None:
    who = [Student(n, f"Name{n}", label=f"Name{n}") for n in (2, 3)]
    sheets = [build([Fake("matrix", seed) for seed in range(6)], student=student) for student in who]
    texts = [page.extract_text() for page in PdfReader(io.BytesIO(render(sheets))).pages]
    half = len(texts) // 2
    assert half >= 2
    for start, student in ((0, who[0]), (half, who[1])):
        for number, text in enumerate(texts[start : start + half], 1):
            assert f"page {number} of {half}" in text
            assert student.name in text
