"""Card 12: what stored attention weights cost, and what one logsumexp per row costs instead.

Source: card 12. Sizes are in bytes, work in FLOP (a multiply-add is two). T tokens, B sequences, h query heads, L
layers, d = h d_h model width, b bytes per number. No causal skipping: all T² pairs are stored.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from grading.kinds.expression import Expression
from grading.kinds.integer import Integer
from grading.kinds.number import Number
from grading.kinds.quantity import Quantity
from grading.tolerance import EQUIVALENT, EXACT, rel, within
from solvers.algebra import Rows, logsumexp
from solvers.domains import Domain, Dtype, Made, ModelOf, OneOf, Values
from solvers.draws import Draws
from solvers.drill import Card, Drill, Slip

LSE_BYTES = 4
"""A logsumexp is kept in fp32, whatever the format of the weights."""

Row = Sequence[float]


def matrix_bytes(T: int, b: float) -> float:
    """One head's T × T weights: T² b."""
    return T * T * b


def naive_bytes(T: int, b: float, h: int, B: int = 1, layers: int = 1) -> float:
    """All weights kept for the backward pass: B h T² b for each layer. h counts query heads, shared keys or not."""
    return layers * B * h * matrix_bytes(T, b)


def online_bytes(T: int, h: int, B: int = 1, layers: int = 1) -> int:
    """One fp32 logsumexp per query row and head instead: B h T · 4 for each layer."""
    return layers * B * h * T * LSE_BYTES


def max_context(memory: int, h: int, b: int, B: int = 1) -> int:
    """Longest T whose weights of one layer fit into `memory` bytes: ⌊√(memory/(B h b))⌋."""
    return math.isqrt(memory // (B * h * b))


def recompute_flops(T: int, d: int) -> int:
    """Extra work of a backward pass that rebuilds the scores: Q Kᵀ once more, 2 T² d FLOP per layer."""
    return 2 * T * T * d


def quadratic_flops(T: int, d: int) -> int:
    """Forward work of Q Kᵀ and P V per layer, without causal skipping: 4 T² d FLOP."""
    return 4 * T * T * d


def rebuilt_weight(scores: Row, j: int, lse: float | None = None) -> float:
    """Weight of key j (from 1), e^{s_j − lse}; lse is the row's kept logsumexp."""
    return math.exp(scores[j - 1] - (logsumexp(scores) if lse is None else lse))


def rebuilt_weights(S: Rows, lse: Row) -> list[list[float]]:
    """P from scores [T_q, T_k] and one logsumexp per row [T_q]."""
    return [[math.exp(s - kept) for s in row] for row, kept in zip(S, lse, strict=True)]


def binary_misread(size: float) -> float:
    """Bytes that a learner means who writes the figure in powers of 1000 with a binary unit (33.6 MiB for 32 MiB)."""
    power = 0
    while size >= 1024 ** (power + 1):
        power += 1
    return size * 1.024**power


# --------------------------------------------------------------------------------------------------- what is drawn

GROUPED_AND_NOT = (
    "llama2-7b", "llama2-13b", "llama2-70b", "llama3-8b", "llama3-70b", "mistral-7b",
)  # fmt: skip
SETTING: Mapping[str, Domain] = {
    "model": ModelOf(*GROUPED_AND_NOT, "gpt2-small"),
    "T": OneOf(1024, 2048, 4096, 8192, 32768, 131072),
    "B": OneOf(1, 1, 2, 4, 8),
    "dtype": Dtype("fp16", "bf16"),
    "scope": OneOf("layer", "model"),
}


def _layers(scope: str, L: int) -> dict[str, int]:
    return {"layers": L if scope == "model" else 1}


def _row(draws: Draws, _: Values) -> list[int]:
    """Three or four integers in −2..4 with a spread of 2 to 4 and one maximum."""
    count, spread = draws.choice((3, 4)), draws.integer(2, 4)
    low = draws.integer(-2, 4 - spread)
    others = [draws.integer(low, low + spread - 1) for _ in range(count - 2)]
    return draws.shuffled([low, low + spread, *others])


PER_HEAD = Drill(
    id="score_memory.per_head",
    asks="bytes of one head's weight matrix",
    stars=2,
    moves=("S",),
    params={
        "T": OneOf(4096, 8192, 16384, 32768, 65536), "dtype": Dtype("fp16", "bf16", "fp32"),
    },
    solve=matrix_bytes,
    answer=Quantity("bytes", tolerance=rel(0.01)),
    steps=lambda T, answer: {"numbers": T * T, "total": answer},
    slips=(
        Slip(
            "bytes_forgotten",
            lambda T: T * T,
            "Numbers are counted instead of bytes; multiply by the bytes per number of the format.",
        ),
        Slip(
            "linear",
            lambda T, b: T * b,
            "One factor T is lost; there is a weight for every pair of a query and a key.",
        ),
        Slip(
            "decimal_as_binary",
            lambda answer: binary_misread(answer),
            "The figure in powers of 1000 is written with a binary unit; a MiB is 1024 times 1024 bytes.",
        ),
    ),
    notes="T from 4,096 to 65,536 (catalogue: 1,024 to 131,072): keys within three powers of ten.",
)  # fmt: skip

NAIVE = Drill(
    id="score_memory.naive",
    asks="bytes of all stored weights of a layer or model",
    stars=2,
    moves=("S",),
    params=SETTING,
    hold=("scope",),
    derive=_layers,
    require=lambda T, b, h, B, layers: 2**30 <= naive_bytes(T, b, h, B, layers) <= 2**40,
    solve=naive_bytes,
    answer=Quantity("bytes", tolerance=rel(0.01)),
    steps=lambda T, b, h, B, layers, answer: {
        "head": matrix_bytes(T, b),
        "sequence": naive_bytes(T, b, h),
        "layer": naive_bytes(T, b, h, B),
        "total": answer,
    },
    slips=(
        Slip(
            "heads_forgotten",
            lambda answer, h: answer // h,
            "One head is counted; every query head has a weight matrix of its own.",
        ),
        Slip(
            "kv_heads_used",
            lambda answer, h, H_kv: answer // h * H_kv if H_kv < h else None,
            "The KV heads are counted; shared keys save no scores, since each query head weighs them for itself.",
        ),
        Slip(
            "batch_forgotten",
            lambda answer, B: answer // B if B > 1 else None,
            "One sequence is counted; each sequence of the batch has its own weights.",
        ),
        Slip(
            "decimal_as_binary",
            lambda answer: binary_misread(answer),
            "The figure in powers of 1000 is written with a binary unit; a GiB is 1024 to the third power in bytes.",
        ),
        Slip(
            "wrong_scope",
            lambda answer, scope, L: answer // L if scope == "model" else answer * L,
            "Layer and whole model are exchanged; look which of the two is asked for before multiplying by L.",
        ),
    ),
    notes="keys from 1 GiB to 1 TiB, so that they stay within about three powers of ten.",
)

ONLINE = Drill(
    id="score_memory.online",
    asks="bytes of one logsumexp per row instead",
    stars=2,
    moves=("S",),
    params=SETTING,
    hold=("scope",),
    derive=_layers,
    require=lambda T, h, B, layers: 2**19 <= online_bytes(T, h, B, layers) <= 2**29,
    solve=online_bytes,
    answer=Quantity("bytes", tolerance=rel(0.01)),
    steps=lambda T, h, B, answer: {
        "rows": B * h * T,
        "layer": online_bytes(T, h, B),
        "total": answer,
    },
    slips=(
        Slip(
            "half_precision",
            lambda answer: answer // 2,
            "Two bytes are used; the logsumexp is kept in fp32, four bytes, whatever format the weights have.",
        ),
        Slip(
            "heads_forgotten",
            lambda answer, h: answer // h,
            "One head is counted; every query head has its own rows and so its own logsumexps.",
        ),
        Slip(
            "batch_forgotten",
            lambda answer, B: answer // B if B > 1 else None,
            "One sequence is counted; each sequence of the batch has its own rows.",
        ),
        Slip(
            "decimal_as_binary",
            lambda answer: binary_misread(answer),
            "The figure in powers of 1000 is written with a binary unit; a KiB is 1024 bytes, a MiB 1024 of those.",
        ),
        Slip(
            "still_quadratic",
            lambda T, b, h, B, layers: naive_bytes(T, b, h, B, layers),
            "The whole weight matrix is still counted; it is rebuilt, and only one number per row is kept.",
        ),
    ),
    notes="keys from 512 KiB to 512 MiB, so that they stay within about three powers of ten.",
)

MAX_CONTEXT = Drill(
    id="score_memory.max_context",
    asks="the longest context whose weights fit",
    stars=2,
    moves=("S",),
    params={
        "model": ModelOf(*GROUPED_AND_NOT), "B": OneOf(1, 2, 4), "dtype": Dtype("fp16"),
        "mem_gib": OneOf(1, 2, 4, 8, 10, 16, 20, 40),
    },
    solve=lambda h, b, B, mem_gib: max_context(mem_gib * 2**30, h, b, B),
    answer=Integer("tokens", tolerance=EXACT),
    steps=lambda h, b, B, mem_gib, answer: {
        "memory": mem_gib * 2**30,
        "per_pair": B * h * b,
        "pairs": mem_gib * 2**30 / (B * h * b),
        "root": math.sqrt(mem_gib * 2**30 / (B * h * b)),
        "T": answer,
    },
    slips=(
        Slip(
            "heads_forgotten",
            lambda b, B, mem_gib: max_context(mem_gib * 2**30, 1, b, B),
            "One head is counted; all query heads of the layer store their matrices.",
        ),
        Slip(
            "decimal_gigabytes",
            lambda h, b, B, mem_gib: max_context(mem_gib * 10**9, h, b, B),
            "The memory is read in powers of 1000; a GiB is 1024 to the third power in bytes.",
        ),
        Slip(
            "bytes_forgotten",
            lambda h, B, mem_gib: max_context(mem_gib * 2**30, h, 1, B),
            "One byte per number is assumed; a 16-bit number takes two.",
        ),
        Slip(
            "root_forgotten",
            lambda h, b, B, mem_gib: mem_gib * 2**30 // (B * h * b),
            "The number of pairs is given; a context of T tokens has T squared of them, so take the root.",
        ),
    ),
)  # fmt: skip

RECOMPUTE_FLOPS = Drill(
    id="score_memory.recompute_flops",
    asks="extra FLOPs of rebuilding the scores",
    stars=2,
    moves=("S",),
    params={"model": ModelOf(*GROUPED_AND_NOT), "T": OneOf(1024, 2048, 4096, 8192, 16384)},
    solve=recompute_flops,
    answer=Quantity("FLOP", tolerance=rel(0.01)),
    steps=lambda T, d, answer: {"pairs": T * T, "per_pair": 2 * d, "flops": answer},
    slips=(
        Slip(
            "both_products",
            quadratic_flops,
            "Both products of the forward pass are counted; only the scores are rebuilt, the outputs were kept.",
        ),
        Slip(
            "no_extra_work",
            lambda: 0,
            "No extra work is seen; what is not stored has to be computed again. The gain is memory traffic.",
        ),
        Slip(
            "multiply_add_as_one",
            lambda T, d: T * T * d,
            "A multiply-add is counted once; it is two FLOPs.",
        ),
        Slip(
            "head_width_used",
            lambda T, d_h: 2 * T * T * d_h,
            "One head is counted; all query heads together have the model's width.",
        ),
    ),
    notes="T from 1,024 to 16,384 (catalogue: 512 to 32,768): keys within three powers of ten.",
)


def _kept(scores: Row) -> dict[str, float]:
    return {"lse": logsumexp(scores)}


def _key(draws: Draws, _: Values) -> int:
    return draws.integer(1, 3)


RECOMPUTE_WEIGHT = Drill(
    id="score_memory.recompute_weight",
    asks="one weight from its score and the kept logsumexp",
    stars=2,
    moves=("F",),
    params={"scores": Made(_row, like="vector"), "j": Made(_key, like="whole", values=3)},
    derive=_kept,
    require=lambda scores, j: 0.1 < rebuilt_weight(scores, j) < 0.9,
    solve=lambda scores, j: rebuilt_weight(scores, j),
    answer=Number(tolerance=within(0.005)),
    steps=lambda scores, j, lse, answer: {"score": scores[j - 1], "difference": scores[j - 1] - lse, "weight": answer},
    slips=(
        Slip(
            "divided_by_lse",
            lambda scores, j, lse: math.exp(scores[j - 1]) / lse,
            "The exponential is divided by the logsumexp; that is the denominator's logarithm, so subtract it inside.",
        ),
        Slip(
            "difference_only",
            lambda scores, j, lse: scores[j - 1] - lse,
            "The difference is the logarithm of the weight; the weight is its exponential.",
        ),
        Slip(
            "max_used_as_lse",
            lambda scores, j: math.exp(scores[j - 1] - max(scores)),
            "Only the maximum is subtracted; the logsumexp also holds the logarithm of the remaining sum.",
        ),
        Slip(
            "sign",
            lambda scores, j, lse: math.exp(lse - scores[j - 1]),
            "The sign is exchanged; a weight is at most 1, so the logsumexp is subtracted from the score.",
        ),
    ),
)

RATIO_FORMULA = Drill(
    id="score_memory.ratio_formula",
    asks="stored weights over stored logsumexps as a formula",
    stars=2,
    moves=("S",),
    params={},
    solve=lambda: "T b/4",
    answer=Expression(symbols={"T": "integer >= 1", "b": "b > 0"}, tolerance=EQUIVALENT),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "same_width",
            lambda: "T",
            "Equal widths are assumed; a weight takes b bytes and a logsumexp four.",
        ),
        Slip(
            "squared",
            lambda: "T^2 b/4",
            "One factor T too many; there are T squared weights, but also T logsumexps.",
        ),
        Slip(
            "width_lost",
            lambda: "T b",
            "The four bytes of each logsumexp are left out of the denominator.",
        ),
    ),
)

CARD = Card(
    number=12,
    slug="c12_score_memory",
    title="Score memory: stored weights or one number per row",
    stars=2,
    moves=("S", "F"),
    statement=(
        r"Keeping the weights of a layer for the backward pass takes $B\, h\, T^2 b$ bytes. One fp32 logsumexp per row "
        r"takes $4\, B\, h\, T$, and any weight can be rebuilt from it and its score; the price is to multiply "
        r"$Q K^\top$ once more."
    ),
    formulas=(
        r"\text{stored weights} = B\, h\, T^2\, b \text{ bytes per layer}, \qquad "
        r"\text{logsumexps} = 4\, B\, h\, T \text{ bytes per layer}",
        r"p_{ij} = e^{s_{ij} - \text{lse}_i}, \qquad \text{lse}_i = \log \sum_r e^{s_{ir}}",
        r"\text{extra work} = 2\, T^2 d = \tfrac12 \cdot 4\, T^2 d \text{ FLOP per layer}",
    ),
    drills=(PER_HEAD, NAIVE, ONLINE, MAX_CONTEXT, RECOMPUTE_FLOPS, RECOMPUTE_WEIGHT, RATIO_FORMULA),
)
