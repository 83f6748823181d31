"""Card 11: published FLOPs and crossovers of Llama 2 7B; coefficients counted by multiply-adds."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from drillgen.verify.rows import Row
from solvers import facts
from solvers.c11_flops import (
    causal_crossover,
    crossover,
    ffn_flops,
    per_token_flops,
    projection_flops,
    quadratic_flops,
    quadratic_share,
)

T = 4096


def _shape() -> tuple[int, int, int, int, int]:
    m = facts.model("llama2-7b")
    return m.d, m.h, m.H_kv, m.d_h, m.d_ff


def multiply_adds(m: int, k: int, n: int) -> Iterator[None]:
    """One item for each multiply-add of an (m×k)(k×n) product."""
    for _row in range(m):
        for _column in range(n):
            for _term in range(k):
                yield None


def flops_of(products: list[tuple[int, int, int]]) -> int:
    """Two for each multiply-add, counted one by one."""
    return sum(2 for product in products for _ in multiply_adds(*product))


def projection_coefficient(T: int = 5, d: int = 6) -> Fraction:
    """Counted FLOPs of the maps to Q, K, V and out, as a multiple of T d²; KV width equal to d."""
    return Fraction(flops_of([(T, d, d)] * 4), T * d * d)


def quadratic_coefficient(T: int = 10, h: int = 3, d_h: int = 4) -> Fraction:
    """Counted FLOPs of QKᵀ and PV over all heads, as a multiple of T² h d_h."""
    return Fraction(flops_of([(T, d_h, T), (T, T, d_h)] * h), T * T * h * d_h)


def gated_coefficient(T: int = 5, d: int = 4, d_ff: int = 7) -> Fraction:
    """Counted FLOPs of gate, up and down, as a multiple of T d d_ff."""
    return Fraction(flops_of([(T, d, d_ff), (T, d, d_ff), (T, d_ff, d)]), T * d * d_ff)


def _terms() -> list[int | Fraction]:
    d, h, H_kv, d_h, d_ff = _shape()
    projections, both = crossover(d, h, H_kv, d_h, 0), crossover(d, h, H_kv, d_h, d_ff)
    return [projections, both - projections]


ROWS = {
    "c11.proj": Row(lambda: projection_flops(T, *_shape()[:4])),
    "c11.quad": Row(lambda: quadratic_flops(T, *_shape()[1:4:2])),
    "c11.ffn": Row(lambda: ffn_flops(T, _shape()[0], _shape()[4])),
    "c11.share.4096": Row(lambda: quadratic_share(T, *_shape())),
    "c11.share.4096_causal": Row(
        lambda: quadratic_share(T, *_shape(), causal=True),
        note="visible pairs exactly, T(T+1)/2; half of T² gives the same printed digits",
    ),
    "c11.share.512": Row(lambda: quadratic_share(512, *_shape())),
    "c11.share.32768": Row(lambda: quadratic_share(32768, *_shape())),
    "c11.crossover.terms": Row(_terms),
    "c11.crossover": Row(
        lambda: crossover(*_shape()),
        note="full multi-head attention; with grouped heads d + H_kv d_h + 1.5 d_ff (Llama 3 8B: 26,624)",
    ),
    "c11.crossover.causal_exact": Row(lambda: causal_crossover(*_shape())),
    "c11.crossover.causal_shortcut": Row(lambda: 2 * crossover(*_shape())),
    "c11.token.proj": Row(lambda: per_token_flops(T, *_shape())[0]),
    "c11.token.ffn": Row(lambda: per_token_flops(T, *_shape())[1]),
    "c11.token.quad": Row(lambda: per_token_flops(T, *_shape())[2]),
    "c11.coef.proj": Row(projection_coefficient, note="multiply-adds counted one by one at T = 5, d = 6"),
    "c11.coef.quad": Row(quadratic_coefficient, note="multiply-adds counted one by one at T = 10, h = 3, d_h = 4"),
    "c11.coef.ffn": Row(gated_coefficient, note="multiply-adds counted one by one at T = 5, d = 4, d_ff = 7"),
}
