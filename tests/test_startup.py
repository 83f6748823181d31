"""What starts up stays light: no numpy, torch, sympy, jinja2 or typst for help and check, one card for check."""

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys
from drillgen.main import main
try:
    main(sys.argv[1:])
except SystemExit as stop:
    code = stop.code
print()
print(json.dumps([code, sorted(sys.modules)]))
"""
HEAVY = {"numpy", "torch", "sympy", "jinja2", "typst", "triton", "ray", "mpmath", "scipy", "matplotlib"}


def modules(*args):
    run = subprocess.run([sys.executable, "-c", PROGRAM, *args], capture_output=True, text=True, check=True)
    code, names = json.loads(run.stdout.splitlines()[-1])
    return code, set(names)


@pytest.mark.parametrize("args", [["--help"], ["--version"], ["check", "--help"], ["grade", "--help"]])
def test_help_is_light(args):
    code, names = modules(*args)
    assert code == 0
    assert not names & HEAVY
    assert not {n for n in names if n.startswith("solvers.c")}


@pytest.mark.parametrize("answer", ["56 KiB", "0.5 MiB", "2^17 bytes"])
def test_check_is_light(answer):
    code, names = modules("check", "kv_cache.per_token@1/1", answer)
    assert code in (0, 1)
    assert not names & HEAVY
    assert {n for n in names if n.startswith("solvers.c")} == {"solvers.c13_kv_cache"}


def test_generating_loads_no_sympy_and_no_torch():
    code, names = modules("generate", "--card", "13", "--count", "5", "--seed", "1", "--answers", "--json")
    assert code == 0
    assert not names & {"sympy", "torch", "typst", "scipy"}


def test_importing_the_package_is_light():
    run = subprocess.run(
        [sys.executable, "-c", "import drillgen, solvers, grading, sys; print(*sys.modules)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert not set(run.stdout.split()) & HEAVY
