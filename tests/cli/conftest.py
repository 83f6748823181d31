"""Commands are run as users run them: in a process of their own, from another folder."""

import os
import subprocess
import sys

import pytest

MEANT = {"COLUMNS", "DRILLGEN_TRACEBACK", "FORCE_COLOR", "TERM"}
"""What the program listens to; pytest-xdist sets COLUMNS, people may have set any."""


@pytest.fixture
def drillgen(tmp_path):
    def run(*args, stdin="", env=None, cwd=None):
        outside = {name: value for name, value in os.environ.items() if name not in MEANT}
        environment = {**outside, "NO_COLOR": "1", **(env or {})}
        found = subprocess.run(
            [sys.executable, "-m", "drillgen", *map(str, args)],
            capture_output=True, text=True, input=stdin, cwd=cwd or tmp_path, env=environment, timeout=120,
        )  # fmt: skip
        assert "Traceback" not in found.stderr, found.stderr
        return found

    return run
