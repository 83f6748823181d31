"""Card 2: the softmax, its shift invariance, temperature, and the logsumexp that cannot overflow.

Source: card 2. Scores and their logarithms are in nats; number formats' limits in solvers/facts.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from grading.kinds.expression import Expression
from grading.kinds.indexed import Indexed
from grading.kinds.integer import Integer
from grading.kinds.multi_choice import MultiChoice
from grading.kinds.number import Number
from grading.kinds.option import Option
from grading.kinds.parts import Part, Parts
from grading.kinds.vector import Vector
from grading.tolerance import EQUIVALENT, EXACT, rel, within
from solvers import facts
from solvers.algebra import Row, logsumexp, scaled, softmax
from solvers.domains import Made, OneOf, Steps, Values
from solvers.draws import Draws
from solvers.drill import Card, Drill, Slip

SMALLEST_NORMAL = {"fp16": 2.0**-14, "bf16": 2.0**-126, "fp32": 2.0**-126, "fp64": 2.0**-1022}
"""Smallest number that still has the full precision of its format."""
SMALLEST = {"fp16": 2.0**-24, "bf16": 2.0**-133, "fp32": 2.0**-149, "fp64": 2.0**-1074}
"""Smallest positive (subnormal) number; half of it and less rounds to zero."""


# Computations -------------------------------------------------------------------------------------------------------


def largest_exponent(dtype: str) -> float:
    """ln of the largest finite number: the argument above which exp overflows in that format."""
    return math.log(facts.LARGEST[dtype])


def softmax_limit(scores: Row, limit: str) -> list[float]:
    """The weights [T] as the temperature goes to "zero" (equal shares of the maximisers) or "infinity" (1/T)."""
    if limit == "infinity":
        return [1 / len(scores)] * len(scores)
    top = max(scores)
    share = 1 / sum(1 for s in scores if s == top)
    return [share if s == top else 0.0 for s in scores]


def temperature_for(gap: float, weight: float) -> float:
    """The temperature at which the better of two keys, ahead by `gap`, gets `weight` (between 1/2 and 1)."""
    if not 0.5 < weight < 1:
        raise ValueError(f"w={weight}: the better of two keys has a weight between 1/2 and 1")
    return gap / math.log(weight / (1 - weight))


def log_softmax_jacobian(scores: Row) -> list[list[float]]:
    """∂ ln p_i / ∂ s_j = δ_ij − p_j, [T, T]."""
    p = softmax(scores)
    return [[(i == j) - p[j] for j in range(len(p))] for i in range(len(p))]


def lse_gradient(scores: Row, tau: float = 1.0) -> list[float]:
    """Gradient of τ · logsumexp(s/τ) with respect to s, [T]: the weights at that temperature."""
    return softmax(scores, tau)


def largest_equal_row(x: float, dtype: str) -> int:
    """Most keys of equal score x whose unshifted exponentials have a finite sum in the format: ⌊max · e^{−x}⌋."""
    return math.floor(facts.LARGEST[dtype] * math.exp(-x))


def shifted_range(scores: Row, shift: float) -> tuple[float, float]:
    """Largest exponent of a row after the shift, and the logarithm of its sum of exponentials."""
    return max(scores) - shift, logsumexp(scores) - shift


def shift_works(scores: Row, shift: float, dtype: str) -> bool:
    """Whether exponentiating s − shift and summing in the format gives a finite softmax of full precision."""
    top, total = shifted_range(scores, shift)
    return total < largest_exponent(dtype) and top >= math.log(SMALLEST_NORMAL[dtype])


SCHEMES = ("naive", "subtract_max", "subtract_min", "subtract_mean")


def shift_of(scheme: str, scores: Row) -> float:
    """What a scheme subtracts from every score."""
    return {
        "naive": 0.0, "subtract_max": max(scores), "subtract_min": min(scores),
        "subtract_mean": sum(scores) / len(scores),
    }[scheme]  # fmt: skip


def safe_schemes(scores: Row, dtype: str) -> list[str]:
    """The schemes that work for this row in this format, ascending by key."""
    return sorted(s for s in SCHEMES if shift_works(scores, shift_of(s, scores), dtype))


# What is drawn ------------------------------------------------------------------------------------------------------


def _spread_scores(draws: Draws, so_far: Values) -> list[int]:
    """3 or 4 integers in -2..4 with a spread of 2 to 4 and one maximum."""
    del so_far
    count = draws.choice((3, 4, 4, 4))  # four scores make more different rows
    while True:
        top = draws.integer(0, 4)
        low = max(-2, top - draws.integer(2, 4))
        rest = [draws.integer(low, top - 1) for _ in range(count - 2)]
        if top - low >= 2:
            return draws.shuffled([top, low, *rest])


SCORES = Made(_spread_scores, like="vector")


def _huge_scores(draws: Draws, so_far: Values) -> list[float]:
    """A base that no format survives to exponentiate (or that vanishes) and 1 to 3 scores 0 to 3 below it."""
    del so_far
    base = draws.choice((1000, 2500, 740, 95, -900))
    gaps = [draws.integer(0, 6) / 2 for _ in range(draws.integer(1, 3))]
    return draws.shuffled([base, *(_whole(base - g) for g in gaps)])


def _whole(x: float) -> float:
    return int(x) if x == int(x) else x


def _tied_scores(draws: Draws, so_far: Values) -> list[int]:
    """3 to 5 integers in -3..5, not all equal; in half of the draws the maximum is shared."""
    del so_far
    count = draws.integer(3, 5)
    top = draws.integer(-1, 5)
    tied = draws.choice((1, 1, 2, 2, 3))
    tied = min(tied, count - 1)
    return draws.shuffled([*[top] * tied, *(draws.integer(-3, top - 1) for _ in range(count - tied))])


def _offset_scores(draws: Draws, so_far: Values) -> list[int]:
    """4 scores spaced by multiples of one step around an offset.

    The spread is drawn so that every set of working schemes is common: the minimum is a safe shift, or only the mean
    and the maximum are, or the maximum alone; and the row as it is fits, overflows or vanishes.
    """
    half = so_far["dtype"] == "fp16"
    step = draws.integer(1, 3) if half else draws.integer(5, 20)
    unit = 1 if half else 8  # the exponents of fp32 reach eight times as far as those of fp16
    low, high = draws.choice(((3, 9), (13, 18), (18, 30)))
    reach = max(1, round(draws.integer(low * unit, high * unit) / step))
    inner = {3: (0, reach), 13: (0, reach // 2), 18: (reach // 2, reach)}[low]
    least, most = draws.choice(((-6, 9), (-6, 9), (13, 40), (-45, -20)))
    top = draws.integer(least * unit, most * unit)
    multiples = [0, reach, draws.integer(*inner), draws.integer(*inner)]
    return draws.shuffled([top - step * k for k in multiples])


def _far_from_limits(scores: Row, dtype: str) -> bool:
    """No scheme's top exponent or log-sum within 1 of a limit, and no top exponent among the subnormal numbers."""
    high, low, zero = (
        largest_exponent(dtype), math.log(SMALLEST_NORMAL[dtype]), math.log(SMALLEST[dtype] / 2),
    )  # fmt: skip
    for scheme in SCHEMES:
        top, total = shifted_range(scores, shift_of(scheme, scores))
        if abs(top - high) < 1 or abs(total - high) < 1 or zero - 1 < top < low + 1:
            return False
    return True


def _terms(scores: Row, tau: float = 1.0) -> dict[str, Any]:
    """The steps of a softmax row by hand: gaps below the maximum, exponentials, their sum."""
    m = max(scores)
    gaps = [(s - m) / tau for s in scores]
    terms = [math.exp(g) for g in gaps]
    return {"m": m, "gaps": gaps, "terms": terms, "total": sum(terms)}


def _one_hot(row: Row, at: float) -> list[float]:
    first = list(row).index(at)
    return [1.0 if i == first else 0.0 for i in range(len(row))]


# Drills -------------------------------------------------------------------------------------------------------------

SHIFT = Drill(
    id="softmax.shift",
    asks="the weights after a constant is added to every score",
    stars=1,
    moves=("F",),
    params={"scores": SCORES, "c": OneOf(-20, -7, -3, 2, 3, 5, 10, 50)},
    solve=lambda scores: softmax(scores),
    answer=Vector(tolerance=within(0.005)),
    steps=lambda scores, answer: {**_terms(scores), "weights": answer},
    slips=(
        Slip(
            "scaled_instead",
            lambda scores, c: softmax(scaled(scores, c)),
            "The constant multiplies the scores; here it is added, and an added constant cancels in the fraction.",
        ),
        Slip(
            "numerator_only",
            lambda answer, c: scaled(answer, math.exp(c)),
            "Only the numerator is shifted; the constant enters every exponential, so the sum below grows alike.",
        ),
        Slip(
            "denominator_only",
            lambda answer, c: scaled(answer, math.exp(-c)),
            "Only the sum is shifted; the constant enters the exponential above the line as well, and cancels.",
        ),
    ),
)

LOGSUMEXP = Drill(
    id="softmax.logsumexp",
    asks="the logsumexp of scores whose exponentials overflow or vanish",
    stars=1,
    moves=("F",),
    params={"scores": Made(_huge_scores, like="vector")},
    derive=lambda scores: {"format": "fp32" if max(scores) > 88.72 or max(scores) < -104 else "fp16"},
    solve=lambda scores: logsumexp(scores),
    answer=Number(unit="nats", tolerance=within(0.005)),
    steps=lambda scores, answer: {**_terms(scores), "log": math.log(_terms(scores)["total"]), "lse": answer},
    slips=(
        Slip(
            "max_not_added_back",
            lambda scores, answer: answer - max(scores),
            "The factored-out maximum is not added back; it leaves the logarithm as the summand m.",
        ),
        Slip(
            "max_only",
            lambda scores: max(scores),
            "Only the maximum is given; the logarithm of the remaining sum, at least 0, has to be added.",
        ),
        Slip(
            "sign_of_log",
            lambda scores, answer: 2 * max(scores) - answer,
            "The logarithm of the shifted sum is subtracted; a product inside the logarithm adds it to m.",
        ),
        Slip(
            "log10",
            lambda scores, answer: max(scores) + (answer - max(scores)) / math.log(10),
            "A base-10 logarithm is taken; it must undo e to the power of a score, so it is the natural one.",
        ),
    ),
    notes="The gaps are multiples of 1/2, so that answers are many and mental arithmetic stays easy.",
)

TEMPERATURE = Drill(
    id="softmax.temperature",
    asks="the weights at a temperature",
    stars=1,
    moves=("F",),
    params={"scores": SCORES, "tau": OneOf(0.5, 1.5, 2, 3, 4)},
    solve=lambda scores, tau: softmax(scores, tau),
    answer=Vector(tolerance=within(0.005)),
    steps=lambda scores, tau, answer: {**_terms(scores, tau), "weights": answer},
    slips=(
        Slip(
            "multiplied",
            lambda scores, tau: softmax(scaled(scores, tau)),
            "The scores are multiplied by the temperature; they are divided by it.",
        ),
        Slip(
            "ignored",
            lambda scores: softmax(scores),
            "The temperature is ignored; softmax is blind to a common shift, not to a common factor.",
        ),
        Slip(
            "weights_divided",
            lambda scores, tau: scaled(softmax(scores), 1 / tau),
            "The finished weights are divided, so they no longer sum to one; divide the scores before exponentiating.",
        ),
        Slip(
            "squared",
            lambda scores, tau: softmax(scores, tau * tau),
            "The scores are divided by the temperature twice; once is meant.",
        ),
    ),
)

TEMPERATURE_LIMIT = Drill(
    id="softmax.temperature_limit",
    asks="the limit of the weights for a cold or hot softmax",
    stars=1,
    moves=("F",),
    params={"scores": Made(_tied_scores, like="vector"), "limit": OneOf("zero", "infinity")},
    derive=lambda limit: {"arrow": r"\tau \to 0" if limit == "zero" else r"\tau \to \infty"},
    solve=softmax_limit,
    answer=Vector(tolerance=within(0.0005)),
    steps=lambda scores, limit, answer: {
        "m": max(scores),
        "gaps": [s - max(scores) for s in scores],
        "tied": sum(1 for s in scores if s == max(scores)),
        "count": len(scores),
        "cold": limit == "zero",
        "weights": answer,
    },
    slips=(
        Slip(
            "limits_swapped",
            lambda scores, limit: softmax_limit(scores, "infinity" if limit == "zero" else "zero"),
            "The two limits are exchanged: cold (temperature to zero) is hard selection, hot is uniform.",
        ),
        Slip(
            "tau_one",
            lambda scores: softmax(scores),
            "These are the weights at temperature one; let the temperature go to its limit.",
        ),
        Slip(
            "smallest_wins",
            lambda scores: _one_hot(scores, min(scores)),
            "All weight goes to the lowest score; the highest exponent is the one that survives division.",
        ),
        Slip(
            "tie_ignored",
            lambda scores, limit, answer: (
                _one_hot(scores, max(scores)) if limit == "zero" and max(answer) < 1 else None
            ),
            "One of several equal top scores takes everything; equal scores have equal weights at every temperature.",
        ),
    ),
)

TEMPERATURE_SOLVE = Drill(
    id="softmax.temperature_solve",
    asks="the temperature at which the better of two keys gets a given weight",
    stars=1,
    moves=("F",),
    params={"a": Steps(1, 5, 0.05), "w": OneOf(0.6, 0.7, 0.75, 0.8, 0.9, 0.95, 0.99)},
    solve=lambda a, w: temperature_for(a, w),
    answer=Number(tolerance=rel(0.01)),
    steps=lambda a, w, answer: {
        "rest": round(1 - w, 10),
        "odds": w / (1 - w),
        "log": math.log(w / (1 - w)),
        "tau": answer,
    },
    slips=(
        Slip(
            "inverted",
            lambda answer: 1 / answer,
            "The fraction is upside down; gap over temperature equals the log-odds, so divide the gap by them.",
        ),
        Slip(
            "log_of_weight",
            lambda a, w: a / abs(math.log(w)),
            "The logarithm of the weight is used; the gap fixes the ratio of both weights, the odds.",
        ),
        Slip(
            "log10_odds",
            lambda a, w: a / math.log10(w / (1 - w)),
            "A base-10 logarithm of the odds is taken; softmax uses e, so the natural one is needed.",
        ),
        Slip(
            "product",
            lambda a, w: a * math.log(w / (1 - w)),
            "The gap is multiplied by the log-odds; the temperature is the gap divided by them.",
        ),
    ),
)  # fmt: skip

OVERFLOW_THRESHOLD = Drill(
    id="softmax.overflow_threshold",
    asks="the argument above which exp overflows in a number format",
    stars=1,
    moves=("F",),
    params={"dtype": OneOf("fp16", "bf16", "fp32", "fp64")},
    derive=lambda dtype: {"largest": facts.LARGEST[dtype]},
    solve=largest_exponent,
    answer=Number(tolerance=rel(0.01)),
    steps=lambda answer, largest: {"log10": math.log10(largest), "ln10": math.log(10), "threshold": answer},
    slips=(
        Slip(
            "log2",
            lambda largest: math.log2(largest),
            "A base-2 logarithm is taken; it inverts a power of two, while exp is a power of e.",
        ),
        Slip(
            "log10",
            lambda largest: math.log10(largest),
            "A base-10 logarithm is taken; exp is a power of e, so invert it with the natural logarithm.",
        ),
        Slip(
            "the_maximum_itself",
            lambda largest: largest,
            "This is the largest number of the format; asked is the exponent at which exp reaches it.",
        ),
    ),
)


def _scheme_options(scores: Sequence[float], dtype: str) -> list[Option]:
    text = {
        "naive": "Nothing is subtracted.",
        "subtract_max": "The maximum of the row is subtracted.",
        "subtract_min": "The minimum of the row is subtracted.",
        "subtract_mean": "The mean of the row is subtracted.",
    }
    return [Option(s, text[s], _scheme_reason(scores, dtype, s)) for s in SCHEMES]


def _scheme_reason(scores: Row, dtype: str, scheme: str) -> str:
    top, total = shifted_range(scores, shift_of(scheme, scores))
    says = f"Its largest exponent is {top:g}"
    if top > largest_exponent(dtype):
        return f"{says}, and that exponential is already infinite."
    if total > largest_exponent(dtype):
        return f"{says}, still finite, but the log of the sum is {total:.2f}, which is too large."
    if top < math.log(SMALLEST_NORMAL[dtype]):
        return f"{says}: every exponential rounds to zero, and 0/0 remains."
    return f"{says}, and the log of its sum {total:.2f}: both are inside the range."


SAFE_SCHEMES = Drill(
    id="softmax.safe_schemes",
    asks="which shifts make a row safe to exponentiate in a number format",
    stars=1,
    moves=("F",),
    params={"dtype": OneOf("fp16", "fp32"), "scores": Made(_offset_scores, like="vector")},
    derive=lambda dtype: {
        "largest": facts.LARGEST[dtype],
        "high": largest_exponent(dtype),
        "zero": math.log(SMALLEST[dtype] / 2),
    },
    require=lambda scores, dtype: _far_from_limits(scores, dtype),
    hold=("dtype",),
    solve=safe_schemes,
    options=_scheme_options,
    answer=MultiChoice(),
    steps=lambda scores, answer: {
        "top": max(scores),
        "low": min(scores),
        "mean": sum(scores) / len(scores),
        "over_min": max(scores) - min(scores),
        "over_mean": max(scores) - sum(scores) / len(scores),
        "right": answer,
    },
    slips=(
        Slip(
            "min_is_safe_too",
            lambda: ["subtract_max", "subtract_min"],
            "Subtracting the minimum is taken for safe; its top exponent is the whole spread of the row.",
        ),
        Slip(
            "only_max_ever",
            lambda: ["subtract_max"],
            "Only the maximum is accepted; it is safe for every row, but this row allows another shift as well.",
        ),
        Slip(
            "everything",
            lambda: sorted(SCHEMES),
            "All four are accepted; a format has a largest and a smallest number that exponentials can leave.",
        ),
        Slip(
            "any_shift",
            lambda: sorted(set(SCHEMES) - {"naive"}),
            "Every subtraction is accepted; a shift helps only where it brings the largest exponent into the range.",
        ),
    ),
    notes="Both the top exponent and the log of the sum keep a distance of 1 from every limit.",
)

LOG_DERIVATIVE = Drill(
    id="softmax.log_derivative",
    asks="the derivative of a log-weight by a score",
    stars=1,
    moves=("O",),
    params={},
    solve=lambda: "delta_ij - p_j",
    answer=Indexed(arrays={"p": "simplex"}, tolerance=EQUIVALENT),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "wrong_index",
            lambda: "delta_ij - p_i",
            "The watched key's own weight is subtracted; the logsumexp is differentiated by the nudged score, giving "
            "$p_j$.",
        ),
        Slip(
            "forgot_the_log",
            lambda: "p_i (delta_ij - p_j)",
            "This is the derivative of the weight; its logarithm divides by $p_i$.",
        ),
        Slip(
            "sign",
            lambda: "delta_ij + p_j",
            "The logsumexp enters with a plus; it is subtracted, since the sum stands below the line.",
        ),
        Slip(
            "one_hot_lost",
            lambda: "-p_j",
            "The derivative of the score itself is lost: $s_i$ contributes one where $i = j$.",
        ),
    ),
)

LSE_GRADIENT = Drill(
    id="softmax.lse_gradient",
    asks="the gradient of a tempered logsumexp",
    stars=1,
    moves=("O", "F"),
    params={"scores": SCORES, "tau": OneOf(0.5, 2, 3)},
    solve=lse_gradient,
    answer=Vector(tolerance=within(0.005)),
    steps=lambda scores, tau, answer: {**_terms(scores, tau), "weights": answer},
    slips=(
        Slip(
            "temperature_lost",
            lambda scores: softmax(scores),
            "The softmax is taken at temperature one; the scores stand divided by the temperature inside.",
        ),
        Slip(
            "extra_inverse_tau",
            lambda answer, tau: scaled(answer, 1 / tau),
            "The inner derivative is applied but the factor in front is dropped; the two cancel.",
        ),
        Slip(
            "one_hot",
            lambda scores: _one_hot(scores, max(scores)),
            "The hard maximum is differentiated; logsumexp is smooth and shares its slope among all keys.",
        ),
    ),
)


def _sum_parts(x: float, dtype: str = "fp16") -> list[int]:
    return [largest_equal_row(x, dtype), largest_equal_row(0.0, dtype)]


def _decided(x: float) -> bool:
    """Neither limit so near a whole number that a rounded e^x would decide."""
    share = facts.LARGEST["fp16"] * math.exp(-x) % 1
    return 0.05 < share < 0.95


SUM_OVERFLOW = Drill(
    id="softmax.sum_overflow",
    asks="how many equal scores an fp16 softmax can sum, without and with the maximum subtracted",
    stars=1,
    moves=("F",),
    params={"x": Steps(3, 8, 0.01)},
    require=lambda x: _decided(x),
    solve=lambda x: _sum_parts(x),
    answer=Parts(
        parts=(
            Part("a", Integer(), "largest T, scores as they are"),
            Part("b", Integer(), "largest T, maximum subtracted first"),
        ),
        tolerance=EXACT,
    ),
    steps=lambda x, answer: {
        "term": math.exp(x),
        "ratio": facts.LARGEST["fp16"] / math.exp(x),
        "unshifted": answer[0],
        "shifted": answer[1],
        "both": answer,
    },
    slips=(
        Slip(
            "exponents_added",
            lambda x, answer: [math.floor(largest_exponent("fp16") / x), answer[1]],
            "The exponents are added up to the limit of exp; a sum of exponentials adds the exponentials.",
        ),
        Slip(
            "rounded_up",
            lambda answer: [answer[0] + 1, answer[1]],
            "The ratio is rounded up; one key more than the whole part already passes the largest number.",
        ),
        Slip(
            "shift_changes_nothing",
            lambda answer: [answer[0], answer[0]],
            "The shifted sum is taken for the same; with the maximum subtracted every term is one.",
        ),
        Slip(
            "log_of_the_limit",
            lambda answer: [answer[0], math.floor(largest_exponent("fp16"))],
            "The limit of the exponent is given for the shifted row; there T ones are added, up to the largest number.",
        ),
    ),
)

TEMPERATURE_FORMULA = Drill(
    id="softmax.temperature_formula",
    asks="the temperature for a wanted weight as a formula",
    stars=1,
    moves=("F",),
    params={},
    solve=lambda: "Delta/ln(w/(1-w))",
    answer=Expression(symbols={"Delta": "Delta > 0", "w": "1/2 < w < 1"}, tolerance=EQUIVALENT),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "inverse",
            lambda: "ln(w/(1-w))/Delta",
            "The fraction is upside down: the log-odds equal the gap divided by the temperature.",
        ),
        Slip(
            "log_of_w",
            lambda: "Delta/ln(w)",
            "The logarithm of the weight alone is used; the gap fixes the ratio of the two weights.",
        ),
        Slip(
            "odds_without_log",
            lambda: "Delta*(1-w)/w",
            "The odds stand without a logarithm; they equal an exponential, so take the logarithm to free the gap.",
        ),
    ),
)

LSE_PAIR = Drill(
    id="softmax.lse_pair",
    asks="the logsumexp of two scores as a formula",
    stars=1,
    moves=("F",),
    params={},
    solve=lambda: "s + ln(1+e^Delta)",
    answer=Expression(symbols={"s": "real", "Delta": "real"}, tolerance=EQUIVALENT),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "sum_of_scores",
            lambda: "2 s + Delta",
            "The logarithm is pulled through the sum; it turns products into sums, never sums.",
        ),
        Slip(
            "log_of_mean",
            lambda: "s + ln((1+e^Delta)/2)",
            "The sum is divided by the number of keys; logsumexp takes the sum, not the mean.",
        ),
        Slip(
            "max_only",
            lambda: "s + Delta",
            "Only the second score is given; logsumexp lies above the larger score.",
        ),
    ),
)

CARD = Card(
    number=2,
    slug="c02_softmax",
    title="Softmax: shifts, temperature, logsumexp",
    stars=1,
    moves=("F", "O"),
    statement=(
        "A common summand cancels in a softmax, so the row's maximum may be taken out before anything overflows; a "
        "common divisor does not cancel: it is a temperature between hard selection and a plain mean."
    ),
    formulas=(
        r"\operatorname{softmax}(\mathbf s + c\mathbf 1) = \operatorname{softmax}(\mathbf s)",
        r"\ln \sum_j e^{s_j} = m + \ln \sum_j e^{s_j - m}, \quad m = \max_j s_j",
        r"p_j(\tau) = \frac{e^{s_j/\tau}}{\sum_r e^{s_r/\tau}}",
        r"\frac{\partial \ln p_i}{\partial s_j} = \delta_{ij} - p_j",
    ),
    drills=(
        SHIFT, LOGSUMEXP, TEMPERATURE, TEMPERATURE_LIMIT, TEMPERATURE_SOLVE, OVERFLOW_THRESHOLD, SAFE_SCHEMES,
        LOG_DERIVATIVE, LSE_GRADIENT, SUM_OVERFLOW, TEMPERATURE_FORMULA, LSE_PAIR,
    ),
)  # fmt: skip
