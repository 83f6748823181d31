"""Triton kernels for decoding: the keys of a cache cut into splits, attended apart and merged (split-K).

Imported only by `triton_backend`. The query heads that share a KV head are the rows of one product, so each cached
number is read once. A paged cache differs in one line: where a token lies.
"""

# Triton compiles these functions from their source and knows no annotation but its own.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: E741, ARG001
from __future__ import annotations

import triton
import triton.language as tl

from solvers.simulate.triton_kernels import LN2, _scores


@triton.jit
def decode_split(Q, K, V, O, LSE, N, TABLE, scale, soft_cap,
                 q_b, q_h, k_b, k_h, k_t, v_b, v_h, v_t, table_b, T, H_kv, group, splits, size_class,
                 D: tl.constexpr, BLOCK_D: tl.constexpr, D_V: tl.constexpr, BLOCK_V: tl.constexpr,
                 BLOCK_G: tl.constexpr, LENGTHS: tl.constexpr, PAGE: tl.constexpr, CAP: tl.constexpr,
                 WIDEN: tl.constexpr, BLOCK_K: tl.constexpr):  # fmt: skip
    """One split of one KV head. Grid: (B·H_kv, splits).

    Q [B, h, D] by strides. K, V: [B, H_kv, T, ·], or with PAGE > 0 pages [n, H_kv, PAGE, ·] (k_b is a page's stride).
    Writes o [B, h, splits, D_V] in float32 and the base-2 lse [B, h, splits]; (0, −inf) where a split is empty.
    """
    pair = tl.program_id(0)
    split = tl.program_id(1)
    b = (pair // H_kv).to(tl.int64)
    kv = (pair % H_kv).to(tl.int64)
    K += kv * k_h
    V += kv * v_h
    if PAGE == 0:
        K += b * k_b
        V += b * v_b
    live = T
    if LENGTHS:
        live = tl.load(N + b)
    tiles = (live + BLOCK_K - 1) // BLOCK_K
    first = (tiles * split // splits) * BLOCK_K
    stop = tl.minimum((tiles * (split + 1) // splits) * BLOCK_K, live)
    member = tl.arange(0, BLOCK_G)
    at_d = tl.arange(0, BLOCK_D)
    at_v = tl.arange(0, BLOCK_V)
    heads = kv * group + member
    q = tl.load(Q + b * q_b + heads[:, None] * q_h + at_d[None, :],
                mask=(member[:, None] < group) & (at_d[None, :] < D), other=0.0)  # fmt: skip
    if WIDEN:
        q = q.to(tl.float32)
    m = tl.full([BLOCK_G], float("-inf"), tl.float32)
    l = tl.zeros([BLOCK_G], tl.float32)
    u = tl.zeros([BLOCK_G, BLOCK_V], tl.float32)
    for j in tl.range(first, stop, BLOCK_K):
        cols = j + tl.arange(0, BLOCK_K)
        here = cols < stop
        if PAGE > 0:
            block = tl.load(TABLE + b * table_b + cols // PAGE, mask=here, other=0).to(tl.int64)
            k_at = block * k_b + (cols % PAGE) * k_t
            v_at = block * v_b + (cols % PAGE) * v_t
        else:
            k_at = cols.to(tl.int64) * k_t
            v_at = cols.to(tl.int64) * v_t
        k = tl.load(K + k_at[:, None] + at_d[None, :], mask=here[:, None] & (at_d[None, :] < D), other=0.0)
        v = tl.load(V + v_at[:, None] + at_v[None, :], mask=here[:, None] & (at_v[None, :] < D_V), other=0.0)
        if WIDEN:
            k = k.to(tl.float32)
            v = v.to(tl.float32)
        s, c, _ = _scores(q, tl.trans(k), scale, soft_cap, CAP)
        s = tl.where(here[None, :], s, float("-inf"))
        top = tl.maximum(m, tl.max(s, 1) * c)  # finite: every tile of the loop holds a live key
        rescale = tl.exp2(m - top)
        p = tl.exp2(s * c - top[:, None])
        l = l * rescale + tl.sum(p, 1)
        u = tl.dot(p.to(v.dtype), v, u * rescale[:, None], input_precision="ieee")
        m = top
    empty = l == 0.0
    safe = tl.where(empty, 1.0, l)
    # Line of this head and split: ((b·h + head)·splits + split).
    line = (pair.to(tl.int64) * group + member) * splits + split
    tl.store(O + line[:, None] * D_V + at_v[None, :], u / safe[:, None],
             mask=(member[:, None] < group) & (at_v[None, :] < D_V))  # fmt: skip
    tl.store(LSE + line, tl.where(empty, float("-inf"), m + tl.log2(safe)), mask=member < group)


@triton.jit
def decode_merge(PART, PART_LSE, O, LSE, splits, D_V: tl.constexpr, BLOCK_V: tl.constexpr,
                 BLOCK_S: tl.constexpr):  # fmt: skip
    """Merge the splits of one head: o = Σ e^{lse_i − lse}·o_i. Grid: (B·h,). lse leaves in base e."""
    head = tl.program_id(0).to(tl.int64)
    part = tl.arange(0, BLOCK_S)
    at = tl.arange(0, BLOCK_V)
    lse = tl.load(PART_LSE + head * splits + part, mask=part < splits, other=float("-inf"))
    top = tl.max(lse, 0)
    base = tl.where(top == float("-inf"), 0.0, top)
    weight = tl.exp2(lse - base)
    total = tl.sum(weight, 0)
    safe = tl.where(total == 0.0, 1.0, total)
    o = tl.load(PART + (head * splits + part[:, None]) * D_V + at[None, :],
                mask=(part[:, None] < splits) & (at[None, :] < D_V), other=0.0)  # fmt: skip
    out = tl.sum(o * weight[:, None], 0) / safe
    tl.store(O + head * D_V + at, out.to(O.dtype.element_ty), mask=at < D_V)
    tl.store(LSE + head, tl.where(total == 0.0, float("-inf"), (base + tl.log2(safe)) * LN2))
