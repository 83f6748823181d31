"""Times from the roofline: the larger of FLOPs over peak and bytes over bandwidth. Lower bounds, never predictions.

What is left out makes real steps slower: kernel launches, communication, imperfect overlap. The efficiencies scale
the two ceilings by what a system reaches of them; at 1 the times are the cards' (13, 14).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from solvers.facts import BYTES

WEIGHT_BYTES = 2
"""Bytes per parameter: 16-bit weights."""


@dataclass(frozen=True, slots=True)
class Machine:
    """One accelerator, or several that share a model ideally. flops FLOP/s, bandwidth B/s, memory B."""

    flops: float
    bandwidth: float
    memory: float

    @classmethod
    def of(cls, accelerator: Any, count: int = 1, *, flops_share: float = 1.0, bandwidth_share: float = 1.0) -> Machine:
        """`count` accelerators of `solvers.facts`, reaching these shares of their data-sheet peaks."""
        return cls(
            accelerator.flops * count * flops_share,
            accelerator.bandwidth * count * bandwidth_share,
            accelerator.memory * count,
        )

    @property
    def ridge(self) -> float:
        """FLOP/byte from which work is bound by arithmetic."""
        return self.flops / self.bandwidth

    def seconds(self, flops: float, moved: float) -> float:
        """Least time for that many FLOPs and bytes."""
        return max(flops / self.flops, moved / self.bandwidth)


def kv_bytes_per_token(model: Any, dtype: str = "fp16") -> int:
    """2·L·H_kv·d_h·b: a key and a value per layer and KV head (card 13). Scales of int8 rows not counted."""
    return int(2 * model.L * model.H_kv * model.d_h * BYTES[dtype])


def max_sequences(model: Any, memory: float, per_token: int, T: int) -> int:
    """⌊(memory − 2N)/(per_token·T)⌋, and 0 where the weights alone do not fit."""
    return max(0, int((memory - WEIGHT_BYTES * model.N) // (per_token * T)))


def seconds_per_token(model: Any, cache_bytes: float, bandwidth: float) -> float:
    """(2N + cache)/bandwidth: one decode step reads every weight and the whole cache once (card 13)."""
    return float((WEIGHT_BYTES * model.N + cache_bytes) / bandwidth)


def step_work(model: Any, per_token: int, prefills: list[int], contexts: int, decodes: int) -> tuple[float, float]:
    """(FLOPs, bytes) of one forward step that prefills whole prompts and decodes one token of running sequences.

    prefills: lengths of the prompts; contexts: cached tokens of the decoding sequences, summed; decodes: how many
    they are. FLOPs: 2N a token and 4·L·h·d_h a visible pair. Bytes: the weights once, the caches read, the new
    tokens' keys and values written (those of a decoded token stay out, as in card 13's closed form).
    """
    tokens = sum(prefills) + decodes
    pairs = contexts + decodes + sum(n * (n + 1) // 2 for n in prefills)
    flops = 2.0 * model.N * tokens + 4.0 * model.L * model.h * model.d_h * pairs
    moved = WEIGHT_BYTES * model.N + per_token * (contexts + sum(prefills))
    return flops, float(moved)
