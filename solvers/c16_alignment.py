"""Card 16: what alignment of queries and keys does to the logits, and when 1/d_k is the better scale.

Source: card 16. Query components are standard normal and k = ρ q + √(1 − ρ²) z with z standard normal and independent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from grading.kinds.choice import Choice
from grading.kinds.expression import Expression
from grading.kinds.number import Number
from grading.kinds.option import Option
from grading.tolerance import EQUIVALENT, rel
from solvers.domains import OneOf
from solvers.drill import Card, Drill, Slip

# Computations -------------------------------------------------------------------------------------------------------


def divisor(scale: str, d_k: float) -> float:
    """What a scale divides the dot product by: "none", "sqrt_dk" or "dk"."""
    return {"none": 1.0, "sqrt_dk": math.sqrt(d_k), "dk": d_k}[scale]


def mean_logit(d_k: int, rho: float, scale: str) -> float:
    """E[q·k] = ρ d_k under the scale."""
    return rho * d_k / divisor(scale, d_k)


def raw_variance(d_k: int, rho: float) -> float:
    """Var(q·k) = ρ² · 2d_k + (1 − ρ²) d_k = d_k (1 + ρ²), before any scale."""
    return d_k * (1 + rho**2)


def logit_sd(d_k: int, rho: float, scale: str) -> float:
    """Standard deviation of the logit under the scale."""
    return math.sqrt(raw_variance(d_k, rho)) / divisor(scale, d_k)


GROWTH = {"aligned_mean": 1.0, "random_sd": 0.5}
"""How a sum over the head width grows: like the width where its terms share a mean, like its root where they do not."""
OTHER = {"aligned_mean": "random_sd", "random_sd": "aligned_mean"}
DIVIDED = {"none": 0.0, "sqrt_dk": 0.5, "dk": 1.0}
"""The power of the width that each scale divides out."""


def width_factor(c: float, regime: str, scale: str) -> float:
    """By what the mean logit (aligned) or its standard deviation (random) grows when the head width grows c-fold."""
    if c <= 0:
        raise ValueError(f"c={c}: a width grows by a factor above 0")
    return float(c ** (GROWTH[regime] - DIVIDED[scale]))


def simulate_dots(d_k: int, rho: float, draws: int, seed: int) -> Any:
    """`draws` simulated dot products q·k, component by component, as a numpy float64 array."""
    import numpy as np

    rng = np.random.default_rng(seed)
    out = []
    for start in range(0, draws, 10_000):
        count = min(10_000, draws - start)
        q, z = (rng.standard_normal((count, d_k), dtype=np.float32) for _ in range(2))
        k = rho * q + math.sqrt(1 - rho**2) * z
        out.append(np.einsum("nc,nc->n", q, k, dtype=np.float64))
    return np.concatenate(out)


# Drills -------------------------------------------------------------------------------------------------------------

WIDTHS = OneOf(16, 32, 64, 100, 128, 144, 256)
SCALES: Mapping[str, str] = {
    "none": "left as it is, without any divisor",
    "sqrt_dk": r"divided by $\sqrt{d_k}$",
    "dk": "divided by $d_k$",
}


def _scaling(scale: str) -> dict[str, str]:
    return {"scaling": SCALES[scale]}


def _mean_as_if(as_if: str, d_k: int, rho: float, scale: str) -> float | None:
    return None if as_if == scale else mean_logit(d_k, rho, as_if)


MEAN_LOGIT = Drill(
    id="alignment.mean_logit",
    asks="the mean logit of a partly aligned query and key",
    stars=3,
    moves=("T",),
    params={
        "d_k": WIDTHS,
        "rho": OneOf(0.1, 0.2, 0.25, 0.3, 0.5, 0.6, 0.75, 0.8, 1),
        "scale": OneOf(*SCALES),
    },
    derive=_scaling,
    # Not held: a held "dk" would never meet this.
    require=lambda d_k, rho, scale: scale != "dk" and mean_logit(d_k, rho, scale) not in (1, rho, d_k),
    solve=mean_logit,
    answer=Number(tolerance=rel(0.01)),
    steps=lambda d_k, rho, scale, answer: {
        "raw": rho * d_k,
        "divided": scale != "none",
        "divisor": divisor(scale, d_k),
        "mean": answer,
    },
    slips=(
        Slip(
            "as_if_none",
            lambda d_k, rho, scale: _mean_as_if("none", d_k, rho, scale),
            "The stated divisor is left out; it divides the mean as it divides every dot product.",
        ),
        Slip(
            "as_if_sqrt_dk",
            lambda d_k, rho, scale: _mean_as_if("sqrt_dk", d_k, rho, scale),
            r"The usual $\sqrt{d_k}$ is divided out; the question states another scale.",
        ),
        Slip(
            "as_if_dk",
            lambda d_k, rho, scale: _mean_as_if("dk", d_k, rho, scale),
            "The whole $d_k$ is divided out; the question states another scale.",
        ),
        Slip(
            "independent_assumed",
            lambda: 0,
            "Query and key are taken as independent; their common part gives every component a positive mean product.",
        ),
        Slip(
            "rho_squared",
            lambda answer, rho: answer * rho if rho != 1 else None,
            "The alignment is squared; the key holds $q$ once with the factor of the alignment itself.",
        ),
    ),
    notes=(
        "tightened: the answer is neither 1 nor a number of the problem, so division by d_k, which leaves rho itself, "
        "is asked in scenarios only"
    ),
)


def _sd_slip(variance: float, d_k: int, scale: str) -> float:
    return math.sqrt(variance) / divisor(scale, d_k)


LOGIT_SD = Drill(
    id="alignment.logit_sd",
    asks="the spread of the logit of a partly aligned query and key",
    stars=3,
    moves=("T",),
    params={"d_k": WIDTHS, "rho": OneOf(0.25, 0.3, 0.5, 0.6, 0.75, 0.8, 1), "scale": OneOf(*SCALES)},
    derive=_scaling,
    require=lambda rho: rho >= 0.25,
    hold=("scale",),
    solve=logit_sd,
    answer=Number(tolerance=rel(0.01)),
    steps=lambda d_k, rho, scale, answer: {
        "length": rho**2 * 2 * d_k,
        "noise": (1 - rho**2) * d_k,
        "variance": raw_variance(d_k, rho),
        "raw": math.sqrt(raw_variance(d_k, rho)),
        "divided": scale != "none",
        "divisor": divisor(scale, d_k),
        "sd": answer,
    },
    slips=(
        Slip(
            "independent_assumed",
            lambda d_k, scale: _sd_slip(d_k, d_k, scale),
            "Query and key are taken as independent; the squared length of the common part adds variance.",
        ),
        Slip(
            "noise_part_only",
            lambda d_k, rho, scale: _sd_slip(d_k * (1 - rho**2), d_k, scale),
            "Only the independent part is counted; the query's squared length varies too, by twice its width.",
        ),
        Slip(
            "variance_not_sd",
            lambda answer: answer**2,
            "This is the variance of the logit; its root, the standard deviation, is asked.",
        ),
        Slip(
            "rho_not_squared",
            lambda d_k, rho, scale: _sd_slip(d_k * (1 + rho), d_k, scale) if rho != 1 else None,
            "The alignment enters unsquared; a factor on a random part enters its variance squared.",
        ),
    ),
)

REGIMES: Mapping[str, str] = {
    "aligned_mean": r"The alignment $\rho > 0$ is the same at both widths. By what factor does the mean logit change?",
    "random_sd": "Query and key are independent. By what factor does the logit's standard deviation change?",
}

WIDTH_GROWTH = Drill(
    id="alignment.width_growth",
    asks="how the logit grows with the head width",
    stars=3,
    moves=("T",),
    params={"c": OneOf(2, 4, 8, 9, 16), "regime": OneOf(*REGIMES), "scale": OneOf(*SCALES)},
    derive=lambda regime, scale: {"question": REGIMES[regime], "scaling": SCALES[scale]},
    hold=("regime", "scale"),
    solve=width_factor,
    answer=Number(tolerance=rel(0.01)),
    steps=lambda c, regime, scale, answer: {
        "aligned": regime == "aligned_mean",
        "scale": scale,
        "raw": float(c ** GROWTH[regime]),
        "divided": float(c ** DIVIDED[scale]),
        "factor": answer,
    },
    slips=(
        Slip(
            "regimes_swapped",
            lambda c, regime, scale: width_factor(c, OTHER[regime], scale),
            "The two kinds of growth are exchanged: terms with a common mean add up with the width, random ones with "
            "its root.",
        ),
        Slip(
            "scale_ignored",
            lambda c, regime, scale: width_factor(c, regime, "none") if scale != "none" else None,
            "The divisor is left as it was; it grows with the width as well.",
        ),
        Slip(
            "scale_assumed",
            lambda c, regime, scale: width_factor(c, regime, "sqrt_dk") if scale != "sqrt_dk" else None,
            r"The divisor $\sqrt{d_k}$ is assumed; the question states another scale.",
        ),
    ),
)

SITUATIONS: Mapping[str, tuple[str, str]] = {
    "initialisation_independent": (
        "At initialisation, queries and keys are independent with mean zero. The spread of the logits should not "
        "depend on $d_k$.",
        "sqrt_dk",
    ),
    "trained_fully_aligned": (
        r"After training, a query and its key have become the same vector with standard normal components, "
        r"$\mathbf k = \mathbf q$. The logit of such a pair should stay near one at every $d_k$.",
        "dk",
    ),
    "width_transfer_mup": (
        r"Hyperparameters tuned on a narrow model are to be carried over to wider ones by the $\mu$P rule, while "
        "$d_k$ grows.",
        "dk",
    ),
    "unit_variance_logits_at_start": (
        "All components are independent with mean zero and variance one when training starts. The logits should have "
        "variance one as well.",
        "sqrt_dk",
    ),
    "mean_logit_constant_across_width_when_aligned": (
        r"Keys are partly aligned with their queries, by the same $\rho > 0$ at every width. The mean logit should not "
        "change with $d_k$.",
        "dk",
    ),
    "central_limit_regime": (
        "The products $q_c k_c$ are independent with mean zero, so that their sum is a central-limit sum. It should "
        "stay of order one as $d_k$ grows.",
        "sqrt_dk",
    ),
    "law_of_large_numbers_regime": (
        "The products $q_c k_c$ have a common positive mean, so that their sum follows the law of large numbers. It "
        "should stay of order one as $d_k$ grows.",
        "dk",
    ),
    "one_scale_right_at_every_stage": (
        "The divisor should give unit-variance logits at initialisation, and after training a mean logit of aligned "
        "pairs that does not change with $d_k$.",
        "neither",
    ),
}
DIVISORS: tuple[Option, ...] = (
    Option(
        "sqrt_dk",
        r"$\sqrt{d_k}$.",
        "It takes out the growth of a sum of independent zero-mean terms.",
    ),
    Option("dk", "$d_k$.", "It takes out the growth of a sum whose terms share a mean."),
    Option(
        "sqrt_d_model",
        r"$\sqrt{d_{\text{model}}}$.",
        "The dot product runs over one head's width, so the model width never enters.",
    ),
    Option(
        "neither",
        "No single one of these.",
        "It is the answer where random and aligned sums are both to be tamed, since they grow differently.",
    ),
)

WHICH_SCALE = Drill(
    id="alignment.which_scale",
    asks="which divisor a situation calls for",
    stars=3,
    moves=("T",),
    params={"situation": OneOf(*SITUATIONS)},
    derive=lambda situation: {"story": SITUATIONS[situation][0]},
    solve=lambda situation: SITUATIONS[situation][1],
    options=lambda: DIVISORS,
    answer=Choice(),
    steps=lambda answer: {"right": answer},
    slips=(
        Slip(
            "says_sqrt_dk",
            lambda: "sqrt_dk",
            "The root is a rule for random sums; where terms share a mean the sum grows with the width itself.",
        ),
        Slip(
            "says_dk",
            lambda: "dk",
            "The width is a rule for aligned sums; random terms cancel and their sum grows with the root only.",
        ),
        Slip(
            "says_sqrt_d_model",
            lambda: "sqrt_d_model",
            "The model width is taken; a head's dot product has as many terms as its keys are wide.",
        ),
    ),
)

TARGETS: Mapping[str, tuple[str, str, Mapping[str, str]]] = {
    "mean_sqrt": (
        r"the mean of $\mathbf q \cdot \mathbf k/\sqrt{d_k}$",
        "rho sqrt(d_k)",
        {"not_divided": "rho d_k", "divided_by_dk": "rho", "zero": "0"},
    ),
    "sd_sqrt": (
        r"the standard deviation of $\mathbf q \cdot \mathbf k/\sqrt{d_k}$",
        "sqrt(1 + rho^2)",
        {"independent": "1", "noise_only": "sqrt(1 - rho^2)"},
    ),
    "mean_dk": (
        r"the mean of $\mathbf q \cdot \mathbf k/d_k$",
        "rho",
        {"not_divided": "rho d_k", "root_scale": "rho sqrt(d_k)", "zero": "0"},
    ),
    "sd_dk": (
        r"the standard deviation of $\mathbf q \cdot \mathbf k/d_k$",
        "sqrt((1 + rho^2)/d_k)",
        {"independent": "1/sqrt(d_k)", "noise_only": "sqrt((1 - rho^2)/d_k)", "root_scale": "sqrt(1 + rho^2)"},
    ),
    "raw_variance": (
        r"the variance of $\mathbf q \cdot \mathbf k$",
        "d_k (1 + rho^2)",
        {"independent": "d_k", "noise_only": "d_k (1 - rho^2)", "plus_two": "d_k (1 + 2 rho^2)"},
    ),
}

REMARKS = {
    "not_divided": "The divisor is left out; it divides the mean of the dot product.",
    "divided_by_dk": r"The whole $d_k$ is divided out; the question states $\sqrt{d_k}$.",
    "independent": "Query and key are taken as independent; the squared length of the common part adds variance.",
    "noise_only": "Only the independent part is counted; the query's squared length varies too, by twice its width.",
    "root_scale": r"Only $\sqrt{d_k}$ is divided out; the question states $d_k$.",
    "zero": "Query and key are taken as independent; aligned parts give every component a positive mean product.",
    "plus_two": r"The independent part is counted in full; its weight in the variance is only $1 - \rho^2$.",
}
RHO_AND_WIDTH = {"rho": "0 < rho < 1", "d_k": "integer >= 1"}


def _of_target(slip: str) -> Slip:
    return Slip(slip, lambda target: TARGETS[target][2].get(slip), REMARKS[slip])


EXPRESSION = Drill(
    id="alignment.expression",
    asks="moments of the aligned logit as formulas",
    stars=3,
    moves=("T",),
    params={"target": OneOf(*TARGETS)},
    derive=lambda target: {"named": TARGETS[target][0]},
    solve=lambda target: TARGETS[target][1],
    answer=Expression(symbols=RHO_AND_WIDTH, tolerance=EQUIVALENT),
    steps=lambda target, answer: {"target": target, "formula": answer},
    slips=tuple(_of_target(slip) for slip in REMARKS),
)

SD_FORMULA = Drill(
    id="alignment.sd_formula",
    asks="the spread of the aligned logit under the usual scale, as a formula",
    stars=3,
    moves=("T",),
    params={},
    solve=lambda: "sqrt(1 + rho^2)",
    answer=Expression(symbols=RHO_AND_WIDTH, tolerance=EQUIVALENT),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "noise_only",
            lambda: "sqrt(1 - rho^2)",
            "Only the independent part is counted; the query's squared length varies as well.",
        ),
        Slip(
            "unit_noise",
            lambda: "sqrt(1 + 2 rho^2)",
            r"The independent part is counted in full; its weight in the variance is only $1 - \rho^2$.",
        ),
        Slip(
            "independent",
            lambda: "1",
            "Query and key are taken as independent; the squared length of the common part adds variance.",
        ),
        Slip(
            "undivided",
            lambda: "sqrt(d_k (1 + rho^2))",
            r"This is the spread of the raw dot product; the question divides it by $\sqrt{d_k}$.",
        ),
    ),
)

CARD = Card(
    number=16,
    slug="c16_alignment",
    title="Aligned queries and keys, and the scale 1/d_k",
    stars=3,
    moves=("T",),
    statement=(
        "Once keys lean towards their queries, the mean dot product grows with the head width and its noise with the "
        "root only; so dividing by the root suits independent vectors, dividing by the width aligned ones."
    ),
    formulas=(
        r"\mathbf k = \rho\, \mathbf q + \sqrt{1 - \rho^2}\, \mathbf z: \quad "
        r"\mathbb E[\mathbf q^\top \mathbf k] = \rho\, d_k, \quad "
        r"\operatorname{Var}(\mathbf q^\top \mathbf k) = d_k\, (1 + \rho^2)",
        r"\frac{\mathbf q^\top \mathbf k}{\sqrt{d_k}}: \text{ mean } \rho \sqrt{d_k}, \text{ sd } \sqrt{1 + \rho^2}",
        r"\frac{\mathbf q^\top \mathbf k}{d_k}: \text{ mean } \rho, \text{ sd } \sqrt{\frac{1 + \rho^2}{d_k}}",
    ),
    drills=(MEAN_LOGIT, LOGIT_SD, WIDTH_GROWTH, WHICH_SCALE, EXPRESSION, SD_FORMULA),
)
