"""Launches the Triton kernels: checks what they can take, chooses tiles, lays out scratch memory.

On a GPU the tiles are autotuned per shape class. With TRITON_INTERPRET=1, set before this module is imported, the
kernels run in Triton's interpreter on CPU tensors: correct but about 10⁴ times slower, for tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import torch
import triton

from solvers.simulate import triton_decode, triton_kernels
from solvers.simulate.options import Options

INTERPRETED = bool(triton.knobs.runtime.interpret)
"""Whether the kernels were decorated for the interpreter; fixed at import."""

FUSED = {} if INTERPRETED else {"enable_fp_fusion": True}
"""Multiply-adds in one instruction, which Triton 3.10 no longer does unless asked."""

DTYPES = (torch.float16, torch.bfloat16, torch.float32)
TUNE_BY = ["size_class", "BLOCK_D", "BLOCK_V", "CAUSAL", "WINDOW", "MASK", "CAP"]
MAX_SPLITS = 128


def forward(q: Any, k: Any, v: Any, opt: Options, block: tuple[int, int] | None) -> tuple[torch.Tensor, torch.Tensor]:
    """o like q [B, h, T_q, d_v] and natural lse [B, h, T_q] in float32."""
    q, k, v, opt = _ready(q, k, v, opt)
    B, h, T_q, _ = q.shape
    o = torch.empty((B, h, T_q, v.shape[3]), dtype=q.dtype, device=q.device)
    lse = torch.empty((B, h, T_q), dtype=torch.float32, device=q.device)
    if T_q == 0 or B == 0:
        return o, lse
    mask, strides = _mask(opt, q)
    _launch(
        triton_kernels.attend_forward, block, lambda meta: (triton.cdiv(T_q, meta["BLOCK_Q"]), B * h),
        q, k, v, o, lse, mask, _lengths(opt.lengths, q), opt.scale, opt.soft_cap or 1.0,
        *_steps(q, k, v, o), *strides, *_sizes(q, k, opt), **_shape(q, v, opt),
    )  # fmt: skip
    return o, lse


def backward(
    q: Any, k: Any, v: Any, o: Any, lse: Any, do: Any, opt: Options, block: tuple[int, int] | None
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """dq, dk, dv like q, k, v."""
    sign = -1.0 if opt.scale < 0 else 1.0
    q, k, v, opt = _ready(q, k, v, opt)
    o, do, lse = _packed(o), _packed(do), lse.to(torch.float32).contiguous()
    B, h, T_q, _ = q.shape
    H_kv, T_k = k.shape[1:3]
    dq, dk, dv = (torch.empty(x.shape, dtype=x.dtype, device=x.device) for x in (q, k, v))
    if min(B, T_q, T_k) == 0:
        return dq.zero_(), dk.zero_(), dv.zero_()
    delta = torch.empty_like(lse)
    shape = _shape(q, v, opt)
    rows = 64
    triton_kernels.attend_delta[(triton.cdiv(T_q, rows), B * h)](
        o, do, delta, *_steps(o, do), h, T_q, D_V=shape["D_V"], BLOCK_V=shape["BLOCK_V"], BLOCK_Q=rows
    )
    mask, strides = _mask(opt, q)
    lengths, cap = _lengths(opt.lengths, q), opt.soft_cap or 1.0
    tail = (*_steps(q, k, v, do), *strides, *_sizes(q, k, opt))
    _launch(
        triton_kernels.attend_backward_keys, block,
        lambda meta: (triton.cdiv(T_k, meta["BLOCK_K"]), B * H_kv),
        q, k, v, do, lse, delta, dk, dv, mask, lengths, opt.scale, cap, *tail, **shape,
        EVEN=T_q % max(_power(block[0]) if block else 0, 128) == 0,
    )  # fmt: skip
    _launch(
        triton_kernels.attend_backward_queries, block,
        lambda meta: (triton.cdiv(T_q, meta["BLOCK_Q"]), B * h),
        q, k, v, do, lse, delta, dq, mask, lengths, opt.scale, cap, *tail, **shape,
    )  # fmt: skip
    return sign * dq if sign < 0 else dq, dk, dv


def decode(
    q: Any, k: Any, v: Any, lengths: Any, table: Any, splits: int | None, scale: float, soft_cap: float | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """o [B, h, d_v] in q's dtype and natural lse [B, h]; shapes as in `attention.decode_attention`."""
    _check(q, k, v)
    if scale <= 0:
        q, scale = (-q, -scale) if scale < 0 else (q * 0, 1.0)
    q, k, v = _packed(q), _packed(k), _packed(v)
    B, h, d = q.shape
    H_kv, room, d_v = k.shape[1], k.shape[2], v.shape[3]
    T = room if table is None else room * table.shape[1]
    block = 64 if INTERPRETED else None
    parts = min(splits or _splits(B * H_kv, T, q), MAX_SPLITS)
    part = torch.empty((B, h, parts, d_v), dtype=torch.float32, device=q.device)
    part_lse = torch.empty((B, h, parts), dtype=torch.float32, device=q.device)
    pages = q if table is None else table.to(torch.int32).contiguous()
    wide = triton.next_power_of_2(max(d_v, 16))
    _launch(
        triton_decode.decode_split, block, (B * H_kv, parts),
        q, k, v, part, part_lse, _lengths(lengths, q), pages, scale, soft_cap or 1.0,
        *q.stride()[:2], *k.stride()[:3], *v.stride()[:3], 0 if table is None else pages.stride(0),
        T, H_kv, h // H_kv, parts, max(T, 1).bit_length(),
        D=d, BLOCK_D=triton.next_power_of_2(max(d, 16)), D_V=d_v, BLOCK_V=wide,
        BLOCK_G=triton.next_power_of_2(max(h // H_kv, 16)), LENGTHS=lengths is not None,
        PAGE=0 if table is None else room, CAP=soft_cap is not None, WIDEN=_widen(q),
    )  # fmt: skip
    o = torch.empty((B, h, d_v), dtype=q.dtype, device=q.device)
    lse = torch.empty((B, h), dtype=torch.float32, device=q.device)
    triton_decode.decode_merge[(B * h,)](
        part, part_lse, o, lse, parts, D_V=d_v, BLOCK_V=wide, BLOCK_S=triton.next_power_of_2(parts)
    )
    return o, lse


def _splits(programs: int, T: int, q: torch.Tensor) -> int:
    """Splits that give every multiprocessor a few programs, none shorter than 256 keys."""
    if q.is_cuda:
        units = torch.cuda.get_device_properties(q.device).multi_processor_count
    else:
        units = 2
    return int(max(1, min(triton.cdiv(4 * units, programs), triton.cdiv(T, 256))))


def _check(q: Any, k: Any, v: Any) -> None:
    if {q.dtype, k.dtype, v.dtype} - {q.dtype} or q.dtype not in DTYPES:
        raise ValueError(
            f"the Triton kernels take q, k and v all in float16, bfloat16 or float32, not {q.dtype}, {k.dtype} and "
            f"{v.dtype}; use the torch back end for float64"
        )
    if not (q.is_cuda or INTERPRETED):
        raise ValueError("the Triton kernels need CUDA tensors; on a CPU set TRITON_INTERPRET=1 before starting Python")


def _ready(q: Any, k: Any, v: Any, opt: Options) -> tuple[Any, Any, Any, Options]:
    """Arrays with a contiguous last axis and options with a positive scale (its sign moves into q)."""
    from dataclasses import replace

    _check(q, k, v)
    if opt.scale <= 0:
        q, opt = (-q, replace(opt, scale=-opt.scale)) if opt.scale < 0 else (q * 0, replace(opt, scale=1.0))
    return _packed(q), _packed(k), _packed(v), opt


def _packed(x: torch.Tensor) -> torch.Tensor:
    return x if x.stride(-1) == 1 else x.contiguous()


def _steps(*arrays: torch.Tensor) -> tuple[int, ...]:
    """Strides of batch, head and token of each array."""
    return tuple(s for x in arrays for s in x.stride()[:3])


def _mask(opt: Options, q: torch.Tensor) -> tuple[torch.Tensor, tuple[int, ...]]:
    """The mask as bytes with its strides, 0 along broadcast axes; q stands in for an absent one, never read."""
    if opt.mask is None:
        return q, (0, 0, 0, 0)
    mask = opt.mask.view(torch.uint8)
    return mask, tuple(0 if n == 1 else s for n, s in zip(mask.shape, mask.stride(), strict=True))


def _lengths(lengths: Any, q: torch.Tensor) -> torch.Tensor:
    """Live keys as int32 on the device; q stands in for absent ones, never read."""
    if lengths is None:
        return q
    return torch.as_tensor(lengths, dtype=torch.int32, device=q.device)


def _sizes(q: Any, k: Any, opt: Options) -> tuple[int, ...]:
    """h, group, T_q, T_k, window, sinks and the size class that autotuning goes by."""
    h, T_q = q.shape[1:3]
    H_kv, T_k = k.shape[1:3]
    return h, h // H_kv, T_q, T_k, opt.window or 0, opt.sinks, max(T_k, 1).bit_length()


def _shape(q: Any, v: Any, opt: Options) -> dict[str, Any]:
    """The compile-time arguments that describe a call."""
    d, d_v = q.shape[3], v.shape[3]
    return {
        "D": d, "BLOCK_D": triton.next_power_of_2(max(d, 16)),
        "D_V": d_v, "BLOCK_V": triton.next_power_of_2(max(d_v, 16)),
        "CAUSAL": opt.causal, "WINDOW": opt.window is not None, "LENGTHS": opt.lengths is not None,
        "MASK": opt.mask is not None, "CAP": opt.soft_cap is not None, "WIDEN": _widen(q),
    }  # fmt: skip


def _widen(q: torch.Tensor) -> bool:
    # The interpreter keeps bfloat16 as raw 16-bit integers and would multiply those.
    return INTERPRETED and q.dtype == torch.bfloat16


def _launch(kernel: Any, block: Any, grid: Any, *args: Any, **shape: Any) -> None:
    """Run with the tiles given, or autotuned (fixed ones in the interpreter, which has nothing to time)."""
    decoding = kernel is triton_decode.decode_split
    if block is None and not INTERPRETED:
        _tuned(kernel)[grid](*args, **shape, **FUSED)
        return
    if decoding:
        sizes = {"BLOCK_K": block}
    else:
        rows, keys = block or (64, 64)
        sizes = {"BLOCK_Q": _power(rows), "BLOCK_K": _power(keys)}
    kernel[grid](*args, **shape, **sizes, **FUSED)


def _power(n: int) -> int:
    """The power of two a tile of about n gets: at least 16, as the matrix units need."""
    return int(triton.next_power_of_2(max(n, 16)))


FORWARD = [(128, 128, 8, 3), (128, 128, 8, 2), (128, 64, 8, 3), (128, 64, 4, 3), (128, 64, 4, 4), (64, 128, 4, 3),
           (64, 64, 4, 3), (64, 32, 4, 3), (32, 32, 4, 2), (32, 16, 4, 2)]  # fmt: skip
BACKWARD = [(64, 128, 8, 2), (64, 128, 8, 3), (32, 128, 8, 2), (32, 128, 8, 3), (128, 64, 8, 2), (64, 64, 8, 2),
            (64, 64, 4, 2), (32, 64, 4, 3), (32, 32, 4, 2), (16, 32, 4, 2)]  # fmt: skip
DECODE = [(64, 4, 3), (128, 4, 3), (128, 8, 3), (64, 4, 4), (128, 4, 4), (32, 4, 5), (256, 8, 2)]
"""Candidates for the autotuner: query rows, keys, warps, stages (decoding has no query rows to choose)."""


@cache
def _tuned(kernel: Any) -> Any:
    """The kernel under Triton's autotuner, by shape class and masks."""
    decoding = kernel is triton_decode.decode_split
    if decoding:
        configs = [triton.Config({"BLOCK_K": n}, num_warps=w, num_stages=s) for n, w, s in DECODE]
        by: Sequence[str] = ("size_class", "BLOCK_D", "BLOCK_V", "BLOCK_G", "PAGE", "CAP")
    else:
        table = FORWARD if kernel is triton_kernels.attend_forward else BACKWARD
        configs = [triton.Config({"BLOCK_Q": i, "BLOCK_K": j}, num_warps=w, num_stages=s) for i, j, w, s in table]
        by = TUNE_BY
    prune = None if decoding else {"early_config_prune": _small_for_float32}
    return triton.autotune(configs=configs, key=list(by), prune_configs_by=prune)(kernel)


def _small_for_float32(configs: list[Any], arguments: dict[str, Any], **_: Any) -> list[Any]:
    """Exact float32 products run on ordinary units from registers: larger tiles would spill and compile for minutes."""
    if arguments["Q"].dtype != torch.float32:
        return configs
    return [c for c in configs if c.kwargs["BLOCK_Q"] * c.kwargs["BLOCK_K"] <= 1024]
