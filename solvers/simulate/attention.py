"""Exact attention in blocks, one signature over three back ends.

numpy: the reference program, float64 for float64 inputs. torch: the same program on CPU or CUDA tensors.
triton: kernels for CUDA (or, with TRITON_INTERPRET=1 set before the import, an interpreter on the CPU).
Scores accumulate in float32 for 16- and 32-bit inputs, in float64 for float64. lse is the natural logarithm.
"""

from __future__ import annotations

import math
from typing import Any

from solvers.simulate.options import options_for
from solvers.simulate.state import Partial, merge_many, namespace

BACKENDS = ("numpy", "torch", "triton")
BLOCKS = {"numpy": ((512, 512), (512, 512)), "torch": ((2048, 512), (512, 512))}
"""(query rows, keys) a tile without and with a causal mask: the fastest measured for float32, d = 128, one
core.

Tall tiles keep the products near the machine's own rate; a causal mask wastes half of every tile on the
diagonal.
"""


class Unavailable(RuntimeError):
    """A back end or device that this machine lacks; the message says what to install or what is missing."""


def attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool = False,
    window: int | None = None,
    sinks: int = 0,
    key_lengths: Any = None,
    mask: Any = None,
    scale: float | None = None,
    soft_cap: float | None = None,
    qk_gain: float | None = None,
    block_q: int | None = None,
    block_k: int | None = None,
    backend: str = "auto",
) -> Partial:
    """Softmax attention block by block; exact, without a T×T matrix.

    q: [B, h, T_q, d]; k: [B, H_kv, T_k, d]; v: [B, H_kv, T_k, d_v]; h a multiple of H_kv (query head n
    reads KV head ⌊n·H_kv/h⌋) → o [B, h, T_q, d_v] in q's dtype and lse [B, h, T_q], both of the caller's
    kind of array. causal: aligned bottom-right, query i sees keys up to i + T_k − T_q. window: only the
    newest `window` of those, besides the first `sinks` keys. key_lengths: [B] keys that are no padding (the
    diagonal stays where it is). mask: booleans [B|1, h|1, T_q|1, T_k|1], true where visible. scale: 1/√d
    unless given. soft_cap c: s becomes c·tanh(s/c). qk_gain g: queries and keys scaled to length 1, logits
    g·q̂ᵀk̂ (card 18). A row without a visible key gives o = 0 and lse = −inf; an invisible value never
    counts, not even a NaN. ValueError for shapes or options that do not fit, `Unavailable` for a missing
    back end.
    """
    name, (q, k, v) = _take(backend, q, k, v)
    if qk_gain is not None:
        scale, q, k = qk_gain, _unit(q), _unit(k)
    opt = options_for(
        q.shape, k.shape, v.shape,
        causal=causal, window=window, sinks=sinks, key_lengths=key_lengths, mask=_like(mask, q),
        scale=scale, soft_cap=soft_cap,
    )  # fmt: skip
    o, lse = _program(name).forward(q, k, v, opt, _blocks(name, block_q, block_k, causal))
    return Partial(o, lse)


def attention_backward(
    q: Any,
    k: Any,
    v: Any,
    o: Any,
    lse: Any,
    do: Any,
    *,
    causal: bool = False,
    window: int | None = None,
    sinks: int = 0,
    key_lengths: Any = None,
    mask: Any = None,
    scale: float | None = None,
    soft_cap: float | None = None,
    qk_gain: float | None = None,
    block_q: int | None = None,
    block_k: int | None = None,
    backend: str = "auto",
) -> tuple[Any, Any, Any]:
    """(dq, dk, dv) for the upstream gradient do [B, h, T_q, d_v], from what `attention` returned.

    Options as in the forward call. The weights are recomputed from lse, so memory stays linear in T.
    """
    name, (q, k, v, o, lse, do) = _take(backend, q, k, v, o, lse, do)
    unit_q, unit_k = (q, k) if qk_gain is None else (_unit(q), _unit(k))
    opt = options_for(
        q.shape, k.shape, v.shape,
        causal=causal, window=window, sinks=sinks, key_lengths=key_lengths, mask=_like(mask, q),
        scale=scale if qk_gain is None else qk_gain, soft_cap=soft_cap,
    )  # fmt: skip
    blocks = _blocks(name, block_q, block_k, causal)
    dq, dk, dv = _program(name).backward(unit_q, unit_k, v, o, lse, do, opt, blocks)
    if qk_gain is not None:
        dq, dk = _unit_backward(q, unit_q, dq), _unit_backward(k, unit_k, dk)
    return dq, dk, dv


def decode_attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    lengths: Any = None,
    block_table: Any = None,
    splits: int | None = None,
    scale: float | None = None,
    soft_cap: float | None = None,
    backend: str = "auto",
) -> Partial:
    """One new token per sequence against its cache, the keys split into parts that are merged (split-K).

    q: [B, h, d]. Contiguous cache: k [B, H_kv, T, d], v [B, H_kv, T, d_v]. Paged cache: k and v
    [pages, H_kv, page, …] with block_table [B, n], the page of each stretch of tokens. lengths: [B] live
    tokens (needed with a block table; T otherwise). splits: parts the keys are cut into (chosen where not
    given). → o [B, h, d_v], lse [B, h]; (0, −inf) for an empty cache.
    """
    name, (q, k, v) = _take(backend, q, k, v)
    if splits is not None and splits < 1:
        raise ValueError(f"the keys are cut into at least one part, not {splits}")
    room = _room(q, k, v, lengths, block_table)
    width = scale if scale is not None else 1 / math.sqrt(q.shape[-1])
    if soft_cap is not None and not soft_cap > 0:
        raise ValueError(f"a soft cap is positive, not {soft_cap}")
    if name == "triton":
        from solvers.simulate import triton_backend

        table = _like(block_table, q)
        # Lengths that are on the device stay there: reading them would make every step wait for the GPU.
        live = lengths if getattr(lengths, "is_cuda", False) else _live(q, lengths, room)
        none = lengths is None
        return Partial(*triton_backend.decode(q, k, v, None if none else live, table, splits, width, soft_cap))
    live = _live(q, lengths, room)
    parts = splits or max(1, -(-max(live, default=0) // 4096))
    rows = [_decode_one(q, k, v, b, live[b], block_table, parts, width, soft_cap) for b in range(len(live))]
    xp = namespace(q)
    return Partial(xp.stack([r.o for r in rows]), xp.stack([r.lse for r in rows]))


def _room(q: Any, k: Any, v: Any, lengths: Any, block_table: Any) -> int:
    """Most tokens a sequence can have, after the shapes of a decode call were checked."""
    B, h, d = q.shape
    H_kv, room = k.shape[1], int(k.shape[2])
    if k.shape[:3] != v.shape[:3] or k.shape[3] != d or h % H_kv:
        raise ValueError(f"q {tuple(q.shape)}, k {tuple(k.shape)} and v {tuple(v.shape)} do not fit together")
    if block_table is not None:
        if lengths is None:
            raise ValueError("a block table needs the lengths of its sequences")
        if len(block_table) != B:
            raise ValueError(f"{len(block_table)} block tables for {B} sequences")
        room *= int(block_table.shape[1])
    elif k.shape[0] != B:
        raise ValueError(f"{B} queries but {k.shape[0]} cached sequences")
    return room


def _live(q: Any, lengths: Any, room: int) -> list[int]:
    """Live tokens of each sequence; all have the whole room where no lengths are given."""
    B = q.shape[0]
    live = [room] * B if lengths is None else [int(n) for n in lengths]
    if len(live) != B or any(not 0 <= n <= room for n in live):
        raise ValueError(f"lengths need {B} numbers from 0 to {room}, not {live}")
    return live


def _decode_one(
    q: Any, k: Any, v: Any, b: int, live: int, table: Any, parts: int, scale: float, cap: float | None
) -> Partial:
    """One sequence: each part attended on its own and merged. (o [h, d_v], lse [h])."""
    chunk = max(1, -(-live // parts))
    found = []
    for start in range(0, max(live, 1), chunk):
        stop = min(start + chunk, live)
        keys, values = (_cached(x, b, start, stop, table) for x in (k, v))
        part = attention(
            q[b : b + 1, :, None], keys, values, scale=scale, soft_cap=cap, backend=_name_of(q)
        )  # fmt: skip
        found.append(Partial(part.o[0, :, 0], part.lse[0, :, 0]))
    return merge_many(found)


def _cached(x: Any, b: int, start: int, stop: int, table: Any) -> Any:
    """Tokens start..stop of one sequence as [1, H_kv, n, d], gathered page by page where there is a block
    table.
    """
    if table is None:
        return x[b : b + 1, :, start:stop]
    page = x.shape[2]
    first = start // page
    pages = [int(table[b][i]) for i in range(first, -(-stop // page))]
    rows = x[pages]  # [n, H_kv, page, d]
    flat = rows.swapaxes(0, 1).reshape(1, x.shape[1], len(pages) * page, x.shape[3])
    return flat[:, :, start - first * page : stop - first * page]


def attention_flops(B: int, h: int, T_q: int, T_k: int, d: int, *, causal: bool = False) -> int:
    """Floating-point operations of the two products, 4·B·h·T_q·T_k·d, halved for causal (the usual
    convention).
    """
    return 4 * B * h * T_q * T_k * d // (2 if causal else 1)


def _name_of(x: Any) -> str:
    return str(namespace(x).__name__)


def _take(backend: str, *arrays: Any) -> tuple[str, list[Any]]:
    """The back end to use and the arrays as it wants them. "auto": numpy for arrays, Triton for CUDA
    tensors.
    """
    name = backend
    kinds = {_name_of(x) for x in arrays}
    if len(kinds) > 1:
        raise ValueError("numpy arrays and torch tensors are mixed in one call")
    if backend == "auto":
        name = kinds.pop()
        if name == "torch" and arrays[0].is_cuda and _has("triton"):
            name = "triton"
    if name not in BACKENDS:
        raise ValueError(f"unknown back end {backend!r}: one of auto, {', '.join(BACKENDS)}")
    if name == "numpy":
        import numpy as np

        return name, [x if isinstance(x, np.ndarray) else x.detach().cpu().numpy() for x in arrays]
    return name, [_tensor(x) for x in arrays]


def _tensor(x: Any) -> Any:
    if namespace(x).__name__ == "torch":
        return x.detach()
    if not _has("torch"):
        raise Unavailable("this back end needs torch: pip install 'drillgen[torch]'")
    import torch

    return torch.from_numpy(x)


def _has(module: str) -> bool:
    from importlib.util import find_spec

    return find_spec(module) is not None


def _like(mask: Any, q: Any) -> Any:
    """A mask or table as the kind of array that q is, on its device."""
    if mask is None:
        return None
    if namespace(q).__name__ == "numpy":
        return mask if namespace(mask).__name__ == "numpy" else mask.cpu().numpy()
    return _tensor(mask).to(q.device)


def _program(name: str) -> Any:
    """The module with forward(q, k, v, opt, block) and backward(…) of that back end."""
    if name == "triton":
        if not _has("triton"):
            raise Unavailable("the Triton back end needs triton: pip install 'drillgen[gpu]'")
        from solvers.simulate import triton_backend

        return triton_backend
    from solvers.simulate import blockwise

    return blockwise


def _blocks(name: str, block_q: int | None, block_k: int | None, causal: bool) -> tuple[int, int] | None:
    """Tile sizes: as given, the tuned ones otherwise (None leaves a GPU's to the autotuner)."""
    if any(b is not None and b < 1 for b in (block_q, block_k)):
        raise ValueError("block_q and block_k are at least 1")
    if name == "triton" and block_q is None and block_k is None:
        return None
    usual = BLOCKS[name][causal] if name in BLOCKS else (64, 64)
    return block_q or usual[0], block_k or usual[1]


def _wide(x: Any) -> Any:
    """16-bit numbers as float32: a sum of their squares overflows fp16."""
    if x.dtype.itemsize >= 4:
        return x
    return x.float() if namespace(x).__name__ == "torch" else x.astype("float32")


def _norm(x: Any) -> Any:
    """Lengths of the rows, [..., 1]; 1 for a row of zeros, which has no direction and stays 0."""
    xp = namespace(x)
    norm = xp.sqrt((x * x).sum(-1))[..., None]
    return xp.where(norm == 0, xp.ones_like(norm), norm)


def _cast(x: Any, like: Any) -> Any:
    return x.to(like.dtype) if namespace(x).__name__ == "torch" else x.astype(like.dtype, copy=False)


def _unit(x: Any) -> Any:
    """Rows scaled to length 1 (QK-norm), in x's dtype."""
    wide = _wide(x)
    return _cast(wide / _norm(wide), x)


def _unit_backward(x: Any, unit: Any, grad: Any) -> Any:
    """Gradient through x/|x|: the part of grad along the unit vector is dropped, the rest divided by |x|."""
    wide, u, g = _wide(x), _wide(unit), _wide(grad)
    return _cast((g - (g * u).sum(-1)[..., None] * u) / _norm(wide), x)
