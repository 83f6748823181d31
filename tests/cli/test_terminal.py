"""What people read: wrapped to the terminal, letters for options, no LaTeX, and sessions at a real terminal."""

import os
import re
import select
import signal
import sys
import time
import unicodedata

import pytest

CHOICE = "kv_cache.contents@1/72471873"
SCENARIO = "scenario.fit_on_one_gpu@1/5"


def columns(line):
    return sum(not unicodedata.combining(c) for c in line)


@pytest.mark.parametrize("wide", ["60", "80", "120"])
@pytest.mark.parametrize(
    "args",
    [
        ["show", "kv_cache.per_token@1/4821", "--answers", "--hints"],
        ["show", CHOICE, "--answers", "--hints"],
        ["show", SCENARIO, "--answers"],
        ["cards"],
        ["cards", "13"],
        ["list"],
        ["verify", "6"],
        ["check", "softmax.lse_pair@1/500447637", "s + " * 60 + "@ 3"],
        ["check", "kv_cache.formula@1/3", "2*L*H_kv*d_h*b*T"],
        ["check", SCENARIO, "256 KiB; 1 GiB; 61; 7.13613 ms; x y"],
    ],
)
def test_lines_fit_the_terminal(drillgen, args, wide):
    for line in drillgen(*args, env={"COLUMNS": wide}).stdout.splitlines():
        assert columns(line) <= int(wide), line
        assert "$" not in line
        assert "\\" not in line


def test_tables_are_whole_rows_in_a_pipe(drillgen):
    rows = drillgen("list", "--card", "13").stdout.splitlines()
    assert len(rows) == 12
    assert rows[1].endswith("bytes that the KV cache grows per token")
    assert "…" not in drillgen("cards", "13").stdout


def test_options_are_named_by_letter(drillgen):
    found = drillgen("check", CHOICE, "a C")
    assert "read as: A, C" in found.stdout
    assert "read as: A, C, Z" in drillgen("check", CHOICE, "Z A C").stdout
    assert "read as: none" in drillgen("check", CHOICE, "none").stdout
    shown = drillgen("show", CHOICE, "--answers").stdout
    assert "answer: C, D, E" in shown
    assert "one_set_per_layer" not in shown


def test_a_counterexample_is_told_once(drillgen):
    found = drillgen("check", "kv_cache.formula@1/3", "L*H_kv*d_h*b*T*B").stdout
    assert found.count("H_kv = ") == 1
    assert "the key is" in found


def test_the_caret_stays_under_its_place(drillgen):
    for answer in ("1 + " * 3 + ")", "1 + " * 60 + ")"):
        *_, text, caret = drillgen("check", "kv_cache.per_token@1/1", answer).stdout.splitlines()
        assert text[len(caret) - 1] == ")"


def test_a_whole_scenario_part_by_part(drillgen):
    lines = drillgen(
        "check", SCENARIO, "256 KiB; 1 GiB; 61; 7.13613 ms; x y", env={"COLUMNS": "200"}
    ).stdout.splitlines()
    assert lines[0] == "wrong (3 of 6 right)"
    assert lines[1].startswith("  a: wrong; Only one tensor is counted")
    assert lines[-2].startswith("  e: not read; ")
    assert lines[-1] == "  f: no answer"
    one = drillgen("check", SCENARIO, "--part", "b", "2 GiB").stdout
    assert one.splitlines() == ["right", "  read as: 2 GiB"]


def test_a_problem_in_parts_that_is_half_answered(drillgen):
    lines = drillgen("check", "rank_collapse.logit_split@1/48672527", "5; 3").stdout.splitlines()
    assert lines[-3:] == ["  query: wrong", "  key: wrong", "  cross: no answer"]


def test_drill_asks_for_a_table_on_one_line(drillgen):
    asked = " ".join(drillgen("drill", "online_softmax.trace@1/727279411", stdin="q\n").stdout.split())
    assert "rows on one line, separated by semicolons, cells m, l, u" in asked
    assert "one row a line" not in asked


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["list", "--card", "1", "--stars", "3", "--kind", "number"], "--card 1 --stars 3 --kind number"),
        (["list", "--card", "7-3"], "the lower number comes first"),
        (["check", "kv_cache.per_token@1/1", "--part", "a", "3"], "has no parts"),
        (["generate", "--drill", "kv_cache.formula", "--count", "2", "--unique"], "no more than 1 different problem;"),
    ],
)
def test_refusals_say_why(drillgen, args, said):
    found = drillgen(*args)
    assert found.returncode == 3
    assert said in found.stderr
    assert "unknown" not in found.stderr
    assert "internal error" not in found.stderr


def test_drill_of_a_scenario(drillgen):
    typed = "256 KiB\n256 KiB\n1 GiB\nskip\nHINT\nreveal\nq\n"
    found = drillgen("drill", SCENARIO, stdin=typed).stdout
    assert found.count(SCENARIO) == 1
    assert "(b) ★ · 5 min" in found
    assert "consistent with your part a" in found
    assert "hint 1: " in found
    assert "answer: 7.66273 ms" in found
    assert "1 of 4 right" in found


def test_drill_takes_several_cards_and_keeps_the_selectors(drillgen):
    found = drillgen(
        "drill", "13", "14", "--kind", "expression", "--seed", "1", "--count", "2", "--json", stdin="s\ns\n"
    )
    assert found.stdout.count('"kind": "expression"') == 2
    both = drillgen("drill", "kv_cache.per_token", "--stars", "3")
    assert (both.returncode, both.stdout) == (3, "")
    assert drillgen("drill", "kv_cache.per_token@1/1", "13").returncode == 2


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
@pytest.mark.filterwarnings(
    "ignore:This process .* is multi-threaded:DeprecationWarning"
)  # the child runs execv at once
@pytest.mark.parametrize("term", ["xterm", "dumb"])
def test_a_session_at_a_terminal(tmp_path, term):
    import pty

    pid, tty = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        os.environ |= {"TERM": term, "COLUMNS": "80"}
        os.execv(sys.executable, [sys.executable, "-m", "drillgen", "drill", "kv_cache.per_token@1/4821"])
    said = _until(tty, b"> ")
    assert said.count(b"h hint") == 1
    os.write(tty, b"32 KiB\r")
    assert b"Only one tensor" in _until(tty, b"> ")
    os.write(tty, b"h\r")
    assert b"hint 1" in _until(tty, b"> ")
    code, rest = _interrupt(pid, tty)
    assert code == 130
    assert b"Traceback" not in rest


def _interrupt(pid, tty):
    """Ctrl-C until the session is over (one may fall between Python and readline, where it only sets a flag)."""
    said = b""
    try:
        for _ in range(40):
            os.write(tty, b"\x03")
            said += _until(tty, None, 0.5)
            time.sleep(0.1)
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status), said
    except OSError:  # it ended between the wait and the next Ctrl-C
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said
    finally:
        os.close(tty)
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said


def _until(tty, end, seconds=60):
    """What the session writes until a line begins with `end`, until it is over, or until the time is up."""
    said, deadline = b"", time.monotonic() + seconds
    while time.monotonic() < deadline and not (end and re.search(b"\n" + end + b"[^\n]*$", said)):
        if select.select([tty], [], [], 0.1)[0]:
            try:
                piece = os.read(tty, 65536)
            except OSError:  # Linux: the other end is closed
                break
            if not piece:
                break
            said += piece
    return said
