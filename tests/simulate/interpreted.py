"""Run by test_triton in a process of its own, with TRITON_INTERPRET=1: the kernels on CPU tensors, errors as JSON.

Triton decides when the kernels are decorated whether they will be interpreted, so the variable must be there before
the import, and a process has one mode for life.
"""

from __future__ import annotations

import json
import math
import sys
from typing import Any

import torch

from solvers.simulate.attention import attention, attention_backward, decode_attention

torch.set_num_threads(1)
SHAPE = (2, 2, 1, 40, 52, 24, 16)
FORWARD: dict[str, dict[str, Any]] = {
    "full": {},
    "causal": {"causal": True},
    "window and sinks": {"causal": True, "window": 9, "sinks": 3},
    "wide window": {"causal": True, "window": 20, "sinks": 12},
    "padding": {"key_lengths": [0, 37]},
    "mask and cap": {"mask": True, "soft_cap": 2.0},
    "everything": {"causal": True, "window": 25, "sinks": 5, "mask": True, "key_lengths": [35, 52], "soft_cap": 5.0},
    "negative scale": {"scale": -0.3},
    "gain": {"qk_gain": 4.0, "causal": True},
    "more queries than keys": {"causal": True, "swap": True},
}


def inputs(dtype: torch.dtype = torch.float32, swap: bool = False) -> tuple[Any, ...]:
    torch.manual_seed(0)
    B, h, H_kv, T_q, T_k, d, d_v = SHAPE
    if swap:
        T_q, T_k = T_k, T_q
    q, do = torch.randn(B, h, T_q, d), torch.randn(B, h, T_q, d_v)
    k, v = torch.randn(B, H_kv, T_k, d), torch.randn(B, H_kv, T_k, d_v)
    return tuple(x.to(dtype) for x in (q, k, v, do))


def gap(a: torch.Tensor, b: torch.Tensor) -> float:
    """Largest difference; infinite where one is −inf or NaN and the other is not."""
    a, b = a.double(), b.double()
    same = (a == b) | (a.isnan() & b.isnan())
    rest = (a - b).abs()[~same]
    return 0.0 if rest.numel() == 0 else float(rest.nan_to_num(math.inf).max())


def forward_and_backward(name: str) -> dict[str, float]:
    options = dict(FORWARD[name])
    q, k, v, do = inputs(swap=options.pop("swap", False))
    if options.pop("mask", False):
        options["mask"] = torch.rand(SHAPE[0], SHAPE[1], q.shape[2], k.shape[2]) < 0.7
    wide = [x.double() for x in (q, k, v)]
    o, lse = attention(q, k, v, backend="triton", block_q=32, block_k=32, **options)
    want_o, want_lse = attention(*wide, backend="torch", **options)
    found = attention_backward(q, k, v, o, lse, do, backend="triton", block_q=32, block_k=32, **options)
    wanted = attention_backward(*wide, want_o, want_lse, do.double(), backend="torch", **options)
    return {
        "o": gap(o, want_o), "lse": gap(lse, want_lse),
        "grad": max(gap(x, y) / float(y.abs().max()) for x, y in zip(found, wanted, strict=True)),
    }  # fmt: skip


def even() -> dict[str, float]:
    """Lengths that the tiles divide, where the backward pass leaves out its row checks."""
    torch.manual_seed(2)
    q, k, v, do = (torch.randn(1, 1, 128, 16) for _ in range(4))
    o, lse = attention(q, k, v, causal=True, backend="triton")
    wide = [x.double() for x in (q, k, v)]
    want_o, want_lse = attention(*wide, causal=True, backend="torch")
    found = attention_backward(q, k, v, o, lse, do, causal=True, backend="triton")
    wanted = attention_backward(*wide, want_o, want_lse, do.double(), causal=True, backend="torch")
    grad = max(gap(x, y) / float(y.abs().max()) for x, y in zip(found, wanted, strict=True))
    return {"o": gap(o, want_o), "lse": gap(lse, want_lse), "grad": grad}


def low_precision(dtype: torch.dtype) -> dict[str, float]:
    q, k, v, _ = inputs(dtype)
    o, lse = attention(q, k, v, backend="triton", causal=True, block_q=32, block_k=32)
    assert o.dtype == dtype
    want_o, want_lse = attention(q.double(), k.double(), v.double(), backend="torch", causal=True)
    return {"o": gap(o, want_o), "lse": gap(lse, want_lse)}


def decoding(splits: int | None, lengths: list[int] | None, paged: bool) -> dict[str, float]:
    torch.manual_seed(1)
    q, k, v = torch.randn(3, 3, 24), torch.randn(3, 1, 200, 24), torch.randn(3, 1, 200, 16)
    wanted = decode_attention(q.double(), k.double(), v.double(), lengths=lengths, soft_cap=5.0, backend="torch")
    table = None
    if paged:
        assert lengths is not None
        table = torch.randperm(40)[:39].reshape(3, 13)
        pages = [torch.full((40, 1, 16, x.shape[3]), math.nan) for x in (k, v)]  # unwritten slots must not be read
        for b, n in enumerate(lengths):
            for t in range(n):
                for page, x in zip(pages, (k, v), strict=True):
                    page[table[b, t // 16], :, t % 16] = x[b, :, t]
        k, v = pages
        other = decode_attention(q, k, v, lengths=lengths, block_table=table, soft_cap=5.0, backend="torch")
        assert gap(other.o, wanted.o) < 5e-6
    found = decode_attention(q, k, v, lengths=lengths, block_table=table, splits=splits, soft_cap=5.0, backend="triton")
    return {"o": gap(found.o, wanted.o), "lse": gap(found.lse, wanted.lse)}


def hidden() -> dict[str, float]:
    """NaN in keys and values that the causal mask hides from all rows but the last."""
    q, k, v, _ = inputs()
    wanted = attention(q.double(), k.double(), v.double(), backend="torch", causal=True)
    v[:, :, -1] = math.nan
    found = attention(q, k, v, backend="triton", causal=True, block_q=32, block_k=32)
    assert found.o[:, :, -1].isnan().all() and found.o[:, :, :-1].isfinite().all()
    k[:, :, -1] = math.nan
    found = attention(q, k, v, backend="triton", causal=True, block_q=32, block_k=32)
    assert found.o[:, :, -1].isnan().all()
    return {"o": gap(found.o[:, :, :-1], wanted.o[:, :, :-1]), "lse": gap(found.lse[:, :, :-1], wanted.lse[:, :, :-1])}


def main() -> None:
    results = {name: forward_and_backward(name) for name in FORWARD}
    results |= {
        "fp16": low_precision(torch.float16),
        "bf16": low_precision(torch.bfloat16),
        "hidden": hidden(),
        "even": even(),
    }
    results |= {
        "decode": decoding(1, None, False), "split decode": decoding(5, [0, 200, 77], False),
        "chosen splits": decoding(None, None, False), "paged decode": decoding(4, [0, 200, 77], True),
    }  # fmt: skip
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
