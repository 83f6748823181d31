"""Commands, exit codes and streams as in the contract."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from drillgen.cli import COMMANDS, group
from drillgen.instance import build

RIGHT = build("kv_cache.per_token@1/1")
SHOWN = RIGHT.kind.show(RIGHT.answer)


def test_the_table_of_commands_tells_the_truth(drillgen):
    import click

    for name, line in COMMANDS.items():
        found = group.get_command(click.Context(group), name)
        assert found is not None
        assert found.help, name
        assert line.endswith(".")
        shown = drillgen(name, "--help")
        assert shown.returncode == 0
        assert "Usage: drillgen " + name in shown.stdout.replace("__main__.py", "")


@pytest.mark.parametrize(
    ("answer", "code"),
    [(SHOWN, 0), ("1 KiB", 1), ("nonsense of a kind", 3), ("", 3), ("-1", 1), ("-h^2", 3), ("1,5", 3), ("3 or 4", 3)],
)
def test_check_exit_codes(drillgen, answer, code):
    assert drillgen("check", RIGHT.id, answer).returncode == code


def test_check_joins_words_and_reads_standard_input(drillgen):
    assert drillgen("check", RIGHT.id, *SHOWN.split()).returncode == 0
    assert drillgen("check", RIGHT.id, "-", stdin=SHOWN + "\n").returncode == 0


def test_check_names_the_slip(drillgen):
    name, value = next(iter(RIGHT.wrong.items()))
    found = drillgen("check", RIGHT.id, RIGHT.kind.show(value), "--json")
    verdict = json.loads(found.stdout)
    assert (verdict["status"], verdict["verdict"], verdict["id"]) == ("graded", "wrong", RIGHT.id)
    assert name in verdict["slips"]
    assert verdict["schema"] == "drillgen.verdict/1"


def test_check_points_at_the_place(drillgen):
    found = drillgen("check", RIGHT.id, "12 Kib4 + )")
    assert found.returncode == 3
    assert "^" in found.stdout


@pytest.mark.parametrize(
    ("args", "near"),
    [
        (["check", "kv_cache.per_tokens@1/1", "3"], "kv_cache.per_token"),
        (["check", "kv_cash.per_token@1/1", "3"], "kv_cache.per_token"),
        (["check", "kv_cache.per_token@9/1", "3"], "no version 9"),
        (["show", "scenario.fit_on_one_gpu@9/1"], "no version 9"),
        (["drill", "scenario", "fit_on_gpu"], "fit_on_one_gpu"),
        (["check", "kv_cache.per_token@1/x", "3"], "seed"),
        (["check", "hello", "3"], "kv_cache.per_token@1/4821"),
        (["show", "kv_cache.per_token@1/1000000000"], "999999999"),
        (["cards", "kv_cach"], "kv_cache"),
        (["list", "--card", "99"], "card"),
        (["list", "--kind", "quantiti"], "quantity"),
        (["generate", "--drill", "kv_cache.per_tok"], "kv_cache.per_token"),
        (["generate", "--chain", "softmx"], "softmax"),
        (["solve", "kv_cache.per_token", "model=llama3-8", "dtype=fp16"], "llama3-8b"),
        (["solve", "kv_cache.per_token", "model=llama3-8b"], "dtype"),
        (["solve", "kv_cache.per_token", "modl=llama3-8b", "dtype=fp16"], "model"),
        (["solve", "kv_cache.per_token", "llama3-8b"], "name=value"),
        (["grade", "missing.csv"], "missing.csv"),
        (["drill", "kv_cach"], "kv_cache"),
        (["verify", "kv_cach"], "kv_cache"),
        (["generate", "--out", "no/such/folder/x.jsonl", "--count", "1"], "no/such/folder"),
    ],
)
def test_unknown_names_offer_the_nearest(drillgen, args, near):
    found = drillgen(*args)
    assert found.returncode == 3
    assert near in found.stderr
    assert len(found.stderr.strip().splitlines()) == 1
    assert not found.stdout


def test_usage_errors(drillgen):
    assert drillgen("generate", "--nonsense").returncode == 2
    assert drillgen("chek").returncode == 2
    for command in (["generate"], ["sheet", "--out", "s.md"], ["pack", "moodle", "--out", "q.xml"]):
        for measures in (["--count", "3", "--minutes", "30"], ["--minutes", "30", "--count", "3"]):
            found = drillgen(*command, *measures)
            assert (found.returncode, "not both" in found.stderr) == (2, True)
    assert "check" in drillgen("chek").stderr


def test_generate_is_repeatable_and_a_prefix(drillgen):
    args = ["generate", "--card", "13", "--seed", "7", "--json", "--answers", "--count"]
    short, again, long = drillgen(*args, 5), drillgen(*args, 5), drillgen(*args, 9)
    assert short.stdout == again.stdout
    assert long.stdout.startswith(short.stdout)
    rows = [json.loads(line) for line in short.stdout.splitlines()]
    assert len(rows) == 5
    for row in rows:
        assert row["schema"] == "drillgen.problem/1"
        assert row["id"] == f"{row['drill']}@{row['version']}/{row['seed']}"
        shown = json.loads(drillgen("show", row["id"], "--json", "--answers").stdout)
        assert shown == row


def test_generate_without_seed_prints_the_command_that_repeats(drillgen):
    found = drillgen("generate", "--card", "13", "--count", "2", "--json")
    command = found.stderr.strip().splitlines()[-1].partition("drillgen ")[2].split()
    assert drillgen(*command).stdout == found.stdout


def test_generate_hides_answers(drillgen):
    for line in drillgen("generate", "--count", "12", "--seed", "1", "--json").stdout.splitlines():
        row = json.loads(line)
        assert not {"answer", "slips", "solution"} & set(row)
        assert len(row["hints"]) == 3


def test_generate_writes_whole_files(drillgen, tmp_path):
    out = tmp_path / "set.jsonl"
    assert drillgen("generate", "--count", "3", "--seed", "1", "--out", out).returncode == 0
    assert len(out.read_text().splitlines()) == 3
    assert [p.name for p in tmp_path.iterdir()] == ["set.jsonl"]
    markdown = drillgen("generate", "--count", "2", "--seed", "1").stdout
    assert markdown.startswith("## 1. ")


def test_unique_runs_out(drillgen):
    found = drillgen("generate", "--drill", "kv_cache.formula", "--count", "3", "--seed", "1", "--unique")
    assert found.returncode == 3
    assert "--unique" in found.stderr
    repeated = drillgen("generate", "--drill", "kv_cache.formula", "--count", "3", "--seed", "1")
    assert repeated.returncode == 0
    assert repeated.stderr.count("note:") == 1


def test_selectors(drillgen):
    rows = [
        json.loads(x)
        for x in drillgen("list", "--card", "c13_kv_cache", "--kind", "quantity", "--json").stdout.splitlines()
    ]
    assert {r["card"] for r in rows} == {13}
    assert {r["kind"] for r in rows} == {"quantity"}
    assert set(rows[0]) == {"id", "card", "kind", "stars", "moves", "minutes", "instances", "asks"}


def test_minutes_fill_a_budget(drillgen):
    rows = drillgen("generate", "--minutes", "30", "--seed", "3", "--json").stdout.splitlines()
    minutes = [json.loads(r)["minutes"] for r in rows]
    assert 15 <= sum(minutes) <= 30


def test_solve(drillgen):
    found = drillgen("solve", "kv_cache.per_token", "model=llama2-7b", "dtype=fp16", "--json")
    row = json.loads(found.stdout)
    assert row["answer"]["value"] == 524288
    assert row["steps"][-1]["value"] == 524288
    assert set(row) == {"drill", "params", "answer", "steps"}
    assert "512 KiB" in drillgen("solve", "kv_cache.per_token", "model=llama2-7b", "dtype=fp16").stdout


@pytest.mark.parametrize(
    "drill", ["kv_cache.per_token", "softmax.shift", "backward.score_matrix", "gqa.cache_ratio@1/3"]
)
def test_solve_says_what_it_needs_by_an_example_that_works(drillgen, drill):
    refused = drillgen("solve", drill)
    assert refused.returncode == 3
    example = shlex.split(refused.stderr.partition("for example: drillgen ")[2])
    assert drillgen(*example).returncode == 0


@pytest.mark.parametrize(
    ("args", "near"),
    [
        (["list", "--drill", "xyzzy"], "`drillgen list`"),
        (["cards", ""], "`drillgen cards`"),
        (["solve", "scenario.fit_on_one_gpu"], "kv_cache.max_sequences"),
    ],
)
def test_names_that_resemble_nothing(drillgen, args, near):
    found = drillgen(*args)
    assert found.returncode == 3
    assert near in found.stderr


def test_verify_card(drillgen):
    found = drillgen("verify", "13", "--json")
    assert found.returncode == 0
    rows = [json.loads(x) for x in found.stdout.splitlines()]
    assert {"id", "card", "printed", "value", "ok", "note"} == set(rows[0])
    assert all(r["ok"] is True or (r["ok"] is None and r["value"] is None and r["note"]) for r in rows)


def test_cards(drillgen):
    row = json.loads(drillgen("cards", "13", "--json").stdout)
    assert {"id", "slug", "title", "formulas", "checks", "drills"} <= set(row)
    assert "512 KiB" in drillgen("cards", "13").stdout


def test_drill_session(drillgen):
    value = next(iter(RIGHT.wrong.values()))
    lines = "\n".join(["?", "h", "h", "h", "h", "what now", RIGHT.kind.show(value), SHOWN])
    found = drillgen("drill", RIGHT.id, stdin=lines + "\n")
    assert found.returncode == 0
    assert found.stdout.count("hint") >= 3
    assert "cannot read" in found.stdout
    assert "right" in found.stdout
    assert "answer:" in found.stdout


def test_drill_reveals_after_two_wrong_answers(drillgen):
    found = drillgen("drill", RIGHT.id, stdin="1 KiB\n2 KiB\n")
    assert "answer:" in found.stdout
    assert drillgen("drill", RIGHT.id, stdin="q\n").returncode == 0
    assert drillgen("drill", RIGHT.id, stdin="").returncode == 0


def test_match(drillgen):
    rows = [
        {"id": 1, "kind": "quantity", "key": "512 KiB", "answer": "0.5 MiB", "tolerance": {"rel": 0.01}},
        {"id": "x", "kind": "number", "key": "0.576", "answer": "0.4", "tolerance": {"abs": 0.001}},
        {"id": 3, "kind": "number", "key": "0.576", "answer": "what", "tolerance": {"abs": 0.001}},
        {"id": 4, "kind": "number", "key": "?!", "answer": "1", "tolerance": {"abs": 0.001}},
        {"id": 5, "kind": "nonsense", "key": "1", "answer": "1"},
    ]
    text = "\n".join([*map(json.dumps, rows), "no json"]) + "\n"
    found = drillgen("match", "-", stdin=text)
    assert found.returncode == 0
    verdicts = [json.loads(x) for x in found.stdout.splitlines()]
    assert [(v["status"], v["verdict"]) for v in verdicts] == [
        ("graded", "right"), ("graded", "wrong"), ("invalid", None), ("bad_key", None), ("bad_row", None),
        ("bad_row", None),
    ]  # fmt: skip
    assert [v.get("id") for v in verdicts] == [1, "x", 3, 4, 5, None]
    assert drillgen("match", "-", "--strict", stdin=text).returncode == 3


def test_closed_pipe(tmp_path):
    run = subprocess.Popen(
        [sys.executable, "-m", "drillgen", "generate", "--count", "100000", "--seed", "1", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path,
    )  # fmt: skip
    run.stdout.readline()
    run.stdout.close()
    error = run.stderr.read()
    run.stderr.close()
    assert run.wait(timeout=60) == 141
    assert error == b""


def test_interrupted(tmp_path):
    out = tmp_path / "set.jsonl"
    run = subprocess.Popen(
        [sys.executable, "-m", "drillgen", "generate", "--count", "1000000", "--seed", "1", "--out", str(out)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path,
    )  # fmt: skip
    deadline = time.monotonic() + 30
    while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    run.send_signal(signal.SIGINT)
    _, error = run.communicate(timeout=60)
    assert run.returncode == 130
    assert b"Traceback" not in error
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_disk(drillgen):
    found = drillgen("generate", "--count", "50", "--seed", "1", "--out", "/dev/full")
    assert found.returncode == 3
    assert "space" in found.stderr
    with Path("/dev/full").open("w") as full:
        run = subprocess.run(
            [sys.executable, "-m", "drillgen", "list"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert run.returncode == 3
    assert "space" in run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_unwritable(drillgen, tmp_path):
    tmp_path.chmod(0o500)
    found = drillgen("generate", "--count", "1", "--seed", "1", "--out", tmp_path / "x.jsonl", cwd="/")
    assert found.returncode == 3


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(drillgen, shell):
    found = drillgen("completion", shell)
    assert found.returncode == 0
    assert "_DRILLGEN_COMPLETE" in found.stdout


def test_plain_locale(drillgen):
    found = drillgen("show", RIGHT.id, "--answers", env={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"})
    assert found.returncode == 0
    assert "layers" in found.stdout


def test_older_click_suffices():
    """click's ParamType takes a parameter in its newest releases only; the project asks for 8.1."""
    import drillgen.cli

    for path in Path(drillgen.cli.__file__).parent.glob("*.py"):
        assert "(click.ParamType[" not in path.read_text(), path
    from drillgen.cli.selectors import ParamType

    assert ParamType[int] is ParamType
