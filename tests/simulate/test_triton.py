"""The Triton kernels without a GPU: right in the interpreter, and accepted by the compiler for a real one.

Neither says anything about speed or races; tests/gpu does, where there is a device.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")
HERE = Path(__file__).parent
O_TOLERANCE = {"fp16": 3e-3, "bf16": 2e-2}


def run(script: str, cache: Path, *args: str, **environment: str) -> dict[str, Any]:
    """The JSON that a script (of this folder, or by its path from here) prints."""
    done = subprocess.run(
        [sys.executable, str(HERE / script), *args], capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "TRITON_CACHE_DIR": str(cache), "OMP_NUM_THREADS": "1", **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_interpreted_kernels_are_exact(tmp_path: Path, subtests: Any) -> None:
    results = run("interpreted.py", tmp_path, TRITON_INTERPRET="1")
    assert len(results) == 18
    for name, found in results.items():
        with subtests.test(name):
            assert found["o"] <= O_TOLERANCE.get(name, 5e-6)
            assert found["lse"] <= 5e-6
            assert found.get("grad", 0.0) <= 1e-5


def test_kernels_compile_for_hopper(tmp_path: Path, subtests: Any) -> None:
    results = run("compiled.py", tmp_path, TRITON_INTERPRET="0")
    assert len(results) == 10
    for name, found in results.items():
        with subtests.test(name):
            assert found["shared"] <= 227 * 1024  # what a block may have there
            if name.startswith(("forward", "backward")):
                assert found["wgmma"] > 0


def test_the_gpu_benchmark_runs_on_tiny_cpu_tensors(tmp_path: Path) -> None:
    found = run("../../benchmarks/attention.py", tmp_path, "--smoke")
    assert found["gpu"]["ran"] == [1, 1] and found["cpu"] is None
    assert {"torch", "numpy", "triton"} == set(found["versions"]) and "git" in found
