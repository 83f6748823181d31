"""Independent routes for card 13: counting allocated numbers one by one, filling memory until it is full."""

from fractions import Fraction

import numpy as np


def _cache_of(v, tokens):
    """Bytes of one sequence's cache, summed over allocated arrays (one per layer, tensor and KV head)."""
    width = {1: np.int8, 2: np.float16}[v["b"]]
    one_head = np.empty((1, v["d_h"]), dtype=width).nbytes
    return sum(one_head for _ in range(v["L"]) for _ in ("key", "value") for _ in range(v["H_kv"])) * tokens


def per_token(v):
    one_layer = [[0] * v["d_h"] for _ in ("key", "value") for _ in range(v["H_kv"])]
    return sum(len(vector) for vector in one_layer for _ in range(v["L"])) * v["b"]


def total(v):
    return sum(_cache_of(v, v["T"]) for _ in range(v["B"]))


def max_sequences(v):
    left = sum(Fraction(v["memory"]) for _ in range(v["n_gpu"])) - sum(v["N"] for _ in range(2))
    count = 0
    while left >= (need := _cache_of(v, v["T"])):
        left, count = left - need, count + 1
    return count


def max_context(v):
    left = sum(Fraction(v["memory"]) for _ in range(v["n_gpu"])) - 2 * v["N"]
    low, high = 0, 10**9
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _cache_of(v, middle) * v["B"] <= left else (low, middle)
    return low


def token_time(v):
    streams = [2 * v["N"], *(_cache_of(v, v["T"]) for _ in range(v["B"]))]
    return float(sum(Fraction(size) / Fraction(v["bandwidth"]) for size in streams))


def tokens_per_second(v):
    return 1 / token_time(v)


def batch_rate(v):
    return v["B"] / token_time(v)


def break_even(v):
    """Where the straight lines through two cache sizes meet the weights."""
    first, second = (_cache_of(v, T) * v["B"] for T in (0, 1000))
    return float(Fraction(2 * v["N"] - first, second - first) * 1000)


ROUTES = {
    "kv_cache.per_token": per_token,
    "kv_cache.total": total,
    "kv_cache.max_sequences": max_sequences,
    "kv_cache.max_context": max_context,
    "kv_cache.token_time": token_time,
    "kv_cache.tokens_per_second": tokens_per_second,
    "kv_cache.batch_rate": batch_rate,
    "kv_cache.break_even": break_even,
}
