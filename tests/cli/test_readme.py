"""What the README shows is what the program does."""

import ast
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from drillgen import catalog
from drillgen.cli import COMMANDS
from drillgen.scenario import scenarios
from drillgen.verify.run import published

README = (Path(__file__).parents[2] / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", README, re.M | re.S)
LINES = [line.partition("  #")[0].strip() for kind, text in BLOCKS if not kind for line in text.splitlines()]
# What takes files that a reader brings, or runs long, has tests of its own.
BROUGHT = ("grade", "match", "simulate", "sheet", "pack", "drill")
COMMAND_LINES = [x.removeprefix("drillgen ") for x in LINES if x.startswith("drillgen ")]


def test_the_session_on_the_first_screen(drillgen):
    first, *shown = BLOCKS[0][1].splitlines()
    typed = [line.removeprefix("> ") for line in shown if line.startswith("> ")]
    args = shlex.split(first.removeprefix("$ drillgen "))
    found = drillgen(*args, stdin="\n".join(typed) + "\n", env={"COLUMNS": "80"}).stdout.splitlines()
    expected = [line for line in shown if not line.startswith("> ")]
    assert found[: len(expected)] == expected


@pytest.mark.parametrize("line", [x for x in COMMAND_LINES if not x.startswith(BROUGHT)])
def test_command_lines(drillgen, line):
    found = drillgen(*shlex.split(line))
    assert (found.returncode, bool(found.stdout.strip()) or "--out" in line) == (0, True), found.stderr


@pytest.mark.parametrize("line", [x for x in COMMAND_LINES if x.startswith("drill ")])
def test_drill_lines(drillgen, line):
    assert drillgen(*shlex.split(line), stdin="h\nr\nq\n").returncode == 0


def test_every_command_is_named():
    named = {line.split()[0] for line in COMMAND_LINES} | set(re.findall(r"`(?:drillgen )?(\w+)", README))
    assert set(COMMANDS) - named <= {"completion"}


def test_the_python_lines():
    """Each expression has the value that the comment behind it says."""
    (code,) = (text for kind, text in BLOCKS if kind == "python")
    script, expected = [], []
    for node in ast.parse(code).body:
        segment = ast.get_source_segment(code, node)
        if isinstance(node, ast.Expr):
            segment = f"print(repr({segment}))"
            expected.append(code.splitlines()[node.end_lineno - 1].partition("#")[2].strip())
        script.append(segment)
    found = subprocess.run([sys.executable, "-c", "\n".join(script)], capture_output=True, text=True, check=True)
    assert expected
    assert found.stdout.splitlines() == expected


def test_counts():
    numbers = {
        "drills": sum(1 for _ in catalog.drills()),
        "multi-part interviews": len(scenarios()),
        "published numbers": sum(1 for row in published() if row.scored),
    }
    for what, count in numbers.items():
        assert f"{count} {what}" in README.replace("\n", " "), (what, count)
