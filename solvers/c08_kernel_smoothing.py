"""Card 8: attention read as Nadaraya-Watson kernel smoothing.

Source: card 8. Queries and keys are vectors of one width [d_k], keys [T, d_k], values [T, d_v]; lam is the bandwidth
of the Gaussian kernel e^{-‖q - k‖²/(2 lam²)}, in the unit of the keys.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from grading.kinds.expression import Expression
from grading.kinds.number import Number
from grading.kinds.vector import Vector as VectorKind
from grading.tolerance import EQUIVALENT, rel, within
from solvers.algebra import average, dot, softmax
from solvers.domains import Ints, Made, Matrix, OneOf, Values, Vector
from solvers.draws import Draws
from solvers.drill import Card, Drill, Slip
from solvers.statements import Statement, minus, plus, statement_drill

Row = Sequence[float]


def squared_distance(q: Row, k: Row) -> float:
    """‖q - k‖² of two vectors."""
    return float(sum((a - b) ** 2 for a, b in zip(q, k, strict=True)))


def log_kernel(q: Row, k: Row, lam: float) -> float:
    """-‖q - k‖²/(2 lam²), the logarithm of the Gaussian kernel."""
    return -squared_distance(q, k) / (2 * lam * lam)


def smoother_weights(q: Row, keys: Sequence[Row], lam: float) -> list[float]:
    """Nadaraya-Watson weights [T]: kernels over their sum, which is the softmax of their logarithms."""
    return softmax([log_kernel(q, k, lam) for k in keys])


def nadaraya_watson(q: Row, keys: Sequence[Row], values: Sequence[Row], lam: float) -> list[float]:
    """The kernel-weighted mean of the values at q → [d_v]."""
    return average(smoother_weights(q, keys, lam), values)


def key_bias(keys: Sequence[Row], lam: float) -> list[float]:
    """The additive bias per key, -‖k‖²/(2 lam²), that turns dot-product attention into the smoother → [T]."""
    return [-dot(k, k) / (2 * lam * lam) for k in keys]


def attention_weights(q: Row, keys: Sequence[Row], lam: float, bias: Row | None = None) -> list[float]:
    """softmax(q·k/lam² + bias) [T]: dot-product attention at temperature lam², plain without a bias."""
    logits = [dot(q, k) / (lam * lam) for k in keys]
    if bias is not None:
        logits = [s + b for s, b in zip(logits, bias, strict=True)]
    return softmax(logits)


def plain_attention(
    q: Row, keys: Sequence[Row], values: Sequence[Row], lam: float, bias: Row | None = None
) -> list[float]:
    """The attention output at temperature lam² → [d_v]."""
    return average(attention_weights(q, keys, lam, bias), values)


def bandwidth_of_width(d_k: int) -> float:
    """The Gaussian bandwidth of the scale 1/√d_k, for keys of equal length: d_k^{1/4}."""
    return math.sqrt(math.sqrt(d_k))


def bandwidth_of_gain(g: float) -> float:
    """The Gaussian bandwidth of a QK-norm gain g (unit queries and keys): 1/√g."""
    return 1 / math.sqrt(g)


def mean_value(values: Sequence[Row]) -> list[float]:
    """The plain mean of the values → [d_v]: what a zero query returns."""
    return [sum(column) / len(values) for column in zip(*values, strict=True)]


def smooth(values: Sequence[float], kernels: Sequence[float]) -> float:
    """Σ K_j v_j / Σ K_j for plain numbers."""
    return float(dot(kernels, values)) / sum(kernels)


def _gaussians(q: float, keys: Sequence[float], two_lam2: float) -> list[float]:
    return [math.exp(-((q - k) ** 2) / two_lam2) for k in keys]


def _estimate(q: float, keys: Sequence[float], values: Sequence[float], lam: float) -> float:
    return float(dot(softmax([-((q - k) ** 2) / (2 * lam * lam) for k in keys]), values))


def _plain(q: float, keys: Sequence[float], values: Sequence[float], lam: float, bias: float = 0.0) -> float:
    """Attention on numbers with bias·k²/(2 lam²) added to the logits."""
    return float(dot(softmax([(q * k + bias * k * k / 2) / (lam * lam) for k in keys]), values))


def _distinct_keys(draws: Draws, so_far: Values) -> list[int]:
    return draws.sample(range(-1, 6), so_far["T"])


POINTS = {
    "T": OneOf(3, 4),
    "q": Ints(0, 4),
    "keys": Made(_distinct_keys, like="vector"),
    "values": Vector("T", Ints(0, 9)),
    "lam": OneOf(1, 1.5, 2),
}


def _kernel_steps(q: float, keys: Sequence[float], lam: float) -> dict[str, Any]:
    kernels = _gaussians(q, keys, 2 * lam * lam)
    return {
        "squares": [(q - k) ** 2 for k in keys],
        "two_lam2": 2 * lam * lam,
        "kernels": kernels,
        "total": sum(kernels),
    }


ESTIMATE = Drill(
    id="kernel_smoothing.estimate",
    asks="a Gaussian Nadaraya-Watson estimate at one point",
    stars=3,
    moves=("F",),
    params=POINTS,
    require=lambda q, keys, lam: max(smoother_weights([q], [[k] for k in keys], lam)) < 0.85,
    solve=_estimate,
    answer=Number(tolerance=rel(0.01)),
    steps=lambda q, keys, values, lam, answer: {
        **_kernel_steps(q, keys, lam),
        "weighted": dot(_gaussians(q, keys, 2 * lam * lam), values),
        "estimate": answer,
    },
    slips=(
        Slip(
            "key_bias_missing",
            _plain,
            "The dot products $q\\,k_j/\\lambda^2$ are used alone; the smoother also takes "
            "$k_j^2/(2\\lambda^2)$ off each logit.",
        ),
        Slip(
            "two_lost",
            lambda q, keys, values, lam: smooth(values, _gaussians(q, keys, lam * lam)),
            "The exponent is divided by $\\lambda^2$; the Gaussian kernel divides by $2\\lambda^2$.",
        ),
        Slip(
            "plain_mean",
            lambda values: sum(values) / len(values),
            "All values count alike; the kernel gives near points more weight than far ones.",
        ),
        Slip(
            "distance_not_squared",
            lambda q, keys, values, lam: smooth(values, [math.exp(-abs(q - k) / (2 * lam * lam)) for k in keys]),
            "The distance stands in the exponent as it is; the Gaussian kernel needs its square.",
        ),
    ),
)

KEY_BIAS = Drill(
    id="kernel_smoothing.key_bias",
    asks="the bias per key that makes attention a Gaussian smoother",
    stars=3,
    moves=("F",),
    params={
        "keys": Matrix(3, 2, Ints(-3, 4)),
        "lam": OneOf(0.5, 1, 1.5, 2),
        "q": Vector(2, Ints(-3, 3)),
    },
    require=lambda q: any(q),
    solve=key_bias,
    answer=VectorKind(tolerance=rel(0.01)),
    steps=lambda keys, lam, answer: {
        "lengths2": [dot(k, k) for k in keys],
        "two_lam2": 2 * lam * lam,
        "bias": answer,
    },
    slips=(
        Slip(
            "sign",
            lambda answer: [-b for b in answer],
            "The sign is turned; a longer key is farther away, so its bias lowers the logit.",
        ),
        Slip(
            "two_lost",
            lambda answer: [2 * b for b in answer],
            "The squared length is divided by $\\lambda^2$; it keeps the kernel's $2\\lambda^2$.",
        ),
        Slip(
            "norm_not_squared",
            lambda keys, lam: [-math.sqrt(dot(k, k)) / (2 * lam * lam) for k in keys],
            "The length of the key is taken as it is; expanding the squared distance leaves its square.",
        ),
        Slip(
            "query_length_kept",
            lambda keys, lam, q: [-(dot(k, k) + dot(q, q)) / (2 * lam * lam) for k in keys],
            "The query's squared length is kept; it is the same for every key and cancels in the softmax.",
        ),
    ),
)

BANDWIDTH = Drill(
    id="kernel_smoothing.bandwidth",
    asks="the Gaussian bandwidth of the scale 1/√d_k",
    stars=3,
    moves=("F",),
    params={"d_k": OneOf(2, 4, 8, 16, 32, 64, 128, 256)},
    solve=bandwidth_of_width,
    answer=Number(tolerance=rel(0.01)),
    steps=lambda d_k, answer: {"lam2": math.sqrt(d_k), "lam": answer},
    slips=(
        Slip(
            "root_only",
            lambda d_k: math.sqrt(d_k),
            "This is $\\lambda^2$; the bandwidth is its square root.",
        ),
        Slip(
            "inverse",
            lambda answer: 1 / answer,
            "The reciprocal is given; $1/\\lambda^2$ is the scale, so a wide head has a large bandwidth.",
        ),
        Slip(
            "dk",
            lambda d_k: d_k,
            "The width itself is given; matching $1/\\lambda^2$ with $1/\\sqrt{d_k}$ takes two square roots.",
        ),
    ),
)

ZERO_QUERY = Drill(
    id="kernel_smoothing.zero_query",
    asks="what attention returns for a zero query",
    stars=3,
    moves=("F",),
    params={
        "T": OneOf(3, 4, 5),
        "keys": Matrix("T", 2, Ints(-3, 3)),
        "values": Matrix("T", 2, Ints(-2, 5)),
    },
    solve=mean_value,
    answer=VectorKind(tolerance=within(0.0005)),
    steps=lambda values, answer: {"sums": [sum(c) for c in zip(*values, strict=True)], "mean": answer},
    slips=(
        Slip(
            "zero_vector",
            lambda: [0, 0],
            "A zero query is taken to read nothing; the softmax row still sums to one and spreads evenly.",
        ),
        Slip(
            "sum",
            lambda values: [sum(c) for c in zip(*values, strict=True)],
            "The values are added up; equal weights are $1/T$ each, which makes the mean.",
        ),
        Slip(
            "mean_of_keys",
            lambda keys: mean_value(keys),
            "The keys are averaged; they only set the weights, what is averaged are the values.",
        ),
    ),
)

LOG_WEIGHT = Drill(
    id="kernel_smoothing.log_weight",
    asks="the shortest logit whose softmax is the Gaussian kernel weights",
    stars=3,
    moves=("F",),
    params={},
    solve=lambda: "qk/lam^2 - kk/(2 lam^2)",
    answer=Expression(symbols={"qk": "real", "kk": "kk >= 0", "qq": "qq >= 0", "lam": "lam > 0"}, tolerance=EQUIVALENT),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "query_length_kept",
            lambda: "(qk - kk/2 - qq/2)/lam^2",
            "Same softmax, but not the shortest: the query's length is shared by all keys and cancels.",
        ),
        Slip(
            "bias_missing",
            lambda: "qk/lam^2",
            "The key's length is dropped; it differs from key to key, so it does not cancel.",
        ),
        Slip(
            "bias_sign",
            lambda: "(qk + kk/2)/lam^2",
            "The key's length comes with a plus; in the negative squared distance it stands with a minus.",
        ),
        Slip(
            "cross_term_halved",
            lambda: "(qk - kk)/(2 lam^2)",
            "The cross term has lost its two: the squared distance holds $-2\\,\\mathbf q \\cdot \\mathbf k$.",
        ),
    ),
)

BIAS_ERROR = Drill(
    id="kernel_smoothing.bias_error",
    asks="how far attention without the key bias misses the smoother",
    stars=3,
    moves=("F",),
    params=POINTS,
    derive=lambda q, keys, values, lam: {
        "smoothed": _estimate(q, keys, values, lam),
        "attended": _plain(q, keys, values, lam),
    },
    solve=lambda smoothed, attended: abs(smoothed - attended),
    answer=Number(tolerance=within(0.02)),
    steps=lambda q, keys, lam, smoothed, attended, answer: {
        "two_lam2": 2 * lam * lam,
        "lam2": lam * lam,
        "kernels": _gaussians(q, keys, 2 * lam * lam),
        "smoothed": smoothed,
        "logits": [q * k / (lam * lam) for k in keys],
        "weights": softmax([q * k / (lam * lam) for k in keys]),
        "attended": attended,
        "error": answer,
    },
    slips=(
        Slip(
            "identical",
            lambda: 0,
            "The two are called identical; they agree only where all keys have the same length.",
        ),
        Slip(
            "bias_sign",
            lambda q, keys, values, lam, smoothed: abs(smoothed - _plain(q, keys, values, lam, 1.0)),
            "The comparison adds the key bias with the wrong sign; plain attention has no key bias at all.",
        ),
        Slip(
            "two_lost",
            lambda q, keys, values, lam, attended: abs(smooth(values, _gaussians(q, keys, lam * lam)) - attended),
            "The kernel's exponent is divided by $\\lambda^2$; the Gaussian divides by $2\\lambda^2$.",
        ),
    ),
)

STATEMENTS = statement_drill(
    id="kernel_smoothing.statements",
    asks="what is right about attention as kernel smoothing",
    stars=3,
    moves=("F",),
    statements=(
        Statement(
            "query_norm_needed",
            "To give the Gaussian smoother's weights, the softmax logits must contain a term in "
            "$\\lVert\\mathbf q\\rVert^2$.",
            False,
            "That term is the same for every key of a row, so the softmax cancels it.",
        ),
        Statement(
            "always_identical",
            "For any keys, plain dot-product attention equals a Gaussian smoother of a suitable bandwidth.",
            False,
            "The smoother also lowers the logits of long keys; without that bias they differ.",
        ),
        Statement(
            "equal_key_norms_exact",
            "If all keys have the same length, plain dot-product attention equals a Gaussian smoother of "
            "a suitable "
            "bandwidth.",
            True,
            "The key-length bias is then one constant, and constants cancel in the softmax.",
        ),
        Statement(
            "query_norm_cancels",
            "In the expanded squared distance, the term in $\\lVert\\mathbf q\\rVert^2$ has no effect on the weights.",
            True,
            "It is shared by all keys of the row and cancels in the softmax.",
        ),
        Statement(
            "long_keys_penalised",
            "Of two keys with the same dot product with the query, the Gaussian smoother gives the longer "
            "one less weight.",
            True,
            "Its bias $-\\lVert\\mathbf k\\rVert^2/(2\\lambda^2)$ is lower: it lies farther from the query.",
        ),
        Statement(
            "output_in_hull",
            "Seen as a smoother, attention returns a point in the convex hull of the values.",
            True,
            "The weights are positive and sum to one.",
        ),
        Statement(
            "can_extrapolate",
            "A query far outside the keys can bring out an output beyond every value.",
            False,
            "A weighted mean with positive weights stays among the values, wherever the query lies.",
        ),
        Statement(
            "qk_norm_makes_exact",
            "With queries and keys normalised to unit length (QK-norm), attention is exactly a Gaussian smoother.",
            True,
            "All keys then have the same length, so no key bias is missing.",
        ),
        Statement(
            "kernel_symmetric_in_attention",
            "With learned $W_Q$ and $W_K$, token $i$ always scores token $j$ as high as $j$ scores $i$.",
            False,
            "The matrix $W_Q W_K^\\top$ need not be symmetric, unlike a kernel of a distance.",
        ),
        Statement(
            "scale_is_bandwidth",
            "For keys of equal length, the scale $1/\\sqrt{d_k}$ acts as a Gaussian bandwidth $\\lambda = d_k^{1/4}$.",
            True,
            "Matching $1/\\lambda^2$ with $1/\\sqrt{d_k}$ gives it.",
        ),
    ),
    always=("query_norm_needed", "always_identical", "equal_key_norms_exact"),
    count=3,
    slips=(
        Slip(
            "plain_gaussian",
            lambda answer, options: plus(minus(answer, "equal_key_norms_exact"), options, "always_identical"),
            "Attention is called a Gaussian kernel outright; that holds only for keys of equal length, "
            "else a bias is missing.",
        ),
        Slip(
            "query_norm",
            lambda answer, options: plus(minus(answer, "query_norm_cancels"), options, "query_norm_needed"),
            "The query's length is kept as if it mattered; all keys share it, so the softmax cancels it.",
        ),
    ),
)

BANDWIDTH_FORMULA = Drill(
    id="kernel_smoothing.bandwidth_formula",
    asks="the bandwidth of the scale 1/√d_k as a formula",
    stars=3,
    moves=("F",),
    params={},
    solve=lambda: "d_k^(1/4)",
    answer=Expression(symbols={"d_k": "integer >= 1"}, tolerance=EQUIVALENT),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "temperature",
            lambda: "sqrt(d_k)",
            "This is the temperature $\\lambda^2$; the bandwidth is its square root.",
        ),
        Slip(
            "inverse",
            lambda: "d_k^(-1/4)",
            "The reciprocal is given; $1/\\lambda^2$ is the scale, so the bandwidth grows with the width.",
        ),
        Slip(
            "with_two",
            lambda: "sqrt(2) d_k^(1/4)",
            "The kernel's two is counted again; the cross term of the squared distance has already cancelled it.",
        ),
    ),
)

CARD = Card(
    number=8,
    slug="c08_kernel_smoothing",
    title="Attention as kernel smoothing",
    stars=3,
    moves=("F",),
    statement=(
        "A Gaussian kernel smoother is dot-product attention whose logits carry one more term, a penalty "
        "on the key's "
        "squared length; for keys of equal length the term is a constant and the two coincide."
    ),
    formulas=(
        r"\hat f(\mathbf q) = \frac{\sum_j e^{-\lVert\mathbf q - \mathbf k_j\rVert^2/2\lambda^2}\,\mathbf "
        r"v_j}"
        r"{\sum_j e^{-\lVert\mathbf q - \mathbf k_j\rVert^2/2\lambda^2}}",
        r"\text{logit}_j = \frac{\mathbf q^\top\mathbf k_j}{\lambda^2} - \frac{\lVert\mathbf "
        r"k_j\rVert^2}{2\lambda^2}",
        r"\frac{1}{\lambda^2} = \frac{1}{\sqrt{d_k}} \iff \lambda = d_k^{1/4}",
    ),
    drills=(
        ESTIMATE,
        KEY_BIAS,
        BANDWIDTH,
        ZERO_QUERY,
        LOG_WEIGHT,
        BIAS_ERROR,
        STATEMENTS,
        BANDWIDTH_FORMULA,
    ),
)
