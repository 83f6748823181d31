"""Card 18: attention sinks, the advantage they need, and the cap that query-key normalisation sets.

Source: card 18 (Xiao et al. 2023). Logits are natural; a row has T keys, of which T − 1 share one logit and the sink
lies a above them. With QK-norm, queries and keys are unit vectors and a logit is g times their cosine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from grading.kinds.expression import Expression
from grading.kinds.number import Number
from grading.kinds.set_ import Set
from grading.tolerance import EQUIVALENT, EXACT, rel, within
from solvers.domains import Ints, Made, OneOf, Vector
from solvers.drill import Card, Drill, Slip
from solvers.statements import Statement, minus, plus, statement_drill


def sink_share(a: float, T: int, sinks: int = 1) -> float:
    """Share of a row that `sinks` equal sinks take together, each a above the T − sinks other keys."""
    return sinks / (sinks + (T - sinks) * math.exp(-a))


def advantage(w: float, T: int) -> float:
    """How far one key must lie above T − 1 equal ones to take the share w: ln(w(T − 1)/(1 − w))."""
    return math.log(w * (T - 1) / (1 - w))


def weight_cap(g: float, T: int) -> float:
    """Largest weight of any of T keys when every logit lies in [−g, g]: its own at g, all others at −g."""
    return 1 / (1 + (T - 1) * math.exp(-2 * g))


def gain_needed(w: float, T: int) -> float:
    """Smallest gain g at which some of T keys can reach the weight w: half the advantage, since g spans 2g."""
    return advantage(w, T) / 2


def kernel_bandwidth(g: float) -> float:
    """λ of the Gaussian kernel e^{−|q−k|²/2λ²} that e^{g cos} is on unit vectors: 1/√g."""
    return 1 / math.sqrt(g)


def output_with_sink(w: float, values: Sequence[float]) -> float:
    """Output of a row whose zero-valued sink takes w while the other tokens share the rest equally."""
    return (1 - w) * sum(values) / len(values)


def eviction_factor(w: float) -> float:
    """By which factor all remaining weights grow once a key of share w is gone."""
    return 1 / (1 - w)


def kept_positions(n: int, window: int, t: int) -> list[int]:
    """Positions (from 1) in a cache of the first n tokens and the latest `window` ones at step t, ascending."""
    if min(t, n + window) > 100_000:
        raise ValueError("positions are listed one by one, up to 100,000 of them")
    return sorted({*range(1, min(n, t) + 1), *range(max(1, t - window + 1), t + 1)})


ODDS_FORGOTTEN = "The weight stands where the odds belong; divide $w$ by $1 - w$."
LOG10 = "A base-10 log is taken; the exponential in the softmax is undone by the natural log."
ONE_COMPETITOR = "A single competitor is counted; all $T - 1$ other keys are in the denominator."

SHARE = Drill(
    id="sinks.share",
    asks="the share that a key with a given advantage takes",
    stars=2,
    moves=("F",),
    params={"T": OneOf(5, 8, 16, 32, 64, 128, 512, 1024, 4096), "a": Ints(1, 9)},
    require=lambda a, T: 0.05 <= sink_share(a, T) <= 0.97,
    solve=sink_share,
    answer=Number(unit="none or %", tolerance=within(0.002)),
    steps=lambda a, T, answer: {"exp": math.exp(a), "total": math.exp(a) + T - 1, "answer": answer},
    slips=(
        Slip(
            "odds",
            lambda a, T: math.exp(a) / (T - 1),
            "The odds against the others are given; a share also counts the key itself in the denominator.",
        ),
        Slip("sigmoid", lambda a: 1 / (1 + math.exp(-a)), ONE_COMPETITOR),
        Slip(
            "linear_share",
            lambda a, T: a / (a + T - 1),
            "The logit itself is shared out; the softmax shares its exponential, $e^a$ against 1 for each other key.",
        ),
        Slip(
            "complement",
            lambda a, T: (T - 1) / (math.exp(a) + T - 1),
            "The share of the other keys together is given; the one key has $e^a$ in the numerator.",
        ),
    ),
)

ADVANTAGE = Drill(
    id="sinks.advantage",
    asks="the logit advantage that a given share needs",
    stars=2,
    moves=("F",),
    params={
        "T": OneOf(16, 64, 128, 512, 1024, 4096, 32768, 131072),
        "w": OneOf(0.3, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99),
    },
    solve=advantage,
    answer=Number(tolerance=rel(0.01)),
    steps=lambda w, T, answer: {
        "others": T - 1,
        "odds": round(w / (1 - w), 12),
        "exp": w * (T - 1) / (1 - w),
        "answer": answer,
    },
    slips=(
        Slip("other_keys_forgotten", lambda w: math.log(w / (1 - w)), ONE_COMPETITOR),
        Slip("odds_forgotten", lambda w, T: math.log(w * (T - 1)), ODDS_FORGOTTEN),
        Slip("log10", lambda answer: answer / math.log(10), LOG10),
        Slip(
            "odds_inverted",
            lambda w, T: math.log((1 - w) * (T - 1) / w),
            "The odds are upside down; a larger share needs a larger advantage, so $w$ stands on top.",
        ),
    ),
)

ADVANTAGE_EXPRESSION = Drill(
    id="sinks.advantage_expression",
    asks="the advantage through share and row length, as a formula",
    stars=2,
    moves=("F",),
    params={},
    solve=lambda: "ln(w (T-1)/(1-w))",
    answer=Expression(symbols={"w": "0 < w < 1", "T": "integer >= 2"}, tolerance=EQUIVALENT),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "T_not_reduced",
            lambda: "ln(w T/(1-w))",
            "The key is counted among its own competitors; only $T - 1$ others are left.",
        ),
        Slip(
            "odds_inverted",
            lambda: "ln((1-w) (T-1)/w)",
            "The odds are upside down; a larger share needs a larger advantage, so $w$ stands on top.",
        ),
        Slip("log_missing", lambda: "w (T-1)/(1-w)", "This is $e^a$; take its natural log to get the logit."),
    ),
)

CAP = Drill(
    id="sinks.cap",
    asks="the largest weight under query-key normalisation",
    stars=2,
    moves=("F",),
    params={"T": OneOf(16, 64, 256, 1024, 4096, 32768), "g": OneOf(0.5, 1, 2, 3, 4, 5, 6)},
    require=lambda g, T: 0.01 <= weight_cap(g, T) <= 0.97,
    solve=weight_cap,
    answer=Number(unit="none or %", tolerance=rel(0.01)),
    steps=lambda g, T, answer: {
        "top": math.exp(g),
        "low": math.exp(-g),
        "others": (T - 1) * math.exp(-g),
        "answer": answer,
    },
    slips=(
        Slip(
            "others_at_zero",
            lambda g, T: math.exp(g) / (math.exp(g) + T - 1),
            "The other keys are taken as orthogonal; the weight is largest when they point the opposite way, at $-g$.",
        ),
        Slip("others_forgotten", lambda g: 1 / (1 + math.exp(-2 * g)), ONE_COMPETITOR),
    ),
)

GAIN_NEEDED = Drill(
    id="sinks.gain_needed",
    asks="the smallest gain that allows a given weight",
    stars=2,
    moves=("F",),
    params={"T": OneOf(64, 256, 1024, 4096, 32768, 131072), "w": OneOf(0.5, 0.6, 0.8, 0.9, 0.95, 0.99)},
    solve=gain_needed,
    answer=Number(tolerance=rel(0.01)),
    steps=lambda w, T, answer: {
        "others": T - 1,
        "odds": round(w / (1 - w), 12),
        "exp": w * (T - 1) / (1 - w),
        "span": 2 * answer,
        "answer": answer,
    },
    slips=(
        Slip(
            "half_lost",
            lambda answer: 2 * answer,
            "The whole span of the logits is given; it reaches from $-g$ to $g$, so $g$ is half of it.",
        ),
        Slip("others_forgotten", lambda w: math.log(w / (1 - w)) / 2, ONE_COMPETITOR),
        Slip("odds_forgotten", lambda w, T: math.log(w * (T - 1)) / 2, ODDS_FORGOTTEN),
        Slip("log10", lambda answer: answer / math.log(10), LOG10),
    ),
)

BANDWIDTH = Drill(
    id="sinks.bandwidth",
    asks="the Gaussian bandwidth that a gain amounts to",
    stars=2,
    moves=("F",),
    params={"g": OneOf(0.0625, 0.0884, 0.125, 0.25, 0.5, 2, 4, 5, 8, 10)},
    solve=kernel_bandwidth,
    answer=Number(tolerance=rel(0.01)),
    steps=lambda g, answer: {"root": math.sqrt(g), "answer": answer},
    slips=(
        Slip("inverse", lambda g: 1 / g, "The reciprocal of g is the squared bandwidth; take its root."),
        Slip(
            "root",
            lambda g: math.sqrt(g),
            "The root of g is given; a larger gain is a narrower kernel, so it stands below the line.",
        ),
        Slip(
            "two_inside",
            lambda g: math.sqrt(2 / g),
            "A 2 is left over; the squared distance holds 2 − 2 cos, and its 2 meets the kernel's own.",
        ),
    ),
)

OUTPUT_WITH_SINK = Drill(
    id="sinks.output_with_sink",
    asks="the output of a row that parks part of its weight",
    stars=2,
    moves=("F",),
    params={
        "w": OneOf(0.2, 0.3, 0.4, 0.6, 0.75, 0.8, 0.9),
        "values": Vector((3, 4, 5, 6), Ints(-2, 8)),
    },
    derive=lambda values: {"count": len(values)},
    require=lambda w, values: (
        abs(sum(values)) >= 2 and round(abs(output_with_sink(w, values)), 9) not in {1, w, *(abs(v) for v in values)}
    ),
    solve=output_with_sink,
    answer=Number(tolerance=within(0.005)),
    steps=lambda w, values, answer: {
        "sum": sum(values),
        "mean": sum(values) / len(values),
        "left": round(1 - w, 12),
        "answer": answer,
    },
    slips=(
        Slip(
            "sink_ignored",
            lambda values: sum(values) / len(values),
            "The sink's share is given to the others; its value is zero, but its weight is still spent.",
        ),
        Slip(
            "plain_mean_with_sink",
            lambda values: sum(values) / (len(values) + 1),
            "All tokens are weighted equally, the sink included; the sink takes $w$ and the others share $1 - w$.",
        ),
        Slip(
            "sink_share_used",
            lambda w, values: w * sum(values) / len(values),
            "The mean is multiplied by the sink's share; what reaches the other tokens is $1 - w$.",
        ),
    ),
    notes="tightened: the answer is neither 1 nor a number that the problem shows",
)

EVICTION_FACTOR = Drill(
    id="sinks.eviction_factor",
    asks="how the other weights grow when the sink is evicted",
    stars=2,
    moves=("F",),
    params={"w": OneOf(0.2, 0.3, 0.4, 0.6, 0.75, 0.8, 0.9, 0.95)},
    solve=eviction_factor,
    answer=Number(tolerance=rel(0.01)),
    steps=lambda w, answer: {"left": round(1 - w, 12), "answer": answer},
    slips=(
        Slip(
            "no_change", lambda: 1, "The weights are left as they are; without the sink they no longer add up to one."
        ),
        Slip("added", lambda w: 1 + w, "The share is added to one; the rest must be divided by what is left, $1 - w$."),
        Slip("inverse_of_share", lambda w: 1 / w, "The sink's own share is inverted; the rest is divided by $1 - w$."),
        Slip("shrinks", lambda w: 1 - w, "The weights shrink here; they must grow to add up to one again."),
    ),
)

KEPT_POSITIONS = Drill(
    id="sinks.kept_positions",
    asks="which positions a streaming cache with sinks holds",
    stars=2,
    moves=("F",),
    params={
        "n": OneOf(1, 2, 4),
        "window": Ints(3, 8),
        "t": Made(
            lambda draws, so_far: draws.integer(max(12, so_far["n"] + so_far["window"] + 2), 40),
            like="whole",
            values=29,
        ),
    },
    solve=kept_positions,
    answer=Set(tolerance=EXACT),
    steps=lambda n, window, t, answer: {"first": t - window + 1, "count": n + window, "kept": answer},
    slips=(
        Slip(
            "sinks_evicted",
            lambda window, t: kept_positions(0, window, t),
            "Only the window is kept; the first tokens stay for good, since heads park weight on them.",
        ),
        Slip(
            "window_one_too_long",
            lambda n, window, t: kept_positions(n, window + 1, t),
            "The window is one too long; the newest token counts as one of its places.",
        ),
        Slip(
            "oldest_only",
            lambda n, window: kept_positions(n + window, 0, n + window),
            "The oldest tokens are kept and the latest lost; the window follows the newest token.",
        ),
    ),
)

STATEMENTS = statement_drill(
    id="sinks.statements",
    asks="what is true of attention sinks",
    stars=2,
    moves=("F",),
    statements=(
        Statement(
            "first_token_is_important",
            "A large weight on the first token shows that its content matters for the output.",
            False,
            "Weight times value counts, and a sink's value is near zero.",
        ),
        Statement(
            "sink_is_a_bug",
            "A sink is a training defect that should be suppressed.",
            False,
            "It is how a head that has nothing to read leaves its output almost unchanged.",
        ),
        Statement(
            "evicting_oldest_removes_sinks",
            "A cache that evicts the oldest tokens first throws the sinks away.",
            True,
            "Sinks usually sit on the first tokens, which every later query can see.",
        ),
        Statement(
            "weights_must_sum_to_one",
            "Even a head that finds nothing worth reading has to spend weights that add up to one.",
            True,
            "The softmax has no way to attend to nothing.",
        ),
        Statement(
            "sink_value_near_zero",
            "The value vector of a sink token is typically close to zero.",
            True,
            "So the parked weight adds almost nothing to the output.",
        ),
        Statement(
            "keep_first_few_tokens",
            "Keeping the first few tokens beside a sliding window restores streaming quality.",
            True,
            "StreamingLLM keeps four of them.",
        ),
        Statement(
            "advantage_grows_like_log_T",
            "The logit advantage that a fixed share needs grows like the logarithm of the row's length.",
            True,
            "It is $\\ln(w (T - 1)/(1 - w))$.",
        ),
        Statement(
            "advantage_grows_linearly_in_T",
            "The logit advantage that a fixed share needs grows in proportion to the row's length.",
            False,
            "The exponential turns a small advantage into a large factor, so the logarithm of the length suffices.",
        ),
        Statement(
            "qk_norm_caps_weights",
            "With unit queries and keys and a fixed gain, the largest possible weight in a row of a given length is "
            "below one.",
            True,
            "Logits lie between $-g$ and $g$, so no key can lead by more than $2g$.",
        ),
        Statement(
            "sink_contributes_most_of_output",
            "A sink that takes most of the weight supplies most of the head's output.",
            False,
            "Its value is near zero; what output there is comes from the other tokens.",
        ),
    ),
    always=("first_token_is_important", "sink_is_a_bug", "evicting_oldest_removes_sinks"),
    count=3,
    slips=(
        Slip(
            "importance",
            lambda answer, options: minus(plus(answer, options, "first_token_is_important"), "sink_value_near_zero"),
            "A large weight is read as importance; a sink's value is near zero, so it contributes almost nothing.",
        ),
        Slip(
            "bug",
            lambda answer, options: plus(answer, options, "sink_is_a_bug"),
            "The sink is taken for a defect; it is a head's way of doing nothing, and removing it does harm.",
        ),
        Slip(
            "eviction_harmless",
            lambda answer: minus(answer, "evicting_oldest_removes_sinks"),
            "Dropping the oldest tokens is held to be safe; they are the sinks, and their weight lands elsewhere.",
        ),
    ),
)

SHARE_FORMULA = Drill(
    id="sinks.share_formula",
    asks="the share of a sink as a formula",
    stars=2,
    moves=("F",),
    params={},
    solve=lambda: "e^a/(e^a + T - 1)",
    answer=Expression(symbols={"a": "real", "T": "integer >= 2"}, tolerance=EQUIVALENT),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip("T_keys", lambda: "e^a/(e^a + T)", "The sink is counted among the others as well; only $T - 1$ are left."),
        Slip("two_keys", lambda: "1/(1 + e^(-a))", ONE_COMPETITOR),
        Slip(
            "others_share",
            lambda: "(T - 1)/(e^a + T - 1)",
            "The share of the others together is given; the sink has $e^a$ in the numerator.",
        ),
    ),
)

CAP_FORMULA = Drill(
    id="sinks.cap_formula",
    asks="the largest weight under query-key normalisation as a formula",
    stars=2,
    moves=("F",),
    params={},
    solve=lambda: "e^g/(e^g + (T-1) e^(-g))",
    answer=Expression(symbols={"g": "g > 0", "T": "integer >= 2"}, tolerance=EQUIVALENT),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "others_at_zero",
            lambda: "e^g/(e^g + T - 1)",
            "The other keys are taken as orthogonal; the weight is largest when they point the opposite way, at $-g$.",
        ),
        Slip(
            "T_keys",
            lambda: "e^g/(e^g + T e^(-g))",
            "The leading key is counted among the others as well; only $T - 1$ are left.",
        ),
    ),
)

GAIN_FORMULA = Drill(
    id="sinks.gain_formula",
    asks="the smallest gain that allows a share, as a formula",
    stars=2,
    moves=("F",),
    params={},
    solve=lambda: "1/2 ln(w (T-1)/(1-w))",
    answer=Expression(symbols={"w": "0 < w < 1", "T": "integer >= 2"}, tolerance=EQUIVALENT),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "half_lost",
            lambda: "ln(w (T-1)/(1-w))",
            "The whole span of the logits is given; it reaches from $-g$ to $g$, so $g$ is half of it.",
        ),
        Slip(
            "T_keys",
            lambda: "1/2 ln(w T/(1-w))",
            "The leading key is counted among the others as well; only $T - 1$ are left.",
        ),
        Slip(
            "odds_inverted",
            lambda: "1/2 ln((1-w)(T-1)/w)",
            "The odds are upside down; a larger share needs a larger gain, so $w$ stands on top.",
        ),
    ),
)

CARD = Card(
    number=18,
    slug="c18_sinks",
    title="Attention sinks and QK-norm",
    stars=2,
    moves=("F",),
    statement=(
        "A row's weights add up to one, so a head with nothing to read parks them on a token whose value is near zero. "
        "The advantage that this needs grows with ln T only. Normalised queries and keys bound every logit, and so "
        "every weight."
    ),
    formulas=(
        r"w = \frac{e^a}{e^a + T - 1}, \qquad a = \ln\frac{w (T - 1)}{1 - w}",
        r"\max_j p_{ij} \le \frac{e^g}{e^g + (T - 1)\, e^{-g}}",
        r"g \ge \tfrac{1}{2} \ln\frac{w (T - 1)}{1 - w}, \qquad \lambda = \frac{1}{\sqrt{g}}",
    ),
    drills=(
        SHARE,
        ADVANTAGE,
        ADVANTAGE_EXPRESSION,
        CAP,
        GAIN_NEEDED,
        BANDWIDTH,
        OUTPUT_WITH_SINK,
        EVICTION_FACTOR,
        KEPT_POSITIONS,
        STATEMENTS,
        SHARE_FORMULA,
        CAP_FORMULA,
        GAIN_FORMULA,
    ),
)
