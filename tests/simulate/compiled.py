"""Run by test_triton in a process of its own: compile every kernel for an H100-class GPU, which needs none.

The interpreter runs Python; only the compiler sees what it cannot compile. Prints, per kernel, its shared memory and
the number of warp-group matrix instructions in its PTX.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, compile

from solvers.simulate import triton_decode, triton_kernels

MASKS = {"CAUSAL": True, "WINDOW": False, "LENGTHS": False, "MASK": False, "CAP": False, "WIDEN": False}
ALL = {**MASKS, "WINDOW": True, "LENGTHS": True, "MASK": True, "CAP": True}
WIDTH = {"D": 64, "BLOCK_D": 64, "D_V": 64, "BLOCK_V": 64}
TILE = {"BLOCK_Q": 64, "BLOCK_K": 64}
FLOATS = {"LSE": "*fp32", "DELTA": "*fp32", "PART": "*fp32", "PART_LSE": "*fp32"}
INTEGERS = {"N": "*i32", "TABLE": "*i32", "M": "*u8"}
SCALARS = {"T", "H_kv", "T_q", "T_k"}


def build(kernel: Any, dtype: str, **constants: Any) -> dict[str, int]:
    names = kernel.arg_names
    types = {**FLOATS, **INTEGERS, "scale": "fp32", "soft_cap": "fp32"}
    signature, aligned = {}, {}
    for i, name in enumerate(names):
        if name in constants:
            signature[name] = "constexpr"
        elif name in types:
            signature[name] = types[name]
        else:
            signature[name] = f"*{dtype}" if name.isupper() and name not in SCALARS else "i32"
        stride = signature[name] == "i32" and len(name) == 3 and name not in SCALARS
        if signature[name].startswith("*") or stride:
            aligned[(i,)] = [["tt.divisibility", 16]]
    source = ASTSource(kernel, signature, {(names.index(n),): x for n, x in constants.items()}, aligned)
    options = {"num_warps": 4, "num_stages": 2, "enable_fp_fusion": True}
    made = compile(source, target=GPUTarget("cuda", 90, 32), options=options)
    return {"shared": made.metadata.shared, "wgmma": made.asm["ptx"].count("wgmma.mma_async")}


def main() -> None:
    k, d = triton_kernels, triton_decode
    decode = {**WIDTH, "BLOCK_G": 16, "LENGTHS": True, "CAP": False, "WIDEN": False, "BLOCK_K": 64}
    results = {
        "forward": build(k.attend_forward, "fp16", **WIDTH, **MASKS, **TILE),
        "forward, every mask": build(k.attend_forward, "bf16", **WIDTH, **ALL, **TILE),
        "delta": build(k.attend_delta, "fp16", D_V=64, BLOCK_V=64, BLOCK_Q=64),
        "backward keys": build(k.attend_backward_keys, "fp16", **WIDTH, **MASKS, **TILE, EVEN=True),
        "backward keys, every mask": build(k.attend_backward_keys, "bf16", **WIDTH, **ALL, **TILE, EVEN=False),
        "backward queries": build(k.attend_backward_queries, "fp16", **WIDTH, **MASKS, **TILE),
        "backward queries, every mask": build(k.attend_backward_queries, "bf16", **WIDTH, **ALL, **TILE),
        "decode": build(d.decode_split, "bf16", **decode, PAGE=0),
        "decode, paged": build(d.decode_split, "bf16", **decode, PAGE=16),
        "merge": build(d.decode_merge, "bf16", D_V=64, BLOCK_V=64, BLOCK_S=32),
    }
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
