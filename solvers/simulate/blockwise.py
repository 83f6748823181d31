"""Block-wise exact attention on numpy arrays or torch tensors: no T×T matrix, forward and backward.

One program for both libraries: the two agree on almost every name, and `Ops` holds what differs. Loops run over one
batch entry and KV head at a time; the query heads that share it are stacked as rows, so its keys are read once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from solvers.simulate.options import Options, Tile, key_tiles, visible
from solvers.simulate.state import clean, weighted


class Ops:
    """What numpy and torch spell differently; made for the library, dtype and device of one array."""

    def __init__(self, like: Any) -> None:
        self.torch = type(like).__module__.partition(".")[0] == "torch"
        if self.torch:
            import torch

            self.xp: Any = torch
            self.dtype: Any = torch.float64 if like.dtype == torch.float64 else torch.float32
            self._place = {"device": like.device}
        else:
            import numpy as np

            self.xp = np
            self.dtype = np.dtype(np.float64 if like.dtype == np.float64 else np.float32)
            self._place = {}

    def full(self, shape: tuple[int, ...], value: float) -> Any:
        """An array of the accumulating dtype (float32, float64 for float64 inputs)."""
        return self.xp.full(shape, value, dtype=self.dtype, **self._place)

    def empty(self, shape: tuple[int, ...], dtype: Any = None) -> Any:
        return self.xp.empty(shape, dtype=dtype or self.dtype, **self._place)

    def arange(self, start: int, stop: int) -> Any:
        return self.xp.arange(start, stop, **self._place)

    def wide(self, x: Any) -> Any:
        """x in the accumulating dtype, itself where it already is."""
        return x.to(self.dtype) if self.torch else x.astype(self.dtype, copy=False)

    def narrow(self, x: Any, like: Any) -> Any:
        """x in the dtype of `like`."""
        return x.to(like.dtype) if self.torch else x.astype(like.dtype, copy=False)

    def hide(self, scores: Any, seen: Any) -> None:
        """Set invisible scores to −inf in place; seen broadcasts to scores."""
        if self.torch:
            scores.masked_fill_(~seen, -math.inf)
        else:
            self.xp.copyto(scores, -math.inf, where=~seen)

    def add_product(self, total: Any, a: Any, b: Any) -> None:
        """total += a @ b in place."""
        if self.torch:
            self.xp.addmm(total, a, b, out=total)
        else:
            total += a @ b


class _Head:
    """One batch entry and one KV head: its g·T_q query rows against its keys, tile by tile."""

    def __init__(
        self, ops: Ops, opt: Options, q: Any, k: Any, b: int, kv: int, block: tuple[int, int]
    ) -> None:
        self.ops, self.opt, self.b = ops, opt, b
        self.g = q.shape[1] // k.shape[1]
        self.heads = slice(kv * self.g, (kv + 1) * self.g)
        self.q = self.mine(q)
        self.T_q = q.shape[2]
        self.keys = opt.keys_of(b, k.shape[2])
        self.k = k[b, kv]
        self.step = max(1, block[0] // self.g)
        self.block = block[1]
        self._scores = ops.empty((min(self.step, self.T_q) * self.g * min(self.block, max(1, self.keys)),))

    def query_tiles(self) -> Iterator[tuple[int, int]]:
        for i0 in range(0, self.T_q, self.step):
            yield i0, min(i0 + self.step, self.T_q)

    def mine(self, x: Any) -> Any:
        """This batch entry's and group's part of x [B, h, T_q, …]: [g, T_q, …]."""
        return x[self.b, self.heads]

    def rows(self, x: Any, i0: int, i1: int) -> Any:
        """Rows i0..i1 of x [g, T_q, n], as [g·rows, n] in the accumulating dtype."""
        return self.ops.wide(x[:, i0:i1].reshape(-1, x.shape[-1]))

    def tiles(self, i0: int, i1: int) -> Iterator[Tile]:
        return key_tiles(self.opt, i0, i1, self.keys, self.block)

    def seen(self, i0: int, i1: int, tile: Tile) -> Any:
        """Booleans that broadcast to [g, rows, keys], or None where every pair of the tile is visible."""
        seen = None
        if tile.partial:
            seen = visible(self.opt, self.ops.arange(i0, i1), self.ops.arange(tile.start, tile.stop))[None]
        if self.opt.mask is not None:
            mask = self.opt.mask
            part = mask[self.b if mask.shape[0] > 1 else 0]
            part = part[self.heads] if mask.shape[1] > 1 else part
            part = part[:, i0:i1] if mask.shape[2] > 1 else part
            part = part[:, :, tile.start : tile.stop] if mask.shape[3] > 1 else part
            seen = part if seen is None else seen & part
        return seen

    def scores(self, scaled_q: Any, tile: Tile, seen: Any) -> Any:
        """s [g·rows, keys] of one tile in a reused buffer, capped, −inf where invisible."""
        xp, n = self.ops.xp, tile.stop - tile.start
        s = self._scores[: len(scaled_q) * n].reshape(len(scaled_q), n)
        xp.matmul(scaled_q, self.ops.wide(self.k[tile.start : tile.stop]).T, out=s)
        if self.opt.soft_cap is not None:
            s /= self.opt.soft_cap
            xp.tanh(s, out=s)
            s *= self.opt.soft_cap
        if seen is not None:
            self.ops.hide(s.reshape(self.g, -1, n), seen)
        return s

    def flat(self, seen: Any, rows: int, n: int) -> Any:
        """`seen` as [g·rows, n]."""
        return self.ops.xp.broadcast_to(seen, (self.g, rows, n)).reshape(-1, n)


def forward(q: Any, k: Any, v: Any, opt: Options, block: tuple[int, int]) -> tuple[Any, Any]:
    """o like q [B, h, T_q, d_v] and natural lse [B, h, T_q]; extra memory is one tile of scores and one of outputs."""
    ops = Ops(q)
    o = ops.empty((*q.shape[:3], v.shape[3]), q.dtype)
    lse = ops.empty(q.shape[:3])
    for b in range(q.shape[0]):
        for kv in range(k.shape[1]):
            head = _Head(ops, opt, q, k, b, kv, block)
            values = v[b, kv]
            sound = clean(values[: head.keys])[1] is None
            for i0, i1 in head.query_tiles():
                out, log = _attend(head, i0, i1, values, sound)
                shape = (head.g, i1 - i0)
                o[b, head.heads, i0:i1] = ops.narrow(out.reshape(*shape, -1), q)
                lse[b, head.heads, i0:i1] = log.reshape(shape)
    return o, lse


def _attend(head: _Head, i0: int, i1: int, values: Any, sound: bool) -> tuple[Any, Any]:
    """The recurrence over all key tiles of one tile of queries: (o, lse) of its g·rows rows."""
    ops, xp = head.ops, head.ops.xp
    q = head.rows(head.q, i0, i1) * head.opt.scale
    m, l = ops.full((len(q),), -math.inf), ops.full((len(q),), 0.0)  # noqa: E741
    u = ops.full((len(q), values.shape[-1]), 0.0)
    for tile in head.tiles(i0, i1):
        seen = head.seen(i0, i1, tile)
        s = head.scores(q, tile, seen)
        top = xp.maximum(m, xp.amax(s, -1))
        base = top if seen is None else xp.where(top == -math.inf, xp.zeros_like(top), top)
        rescale = xp.exp(m - base)
        xp.subtract(s, base[:, None], out=s)
        xp.exp(s, out=s)
        l *= rescale  # noqa: E741
        l += s.sum(-1)  # noqa: E741
        u *= rescale[:, None]
        v = ops.wide(values[tile.start : tile.stop])
        if sound:
            ops.add_product(u, s, v)
        else:
            u += weighted(s, v, None if seen is None else head.flat(seen, i1 - i0, s.shape[-1]))
        m = top
    empty = l == 0
    safe = xp.where(empty, xp.ones_like(l), l)
    u /= safe[:, None]
    return u, xp.where(empty, xp.full_like(l, -math.inf), m + xp.log(safe))


def backward(
    q: Any, k: Any, v: Any, o: Any, lse: Any, do: Any, opt: Options, block: tuple[int, int]
) -> tuple[Any, Any, Any]:
    """dq, dk, dv like q, k, v: weights are recomputed from lse tile by tile, nothing T×T is kept (card 12)."""
    ops = Ops(q)
    dq, dk, dv = (ops.empty(tuple(x.shape), x.dtype) for x in (q, k, v))
    for b in range(q.shape[0]):
        for kv in range(k.shape[1]):
            head = _Head(ops, opt, q, k, b, kv, block)
            sum_k, sum_v = ops.full(tuple(k.shape[2:]), 0.0), ops.full(tuple(v.shape[2:]), 0.0)
            sound = clean(k[b, kv, : head.keys])[1] is None and clean(v[b, kv, : head.keys])[1] is None
            for i0, i1 in head.query_tiles():
                grad = _backward_rows(head, i0, i1, (v[b, kv], o, lse, do), (sum_k, sum_v), sound)
                dq[b, head.heads, i0:i1] = ops.narrow(grad.reshape(head.g, i1 - i0, -1), q)
            dk[b, kv], dv[b, kv] = ops.narrow(sum_k, k), ops.narrow(sum_v, v)
    return dq, dk, dv


def _backward_rows(
    head: _Head, i0: int, i1: int, saved: tuple[Any, Any, Any, Any], sums: tuple[Any, Any], sound: bool
) -> Any:
    """dq [g·rows, d] of one tile of queries; adds its share to the sums for dk and dv."""
    ops, xp, opt = head.ops, head.ops.xp, head.opt
    values, o, lse, do = saved
    q = head.rows(head.q, i0, i1)
    grad = head.rows(head.mine(do), i0, i1)
    delta = (grad * head.rows(head.mine(o), i0, i1)).sum(-1)  # rowsum(dO ∘ O) = rowsum(P ∘ dP), card 5
    log = head.mine(lse)[:, i0:i1].reshape(-1)
    log = xp.where(
        log == -math.inf, xp.full_like(log, math.inf), log
    )  # a row that saw nothing: every weight is 0
    dq = ops.full(tuple(q.shape), 0.0)
    for tile in head.tiles(i0, i1):
        keys = slice(tile.start, tile.stop)
        seen = head.seen(i0, i1, tile)
        s = head.scores(q * opt.scale, tile, seen)
        p = xp.exp(s - log[:, None])
        v = ops.wide(values[keys])
        ops.add_product(sums[1][keys], p.T, grad)
        ds = p * (grad @ v.T - delta[:, None])
        if opt.soft_cap is not None:
            ds *= 1 - xp.where(s == -math.inf, xp.zeros_like(s), s / opt.soft_cap) ** 2
        if seen is not None and not sound:  # 0 · NaN of an invisible value
            ds = xp.where(head.flat(seen, i1 - i0, s.shape[-1]), ds, xp.zeros_like(ds))
        ds *= opt.scale
        wide_k = ops.wide(head.k[keys])
        ops.add_product(dq, ds, wide_k if sound else clean(wide_k)[0])
        ops.add_product(sums[0][keys], ds.T, q)
    return dq
