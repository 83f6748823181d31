"""A long row of attention keeps its promise: memory linear in T, nothing T×T."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "memory.py"


@pytest.mark.parametrize("backend", ["numpy", "torch"])
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_no_matrix_is_kept(backend: str) -> None:
    if backend == "torch":
        pytest.importorskip("torch")
    done = subprocess.run(
        [sys.executable, str(SCRIPT), backend], capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    # MiB. The matrix of T×T weights would be 256.
    assert float(done.stdout) <= 16
