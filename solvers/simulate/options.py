"""What an attention call masks and scales, and which key tiles a tile of queries has to visit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True)
class Options:
    """The masks and scales of one call; built and checked by `options_for`.

    offset = T_k − T_q aligns the causal diagonal bottom-right: query i stands at position i + offset.
    window: newest positions that a query sees, itself included; sinks: first keys that it sees besides them.
    lengths: visible keys of each batch entry (right padding), or None. mask: booleans [B|1, h|1, T_q|1,
    T_k|1], true where visible, or None. soft_cap: s becomes c·tanh(s/c), or None.
    """

    causal: bool
    window: int | None
    sinks: int
    lengths: tuple[int, ...] | None
    mask: Any
    scale: float
    soft_cap: float | None
    offset: int

    def keys_of(self, batch: int, T_k: int) -> int:
        """How many keys of that batch entry are not padding."""
        return T_k if self.lengths is None else self.lengths[batch]


class Tile(NamedTuple):
    """Keys start..stop of one visit; `partial` when causal or window masking hides some pair of it."""

    start: int
    stop: int
    partial: bool


def key_tiles(opt: Options, i0: int, i1: int, keys: int, block: int) -> Iterator[Tile]:
    """The tiles of keys that queries i0..i1−1 see, in order, invisible stretches skipped."""
    first, last = i0 + opt.offset, i1 - 1 + opt.offset  # positions of the tile's first and last query
    stop = min(keys, last + 1) if opt.causal else keys
    low = 0 if opt.window is None else max(0, first - opt.window + 1)
    for start, end in ((0, min(opt.sinks, low, stop)), (low, stop)):
        for j0 in range(start, end, block):
            j1 = min(j0 + block, end)
            partial = opt.causal and j1 - 1 > first
            if opt.window is not None and j1 > opt.sinks:
                partial = partial or j0 <= last - opt.window
            yield Tile(j0, j1, partial)


def visible(opt: Options, rows: Any, cols: Any) -> Any:
    """Booleans [len(rows), len(cols)]: causal, window and sinks; rows and cols are index arrays of one
    library.
    """
    at = rows[:, None] + opt.offset
    seen = cols[None, :] <= at
    if opt.window is not None:
        seen = seen & ((cols[None, :] > at - opt.window) | (cols[None, :] < opt.sinks))
    return seen


def options_for(
    q_shape: Sequence[int],
    k_shape: Sequence[int],
    v_shape: Sequence[int],
    *,
    causal: bool = False,
    window: int | None = None,
    sinks: int = 0,
    key_lengths: Any = None,
    mask: Any = None,
    scale: float | None = None,
    soft_cap: float | None = None,
) -> Options:
    """Checked options for q [B, h, T_q, d], k [B, H_kv, T_k, d], v [B, H_kv, T_k, d_v].

    ValueError: shapes that do not fit, h no multiple of H_kv, a window without causal, lengths out of
    range, a mask that is not boolean or does not broadcast, a soft cap that is not positive.
    """
    B, h, T_q, d = _four("q", q_shape)
    B_k, H_kv, T_k, d_k = _four("k", k_shape)
    if (B_k, H_kv, T_k) != tuple(v_shape[:3]) or len(v_shape) != 4:
        raise ValueError(f"k {tuple(k_shape)} and v {tuple(v_shape)} differ in batch, heads or length")
    if B_k != B or d != d_k:
        raise ValueError(f"q {tuple(q_shape)} and k {tuple(k_shape)} differ in batch or width")
    if h % H_kv:
        raise ValueError(f"{h} query heads cannot share {H_kv} KV heads evenly")
    if window is not None and (window < 1 or not causal):
        raise ValueError("a window counts the newest positions of a causal row: at least 1, and causal=True")
    if sinks < 0 or (sinks and window is None):
        raise ValueError("sinks are the first keys that a window keeps: 0 or more, and only with a window")
    if soft_cap is not None and not soft_cap > 0:
        raise ValueError(f"a soft cap is positive, not {soft_cap}")
    lengths = None
    if key_lengths is not None:
        lengths = tuple(int(n) for n in key_lengths)
        if len(lengths) != B or any(not 0 <= n <= T_k for n in lengths):
            raise ValueError(f"key_lengths need {B} numbers from 0 to {T_k}, not {lengths}")
    if mask is not None:
        if "bool" not in str(mask.dtype):
            raise ValueError(f"a mask holds booleans (true = visible), not {mask.dtype}")
        fits = all(n in (1, full) for n, full in zip(mask.shape, (B, h, T_q, T_k), strict=False))
        if mask.ndim != 4 or not fits:
            raise ValueError(f"mask {tuple(mask.shape)} does not broadcast to {(B, h, T_q, T_k)}")
    width = scale if scale is not None else 1 / math.sqrt(d)
    return Options(causal, window, sinks, lengths, mask, width, soft_cap, T_k - T_q)


def _four(name: str, shape: Sequence[int]) -> tuple[int, int, int, int]:
    if len(shape) != 4:
        raise ValueError(f"{name} needs 4 axes (batch, heads, tokens, width), not {tuple(shape)}")
    a, b, c, d = shape
    return a, b, c, d
