"""Card 14: published numbers of grouped-query attention."""

from __future__ import annotations

import math
from collections.abc import Callable

from drillgen.verify.rows import Property, Row
from drillgen.verify.toy import gaussian
from solvers import facts
from solvers.algebra import attention, softmax
from solvers.c14_gqa import (
    attention_parameters,
    cache_ratio,
    decode_flops,
    decode_intensity,
    kv_head_of,
    kv_heads,
    ridge_point,
)
from solvers.draws import Draws
from solvers.sizes import (
    bytes_per_token,
    cache_bytes,
    llama_parameters,
    room,
    sequences_that_fit,
    weight_bytes,
)

H, H_KV, WIDTH, KEYS = 8, 2, 4, 6
"""Query heads, KV heads, head width and tokens of the random layer."""

Heads = list[list[list[float]]]


def _per_token(id: str, scheme: str) -> float:
    m = facts.model(id)
    return bytes_per_token(m.L, kv_heads(scheme, m.h, m.H_kv), m.d_h, 2)


def _sequence(scheme: str) -> float:
    m = facts.model("llama2-70b")
    return cache_bytes(m.L, kv_heads(scheme, m.h, m.H_kv), m.d_h, 2, 4096)


def _parameters() -> int:
    m = facts.model("llama2-70b")
    return llama_parameters(m.d, m.L, m.d_ff, m.vocab, m.H_kv * m.d_h)


def _free() -> int:
    return room(80e9, 2, _parameters())


def _layer(grouped: bool) -> float:
    m = facts.model("llama2-70b")
    return attention_parameters(m.d, m.d_h, m.h, m.H_kv if grouped else m.h) / 1e6


def layer() -> tuple[Heads, Heads, Heads]:
    """Normal queries [8, 6, 4], keys [2, 6, 4] and values [2, 6, 4] under a fixed key."""
    draws = Draws("verify/c14")
    return (
        [gaussian(draws, KEYS, WIDTH) for _ in range(H)],
        [gaussian(draws, KEYS, WIDTH) for _ in range(H_KV)],
        [gaussian(draws, KEYS, WIDTH) for _ in range(H_KV)],
    )


def grouped(reads: Callable[[int, int, int], int] = kv_head_of) -> Heads:
    """Outputs [8, 6, 4]: every query head looks up the KV head that it reads."""
    Q, K, V = layer()
    return [attention(q, K[reads(n, H, H_KV)], V[reads(n, H, H_KV)])[1] for n, q in enumerate(Q)]


def repeated() -> Heads:
    """Outputs [8, 6, 4] of multi-head attention over KV heads written out once for each query head."""
    Q, K, V = layer()
    keys = [k for k in K for _ in range(H // H_KV)]
    values = [v for v in V for _ in range(H // H_KV)]
    out = []
    for q, k, v in zip(Q, keys, values, strict=True):
        weights = [softmax([sum(a * b for a, b in zip(x, y, strict=True)) / math.sqrt(WIDTH) for y in k]) for x in q]
        out.append([[sum(p * r[c] for p, r in zip(w, v, strict=True)) for c in range(WIDTH)] for w in weights])
    return out


GRID = [(h, n, b) for h in (8, 32, 64) for n in (1, 2, 8) for b in (0.5, 1, 2, 4, 8)]


def intensities(formula: Callable[[int, int, float], float] = decode_intensity) -> list[float]:
    """The formula over several head counts and bytes per number."""
    return [formula(*sizes) for sizes in GRID]


def counted() -> list[float]:
    """FLOPs over bytes of one layer with 1,000 cached tokens of width 128."""
    return [decode_flops(1000, 128, h) / cache_bytes(1, n, 128, b, 1000) for h, n, b in GRID]


def _a100_ridge() -> float:
    a = facts.accelerator("A100-80GB")
    return ridge_point(a.flops, a.bandwidth)


ROWS: dict[str, Row | Property] = {
    "c14.gqa_is_mha": Property(grouped, repeated, note="random layer of 8 query heads, 2 KV heads, 6 tokens"),
    "c14.ratio.70b": Row(lambda: cache_ratio(64, 8)),
    "c14.per_token.mha70b": Row(lambda: _per_token("llama2-70b", "mha")),
    "c14.per_token.mqa70b": Row(lambda: _per_token("llama2-70b", "mqa")),
    "c14.weights.70b": Row(lambda: weight_bytes(_parameters()), "parameters counted matrix by matrix"),
    "c14.free.70b": Row(_free),
    "c14.seq.gqa70b": Row(lambda: _sequence("gqa")),
    "c14.seq.mha70b": Row(lambda: _sequence("mha")),
    "c14.fit.gqa": Row(lambda: sequences_that_fit(_free(), _sequence("gqa")), "16.43 before rounding down"),
    "c14.fit.mha": Row(lambda: sequences_that_fit(_free(), _sequence("mha")), "2.05 before rounding down"),
    "c14.intensity": Row(
        lambda: [
            decode_intensity(facts.model(id).h, facts.model(id).H_kv, 2)
            for id in ("llama2-7b", "llama3-8b", "llama2-70b")
        ]
    ),
    "c14.ridge": Row(_a100_ridge),
    "c14.params.gqa_M": Row(lambda: _layer(grouped=True)),
    "c14.params.mha_M": Row(lambda: _layer(grouped=False)),
    "c14.intensity.formula": Property(
        intensities, counted, limit=1e-12, note="FLOPs and bytes counted for 45 layers of several widths"
    ),
}
