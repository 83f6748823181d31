"""`drillgen simulate` as a user runs it: JSON keys, numbers that agree, defaults, refusals and their exit codes."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from drillgen.main import main


class Ran(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def run(*args: str, cwd: Path | None = None) -> Ran:
    """The command in this process, which is quick."""
    out, err = io.StringIO(), io.StringIO()
    where = contextlib.chdir(cwd) if cwd else contextlib.nullcontext()
    with where, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as end:
        main(["simulate", *args])
    code = end.value.code
    assert isinstance(code, int) and "Traceback" not in err.getvalue()
    return Ran(code, out.getvalue(), err.getvalue())


def apart(*args: str) -> Ran:
    """The command in a process of its own, where it changes the process or measures it."""
    found = subprocess.run(
        [sys.executable, "-m", "drillgen", "simulate", *args], capture_output=True, text=True, timeout=120,
        check=False, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    return Ran(found.returncode, found.stdout, found.stderr)


def data(*args: str, by: Callable[..., Ran] = run) -> dict[str, Any]:
    found = by(*args, "--json")
    assert found.returncode == 0, found.stderr
    row: dict[str, Any] = json.loads(found.stdout)
    return row


ONLINE = ["max_abs_error_output", "max_abs_error_lse", "state_numbers", "blocks", "backend", "dtype"]


@pytest.mark.parametrize(
    ("args", "backend", "dtype", "blocks", "tolerance"),
    [
        ((), "numpy", "fp32", 32, 5e-6),
        (("--T", "1000", "--d-v", "7", "--block", "64", "--dtype", "fp64", "--seed", "3"), "numpy", "fp64", 16, 1e-14),
        (("--T", "300", "--dtype", "bf16", "--backend", "torch"), "torch", "bf16", 3, 2e-2),
        (("--T", "100", "--block", "1", "--dtype", "float16", "--device", "cpu"), "numpy", "fp16", 100, 3e-3),
        (("--T", "200", "--d-v", "16", "--d-k", "16", "--backend", "triton"), "triton", "fp32", 2, 5e-6),
    ],
)  # fmt: skip
def test_online_softmax(args: tuple[str, ...], backend: str, dtype: str, blocks: int, tolerance: float) -> None:
    if backend != "numpy":
        pytest.importorskip(backend)
    # Triton decides once per process whether it interprets.
    found = data("online-softmax", *args, by=apart if backend == "triton" else run)
    assert list(found) == ONLINE
    assert found["backend"] == backend and found["dtype"] == dtype and found["blocks"] == blocks
    d_v = int(args[args.index("--d-v") + 1]) if "--d-v" in args else 64
    assert found["state_numbers"] == d_v + 2
    assert 0 <= found["max_abs_error_output"] <= tolerance
    assert 0 <= found["max_abs_error_lse"] <= max(5e-6 if dtype != "fp64" else 1e-13, 0)


def test_online_softmax_trace_and_table() -> None:
    found = data("online-softmax", "--T", "512", "--trace")
    steps = found["trace"]
    assert [s["block"] for s in steps] == [1, 2, 3, 4]
    assert all(a["m"] <= b["m"] for a, b in pairwise(steps))
    assert all(s["l"] >= 1 for s in steps)
    table = run("online-softmax", "--T", "512")
    assert table.returncode == 0
    assert "4 blocks of 128" in table.stdout and "rescale of the past" in table.stdout


KV = [
    "bytes_per_token", "bytes_total", "measured_bytes", "max_sequences", "seconds_per_token_bound",
    "max_abs_error_decode", "decode_checked_at",
]  # fmt: skip


def test_kv_cache_of_the_card() -> None:
    found = data("kv-cache")
    assert list(found) == KV
    assert found["bytes_per_token"] == 524288
    assert found["bytes_total"] == found["measured_bytes"] == 2**31
    assert found["max_sequences"] == 30
    assert found["seconds_per_token_bound"] == pytest.approx((13_476_831_232 + 2**31) / 2039e9, rel=1e-12)
    assert found["max_abs_error_decode"] <= 1e-13
    assert found["decode_checked_at"]["layers"] == 2 and found["decode_checked_at"]["T"] == 64
    table = run("kv-cache").stdout
    assert "2 GiB (2,147,483,648 bytes)" in table and "at most 30" in table and "small copy" in table


@pytest.mark.parametrize(
    ("args", "per_token", "total", "measured", "most"),
    [
        (("--model", "llama3-8b", "--T", "131072"), 131072, 16 * 2**30, 16 * 2**30, 3),
        (("--model", "llama2-7b", "--dtype", "int8"), 262144, 2**30, 2**30 + 4096 * 2 * 32 * 32 * 2, 61),
        (("--model", "gpt2-small", "--T", "100", "--batch", "3", "--layout", "paged"), 36864, 300 * 36864,
         3 * 112 * 36864, 21633),
        (("--model", "llama2-70b", "--T", "4096"), 327680, 4096 * 327680, 4096 * 327680, 0),
        (("--layout", "sink-window", "--sinks", "4", "--window", "60"), 524288, 2**31, 64 * 524288, 30),
    ],
)  # fmt: skip
def test_kv_cache_layouts(args: tuple[str, ...], per_token: int, total: int, measured: int, most: int) -> None:
    found = data("kv-cache", *args)
    assert (found["bytes_per_token"], found["bytes_total"], found["measured_bytes"]) == (per_token, total, measured)
    assert found["max_sequences"] == most


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="resident memory is read from /proc")
def test_kv_cache_appears_in_memory() -> None:
    found = data("kv-cache", "--model", "gpt2-small", "--T", "1024", "--allocate", by=apart)
    assert found["resident_bytes"] == pytest.approx(1024 * 36864, rel=0.1)


def test_serving_counts_and_is_repeatable() -> None:
    args = ("serving", "--requests", "40", "--prompt", "200", "--output", "uniform:5:50")
    found = data(*args)
    assert found == data(*args)
    assert found["requests"] == found["finished"] + found["rejected"] == 40
    assert found["prompt_tokens"] == 200 * found["finished"]
    assert found["times"] == "lower bounds"
    assert found["peak_used_bytes"] <= found["peak_held_bytes"] <= found["pool_bytes"]
    assert len(found["memory"]) <= 400
    assert data(*args, "--seed", "1") != found
    table = run(*args).stdout
    assert "lower bounds" in table and "time to first token" in table


def test_serving_a_trace_file(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("arrival,prompt,output\n0,100,5\n1,50,9\n", encoding="utf-8")
    found = data("serving", "--trace", str(rows), "--model", "llama3-8b", "--accelerator", "H200")
    assert (found["finished"], found["output_tokens"], found["prompt_tokens"]) == (2, 14, 150)
    rows.write_text("arrival,prompt\n0,100\n", encoding="utf-8")
    broken = run("serving", "--trace", str(rows))
    assert broken.returncode == 3 and "request 1" in broken.stderr


def test_rank_collapse_and_entropy() -> None:
    found = data("rank-collapse", "--layers", "3", "--stacks", "4")
    assert len(found["pure"]) == len(found["residual"]) == 4 and found["pure"][3] < found["residual"][3]
    curve = data("entropy", "--T", "256", "--sigma", "0,1", "--rows", "20")["curve"]
    assert curve[0]["entropy"] == pytest.approx(5.545, abs=1e-3) and curve[1]["entropy"] < curve[0]["entropy"]
    assert "with skips" in run("rank-collapse", "--layers", "2", "--stacks", "1").stdout


@pytest.mark.parametrize("command", ["online-softmax", "kv-cache", "serving", "rank-collapse", "entropy"])
def test_every_plot(command: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    svg = run(command, "--plot", "a.svg", cwd=tmp_path)
    assert svg.returncode == 0, svg.stderr
    text = (tmp_path / "a.svg").read_text("utf-8")
    assert text.startswith("<?xml") and "<svg" in text and text.count("<path") > 5


def test_a_plot_is_repeatable_and_png_too(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for name in ("a.svg", "b.svg", "c.png"):
        assert run("entropy", "--T", "64", "--rows", "3", "--plot", name, cwd=tmp_path).returncode == 0
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.svg", "b.svg", "c.png"]


REFUSED = [
    (("online-softmax", "--T", "10000000000"), 3, "bytes of memory"),
    (("kv-cache", "--T", "100000000", "--allocate"), 3, "52,428,800,000,000 bytes"),
    (("kv-cache", "--model", "lama2-7b"), 3, "llama2-7b"),
    (("kv-cache", "--accelerator", "A100"), 3, "A100-80GB"),
    (("online-softmax", "--backend", "numpy", "--device", "cuda"), 3, "numpy runs on the CPU"),
    (("online-softmax", "--backend", "triton", "--dtype", "fp64"), 3, "not fp64"),
    (("kv-cache", "--backend", "numpy", "--dtype", "bf16"), 3, "numpy has no bf16"),
    (("serving", "--model", "llama2-70b"), 3, "bytes of weights"),
    (("serving", "--prompt", "many"), 3, "lengths are"),
    (("serving", "--trace", "missing.csv"), 3, "missing.csv"),
    (("entropy", "--plot", "a.pdf"), 2, ".svg or .png"),
    (("entropy", "--sigma", "1,x"), 2, "no list of numbers"),
    (("online-softmax", "--dtype", "fp12"), 2, "fp12"),
    (("online-softmax", "--T", "0"), 2, "--T"),
    (("kv-cache", "--page", "-1"), 2, "--page"),
    (("entropy", "--rows", "3", "--T", "9", "--plot", "no/such/folder/a.svg"), 3, "cannot write"),
]


@pytest.mark.parametrize(("args", "code", "message"), REFUSED, ids=[" ".join(r[0]) for r in REFUSED])
def test_refusals(args: tuple[str, ...], code: int, message: str, tmp_path: Path) -> None:
    found = run(*args, cwd=tmp_path)
    assert found.returncode == code
    assert message in found.stderr and found.stdout == ""


def test_no_cuda_is_said() -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    found = run("online-softmax", "--device", "cuda")
    assert found.returncode == 3 and "no CUDA device" in found.stderr


HIDE = """
import sys
from importlib.machinery import PathFinder
hidden = set(sys.argv.pop(1).split(","))
class Finder(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.split(".")[0] in hidden else super().find_spec(name, path, target)
sys.meta_path[:] = [f if f is not PathFinder else Finder for f in sys.meta_path]
from drillgen.main import main
main()
"""


@pytest.mark.parametrize(
    ("hidden", "args", "advice"),
    [
        ("matplotlib", ("entropy", "--T", "8", "--rows", "2", "--plot", "a.svg"), "pip install 'drillgen[plot]'"),
        ("torch", ("online-softmax", "--backend", "torch"), "pip install 'drillgen[torch]'"),
        ("torch", ("kv-cache", "--dtype", "bf16"), "pip install 'drillgen[torch]'"),
        ("triton", ("online-softmax", "--backend", "triton"), "pip install 'drillgen[gpu]'"),
    ],
)
def test_a_missing_extra_names_itself(hidden: str, args: tuple[str, ...], advice: str, tmp_path: Path) -> None:
    if hidden == "triton":
        pytest.importorskip("torch")
    found = subprocess.run(
        [sys.executable, "-c", HIDE, hidden, "simulate", *args], capture_output=True, text=True, timeout=120,
        check=False, cwd=tmp_path,
    )  # fmt: skip
    assert found.returncode == 3 and advice in found.stderr, found.stderr
    assert not list(tmp_path.iterdir())


def test_what_runs_without_torch() -> None:
    for args in (("kv-cache",), ("online-softmax",), ("serving", "--requests", "5")):
        found = subprocess.run(
            [sys.executable, "-c", HIDE, "torch,triton,matplotlib", "simulate", *args], capture_output=True, text=True,
            timeout=120, check=False,
        )  # fmt: skip
        assert found.returncode == 0, found.stderr


def test_help_loads_nothing_heavy() -> None:
    found = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "drillgen", "simulate", "kv-cache", "--help"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert found.returncode == 0
    loaded = {line.rpartition("|")[2].strip().split(".")[0] for line in found.stderr.splitlines() if "|" in line}
    assert not loaded & {"torch", "triton", "numpy", "sympy", "matplotlib"}


def test_help_prints_no_bounds_that_nobody_meets() -> None:
    for name in ("online-softmax", "kv-cache", "serving", "rank-collapse", "entropy"):
        told = run(name, "--help").stdout
        assert "RANGE" not in told and "000000" not in told, name
        assert "--seed N " in told


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["kvcache"], "unknown simulation 'kvcache'; the nearest: kv-cache"),
        (["nosuch"], "known: entropy, kv-cache, online-softmax, rank-collapse, serving"),
        (["kv-cache", "--T", "0"], "0 is less than 1."),
        (["kv-cache", "--T", "9000000000000"], "9000000000000 is more than 1,000,000,000,000."),
        (["kv-cache", "--T", "many"], "'many' is no whole number."),
        (["entropy", "--seed", "-1"], "-1 is less than 0."),
    ],
)
def test_names_and_numbers_that_cannot_be(args: list[str], said: str) -> None:
    found = run(*args)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.rstrip().endswith(said)
