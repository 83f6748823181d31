"""Published shapes and data-sheet figures, with where they come from; loaded once, when first asked for.

Models: solvers/data/models.json (layers L, width d, query heads h, KV heads H_kv, head width d_h, feed-forward width
d_ff, parameters N). Accelerators: solvers/data/accelerators.json (dense 16-bit FLOP/s, bytes/s, 10⁹ bytes a GB).
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any, NamedTuple

from solvers.errors import Unknown

BYTES = {"fp64": 8, "fp32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1, "int4": 0.5}
"""Bytes per number of each format."""

LARGEST = {
    "fp16": 65504.0,
    "bf16": 3.3895313892515355e38,
    "fp32": 3.4028234663852886e38,
    "fp64": 1.7976931348623157e308,
}
"""Largest finite number of each format."""

# The running toy of the cards: one head over five tokens, d = 4, d_k = d_v = 2; values live in (geography,
# money). The source prints only what "bank" sees. These matrices are a reconstruction: X W_Q, X W_K and X W_V
# reproduce every printed query, key, value, weight and leak, but other matrices would as well.
TOY_TOKENS = ("the", "river", "bank", "was", "steep")
TOY_X = ((0, 0, 0, 0), (1, 0, 0, 0), (1, 1, 0, 0), (0, 0, 0, 0), (1, 0, 0, 0))
"""Token vectors [5, 4]."""
TOY_X_CHANGED = (*TOY_X[:-1], (0, 3, 0, 1))
"""The same with another last token, which causal outputs of the earlier tokens must not notice."""
TOY_W_Q = ((2, 0), (0, -1), (0, 0), (0, 0))
TOY_W_K = ((1, 0), (0, 1), (0, 0), (0, 0))
TOY_W_V = ((1, 0), (-1, 1), (0, 0), (0, 0))
"""Maps [4, 2] to queries, keys and values."""


class Model(NamedTuple):
    """A published decoder shape. d is not always h·d_h (Gemma, some Qwen3)."""

    id: str
    name: str
    L: int
    d: int
    h: int
    H_kv: int
    d_h: int
    d_ff: int
    N: int
    vocab: int
    context: int
    gated: bool
    bias: bool
    source: str
    uncertain: tuple[str, ...]

    @property
    def grouped(self) -> bool:
        """Whether several query heads share a KV head."""
        return self.H_kv < self.h


class Accelerator(NamedTuple):
    """flops: dense 16-bit FLOP/s; bandwidth: bytes/s; memory: bytes (10⁹ a GB)."""

    id: str
    name: str
    flops: float
    bandwidth: float
    memory: float
    source: str
    uncertain: tuple[str, ...]


NAMES = {
    "gpt2-small": "GPT-2 small", "gpt2-medium": "GPT-2 medium", "gpt2-large": "GPT-2 large", "gpt2-xl": "GPT-2 XL",
    "llama2-7b": "Llama 2 7B", "llama2-13b": "Llama 2 13B", "llama2-70b": "Llama 2 70B",
    "llama3-8b": "Llama 3 8B", "llama3-70b": "Llama 3 70B", "mistral-7b": "Mistral 7B",
    "A100-80GB": "A100 80 GB", "H100-SXM": "H100 SXM", "H200": "H200", "L40S": "L40S", "MI300X": "MI300X",
}  # fmt: skip
"""What the problem text calls the models and accelerators that drills draw."""


def _rows(file: str) -> list[dict[str, Any]]:
    import json

    # os.path, since `check` would pay for pathlib alone.
    with open(os.path.join(os.path.dirname(__file__), "data", file), encoding="utf-8") as stream:  # noqa: PTH118, PTH120, PTH123
        rows: list[dict[str, Any]] = json.load(stream)
    return rows


@cache
def models() -> dict[str, Model]:
    """All model shapes by id."""
    return {
        r["id"]: Model(
            id=r["id"], name=NAMES.get(r["id"], r["name"]), L=r["L"], d=r["d"], h=r["h"], H_kv=r["h_kv"],
            d_h=r["d_h"], d_ff=r["d_ff"], N=r["params"], vocab=r["vocab"], context=r["context"],
            gated="gated" in r["mlp"] or "glu" in r["mlp"].lower(), bias="biases" in r["mlp"],
            source=r["source"], uncertain=tuple(r["uncertain"]),
        )
        for r in _rows("models.json")
    }  # fmt: skip


@cache
def accelerators() -> dict[str, Accelerator]:
    """All accelerators by id."""
    return {
        r["id"]: Accelerator(
            id=r["id"], name=NAMES.get(r["id"], r["name"]), flops=r["bf16_dense_TFLOPs"] * 1e12,
            bandwidth=r["bandwidth_GBps"] * 1e9, memory=r["memory_GB"] * 1e9,
            source=r["source"], uncertain=tuple(r["uncertain"]),
        )
        for r in _rows("accelerators.json")
    }  # fmt: skip


def model(id: str) -> Model:
    """The model of that id, or `Unknown` with the nearest ids."""
    try:
        return models()[id]
    except KeyError:
        raise Unknown("model", id, models()) from None


def accelerator(id: str) -> Accelerator:
    """The accelerator of that id, or `Unknown` with the nearest ids."""
    try:
        return accelerators()[id]
    except KeyError:
        raise Unknown("accelerator", id, accelerators()) from None
