"""Independent routes for card 12: array sizes that numpy reports, search by trial, exact fractions of exponentials."""

from fractions import Fraction

import numpy as np

ITEM = {"fp16": np.float16, "bf16": np.uint16, "fp32": np.float32}


def _bytes(shape, dtype):
    """Size of an array that is only described: one number repeated by zero strides."""
    return np.broadcast_to(np.zeros((), dtype=dtype), shape).size * np.dtype(dtype).itemsize


def per_head(v):
    return _bytes((v["T"], v["T"]), ITEM[v["dtype"]])


def _layers(v):
    return v["L"] if v["scope"] == "model" else 1


def naive(v):
    return sum(_bytes((v["B"], v["h"], v["T"], v["T"]), ITEM[v["dtype"]]) for _ in range(_layers(v)))


def online(v):
    return sum(_bytes((v["B"], v["h"], v["T"]), np.float32) for _ in range(_layers(v)))


def max_context(v):
    """Halving: the longest T that still fits."""
    low, high = 1, 2**22
    while high - low > 1:
        middle = (low + high) // 2
        if _bytes((v["B"], v["h"], middle, middle), np.float16) <= v["mem_gib"] * 1024**3:
            low = middle
        else:
            high = middle
    return low


def recompute_flops(v):
    """Heads, query rows and keys one loop at a time, each dot product d_h multiplications and d_h additions."""
    per_row = sum(v["d_h"] * 2 for _ in range(v["T"]))
    return sum(per_row * v["T"] for _ in range(v["h"]))


def recompute_weight(v):
    s = v["scores"]
    base = Fraction(271828182845904523536, 10**20)
    powers = [base ** (x - min(s)) for x in s]
    return float(powers[v["j"] - 1] / sum(powers))


ROUTES = {
    "score_memory.per_head": per_head,
    "score_memory.naive": naive,
    "score_memory.online": online,
    "score_memory.max_context": max_context,
    "score_memory.recompute_flops": recompute_flops,
    "score_memory.recompute_weight": recompute_weight,
}
