"""The GPU part of `make bench-attention`: Triton kernels beside SDPA's back ends, a GEMM and a copy of the same run.

Correctness first, in the same process. Then every call is warmed up (autotuning included) and timed by CUDA events,
one call of each implementation a round in random order, so that clocks and heat are shared; before each a buffer larger
than the L2 cache is overwritten. Medians with the 20 % and 80 % quantiles of at least 100 rounds (fewer for very slow
calls). FLOPs by the usual convention: 4·B·h·T²·d forward, half when causal, 2.5 times that backward. No thresholds.
"""

import random
import subprocess
import time

import torch

from solvers.simulate.attention import attention, attention_backward, attention_flops, decode_attention

# (B, h, H_kv, T, d, causal)
PREFILL = [
    (4, 32, 8, 4096, 128, True),
    (4, 32, 8, 4096, 128, False),
    (1, 32, 8, 16384, 128, True),
    (8, 16, 16, 2048, 64, True),
]
# (B, h, H_kv, T, d)
DECODE = [(64, 32, 8, 8192, 128), (16, 32, 8, 32768, 128), (1, 32, 8, 131072, 128)]
SPLITS = (1, 2, 4, 8, 16, 32, 64)
PAGE = 16
TOLERANCE = {torch.float16: 3e-3, torch.bfloat16: 2e-2}


class Clock:
    """Milliseconds of calls on the device, cache cold; on the CPU (smoke) it only runs them."""

    def __init__(self, device, rounds=100, seconds=20.0):
        self.device, self.rounds, self.seconds = device, rounds, seconds
        self.flush = None
        if device == "cuda":
            l2 = torch.cuda.get_device_properties(0).L2_cache_size
            self.flush = torch.empty(max(256 << 20, 4 * l2), dtype=torch.int8, device=device)

    def __call__(self, calls):
        """name -> {median, p20, p80, rounds}; a call that raises is left out and its reason given."""
        ready, found = {}, {}
        for name, call in calls.items():
            try:
                for _ in range(3):
                    call()
                self._wait()
                ready[name] = call
            except (RuntimeError, ValueError) as error:
                found[name] = {"skipped": str(error).splitlines()[0][:200]}
        taken = {name: [] for name in ready}
        begun, done = time.monotonic(), 0
        while done < self.rounds and (done < 10 or time.monotonic() - begun < self.seconds):
            for name in random.sample(list(ready), len(ready)):
                taken[name].append(self._one(ready[name]))
            done += 1
        for name, times in taken.items():
            ordered = sorted(times)
            found[name] = {
                "median_ms": ordered[len(ordered) // 2], "p20_ms": ordered[len(ordered) // 5],
                "p80_ms": ordered[len(ordered) * 4 // 5], "rounds": len(ordered),
            }  # fmt: skip
        return found

    def _one(self, call):
        if self.device != "cuda":
            begun = time.perf_counter()
            call()
            return (time.perf_counter() - begun) * 1e3
        self.flush.zero_()
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()
        stop.record()
        stop.synchronize()
        return start.elapsed_time(stop)

    def _wait(self):
        if self.device == "cuda":
            torch.cuda.synchronize()


def sdpa(backend, q, k, v, causal):
    """torch's attention with one back end forced; raises where it does not take the inputs."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    with sdpa_kernel(getattr(SDPBackend, backend)):
        return torch.nn.functional.scaled_dot_product_attention(
            q, k, v, is_causal=causal, enable_gqa=q.shape[1] != k.shape[1]
        )


def draw(device, dtype, *shapes):
    # Random numbers: on zeros a GPU draws less power and runs faster than on data.
    return [torch.randn(s, device=device, dtype=torch.float32).to(dtype) for s in shapes]


def check(device, dtype):
    """The gate: forward, backward and decode against float64 of the same rounded inputs, at ragged sizes."""
    B, h, H_kv, T_q, T_k, d = 2, 4, 2, 60, 77, 64
    if device == "cuda":
        T_q, T_k = 1000, 1333
    q, k, v, do = draw(device, dtype, (B, h, T_q, d), (B, H_kv, T_k, d), (B, H_kv, T_k, d), (B, h, T_q, d))
    wide = [x.double() for x in (q, k, v)]
    o, lse = attention(*wide, causal=True, backend="torch")
    mine = attention(q, k, v, causal=True, backend="triton")
    errors = {"o": gap(mine.o, o), "lse": gap(mine.lse, lse)}
    grads = attention_backward(q, k, v, *mine, do, causal=True, backend="triton")
    wanted = attention_backward(*wide, o, lse, do.double(), causal=True, backend="torch")
    errors["grad"] = max(gap(x, y) / float(y.abs().max()) for x, y in zip(grads, wanted, strict=True))
    one = decode_attention(q[:, :, 0], k, v, backend="triton")
    errors["decode"] = gap(one.o, decode_attention(q[:, :, 0].double(), *wide[1:], backend="torch").o)
    limit = TOLERANCE[dtype]
    bad = {n: e for n, e in errors.items() if not e <= {"lse": 2e-5, "grad": 2 * limit}.get(n, limit)}
    if bad:
        raise SystemExit(f"wrong results, so no times: {bad}")
    return errors


def gap(a, b):
    return float((a.double() - b).abs().nan_to_num(nan=float("inf")).max())


def prefill(clock, device, dtype, shape, gemm):
    """Forward and backward of one shape: TFLOP/s, and the share of the GEMM and of the best SDPA."""
    B, h, H_kv, T, d, causal = shape
    q, k, v, do = draw(device, dtype, (B, h, T, d), (B, H_kv, T, d), (B, H_kv, T, d), (B, h, T, d))
    flops = attention_flops(B, h, T, T, d, causal=causal)
    forward = {"triton": lambda: attention(q, k, v, causal=causal, backend="triton")}
    backward = {}
    mine = attention(q, k, v, causal=causal, backend="triton")
    backward["triton"] = lambda: attention_backward(q, k, v, *mine, do, causal=causal, backend="triton")
    kinds = ("FLASH_ATTENTION", "CUDNN_ATTENTION", "EFFICIENT_ATTENTION") if device == "cuda" else ("MATH",)
    skipped = {}
    for kind in kinds:
        forward[kind] = lambda kind=kind: sdpa(kind, q, k, v, causal)
        leaves = [x.clone().requires_grad_() for x in (q, k, v)]
        try:
            out = sdpa(kind, *leaves, causal)
        except RuntimeError as error:
            skipped[kind] = {"skipped": str(error).splitlines()[0][:200]}
            continue
        if gap(out.detach(), mine.o.double()) > 2 * TOLERANCE[dtype]:
            raise SystemExit(f"SDPA {kind} and the kernel disagree at {shape}")
        backward[kind] = lambda out=out, leaves=leaves: torch.autograd.grad(out, leaves, do, retain_graph=True)
    row = {"B": B, "h": h, "H_kv": H_kv, "T": T, "d": d, "causal": causal, "dtype": str(dtype)}
    timed = {"forward": (clock(forward), flops), "backward": ({**skipped, **clock(backward)}, 2.5 * flops)}
    for name, (found, work) in timed.items():
        rates = {n: work / x["median_ms"] / 1e9 for n, x in found.items() if "median_ms" in x}
        for n, rate in rates.items():
            found[n] |= {"tflops": rate, "gemm_share": rate / gemm}
        others = [rate for n, rate in rates.items() if n != "triton"]
        row[name] = {**found, "ratio_to_best_sdpa": rates["triton"] / max(others) if others else None}
    return row


def decoding(clock, device, dtype, shape, copy):
    """One token a sequence: bytes of keys and values over time, for each number of splits, contiguous and paged."""
    B, h, H_kv, T, d = shape
    q, k, v = draw(device, dtype, (B, h, d), (B, H_kv, T, d), (B, H_kv, T, d))
    pages = T // PAGE
    table = torch.randperm(B * pages, device=device).reshape(B, pages).to(torch.int32)
    lengths = torch.full((B,), T, dtype=torch.int32, device=device)
    paged = [torch.empty(B * pages, H_kv, PAGE, d, device=device, dtype=dtype) for _ in range(2)]
    for page, x in zip(paged, (k, v), strict=True):
        page[table.flatten().long()] = x.unflatten(2, (pages, PAGE)).swapaxes(1, 2).flatten(0, 1)
    calls = {"triton, chosen splits": lambda: decode_attention(q, k, v, backend="triton")}
    for n in SPLITS:
        calls[f"triton, {n} splits"] = lambda n=n: decode_attention(q, k, v, splits=n, backend="triton")
    calls["triton, paged"] = lambda: decode_attention(q, *paged, lengths=lengths, block_table=table, backend="triton")
    for kind in ("FLASH_ATTENTION", "CUDNN_ATTENTION") if device == "cuda" else ("MATH",):
        calls[f"SDPA {kind}"] = lambda kind=kind: sdpa(kind, q[:, :, None], k, v, False)
    a, b = (calls[n]().o for n in ("triton, chosen splits", "triton, paged"))
    if gap(a, b.double()) > TOLERANCE[dtype]:
        raise SystemExit(f"paged and contiguous decoding disagree at {shape}")
    found = clock(calls)
    moved = 2 * B * H_kv * T * d * k.element_size()
    for x in found.values():
        if "median_ms" in x:
            rate = moved / x["median_ms"] / 1e6
            x |= {"gb_per_s": rate, "copy_share": rate / copy}
    return {"B": B, "h": h, "H_kv": H_kv, "T": T, "d": d, "page": PAGE, "kv_bytes": moved, "times": found}


def ceilings(clock, device, dtype, n, nbytes):
    """This run's own GEMM (TFLOP/s) and copy (GB/s, bytes read plus written)."""
    a, b = draw(device, dtype, (n, n), (n, n))
    source = torch.randint(0, 127, (nbytes,), dtype=torch.int8, device=device)
    target = torch.empty_like(source)
    found = clock({"gemm": lambda: a @ b, "copy": lambda: target.copy_(source)})
    return 2 * n**3 / found["gemm"]["median_ms"] / 1e9, 2 * nbytes / found["copy"]["median_ms"] / 1e6


def device_facts():
    """The card as it is found: name, driver, clocks, cache."""
    p = torch.cuda.get_device_properties(0)
    query = "driver_version,clocks.sm,clocks.mem,clocks.max.sm,power.limit,temperature.gpu"
    try:
        done = subprocess.run(
            ["nvidia-smi", f"--query-gpu={query}", "--format=csv"], capture_output=True, text=True, check=False
        )
        smi = done.stdout.strip().splitlines()
    except OSError:
        smi = []
    return {
        "name": p.name, "multiprocessors": p.multi_processor_count, "l2_bytes": p.L2_cache_size,
        "memory": p.total_memory, "cuda": torch.version.cuda, "nvidia_smi": smi,
    }  # fmt: skip


def run(device, dtype, prefills, decodes, clock, gemm_n, copy_bytes):
    """The whole suite: gate, ceilings, prefill, decode."""
    torch.manual_seed(0)
    errors = check(device, dtype)
    gemm, copy = ceilings(clock, device, dtype, gemm_n, copy_bytes)
    return {
        "dtype": str(dtype), "errors": errors, "gemm_tflops": gemm, "copy_gb_per_s": copy, "cache": "flushed",
        "prefill": [prefill(clock, device, dtype, s, gemm) for s in prefills],
        "decode": [decoding(clock, device, dtype, s, copy) for s in decodes],
    }  # fmt: skip


def measure():
    """The suite in bfloat16 on the CUDA device."""
    clock = Clock("cuda")
    return {**device_facts(), **run("cuda", torch.bfloat16, PREFILL, DECODE, clock, 8192, 1 << 30)}


def smoke():
    """The same code on tiny CPU tensors in Triton's interpreter, to see that it runs; its times are dropped."""
    clock = Clock("cpu", rounds=1, seconds=0.0)
    found = run("cpu", torch.float16, [(1, 2, 1, 48, 32, True)], [(1, 2, 1, 64, 32)], clock, 32, 1 << 10)
    return {"smoke": "tiny CPU tensors in the interpreter: no measurement", "errors": found["errors"],
            "ran": [len(found["prefill"]), len(found["decode"])]}  # fmt: skip
