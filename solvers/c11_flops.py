"""Card 11: the FLOPs of one layer and where the quadratic part overtakes the rest.

Source: card 11; the 2mkn rule is the toolkit's. Forward pass, one layer, T tokens, matrix products only (no
softmax, norms, rotary, activations); a multiply-add is two FLOPs. The width of all query heads together is h·d_h,
which is d in most models but not in all (Gemma 7B, Gemma 2, some Qwen3), so it is written out where it belongs.
"""

from __future__ import annotations

from fractions import Fraction

from grading.kinds.expression import Expression
from grading.kinds.integer import Integer
from grading.kinds.number import Number
from grading.kinds.parts import Part, Parts
from grading.kinds.quantity import Quantity
from grading.tolerance import EQUIVALENT, EXACT, rel
from solvers.domains import Ints, ModelOf, OneOf
from solvers.drill import Card, Drill, Slip

MODELS = ModelOf("llama2-7b", "llama2-13b", "llama2-70b", "llama3-8b", "llama3-70b", "mistral-7b")


def matmul_flops(m: int, k: int, n: int) -> int:
    """FLOPs of an (m×k)(k×n) product: m·n outputs, each k multiply-adds."""
    return 2 * m * k * n


def projection_flops(T: int, d: int, h: int, H_kv: int, d_h: int) -> int:
    """FLOPs of the maps to Q and from the heads back (width h·d_h) and of those to K and V (width H_kv·d_h)."""
    return 2 * matmul_flops(T, d, h * d_h) + 2 * matmul_flops(T, d, H_kv * d_h)


def quadratic_flops(T: int, h: int, d_h: int) -> int:
    """FLOPs of QKᵀ, (T×d_h)(d_h×T), and PV, (T×T)(T×d_h), over h heads; no pair is skipped."""
    return h * (matmul_flops(T, d_h, T) + matmul_flops(T, T, d_h))


def visible_pairs(T: int) -> int:
    """Query-key pairs that a causal mask leaves: query t sees t keys."""
    return T * (T + 1) // 2


def causal_quadratic_flops(T: int, h: int, d_h: int) -> int:
    """FLOPs of QKᵀ and PV without the masked pairs: two multiply-adds a visible pair and channel."""
    return 4 * visible_pairs(T) * h * d_h


def ffn_flops(T: int, d: int, d_ff: int, gated: bool = True) -> int:
    """FLOPs of a feed-forward block: three d×d_ff matrices (gate, up, down) if gated, else two."""
    return (3 if gated else 2) * matmul_flops(T, d, d_ff)


def layer_flops(
    T: int, d: int, h: int, H_kv: int, d_h: int, d_ff: int, gated: bool = True, causal: bool = False
) -> int:
    """FLOPs of one layer; causal: only visible pairs are computed."""
    pairs = causal_quadratic_flops if causal else quadratic_flops
    return projection_flops(T, d, h, H_kv, d_h) + pairs(T, h, d_h) + ffn_flops(T, d, d_ff, gated)


def quadratic_share(
    T: int, d: int, h: int, H_kv: int, d_h: int, d_ff: int, gated: bool = True, causal: bool = False
) -> float:
    """The share of a layer's FLOPs that goes into QKᵀ and PV."""
    pairs = causal_quadratic_flops if causal else quadratic_flops
    return pairs(T, h, d_h) / layer_flops(T, d, h, H_kv, d_h, d_ff, gated, causal)


def weight_flops(d: int, h: int, H_kv: int, d_h: int, d_ff: int, gated: bool = True) -> int:
    """FLOPs per token that do not depend on the context: projections and feed-forward block."""
    return projection_flops(1, d, h, H_kv, d_h) + ffn_flops(1, d, d_ff, gated)


def crossover(d: int, h: int, H_kv: int, d_h: int, d_ff: int, gated: bool = True) -> int | Fraction:
    """Tokens at which the quadratic part equals the rest: d + H_kv d_h + 1.5 d_ff if gated and h·d_h = d."""
    return whole(Fraction(weight_flops(d, h, H_kv, d_h, d_ff, gated), 4 * h * d_h))


def causal_crossover(d: int, h: int, H_kv: int, d_h: int, d_ff: int, gated: bool = True) -> int | Fraction:
    """Tokens at which the quadratic part equals the rest when exactly the masked pairs are skipped.

    2T(T + 1) h d_h = T · rest, so it is one less than twice the unmasked crossover.
    """
    return whole(Fraction(weight_flops(d, h, H_kv, d_h, d_ff, gated), 2 * h * d_h) - 1)


def per_token_flops(T: int, d: int, h: int, H_kv: int, d_h: int, d_ff: int, gated: bool = True) -> tuple[int, int, int]:
    """One token's part of a T-token pass: projections, feed-forward, quadratic."""
    return projection_flops(1, d, h, H_kv, d_h), ffn_flops(1, d, d_ff, gated), 4 * T * h * d_h


def doubling_factor(T: int, d: int, h: int, H_kv: int, d_h: int, d_ff: int, gated: bool = True) -> float:
    """By how much a layer's FLOPs grow when the context doubles from T to 2T."""
    return layer_flops(2 * T, d, h, H_kv, d_h, d_ff, gated) / layer_flops(T, d, h, H_kv, d_h, d_ff, gated)


def whole(value: Fraction) -> int | Fraction:
    """The value as an integer where it is one."""
    return value.numerator if value.denominator == 1 else value


HALVED = "A multiply-add is counted as one operation; it is two FLOPs, a multiplication and an addition."

MATMUL = Drill(
    id="flops.matmul",
    asks="FLOPs of a matrix product",
    stars=2,
    moves=("S",),
    params={"m": Ints(2, 64), "k": Ints(3, 40), "n": Ints(2, 64)},
    solve=matmul_flops,
    answer=Integer(unit="FLOP", tolerance=EXACT),
    steps=lambda m, k, n, answer: {"outputs": m * n, "each": 2 * k, "total": answer},
    slips=(
        Slip("multiply_add_as_one", lambda m, k, n: m * k * n, HALVED),
        Slip(
            "inner_lost",
            lambda m, n: 2 * m * n,
            "The inner length is left out; every output is a dot product of that many terms.",
        ),
        Slip(
            "exact_adds",
            lambda m, k, n: m * n * (2 * k - 1),
            "Literally right: $k$ products need only $k-1$ additions. By convention each multiply-add "
            "counts two, "
            "so a dot product is $2k$.",
        ),
    ),
)

PROJECTIONS = Drill(
    id="flops.projections",
    asks="FLOPs of the four attention projections of one layer",
    stars=2,
    moves=("S",),
    params={"model": MODELS, "T": OneOf(512, 1024, 2048, 4096, 8192, 16384, 32768)},
    hold=("model",),
    solve=projection_flops,
    answer=Quantity("FLOP", tolerance=rel(0.01)),
    steps=lambda T, d, h, H_kv, d_h, answer: {
        "kv_width": H_kv * d_h,
        "wide": 2 * matmul_flops(T, d, h * d_h),
        "narrow": 2 * matmul_flops(T, d, H_kv * d_h),
        "total": answer,
    },
    slips=(
        Slip("multiply_add_as_one", lambda answer: answer // 2, HALVED),
        Slip(
            "output_map_lost",
            lambda answer, T, d, h, d_h: answer - matmul_flops(T, d, h * d_h),
            "The output projection is left out; the joined heads go through one more $d \\times d$ map.",
        ),
        Slip(
            "mha_formula",
            lambda T, d, h, H_kv, d_h: projection_flops(T, d, h, h, d_h) if H_kv < h else None,
            "Keys and values are given the full width; grouped heads shrink these two maps to "
            "$H_{\\text{kv}} d_h$ columns.",
        ),
        Slip(
            "per_head",
            lambda answer, h, H_kv: answer / h if H_kv == h else None,
            "One head's part is given; the layer runs the projections of all heads.",
        ),
    ),
)

QUADRATIC = Drill(
    id="flops.quadratic",
    asks="FLOPs of QKᵀ and PV over all heads of one layer",
    stars=2,
    moves=("S",),
    params={"model": MODELS, "T": OneOf(512, 1024, 2048, 4096, 8192, 16384, 32768)},
    require=lambda T: 1024 <= T <= 16384,
    hold=("model",),
    solve=quadratic_flops,
    answer=Quantity("FLOP", tolerance=rel(0.01)),
    steps=lambda T, d_h, answer: {
        "product": matmul_flops(T, d_h, T),
        "head": 2 * matmul_flops(T, d_h, T),
        "total": answer,
    },
    slips=(
        Slip("multiply_add_as_one", lambda answer: answer // 2, HALVED),
        Slip(
            "one_head_only",
            lambda answer, h: answer // h,
            "Only one head is counted; all $h$ heads run both products.",
        ),
        Slip(
            "full_width_per_head",
            lambda answer, h: answer * h,
            "Every head is given the full width $d$; each is only $d_h$ wide, and together they make up $d$.",
        ),
        Slip(
            "linear_in_T",
            lambda answer, T: answer // T,
            "One factor $T$ is lost; every query meets every key, so there are $T^2$ pairs.",
        ),
    ),
    notes="tightened: contexts of 1,024 to 16,384 tokens, so that the answers span three powers of ten",
)

FFN = Drill(
    id="flops.ffn",
    asks="FLOPs of one gated feed-forward block",
    stars=2,
    moves=("S",),
    params={"model": MODELS, "T": OneOf(512, 1024, 2048, 4096, 8192, 16384, 32768)},
    hold=("model",),
    solve=ffn_flops,
    answer=Quantity("FLOP", tolerance=rel(0.01)),
    steps=lambda T, d, d_ff, answer: {"one": matmul_flops(T, d, d_ff), "total": answer},
    slips=(
        Slip(
            "two_matrices",
            lambda T, d, d_ff, gated: ffn_flops(T, d, d_ff, gated=False) if gated else None,
            "Two matrices are counted, as in the classic block; a gated one has three: gate, up and down.",
        ),
        Slip("multiply_add_as_one", lambda answer: answer // 2, HALVED),
        Slip(
            "four_d_assumed",
            lambda T, d, gated: ffn_flops(T, d, 4 * d, gated),
            "The classic width $4d$ is put in; use the $d_{\\text{ff}}$ that the model really has.",
        ),
    ),
)


def _terms(T: int, d: int, h: int, H_kv: int, d_h: int, d_ff: int, gated: bool) -> tuple[int, int, int]:
    return projection_flops(T, d, h, H_kv, d_h), ffn_flops(T, d, d_ff, gated), quadratic_flops(T, h, d_h)


def _with_terms(T: int, d: int, h: int, H_kv: int, d_h: int, d_ff: int, gated: bool) -> dict[str, int]:
    """The three terms of a layer beside the parameters, for slips and steps."""
    projections, ffn, quadratic = _terms(T, d, h, H_kv, d_h, d_ff, gated)
    return {"projections": projections, "ffn": ffn, "quadratic": quadratic}


def _over_td(
    T: int, d: int, h: int, H_kv: int, d_h: int, d_ff: int, gated: bool, causal: bool = False
) -> dict[str, int | Fraction]:
    """The terms of a layer divided by T d, as the short way has them."""
    pairs = causal_quadratic_flops(T, h, d_h) if causal else quadratic_flops(T, h, d_h)
    weights = weight_flops(d, h, H_kv, d_h, d_ff, gated)
    return {
        "kv_width": H_kv * d_h,
        "projection_part": 4 * (h * d_h + H_kv * d_h),
        "ffn_part": (6 if gated else 4) * d_ff,
        "quadratic_part": whole(Fraction(pairs, T * d)),
        "all": whole(Fraction(weights * T + pairs, T * d)),
    }


SHARE = Drill(
    id="flops.quadratic_share",
    asks="share of a layer's FLOPs that is quadratic in the context",
    stars=2,
    moves=("S",),
    params={"model": MODELS, "T": OneOf(1024, 2048, 4096, 8192, 16384, 32768, 65536)},
    hold=("model",),
    derive=_with_terms,
    solve=lambda projections, ffn, quadratic: quadratic / (projections + ffn + quadratic),
    answer=Number(unit="none or %", tolerance=rel(0.01)),
    steps=lambda T, d, h, H_kv, d_h, d_ff, gated, answer: {
        **_over_td(T, d, h, H_kv, d_h, d_ff, gated),
        "share": answer,
    },
    slips=(
        Slip(
            "ffn_left_out",
            lambda quadratic, projections: quadratic / (quadratic + projections),
            "The feed-forward block is left out of the total; the layer's FLOPs include it, and it is the "
            "largest constant part.",
        ),
        Slip(
            "projections_included",
            lambda quadratic, projections, ffn: (quadratic + projections) / (quadratic + projections + ffn),
            "The projections are counted as quadratic; they grow linearly, only $QK^\\top$ and $PV$ grow with $T^2$.",
        ),
        Slip(
            "over_the_rest",
            lambda quadratic, projections, ffn: quadratic / (projections + ffn),
            "The quadratic part is divided by the rest; a share is a part of the whole, itself included.",
        ),
        Slip(
            "one_product_only",
            lambda quadratic, projections, ffn: quadratic / (quadratic + 2 * (projections + ffn)),
            "One of the two quadratic products is forgotten; $QK^\\top$ and $PV$ cost the same and both count.",
        ),
    ),
)

CAUSAL_SHARE = Drill(
    id="flops.causal_share",
    asks="the quadratic share when a causal kernel skips every masked pair",
    stars=2,
    moves=("S",),
    params={"model": MODELS, "T": OneOf(2048, 4096, 8192, 16384, 32768, 65536)},
    hold=("model",),
    derive=lambda T, d, h, H_kv, d_h, d_ff, gated: {
        **_with_terms(T, d, h, H_kv, d_h, d_ff, gated),
        "causal": causal_quadratic_flops(T, h, d_h),
    },
    solve=lambda projections, ffn, causal: causal / (projections + ffn + causal),
    answer=Number(unit="none or %", tolerance=rel(0.01)),
    steps=lambda T, d, h, H_kv, d_h, d_ff, gated, answer: {
        **_over_td(T, d, h, H_kv, d_h, d_ff, gated, causal=True),
        "share": answer,
    },
    slips=(
        Slip(
            "share_halved",
            lambda quadratic, projections, ffn: quadratic / (projections + ffn + quadratic) / 2,
            "The unmasked share is halved; the smaller quadratic part also shrinks the total below the line.",
        ),
        Slip(
            "mask_ignored",
            lambda quadratic, projections, ffn: quadratic / (projections + ffn + quadratic),
            "All $T^2$ pairs are counted; with skipping only the $T(T+1)/2$ visible ones are computed.",
        ),
        Slip(
            "ffn_left_out",
            lambda causal, projections: causal / (causal + projections),
            "The feed-forward block is left out of the total; the layer's FLOPs include it.",
        ),
    ),
)

CROSSOVER = Drill(
    id="flops.crossover",
    asks="context length at which the quadratic part costs as much as the rest",
    stars=2,
    moves=("S",),
    params={"model": MODELS},
    solve=crossover,
    answer=Number(unit="tokens", tolerance=EXACT),
    steps=lambda d, h, H_kv, d_h, d_ff, gated, answer: {
        "kv_width": H_kv * d_h,
        "projection_part": crossover(d, h, H_kv, d_h, 0),
        "ffn_part": whole(Fraction(ffn_flops(1, d, d_ff, gated), 4 * h * d_h)),
        "tokens": answer,
    },
    slips=(
        Slip(
            "ffn_left_out",
            lambda d, h, H_kv, d_h: crossover(d, h, H_kv, d_h, 0),
            "Only the projections stand against the quadratic part; the feed-forward block belongs to the rest too.",
        ),
        Slip(
            "projections_left_out",
            lambda d, h, d_h, d_ff, gated: whole(Fraction(ffn_flops(1, d, d_ff, gated), 4 * h * d_h)),
            "Only the feed-forward block stands against the quadratic part; the four projections belong "
            "to the rest too.",
        ),
        Slip(
            "two_matrix_ffn",
            lambda d, h, H_kv, d_h, d_ff, gated: crossover(d, h, H_kv, d_h, d_ff, False) if gated else None,
            "Two feed-forward matrices are counted; a gated block has three, which makes its term "
            "$\\tfrac32 d_{\\text{ff}}$.",
        ),
        Slip(
            "mha_formula",
            lambda d, h, H_kv, d_h, d_ff, gated: crossover(d, h, h, d_h, d_ff, gated) if H_kv < h else None,
            "Key and value maps are taken as $d \\times d$; with grouped heads they have only "
            "$H_{\\text{kv}} d_h$ columns.",
        ),
        Slip(
            "causal_answer",
            lambda answer, h, H_kv: 2 * answer if H_kv == h else None,
            "The crossover is doubled as for a kernel that skips masked pairs; here every pair is computed.",
        ),
    ),
)

CROSSOVER_CAUSAL = Drill(
    id="flops.crossover_causal",
    asks="the exact crossover when masked pairs are skipped",
    stars=2,
    moves=("S",),
    params={
        "d": OneOf(512, 1024, 2048, 4096, 5120, 8192),
        "d_ff": OneOf(1376, 2816, 5504, 11008, 13824, 28672),
    },
    # Full heads: one head of width d has the sizes of any split of d.
    solve=lambda d, d_ff: causal_crossover(d, 1, 1, d, d_ff),
    answer=Integer(unit="tokens", tolerance=EXACT),
    steps=lambda d, d_ff, answer: {
        "projection_part": 4 * d,
        "ffn_part": 3 * d_ff,
        "sum": 4 * d + 3 * d_ff,
        "tokens": answer,
    },
    slips=(
        Slip(
            "doubled_crossover",
            lambda d, d_ff: 2 * crossover(d, 1, 1, d, d_ff),
            "This is the large-$T$ shortcut, twice the unmasked crossover; exactly $T(T+1)/2$ visible "
            "pairs take one token off.",
        ),
        Slip(
            "mask_ignored",
            lambda d, d_ff: crossover(d, 1, 1, d, d_ff),
            "All $T^2$ pairs are counted; with skipping only $T(T+1)/2$ of them are computed.",
        ),
        Slip(
            "off_by_two",
            lambda answer: answer + 2,
            "The one is added instead of taken off: from $T + 1 = 4d + 3 d_{\\text{ff}}$ the one moves "
            "across with a minus.",
        ),
    ),
)

PER_TOKEN = Drill(
    id="flops.per_token",
    asks="one token's FLOPs in a layer, in three parts",
    stars=2,
    moves=("S",),
    params={"model": MODELS, "T": OneOf(512, 1024, 2048, 4096, 8192, 16384, 32768)},
    hold=("model",),
    solve=lambda T, d, h, H_kv, d_h, d_ff, gated: [*per_token_flops(T, d, h, H_kv, d_h, d_ff, gated)],
    answer=Parts(
        parts=(
            Part("projections", Quantity("FLOP", tolerance=rel(0.01)), "the four projections"),
            Part("ffn", Quantity("FLOP", tolerance=rel(0.01)), "the feed-forward block"),
            Part("quadratic", Quantity("FLOP", tolerance=rel(0.01)), "the quadratic part"),
        ),
        tolerance=rel(0.01),
    ),
    steps=lambda d, h, H_kv, d_h, answer: {
        "kv_width": H_kv * d_h,
        "wide": 2 * matmul_flops(1, d, h * d_h),
        "narrow": 2 * matmul_flops(1, d, H_kv * d_h),
        "projections": answer[0],
        "ffn": answer[1],
        "quadratic": answer[2],
        "parts": answer,
    },
    slips=(
        Slip("multiply_add_as_one", lambda answer: [x // 2 for x in answer], HALVED),
        Slip(
            "not_divided_by_T",
            lambda answer, T: [x * T for x in answer],
            "The whole pass is given; one token's part is each term divided by $T$.",
        ),
        Slip(
            "pairs_kept_quadratic",
            lambda answer, T: [answer[0], answer[1], answer[2] * T],
            "The pair term keeps $T^2$; one token meets $T$ keys, so a single factor $T$ is left.",
        ),
    ),
)

DOUBLING = Drill(
    id="flops.doubling",
    asks="growth of a layer's FLOPs when the context doubles",
    stars=2,
    moves=("S",),
    params={"model": MODELS, "T": OneOf(2048, 4096, 8192, 16384, 32768, 65536)},
    hold=("model",),
    derive=_with_terms,
    solve=lambda projections, ffn, quadratic: (
        (2 * (projections + ffn) + 4 * quadratic) / (projections + ffn + quadratic)
    ),
    answer=Number(tolerance=rel(0.01)),
    steps=lambda T, d, h, H_kv, d_h, d_ff, gated, projections, ffn, quadratic, answer: {
        **_over_td(T, d, h, H_kv, d_h, d_ff, gated),
        "share": quadratic / (projections + ffn + quadratic),
        "factor": answer,
    },
    slips=(
        Slip(
            "quadruple",
            lambda: 4,
            "Everything is taken as quadratic; projections and feed-forward block only double.",
        ),
        Slip("double", lambda: 2, "Everything is taken as linear; the products over pairs grow fourfold."),
        Slip(
            "ffn_left_out",
            lambda projections, quadratic: (2 * projections + 4 * quadratic) / (projections + quadratic),
            "The feed-forward block is left out; as a large linear part it pulls the factor towards two.",
        ),
    ),
)

LAYER_FORMULA = Drill(
    id="flops.layer_formula",
    asks="the FLOPs of one layer as a formula",
    stars=2,
    moves=("S",),
    params={},
    solve=lambda: "2 T d (2 d + 2 H_kv d_h) + 4 T^2 d + 6 T d d_ff",
    answer=Expression(
        symbols={
            "T": "integer >= 1",
            "d": "integer >= 1",
            "H_kv": "integer >= 1",
            "d_h": "integer >= 1",
            "d_ff": "integer >= 1",
        },
        tolerance=EQUIVALENT,
    ),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip("multiply_add_as_one", lambda: "T d (2 d + 2 H_kv d_h) + 2 T^2 d + 3 T d d_ff", HALVED),
        Slip(
            "mha",
            lambda: "8 T d^2 + 4 T^2 d + 6 T d d_ff",
            "All four maps are taken as $d \\times d$; the key and value maps have only $H_{\\text{kv}} d_h$ columns.",
        ),
        Slip(
            "ungated",
            lambda: "2 T d (2 d + 2 H_kv d_h) + 4 T^2 d + 4 T d d_ff",
            "Two feed-forward matrices are counted; a gated block has three: gate, up and down.",
        ),
        Slip(
            "one_product",
            lambda: "2 T d (2 d + 2 H_kv d_h) + 2 T^2 d + 6 T d d_ff",
            "Only one product over pairs is counted; $QK^\\top$ and $PV$ each cost $2T^2 d$.",
        ),
    ),
)

CROSSOVER_FORMULA = Drill(
    id="flops.crossover_formula",
    asks="the crossover length as a formula",
    stars=2,
    moves=("S",),
    params={},
    solve=lambda: "d + H_kv d_h + 3/2 d_ff",
    answer=Expression(
        symbols={"d": "integer >= 1", "H_kv": "integer >= 1", "d_h": "integer >= 1", "d_ff": "integer >= 1"},
        tolerance=EQUIVALENT,
    ),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "mha",
            lambda: "2 d + 3/2 d_ff",
            "Key and value maps are taken as $d \\times d$; grouped heads leave them $H_{\\text{kv}} d_h$ columns.",
        ),
        Slip(
            "ffn_lost",
            lambda: "d + H_kv d_h",
            "The feed-forward block is left out; it belongs to the rest and adds $\\tfrac32 d_{\\text{ff}}$.",
        ),
        Slip(
            "doubled",
            lambda: "2 d + 2 H_kv d_h + 3 d_ff",
            "Only one of the two products over pairs is counted, which doubles the crossover; together "
            "they cost $4T^2 d$.",
        ),
    ),
)

CROSSOVER_CAUSAL_FORMULA = Drill(
    id="flops.crossover_causal_formula",
    asks="the exact causal crossover as a formula",
    stars=2,
    moves=("S",),
    params={},
    solve=lambda: "4 d + 3 d_ff - 1",
    answer=Expression(symbols={"d": "integer >= 1", "d_ff": "integer >= 1"}, tolerance=EQUIVALENT),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "doubled",
            lambda: "4 d + 3 d_ff",
            "Doubling the unmasked crossover is the large-$T$ shortcut; exactly $T(T+1)/2$ pairs are "
            "visible, hence one less.",
        ),
        Slip(
            "unmasked",
            lambda: "2 d + 3/2 d_ff",
            "All $T^2$ pairs are counted; with skipping only $T(T+1)/2$ of them are computed.",
        ),
        Slip(
            "plus_one",
            lambda: "4 d + 3 d_ff + 1",
            "The one is added; from $T + 1 = 4d + 3 d_{\\text{ff}}$ it moves across with a minus.",
        ),
    ),
)

CARD = Card(
    number=11,
    slug="c11_flops",
    title="FLOPs of a layer and the crossover",
    stars=2,
    moves=("S",),
    statement=(
        "A layer's matrix products cost a part linear in the context (projections and feed-forward block) "
        "and a "
        "part quadratic in it (scores and weighted values); the two meet at a length set by the widths alone."
    ),
    formulas=(
        r"\text{FLOPs} = 2Td\,(2d + 2H_{\text{kv}}d_h) + 4T^2 d + 6Td\,d_{\text{ff}} \quad (h\,d_h = d)",
        r"T^\star = d + H_{\text{kv}}d_h + \tfrac32 d_{\text{ff}}",
        r"T^\star_{\text{causal}} = 2T^\star - 1",
    ),
    drills=(
        MATMUL,
        PROJECTIONS,
        QUADRATIC,
        FFN,
        SHARE,
        CAUSAL_SHARE,
        CROSSOVER,
        CROSSOVER_CAUSAL,
        PER_TOKEN,
        DOUBLING,
        LAYER_FORMULA,
        CROSSOVER_FORMULA,
        CROSSOVER_CAUSAL_FORMULA,
    ),
)
