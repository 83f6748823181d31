"""`make bench-attention`: block-wise attention beside torch's SDPA and the naive way, measured in one run.

CPU, one thread: CPU time (not wall time, so that other work on the machine counts less), the implementations taken in
turn and in a new random order every round, their ratio to SDPA in the same round, their share of the same run's GEMM
rate, and how far a process's peak memory grows. GPU, where there is one: see attention_gpu.py. The table goes to
stderr, JSON with device, versions and git revision to stdout or --out.
"""

import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

HERE = Path(__file__).resolve().parent
SIZES = (512, 2048, 8192)
D = 128
GEMM = 2048
BASE = "torch SDPA"


def inputs(T, dtype):
    """q, k, v [1, 1, T, D] as torch tensors; numpy sees the same memory."""
    import torch

    torch.manual_seed(0)
    return [torch.randn(1, 1, T, D, dtype=getattr(torch, dtype)) for _ in range(3)]


def naive(xp, q, k, v):
    """softmax(q kᵀ/√d) v with the whole matrix, in the library's plainest words."""
    s = (q @ k.swapaxes(-1, -2)) * D**-0.5
    if xp.__name__ == "torch":
        return xp.softmax(s, -1) @ v
    s -= s.max(-1, keepdims=True)
    xp.exp(s, out=s)
    return (s @ v) / s.sum(-1, keepdims=True)


def implementations(T, dtype):
    """name -> a call without arguments that returns o."""
    import numpy as np
    import torch

    from solvers.simulate.attention import attention

    q, k, v = inputs(T, dtype)
    a, b, c = (x.numpy() for x in (q, k, v))
    return {
        BASE: lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v),
        "torch block-wise": lambda: attention(q, k, v, backend="torch").o,
        "numpy block-wise": lambda: attention(a, b, c, backend="numpy").o,
        "torch naive": lambda: naive(torch, q, k, v),
        "numpy naive": lambda: naive(np, a, b, c),
    }


def cpu_time(call):
    begun = time.process_time()
    call()
    return time.process_time() - begun


def gemm_rate(dtype):
    """FLOP/s of one large product, the better of numpy's and torch's."""
    import torch

    a = torch.randn(GEMM, GEMM, dtype=getattr(torch, dtype))
    n = a.numpy()
    return 2 * GEMM**3 / min(min(cpu_time(lambda: a @ a), cpu_time(lambda: n @ n)) for _ in range(3))


def peak_kib():
    for line in Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    return 0


def memory(name, T, dtype):
    """In a process of its own: MiB by which the peak grows while the implementation runs, its output included."""
    implementations(64, dtype)[name]()
    call = implementations(T, dtype)[name]
    before = peak_kib()
    out = call()
    assert out.shape[-1] == D
    return (peak_kib() - before) / 1024


def memory_apart(name, T, dtype):
    if not Path("/proc/self/status").exists():
        return None
    done = subprocess.run(
        [sys.executable, __file__, "--memory-of", name, str(T), dtype], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def cpu_case(T, dtype, rounds, rate):
    """One row for each implementation at one length."""
    import numpy as np

    calls = implementations(T, dtype)
    wide = implementations(T, "float64")[BASE]().numpy() if dtype == "float64" else None
    outs = {name: np.asarray(call(), dtype=float) for name, call in calls.items()}
    wide = outs[BASE] if wide is None else wide
    tolerance = 1e-12 if dtype == "float64" else 1e-5
    for name, out in outs.items():  # correct first: a wrong result has no time
        assert np.abs(out - wide).max() <= tolerance, name
    taken = {name: [] for name in calls}
    repeat = max(1, 2048 // T)
    for _ in range(rounds):
        for name in random.sample(list(calls), len(calls)):
            taken[name].append(cpu_time(lambda call=calls[name]: [call() for _ in range(repeat)]) / repeat)
    flops = 4 * T * T * D
    return [
        {
            "implementation": name, "T": T, "d": D, "dtype": dtype, "rounds": rounds,
            "median_ms": statistics.median(times) * 1e3, "min_ms": min(times) * 1e3,
            "ratio_to_sdpa": statistics.median(t / s for t, s in zip(times, taken[BASE], strict=True)),
            "gemm_share": flops / min(times) / rate,
            "peak_growth_mib": memory_apart(name, T, dtype),
        }
        for name, times in taken.items()
    ]  # fmt: skip


def cpu(sizes, rounds):
    """All CPU rows and the GEMM rates they are compared with."""
    import torch

    torch.set_num_threads(1)
    rows, rates = [], {}
    for dtype in ("float32", "float64"):
        rates[dtype] = gemm_rate(dtype)
        for T in sizes if dtype == "float32" else sizes[:-1]:
            rows += cpu_case(T, dtype, rounds, rates[dtype])
            show(rows[-5:])
    return {"threads": 1, "gemm_gflops": {k: v / 1e9 for k, v in rates.items()}, "rows": rows}


def show(rows):
    for r in rows:
        grown = "" if r["peak_growth_mib"] is None else f"{r['peak_growth_mib']:8.1f} MiB"
        print(
            f"{r['implementation']:<18} T={r['T']:<6} {r['dtype']:<8} {r['min_ms']:9.2f} ms  "
            f"{r['ratio_to_sdpa']:5.2f} x SDPA  {r['gemm_share']:5.0%} of GEMM {grown}",
            file=sys.stderr, flush=True,
        )  # fmt: skip


def machine():
    """What was measured, on what."""

    def of(package):
        try:
            return version(package)
        except PackageNotFoundError:
            return None

    git = subprocess.run(
        ["git", "-C", str(HERE), "describe", "--always", "--dirty"], capture_output=True, text=True, check=False
    )
    model = ""
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
        model = next((x.partition(":")[2].strip() for x in lines if x.startswith("model name")), "")
    return {
        "device": model or platform.processor(), "cores": os.cpu_count(), "load": os.getloadavg(),
        "python": platform.python_version(), "platform": platform.platform(),
        "versions": {p: of(p) for p in ("torch", "numpy", "triton")},
        "git": git.stdout.strip() or None,
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--sizes", type=lambda s: tuple(map(int, s.split(","))), default=SIZES)
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--smoke", action="store_true", help="run the GPU part's code on tiny CPU tensors, no numbers")
    parser.add_argument("--memory-of", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"  # read when the libraries load
    if asked.memory_of:
        name, T, dtype = asked.memory_of
        print(memory(name, int(T), dtype))
        return
    if asked.smoke:
        os.environ["TRITON_INTERPRET"] = "1"
    import attention_gpu
    import torch

    result = {"schema": "drillgen.bench.attention/1", **machine(), "cpu": None, "gpu": None}
    if asked.device != "cuda" and not asked.smoke:
        result["cpu"] = cpu(asked.sizes, asked.rounds)
    if asked.smoke:
        result["gpu"] = attention_gpu.smoke()
    elif asked.device != "cpu" and torch.cuda.is_available():
        result["gpu"] = attention_gpu.measure()
    else:
        result["gpu_skipped"] = "asked for the CPU" if asked.device == "cpu" else "no CUDA device"
    text = json.dumps(result, indent=1) + "\n"
    if asked.out:
        asked.out.write_text(text, "utf-8")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
