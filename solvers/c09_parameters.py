"""Card 9: how many parameters an attention layer has, whatever its head count.

Source: card 9. Counts are of numbers, not bytes. Widths: d model, d_k and d_v per head, d_h where both are equal; the
heads together are h·d_h wide, which is d in most models but not in all.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from grading.kinds.expression import Expression
from grading.kinds.integer import Integer
from grading.kinds.number import Number
from grading.kinds.vector import Vector as VectorKind
from grading.tolerance import EQUIVALENT, EXACT, rel
from solvers.algebra import average
from solvers.domains import Ints, Made, Matrix, ModelOf, OneOf, Values
from solvers.draws import Draws
from solvers.drill import Card, Drill, Slip


def mha_weights(h: int, d: int, d_k: int, d_v: int) -> int:
    """Weights of h heads: query and key maps d×d_k, value map d×d_v each, and one output map h·d_v×d."""
    return h * (2 * d * d_k + d * d_v) + h * d_v * d


def mha_biases(h: int, d: int, d_k: int, d_v: int) -> int:
    """Biases when every map has one: as many as the columns of the map."""
    return h * (2 * d_k + d_v) + d


def gqa_weights(d: int, h: int, H_kv: int, d_h: int) -> int:
    """Weights with h query heads and H_kv key and value heads of width d_h: 2d² + 2d H_kv d_h where h·d_h = d."""
    return 2 * d * h * d_h + 2 * d * H_kv * d_h


def gqa_biases(d: int, h: int, H_kv: int, d_h: int) -> int:
    """Biases of the four maps with grouped heads."""
    return h * d_h + 2 * H_kv * d_h + d


def gqa_saving(h: int, H_kv: int) -> Fraction:
    """Share of the attention weights that grouping saves: half of the weights are K and V maps, H_kv/h of them stay."""
    return Fraction(h - H_kv, 2 * h)


def head_change(d: int, h: int, h_new: int, keep: str) -> int:
    """Weights gained when h heads become h_new at fixed d, with all heads together as wide as before (keep "width") or
    with each head as wide as before (keep "head_width")."""
    width = d // h if keep == "head_width" else Fraction(d, h_new)
    after = 4 * d * h_new * width
    return int(after) - mha_weights(h, d, d // h, d // h)


def split_output_map(W_O: Sequence[Sequence[Any]], h: int) -> list[Sequence[Sequence[Any]]]:
    """W_O [h·d_v, d] → the block of d_v rows that each head owns."""
    d_v = len(W_O) // h
    return [W_O[n * d_v : (n + 1) * d_v] for n in range(h)]


def head_terms(heads: Sequence[Sequence[Any]], W_O: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """What each head writes into the output of one token: head_n W_O^(n); heads [h, d_v], W_O [h·d_v, d] → [h, d]."""
    return [average(head, block) for head, block in zip(heads, split_output_map(W_O, len(heads)), strict=True)]


def sum_of_heads(heads: Sequence[Sequence[Any]], W_O: Sequence[Sequence[Any]]) -> list[Any]:
    """Σ_n head_n W_O^(n) → [d]; equal to the joined heads times W_O."""
    return [sum(column) for column in zip(*head_terms(heads, W_O), strict=True)]


WIDTHS = OneOf(4, 64, 256, 512, 768, 1024, 1600, 2048, 4096, 5120)
SMALLEST = 256
"""The narrowest layer drawn: with it the counts span three powers of ten."""
NARROW_LEFT_OUT = "tightened: layers at least 256 wide, so that the answers span three powers of ten"
_COUNTS = (2, 4, 8, 12, 16, 20, 25, 32)
_NEW = (2, 4, 8, 16, 32, 64)


def _dividing(draws: Draws, so_far: Values) -> int:
    return draws.choice([h for h in _COUNTS if so_far["d"] % h == 0])


def _new_count(draws: Draws, so_far: Values) -> int:
    return draws.choice([n for n in _NEW if n != so_far["h"] and so_far["d"] % n == 0])


HEADS = Made(_dividing, like="whole", values=len(_COUNTS))

_QUERY_HEADS = (8, 16, 24, 32, 40, 64)
_HEAD_WIDTHS = (64, 128)


def _query_heads(draws: Draws, so_far: Values) -> int:
    """A head count that makes the drawn width with heads of 64 or 128."""
    return draws.choice([h for h in _QUERY_HEADS if so_far["d"] in (h * w for w in _HEAD_WIDTHS)])


def _kv_heads(draws: Draws, so_far: Values) -> int:
    return draws.choice([n for n in (1, 2, 4, 8, 16) if n < so_far["h"] and so_far["h"] % n == 0])


GROUPED = {
    # Every pair of head count and head width is equally likely, so widths reached twice weigh double.
    "d": OneOf(*(h * w for h in _QUERY_HEADS for w in _HEAD_WIDTHS)),
    "h": Made(_query_heads, like="whole", values=2),
    "H_kv": Made(_kv_heads, like="whole", values=4),
    "d_h": Made(lambda _draws, so_far: so_far["d"] // so_far["h"], like="whole", values=1),
}

OUTPUT_MAP_LOST = "The output map is left out; the joined heads go through one more map back to width $d$."

MHA_TOTAL = Drill(
    id="parameters.mha_total",
    asks="weights of a multi-head layer",
    stars=1,
    moves=("S",),
    params={"d": WIDTHS, "h": HEADS},
    require=lambda d, h: d >= SMALLEST and d % h == 0,
    solve=lambda d, h: mha_weights(h, d, d // h, d // h),
    answer=Integer(unit="parameters", tolerance=EXACT),
    steps=lambda d, h, answer: {"d_k": d // h, "map": d * d, "total": answer},
    slips=(
        Slip(
            "full_width_heads",
            lambda d, h: mha_weights(h, d, d, d),
            "Every head is given the full width $d$; the heads share it, $d/h$ each.",
        ),
        Slip("output_map_lost", lambda d: 3 * d * d, OUTPUT_MAP_LOST),
        Slip(
            "per_head",
            lambda d, h: 4 * d * d // h,
            "This is one head's part; the layer holds the maps of all $h$ heads.",
        ),
    ),
    notes=NARROW_LEFT_OUT,
)

MHA_BIAS = Drill(
    id="parameters.mha_bias",
    asks="weights and biases of a multi-head layer",
    stars=1,
    moves=("S",),
    params={"d": WIDTHS, "h": HEADS},
    require=lambda d, h: d >= SMALLEST and d % h == 0,
    solve=lambda d, h: mha_weights(h, d, d // h, d // h) + mha_biases(h, d, d // h, d // h),
    answer=Integer(unit="parameters", tolerance=EXACT),
    steps=lambda d, answer: {"weights": 4 * d * d, "biases": 4 * d, "total": answer},
    slips=(
        Slip(
            "biases_lost",
            lambda d: 4 * d * d,
            "Only the weights are counted; each map also has one bias per output column.",
        ),
        Slip(
            "output_bias_lost",
            lambda d: 4 * d * d + 3 * d,
            "The output map is counted without its bias; it has one like the other three.",
        ),
        Slip("output_map_lost", lambda d: 3 * d * d + 3 * d, OUTPUT_MAP_LOST),
        Slip(
            "bias_per_head",
            lambda d, h: 4 * d * d + 4 * d * h,
            "Every head is given a bias as wide as the model; all heads of a map share $d$ columns, so $d$ biases.",
        ),
    ),
    notes=NARROW_LEFT_OUT,
)

GQA_TOTAL = Drill(
    id="parameters.gqa_total",
    asks="attention weights of a grouped-query layer",
    stars=1,
    moves=("S",),
    params=GROUPED,
    require=lambda h, H_kv: h % H_kv == 0,
    solve=gqa_weights,
    answer=Integer(unit="parameters", tolerance=EXACT),
    steps=lambda d, h, H_kv, d_h, answer: {
        "kv_width": H_kv * d_h,
        "wide": 2 * d * h * d_h,
        "narrow": 2 * d * H_kv * d_h,
        "total": answer,
    },
    slips=(
        Slip(
            "query_heads_used",
            lambda d, h, d_h: gqa_weights(d, h, h, d_h),
            "Key and value maps are given the query heads; grouped heads leave them $H_{\\text{kv}} d_h$ columns.",
        ),
        Slip(
            "one_of_k_v",
            lambda answer, d, H_kv, d_h: answer - d * H_kv * d_h,
            "Only one of the key and value maps is counted; there is one of each.",
        ),
        Slip("output_map_lost", lambda answer, d, h, d_h: answer - d * h * d_h, OUTPUT_MAP_LOST),
        Slip(
            "queries_shrunk_too",
            lambda d, h, H_kv, d_h: d * h * d_h + 3 * d * H_kv * d_h,
            "The query map is narrowed as well; grouping keeps all query heads and shares only keys and values.",
        ),
    ),
)

GQA_SAVING = Drill(
    id="parameters.gqa_saving",
    asks="share of the attention weights that grouping saves",
    stars=1,
    moves=("S",),
    params=GROUPED,
    require=lambda h, H_kv: h % H_kv == 0,
    solve=lambda h, H_kv: float(gqa_saving(h, H_kv)),
    answer=Number(unit="none or %", tolerance=rel(0.01)),
    steps=lambda h, H_kv, answer: {"kept": Fraction(H_kv, h), "saving": answer},
    slips=(
        Slip(
            "cache_saving",
            lambda h, H_kv: 1 - H_kv / h,
            "This is what the KV cache saves; query and output maps keep their size, so the weights save half of it.",
        ),
        Slip(
            "remaining_share",
            lambda h, H_kv: (1 + H_kv / h) / 2,
            "This is the share that remains; what is saved is one minus it.",
        ),
        Slip(
            "relative_to_gqa",
            lambda h, H_kv: 2 * h / (h + H_kv) - 1,
            "The saving is put over the grouped layer; it is asked as a share of the full multi-head weights.",
        ),
    ),
)

HEAD_CHANGE = Drill(
    id="parameters.head_change",
    asks="weights gained or lost when the head count changes",
    stars=1,
    moves=("S",),
    params={
        "d": WIDTHS,
        "h": HEADS,
        "h_new": Made(_new_count, like="whole", values=len(_NEW)),
        "keep": OneOf("width", "head_width"),
    },
    hold=("keep",),
    require=lambda d, h, h_new: d >= SMALLEST and h_new <= 4 * h and d % h == 0 and d % h_new == 0,
    solve=head_change,
    answer=Integer(unit="parameters", tolerance=EXACT, words=(("none", 0), ("no change", 0))),
    steps=lambda d, h, h_new, keep, answer: {
        "before": mha_weights(h, d, d // h, d // h),
        "head": d // h,
        "after_width": h_new * (d // h) if keep == "head_width" else d,
        "after": mha_weights(h, d, d // h, d // h) + answer,
        "change": answer,
    },
    slips=(
        Slip(
            "proportional_to_heads",
            lambda d, h, h_new, keep: 4 * d * d * h_new // h - 4 * d * d if keep == "width" else None,
            "The count is scaled with the heads; at a fixed total width each head gets narrower or wider "
            "to make up for it.",
        ),
        Slip(
            "full_width_heads",
            lambda d, h, h_new: 4 * (h_new - h) * d * d,
            "Every head is given the full width $d$; a head is only $d/h$ wide.",
        ),
        Slip(
            "never_changes",
            lambda keep: 0 if keep == "head_width" else None,
            "The count stays only while the heads together keep their width; here each head keeps its own.",
        ),
        Slip(
            "output_map_lost",
            lambda answer, keep: 3 * answer // 4 if keep == "head_width" else None,
            "The output map is left out; its rows grow or shrink with the joined heads as well.",
        ),
    ),
    notes=NARROW_LEFT_OUT + "; for the same reason at most four times as many heads",
)

MODEL_TOTAL = Drill(
    id="parameters.model_total",
    asks="attention weights of a whole model",
    stars=1,
    moves=("S",),
    params={"model": ModelOf("llama2-7b", "llama2-13b", "llama2-70b", "llama3-8b", "llama3-70b", "mistral-7b")},
    solve=lambda L, d, h, H_kv, d_h: L * gqa_weights(d, h, H_kv, d_h),
    answer=Integer(unit="parameters", tolerance=EXACT),
    steps=lambda d, h, H_kv, d_h, answer: {
        "kv_width": H_kv * d_h,
        "wide": 2 * d * h * d_h,
        "narrow": 2 * d * H_kv * d_h,
        "layer": gqa_weights(d, h, H_kv, d_h),
        "total": answer,
    },
    slips=(
        Slip(
            "one_layer",
            lambda d, h, H_kv, d_h: gqa_weights(d, h, H_kv, d_h),
            "One layer is counted; every layer has its own four maps.",
        ),
        Slip("output_map_lost", lambda answer, L, d, h, d_h: answer - L * d * h * d_h, OUTPUT_MAP_LOST),
        Slip(
            "mha_formula",
            lambda L, d, h, H_kv, d_h: L * gqa_weights(d, h, h, d_h) if H_kv < h else None,
            "The grouping is ignored; key and value maps have only $H_{\\text{kv}} d_h$ columns.",
        ),
        Slip(
            "full_width_heads",
            lambda L, d, h, H_kv: 4 * L * h * d * d if H_kv == h else None,
            "Every head is given the full width $d$; the heads share it, $d_h$ each.",
        ),
    ),
)

HEAD_SUM = Drill(
    id="parameters.head_sum",
    asks="two heads' outputs through the output map",
    stars=1,
    moves=("S",),
    params={
        "h": OneOf(2),
        "d_v": OneOf(2),
        "d": OneOf(2),
        "heads": Matrix(2, 2, Ints(-2, 3)),
        "W_O": Matrix(4, 2, Ints(-2, 3)),
    },
    solve=sum_of_heads,
    answer=VectorKind(tolerance=EXACT),
    steps=lambda heads, W_O, answer: {
        "first": head_terms(heads, W_O)[0],
        "second": head_terms(heads, W_O)[1],
        "output": answer,
    },
    slips=(
        Slip(
            "first_head_only",
            lambda heads, W_O: head_terms(heads, W_O)[0],
            "Only the first head is projected; the second adds its own term through its own rows.",
        ),
        Slip(
            "averaged",
            lambda answer: [x / 2 for x in answer],
            "The heads' terms are averaged; multiplying the joined heads by $W_O$ adds them.",
        ),
        Slip(
            "same_block_for_both",
            lambda heads, W_O: [sum(t) for t in zip(*(average(x, W_O[: len(x)]) for x in heads), strict=True)],
            "The first block of rows is used for both heads; each head owns its own rows of $W_O$.",
        ),
    ),
)

MHA_FORMULA = Drill(
    id="parameters.mha_formula",
    asks="weights of multi-head attention as a formula",
    stars=1,
    moves=("S",),
    params={},
    solve=lambda: "2 h d d_k + 2 h d d_v",
    answer=Expression(
        symbols={"h": "integer >= 1", "d": "integer >= 1", "d_k": "integer >= 1", "d_v": "integer >= 1"},
        tolerance=EQUIVALENT,
    ),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip("output_map_lost", lambda: "2 h d d_k + h d d_v", OUTPUT_MAP_LOST),
        Slip(
            "full_width_heads",
            lambda: "4 h d^2",
            "Every head is given the full width $d$; its maps have only $d_k$ or $d_v$ columns.",
        ),
        Slip(
            "one_head", lambda: "2 d d_k + 2 d d_v", "One head is counted; the layer holds the maps of all $h$ heads."
        ),
    ),
)

GQA_FORMULA = Drill(
    id="parameters.gqa_formula",
    asks="weights of grouped-query attention as a formula",
    stars=1,
    moves=("S",),
    params={},
    solve=lambda: "2 d^2 + 2 d H_kv d_h",
    answer=Expression(
        symbols={"d": "integer >= 1", "H_kv": "integer >= 1", "d_h": "integer >= 1"}, tolerance=EQUIVALENT
    ),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "mha",
            lambda: "4 d^2",
            "Key and value maps are taken as $d \\times d$; grouped heads leave them $H_{\\text{kv}} d_h$ columns.",
        ),
        Slip(
            "keys_only",
            lambda: "2 d^2 + d H_kv d_h",
            "Only one of the key and value maps is counted; there is one of each.",
        ),
        Slip("output_map_lost", lambda: "d^2 + 2 d H_kv d_h", OUTPUT_MAP_LOST),
    ),
)

CARD = Card(
    number=9,
    slug="c09_parameters",
    title="Parameters of an attention layer",
    stars=1,
    moves=("S",),
    statement=(
        "Four maps make an attention layer, and only the product of head count and head width enters "
        "their size: "
        "splitting a fixed width into more heads costs nothing. Grouping shrinks the key and value maps "
        "alone."
    ),
    formulas=(
        r"\#\text{weights} = 2h\,d\,d_k + 2h\,d\,d_v = 4d^2 \quad (h\,d_k = h\,d_v = d)",
        r"\#\text{weights}_{\text{GQA}} = 2d^2 + 2d\,H_{\text{kv}}d_h",
        r"[\text{head}_1, \ldots, \text{head}_h]\,W_O = \sum_{n=1}^{h} \text{head}_n\,W_O^{(n)}",
    ),
    drills=(
        MHA_TOTAL,
        MHA_BIAS,
        GQA_TOTAL,
        GQA_SAVING,
        HEAD_CHANGE,
        MODEL_TOTAL,
        HEAD_SUM,
        MHA_FORMULA,
        GQA_FORMULA,
    ),
)
