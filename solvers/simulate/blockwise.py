"""Block-wise exact attention on numpy arrays or torch tensors: no T×T matrix, forward and backward.

One program for both libraries: the two agree on almost every name, and `Ops` holds what differs. Loops run
over one batch entry and KV head at a time; the query heads that share it are stacked as rows, so its keys
are read once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

from solvers.simulate.options import Options, Tile, key_tiles, visible
from solvers.simulate.state import clean, weighted

LEAN_ROWS = 64
"""Query rows of one KV head from which a copy of its keys pays for itself."""
TRUSTED = 1e6
"""Row sum of e^{s − base} over a tile up to which the base is kept; far from float32's largest number."""


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

    def quiet(self) -> Any:
        """A context in which numpy does not warn of NaN and overflow that are handled here."""
        return nullcontext() if self.torch else self.xp.errstate(invalid="ignore", over="ignore")

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

    def finite(self, x: Any) -> bool:
        """Whether no number of x is NaN or infinite, told from their sum: one pass and no copy.

        A finite x whose sum overflows is taken for a bad one, which only costs time.
        """
        return bool(self.xp.isfinite(self.xp.sum(x, dtype=self.dtype)))

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

    def row_sums(self, x: Any) -> Any:
        """Σ over the last axis of x [rows, n]."""
        # einsum adds along contiguous rows three times as fast as numpy's own reduction does.
        return x.sum(-1) if self.torch else self.xp.einsum("ij->i", x)


class _Head:
    """One batch entry and one KV head: its g·T_q query rows against its keys, tile by tile.

    `lean` heads keep kᵀ with a row of ones below it; a query then carries −(its base) as one more
    coordinate and the product gives s − base at no cost. Few rows, or a soft cap in between, are not worth
    or do not allow that.
    """

    def __init__(self, ops: Ops, opt: Options, q: Any, k: Any, b: int, kv: int, block: tuple[int, int]) -> None:
        self.ops, self.opt, self.b = ops, opt, b
        self.g = q.shape[1] // k.shape[1]
        self.heads = slice(kv * self.g, (kv + 1) * self.g)
        self.q = self.mine(q)
        self.T_q, self.d = q.shape[2:]
        self.keys = opt.keys_of(b, k.shape[2])
        self.k = k[b, kv]
        self.step = max(1, block[0] // self.g)
        self.block = block[1]
        self._scores = ops.empty((min(self.step, self.T_q) * self.g * min(self.block, max(1, self.keys)),))
        self.lean = opt.soft_cap is None and self.g * self.T_q >= LEAN_ROWS
        self._kT: Any = None
        if self.lean:
            self._kT = ops.empty((self.d + 1, self.keys))
            self._kT[: self.d] = self.k[: self.keys].T
            self._kT[self.d] = 1.0

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
        """Booleans [g·rows, keys], or None where every pair of the tile is visible."""
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
        if seen is None:
            return None
        n = tile.stop - tile.start
        return self.ops.xp.broadcast_to(seen, (self.g, i1 - i0, n)).reshape(-1, n)

    def scores(self, q: Any, base: Any, tile: Tile, seen: Any) -> Any:
        """s − base [g·rows, keys] of one tile in a reused buffer: scaled, capped, −inf where invisible.

        q: scaled queries [g·rows, d], or [g·rows, d + 1] carrying −base where the head is lean.
        """
        xp, n = self.ops.xp, tile.stop - tile.start
        s = self._scores[: len(q) * n].reshape(len(q), n)
        if self._kT is not None:
            xp.matmul(q, self._kT[:, tile.start : tile.stop], out=s)
        else:
            xp.matmul(q, self.ops.wide(self.k[tile.start : tile.stop]).T, out=s)
            if self.opt.soft_cap is not None:
                s /= self.opt.soft_cap
                xp.tanh(s, out=s)
                s *= self.opt.soft_cap
            s -= base[:, None]
        if seen is not None:
            self.ops.hide(s, seen)
        return s


def forward(q: Any, k: Any, v: Any, opt: Options, block: tuple[int, int]) -> tuple[Any, Any]:
    """o like q [B, h, T_q, d_v] and natural lse [B, h, T_q].

    Extra memory: one tile of scores, a few of outputs, and one head's kᵀ.
    """
    ops = Ops(q)
    o = ops.empty((*q.shape[:3], v.shape[3]), q.dtype)
    lse = ops.empty(tuple(q.shape[:3]))
    with ops.quiet():
        for b in range(q.shape[0]):
            for kv in range(k.shape[1]):
                head = _Head(ops, opt, q, k, b, kv, block)
                values = v[b, kv]
                sound = ops.finite(values[: head.keys])
                for i0, i1 in head.query_tiles():
                    rows = _Rows(head, i0, i1, values, sound)
                    for tile in head.tiles(i0, i1):
                        rows.visit(tile)
                    out, log = rows.finish()
                    o[b, head.heads, i0:i1] = ops.narrow(out.reshape(head.g, i1 - i0, -1), q)
                    lse[b, head.heads, i0:i1] = log.reshape(head.g, i1 - i0)
    return o, lse


class _Rows:
    """The running state of one tile of queries: base, ℓ and u of its g·rows rows.

    The base is the maximum, but only brought up to date when it must be. Any base gives the same ℓ·e^base and
    u·e^base; what counts is that no e^{s − base} overflows and that ℓ does not vanish. So a tile is tried
    on the base it finds, and its row sums, needed anyway, tell whether the maximum has risen too far: then
    the tile is done again on its true maximum. Rows without a key yet, and tiles with hidden pairs, always
    take that exact way.
    """

    def __init__(self, head: _Head, i0: int, i1: int, values: Any, sound: bool) -> None:
        self.head, self.i0, self.i1, self.values, self.sound = head, i0, i1, values, sound
        ops = self.ops = head.ops
        rows = head.rows(head.q, i0, i1)
        self.base, self.l = ops.full((len(rows),), 0.0), ops.full((len(rows),), 0.0)
        self.u = ops.full((len(rows), values.shape[-1]), 0.0)
        self.q = ops.full((len(rows), head.d + head.lean), 0.0)
        ops.xp.multiply(rows, head.opt.scale, out=self.q[:, : head.d])
        self.filled = False

    def visit(self, tile: Tile) -> None:
        """Take one tile of keys into the state."""
        xp = self.ops.xp
        seen = self.head.seen(self.i0, self.i1, tile)
        s = self.head.scores(self.q, self.base, tile, seen)
        if self.filled and seen is None:
            xp.exp(s, out=s)
            sums = self.ops.row_sums(s)
            if float(xp.amax(sums)) <= TRUSTED:
                self._add(s, sums, tile, None)
                return
            s = self.head.scores(self.q, self.base, tile, None)
        rise = xp.amax(s, -1)
        started = self.l > 0
        zero = xp.zeros_like(rise)
        rise = xp.where(rise == -math.inf, zero, xp.where(started, xp.maximum(rise, zero), rise))
        self.base += rise
        if self.head.lean:
            self.q[:, self.head.d] = -self.base
        rescale = xp.exp(-xp.maximum(rise, zero))
        self.l *= rescale
        self.u *= rescale[:, None]
        s -= rise[:, None]
        xp.exp(s, out=s)
        self._add(s, self.ops.row_sums(s), tile, seen)
        self.filled = bool((self.l > 0).all())

    def _add(self, p: Any, sums: Any, tile: Tile, seen: Any) -> None:
        self.l += sums
        v = self.ops.wide(self.values[tile.start : tile.stop])
        if self.sound:
            self.ops.add_product(self.u, p, v)
        else:
            self.u += weighted(p, v, seen)

    def finish(self) -> tuple[Any, Any]:
        """o = u/ℓ and lse = base + ln ℓ; (0, −inf) for rows that saw no key."""
        xp = self.ops.xp
        empty = self.l == 0
        safe = xp.where(empty, xp.ones_like(self.l), self.l)
        self.u /= safe[:, None]
        return self.u, xp.where(empty, xp.full_like(safe, -math.inf), self.base + xp.log(safe))


def backward(
    q: Any, k: Any, v: Any, o: Any, lse: Any, do: Any, opt: Options, block: tuple[int, int]
) -> tuple[Any, Any, Any]:
    """dq, dk, dv like q, k, v. Weights are recomputed from lse tile by tile, nothing T×T is kept (card 12)."""
    ops = Ops(q)
    dq, dk, dv = (ops.empty(tuple(x.shape), x.dtype) for x in (q, k, v))
    with ops.quiet():
        for b in range(q.shape[0]):
            for kv in range(k.shape[1]):
                head = _Head(ops, opt, q, k, b, kv, block)
                sums = ops.full(tuple(k.shape[2:]), 0.0), ops.full(tuple(v.shape[2:]), 0.0)
                sound = ops.finite(k[b, kv, : head.keys]) and ops.finite(v[b, kv, : head.keys])
                for i0, i1 in head.query_tiles():
                    grad = _backward_rows(head, i0, i1, (v[b, kv], o, lse, do), sums, sound)
                    dq[b, head.heads, i0:i1] = ops.narrow(grad.reshape(head.g, i1 - i0, -1), q)
                dk[b, kv], dv[b, kv] = ops.narrow(sums[0], k), ops.narrow(sums[1], v)
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
    empty = log == -math.inf
    base = xp.where(empty, xp.zeros_like(log), log)
    scaled = q * opt.scale
    if head.lean:
        scaled = ops.full((len(q), head.d + 1), 0.0)
        scaled[:, : head.d] = q * opt.scale
        scaled[:, head.d] = -base
    dq = ops.full(tuple(q.shape), 0.0)
    for tile in head.tiles(i0, i1):
        keys = slice(tile.start, tile.stop)
        seen = head.seen(i0, i1, tile)
        s = head.scores(scaled, base, tile, seen)
        p = xp.exp(s)
        ops.add_product(sums[1][keys], p.T, grad)
        ds = grad @ ops.wide(values[keys]).T
        ds -= delta[:, None]
        ds *= p
        if opt.soft_cap is not None:
            s += base[:, None]
            ds *= 1 - xp.where(s == -math.inf, xp.zeros_like(s), s / opt.soft_cap) ** 2
        if seen is not None and not sound:  # 0 · NaN of an invisible value
            ds = xp.where(seen, ds, xp.zeros_like(ds))
        ds *= opt.scale
        k = ops.wide(head.k[keys])
        ops.add_product(dq, ds, k if sound else clean(k)[0])
        ops.add_product(sums[0][keys], ds.T, q)
    return dq
