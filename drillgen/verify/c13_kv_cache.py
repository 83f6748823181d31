"""Card 13: published numbers of the KV cache."""

from __future__ import annotations

import math

from drillgen.verify.rows import Row
from grading.units import named
from solvers import facts
from solvers.c13_kv_cache import decode_rate, step_time
from solvers.sizes import (
    bytes_per_token,
    cache_bytes,
    llama_parameters,
    room,
    sequences_that_fit,
    weight_bytes,
)


def _per_token(id: str, b: int = 2) -> float:
    m = facts.model(id)
    return bytes_per_token(m.L, m.H_kv, m.d_h, b)


def _sequences(id: str, T: int, B: int = 1) -> float:
    m = facts.model(id)
    return cache_bytes(m.L, m.H_kv, m.d_h, 2, T, B)


def weights_of(id: str) -> int:
    """16-bit bytes of a Llama-shaped model, its parameters counted matrix by matrix."""
    m = facts.model(id)
    return weight_bytes(llama_parameters(m.d, m.L, m.d_ff, m.vocab, m.H_kv * m.d_h))


def _a100() -> facts.Accelerator:
    return facts.accelerator("A100-80GB")


ROWS = {
    "c13.factor_two": Row(lambda: bytes_per_token(1, 1, 1, 1), "numbers of one token, layer, KV head and unit width"),
    "c13.per_token.llama2_7b": Row(lambda: _per_token("llama2-7b")),
    "c13.seq.llama2_7b_4k": Row(lambda: _sequences("llama2-7b", 4096)),
    "c13.batch8.llama2_7b_4k": Row(lambda: _sequences("llama2-7b", 4096, 8)),
    "c13.seq.llama3_8b_128k": Row(lambda: _sequences("llama3-8b", 131072)),
    "c13.per_token.llama2_7b_int8": Row(lambda: _per_token("llama2-7b", 1)),
    "c13.per_token.gpt2_small": Row(lambda: _per_token("gpt2-small")),
    "c13.per_token.llama2_70b": Row(lambda: _per_token("llama2-70b")),
    "c13.per_token.llama3_8b": Row(lambda: _per_token("llama3-8b")),
    "c13.weights.llama2_7b": Row(lambda: weights_of("llama2-7b"), "parameters counted matrix by matrix"),
    "c13.budget": Row(
        lambda: sequences_that_fit(room(80e9, 1, weights_of("llama2-7b") // 2), _sequences("llama2-7b", 4096)),
        "30.98 before rounding down",
    ),
    "c13.decode.weights_ms": Row(lambda: 1e3 * step_time(weights_of("llama2-7b"), 0, _a100().bandwidth)),
    "c13.decode.weights_tps": Row(
        lambda: math.floor(decode_rate(weights_of("llama2-7b"), 0, _a100().bandwidth)),
        "151.3 before rounding down",
    ),
    "c13.decode.cache_ms": Row(lambda: 1e3 * step_time(0, _sequences("llama2-7b", 4096), _a100().bandwidth)),
    "c13.decode.tps": Row(
        lambda: math.floor(decode_rate(weights_of("llama2-7b"), _sequences("llama2-7b", 4096), _a100().bandwidth)),
        "130.5 before rounding down: the printed bound of 130 is the rounded figure, and up to 130.5 is possible",
    ),
    "c13.units": Row(lambda: [int(named(unit).factor) for unit in ("GiB", "GB")]),
}
