"""Card 14: grouped and multi-query attention, what sharing keys and values saves.

Source: card 14 (Shazeer 2019; Ainslie et al. 2023). h query heads read H_kv KV heads; G = h/H_kv query heads share one.
H_kv = h is multi-head attention (MHA), H_kv = 1 multi-query attention (MQA). FLOPs count two per multiply-add.
"""

from __future__ import annotations

from collections.abc import Sequence

from grading.kinds.expression import Expression
from grading.kinds.integer import Integer
from grading.kinds.matrix import Matrix as MatrixAnswer
from grading.kinds.number import Number
from grading.kinds.quantity import Quantity
from grading.tolerance import EQUIVALENT, EXACT, rel, within
from solvers.domains import AcceleratorOf, Dtype, Ints, Made, Matrix, ModelOf, OneOf
from solvers.drill import Card, Drill, Slip
from solvers.sizes import (
    DECIMAL,
    GIB_PER_GB,
    ONE_LAYER,
    ONE_OF_K_V,
    ROOM_SLIPS,
    ROUNDED_UP,
    bytes_per_token,
    cache_bytes,
    misread_as_binary,
    room,
    sequences_that_fit,
    weight_bytes,
)
from solvers.statements import Statement, minus, plus, statement_drill

GROUPED = ModelOf("llama2-70b", "llama3-8b", "llama3-70b", "mistral-7b")
ACCELERATORS = AcceleratorOf("A100-80GB", "H100-SXM", "H200", "L40S", "MI300X")
SCHEMES = {
    "mha": "multi-head attention (MHA)",
    "gqa": "grouped-query attention (GQA)",
    "mqa": "multi-query attention (MQA)",
}


def kv_head_of(n: int, h: int, H_kv: int) -> int:
    """The KV head that query head n reads: ⌊n/G⌋, both counted from 0, groups in order."""
    return n // (h // H_kv)


def kv_heads(scheme: str, h: int, H_kv: int) -> int:
    """How many KV heads a layer keeps: all h (mha), H_kv (gqa) or one (mqa)."""
    return {"mha": h, "gqa": H_kv, "mqa": 1}[scheme]


def cache_ratio(h: int, n_kv: int) -> float:
    """By which factor the cache shrinks from h KV heads to n_kv."""
    return h / n_kv


def decode_flops(T: int, d_h: int, h: int) -> int:
    """FLOPs of one layer's decode attention over T cached tokens: scores and averages, 2·T·d_h each a query head."""
    return h * 4 * T * d_h


def decode_intensity(h: int, H_kv: int, b: float) -> float:
    """FLOPs per byte of decode attention over a long cache, b bytes a number: 2h/(b·H_kv)."""
    return 2 * h / (b * H_kv)


def ridge_point(flops: float, bandwidth: float) -> float:
    """FLOPs per byte from which an accelerator is limited by arithmetic and no longer by memory."""
    return flops / bandwidth


def peak_share(intensity: float, ridge: float) -> float:
    """The largest share of peak arithmetic that an operation of that intensity can reach."""
    return min(1.0, intensity / ridge)


def attention_parameters(d: int, d_h: int, h: int, H_kv: int) -> int:
    """Weights of one layer's four maps with grouped heads: 2·d·h·d_h + 2·d·H_kv·d_h (card 9)."""
    return 2 * d * h * d_h + 2 * d * H_kv * d_h


def largest_divisor(h: int, bound: float) -> int:
    """The largest divisor of h that is at most `bound`; 0 where the bound is below 1."""
    return max((k for k in range(1, h + 1) if h % k == 0 and k <= bound), default=0)


def head_bound(mem_gib: float, L: int, d_h: int, b: float, T: int, B: int) -> float:
    """KV heads whose caches for B sequences of T tokens fill mem_gib·2³⁰ bytes, whole or not."""
    return mem_gib * 2**30 / cache_bytes(L, 1, d_h, b, T, B)


def mean_pool(heads: Sequence[Sequence[float]], H_kv: int) -> list[list[float]]:
    """Heads [h, n] averaged inside consecutive groups → [H_kv, n]."""
    G = len(heads) // H_kv
    groups = [heads[g * G : (g + 1) * G] for g in range(H_kv)]
    return [[sum(column) / G for column in zip(*group, strict=True)] for group in groups]


def _dividing(*counts: int) -> Made:
    """A number of KV heads out of `counts` that divides h and is smaller."""
    return Made(
        lambda draws, so_far: draws.choice([k for k in counts if k < so_far["h"] and so_far["h"] % k == 0]),
        like="whole",
        values=len(counts),
    )


HEAD_MAP = Drill(
    id="gqa.head_map",
    asks="which KV head a query head reads",
    stars=2,
    moves=("S",),
    params={
        "h": OneOf(8, 16, 16, 24, 24, 28, 32, 32, 32, 32, 40, 40, 40, 64, 64, 64, 64, 64),
        "H_kv": _dividing(4, 8, 16),
        "n": Made(
            lambda draws, so_far: draws.integer(2 * so_far["h"] // so_far["H_kv"], so_far["h"] - 1),
            like="whole",
            values=40,
        ),
    },
    solve=kv_head_of,
    answer=Integer(tolerance=EXACT),
    steps=lambda h, H_kv, n, answer: {"G": h // H_kv, "first": answer * (h // H_kv), "answer": answer},
    slips=(
        Slip(
            "interleaved",
            lambda n, H_kv: n % H_kv,
            "Heads are dealt round-robin; groups are made of consecutive heads, so divide by the group size.",
            branch=True,
        ),
        Slip(
            "divided_by_kv_heads",
            lambda n, H_kv: n // H_kv,
            r"The head is divided by the number of KV heads; divide by the group size $h / H_{\text{kv}}$.",
            branch=True,
        ),
        Slip(
            "counted_from_one",
            lambda answer: answer + 1,
            "The KV heads are counted from one; here both kinds of head are counted from zero.",
        ),
        Slip(
            "within_group",
            lambda n, h, H_kv: n % (h // H_kv),
            "The place inside the group is given; the number of the group is asked for.",
            branch=True,
        ),
    ),
    notes=(
        "tightened: at least 4 KV heads and n beyond the first two groups, since 0 and 1 are easy to guess; "
        "larger layers weigh more, since they have more heads to ask for"
    ),
)

CACHE_RATIO = Drill(
    id="gqa.cache_ratio",
    asks="by which factor sharing shrinks the cache",
    stars=2,
    moves=("S",),
    params={"h": OneOf(8, 16, 24, 28, 32, 40, 64), "H_kv": _dividing(2, 4, 8, 16), "target": OneOf("gqa", "mqa")},
    derive=lambda h, H_kv, target: {"n_kv": kv_heads(target, h, H_kv)},
    require=lambda h, H_kv, target: target == "gqa" and h != H_kv * H_kv,
    solve=cache_ratio,
    answer=Number(tolerance=rel(0.01)),
    steps=lambda n_kv, answer: {"n_kv": n_kv, "answer": answer},
    slips=(
        Slip(
            "inverted",
            lambda answer: 1 / answer,
            "The share that is left is given; the factor of shrinking is its reciprocal.",
        ),
        Slip(
            "two_counted",
            lambda answer: 2 * answer,
            "Keys and values are counted once more; both shrink alike, so the 2 cancels in the ratio.",
        ),
        Slip(
            "kv_heads",
            lambda H_kv: H_kv,
            "The number of KV heads is quoted; the ratio is query heads over KV heads.",
            branch=True,
        ),
        Slip(
            "other_scheme",
            lambda h, H_kv, target: h if target == "gqa" else h / H_kv,
            r"The other scheme's ratio is given; GQA keeps $H_{\text{kv}}$ KV heads, MQA a single one.",
        ),
    ),
    notes=(
        "tightened: only GQA is drawn, since under MQA the ratio is h itself, which the problem shows; "
        "for the same reason the ratio is not the number of KV heads"
    ),
)

SCHEME_CACHE = Drill(
    id="gqa.scheme_cache",
    asks="cache bytes per token under another sharing scheme",
    stars=2,
    moves=("S",),
    params={"model": GROUPED, "scheme": OneOf("mha", "gqa", "mqa"), "dtype": Dtype("fp16")},
    derive=lambda scheme, h, H_kv: {"n_kv": kv_heads(scheme, h, H_kv), "scheme_name": SCHEMES[scheme]},
    solve=lambda L, n_kv, d_h, b: bytes_per_token(L, n_kv, d_h, b),
    answer=Quantity("bytes", tolerance=rel(0.01)),
    steps=lambda n_kv, d_h, b, answer: {"n_kv": n_kv, "layer": 2 * n_kv * d_h * b, "answer": answer},
    slips=(
        Slip("one_of_k_v", lambda answer: answer // 2, ONE_OF_K_V),
        Slip(
            "as_mha",
            lambda L, h, d_h, b, scheme: bytes_per_token(L, h, d_h, b) if scheme != "mha" else None,
            "Every query head is given its own keys and values, as in multi-head attention; count the KV heads.",
        ),
        Slip(
            "as_gqa",
            lambda L, H_kv, d_h, b, scheme: bytes_per_token(L, H_kv, d_h, b) if scheme != "gqa" else None,
            "The model's own groups are kept; under the scheme asked for, the number of KV heads is another.",
        ),
        Slip(
            "as_mqa",
            lambda L, d_h, b, scheme: bytes_per_token(L, 1, d_h, b) if scheme != "mqa" else None,
            "A single KV head is counted, as in multi-query attention; the scheme asked for keeps more.",
        ),
        Slip("decimal_as_binary", misread_as_binary, DECIMAL),
    ),
)

SEQUENCES_FIT = Drill(
    id="gqa.sequences_fit",
    asks="sequences that fit beside the weights under a sharing scheme",
    stars=2,
    moves=("S",),
    params={
        "model": GROUPED,
        "accelerator": ACCELERATORS,
        "n_gpu": OneOf(1, 2, 4, 8),
        "T": OneOf(2048, 4096, 8192, 16384, 32768),
        "dtype": Dtype("fp16"),
        "scheme": OneOf("mha", "gqa"),
    },
    derive=lambda scheme, L, h, H_kv, d_h, b, T, memory, n_gpu, N: {
        "n_kv": kv_heads(scheme, h, H_kv),
        "scheme_name": SCHEMES[scheme],
        "free": room(memory, n_gpu, N),
        "cache": cache_bytes(L, kv_heads(scheme, h, H_kv), d_h, b, T),
    },
    require=lambda free, cache, n_gpu: (
        2 * cache <= free < 61 * cache
        and abs(free / cache - round(free / cache)) > 0.004 * (free / cache)
        and sequences_that_fit(free, cache) != n_gpu
    ),
    hold=("model", "scheme"),
    solve=sequences_that_fit,
    answer=Integer(unit="sequences", tolerance=EXACT),
    steps=lambda memory, n_gpu, N, L, n_kv, d_h, b, free, cache, answer: {
        "capacity": n_gpu * int(memory),
        "weights": weight_bytes(N),
        "free": free,
        "n_kv": n_kv,
        "per_token": bytes_per_token(L, n_kv, d_h, b),
        "cache": cache,
        "quotient": free / cache,
        "answer": answer,
    },
    slips=(
        Slip(
            "other_scheme",
            lambda free, L, h, H_kv, d_h, b, T, n_kv: sequences_that_fit(
                free, cache_bytes(L, h + H_kv - n_kv, d_h, b, T)
            ),
            "The cache of the other scheme is used; MHA keeps a KV head for each query head, GQA one a group.",
        ),
        *ROOM_SLIPS,
        Slip("rounded_up", lambda answer: answer + 1, ROUNDED_UP),
    ),
    notes="tightened: the answer is not the number of accelerators, which the problem shows",
)

DECODE_INTENSITY = Drill(
    id="gqa.decode_intensity",
    asks="FLOPs per byte of decode attention",
    stars=2,
    moves=("S",),
    params={
        "h": OneOf(8, 16, 24, 32, 40, 64),
        "H_kv": Made(lambda draws, so_far: draws.choice((1, 2, 4, 8, so_far["h"])), like="whole", values=5),
        "dtype": Dtype("fp16", "bf16", "fp8", "fp32"),
    },
    require=lambda h, H_kv, b: decode_intensity(h, H_kv, b) not in (1, h, H_kv),
    hold=("h",),
    solve=decode_intensity,
    answer=Number(unit="FLOP/byte", tolerance=rel(0.01)),
    steps=lambda h, H_kv, b, answer: {"flops": 4 * h, "bytes": 2 * H_kv * b, "answer": answer},
    slips=(
        Slip(
            "multiply_add_as_one",
            lambda answer: answer / 2,
            "A multiply-add is counted as one FLOP; it is two, one multiplication and one addition.",
        ),
        Slip(
            "group_size_only",
            lambda h, H_kv, b: h / H_kv if b != 2 else None,
            r"The group size $h / H_{\text{kv}}$ is the answer at two bytes per number only; the width $b$ divides it.",
        ),
        Slip(
            "inverted",
            lambda answer: 1 / answer if answer != 1 else None,
            "Bytes per FLOP are given; intensity is FLOPs per byte.",
        ),
        Slip(
            "keys_only_read",
            lambda answer: 2 * answer,
            "Only the keys are read here; the values are read as well, which doubles the bytes.",
        ),
    ),
    notes="tightened: the answer is neither 1 nor a number of heads that the problem shows",
)

RIDGE = Drill(
    id="gqa.ridge",
    asks="the ridge point of an accelerator",
    stars=2,
    moves=("S",),
    params={"accelerator": ACCELERATORS},
    derive=lambda flops, bandwidth: {"tflops": flops / 1e12, "gb_per_s": bandwidth / 1e9},
    solve=ridge_point,
    answer=Number(unit="FLOP/byte", tolerance=rel(0.01)),
    steps=lambda tflops, gb_per_s, answer: {"ratio": tflops / gb_per_s, "answer": answer},
    slips=(
        Slip("inverted", lambda answer: 1 / answer, "Bytes per FLOP are given; divide the peak by the bandwidth."),
        Slip(
            "binary_gigabytes",
            lambda answer: answer / GIB_PER_GB,
            "The bandwidth is read in GiB/s; data sheets give GB/s, powers of 1000.",
        ),
        Slip(
            "thousand_slip",
            lambda answer: answer / 1000,
            "The prefixes are dropped; a tera over a giga leaves a factor of 1000.",
        ),
    ),
)

PEAK_FRACTION = Drill(
    id="gqa.peak_fraction",
    asks="the share of peak arithmetic that decode attention can reach",
    stars=2,
    moves=("S",),
    params={
        "model": ModelOf("llama2-7b", "llama2-13b", "llama2-70b", "llama3-8b", "llama3-70b", "mistral-7b"),
        "accelerator": ACCELERATORS,
    },
    derive=lambda h, H_kv, flops, bandwidth: {
        "intensity": decode_intensity(h, H_kv, 2),
        "ridge": ridge_point(flops, bandwidth),
    },
    solve=peak_share,
    answer=Number(unit="none or %", tolerance=rel(0.01)),
    steps=lambda intensity, ridge, answer: {"intensity": intensity, "ridge": ridge, "answer": answer},
    slips=(
        Slip(
            "says_compute_bound",
            lambda: 1,
            "The full peak is claimed; the intensity is far below the ridge point, so memory sets the pace.",
        ),
        Slip(
            "ratio_inverted",
            lambda intensity, ridge: ridge / intensity,
            "Ridge over intensity is given; the share is intensity over ridge, below one.",
        ),
        Slip(
            "multiply_add_as_one",
            lambda answer: answer / 2,
            "A multiply-add is counted as one FLOP; it is two, in the peak figure as well.",
        ),
    ),
)

KV_HEAD_BUDGET = Drill(
    id="gqa.kv_head_budget",
    asks="the most KV heads that a memory budget allows",
    stars=2,
    moves=("S",),
    params={
        "L": OneOf(24, 32, 40, 80),
        "h": OneOf(16, 24, 32, 40, 64),
        "d_h": OneOf(128),
        "dtype": Dtype("fp16"),
        "T": OneOf(8192, 16384, 32768, 131072),
        "B": OneOf(1, 2, 4, 8),
        "mem_gib": OneOf(4, 8, 10, 16, 24, 40),
    },
    derive=lambda L, h, d_h, b, T, B, mem_gib: {"bound": head_bound(mem_gib, L, d_h, b, T, B)},
    require=lambda L, h, bound, B, mem_gib: (
        1 < largest_divisor(h, bound) < h and largest_divisor(h, bound) not in (B, mem_gib, L)
    ),
    hold=("B",),
    solve=largest_divisor,
    answer=Integer(unit="heads", tolerance=EXACT),
    steps=lambda L, d_h, b, T, B, h, bound, answer: {
        "head_token": bytes_per_token(L, 1, d_h, b),
        "head": cache_bytes(L, 1, d_h, b, T, B),
        "bound": bound,
        "divisors": [k for k in range(1, h + 1) if h % k == 0],
        "answer": answer,
    },
    slips=(
        Slip("one_of_k_v", lambda h, bound: largest_divisor(h, 2 * bound), ONE_OF_K_V, branch=True),
        Slip(
            "batch_forgotten",
            lambda h, bound, B: largest_divisor(h, bound * B) if B > 1 else None,
            "One sequence is budgeted; every sequence of the batch needs its own cache.",
            branch=True,
        ),
        Slip(
            "not_a_divisor",
            lambda bound: int(bound),
            "The bound is rounded down to a whole number; equal groups need a divisor of h.",
            branch=True,
        ),
        Slip("layers_forgotten", lambda h, bound, L: largest_divisor(h, bound * L), ONE_LAYER, branch=True),
    ),
    notes="tightened: the answer is not a number that the problem shows",
)

MEAN_POOL = Drill(
    id="gqa.mean_pool",
    asks="key heads pooled for uptraining",
    stars=2,
    moves=("S",),
    params={"h": OneOf(4), "H_kv": OneOf(2), "heads": Matrix(4, 2, Ints(-4, 6))},
    require=lambda heads: len({tuple(row) for row in heads}) == 4,
    solve=mean_pool,
    answer=MatrixAnswer(tolerance=within(0.0005)),
    steps=lambda heads, answer: {
        "group_1": heads[:2],
        "group_2": heads[2:],
        "mean_1": answer[0],
        "mean_2": answer[1],
        "pooled": answer,
    },
    slips=(
        Slip(
            "summed",
            lambda answer: [[2 * x for x in row] for row in answer],
            "The heads of a group are added; pooling takes their mean.",
        ),
        Slip(
            "interleaved_groups",
            lambda heads: mean_pool([heads[0], heads[2], heads[1], heads[3]], 2),
            "Every other head is pooled; a group is made of consecutive heads.",
        ),
        Slip(
            "first_of_group",
            lambda heads: [heads[0], heads[2]],
            "The first head of each group is kept and the other lost; pooling takes the mean of both.",
        ),
        Slip(
            "all_heads_pooled",
            lambda heads: mean_pool(heads, 1) * 2,
            "All heads are pooled into one; the mean is taken inside each group only.",
        ),
    ),
)

STATEMENTS = statement_drill(
    id="gqa.statements",
    asks="what is true of grouped-query attention",
    stars=2,
    moves=("S",),
    statements=(
        Statement(
            "fewer_query_heads",
            "Compared with multi-head attention of the same width, it has fewer query heads.",
            False,
            "All $h$ query heads stay; only keys and values are shared.",
        ),
        Statement(
            "attention_flops_cut",
            "Compared with multi-head attention, the products of queries with keys and of weights with values "
            "take fewer FLOPs.",
            False,
            "Each of the $h$ query heads still meets every key and value.",
        ),
        Statement(
            "cache_shrinks",
            "Compared with multi-head attention, its KV cache is smaller.",
            True,
            r"A layer stores $H_{\text{kv}}$ heads of keys and values instead of $h$.",
        ),
        Statement(
            "mqa_is_free",
            "Going all the way to a single KV head costs no quality.",
            False,
            "Published comparisons rank multi-query attention below grouped and multi-head attention.",
        ),
        Statement(
            "query_heads_unchanged",
            "It keeps all $h$ query heads.",
            True,
            "Grouping changes which keys and values a query head reads, not how many query heads there are.",
        ),
        Statement(
            "attention_flops_unchanged",
            "The products of queries with keys and of weights with values take as many FLOPs as in multi-head "
            "attention.",
            True,
            "Sharing a key does not spare the query heads their own dot products with it.",
        ),
        Statement(
            "kv_params_shrink",
            "The key and value projections of a layer have fewer parameters than in multi-head attention.",
            True,
            r"They map to $H_{\text{kv}}\, d_h$ columns instead of $h\, d_h$.",
        ),
        Statement(
            "must_retrain_from_scratch",
            "A multi-head checkpoint cannot be converted; the grouped model has to be trained from scratch.",
            False,
            "Pooling the key and value heads and training on for a small share of the original compute suffices.",
        ),
        Statement(
            "uptrain_by_mean_pooling",
            "A multi-head checkpoint can be converted by averaging the key and value heads of each group and "
            "training on for a while.",
            True,
            "This was reported to take about 5% of the original pre-training compute.",
        ),
        Statement(
            "equals_mha_with_repeated_kv",
            "Its output equals that of multi-head attention in which each shared key and value head is repeated for "
            "every query head of its group.",
            True,
            "Reading a shared head and reading a copy of it are the same computation.",
        ),
        Statement(
            "decode_is_bandwidth_bound",
            "With 16-bit numbers and groups of 8, decode attention on current accelerators is limited by memory "
            "bandwidth.",
            True,
            "It does 8 FLOPs per byte, while the hardware could do more than a hundred.",
        ),
    ),
    always=("fewer_query_heads", "attention_flops_cut", "cache_shrinks", "mqa_is_free"),
    count=2,
    slips=(
        Slip(
            "drops_queries",
            lambda answer, options: minus(plus(answer, options, "fewer_query_heads"), "query_heads_unchanged"),
            "Query heads are taken away; grouping shares keys and values and keeps every query head.",
        ),
        Slip(
            "cuts_flops",
            lambda answer, options: minus(plus(answer, options, "attention_flops_cut"), "attention_flops_unchanged"),
            "The FLOPs are said to fall; each query head still meets every key, and it is the bytes that fall.",
        ),
        Slip(
            "free_mqa",
            lambda answer, options: plus(answer, options, "mqa_is_free"),
            "A single KV head is said to be free; measured quality drops, which is why groups are used.",
        ),
    ),
)

INTENSITY_FORMULA = Drill(
    id="gqa.intensity_formula",
    asks="FLOPs per byte of decode attention as a formula",
    stars=2,
    moves=("S",),
    params={},
    solve=lambda: "2 h/(b H_kv)",
    answer=Expression(symbols={"h": "integer >= 1", "H_kv": "integer >= 1", "b": "b > 0"}, tolerance=EQUIVALENT),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "two_byte_only",
            lambda: "h/H_kv",
            "This holds at two bytes per number; for b bytes it is multiplied by 2/b.",
        ),
        Slip(
            "inverse",
            lambda: "2 H_kv/(b h)",
            r"The heads are upside down; FLOPs grow with $h$, bytes with $H_{\text{kv}}$.",
        ),
        Slip(
            "keys_only",
            lambda: "4 h/(b H_kv)",
            "Only the keys are read here; the values are read as well, which doubles the bytes.",
        ),
    ),
)

CARD = Card(
    number=14,
    slug="c14_gqa",
    title="Grouped-query attention",
    stars=2,
    moves=("S",),
    statement=(
        "Groups of h / H_kv query heads read one shared key head and value head. Cache and key-value parameters shrink "
        "by that factor, the FLOPs of attention stay, and decoding does more work for every byte it reads."
    ),
    formulas=(
        r"n \mapsto \lfloor n / G \rfloor, \qquad G = \frac{h}{H_{\text{kv}}}",
        r"\frac{\text{cache}_{\text{MHA}}}{\text{cache}_{\text{GQA}}} = \frac{h}{H_{\text{kv}}}",
        r"\frac{h \cdot 4 T d_h}{H_{\text{kv}} \cdot 2 T d_h\, b} = \frac{2 h}{b\, H_{\text{kv}}}\ \text{FLOP/byte}",
    ),
    drills=(
        HEAD_MAP,
        CACHE_RATIO,
        SCHEME_CACHE,
        SEQUENCES_FIT,
        DECODE_INTENSITY,
        RIDGE,
        PEAK_FRACTION,
        KV_HEAD_BUDGET,
        MEAN_POOL,
        STATEMENTS,
        INTENSITY_FORMULA,
    ),
)
