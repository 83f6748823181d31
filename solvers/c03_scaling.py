"""Card 3: the variance of a dot product, why it is divided by √d_k, and what the spread of the logits does to a row.

Source: card 3. Entropies are in nats; a logit's spread is its standard deviation over the keys.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from grading.kinds.expression import Expression
from grading.kinds.number import Number
from grading.kinds.parts import Part, Parts
from grading.tolerance import EQUIVALENT, rel, within
from solvers.algebra import entropy
from solvers.domains import OneOf, Shares, Steps
from solvers.drill import Card, Drill, Slip
from solvers.statements import Statement, minus, plus, statement_drill

# Computations -------------------------------------------------------------------------------------------------------


def dot_variance(d_k: int, sigma_q: float = 1.0, sigma_k: float = 1.0) -> float:
    """Var(q·k) = d_k σ_q² σ_k² for independent components of mean zero."""
    return d_k * sigma_q**2 * sigma_k**2


def divisor(scale: str, d_k: int, d: int = 1) -> float:
    """What a scale divides the dot product by: "none", "sqrt_dk", "dk" or "sqrt_d" (d: the model width)."""
    return {"none": 1.0, "sqrt_dk": math.sqrt(d_k), "dk": float(d_k), "sqrt_d": math.sqrt(d)}[scale]


def logit_sd(d_k: int, sigma_q: float = 1.0, sigma_k: float = 1.0, scale: str = "none", d: int = 1) -> float:
    """Standard deviation of the logit under a scale."""
    return math.sqrt(d_k) * sigma_q * sigma_k / divisor(scale, d_k, d)


def unit_multiplier(d_k: int, sigma_q: float, sigma_k: float) -> float:
    """The factor on the dot product that gives logits of variance one."""
    return 1 / (math.sqrt(d_k) * sigma_q * sigma_k)


def effective_keys(H: float) -> float:
    """e^H: how many equal shares have the entropy H (nats)."""
    return math.exp(H)


def gaussian_entropy(T: float, sigma_s: float) -> float:
    """ln T − σ_s²/2, the entropy of a row over T keys with Gaussian logits; holds for σ_s well below √(2 ln T)."""
    return math.log(T) - sigma_s**2 / 2


def validity_edge(T: float) -> float:
    """√(2 ln T), the spread at which the Gaussian estimate reaches zero."""
    return math.sqrt(2 * math.log(T))


def gaussian_mean(f: Callable[[float], float], sigma: float = 1.0) -> float:
    """E[f(s)] for s ~ N(0, σ²), by the trapezoid rule on ±(12 + σ) standard deviations (f of order e^s at most)."""
    reach, n = 12.0 + sigma, 800
    h = reach / n
    nodes = (i * h for i in range(-n, n + 1))
    return h * math.fsum(f(sigma * x) * math.exp(-x * x / 2) for x in nodes) / math.sqrt(2 * math.pi)


def chi_square_mean(f: Callable[[float], float], d: int) -> float:
    """E[f(n)] for n ~ χ² with d degrees of freedom, f bounded and smooth.

    Trapezoid rule in u = ln n, where the density e^{du/2 − e^u/2} falls off so fast on both sides that the rule
    converges beyond double precision at a step of an eighth of its width √(2/d).
    """
    step = math.sqrt(2 / d) / 8
    middle = math.log(d)
    log_constant = d / 2 * math.log(2) + math.lgamma(d / 2)
    left = int((75 / d + 8 * math.sqrt(2 / d)) / step)
    right = int(10 * math.sqrt(2 / d) / step) + 1
    total = 0.0
    for i in range(-left, right + 1):
        u = middle + i * step
        n = math.exp(u)
        total += math.exp(d / 2 * u - n / 2 - log_constant) * f(n)
    return total * step


def gap_for(w: float) -> float:
    """ln(w/(1−w)): the score gap at which the better of two keys has weight w."""
    return math.log(w / (1 - w))


def both_tails(z: float) -> float:
    """2 Φ(−z), the probability that a standard normal number is further than z from zero."""
    return math.erfc(z / math.sqrt(2))


def gap_sds(d_k: float, w: float, alpha: float, keys: int = 2) -> float:
    """How many standard deviations α√(2 n) of the gap a top weight w takes, at squared query length n = d_k.

    keys: 2 for the gap of two keys' scores; 1 counts the variance of one score only.
    """
    return gap_for(w) / (alpha * math.sqrt(keys * d_k))


def two_key_gauss(d_k: int, w: float, alpha: float, keys: int = 2) -> float:
    """Probability of a top weight above w when the squared query length is taken as d_k."""
    return both_tails(gap_sds(d_k, w, alpha, keys))


@lru_cache(maxsize=4096)
def two_key_exact(d_k: int, w: float, alpha: float, keys: int = 2) -> float:
    """The same with the squared query length averaged over its χ² law with d_k degrees of freedom."""
    return chi_square_mean(lambda n: both_tails(gap_sds(n, w, alpha, keys)), d_k)


def alpha_of(alpha: str, d_k: int) -> float:
    """The factor on the dot products: "one" or "inv_sqrt" (1/√d_k)."""
    return 1.0 if alpha == "one" else 1 / math.sqrt(d_k)


def participation(p: Sequence[float]) -> float:
    """1/Σ p², another count of effective keys."""
    return 1 / math.fsum(v * v for v in p)


@dataclass(frozen=True)
class RowStatistics:
    """Medians over simulated rows: entropy (nats), largest weight, Frobenius norm of the softmax Jacobian; and the
    share of rows whose largest weight exceeds 0.99."""

    entropy: float
    top: float
    frobenius: float
    above_99: float


def simulate_rows(sigma: float, T: int, rows: int, seed: int, d_k: int | None = None) -> RowStatistics:
    """Rows of T logits, in numpy.

    With d_k: logits α q·k of fresh standard normal q and k, where sigma is α. Given q they are independent
    N(0, α²|q|²), so |q| is drawn from its chi law and the keys' projections as standard normals. Without d_k: plain
    N(0, σ²) logits.
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    out = []
    for start in range(0, rows, 250):
        count = min(250, rows - start)
        length = np.ones(count) if d_k is None else np.linalg.norm(rng.standard_normal((count, d_k)), axis=1)
        s = rng.standard_normal((count, T)) * (sigma * length)[:, None]
        s -= s.max(axis=1, keepdims=True)
        p = np.exp(s)
        total = p.sum(axis=1)
        H = np.log(total) - (p * s).sum(axis=1) / total
        p /= total[:, None]
        square = (p * p).sum(axis=1)
        cube = (p * p * p).sum(axis=1)
        # A one-hot row may round to a hair below zero.
        frobenius = np.sqrt(np.maximum(square - 2 * cube + square * square, 0))
        out.append(np.stack([H, p.max(axis=1), frobenius]))
    H, top, frobenius = np.concatenate(out, axis=1)
    return RowStatistics(
        float(np.median(H)), float(np.median(top)), float(np.median(frobenius)), float((top > 0.99).mean())
    )


# What is drawn ------------------------------------------------------------------------------------------------------

SDS = (0.5, 0.8, 1.25, 1.5, 2, 3)
SCALES: Mapping[str, str] = {
    "none": "left as it is, without any divisor",
    "sqrt_dk": r"divided by $\sqrt{d_k}$",
    "dk": "divided by $d_k$",
    "sqrt_d": r"divided by $\sqrt{d}$",
}
ALPHAS: Mapping[str, str] = {"one": r"\alpha = 1", "inv_sqrt": r"\alpha = 1/\sqrt{d_k}"}


def _factor(alpha: str, d_k: int) -> dict[str, Any]:
    return {"factor": alpha_of(alpha, d_k), "alpha_text": ALPHAS[alpha]}


# Drills -------------------------------------------------------------------------------------------------------------

DOT_VARIANCE = Drill(
    id="scaling.dot_variance",
    asks="the variance of an unscaled dot product",
    stars=1,
    moves=("T",),
    params={"d_k": OneOf(16, 32, 64, 96, 128, 256), "sigma_q": OneOf(*SDS), "sigma_k": OneOf(*SDS)},
    require=lambda sigma_q, sigma_k: abs(sigma_q * sigma_k - 1) > 1e-9,
    solve=dot_variance,
    answer=Number(tolerance=rel(0.01)),
    steps=lambda sigma_q, sigma_k, answer: {
        "var_q": sigma_q**2,
        "var_k": sigma_k**2,
        "term": sigma_q**2 * sigma_k**2,
        "variance": answer,
    },
    slips=(
        Slip(
            "sd_not_variance",
            lambda answer: math.sqrt(answer),
            "This is the standard deviation; the variance is its square.",
        ),
        Slip(
            "sigmas_not_squared",
            lambda d_k, sigma_q, sigma_k: d_k * sigma_q * sigma_k,
            "The standard deviations are not squared; variances multiply, and a variance is a squared deviation.",
        ),
        Slip(
            "variances_added",
            lambda d_k, sigma_q, sigma_k: d_k * (sigma_q**2 + sigma_k**2),
            "The two variances are added; a product of independent zero-mean factors has the product of both.",
        ),
        Slip(
            "dk_squared",
            lambda answer, d_k: answer * d_k,
            "The width is squared; variances of independent terms add, so they grow with the number of terms.",
        ),
    ),
)

SCALED_SD = Drill(
    id="scaling.scaled_sd",
    asks="the spread of the logits under a divisor",
    stars=1,
    moves=("T",),
    params={
        "d_k": OneOf(16, 32, 64, 128),
        "d": OneOf(512, 768, 2048, 4096),
        "sigma_q": OneOf(0.5, 1, 1.5, 2),
        "sigma_k": OneOf(0.5, 1, 1.5, 2),
        "scale": OneOf(*SCALES),
    },
    derive=lambda scale: {"scaling": SCALES[scale]},
    require=lambda d_k, d, sigma_q, sigma_k, scale: (
        logit_sd(d_k, sigma_q, sigma_k, scale, d) not in (1, sigma_q, sigma_k, d_k, d)
    ),
    hold=("scale",),
    solve=lambda d_k, d, sigma_q, sigma_k, scale: logit_sd(d_k, sigma_q, sigma_k, scale, d),
    answer=Number(tolerance=rel(0.01)),
    steps=lambda d_k, d, sigma_q, sigma_k, scale, answer: {
        "raw": logit_sd(d_k, sigma_q, sigma_k),
        "root": math.sqrt(d_k),
        "divided": scale != "none",
        "divisor": divisor(scale, d_k, d),
        "sd": answer,
    },
    slips=(
        Slip(
            "as_if_none",
            lambda d_k, d, sigma_q, sigma_k, scale: _other("none", d_k, d, sigma_q, sigma_k, scale),
            "The divisor is left out; it divides the standard deviation of the raw dot product.",
        ),
        Slip(
            "as_if_sqrt_dk",
            lambda d_k, d, sigma_q, sigma_k, scale: _other("sqrt_dk", d_k, d, sigma_q, sigma_k, scale),
            r"The usual $\sqrt{d_k}$ is divided out; the question states another scale.",
        ),
        Slip(
            "as_if_dk",
            lambda d_k, d, sigma_q, sigma_k, scale: _other("dk", d_k, d, sigma_q, sigma_k, scale),
            "The whole $d_k$ is divided out; the question states another scale.",
        ),
        Slip(
            "as_if_sqrt_d",
            lambda d_k, d, sigma_q, sigma_k, scale: _other("sqrt_d", d_k, d, sigma_q, sigma_k, scale),
            "The root of the model width is divided out; the question states another scale.",
        ),
        Slip(
            "variance_not_sd",
            lambda answer: answer**2,
            "This is the variance; the standard deviation is its root.",
        ),
    ),
    notes="Draws whose answer is 1 or one of the shown numbers are rejected.",
)


def _other(as_if: str, d_k: int, d: int, sigma_q: float, sigma_k: float, scale: str) -> float | None:
    return None if as_if == scale else logit_sd(d_k, sigma_q, sigma_k, as_if, d)


RIGHT_MULTIPLIER = Drill(
    id="scaling.right_multiplier",
    asks="the factor that gives logits of unit variance",
    stars=1,
    moves=("T",),
    params={"d_k": OneOf(16, 25, 64, 100, 144, 256), "sigma_q": OneOf(*SDS), "sigma_k": OneOf(*SDS)},
    require=lambda d_k, sigma_q, sigma_k: (
        abs(sigma_q * sigma_k - 1) > 1e-9 and unit_multiplier(d_k, sigma_q, sigma_k) not in (1, sigma_q, sigma_k)
    ),
    solve=unit_multiplier,
    answer=Number(tolerance=rel(0.01)),
    steps=lambda d_k, sigma_q, sigma_k, answer: {
        "root": math.sqrt(d_k),
        "sd": logit_sd(d_k, sigma_q, sigma_k),
        "multiplier": answer,
    },
    slips=(
        Slip(
            "sigmas_ignored",
            lambda d_k: 1 / math.sqrt(d_k),
            "Components of unit spread are assumed; both given deviations stretch the dot product too.",
        ),
        Slip(
            "dk_not_root",
            lambda d_k, sigma_q, sigma_k: 1 / (d_k * sigma_q * sigma_k),
            "The width is divided out without its root; the standard deviation of the sum grows with the root.",
        ),
        Slip(
            "sigmas_squared",
            lambda d_k, sigma_q, sigma_k: 1 / (math.sqrt(d_k) * sigma_q**2 * sigma_k**2),
            "The deviations are squared; divide by the standard deviation of the dot product, not by its variance.",
        ),
        Slip(
            "inverted",
            lambda answer: 1 / answer,
            "This is the divisor; as a factor on the dot product its reciprocal is asked.",
        ),
    ),
    notes="Draws whose answer is 1 or one of the shown deviations are rejected.",
)


def _next_part(values: Mapping[str, Any], index: int, own: Sequence[Any]) -> float | None:
    """Effective keys from the learner's own entropy."""
    del values
    return None if index != 1 or own[0] is None or not 0 <= own[0] <= 50 else effective_keys(float(own[0]))


ROW_ENTROPY = Drill(
    id="scaling.row_entropy",
    asks="entropy and effective keys of a weight row",
    stars=1,
    moves=("F",),
    params={"p": Shares((3, 4, 5), 20)},
    require=lambda p: 0.3 <= max(p) <= 0.9 and max(p) > min(p),
    solve=lambda p: [entropy(p), effective_keys(entropy(p))],
    answer=Parts(
        parts=(
            Part("H", Number(unit="nats", tolerance=rel(0.01)), "the entropy H of the row, in nats"),
            Part("keys", Number(unit="keys", tolerance=rel(0.01)), "the number of effective keys"),
        ),
        tolerance=rel(0.01),
    ),
    follow=_next_part,
    steps=lambda p, answer: {
        "logs": [math.log(v) for v in p],
        "terms": [-v * math.log(v) for v in p],
        "H": answer[0],
        "count": answer[1],
        "both": answer,
    },
    slips=(
        Slip(
            "bits_called_nats",
            lambda answer: [answer[0] / math.log(2), math.exp(answer[0] / math.log(2))],
            "Base-2 logarithms give bits; nats take the natural logarithm, and then e to that power counts keys.",
        ),
        Slip(
            "maximum_entropy",
            lambda p: [math.log(len(p)), len(p)],
            "This is the maximum, reached by equal weights; average the surprise with the given weights.",
        ),
        Slip(
            "participation_ratio",
            lambda p, answer: [answer[0], participation(p)],
            "The inverse sum of squares is another count of keys; asked is e to the power of the entropy.",
        ),
        Slip(
            "sign",
            lambda answer: [-answer[0], math.exp(-answer[0])],
            "The minus sign is lost; logarithms of weights are negative, an entropy is not.",
        ),
    ),
)

ENTROPY_GAUSSIAN = Drill(
    id="scaling.entropy_gaussian",
    asks="the entropy of a row with Gaussian logits",
    stars=1,
    moves=("T",),
    params={"T": OneOf(256, 512, 1024, 2048, 4096, 8192), "sigma_s": OneOf(0.5, 0.8, 1, 1.2, 1.5)},
    require=lambda T, sigma_s: sigma_s <= validity_edge(T) / 2,
    solve=gaussian_entropy,
    answer=Number(unit="nats", tolerance=within(0.001)),
    steps=lambda T, sigma_s, answer: {"log": math.log(T), "half": sigma_s**2 / 2, "H": answer},
    slips=(
        Slip(
            "half_lost",
            lambda T, sigma_s: math.log(T) - sigma_s**2,
            "The whole variance is subtracted; the normaliser gives half of it back.",
        ),
        Slip(
            "sign",
            lambda T, sigma_s: math.log(T) + sigma_s**2 / 2,
            "The spread is added; uneven logits lower the entropy below its maximum.",
        ),
        Slip(
            "bits",
            lambda T, sigma_s: math.log2(T) - sigma_s**2 / 2,
            "The first term is in bits; nats take the natural logarithm of the number of keys.",
        ),
        Slip(
            "maximum_only",
            lambda T: math.log(T),
            "This is the entropy of equal weights; the spread of the logits takes half its square away.",
        ),
    ),
)

VALIDITY_EDGE = Drill(
    id="scaling.validity_edge",
    asks="the spread at which the Gaussian entropy estimate reaches zero",
    stars=1,
    moves=("T",),
    params={"T": OneOf(64, 256, 512, 1024, 2048, 4096, 8192, 32768, 131072)},
    solve=validity_edge,
    answer=Number(tolerance=rel(0.01)),
    steps=lambda T, answer: {"log": math.log(T), "twice": 2 * math.log(T), "edge": answer},
    slips=(
        Slip(
            "two_lost",
            lambda T: math.sqrt(math.log(T)),
            "The factor two is lost; half the variance equals the logarithm, so the variance is twice as large.",
        ),
        Slip(
            "root_lost",
            lambda T: 2 * math.log(T),
            "This is the variance; the spread is its root.",
        ),
        Slip(
            "log2",
            lambda T: math.sqrt(2 * math.log2(T)),
            "A base-2 logarithm is taken; the estimate is in nats, so it takes the natural one.",
        ),
        Slip(
            "log10",
            lambda T: math.sqrt(2 * math.log10(T)),
            "A base-10 logarithm is taken; the estimate is in nats, so it takes the natural one.",
        ),
    ),
)

TWO_LOST = "The variance of one score is used; the gap of two independent scores has twice that."

TWO_KEY_GAP = Drill(
    id="scaling.two_key_gap",
    asks="a winning gap in standard deviations",
    stars=1,
    moves=("T", "F"),
    params={
        "d_k": OneOf(16, 32, 64, 128, 256, 512),
        "w": OneOf(0.9, 0.95, 0.99),
        "alpha": OneOf(*ALPHAS),
    },
    derive=_factor,
    hold=("alpha",),
    solve=lambda d_k, w, factor: gap_sds(d_k, w, factor),
    answer=Number(tolerance=rel(0.01)),
    steps=lambda d_k, w, factor, answer: {
        "rest": round(1 - w, 10),
        "gap": gap_for(w),
        "alpha": factor,
        "sd": factor * math.sqrt(2 * d_k),
        "count": answer,
    },
    slips=(
        Slip("two_lost", lambda d_k, w, factor: gap_sds(d_k, w, factor, keys=1), TWO_LOST),
        Slip(
            "variance_not_sd",
            lambda d_k, w, factor: gap_for(w) / (2 * factor**2 * d_k),
            "The gap is divided by its variance; counted are standard deviations, so take the root first.",
        ),
        Slip(
            "log10_odds",
            lambda answer: answer / math.log(10),
            "A base-10 logarithm of the odds is taken; softmax uses e, so the natural one gives the gap.",
        ),
    ),
)

ONE_SIDED = Slip(
    "one_sided",
    lambda answer: answer / 2,
    "Only one of the keys may win; either can, so both tails count.",
)
COMPLEMENT = Slip(
    "complement",
    lambda answer: 1 - answer,
    "This is the probability that no key exceeds the weight; asked is that one does.",
)

TWO_KEY_GAUSS = Drill(
    id="scaling.two_key_gauss",
    asks="how likely one of two keys gets almost everything, Gaussian estimate",
    stars=1,
    moves=("T",),
    params={
        "d_k": OneOf(16, 32, 64, 128, 256, 512),
        "w": OneOf(0.9, 0.95, 0.99),
        "alpha": OneOf(*ALPHAS),
    },
    derive=_factor,
    hold=("alpha",),
    solve=lambda d_k, w, factor: two_key_gauss(d_k, w, factor),
    answer=Number(unit="probability", tolerance=rel(0.02)),
    steps=lambda d_k, w, factor, answer: {
        "rest": round(1 - w, 10),
        "gap": gap_for(w),
        "sd": factor * math.sqrt(2 * d_k),
        "z": gap_sds(d_k, w, factor),
        "tail": answer / 2,
        "probability": answer,
    },
    slips=(
        ONE_SIDED,
        Slip("two_lost", lambda d_k, w, factor: two_key_gauss(d_k, w, factor, keys=1), TWO_LOST),
        COMPLEMENT,
    ),
)

TWO_KEY_EXACT = Drill(
    id="scaling.two_key_exact",
    asks="how likely one of two keys gets almost everything, exactly",
    stars=1,
    moves=("T",),
    params={
        "d_k": OneOf(16, 24, 32, 48, 64, 96, 128, 256),
        "w": OneOf(0.95, 0.97, 0.98, 0.99),
        "alpha": OneOf(*ALPHAS),
    },
    derive=_factor,
    require=lambda d_k, w, factor: abs(two_key_gauss(d_k, w, factor) / two_key_exact(d_k, w, factor) - 1) > 0.03,
    solve=lambda d_k, w, factor: two_key_exact(d_k, w, factor),
    answer=Number(unit="probability", tolerance=rel(0.01)),
    steps=lambda d_k, w, factor, answer: {
        "rest": round(1 - w, 10),
        "gap": gap_for(w),
        "alpha": factor,
        "z": gap_sds(d_k, w, factor),
        "shortcut": two_key_gauss(d_k, w, factor),
        "probability": answer,
    },
    slips=(
        ONE_SIDED,
        Slip("two_lost", lambda d_k, w, factor: two_key_exact(d_k, w, factor, keys=1), TWO_LOST),
        COMPLEMENT,
    ),
    near=(
        Slip(
            "gaussian_shortcut",
            lambda d_k, w, factor: two_key_gauss(d_k, w, factor),
            "This is the Gaussian shortcut, an approximation: it fixes the query's squared length at $d_k$. The exact "
            "probability averages over that length.",
        ),
    ),
    notes="The unscaled branch meets the constraint at d_k = 16 alone, so it is drawn in about one of ten.",
)

OVER_SCALED_ENTROPY = Drill(
    id="scaling.over_scaled_entropy",
    asks="the entropy of a row whose scores were divided by d_k",
    stars=1,
    moves=("T",),
    params={"T": OneOf(512, 1024, 2048, 4096, 8192), "d_k": OneOf(16, 32, 64, 128)},
    solve=lambda T, d_k: gaussian_entropy(T, logit_sd(d_k, scale="dk")),
    answer=Number(unit="nats", tolerance=within(0.001)),
    steps=lambda T, d_k, answer: {
        "spread": logit_sd(d_k, scale="dk"),
        "variance": 1 / d_k,
        "log": math.log(T),
        "half": 1 / (2 * d_k),
        "H": answer,
    },
    slips=(
        Slip(
            "exactly_uniform",
            lambda T: math.log(T),
            "The row is taken as uniform; the small spread that is left still costs half its square.",
        ),
        Slip(
            "root_scale",
            lambda T: gaussian_entropy(T, 1),
            r"A spread of one is assumed, which $\sqrt{d_k}$ would give; $d_k$ shrinks it further.",
        ),
        Slip(
            "spread_not_squared",
            lambda T, d_k: math.log(T) - 1 / (2 * math.sqrt(d_k)),
            "Half the spread is subtracted; it is half of its square.",
        ),
        Slip(
            "half_lost",
            lambda T, d_k: math.log(T) - 1 / d_k,
            "The whole variance is subtracted; the normaliser gives half of it back.",
        ),
    ),
)

EFFECTIVE_KEYS = Drill(
    id="scaling.effective_keys",
    asks="the effective keys of a row with Gaussian logits",
    stars=1,
    moves=("T",),
    params={
        "T": OneOf(256, 500, 512, 1000, 1024, 2000, 2048, 4000, 4096, 8000, 8192, 32768),
        "sigma_s": Steps(0.4, 1.6, 0.02),
    },
    require=lambda T, sigma_s: sigma_s <= validity_edge(T) / 2,
    solve=lambda T, sigma_s: effective_keys(gaussian_entropy(T, sigma_s)),
    answer=Number(unit="keys", tolerance=rel(0.01)),
    steps=lambda T, sigma_s, answer: {
        "log": math.log(T),
        "half": sigma_s**2 / 2,
        "H": gaussian_entropy(T, sigma_s),
        "count": answer,
    },
    slips=(
        Slip(
            "all_keys",
            lambda T: T,
            "All keys are counted, as for equal weights; the spread of the logits leaves fewer of them effective.",
        ),
        Slip(
            "entropy_given",
            lambda T, sigma_s: gaussian_entropy(T, sigma_s),
            "This is the entropy; e to its power counts the keys.",
        ),
        Slip(
            "half_lost",
            lambda T, sigma_s: T * math.exp(-(sigma_s**2)),
            "The whole variance stands in the exponent; the entropy falls by half of it.",
        ),
        Slip(
            "sign",
            lambda T, sigma_s: T * math.exp(sigma_s**2 / 2),
            "The spread is added, which gives more keys than there are; it lowers the entropy.",
        ),
    ),
)

ASSUMPTIONS = statement_drill(
    id="scaling.assumptions",
    asks="what the variance argument takes for granted",
    stars=1,
    moves=("T",),
    statements=(
        Statement(
            "independent_q_k",
            "The query is independent of the key.",
            True,
            r"This splits $\mathbb E[q_c^2 k_c^2]$ into $\mathbb E[q_c^2]\,\mathbb E[k_c^2]$.",
        ),
        Statement(
            "zero_mean",
            "All components have mean zero.",
            True,
            "Otherwise each product's variance holds the squared means as well.",
        ),
        Statement(
            "gaussian",
            "The components are normally distributed.",
            False,
            "Only means and variances enter, whatever the distribution.",
        ),
        Statement(
            "independent_components",
            "The components of one vector are independent of each other.",
            True,
            "This is what lets the variances of the $d_k$ products add.",
        ),
        Statement("large_dk", "The width $d_k$ is large.", False, "The formula is exact at every width, also at one."),
        Statement(
            "unit_variance",
            "All components have variance one.",
            False,
            "The two variances stay in the formula as factors.",
        ),
        Statement(
            "trained_weights",
            "The projection weights have been trained.",
            False,
            "Training tends to align queries with keys, which breaks their independence.",
        ),
        Statement(
            "equal_sigma",
            r"Query and key components have the same spread, $\sigma_q = \sigma_k$.",
            False,
            "The two spreads enter as separate factors.",
        ),
    ),
    always=("independent_q_k", "zero_mean", "gaussian"),
    count=3,
    slips=(
        Slip(
            "gaussian_needed",
            lambda answer, options: plus(answer, options, "gaussian"),
            "Normality is marked as needed; the proof uses means and variances alone.",
        ),
        Slip(
            "zero_mean_forgotten",
            lambda answer: minus(answer, "zero_mean"),
            "The zero mean is left out; without it the variance of a product is more than the product of variances.",
        ),
        Slip(
            "independence_forgotten",
            lambda answer: minus(answer, "independent_q_k"),
            "The independence of query and key is left out; it is what makes the expectation of a product split.",
        ),
    ),
)

STATEMENTS = statement_drill(
    id="scaling.statements",
    asks="what is right about scaling the logits",
    stars=1,
    moves=("T",),
    statements=(
        Statement(
            "unscaled_gradients_vanish_everywhere",
            "Without a scale, at a large $d_k$, the gradient through the softmax is zero for every key of every row.",
            False,
            "A saturated row still sends gradient, almost all of it to the few keys that hold the weight.",
        ),
        Statement(
            "unscaled_gradient_concentrates_on_winner",
            "Without a scale, at a large $d_k$, a row's score gradient is concentrated on the winning key and its few "
            "rivals.",
            True,
            "The Jacobian's entries carry the factor $p_i$, which is tiny for all other keys.",
        ),
        Statement(
            "argument_covers_trained_weights",
            r"The variance argument proves $1/\sqrt{d_k}$ to be the right scale for trained weights too.",
            False,
            "It takes queries and keys as independent, which training undoes.",
        ),
        Statement(
            "dk_divisor_nearly_uniform_at_start",
            "Dividing by $d_k$ makes rows almost uniform at the start of training.",
            True,
            r"Independent unit-variance components leave logits of spread $1/\sqrt{d_k}$.",
        ),
        Statement(
            "root_d_model_is_right",
            r"For heads narrower than the model, the divisor of unit-variance logits is $\sqrt{d_{\text{model}}}$.",
            False,
            "The dot product has as many terms as one head's key is wide.",
        ),
        Statement(
            "normalisation_keeps_sigma_near_one",
            r"Normalisation layers are what keeps $\sigma_q$ and $\sigma_k$ near one, as $1/\sqrt{d_k}$ presumes.",
            True,
            r"With other spreads the right factor would be $1/(\sqrt{d_k}\, \sigma_q \sigma_k)$.",
        ),
        Statement(
            "entropy_formula_valid_at_any_spread",
            r"The estimate $H \approx \ln T - \sigma_s^2/2$ holds for every spread $\sigma_s$ of Gaussian logits.",
            False,
            r"It turns negative beyond $\sigma_s = \sqrt{2 \ln T}$, which no entropy can.",
        ),
        Statement(
            "jacobian_norm_falls_steadily_with_dk",
            "Without a scale, the Frobenius norm of the softmax Jacobian falls steadily as $d_k$ grows.",
            False,
            "It first rises, because a few keys come to hold the weight, and falls only once one key takes all.",
        ),
        Statement(
            "mup_divisor_is_a_hand_tuned_temperature",
            r"The $1/d_k$ of $\mu$P is a temperature that is tuned by hand for each model.",
            False,
            "It belongs to a rule that carries hyperparameters from one width to another.",
        ),
        Statement(
            "unscaled_rows_nearly_one_hot_at_128",
            "With unit-variance components, $d_k = 128$, 4,096 keys and no scale, a typical row puts most of its "
            "weight on a single key.",
            True,
            "The logits then have a standard deviation of about eleven; a lead of a few units already decides a row.",
        ),
    ),
    always=(
        "unscaled_gradients_vanish_everywhere",
        "unscaled_gradient_concentrates_on_winner",
        "argument_covers_trained_weights",
    ),
    count=3,
    slips=(
        Slip(
            "all_gradients_vanish",
            lambda answer, options: minus(
                plus(answer, options, "unscaled_gradients_vanish_everywhere"),
                "unscaled_gradient_concentrates_on_winner",
            ),
            "All gradients are said to vanish; a saturated row still sends them to its winner and the nearest rivals.",
        ),
        Slip(
            "assumptions_ignored",
            lambda answer, options: plus(answer, options, "argument_covers_trained_weights"),
            "The argument is stretched over training; it rests on independent queries and keys, as at the start.",
        ),
    ),
)

VARIANCE_FORMULA = Drill(
    id="scaling.variance_formula",
    asks="the variance of a dot product as a formula",
    stars=1,
    moves=("T",),
    params={},
    solve=lambda: "d_k sigma_q^2 sigma_k^2",
    answer=Expression(
        symbols={"d_k": "integer >= 1", "sigma_q": "sigma_q > 0", "sigma_k": "sigma_k > 0"}, tolerance=EQUIVALENT
    ),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "sd_instead",
            lambda: "sqrt(d_k) sigma_q sigma_k",
            "This is the standard deviation; the variance is its square.",
        ),
        Slip(
            "width_squared",
            lambda: "d_k^2 sigma_q^2 sigma_k^2",
            "The width is squared; variances of independent terms add, one for each component.",
        ),
        Slip(
            "sds_not_squared",
            lambda: "d_k sigma_q sigma_k",
            "The standard deviations are not squared; it is their squares, the variances, that multiply.",
        ),
    ),
)

ENTROPY_FORMULA = Drill(
    id="scaling.entropy_formula",
    asks="the entropy of a row with Gaussian logits as a formula",
    stars=1,
    moves=("T",),
    params={},
    solve=lambda: "ln(T) - sigma^2/2",
    answer=Expression(symbols={"T": "integer >= 2", "sigma": "sigma > 0"}, tolerance=EQUIVALENT),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "full_variance",
            lambda: "ln(T) - sigma^2",
            "The whole variance is subtracted; the normaliser gives half of it back.",
        ),
        Slip(
            "sign",
            lambda: "ln(T) + sigma^2/2",
            "The spread is added; uneven logits lower the entropy below its maximum.",
        ),
        Slip(
            "sd",
            lambda: "ln(T) - sigma/2",
            "Half the spread is subtracted; it is half of its square.",
        ),
    ),
)

CARD = Card(
    number=3,
    slug="c03_scaling",
    title="The variance of a dot product and the scale 1/√d_k",
    stars=1,
    moves=("T", "F"),
    statement=(
        "A dot product of independent zero-mean vectors has a variance that grows with their width, so its root brings "
        "the logits back to a spread of one; the wider the logits spread, the fewer keys a row effectively reads."
    ),
    formulas=(
        r"\operatorname{Var}(\mathbf q^\top \mathbf k) = d_k\, \sigma_q^2\, \sigma_k^2",
        r"H \approx \ln T - \frac{\sigma_s^2}{2}, \quad \sigma_s \ll \sqrt{2 \ln T}",
        r"\Pr(\max_j p_j > w) = \mathbb E_{n \sim \chi^2_{d_k}}"
        r"\Big[2\, \Phi\Big(-\frac{\ln \frac{w}{1 - w}}{\alpha \sqrt{2n}}\Big)\Big]",
    ),
    drills=(
        DOT_VARIANCE, SCALED_SD, RIGHT_MULTIPLIER, ROW_ENTROPY, ENTROPY_GAUSSIAN, VALIDITY_EDGE, TWO_KEY_GAP,
        TWO_KEY_GAUSS, TWO_KEY_EXACT, OVER_SCALED_ENTROPY, ASSUMPTIONS, STATEMENTS, EFFECTIVE_KEYS,
        VARIANCE_FORMULA, ENTROPY_FORMULA,
    ),
)  # fmt: skip
