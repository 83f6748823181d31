"""`drillgen sheet` and `drillgen key` as a person runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from drillgen.output import CannotWrite
from drillgen.worksheet.files import is_standard_output

SELECT = ["--card", "13", "--count", "4", "--seed", "7"]


def drillgen(*args: str, cwd: Path | str = "/", stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "drillgen", *args], cwd=cwd, input=stdin, capture_output=True, text=True, timeout=60
    )


def test_sheet_and_key_and_the_key_again_from_the_ids(tmp_path: Path) -> None:
    made = drillgen("sheet", *SELECT, "--out", "s.md", "--key", "k.md", "--solutions", cwd=tmp_path)
    assert (made.returncode, made.stdout, made.stderr) == (0, "", "")
    command = (tmp_path / "s.md").read_text().strip().split("Key of this sheet: `")[1].rstrip("`")
    ids = command.split()[2:]
    assert len(ids) == 4
    again = drillgen("key", *ids, "--solutions")
    assert again.stdout == (tmp_path / "k.md").read_text()
    piped = drillgen("key", "-", "--solutions", stdin="\n".join(ids))
    assert piped.stdout == again.stdout


def test_the_set_is_the_one_that_generate_draws(tmp_path: Path) -> None:
    drillgen("sheet", *SELECT, "--out", "s.md", cwd=tmp_path)
    drawn = [json.loads(line)["id"] for line in drillgen("generate", *SELECT, "--json").stdout.splitlines()]
    text = (tmp_path / "s.md").read_text()
    assert all(f"`{id}`" in text for id in drawn)


def test_pdf_is_the_same_every_time(tmp_path: Path) -> None:
    for name in ("a", "b"):
        assert drillgen("sheet", *SELECT, "--out", f"{name}.pdf", "--key", f"{name}k.pdf", cwd=tmp_path).returncode == 0
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes()
    assert (tmp_path / "ak.pdf").read_bytes() == (tmp_path / "bk.pdf").read_bytes()
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")


def test_without_a_seed_the_command_that_repeats_is_said(tmp_path: Path) -> None:
    made = drillgen("sheet", "--card", "13", "--count", "2", "--out", "s.md", cwd=tmp_path)
    assert "--seed" in made.stderr


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["--out", "s.docx"], 3, "ends in .pdf"),
        (["--out", "no/such/s.md"], 3, "cannot write"),
        ([], 2, "--out"),
        (["--out", "s.md", "--split", "d"], 2, "--out"),
        (["--split", "d"], 2, "--students"),
        (["--out", "s.md", "--key", "./s.md"], 2, "same file"),
        (["--out", "s.md", "--students", "none.csv"], 3, "cannot read the roster"),
        (["--out", "s.md", "--space", "much"], 2, "centimetres"),
        (["--out", "s.md", "--card", "cats"], 3, "card"),
        (["--out", "s.md", "--count", "501"], 3, "at most 500"),
        (["--out", "s.md", "--fonts", "nowhere"], 2, "nowhere"),
    ],
)
def test_wrong_use_is_one_line_and_nothing_is_written(tmp_path: Path, args: list[str], code: int, said: str) -> None:
    made = drillgen("sheet", *SELECT, *args, cwd=tmp_path)
    assert made.returncode == code
    assert said in made.stderr
    assert "Traceback" not in made.stderr
    assert list(tmp_path.iterdir()) == []


def test_one_file_a_student_stays_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("name,id\n../../x,\nAda,1\nAda,2\n李雷,3\n")
    args = ["--students", "r.csv", "--split", "out", "--form", "html", "--key", "k.html"]
    made = drillgen("sheet", *SELECT, *args, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["002-x.html", "003-ada.html", "004-ada.html", "005-student.html"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["k.html", "out", "r.csv"]
    key = (tmp_path / "k.html").read_text()
    assert all(label in key for label in ("../../x", "Ada (1)", "Ada (2)", "李雷 (3)"))


def test_choices_print_letters_and_the_key_command_keeps_them(tmp_path: Path) -> None:
    drillgen("sheet", *SELECT, "--choices", "--out", "s.md", "--key", "k.md", cwd=tmp_path)
    sheet = (tmp_path / "s.md").read_text()
    assert "drillgen key --choices" in sheet and "- **A.**" in sheet
    ids = sheet.strip().split("drillgen key --choices ")[1].rstrip("`").split()
    assert drillgen("key", "--choices", *ids).stdout == (tmp_path / "k.md").read_text()


def test_a_sealed_sheet_needs_its_secret_for_the_key(tmp_path: Path) -> None:
    assert drillgen("secret", "s.key", cwd=tmp_path).returncode == 0
    drillgen("sheet", *SELECT, "--secret", "s.key", "--out", "s.md", "--key", "k.md", cwd=tmp_path)
    sheet = (tmp_path / "s.md").read_text()
    ids = sheet.strip().split("ID…" if "ID…" in sheet else "Key of this sheet: `drillgen key ")[1].rstrip("`").split()
    refused = drillgen("key", *ids, cwd=tmp_path)
    assert refused.returncode == 3 and "secret" in refused.stderr
    assert drillgen("key", *ids, "--secret", "s.key", cwd=tmp_path).stdout == (tmp_path / "k.md").read_text()


def test_key_as_json() -> None:
    made = drillgen("key", "kv_cache.per_token@1/4821", "kv_cache.contents@1/7", "--json")
    first, second = map(json.loads, made.stdout.splitlines())
    assert first["id"] == "kv_cache.per_token@1/4821"
    assert first["parts"][0]["show"] == first["answer"]["show"]
    assert set(second["parts"][0]["answer"].split(", ")) <= set(second["parts"][0]["options"])


@pytest.mark.parametrize("title", ["", " ", "a\tb\nc", "a\x1b[31mb", "\u202eabc"])
def test_any_title(tmp_path: Path, title: str) -> None:
    args = ["--title", title, "--instructions", title, "--out", "s.pdf", "--key", "k.md"]
    made = drillgen("sheet", *SELECT, *args, cwd=tmp_path)
    assert (made.returncode, made.stderr) == (0, "")
    first = (tmp_path / "k.md").read_text().split("\n")[0]
    assert not set(first) & set("\x1b\u202e\t")


def test_no_ids_is_said() -> None:
    made = drillgen("key", "-", stdin="\n")
    assert made.returncode == 2 and "no ids" in made.stderr


def test_an_unknown_id_is_one_line() -> None:
    made = drillgen("key", "kv_cache.per_tokn@1/1")
    assert made.returncode == 3 and "kv_cache.per_token" in made.stderr and made.stdout == ""


def test_split_names_the_sheets_of_an_earlier_roster(tmp_path: Path) -> None:
    split = [*SELECT, "--students", "r.csv", "--split", "out", "--form", "md"]
    (tmp_path / "r.csv").write_text("name\nAda\nBob\nCy\n")
    assert "also holds" not in drillgen("sheet", *split, cwd=tmp_path).stderr
    (tmp_path / "out" / "notes.md").write_text("mine")
    (tmp_path / "r.csv").write_text("name\nAda\n")
    said = drillgen("sheet", *split, cwd=tmp_path).stderr
    assert said == "note: out also holds 2 files that this run has not written: 003-bob.md, 004-cy.md\n"
    (tmp_path / "out" / "004-cy.md").unlink()
    assert "1 file that this run has not written: 003-bob.md\n" in drillgen("sheet", *split, cwd=tmp_path).stderr


def test_dash_writes_a_sheet_to_standard_output(tmp_path: Path) -> None:
    drillgen("sheet", *SELECT, "--out", "s.md", cwd=tmp_path)
    made = drillgen("sheet", *SELECT, "--form", "md", "--out", "-", "--key", "k.md", cwd=tmp_path)
    assert (made.returncode, made.stdout) == (0, (tmp_path / "s.md").read_text())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["k.md", "s.md"]
    twice = drillgen("sheet", *SELECT, "--out", "-", "--key", "-", cwd=tmp_path)
    assert twice.returncode == 2 and "same file" in twice.stderr and not twice.stdout
    pdf = subprocess.run(
        [sys.executable, "-m", "drillgen", "sheet", *SELECT, "--out", "-"], cwd=tmp_path, capture_output=True
    )
    assert pdf.returncode == 0 and pdf.stdout.startswith(b"%PDF-") and pdf.stdout.rstrip().endswith(b"%%EOF")
    ids = ["kv_cache.per_token@1/1"]
    assert drillgen("key", *ids, "--out", "-").stdout == drillgen("key", *ids).stdout


def test_no_binary_data_for_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert is_standard_output("-", binary=False)
    assert not is_standard_output("x.pdf", binary=True)
    with pytest.raises(CannotWrite, match="terminal"):
        is_standard_output("-", binary=True)
