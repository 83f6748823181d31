"""Attention the long way, in float64 with the whole T×T matrix: what every other version is compared with."""

from __future__ import annotations

import math
from typing import Any

from solvers.simulate.options import options_for
from solvers.simulate.state import Partial, weighted


def attention_reference(q: Any, k: Any, v: Any, **masks: Any) -> Partial:
    """softmax(scale · q kᵀ) v by its definition, in numpy float64; options as for `attention.attention`.

    q: [B, h, T_q, d]; k: [B, H_kv, T_k, d]; v: [B, H_kv, T_k, d_v] → o [B, h, T_q, d_v], lse [B, h, T_q]
    (natural). A row without a visible key gives 0 and −inf. Needs 8·B·h·T_q·T_k bytes and a few copies of
    it.
    """
    import numpy as np

    gain = masks.pop("qk_gain", None)
    q, k, v = (np.asarray(x, dtype=np.float64) for x in (q, k, v))
    if gain is not None:
        q, k = (x / np.where((n := np.linalg.norm(x, axis=-1, keepdims=True)) == 0, 1, n) for x in (q, k))
        masks["scale"] = gain
    opt = options_for(q.shape, k.shape, v.shape, **masks)
    group = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    with np.errstate(invalid="ignore"):
        s = np.matmul(q, k.swapaxes(-1, -2)) * opt.scale
    if opt.soft_cap is not None:
        s = opt.soft_cap * np.tanh(s / opt.soft_cap)
    seen = np.broadcast_to(_seen(opt, *s.shape[2:]), s.shape)
    s = np.where(seen, s, -math.inf)
    m = s.max(axis=-1, keepdims=True, initial=-math.inf)
    p = np.exp(s - np.where(np.isneginf(m), 0, m))
    total = p.sum(axis=-1)
    empty = total == 0
    safe = np.where(empty, 1, total)
    o = weighted(p, v, seen) / safe[..., None]
    return Partial(o, np.where(empty, -math.inf, m[..., 0] + np.log(safe)))


def _seen(opt: Any, T_q: int, T_k: int) -> Any:
    """Booleans that broadcast to [B, h, T_q, T_k], written out pair by pair and not through
    `options.visible`.
    """
    import numpy as np

    i = np.arange(T_q)[:, None] + opt.offset
    j = np.arange(T_k)[None, :]
    seen = np.ones((1, 1, T_q, T_k), dtype=bool)
    if opt.causal:
        seen = seen & (j <= i)
    if opt.window is not None:
        seen = seen & ((i - j < opt.window) | (j < opt.sinks))
    if opt.lengths is not None:
        seen = seen & (j < np.asarray(opt.lengths)[:, None, None, None])
    if opt.mask is not None:
        seen = seen & np.asarray(opt.mask)
    return seen
