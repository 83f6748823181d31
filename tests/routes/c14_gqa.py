"""Independent routes for card 14: tables of heads, arrays counted, filling memory, trying every head count."""

from fractions import Fraction

import numpy as np


def head_map(v):
    """Where the head ends up when copies of the KV heads are lined up with the query heads."""
    copies = np.repeat(np.arange(v["H_kv"]), v["h"] // v["H_kv"])
    return int(copies[v["n"]])


def _token_bytes(L, n_kv, d_h):
    """Bytes of one token's fp16 cache, summed over its arrays."""
    head = np.empty(d_h, dtype=np.float16).nbytes
    return sum(head for _ in range(L) for _ in ("key", "value") for _ in range(n_kv))


def _heads(v, scheme):
    return {"mha": v["h"], "gqa": v["H_kv"], "mqa": 1}[scheme]


def cache_ratio(v):
    full, shared = (_token_bytes(3, n, 16) for n in (v["h"], _heads(v, v["target"])))
    return float(Fraction(full, shared))


def scheme_cache(v):
    return _token_bytes(v["L"], _heads(v, v["scheme"]), v["d_h"])


def sequences_fit(v):
    left = sum(Fraction(v["memory"]) for _ in range(v["n_gpu"])) - sum(v["N"] for _ in range(2))
    need = _token_bytes(v["L"], _heads(v, v["scheme"]), v["d_h"]) * v["T"]
    count = 0
    while left >= need:
        left, count = left - need, count + 1
    return count


def decode_intensity(v):
    """One decode step counted product by product at a small size."""
    T, d_h = 7, 5
    flops = sum(2 * d_h for _ in range(v["h"]) for _ in range(T)) + sum(
        2 * T for _ in range(v["h"]) for _ in range(d_h)
    )
    width = {"fp32": 4, "fp16": 2, "bf16": 2, "fp8": 1}[v["dtype"]]
    read = sum(width for _ in range(v["H_kv"]) for _ in ("K", "V") for _ in range(T * d_h))
    return float(Fraction(flops, read))


def ridge(v):
    """The intensity at which time for arithmetic and time for bytes are equal, by bisection."""
    low, high = 0.0, 1e6
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if middle / v["flops"] < 1 / v["bandwidth"] else (low, middle)
    return low


def peak_fraction(v):
    """Time for arithmetic over time of the step, for one layer at some context."""
    T, d_h = 1000, 128
    flops, read = v["h"] * 4 * T * d_h, v["H_kv"] * 2 * T * d_h * 2
    arithmetic, memory = flops / v["flops"], read / v["bandwidth"]
    return arithmetic / max(arithmetic, memory)


def kv_head_budget(v):
    fits = [
        k
        for k in range(1, v["h"] + 1)
        if v["h"] % k == 0 and _token_bytes(v["L"], k, v["d_h"]) * v["T"] * v["B"] <= v["mem_gib"] * 2**30
    ]
    return fits[-1]


def mean_pool(v):
    heads = np.array(v["heads"], float)
    return heads.reshape(v["H_kv"], -1, heads.shape[1]).mean(axis=1).tolist()


ROUTES = {
    "gqa.head_map": head_map,
    "gqa.cache_ratio": cache_ratio,
    "gqa.scheme_cache": scheme_cache,
    "gqa.sequences_fit": sequences_fit,
    "gqa.decode_intensity": decode_intensity,
    "gqa.ridge": ridge,
    "gqa.peak_fraction": peak_fraction,
    "gqa.kv_head_budget": kv_head_budget,
    "gqa.mean_pool": mean_pool,
}
