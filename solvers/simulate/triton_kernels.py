"""Triton kernels: attention forward and backward without a T×T matrix.

Imported only by `triton_backend`. Inputs are 16- or 32-bit, sums are float32; scores are kept in base 2 (exp2 is the
hardware's exponential) and lse leaves in base e. Triton reads TRITON_INTERPRET when these functions are decorated.

Pointers: q, o, do [B, h, T_q, ·], k, v [B, H_kv, T_k, ·] by strides (the last axis is contiguous); lse and delta are
contiguous [B, h, T_q]. Tile shapes are powers of two; widths that are none are padded by masked loads.
"""

# Triton compiles these functions from their source and knows no annotation but its own.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: E741, ARG001
from __future__ import annotations

import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)
LN2 = tl.constexpr(0.6931471805599453)


@triton.jit
def _rows(X, index, stride, limit, WIDTH: tl.constexpr, PADDED: tl.constexpr,
          CHECK: tl.constexpr, WIDEN: tl.constexpr):  # fmt: skip
    """Rows `index` of X as [len(index), PADDED]; 0 beyond the limit (where CHECKed) and beyond WIDTH."""
    at = tl.arange(0, PADDED)
    pointers = X + index[:, None] * stride + at[None, :]
    if CHECK and WIDTH != PADDED:
        x = tl.load(pointers, mask=(index[:, None] < limit) & (at[None, :] < WIDTH), other=0.0)
    elif CHECK:
        x = tl.load(pointers, mask=index[:, None] < limit, other=0.0)
    elif WIDTH != PADDED:
        x = tl.load(pointers, mask=at[None, :] < WIDTH, other=0.0)
    else:
        x = tl.load(pointers)
    if WIDEN:
        x = x.to(tl.float32)
    return x


@triton.jit
def _finite(x):
    """Whether each number is neither NaN nor infinite."""
    return tl.abs(x.to(tl.float32)) < float("inf")


@triton.jit
def _tanh(x):
    """tanh from one exponential that cannot overflow."""
    t = tl.exp2(tl.abs(x) * (-2.0 * LOG2E))
    size = (1.0 - t) / (1.0 + t)
    return tl.where(x < 0, -size, size)


@triton.jit
def _scores(q, kT, scale, soft_cap, CAP: tl.constexpr):
    """(s, c, t): s·c are the tile's base-2 scores, t the tanh of a soft cap (s itself without one).

    The factor c > 0 is left to the caller, who folds it into the exponent's multiply-add.
    """
    s = tl.dot(q, kT, input_precision="ieee")
    if CAP:
        t = _tanh(s * (scale / soft_cap))
        s = t
        c = soft_cap * LOG2E
    else:
        t = s
        c = scale * LOG2E
    return s, c, t


@triton.jit
def _seen(rows, cols, keys, offset, window, sinks, M, mask_q, mask_k,
          T_q, CAUSAL: tl.constexpr, WINDOW: tl.constexpr, MASK: tl.constexpr):  # fmt: skip
    """Which pairs of a tile are visible; rows and cols are indices shaped to broadcast against each other."""
    seen = (cols < keys) & (rows < T_q)
    if CAUSAL:
        seen = seen & (cols <= rows + offset)
    if WINDOW:
        seen = seen & ((cols > rows + offset - window) | (cols < sinks))
    if MASK:
        seen = seen & (tl.load(M + rows * mask_q + cols * mask_k, mask=seen, other=0) != 0)
    return seen


@triton.jit
def _bounds(i0, keys, offset, window, sinks, BLOCK_Q: tl.constexpr,
            BLOCK_K: tl.constexpr, CAUSAL: tl.constexpr, WINDOW: tl.constexpr, MASK: tl.constexpr):  # fmt: skip
    """Key stretches of a tile of queries: [0, sink) and [low, full) checked, [full, rest) unchecked, [rest, stop)
    checked.

    low, full and rest are multiples of BLOCK_K; between full and rest every pair of the tile is visible.
    """
    stop = keys
    rest = keys
    low = 0
    full = 0
    if CAUSAL:
        stop = tl.maximum(tl.minimum(keys, i0 + BLOCK_Q + offset), 0)
        rest = tl.maximum(tl.minimum(keys, i0 + offset + 1), 0)
    if WINDOW:
        low = tl.maximum(i0 + offset - window + 1, 0)
        full = tl.maximum(i0 + BLOCK_Q + offset - window, 0)
    low = tl.minimum(low // BLOCK_K * BLOCK_K, (stop + BLOCK_K - 1) // BLOCK_K * BLOCK_K)
    full = tl.maximum((full + BLOCK_K - 1) // BLOCK_K * BLOCK_K, low)
    rest = rest // BLOCK_K * BLOCK_K
    if MASK:
        rest = full
    # Without an unchecked middle, one checked stretch covers everything from low.
    middle = rest > full
    full = tl.where(middle, full, low)
    rest = tl.where(middle, rest, low)
    sink = 0
    if WINDOW:
        sink = tl.minimum(tl.minimum(sinks, low), stop)
    return sink, low, full, rest, stop


@triton.jit
def _absorb(u, l, m, q, K, V, j0, k_t, v_t, scale, soft_cap,
            rows, keys, offset, window, sinks, M, mask_q, mask_k, T_q,
            D: tl.constexpr, BLOCK_D: tl.constexpr, D_V: tl.constexpr, BLOCK_V: tl.constexpr, BLOCK_K: tl.constexpr,
            CAUSAL: tl.constexpr, WINDOW: tl.constexpr, MASK: tl.constexpr, CAP: tl.constexpr, WIDEN: tl.constexpr,
            CHECK: tl.constexpr):  # fmt: skip
    """One step of the recurrence: the state (u, l, m) after the tile of keys that starts at j0."""
    cols = j0 + tl.arange(0, BLOCK_K)
    k = _rows(K, cols, k_t, keys, D, BLOCK_D, CHECK, WIDEN)
    s, c, _ = _scores(q, tl.trans(k), scale, soft_cap, CAP)
    v = _rows(V, cols, v_t, keys, D_V, BLOCK_V, CHECK, WIDEN)
    if CHECK:
        seen = _seen(rows[:, None], cols[None, :], keys, offset, window, sinks, M, mask_q, mask_k, T_q,
                     CAUSAL, WINDOW, MASK)  # fmt: skip
        s = tl.where(seen, s, float("-inf"))
        # 0 · NaN: a bad value is taken out of the product, and only rows that see it become NaN.
        sound = _finite(v)
        bad = tl.max(tl.where(sound, 0, 1), 1)
        v = tl.where(sound, v, 0.0).to(v.dtype)
        hit = tl.max(tl.where(seen, bad[None, :], 0), 1)
        u = tl.where(hit[:, None] > 0, float("nan"), u)
    top = tl.maximum(m, tl.max(s, 1) * c)
    base = top
    if CHECK:
        base = tl.where(top == float("-inf"), 0.0, top)
    rescale = tl.exp2(m - base)
    p = tl.exp2(s * c - base[:, None])
    l = l * rescale + tl.sum(p, 1)
    u = u * rescale[:, None]
    u = tl.dot(p.to(v.dtype), v, u, input_precision="ieee")
    return u, l, top


@triton.jit
def attend_forward(Q, K, V, O, LSE, M, N, scale, soft_cap,
                   q_b, q_h, q_t, k_b, k_h, k_t, v_b, v_h, v_t, o_b, o_h, o_t, mask_b, mask_h, mask_q, mask_k,
                   h, group, T_q, T_k, window, sinks, size_class,
                   D: tl.constexpr, BLOCK_D: tl.constexpr, D_V: tl.constexpr, BLOCK_V: tl.constexpr,
                   CAUSAL: tl.constexpr, WINDOW: tl.constexpr, LENGTHS: tl.constexpr, MASK: tl.constexpr,
                   CAP: tl.constexpr, WIDEN: tl.constexpr,
                   BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr):  # fmt: skip
    """o and lse of one tile of queries of one head. Grid: (⌈T_q/BLOCK_Q⌉, B·h)."""
    tile = tl.program_id(0)
    if CAUSAL:
        tile = tl.num_programs(0) - 1 - tile  # the longest rows first, so that no long one starts last
    head = tl.program_id(1)
    b = (head // h).to(tl.int64)
    n = (head % h).to(tl.int64)
    Q += b * q_b + n * q_h
    K += b * k_b + (n // group) * k_h
    V += b * v_b + (n // group) * v_h
    O += b * o_b + n * o_h
    M += b * mask_b + n * mask_h
    keys = T_k
    if LENGTHS:
        keys = tl.load(N + b)
    offset = T_k - T_q
    i0 = tile * BLOCK_Q
    rows = i0 + tl.arange(0, BLOCK_Q)
    q = _rows(Q, rows, q_t, T_q, D, BLOCK_D, True, WIDEN)
    m = tl.full([BLOCK_Q], float("-inf"), tl.float32)
    l = tl.zeros([BLOCK_Q], tl.float32)
    u = tl.zeros([BLOCK_Q, BLOCK_V], tl.float32)
    sink, low, full, rest, stop = _bounds(i0, keys, offset, window, sinks, BLOCK_Q, BLOCK_K, CAUSAL, WINDOW, MASK)
    if WINDOW:
        for j in tl.range(0, sink, BLOCK_K):
            u, l, m = _absorb(u, l, m, q, K, V, j, k_t, v_t, scale, soft_cap, rows, tl.minimum(keys, low), offset,
                              window, sinks, M, mask_q, mask_k, T_q, D, BLOCK_D, D_V, BLOCK_V, BLOCK_K,
                              CAUSAL, WINDOW, MASK, CAP, WIDEN, True)  # fmt: skip
        for j in tl.range(low, full, BLOCK_K):
            u, l, m = _absorb(u, l, m, q, K, V, j, k_t, v_t, scale, soft_cap, rows, keys, offset,
                              window, sinks, M, mask_q, mask_k, T_q, D, BLOCK_D, D_V, BLOCK_V, BLOCK_K,
                              CAUSAL, WINDOW, MASK, CAP, WIDEN, True)  # fmt: skip
    if not MASK:
        for j in tl.range(full, rest, BLOCK_K):
            u, l, m = _absorb(u, l, m, q, K, V, j, k_t, v_t, scale, soft_cap, rows, keys, offset,
                              window, sinks, M, mask_q, mask_k, T_q, D, BLOCK_D, D_V, BLOCK_V, BLOCK_K,
                              CAUSAL, WINDOW, MASK, CAP, WIDEN, False)  # fmt: skip
    for j in tl.range(rest, stop, BLOCK_K):
        u, l, m = _absorb(u, l, m, q, K, V, j, k_t, v_t, scale, soft_cap, rows, keys, offset,
                          window, sinks, M, mask_q, mask_k, T_q, D, BLOCK_D, D_V, BLOCK_V, BLOCK_K,
                          CAUSAL, WINDOW, MASK, CAP, WIDEN, True)  # fmt: skip
    empty = l == 0.0
    safe = tl.where(empty, 1.0, l)
    out = u / safe[:, None]
    wide = tl.arange(0, BLOCK_V)
    tl.store(O + rows[:, None] * o_t + wide[None, :], out.to(O.dtype.element_ty),
             mask=(rows[:, None] < T_q) & (wide[None, :] < D_V))  # fmt: skip
    lse = tl.where(empty, float("-inf"), (m + tl.log2(safe)) * LN2)
    tl.store(LSE + head.to(tl.int64) * T_q + rows, lse, mask=rows < T_q)


@triton.jit
def attend_delta(O, DO, DELTA, o_b, o_h, o_t, g_b, g_h, g_t, h, T_q,
                 D_V: tl.constexpr, BLOCK_V: tl.constexpr, BLOCK_Q: tl.constexpr):  # fmt: skip
    """delta = rowsum(dO ∘ O), which equals rowsum(P ∘ dP) (card 5). Grid: (⌈T_q/BLOCK_Q⌉, B·h)."""
    head = tl.program_id(1)
    b = (head // h).to(tl.int64)
    n = (head % h).to(tl.int64)
    rows = tl.program_id(0) * BLOCK_Q + tl.arange(0, BLOCK_Q)
    o = _rows(O + b * o_b + n * o_h, rows, o_t, T_q, D_V, BLOCK_V, True, True)
    g = _rows(DO + b * g_b + n * g_h, rows, g_t, T_q, D_V, BLOCK_V, True, True)
    tl.store(DELTA + head.to(tl.int64) * T_q + rows, tl.sum(o * g, 1), mask=rows < T_q)


@triton.jit
def _keys_grad(dk, dv, k, v, Q, G, L, DELTA, i0, q_t, g_t,
               scale, soft_cap, cols, keys, offset, window, sinks, M,
               mask_q, mask_k, T_q, D: tl.constexpr, BLOCK_D: tl.constexpr, D_V: tl.constexpr,
               BLOCK_V: tl.constexpr, BLOCK_Q: tl.constexpr, CAUSAL: tl.constexpr, WINDOW: tl.constexpr,
               MASK: tl.constexpr, CAP: tl.constexpr, WIDEN: tl.constexpr, EVEN: tl.constexpr,
               CHECK: tl.constexpr):  # fmt: skip
    """dk and dv of a tile of keys after one more tile of queries; everything transposed: [keys, queries]."""
    rows = i0 + tl.arange(0, BLOCK_Q)
    q = _rows(Q, rows, q_t, T_q, D, BLOCK_D, not EVEN, WIDEN)
    g = _rows(G, rows, g_t, T_q, D_V, BLOCK_V, not EVEN, WIDEN)
    if EVEN:
        lse = tl.load(L + rows) * LOG2E
        delta = tl.load(DELTA + rows)
    else:
        lse = tl.load(L + rows, mask=rows < T_q, other=float("inf")) * LOG2E
        delta = tl.load(DELTA + rows, mask=rows < T_q, other=0.0)
    if CHECK or not EVEN:
        lse = tl.where(lse == float("-inf"), float("inf"), lse)  # a row that saw nothing gives every key weight 0
    s, c, t = _scores(k, tl.trans(q), scale, soft_cap, CAP)
    p = tl.exp2(s * c - lse[None, :])
    if CHECK:
        seen = _seen(rows[None, :], cols[:, None], keys, offset, window, sinks, M, mask_q, mask_k, T_q,
                     CAUSAL, WINDOW, MASK)  # fmt: skip
        p = tl.where(seen, p, 0.0)
    dv = tl.dot(p.to(g.dtype), g, dv, input_precision="ieee")
    ds = p * (tl.dot(v, tl.trans(g), input_precision="ieee") - delta[None, :])
    if CAP:
        ds = ds * (1.0 - t * t)
    if CHECK:
        ds = tl.where(seen, ds, 0.0)
    dk = tl.dot(ds.to(q.dtype), q, dk, input_precision="ieee")
    return dk, dv


@triton.jit
def attend_backward_keys(Q, K, V, G, LSE, DELTA, DK, DV, M, N, scale, soft_cap,
                         q_b, q_h, q_t, k_b, k_h, k_t, v_b, v_h, v_t, g_b, g_h, g_t, mask_b, mask_h, mask_q, mask_k,
                         h, group, T_q, T_k, window, sinks, size_class,
                         D: tl.constexpr, BLOCK_D: tl.constexpr, D_V: tl.constexpr, BLOCK_V: tl.constexpr,
                         CAUSAL: tl.constexpr, WINDOW: tl.constexpr, LENGTHS: tl.constexpr, MASK: tl.constexpr,
                         CAP: tl.constexpr, WIDEN: tl.constexpr, EVEN: tl.constexpr,
                         BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr):  # fmt: skip
    """dk and dv (contiguous) of one tile of keys of one KV head, over its group's heads. Grid: (⌈T_k/BLOCK_K⌉,
    B·H_kv).
    """
    pair = tl.program_id(1)
    H_kv = h // group
    b = (pair // H_kv).to(tl.int64)
    kv = (pair % H_kv).to(tl.int64)
    K += b * k_b + kv * k_h
    V += b * v_b + kv * v_h
    keys = T_k
    if LENGTHS:
        keys = tl.load(N + b)
    offset = T_k - T_q
    j0 = tl.program_id(0) * BLOCK_K
    cols = j0 + tl.arange(0, BLOCK_K)
    k = _rows(K, cols, k_t, keys, D, BLOCK_D, True, WIDEN)
    v = _rows(V, cols, v_t, keys, D_V, BLOCK_V, True, WIDEN)
    dk = tl.zeros([BLOCK_K, BLOCK_D], tl.float32)
    dv = tl.zeros([BLOCK_K, BLOCK_V], tl.float32)
    # Queries before `low` see none of these keys; from `full` on they see all of them.
    low = 0
    full = 0
    stop = T_q
    if CAUSAL:
        low = tl.maximum(j0 - offset, 0) // BLOCK_Q * BLOCK_Q
        full = tl.minimum((tl.maximum(j0 + BLOCK_K - 1 - offset, 0) + BLOCK_Q - 1) // BLOCK_Q * BLOCK_Q, T_q)
    if WINDOW:
        stop = tl.where(j0 < sinks, T_q, tl.minimum(T_q, tl.maximum(j0 + BLOCK_K - 1 + window - offset, 0)))
    if WINDOW or MASK:
        full = stop
    # One loop over (head of the group, tile of queries) pairs: a nest of two would keep more in registers.
    if CAUSAL or MASK:
        tiles = (full - low + BLOCK_Q - 1) // BLOCK_Q
        for step in tl.range(0, group * tiles):
            n = kv * group + step // tiles
            row = (b * h + n) * T_q
            dk, dv = _keys_grad(dk, dv, k, v, Q + b * q_b + n * q_h, G + b * g_b + n * g_h, LSE + row, DELTA + row,
                                low + step % tiles * BLOCK_Q, q_t, g_t, scale, soft_cap, cols, keys, offset, window,
                                sinks, M + b * mask_b + n * mask_h, mask_q, mask_k, T_q, D, BLOCK_D, D_V, BLOCK_V,
                                BLOCK_Q, CAUSAL, WINDOW, MASK, CAP, WIDEN, EVEN, True)  # fmt: skip
    if not (WINDOW or MASK):
        tiles = (stop - full + BLOCK_Q - 1) // BLOCK_Q
        for step in tl.range(0, group * tiles):
            n = kv * group + step // tiles
            row = (b * h + n) * T_q
            dk, dv = _keys_grad(dk, dv, k, v, Q + b * q_b + n * q_h, G + b * g_b + n * g_h, LSE + row, DELTA + row,
                                full + step % tiles * BLOCK_Q, q_t, g_t, scale, soft_cap, cols, keys, offset, window,
                                sinks, M, mask_q, mask_k, T_q, D, BLOCK_D, D_V, BLOCK_V, BLOCK_Q, CAUSAL, WINDOW,
                                MASK, CAP, WIDEN, EVEN, False)  # fmt: skip
    live = cols[:, None] < keys  # padding gets gradient 0
    at_d = tl.arange(0, BLOCK_D)
    at_v = tl.arange(0, BLOCK_V)
    line = pair.to(tl.int64) * T_k
    tl.store(DK + (line + cols[:, None]) * D + at_d[None, :],
             tl.where(live, dk * scale, 0.0).to(DK.dtype.element_ty),
             mask=(cols[:, None] < T_k) & (at_d[None, :] < D))  # fmt: skip
    tl.store(DV + (line + cols[:, None]) * D_V + at_v[None, :],
             tl.where(live, dv, 0.0).to(DV.dtype.element_ty),
             mask=(cols[:, None] < T_k) & (at_v[None, :] < D_V))  # fmt: skip


@triton.jit
def _query_grad(dq, q, g, lse, delta, K, V, j0, k_t, v_t,
                scale, soft_cap, rows, keys, offset, window, sinks, M,
                mask_q, mask_k, T_q, D: tl.constexpr, BLOCK_D: tl.constexpr, D_V: tl.constexpr,
                BLOCK_V: tl.constexpr, BLOCK_K: tl.constexpr, CAUSAL: tl.constexpr, WINDOW: tl.constexpr,
                MASK: tl.constexpr, CAP: tl.constexpr, WIDEN: tl.constexpr, CHECK: tl.constexpr):  # fmt: skip
    """dq of a tile of queries after one more tile of keys."""
    cols = j0 + tl.arange(0, BLOCK_K)
    k = _rows(K, cols, k_t, keys, D, BLOCK_D, CHECK, WIDEN)
    v = _rows(V, cols, v_t, keys, D_V, BLOCK_V, CHECK, WIDEN)
    s, c, t = _scores(q, tl.trans(k), scale, soft_cap, CAP)
    p = tl.exp2(s * c - lse[:, None])
    ds = p * (tl.dot(g, tl.trans(v), input_precision="ieee") - delta[:, None])
    if CAP:
        ds = ds * (1.0 - t * t)
    if CHECK:
        seen = _seen(rows[:, None], cols[None, :], keys, offset, window, sinks, M, mask_q, mask_k, T_q,
                     CAUSAL, WINDOW, MASK)  # fmt: skip
        ds = tl.where(seen, ds, 0.0)
        k = tl.where(_finite(k), k, 0.0).to(k.dtype)
    return tl.dot(ds.to(k.dtype), k, dq, input_precision="ieee")


@triton.jit
def attend_backward_queries(Q, K, V, G, LSE, DELTA, DQ, M, N, scale, soft_cap,
                            q_b, q_h, q_t, k_b, k_h, k_t, v_b, v_h, v_t, g_b, g_h, g_t,
                            mask_b, mask_h, mask_q, mask_k, h, group, T_q, T_k, window, sinks, size_class,
                            D: tl.constexpr, BLOCK_D: tl.constexpr, D_V: tl.constexpr, BLOCK_V: tl.constexpr,
                            CAUSAL: tl.constexpr, WINDOW: tl.constexpr, LENGTHS: tl.constexpr, MASK: tl.constexpr,
                            CAP: tl.constexpr, WIDEN: tl.constexpr,
                            BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr):  # fmt: skip
    """dq (contiguous) of one tile of queries of one head. Grid: (⌈T_q/BLOCK_Q⌉, B·h)."""
    tile = tl.program_id(0)
    if CAUSAL:
        tile = tl.num_programs(0) - 1 - tile
    head = tl.program_id(1)
    b = (head // h).to(tl.int64)
    n = (head % h).to(tl.int64)
    K += b * k_b + (n // group) * k_h
    V += b * v_b + (n // group) * v_h
    M += b * mask_b + n * mask_h
    line = head.to(tl.int64) * T_q
    keys = T_k
    if LENGTHS:
        keys = tl.load(N + b)
    offset = T_k - T_q
    i0 = tile * BLOCK_Q
    rows = i0 + tl.arange(0, BLOCK_Q)
    q = _rows(Q + b * q_b + n * q_h, rows, q_t, T_q, D, BLOCK_D, True, WIDEN)
    g = _rows(G + b * g_b + n * g_h, rows, g_t, T_q, D_V, BLOCK_V, True, WIDEN)
    lse = tl.load(LSE + line + rows, mask=rows < T_q, other=float("inf")) * LOG2E
    lse = tl.where(lse == float("-inf"), float("inf"), lse)
    delta = tl.load(DELTA + line + rows, mask=rows < T_q, other=0.0)
    dq = tl.zeros([BLOCK_Q, BLOCK_D], tl.float32)
    sink, low, full, rest, stop = _bounds(i0, keys, offset, window, sinks, BLOCK_Q, BLOCK_K, CAUSAL, WINDOW, MASK)
    if WINDOW:
        for j in tl.range(0, sink, BLOCK_K):
            dq = _query_grad(dq, q, g, lse, delta, K, V, j, k_t, v_t, scale, soft_cap, rows, tl.minimum(keys, low),
                             offset, window, sinks, M, mask_q, mask_k, T_q, D, BLOCK_D, D_V, BLOCK_V, BLOCK_K,
                             CAUSAL, WINDOW, MASK, CAP, WIDEN, True)  # fmt: skip
        for j in tl.range(low, full, BLOCK_K):
            dq = _query_grad(dq, q, g, lse, delta, K, V, j, k_t, v_t, scale, soft_cap, rows, keys,
                             offset, window, sinks, M, mask_q, mask_k, T_q, D, BLOCK_D, D_V, BLOCK_V, BLOCK_K,
                             CAUSAL, WINDOW, MASK, CAP, WIDEN, True)  # fmt: skip
    if not MASK:
        for j in tl.range(full, rest, BLOCK_K):
            dq = _query_grad(dq, q, g, lse, delta, K, V, j, k_t, v_t, scale, soft_cap, rows, keys,
                             offset, window, sinks, M, mask_q, mask_k, T_q, D, BLOCK_D, D_V, BLOCK_V, BLOCK_K,
                             CAUSAL, WINDOW, MASK, CAP, WIDEN, False)  # fmt: skip
    for j in tl.range(rest, stop, BLOCK_K):
        dq = _query_grad(dq, q, g, lse, delta, K, V, j, k_t, v_t, scale, soft_cap, rows, keys,
                         offset, window, sinks, M, mask_q, mask_k, T_q, D, BLOCK_D, D_V, BLOCK_V, BLOCK_K,
                         CAUSAL, WINDOW, MASK, CAP, WIDEN, True)  # fmt: skip
    at = tl.arange(0, BLOCK_D)
    tl.store(DQ + (line + rows[:, None]) * D + at[None, :], (dq * scale).to(DQ.dtype.element_ty),
             mask=(rows[:, None] < T_q) & (at[None, :] < D))  # fmt: skip
