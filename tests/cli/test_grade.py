"""Submissions in CSV and JSON Lines, verdicts, gradebook."""

import csv
import io
import json

import pytest

from drillgen.instance import build
from drillgen.submissions import harmless

A, B = build("kv_cache.per_token@1/1"), build("kv_cache.max_sequences@1/1")
RIGHT_A, RIGHT_B = A.kind.show(A.answer), B.kind.show(B.answer)
SLIP, SLIP_VALUE = next(iter(A.wrong.items()))


def rows_of(found):
    return [json.loads(line) for line in found.stdout.splitlines()]


def write_csv(path, rows, delimiter=",", bom=False):
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows(rows)
    path.write_bytes((b"\xef\xbb\xbf" if bom else b"") + out.getvalue().encode())


TABLE = [
    ["student", "id", "answer"],
    ["Ada", A.id, RIGHT_A],
    ["Ada", B.id, RIGHT_B],
    ["Bob", A.id, A.kind.show(SLIP_VALUE)],
    ["Bob", B.id, "what?"],
    ["Eve", "kv_cache.nothing@1/1", "3"],
]


@pytest.mark.parametrize(("delimiter", "bom"), [(",", False), (";", True), (",", True), ("\t", False)])
def test_csv(drillgen, tmp_path, delimiter, bom):
    write_csv(tmp_path / "a.csv", TABLE, delimiter, bom)
    found = drillgen("grade", "a.csv", "--json")
    assert found.returncode == 0
    got = [(r["student"], r["status"], r["verdict"]) for r in rows_of(found)]
    assert got == [
        ("Ada", "graded", "right"), ("Ada", "graded", "right"), ("Bob", "graded", "wrong"), ("Bob", "invalid", None),
        ("Eve", "unknown_id", None),
    ]  # fmt: skip
    assert SLIP in rows_of(found)[2]["slips"]
    assert [r["id"] for r in rows_of(found)] == [r[1] for r in TABLE[1:]]


def test_json_lines_and_gradebook(drillgen, tmp_path):
    lines = [json.dumps({"student": r[0], "id": r[1], "answer": r[2]}) for r in TABLE[1:]]
    lines += ["not json", json.dumps({"student": "Ada", "id": B.id, "answer": "1000"}), json.dumps({"id": 3})]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    found = drillgen("grade", "a.jsonl", "--out", "v.jsonl", "--gradebook", "book.csv")
    assert found.returncode == 0
    assert "given again" in found.stderr
    verdicts = [json.loads(x) for x in (tmp_path / "v.jsonl").read_text().splitlines()]
    assert [v["status"] for v in verdicts][-3:] == ["bad_row", "graded", "bad_row"]
    book = list(csv.DictReader((tmp_path / "book.csv").read_text().splitlines()))
    ada, bob = (next(r for r in book if r["student"] == n) for n in ("Ada", "Bob"))
    assert (ada[A.id], ada[B.id], ada["total"]) == ("1", "0", "1")
    assert (bob[A.id], bob[B.id], bob["unreadable"]) == ("0", "?", "1")
    assert drillgen("grade", "a.jsonl", "--json", "--strict").returncode == 3


def test_table_for_people(drillgen, tmp_path):
    write_csv(tmp_path / "a.csv", TABLE)
    shown = drillgen("grade", "a.csv").stdout
    assert "right" in shown
    assert "unreadable" in shown
    assert SLIP in shown


def test_bad_files(drillgen, tmp_path):
    (tmp_path / "a.csv").write_text("name,problem\nx,y\n")
    found = drillgen("grade", "a.csv")
    assert found.returncode == 3
    assert "student, id, answer" in found.stderr
    (tmp_path / "b.csv").write_text(f"student,id,answer\nAda,{A.id},1,5\nBob,{A.id},{RIGHT_A}\n")
    got = rows_of(drillgen("grade", "b.csv", "--json"))
    assert [r["status"] for r in got] == ["bad_row", "graded"]
    assert "quotes" in got[0]["detail"]
    (tmp_path / "c.csv").write_bytes(b"student,id,answer\nA\xff," + A.id.encode() + b",\x1b[31m\xe2\x80\xae1\n")
    shown = drillgen("grade", "c.csv")
    assert shown.returncode == 0
    assert "\x1b" not in shown.stdout
    assert "\u202e" not in shown.stdout


def test_spreadsheets_run_nothing(drillgen, tmp_path):
    write_csv(tmp_path / "a.csv", [TABLE[0], ["=HYPERLINK(1)", A.id, RIGHT_A], ["@x", A.id, "1"]])
    drillgen("grade", "a.csv", "--gradebook", "book.csv")
    students = [r["student"] for r in csv.DictReader((tmp_path / "book.csv").read_text().splitlines())]
    assert students == ["'=HYPERLINK(1)", "'@x"]
    assert harmless("-1") == "'-1"
    assert harmless("Ada") == "Ada"


def test_sealed_sets(drillgen, tmp_path):
    assert drillgen("secret", "key").returncode == 0
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    assert drillgen("secret", "key").returncode == 3
    args = ["generate", "--card", "13", "--count", "4", "--seed", "1", "--json", "--answers"]
    sealed = rows_of(drillgen(*args, "--secret", "key"))
    plain = rows_of(drillgen(*args))
    assert all("~" in r["id"] for r in sealed)
    assert [r["answer"] for r in sealed] != [r["answer"] for r in plain]
    one = next(r for r in sealed if r["kind"] in ("quantity", "number", "integer"))
    for command in (["show", one["id"]], ["check", one["id"], "1"], ["drill", one["id"]]):
        refused = drillgen(*command)
        assert refused.returncode == 3
        assert "sealed" in refused.stderr
    assert drillgen("check", one["id"], one["answer"]["show"], "--secret", "key").returncode == 0
    assert drillgen("secret", "other").returncode == 0
    assert drillgen("show", one["id"], "--secret", "other").returncode == 3
    (tmp_path / "nokey").write_text("hello\n")
    assert drillgen("show", one["id"], "--secret", "nokey").returncode == 3
    key = (tmp_path / "key").read_text().splitlines()[1]
    assert key[:8] not in one["id"]
    write_csv(tmp_path / "a.csv", [TABLE[0], ["Ada", one["id"], one["answer"]["show"]]])
    assert rows_of(drillgen("grade", "a.csv", "--json"))[0]["status"] == "unknown_id"
    assert rows_of(drillgen("grade", "a.csv", "--json", "--secret", "key"))[0]["verdict"] == "right"


def test_letters_of_a_sheet_with_choices(drillgen, tmp_path):
    from drillgen.worksheet.choices import of_slips

    choices = of_slips(A.problem(answers=True), A.grade)
    rows = [["Ada", A.id, f"({c.letter.lower()})"] for c in choices] + [["Ada", A.id, RIGHT_A], ["Ada", A.id, "Z"]]
    write_csv(tmp_path / "a.csv", [TABLE[0], *rows])
    got = rows_of(drillgen("grade", "a.csv", "--json", "--choices"))
    assert [r["verdict"] for r in got[:-2]] == ["right" if c.right else "wrong" for c in choices]
    assert [r["slips"][0] for r, c in zip(got, choices, strict=False) if not c.right]
    assert [r["verdict"] for r in got[-2:]] == ["right", None]
    assert rows_of(drillgen("grade", "a.csv", "--json"))[0]["status"] == "invalid"


def test_the_table_names_options_by_letter(drillgen, tmp_path):
    (tmp_path / "a.csv").write_text("student,id,answer\nAda,kv_cache.contents@1/72471873,E C d\n")
    assert drillgen("grade", "a.csv").stdout.splitlines()[1].split()[-4:] == ["right", "C,", "D,", "E"]


def test_a_file_in_another_encoding_is_said_once(drillgen, tmp_path):
    rows = "".join(f"Müller,kv_cache.per_token@1/{n},64 KiB\n" for n in range(3))
    (tmp_path / "a.csv").write_bytes(("student,id,answer\n" + rows).encode("latin-1"))
    found = drillgen("grade", "a.csv")
    assert found.returncode == 0
    assert found.stderr.count("no UTF-8") == 1
    (tmp_path / "a.csv").write_text("student,id,answer\n" + rows, encoding="utf-8")
    assert drillgen("grade", "a.csv").stderr == ""
