"""Commands are run as users run them: in a process of their own, from another folder."""

import os
import subprocess
import sys

import pytest


@pytest.fixture
def drillgen(tmp_path):
    def run(*args, stdin="", env=None, cwd=None):
        environment = {**os.environ, "NO_COLOR": "1", **(env or {})}
        found = subprocess.run(
            [sys.executable, "-m", "drillgen", *map(str, args)],
            capture_output=True, text=True, input=stdin, cwd=cwd or tmp_path, env=environment, timeout=120,
        )  # fmt: skip
        assert "Traceback" not in found.stderr, found.stderr
        return found

    return run
