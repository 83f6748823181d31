"""Card 6: causal masks, how they go wrong, and why the same fact makes a KV cache exact.

Source: card 6. Positions are counted from 1 in every public function: query i sees the keys j ≤ i. A row of scores
has T entries, already scaled; values of one row are numbers or vectors [T, d_v]. Plain numbers, no units.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from grading.kinds.choice import Choice
from grading.kinds.expression import Expression
from grading.kinds.integer import Integer
from grading.kinds.number import Number
from grading.kinds.option import Option
from grading.kinds.set_ import Set
from grading.kinds.vector import Vector
from grading.tolerance import EQUIVALENT, EXACT, rel, within
from solvers.algebra import Rows, attention, average, dot, matmul, softmax
from solvers.domains import Ints, Made, OneOf, Values
from solvers.domains import Vector as VectorOf
from solvers.draws import Draws
from solvers.drill import Card, Drill, Slip

Row = Sequence[float]

FILL = {"-inf": -math.inf, "-1e9": -1e9, "finfo_min": -3.4028234663852886e38}
"""What blocked scores are overwritten with; finfo_min is the lowest finite fp32 number."""


def blocked(T: int, k: int = 1) -> list[list[bool]]:
    """triu(ones(T, T), k): entry (i, j) is blocked where j − i ≥ k; k = 1 is the causal mask."""
    return [[j - i >= k for j in range(T)] for i in range(T)]


def additive(mask: Sequence[Sequence[bool]], fill: float = -math.inf) -> list[list[float]]:
    """A mask of blocked entries as numbers to add to the scores: 0 where visible, else the fill."""
    return [[fill if b else 0.0 for b in row] for row in mask]


def visible_keys(T: int, i: int, k: int = 1) -> int:
    """How many keys query i still sees when triu(ones(T, T), k) is blocked: i − 1 + k within 0..T."""
    return min(T, max(0, i - 1 + k))


def allowed_pairs(T: int) -> int:
    """Pairs (query, key) that a causal mask leaves: T (T + 1)/2."""
    return T * (T + 1) // 2


def allowed_fraction(T: int) -> float:
    """Their share of all T² pairs: (T + 1)/(2T)."""
    return (T + 1) / (2 * T)


def masked_weights(scores: Row, i: int) -> list[float]:
    """Causal weights of query i over all T keys: the softmax of the first i scores, then exact zeros."""
    return softmax(scores[:i]) + [0.0] * (len(scores) - i)


def zeroed_weights(scores: Row, i: int) -> list[float]:
    """The bug: softmax over all T scores, future weights set to zero afterwards. They no longer sum to one."""
    return [w if j < i else 0.0 for j, w in enumerate(softmax(scores))]


def kept_sum(scores: Row, i: int) -> float:
    """What the weights of `zeroed_weights` add up to."""
    return math.fsum(zeroed_weights(scores, i))


def renormalised_weights(scores: Row, i: int) -> list[float]:
    """`zeroed_weights` divided by their sum: the causal weights again, at the price of every future exponential."""
    weights = zeroed_weights(scores, i)
    total = math.fsum(weights)
    return [w / total for w in weights]


def leak(scores: Row, values: Row, i: int, new_score: float) -> float:
    """|Δo| of query i under `zeroed_weights` when the last token's score becomes `new_score` (scalar values)."""
    return abs(_zeroed_output([*scores[:-1], new_score], values, i) - _zeroed_output(scores, values, i))


def _zeroed_output(scores: Row, values: Row, i: int) -> float:
    output: float = dot(zeroed_weights(scores, i), values)
    return output


LISTED = 100_000
"""The longest row that is written out key by key."""


def affected_outputs(T: int, j: int, mask: str = "causal") -> list[int]:
    """Outputs that can change when input token j does, after any number of layers. mask: "causal" or "none"."""
    if T > LISTED:
        raise ValueError(f"T={T}: positions are listed one by one, up to {LISTED}")
    return list(range(j if mask == "causal" else 1, T + 1))


def blank_row_weight(T: int, fill: str) -> float:
    """Weight of each key after every score of a row was overwritten and softmax taken with the maximum subtracted.

    fill: a key of `FILL`, or finfo_min_then_zeroed for a row that is set to zero afterwards. NaN where it is 0/0.
    """
    if fill == "finfo_min_then_zeroed":
        return 0.0
    if T > LISTED:
        raise ValueError(f"T={T}: the row is computed key by key, up to {LISTED}")
    return softmax([FILL[fill]] * T)[0]


def safe_weights(scores: Row, allowed: Sequence[bool]) -> list[float]:
    """Weights over the allowed keys of one row; all zeros, never NaN, where no key is allowed (padding)."""
    if not any(allowed):
        return [0.0] * len(scores)
    return softmax([s if ok else -math.inf for s, ok in zip(scores, allowed, strict=True)])


def causal_outputs(X: Rows, W_Q: Rows, W_K: Rows, W_V: Rows) -> list[list[float]]:
    """One causal head over all tokens at once: X [T, d] → O [T, d_v]."""
    mask = additive(blocked(len(X)))
    return attention(matmul(X, W_Q), matmul(X, W_K), matmul(X, W_V), mask)[1]


def cached_outputs(X: Rows, W_Q: Rows, W_K: Rows, W_V: Rows) -> list[list[float]]:
    """The same token by token: each step projects its token only and reads all older keys and values from a cache."""
    keys: list[list[float]] = []
    values: list[list[float]] = []
    out = []
    for x in X:
        (q,), (k,), (v,) = matmul([x], W_Q), matmul([x], W_K), matmul([x], W_V)
        keys.append(k)
        values.append(v)
        out.append(average(softmax([dot(q, key) / math.sqrt(len(q)) for key in keys]), values))
    return out


def largest_change(before: Rows, after: Rows) -> float:
    """max |after − before| over all entries: the change-the-future test of outputs that must not move."""
    return max(abs(a - b) for x, y in zip(before, after, strict=True) for a, b in zip(x, y, strict=True))


# --------------------------------------------------------------------------------------------------- what is drawn


def _middle_row(draws: Draws, so_far: Values) -> int:
    return draws.integer(2, so_far["T"] - 1)


LENGTH = OneOf(4, 5)
QUERY = Made(_middle_row, like="whole", values=4)
SCORES = VectorOf("T", Ints(-2, 3))


def _exps(scores: Row) -> list[float]:
    return [math.exp(s) for s in scores]


# ------------------------------------------------------------------------------------------------------ the drills

ALLOWED_FRACTION = Drill(
    id="causal_mask.allowed_fraction",
    asks="the share of pairs that a causal mask allows",
    stars=1,
    moves=("S",),
    params={"T": OneOf(3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 25)},
    solve=allowed_fraction,
    answer=Number(tolerance=rel(0.01)),
    steps=lambda T, answer: {"pairs": allowed_pairs(T), "all": T * T, "share": answer},
    slips=(
        Slip(
            "one_half",
            lambda: 0.5,
            "One half is the limit for long rows; the diagonal is allowed too and lifts the share above it.",
        ),
        Slip(
            "diagonal_blocked",
            lambda T: (T - 1) / (2 * T),
            "The diagonal is blocked as well; a token sees itself, so query i sees i keys.",
        ),
        Slip(
            "over_T",
            lambda T: (T + 1) / T,
            "The two of the triangle's area is forgotten; the number of pairs is half of T times T + 1.",
        ),
    ),
)

ALLOWED_PAIRS = Drill(
    id="causal_mask.allowed_pairs",
    asks="the number of pairs that a causal mask allows",
    stars=1,
    moves=("S",),
    params={"T": Ints(4, 60)},
    solve=allowed_pairs,
    answer=Integer(tolerance=EXACT),
    steps=lambda T, answer: {"next": T + 1, "double": T * (T + 1), "pairs": answer},
    slips=(
        Slip(
            "all_pairs",
            lambda T: T * T,
            "All pairs are counted; the mask takes every key that comes after its query.",
        ),
        Slip(
            "diagonal_blocked",
            lambda T: T * (T - 1) // 2,
            "The diagonal is left out; every token sees itself, which adds T pairs.",
        ),
        Slip(
            "half",
            lambda T: T * T // 2 if T % 2 == 0 else T * T / 2,
            "Exactly half of all pairs is taken; the diagonal belongs to the allowed half and tips the balance.",
        ),
    ),
)

MASKED_ROW = Drill(
    id="causal_mask.masked_row",
    asks="the causal weights of one row",
    stars=1,
    moves=("F",),
    params={"T": LENGTH, "i": QUERY, "scores": SCORES},
    hold=("T", "i"),
    require=lambda scores, i: len(set(scores[:i])) > 1 and max(softmax(scores[:i])) < 0.95,
    solve=lambda scores, i: masked_weights(scores, i),
    answer=Vector(tolerance=within(0.005)),
    steps=lambda scores, i, answer: {
        "seen": scores[:i],
        "exps": _exps(scores[:i]),
        "total": math.fsum(_exps(scores[:i])),
        "weights": answer,
    },
    slips=(
        Slip(
            "mask_missing",
            lambda scores: softmax(scores),
            "The mask is missing; keys after the query get no weight and stay out of the normaliser.",
        ),
        Slip(
            "zeroed_after_softmax",
            zeroed_weights,
            "The future is zeroed after the softmax, so its exponentials stay in the normaliser; mask the scores.",
        ),
        Slip(
            "scores_set_to_zero",
            lambda scores, i: softmax([s if j < i else 0.0 for j, s in enumerate(scores)]),
            "Blocked scores are set to 0, which still gives them weight; minus infinity is what removes them.",
        ),
        Slip(
            "diagonal_blocked",
            lambda scores, i: softmax(scores[: i - 1]) + [0.0] * (len(scores) - i + 1),
            "The token itself is blocked too; query i sees the keys up to and including i.",
        ),
    ),
)

POST_SOFTMAX_SUM = Drill(
    id="causal_mask.post_softmax_sum",
    asks="what is left of a row masked after the softmax",
    stars=1,
    moves=("F",),
    params={"T": LENGTH, "i": QUERY, "scores": SCORES},
    hold=("T", "i"),
    solve=kept_sum,
    answer=Number(tolerance=within(0.005)),
    steps=lambda scores, i, answer: {
        "exps": _exps(scores),
        "seen": math.fsum(_exps(scores[:i])),
        "total": math.fsum(_exps(scores)),
        "sum": answer,
    },
    slips=(
        Slip(
            "still_one",
            lambda: 1,
            "The row is taken to sum to one; the normaliser was computed before the future weights were dropped.",
        ),
        Slip(
            "count_fraction",
            lambda i, T: i / T,
            "Keys are counted; a kept key counts with its exponential, not with one over T.",
        ),
        Slip(
            "future_part",
            lambda answer: 1 - answer,
            "That is the share which was zeroed; the kept keys hold the rest.",
        ),
        Slip(
            "diagonal_lost",
            lambda scores, i: math.fsum(softmax(scores)[: i - 1]),
            "The query's own key is left out; it is visible and keeps its weight.",
        ),
    ),
)

LEAK = Drill(
    id="causal_mask.leak",
    asks="how far the future leaks through a mask after the softmax",
    stars=1,
    moves=("F",),
    params={
        "T": LENGTH, "i": QUERY, "scores": SCORES, "values": VectorOf("T", Ints(0, 4)), "new_score": Ints(-2, 4),
    },
    hold=("T", "i"),
    require=lambda scores, values, i, new_score: leak(scores, values, i, new_score) > 0.02,
    solve=leak,
    answer=Number(tolerance=within(0.005)),
    steps=lambda scores, values, i, new_score, answer: {
        "numerator": dot(_exps(scores[:i]), values[:i]),
        "before": math.fsum(_exps(scores)),
        "after": math.fsum(_exps([*scores[:-1], new_score])),
        "old": _zeroed_output(scores, values, i),
        "new": _zeroed_output([*scores[:-1], new_score], values, i),
        "change": answer,
    },
    slips=(
        Slip(
            "no_leak",
            lambda: 0,
            "The output is taken to stay; the zeroed key's exponential is still part of the normaliser.",
        ),
        Slip(
            "mask_missing",
            lambda scores, values, new_score: abs(
                dot(softmax([*scores[:-1], new_score]), values) - dot(softmax(scores), values)
            ),
            "Future values are averaged in; the bug zeroes their weights, so only the normaliser feels them.",
        ),
        Slip(
            "relative_change",
            lambda scores, values, i, answer: answer / _zeroed_output(scores, values, i),
            "The change is divided by the old output; the absolute change is asked for.",
        ),
    ),
)  # fmt: skip


def _edited(draws: Draws, so_far: Values) -> int:
    return draws.integer(2, min(7, so_far["T"] - 1))


AFFECTED_OUTPUTS = Drill(
    id="causal_mask.affected_outputs",
    asks="which outputs an edited token can change",
    stars=1,
    moves=("S",),
    params={
        "T": Ints(4, 8), "j": Made(_edited, like="whole", values=6), "L": Ints(1, 6), "mask": OneOf("causal", "none"),
    },
    hold=("mask",),
    solve=affected_outputs,
    answer=Set(tolerance=EXACT),
    steps=lambda answer: {"outputs": answer},
    slips=(
        Slip(
            "only_that_token",
            lambda j: [j],
            "Only the edited position is named; every query that sees the token changes with it.",
        ),
        Slip(
            "strictly_later",
            lambda j, T: list(range(j + 1, T + 1)),
            "The edited position itself is left out; it sees its own key and value.",
        ),
        Slip(
            "earlier_ones",
            lambda j: list(range(1, j + 1)),
            "The direction is reversed; a causal query looks back, so changes travel to later positions.",
        ),
        Slip(
            "everything",
            lambda T, mask: list(range(1, T + 1)) if mask == "causal" else None,
            "The mask is ignored; earlier positions never see the edited token, however deep the stack.",
        ),
        Slip(
            "later_only",
            lambda j, T, mask: list(range(j, T + 1)) if mask == "none" else None,
            "A causal mask is assumed; without one every position sees the edited token.",
        ),
    ),
)  # fmt: skip


def _position(draws: Draws, so_far: Values) -> int:
    return draws.integer(1, so_far["T"])


TRIU_VISIBLE = Drill(
    id="causal_mask.triu_visible",
    asks="how many keys a row sees under triu with an offset",
    stars=1,
    moves=("S",),
    params={"T": Ints(4, 10), "i": Made(_position, like="whole", values=10), "k": OneOf(-1, 0, 1, 2)},
    hold=("k",),
    solve=visible_keys,
    answer=Integer(tolerance=EXACT),
    steps=lambda i, k, answer: {"last": i - 1 + k, "visible": answer},
    slips=(
        Slip(
            "one_too_many",
            lambda answer, T: answer + 1 if answer < T else None,
            "One key too many: triu blocks its own k-th diagonal too, so key i + k is the first that is lost.",
        ),
        Slip(
            "one_too_few",
            lambda answer: answer - 1 if answer > 0 else None,
            "One key too few: the last visible key is i − 1 + k, and it is counted.",
        ),
        Slip(
            "offset_ignored",
            lambda i: i,
            "The causal offset k = 1 is assumed; each step of k moves the blocked triangle by one key.",
            branch=True,
        ),
        Slip(
            "blocked_count",
            lambda answer, T: T - answer,
            "The blocked keys are counted; the ones in triu are what is taken away.",
            branch=True,
        ),
    ),
)

BLANK_ROW = Drill(
    id="causal_mask.blank_row",
    asks="the weights of a row without any allowed key",
    stars=1,
    moves=("F",),
    params={
        "T": OneOf(2, 4, 5, 8, 10, 16),
        "fill": OneOf("-inf", "-1e9", "finfo_min", "finfo_min_then_zeroed"),
    },
    require=lambda fill: fill != "finfo_min_then_zeroed",
    solve=lambda T, fill: "nan" if fill == "-inf" else blank_row_weight(T, fill),
    answer=Number(tolerance=within(0.0005)),
    steps=lambda answer: {"weight": answer},
    slips=(
        Slip(
            "zero",
            lambda fill: None if fill == "finfo_min_then_zeroed" else 0,
            "Blocked is read as zero weight; softmax only compares scores within the row, and here none is better.",
        ),
        Slip(
            "uniform",
            lambda T, fill: 1 / T if fill in ("-inf", "finfo_min_then_zeroed") else None,
            "A uniform row needs a finite fill that is left as it is; here it is 0/0, or the row is zeroed at the end.",
        ),
        Slip(
            "nan",
            lambda fill: None if fill == "-inf" else "nan",
            "NaN needs an infinite fill; a finite one cancels when the maximum is subtracted.",
        ),
    ),
    notes="tightened: the row zeroed afterwards is not drawn, since its weight is 0 by construction",
)


# -------------------------------------------------------------------------------------------------------- diagnosis


@dataclass(frozen=True)
class Symptom:
    """What is observed, its cause, and causes that would be right as well and are therefore not offered."""

    text: str
    cause: str
    instead: tuple[str, ...] = ()


SYMPTOMS = {
    "loss_near_zero_garbage_text": Symptom(
        "A new decoder reaches a training loss near 0 within an hour and generates garbage.",
        "future_leak",
        ("mask_after_softmax",),
    ),
    "nan_from_first_row_on": Symptom(
        "With full sequences and no padding, the first row of weights is NaN, and NaN spreads from there.",
        "diagonal_masked_off_by_one",
        ("blank_row_minus_inf",),
    ),
    "nan_only_with_padding": Symptom(
        "Batches of equally long sequences are fine; NaN appears only in batches with padding.",
        "blank_row_minus_inf",
    ),
    "rows_sum_below_one": Symptom(
        "No weight is placed on future keys, but the rows of weights, all but the last, sum to less than 1.",
        "mask_after_softmax",
    ),
    "first_row_uniform_over_all": Symptom(
        "The first query spreads its weight evenly over all keys; nothing is NaN.",
        "diagonal_masked_with_finite_fill",
    ),
    "cached_decode_differs_from_full_pass": Symptom(
        "Token-by-token decoding with a KV cache gives other outputs than the full pass over the same tokens; "
        "each row of weights sums to 1.",
        "future_leak",
        ("mask_after_softmax",),
    ),
}

CAUSES = {
    "future_leak": Option(
        "future_leak",
        "Queries put weight on keys that come after them.",
        "It makes the next token readable in training, and a full pass differ from decoding, where it is not there.",
    ),
    "diagonal_masked_off_by_one": Option(
        "diagonal_masked_off_by_one",
        r"The mask also blocks the diagonal, filled with $-\infty$.",
        "It leaves the first query without any key, so that its row is 0/0.",
    ),
    "diagonal_masked_with_finite_fill": Option(
        "diagonal_masked_with_finite_fill",
        r"The mask also blocks the diagonal, filled with $-10^9$.",
        "It leaves the first query without any key, and equal finite scores give a uniform row.",
    ),
    "blank_row_minus_inf": Option(
        "blank_row_minus_inf",
        r"Some rows have all their keys masked with $-\infty$.",
        "It makes those rows 0/0; padding is what blanks whole rows under a correct causal mask.",
    ),
    "mask_after_softmax": Option(
        "mask_after_softmax",
        "The future weights are set to 0 after the softmax.",
        "It leaves the future in the normaliser, so that the kept weights fall short of 1.",
    ),
    "learning_rate": Option(
        "learning_rate",
        "The learning rate is far too high.",
        "It makes the loss jump or diverge; it changes neither who sees whom nor what a row sums to.",
    ),
    "missing_scale": Option(
        "missing_scale",
        r"The scores are not divided by $\sqrt{d_k}$.",
        "It makes rows too sharp; they still sum to 1 over the allowed keys.",
    ),
}


def _causes(symptom: str) -> list[Option]:
    return [option for key, option in CAUSES.items() if key not in SYMPTOMS[symptom].instead]


DIAGNOSIS = Drill(
    id="causal_mask.diagnosis",
    asks="the likely cause of a masking bug from its symptom",
    stars=1,
    moves=("F",),
    params={"symptom": OneOf(*SYMPTOMS)},
    derive=lambda symptom: {"symptom_text": SYMPTOMS[symptom].text},
    solve=lambda symptom: SYMPTOMS[symptom].cause,
    options=_causes,
    answer=Choice(tolerance=EXACT),
    steps=lambda answer: {"cause": answer},
    slips=(
        Slip(
            "blames_learning_rate",
            lambda: "learning_rate",
            "The optimiser is blamed; a wrong step size cannot change which keys a row may see or what it sums to.",
        ),
        Slip(
            "blames_scale",
            lambda: "missing_scale",
            "The scale is blamed; without it rows are too sharp, yet they stay normalised over the allowed keys.",
        ),
        Slip(
            "leak_by_default",
            lambda answer: None if answer == "future_leak" else "future_leak",
            "Not every mask bug is weight on the future: ask which rows are wrong, and what they sum to.",
        ),
    ),
)

FRACTION_FORMULA = Drill(
    id="causal_mask.fraction_formula",
    asks="the share of allowed pairs as a formula",
    stars=1,
    moves=("S",),
    params={},
    solve=lambda: "(T+1)/(2 T)",
    answer=Expression(symbols={"T": "integer >= 1"}, tolerance=EQUIVALENT),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "half",
            lambda: "1/2",
            "One half is the limit for long sequences; the diagonal lifts every finite share above it.",
        ),
        Slip(
            "diagonal_lost",
            lambda: "(T-1)/(2 T)",
            "The diagonal is left out; every token sees itself.",
        ),
        Slip(
            "count",
            lambda: "T (T+1)/2",
            "That is the number of pairs; the share divides it by all $T^2$ of them.",
        ),
    ),
)

CARD = Card(
    number=6,
    slug="c06_causal_mask",
    title="Causal masks",
    stars=1,
    moves=("F", "S"),
    statement=(
        r"Scores of later keys are set to $-\infty$ before the softmax; their weights become exactly 0 and their "
        r"exponentials leave the normaliser, so output $i$ depends on tokens 1 to $i$ alone, through any number of "
        r"layers. Therefore cached keys and values stay valid. A row without any key is 0/0, and zeroing weights "
        r"afterwards keeps the future in the normaliser."
    ),
    formulas=(
        r"M_{ij} = -\infty \;\; (j > i) \;\Rightarrow\; p_{ij} = 0 \;\; (j > i)",
        r"p_{ij} = \frac{e^{s_{ij}}}{\sum_{r \le i} e^{s_{ir}}} \;\; (j \le i)",
        r"\frac{T (T + 1) / 2}{T^2} = \frac{T + 1}{2 T}",
    ),
    drills=(
        ALLOWED_FRACTION, ALLOWED_PAIRS, MASKED_ROW, POST_SOFTMAX_SUM, LEAK, AFFECTED_OUTPUTS, TRIU_VISIBLE,
        BLANK_ROW, DIAGNOSIS, FRACTION_FORMULA,
    ),
)  # fmt: skip
