"""Card 9: published parameter counts, and heads that write additively."""

from __future__ import annotations

from typing import Any

from drillgen.verify.rows import Property, Row
from solvers import facts
from solvers.c09_parameters import gqa_saving, gqa_weights, mha_biases, mha_weights, sum_of_heads

SEED = 9


def _evenly(d: int, h: int) -> tuple[int, int, int, int]:
    return h, d, d // h, d // h


def counted_weights(d: int, h: int) -> int:
    """Weights counted map by map, each head with its share of the width."""
    shapes = [(d, d // h)] * (3 * h) + [(d // h * h, d)]
    return sum(rows * columns for rows, columns in shapes)


def distinct_counts(count: Any = counted_weights) -> int:
    """How many different weight counts the head counts 1, 2, 4 … 64 give at Llama 2 7B's width."""
    return len({count(4096, h) for h in (1, 2, 4, 8, 16, 32, 64)})


def _gqa(id: str, H_kv: int | None = None) -> int:
    m = facts.model(id)
    return gqa_weights(m.d, m.h, H_kv or m.H_kv, m.d_h)


def four_heads() -> tuple[Any, Any]:
    """Outputs of four heads of width 3 for five tokens [5, 4, 3], and an output map [12, 8]; seeded normals."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    return rng.normal(size=(5, 4, 3)), rng.normal(size=(12, 8))


def joined(heads: Any, W_O: Any) -> Any:
    """The heads joined, then projected."""
    return heads.reshape(len(heads), -1) @ W_O


def _toy(h: int, bias: bool = False) -> int:
    return mha_weights(*_evenly(4, h)) + (mha_biases(*_evenly(4, h)) if bias else 0)


def _gpt2(weights: bool, biases: bool) -> int:
    m = facts.model("gpt2-small")
    shape = (m.h, m.d, m.d_h, m.d_h)
    return weights * mha_weights(*shape) + biases * mha_biases(*shape)


ROWS = {
    "c9.vaswani.head": Row(lambda: 512 // 8),
    "c9.toy": Row(lambda: _toy(2)),
    "c9.toy.one_head": Row(lambda: _toy(1)),
    "c9.llama2_7b": Row(lambda: mha_weights(*_evenly(4096, 32))),
    "c9.llama2_7b.any_h": Row(distinct_counts, note="counted map by map for every head count"),
    "c9.8_to_32": Property(
        left=lambda: counted_weights(4096, 32),
        right=lambda: mha_weights(*_evenly(4096, 8)),
        note="32 heads counted map by map against the closed form at 8 heads",
    ),
    "c9.gpt2.weights": Row(lambda: _gpt2(True, False)),
    "c9.gpt2.biases": Row(lambda: _gpt2(False, True)),
    "c9.gpt2.total": Row(lambda: _gpt2(True, True)),
    "c9.toy.biases": Row(lambda: mha_biases(*_evenly(4, 2))),
    "c9.toy.total": Row(lambda: _toy(2, bias=True)),
    "c9.70b.qo": Row(lambda: gqa_weights(8192, 64, 0, 128)),
    "c9.70b.kv": Row(lambda: gqa_weights(8192, 0, 8, 128)),
    "c9.70b.gqa": Row(lambda: _gqa("llama2-70b")),
    "c9.70b.mha": Row(lambda: _gqa("llama2-70b", 64)),
    "c9.70b.saving": Row(lambda: gqa_saving(64, 8)),
    "c9.70b.mqa": Row(lambda: _gqa("llama2-70b", 1)),
    "c9.concat_is_sum": Property(
        left=lambda: joined(*four_heads()),
        right=lambda: [sum_of_heads(token, four_heads()[1].tolist()) for token in four_heads()[0].tolist()],
        note=f"four heads of width 3, five tokens, d = 8, seed {SEED}",
    ),
}
