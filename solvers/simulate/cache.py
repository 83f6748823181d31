"""KV caches whose bytes are those of their own arrays: contiguous, int8, latent, sink-window; paged in `paged`.

Arrays are numpy's or torch's; with device "meta" they have a shape and a size but no memory, so a cache of any size
can be measured. Nothing here computes bytes from a formula: `nbytes` adds up what the arrays say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from solvers.simulate.attention import Unavailable, _has
from solvers.simulate.state import namespace

NUMPY_DTYPES = {"fp64": "float64", "fp32": "float32", "fp16": "float16", "int8": "int8"}
TORCH_DTYPES = {**NUMPY_DTYPES, "bf16": "bfloat16", "fp8": "float8_e4m3fn"}


@dataclass(frozen=True, slots=True)
class CacheShape:
    """What one token leaves in a cache: in each of L layers, for each of `heads` heads, the named tensors.

    heads: KV heads (a cache that kept query heads would say h here). d_k, d_v: widths of a key and of a value.
    dtype: fp64, fp32, fp16, bf16, fp8 or int8. tensors: which of "k" and "v" are kept.
    """

    L: int
    heads: int
    d_k: int
    d_v: int
    dtype: str = "fp16"
    tensors: tuple[str, ...] = ("k", "v")

    @classmethod
    def of(cls, model: Any, dtype: str = "fp16") -> CacheShape:
        """The cache of a model of `solvers.facts`."""
        return cls(model.L, model.H_kv, model.d_h, model.d_h, dtype)

    def width(self, tensor: str) -> int:
        """Numbers a head keeps in that tensor."""
        return self.d_k if tensor == "k" else self.d_v


def array(shape: tuple[int, ...], dtype: str, library: str, device: str) -> Any:
    """An array of zeros. device "meta": shape and size without memory; torch alone knows bf16, fp8 and CUDA."""
    if library == "numpy":
        import numpy as np

        if dtype not in NUMPY_DTYPES or device not in ("cpu", "meta"):
            what = f"dtype {dtype}" if device in ("cpu", "meta") else f"device {device}"
            raise Unavailable(f"numpy has no {what}: pip install 'drillgen[torch]' and use the torch back end")
        if device == "meta":
            return np.broadcast_to(np.zeros((), NUMPY_DTYPES[dtype]), shape)
        return np.zeros(shape, NUMPY_DTYPES[dtype])
    if not _has("torch"):
        raise Unavailable("the torch back end needs torch: pip install 'drillgen[torch]'")
    import torch

    return torch.zeros(shape, dtype=getattr(torch, TORCH_DTYPES[dtype]), device=device)


def size_of(x: Any) -> int:
    """Bytes of an array, as the array itself reports them."""
    return int(x.nbytes)


class Cache:
    """What every cache has: arrays by name, and their bytes."""

    arrays: dict[str, Any]

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays of the cache, scales included; tables and counters of the host are not."""
        return sum(size_of(x) for x in self.arrays.values())


class ContiguousCache(Cache):
    """One stretch of `capacity` tokens per sequence: arrays [L, B, heads, capacity, width]."""

    def __init__(
        self, shape: CacheShape, batch: int, capacity: int, *, library: str = "numpy", device: str = "cpu"
    ) -> None:
        self.shape, self.batch, self.capacity = shape, batch, capacity
        self.filled = [0] * shape.L
        self.arrays = {
            t: array((shape.L, batch, shape.heads, capacity, shape.width(t)), shape.dtype, library, device)
            for t in shape.tensors
        }

    def append(self, layer: int, k: Any, v: Any) -> None:
        """Store n more tokens of a layer: k [B, heads, n, d_k], v [B, heads, n, d_v], rounded to the cache's dtype."""
        start, n = self.filled[layer], k.shape[2]
        if start + n > self.capacity:
            raise MemoryError(f"the cache holds {self.capacity} tokens; {start} + {n} do not fit")
        self._write(layer, slice(start, start + n), {"k": k, "v": v})
        self.filled[layer] = start + n

    def view(self, layer: int) -> tuple[Any, Any]:
        """(k, v) of the tokens stored so far: [B, heads, n, ·], in the cache's dtype."""
        n = self.filled[layer]
        return self.arrays["k"][layer, :, :, :n], self.arrays["v"][layer, :, :, :n]

    def _write(self, layer: int, at: Any, values: dict[str, Any]) -> None:
        for t in self.shape.tensors:
            self.arrays[t][layer, :, :, at] = values[t]


class Int8Cache(ContiguousCache):
    """Contiguous, each key and value as int8 with its own fp16 scale: arrays k, v and k_scale, v_scale.

    A row x is stored as round(x/scale), scale = max|x|/127. Beside d_h bytes a row costs 2 for its scale.
    """

    def __init__(
        self, shape: CacheShape, batch: int, capacity: int, *, library: str = "numpy", device: str = "cpu"
    ) -> None:
        super().__init__(shape, batch, capacity, library=library, device=device)
        for t in shape.tensors:
            rows = (shape.L, batch, shape.heads, capacity)
            self.arrays[f"{t}_scale"] = array(rows, "fp16", library, device)

    def view(self, layer: int) -> tuple[Any, Any]:
        """(k, v) decoded to float32: [B, heads, n, ·]."""
        n = self.filled[layer]
        k, v = (decode_int8(self.arrays[t][layer, :, :, :n], self.arrays[f"{t}_scale"][layer, :, :, :n]) for t in "kv")
        return k, v

    def _write(self, layer: int, at: Any, values: dict[str, Any]) -> None:
        for t in self.shape.tensors:
            self.arrays[t][layer, :, :, at], self.arrays[f"{t}_scale"][layer, :, :, at] = encode_int8(values[t])


def encode_int8(x: Any) -> tuple[Any, Any]:
    """(codes, scales) of the rows of x [..., d]: int8 [..., d] and fp16 [...]."""
    xp = namespace(x)
    scale = _as(xp, xp.amax(xp.abs(x), -1) / 127, "float16")
    # Divide by the scale as it is stored; a row too small for fp16 becomes 0, a row of zeros stays 0.
    wide = _as(xp, scale, "float32")
    safe = xp.where(wide == 0, xp.full_like(wide, 1.0), wide)
    codes = xp.clip(xp.round(_as(xp, x, "float32") / safe[..., None]), -127, 127)
    return _as(xp, codes, "int8"), scale


def decode_int8(codes: Any, scale: Any) -> Any:
    """float32 rows from their int8 codes and scales."""
    xp = namespace(codes)
    return _as(xp, codes, "float32") * _as(xp, scale, "float32")[..., None]


def _as(xp: Any, x: Any, dtype: str) -> Any:
    return x.astype(dtype) if xp.__name__ == "numpy" else x.to(getattr(xp, dtype))


class LatentCache(Cache):
    """Multi-head latent attention (DeepSeek-V2): one latent and one rotary key per token, shared by all heads.

    Arrays latent [L, B, capacity, d_c] and rope [L, B, capacity, d_r]: d_c + d_r numbers a token and layer.
    """

    def __init__(
        self, L: int, d_c: int, d_r: int, batch: int, capacity: int, *, dtype: str = "fp16",
        library: str = "numpy", device: str = "cpu",
    ) -> None:  # fmt: skip
        self.capacity = capacity
        self.filled = [0] * L
        self.arrays = {
            name: array((L, batch, capacity, width), dtype, library, device)
            for name, width in (("latent", d_c), ("rope", d_r))
        }

    def append(self, layer: int, latent: Any, rope: Any) -> None:
        """Store n more tokens of a layer: latent [B, n, d_c] and rope [B, n, d_r]."""
        start, n = self.filled[layer], latent.shape[1]
        if start + n > self.capacity:
            raise MemoryError(f"the cache holds {self.capacity} tokens; {start} + {n} do not fit")
        self.arrays["latent"][layer, :, start : start + n] = latent
        self.arrays["rope"][layer, :, start : start + n] = rope
        self.filled[layer] = start + n

    def view(self, layer: int) -> tuple[Any, Any]:
        """(k, v) as one KV head that all query heads share: [B, 1, n, d_c + d_r] and [B, 1, n, d_c].

        Queries come absorbed (q_nope·W_UKᵀ beside q_rope), and W_UV follows the attention: exactly the attention
        over the expanded keys and values, which are never built.
        """
        n = self.filled[layer]
        latent, rope = self.arrays["latent"][layer, :, None, :n], self.arrays["rope"][layer, :, None, :n]
        xp = namespace(latent)
        return xp.concatenate([latent, rope], -1), latent


class SinkWindowCache(Cache):
    """The first `sinks` tokens and the newest `window` ones (StreamingLLM): bytes that never grow.

    Keys are kept as they were before rotary embedding; a token's position is its place in the view, 0, 1, 2, …
    """

    def __init__(
        self, shape: CacheShape, batch: int, sinks: int, window: int, *, library: str = "numpy", device: str = "cpu"
    ) -> None:
        if sinks < 0 or window < 1:
            raise ValueError(f"needs 0 or more sinks and a window of at least 1, not {sinks} and {window}")
        self.shape, self.sinks, self.window = shape, sinks, window
        self.seen = [0] * shape.L
        room = sinks + window
        self.arrays = {
            t: array((shape.L, batch, shape.heads, room, shape.width(t)), shape.dtype, library, device)
            for t in shape.tensors
        }

    def append(self, layer: int, k: Any, v: Any) -> None:
        """Store n more tokens of a layer, each over the oldest of the window: k [B, heads, n, d_k], v likewise."""
        for i in range(k.shape[2]):
            at = self._slot(self.seen[layer])
            for name, x in (("k", k), ("v", v)):
                self.arrays[name][layer, :, :, at] = x[:, :, i]
            self.seen[layer] += 1

    def live(self, layer: int) -> int:
        """Tokens the cache holds: never more than sinks + window."""
        return min(self.seen[layer], self.sinks + self.window)

    def positions(self, layer: int) -> list[int]:
        """Which tokens of the text are held, in order."""
        n = self.seen[layer]
        kept = min(self.sinks, n)
        return [*range(kept), *range(max(kept, n - self.window), n)]

    def view(self, layer: int) -> tuple[Any, Any]:
        """(k, v) in the order of the text: [B, heads, live, ·]."""
        slots = [self._slot(p) for p in self.positions(layer)]
        return self.arrays["k"][layer][:, :, slots], self.arrays["v"][layer][:, :, slots]

    def _slot(self, position: int) -> int:
        if position < self.sinks:
            return position
        return self.sinks + (position - self.sinks) % self.window
