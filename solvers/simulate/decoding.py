"""Token-by-token decoding against the full causal pass, and what eviction does to a row that has a sink."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from solvers.simulate.attention import attention
from solvers.simulate.cache import CacheShape, ContiguousCache, Int8Cache, SinkWindowCache, decode_int8, encode_int8


@dataclass(frozen=True, slots=True)
class DecodeCheck:
    """error: largest difference of any output; the rest is the shrunken shape it was found at."""

    error: float
    layers: int
    h: int
    H_kv: int
    d_h: int
    T: int


def decode_check(h: int, H_kv: int, L: int, T: int, dtype: str = "fp16", *, seed: int = 0) -> DecodeCheck:
    """Decode a small random stack one token at a time through a cache and compare with one causal pass.

    The stack keeps the ratio h : H_kv and has at most 2 layers, 2 KV heads, head width 16 and 64 tokens. Both ways read
    keys and values rounded to the cache's dtype and add up in float64, so only the order of sums differs.
    """
    import numpy as np

    kv = min(H_kv, 2)
    layers, heads, T = min(L, 2), kv * (h // H_kv), max(1, min(T, 64))
    d = max(2, min(16, 256 // heads))
    draw = np.random.default_rng(seed)
    width = heads * d
    weights = [
        {
            n: draw.normal(size=(width, m * d)) / math.sqrt(width)
            for n, m in (("q", heads), ("k", kv), ("v", kv), ("o", heads))
        }
        for _ in range(layers)
    ]
    x = draw.normal(size=(1, T, width))
    shape = CacheShape(layers, kv, d, d, "fp32" if dtype in ("bf16", "fp8") else dtype)
    kind = Int8Cache if dtype == "int8" else ContiguousCache
    cache = kind(shape, 1, T)
    whole = _pass(x, weights, heads, kv, lambda _layer, k, v: (round_to(k, dtype), round_to(v, dtype)))

    def through(layer: int, k: Any, v: Any) -> tuple[Any, Any]:
        cache.append(layer, round_to(k, dtype), round_to(v, dtype))
        return cache.view(layer)

    steps = [_pass(x[:, t : t + 1], weights, heads, kv, through) for t in range(T)]
    error = float(np.abs(np.concatenate(steps, axis=1) - whole).max())
    return DecodeCheck(error, layers, heads, kv, d, T)


def _pass(x: Any, weights: list[dict[str, Any]], heads: int, kv: int, store: Any) -> Any:
    """Residual attention layers over x [1, n, width]; store(layer, k, v) gives the keys and values to read."""
    import numpy as np

    for layer, w in enumerate(weights):
        q, k, v = (_split(x @ w[n], m) for n, m in (("q", heads), ("k", kv), ("v", kv)))
        keys, values = store(layer, k, v)
        o = attention(q, keys.astype(np.float64), values.astype(np.float64), causal=True, backend="numpy").o
        x = x + o.swapaxes(1, 2).reshape(x.shape) @ w["o"]
    return x


def _split(x: Any, heads: int) -> Any:
    """[1, n, heads·d] → [1, heads, n, d]."""
    return x.reshape(1, x.shape[1], heads, -1).swapaxes(1, 2)


def round_to(x: Any, dtype: str) -> Any:
    """The numbers of a numpy array rounded to a storage format and given back wide.

    fp64 leaves them; fp32 and fp16 round; bf16 rounds to 8 significant bits, half to even; fp8 is e4m3 (clipped at
    448); int8 goes through one row's scale and back.
    """
    import numpy as np

    x = np.asarray(x, dtype=np.float64)
    if dtype == "int8":
        return decode_int8(*encode_int8(x)).astype(np.float64)
    if dtype in ("bf16", "fp8"):
        bits, low = (8, -126) if dtype == "bf16" else (4, -6)
        # Spacing of the format at |x|: 2^(exponent − bits + 1), with the exponent of the smallest normal below it.
        exponent = np.maximum(np.frexp(x)[1] - 1, low)
        spacing = np.ldexp(1.0, exponent - bits + 1)
        rounded = np.round(x / spacing) * spacing
        return np.clip(rounded, -448, 448) if dtype == "fp8" else rounded
    return x.astype({"fp64": np.float64, "fp32": np.float32, "fp16": np.float16}[dtype]).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Eviction:
    """Relative error of the output against the full row, and the weight the sink tokens had in it."""

    error: float
    sink_weight: float
    live: int


def eviction(T: int = 512, window: int = 64, sinks: int = 4, *, kept: int | None = None, weight: float = 0.9,
             d: int = 32, seed: int = 0) -> Eviction:  # fmt: skip
    """What a sink-window cache does to one head that reads nearby tokens and parks `weight` of its row on the first.

    The first `sinks` tokens have values near 0 and a logit advantage over the newest `window` ones that gives them the
    weight w: ln(w·window/(s(1 − w))) each (card 18); tokens in between get next to nothing. The cache keeps `kept` of
    the first tokens (all unless given). Without them the parked weight falls on the window and the output grows by
    about 1/(1 − w); with them it stays what the head meant.
    """
    import numpy as np

    draw = np.random.default_rng(seed)
    kept = sinks if kept is None else kept
    logits = draw.normal(size=T) * 0.3
    logits[sinks : T - window] -= 12
    logits[:sinks] = math.log(weight * window / (sinks * (1 - weight)))
    q = np.ones((1, 1, 1, d))
    k = np.broadcast_to((logits / math.sqrt(d))[None, None, :, None], (1, 1, T, d))  # q·k/√d is the logit
    v = draw.normal(size=(1, 1, T, d)) + 1.0
    v[:, :, :sinks] *= 1e-3
    full = attention(q, k, v, backend="numpy")
    p = np.exp(logits - full.lse[0, 0, 0])
    cache = SinkWindowCache(CacheShape(1, 1, d, d, "fp64"), 1, kept, window)
    cache.append(0, k, v)
    short = attention(q, *cache.view(0), backend="numpy")
    error = np.linalg.norm(short.o - full.o) / np.linalg.norm(full.o)
    return Eviction(float(error), float(p[:sinks].sum()), cache.live(0))
