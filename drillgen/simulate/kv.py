"""A model's KV cache: measured on its own arrays, bounded in sequences and time, decoded through on a small copy."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from drillgen.simulate.limits import backend_for, need
from drillgen.simulate.report import Report, facts, seconds, size

NUMPY_DTYPES = ("fp64", "fp32", "fp16", "int8")


@dataclass(frozen=True, slots=True)
class Setting:
    """A cache of `batch` sequences of T tokens; page, sinks and window where the layout has them."""

    model: str
    T: int
    batch: int
    dtype: str
    accelerator: str
    layout: str
    page: int
    sinks: int
    window: int
    backend: str
    device: str
    seed: int
    allocate: bool


def run(asked: Setting) -> Report:
    """Build the cache (without memory, or really with `allocate`) and report what it says of itself."""
    from solvers import facts as known
    from solvers.simulate.decoding import decode_check
    from solvers.simulate.roofline import kv_bytes_per_token, max_sequences, seconds_per_token

    model, machine = known.model(asked.model), known.accelerator(asked.accelerator)
    wanted = "torch" if (asked.backend, asked.device) == ("auto", "cuda") else asked.backend
    backend, device = backend_for(wanted, asked.device, asked.dtype, NUMPY_DTYPES)
    per_token = kv_bytes_per_token(model, asked.dtype)
    total = per_token * asked.T * asked.batch
    cache = _cache(asked, model, backend, "meta")
    measured = cache.nbytes
    check = decode_check(model.h, model.H_kv, model.L, asked.T, asked.dtype, seed=asked.seed)
    data: dict[str, Any] = {
        "bytes_per_token": per_token,
        "bytes_total": total,
        "measured_bytes": measured,
        "max_sequences": max_sequences(model, machine.memory, per_token, asked.T),
        "seconds_per_token_bound": seconds_per_token(model, total, machine.bandwidth),
        "max_abs_error_decode": check.error,
        "decode_checked_at": {k: v for k, v in asdict(check).items() if k != "error"},
    }
    if asked.allocate:
        need(measured, f"a cache of {size(measured)}", device)
        data["resident_bytes"] = _allocate(asked, model, backend, device)
    return Report(data, _lines(asked, model, machine, data), lambda figure: _draw(figure, model, machine, asked))


def _cache(asked: Setting, model: Any, backend: str, device: str) -> Any:
    from solvers.simulate.cache import CacheShape, ContiguousCache, Int8Cache, SinkWindowCache
    from solvers.simulate.paged import PagedCache

    shape = CacheShape.of(model, asked.dtype)
    library = "numpy" if backend == "numpy" else "torch"
    if asked.layout == "paged":
        pages = asked.batch * -(-asked.T // asked.page)
        return PagedCache(shape, pages, asked.page, library=library, device=device)
    if asked.layout == "sink-window":
        return SinkWindowCache(shape, asked.batch, asked.sinks, asked.window, library=library, device=device)
    kind = Int8Cache if asked.dtype == "int8" else ContiguousCache
    return kind(shape, asked.batch, asked.T, library=library, device=device)


def _allocate(asked: Setting, model: Any, backend: str, device: str) -> int:
    """Bytes that appeared in this process (or on the GPU) when the cache was made and every page of it written."""
    before = _resident(device)
    cache = _cache(asked, model, backend, device)
    for x in cache.arrays.values():
        x[...] = 1
    return _resident(device) - before


def _resident(device: str) -> int:
    if device == "cuda":
        import torch

        return int(torch.cuda.memory_allocated())
    import os

    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # macOS counts bytes here


def _lines(asked: Setting, model: Any, machine: Any, data: dict[str, Any]) -> list[str]:
    at = data["decode_checked_at"]
    weights = 2 * model.N
    bound = data["seconds_per_token_bound"]
    note = ""
    if asked.dtype == "int8" and asked.layout == "contiguous":
        note = ": with an fp16 scale per key and value row"
    elif data["measured_bytes"] != data["bytes_total"]:
        note = f": what the {asked.layout} layout holds"
    pairs = [
        ("model", f"{model.name}: L = {model.L}, H_kv = {model.H_kv} of {model.h} heads, d_h = {model.d_h}"),
        ("per token", f"2 · {model.L} · {model.H_kv} · {model.d_h} · b = {size(data['bytes_per_token'])}"),
        (f"{asked.batch} × {asked.T:,} tokens", size(data["bytes_total"])),
        ("measured on the arrays", size(data["measured_bytes"]) + note),
        (f"sequences on one {machine.name}",
         f"at most {data['max_sequences']:,} beside {weights / 1e9:.2f} GB of weights"),
        ("time per decoded token",
         f"at least {seconds(bound)} (at most {int(asked.batch / bound):,} tokens/s): a bound from bandwidth"),
        ("decode = causal pass",
         f"to {data['max_abs_error_decode']:.2g}, checked on a small copy: {at['layers']} layers, {at['h']} query and "
         f"{at['H_kv']} KV heads of width {at['d_h']}, {at['T']} tokens"),
    ]  # fmt: skip
    if "resident_bytes" in data:
        pairs.append(("appeared in memory", size(data["resident_bytes"])))
    return facts(pairs)


def _draw(figure: Any, model: Any, machine: Any, asked: Setting) -> None:
    from drillgen.simulate import plots
    from solvers.facts import BYTES

    intensity = 2 * model.h / (BYTES[asked.dtype] * model.H_kv)
    plots.roofline(figure, machine, model, intensity)
