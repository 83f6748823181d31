"""Card 13: published numbers of the KV cache."""

from __future__ import annotations

from drillgen.verify.rows import Row
from solvers import facts
from solvers.c13_kv_cache import bytes_per_token


def _per_token(id: str, b: int = 2) -> float:
    m = facts.model(id)
    return bytes_per_token(m.L, m.H_kv, m.d_h, b)


ROWS = {
    "c13.per_token.llama2_7b": Row(lambda: _per_token("llama2-7b")),
    "c13.seq.llama2_7b_4k": Row(lambda: _per_token("llama2-7b") * 4096),
}
