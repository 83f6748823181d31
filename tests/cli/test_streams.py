"""Streams, encodings and odd bytes: closed descriptors, foreign locales, lone surrogates, a folder that is gone."""

import json
import os
import subprocess
import sys

import pytest

ID = "kv_cache.per_token@1/4821"
ASCII = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}


def shell(command, cwd):
    return subprocess.run(
        ["/bin/sh", "-c", command], cwd=cwd, capture_output=True, text=True, check=False, timeout=120,
        env={**os.environ, "D": f"{sys.executable} -m drillgen"},
    )  # fmt: skip


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
@pytest.mark.parametrize(
    ("command", "code"),
    [
        (f"$D check {ID} '64 KiB' >&-", 3),
        ("$D list >&-", 3),
        ("$D --help >&-", 3),
        ("$D generate --count 2 --seed 1 >&-", 3),
        ("$D generate --count 2 --seed 1 --out x.jsonl >&-", 0),
        (f"$D check {ID} '64 KiB' 2>&-", 0),
        (f"$D check {ID} - <&-", 3),
        (f"$D drill {ID} <&-", 0),
        ("$D match - <&-", 0),
        (f"$D show {ID} <&- >&- 2>&-", 3),
    ],
)
def test_closed_streams(tmp_path, command, code):
    found = shell(command, tmp_path)
    assert found.returncode == code, found.stderr
    assert "Traceback" not in found.stderr
    assert "internal error" not in found.stderr


def test_no_locale_changes_data(drillgen):
    args = ["generate", "--seed", "é", "--count", "3"]
    for more in ([], ["--json", "--answers"]):
        assert drillgen(*args, *more, env=ASCII).stdout == drillgen(*args, *more).stdout
    assert drillgen("check", ID, "√2", "--json", env=ASCII).stdout == drillgen("check", ID, "√2", "--json").stdout


def test_lone_surrogates_stay_json(drillgen, tmp_path):
    row = {"student": "\ud800", "id": ID, "answer": "64 KiB"}
    (tmp_path / "a.jsonl").write_text(json.dumps(row) + "\n")
    found = drillgen("grade", "a.jsonl", "--json")
    assert json.loads(found.stdout)["student"] == "\ud800"
    assert drillgen("grade", "a.jsonl", "--out", "v.jsonl", "--gradebook", "g.csv").returncode == 0
    assert json.loads((tmp_path / "v.jsonl").read_text())["student"] == "\ud800"
    assert "D800" in (tmp_path / "g.csv").read_text()
    match = {"id": "\udfff", "kind": "number", "key": "1", "answer": "\ud800", "tolerance": {"exact": True}}
    verdict = json.loads(drillgen("match", "-", stdin=json.dumps(match) + "\n").stdout)
    assert (verdict["id"], verdict["status"]) == ("\udfff", "invalid")


@pytest.mark.skipif(os.name != "posix", reason="arguments are bytes there")
def test_bytes_that_are_no_text(drillgen):
    for args in (
        ["check", ID, b"\xff"],
        ["generate", "--count", "1", "--json", "--seed", b"\xff"],
        ["show", b"\xff/1"],
    ):
        found = subprocess.run([sys.executable, "-m", "drillgen", *args], capture_output=True, check=False)
        assert found.returncode in (0, 3)
        assert b"Traceback" not in found.stderr
        assert b"internal error" not in found.stderr


@pytest.mark.skipif(os.name != "posix", reason="an open folder cannot be removed there")
def test_a_current_directory_that_is_gone(tmp_path):
    found = shell(f"mkdir gone; cd gone; rmdir ../gone; $D check {ID} '64 KiB'", tmp_path)
    assert (found.returncode, found.stderr) == (0, "")


def test_dash_is_standard_output(drillgen, tmp_path):
    (tmp_path / "a.csv").write_text(f"student,id,answer\nAda,{ID},64 KiB\n")
    verdict = json.loads(drillgen("grade", "a.csv", "--out", "-").stdout)
    assert verdict["verdict"] == "right"
    book = drillgen("grade", "-", "--gradebook", "-", stdin=(tmp_path / "a.csv").read_text())
    assert book.stdout.splitlines() == [f"student,{ID},total,answered,unreadable", "Ada,1,1,1,0"]
    assert "1 answer: 1 right" in book.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]
