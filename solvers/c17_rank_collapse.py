"""Card 17: uniform heads shrink variance, and stacked attention makes all tokens alike.

Source: card 17. X [T, d] holds one token per row, X = 1 x̄ᵀ + R; r is the size of the residual R (Frobenius norm).
W [d, d] is the combined score matrix W_Q W_Kᵀ/√d_k, so a logit is x_iᵀ W x_j.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from grading.kinds.expression import Expression
from grading.kinds.integer import Integer
from grading.kinds.number import Number
from grading.kinds.parts import Part, Parts
from grading.kinds.vector import Vector as VectorKind
from grading.tolerance import EQUIVALENT, EXACT, rel, within
from solvers.algebra import dot, matvec
from solvers.domains import Ints, Made, Matrix, OneOf, Steps, Values, Vector
from solvers.draws import Draws
from solvers.drill import Card, Drill, Slip
from solvers.errors import BadParameter
from solvers.statements import Statement, minus, plus, statement_drill

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def uniform_variance(T: int, sigma_v: float) -> float:
    """Variance of the plain mean of T independent values of standard deviation sigma_v: sigma_v²/T."""
    return sigma_v * sigma_v / T


def depth_bound(C: float, r_0: float, L: int) -> float:
    """C^{-1/2} (√C r_0)^{3^L}, the bound on r_L when every layer satisfies r' ≤ C r³.

    0 where a float underflows, inf where it overflows (the bound says nothing once √C r_0 is above 1).
    """
    log = log_depth_bound(C, r_0, L)
    if not -700 < log < 700:
        return 0.0 if log < 0 else math.inf
    return math.pow(math.sqrt(C) * r_0, 3**L) / math.sqrt(C)


def log_depth_bound(C: float, r_0: float, L: int) -> float:
    """The natural logarithm of the bound, for depths at which the bound itself is no float."""
    return math.pow(3, min(L, 600)) * math.log(math.sqrt(C) * r_0) - 0.5 * math.log(C)


def crossing(C: float, r_0: float, eps: float, base: int = 3) -> float:
    """The real n at which C^{-1/2} (√C r_0)^{base^n} = eps, -inf where it is below eps from the first.

    `BadParameter` where √C r_0 is not below 1: the bound never falls then.
    """
    u_0, target = math.sqrt(C) * r_0, math.sqrt(C) * eps
    if not 0 < u_0 < 1:
        raise BadParameter(f"√C r_0 is {u_0:.4g}: the bound falls only where it lies between 0 and 1")
    if target >= 1:
        return -math.inf
    return math.log(math.log(target) / math.log(u_0)) / math.log(base)


def layers_needed(C: float, r_0: float, eps: float, base: int = 3) -> int:
    """The least n ≥ 0 with C^{-1/2} (√C r_0)^{base^n} ≤ eps; the law is cubic, base 3."""
    n = crossing(C, r_0, eps, base)
    return math.ceil(n) if n > 0 else 0


def cubic_ratios(r: Sequence[float]) -> list[float]:
    """r_{l+1}/r_l³ of successive residuals: of order one where the law is cubic."""
    return [b / (a * a * a) for a, b in pairwise(r)]


def residual_scaling(c: int, layers: int) -> int:
    """How many times smaller the residual comes out when it goes in c times smaller, to leading order: c^{3^layers}."""
    if layers > 6:
        raise BadParameter(f"layers={layers}: at most 6 are worked out, since the exponent is 3^layers")
    return int(c ** (3**layers))


def split_logit(mean: Sequence[Any], r_i: Sequence[Any], r_j: Sequence[Any], W: Sequence[Sequence[Any]]) -> list[Any]:
    """(mean + r_i)ᵀ W (mean + r_j) in three: query only (with meanᵀ W mean), key only, and the cross term."""
    query = [a + b for a, b in zip(mean, r_i, strict=True)]
    return [dot(query, matvec(W, mean)), dot(mean, matvec(W, r_j)), dot(r_i, matvec(W, r_j))]


def residual(X: Array) -> Array:
    """R [T, d]: every token less the mean token."""
    centred: Array = X - X.mean(axis=0, keepdims=True)
    return centred


def relative_residual(X: Array) -> float:
    """‖R‖/‖X‖ in Frobenius norms: 0 where all tokens are the same."""
    import numpy as np

    return float(np.linalg.norm(residual(X)) / np.linalg.norm(X))


def attention_layer(X: Array, W: Array, W_V: Array) -> Array:
    """softmax(X W Xᵀ) X W_V with the scale inside W: one attention layer and nothing else; [T, d] → [T, d]."""
    import numpy as np

    S = X @ W @ X.T
    P = np.exp(S - S.max(axis=1, keepdims=True))
    return np.asarray(P / P.sum(axis=1, keepdims=True) @ X @ W_V, dtype=np.float64)


def collapse(
    layers: int, tokens: int = 32, width: int = 64, stacks: int = 20, skip: bool = False, seed: int = 1
) -> list[float]:
    """Median relative residual before and after each layer of random attention-only stacks; [layers + 1].

    One head of the full width, maps with entries N(0, 1/width), tokens rescaled to unit mean square after every
    layer; skip: the layer's input is added before the rescaling.
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    runs = []
    for _ in range(stacks):
        X = _unit(rng.normal(size=(tokens, width)))
        run = [relative_residual(X)]
        for _ in range(layers):
            W_Q, W_K, W_V = rng.normal(scale=width**-0.5, size=(3, width, width))
            out = attention_layer(X, W_Q @ W_K.T / width**0.5, W_V)
            X = _unit(out + X if skip else out)
            run.append(relative_residual(X))
        runs.append(run)
    return [float(m) for m in np.median(runs, axis=0)]


def _unit(X: Array) -> Array:
    """The tokens rescaled to a mean square of one."""
    import numpy as np

    return np.asarray(X / np.sqrt((X * X).mean()), dtype=np.float64)


UNIFORM_VARIANCE = Drill(
    id="rank_collapse.uniform_variance",
    asks="the variance that a uniform head leaves",
    stars=3,
    moves=("T",),
    params={"T": OneOf(16, 64, 256, 1024, 4096), "sigma_v": OneOf(0.5, 1, 1.5, 2, 3)},
    require=lambda T, sigma_v: uniform_variance(T, sigma_v) > 6e-4,
    solve=uniform_variance,
    answer=Number(tolerance=rel(0.01)),
    steps=lambda sigma_v, answer: {"one": sigma_v * sigma_v, "variance": answer},
    slips=(
        Slip(
            "unchanged",
            lambda sigma_v: sigma_v * sigma_v,
            "The variance of a single value is given; averaging independent values shrinks it by $1/T$.",
        ),
        Slip(
            "root_T",
            lambda T, sigma_v: sigma_v * sigma_v / math.sqrt(T),
            "The root of $T$ belongs to the standard deviation; the variance is divided by $T$ itself.",
        ),
        Slip(
            "T_squared",
            lambda T, sigma_v: sigma_v * sigma_v / (T * T),
            "The $1/T^2$ of the weights is kept, but $T$ variances add up under it, which leaves $1/T$.",
        ),
        Slip(
            "sigma_not_squared",
            # At a standard deviation of 1 nobody can make this slip.
            lambda T, sigma_v: sigma_v / T if sigma_v != 1 else None,
            "The standard deviation stands in for the variance; square it first.",
        ),
    ),
    notes="tightened: no tiny deviation over the longest contexts, so that the answers span three powers of ten",
)

DEPTH_BOUND = Drill(
    id="rank_collapse.depth_bound",
    asks="the bound on the residual after L layers",
    stars=3,
    moves=("F",),
    params={"C": OneOf(0.25, 0.5, 2, 4), "r_0": Steps(0.2, 1.2, 0.1), "L": OneOf(2, 3, 3, 4)},
    require=lambda C, r_0, L: 0.3 <= round(math.sqrt(C) * r_0, 9) <= 0.95 and 4e-4 <= depth_bound(C, r_0, L) <= 0.5,
    solve=depth_bound,
    answer=Number(tolerance=rel(0.03)),
    steps=lambda C, r_0, L, answer: {
        "root": math.sqrt(C),
        "u_0": math.sqrt(C) * r_0,
        "exponent": 3**L,
        "u_L": (math.sqrt(C) * r_0) ** 3**L,
        "bound": answer,
    },
    slips=(
        Slip(
            "three_times_L",
            lambda C, r_0, L: (math.sqrt(C) * r_0) ** (3 * L) / math.sqrt(C),
            "The exponent $3L$ is used; each layer cubes what came before, so exponents multiply to $3^L$.",
        ),
        Slip(
            "prefactor_lost",
            lambda C, r_0, L: (math.sqrt(C) * r_0) ** 3**L,
            "This bounds the rescaled $u = \\sqrt C\\,r$; dividing by $\\sqrt C$ leads back to $r$.",
        ),
        Slip(
            "one_layer_only",
            lambda C, r_0: C * r_0**3,
            "One layer is applied; the bound goes through the cube once for every layer.",
        ),
        Slip(
            "squared_recursion",
            lambda C, r_0, L: (math.sqrt(C) * r_0) ** 2**L / math.sqrt(C),
            "The exponent doubles per layer; a cubic law triples it.",
        ),
    ),
    notes=(
        "tightened: bounds between 0.0004 and 0.5, so that the answers span three powers of ten; four layers then do "
        "not occur, and three weigh double"
    ),
)

RESIDUAL_SCALING = Drill(
    id="rank_collapse.residual_scaling",
    asks="how a smaller deviation comes out of pure attention layers",
    stars=3,
    moves=("F",),
    params={"c": OneOf(2, 3, 4, 5, 10, 20), "layers": OneOf(1, 1, 2)},
    require=lambda c, layers: 20 < residual_scaling(c, layers) < 20_000,
    hold=("layers",),
    solve=residual_scaling,
    answer=Number(tolerance=rel(0.01)),
    steps=lambda c, layers, answer: {"power": 3**layers, "one": c**3, "factor": answer},
    slips=(
        Slip(
            "linear", lambda c: c, "One power is kept; the weights' departure from a common row is quadratic as well."
        ),
        Slip(
            "quadratic",
            lambda c, layers: c ** (2**layers),
            "Only the quadratic change of the weights is counted; it multiplies the deviation, which makes a cube.",
        ),
        Slip(
            "exponents_added",
            lambda c, layers: c ** (3 * layers) if layers == 2 else None,
            "The exponents are added; the second layer cubes what the first returns, so they multiply.",
        ),
    ),
    notes="tightened: factors between 20 and 20,000, so that two layers meet small bases and one layer larger ones",
)


def _needed_at_3n(C: float, r_0: float, eps: float) -> int:
    """The layers that the single exponential (√C r_0)^{3n} would need."""
    n = math.log(eps * math.sqrt(C)) / (3 * math.log(math.sqrt(C) * r_0))
    return max(0, math.ceil(round(n, 9)))


LAYERS_NEEDED = Drill(
    id="rank_collapse.layers_needed",
    asks="layers until the bound falls to a threshold",
    stars=3,
    moves=("F",),
    params={
        "C": OneOf(0.25, 0.5, 1, 2),
        "r_0": Steps(0.5, 1.0, 0.1),
        "eps": OneOf(1e-3, 1e-4, 1e-6, 1e-9, 1e-12),
    },
    require=lambda C, r_0, eps: (
        0.4 <= round(math.sqrt(C) * r_0, 9) <= 0.97 and (n := crossing(C, r_0, eps)) > 1 and abs(n - round(n)) > 0.02
    ),
    solve=layers_needed,
    answer=Integer(unit="layers", tolerance=EXACT),
    steps=lambda C, r_0, eps, answer: {
        "u_0": math.sqrt(C) * r_0,
        "log_u_0": math.log(math.sqrt(C) * r_0),
        "log_eps": math.log(eps * math.sqrt(C)),
        "power": math.log(eps * math.sqrt(C)) / math.log(math.sqrt(C) * r_0),
        "below": answer - 1,
        "power_below": 3 ** (answer - 1),
        "power_at": 3**answer,
        "layers": answer,
    },
    slips=(
        Slip(
            "single_exponential",
            _needed_at_3n,
            "The exponent is taken as $3n$; cubing $n$ times multiplies the exponents to $3^n$.",
        ),
        Slip(
            "one_too_few",
            lambda answer: answer - 1,
            "One layer too few: the crossing lies above this number, so round up, not down.",
        ),
        Slip(
            "squared_recursion",
            lambda C, r_0, eps: layers_needed(C, r_0, eps, 2),
            "The exponent doubles per layer; a cubic law triples it.",
        ),
    ),
)


def _three_digits(value: float) -> float:
    return float(f"{value:.2e}")


def _measured(draws: Draws, _so_far: Values) -> list[float]:
    """Three residuals of a law that is cubic up to a factor between 0.4 and 1.5 a layer."""
    out = [draws.integer(400, 900) / 1000]
    for _ in range(2):
        out.append(_three_digits(draws.integer(40, 150) / 100 * out[-1] * out[-1] * out[-1]))
    return out


CUBIC_RATIOS = Drill(
    id="rank_collapse.cubic_ratios",
    asks="ratios that a cubic law keeps of order one",
    stars=3,
    moves=("F",),
    params={"r": Made(_measured, like="vector")},
    solve=cubic_ratios,
    answer=VectorKind(tolerance=rel(0.01)),
    steps=lambda r, answer: {"cubes": [x * x * x for x in r[:-1]], "ratios": answer},
    slips=(
        Slip(
            "plain_ratio",
            lambda r: [b / a for a, b in pairwise(r)],
            "Neighbours are divided as they are; a cubic law makes the next one proportional to the cube.",
        ),
        Slip(
            "square_ratio",
            lambda r: [b / (a * a) for a, b in pairwise(r)],
            "The square is divided out; quadratic weights times a linear deviation make a cube.",
        ),
        Slip(
            "inverted",
            lambda r: [a * a * a / b for a, b in pairwise(r)],
            "The ratio is upside down; the later residual goes above the line.",
        ),
    ),
)

_TERM = Number(tolerance=within(0.0005))

LOGIT_SPLIT = Drill(
    id="rank_collapse.logit_split",
    asks="a logit split into query-only, key-only and cross term",
    stars=3,
    moves=("F",),
    params={
        "mean": Vector(2, Ints(-2, 2)),
        "r_i": Vector(2, Ints(-2, 2)),
        "r_j": Vector(2, Ints(-2, 2)),
        "W": Matrix(2, 2, Ints(-2, 2)),
    },
    require=lambda mean, r_i, r_j, W: (
        W[0][1] != W[1][0] and len({0, *(abs(t) for t in split_logit(mean, r_i, r_j, W))}) == 4
    ),
    solve=split_logit,
    answer=Parts(
        parts=(
            Part("query", _TERM, "the query-only part, including the mean's own term"),
            Part("key", _TERM, "the key-only part"),
            Part("cross", _TERM, "the cross term"),
        ),
        tolerance=within(0.0005),
    ),
    steps=lambda mean, r_i, r_j, W, answer: {
        "query": [a + b for a, b in zip(mean, r_i, strict=True)],
        "W_mean": matvec(W, mean),
        "W_r_j": matvec(W, r_j),
        "query_only": answer[0],
        "key_only": answer[1],
        "cross": answer[2],
        "parts": answer,
    },
    slips=(
        Slip(
            "key_and_query_swapped",
            lambda mean, r_i, r_j, W: split_logit(mean, r_j, r_i, W),
            "The roles are exchanged; query $i$ stands to the left of $W$, key $j$ to the right.",
        ),
        Slip(
            "mean_term_lost",
            lambda answer, mean, W: [answer[0] - dot(mean, matvec(W, mean)), answer[1], answer[2]],
            "The term of the mean with itself is left out; it does not depend on the key and counts as "
            "query-only here.",
        ),
        Slip(
            "cross_term_transposed",
            lambda answer, r_i, r_j, W: [answer[0], answer[1], dot(r_j, matvec(W, r_i))],
            "The cross term is taken the other way round; $W$ is not symmetric, and the query's deviation "
            "is on its left.",
        ),
    ),
)

STATEMENTS = statement_drill(
    id="rank_collapse.statements",
    asks="what is right about rank collapse",
    stars=3,
    moves=("F", "T"),
    statements=(
        Statement(
            "residuals_abolish_collapse",
            "With residual connections, a deep stack of random attention layers without feed-forward "
            "blocks keeps its "
            "tokens apart at any depth.",
            False,
            "They slow the collapse down; the tokens still draw together, layer after layer.",
        ),
        Statement(
            "same_as_entropy_collapse",
            "Rank collapse means that the rows of the weight matrix become one-hot.",
            False,
            "That is entropy collapse; rank collapse means that all tokens become the same vector.",
        ),
        Statement(
            "cubic_per_layer",
            "In a pure attention layer with tokens already close to their mean, the deviation that comes "
            "out is of third "
            "order in the one that goes in.",
            True,
            "The weights depart from a common row by second order, and they multiply the deviation itself.",
        ),
        Statement(
            "residuals_slow_collapse",
            "In random stacks, residual connections make the collapse much slower.",
            True,
            "The layer's input, with its deviation, is added to what attention returns.",
        ),
        Statement(
            "tokens_become_identical",
            "Under rank collapse all tokens approach one and the same vector.",
            True,
            "The residual from the mean token goes to zero.",
        ),
        Statement(
            "query_only_term_cancels",
            "The part of the logits that depends on the query alone has no effect on the weights.",
            True,
            "It is constant along a row, and a softmax ignores constants.",
        ),
        Statement(
            "key_only_term_same_rows",
            "The part of the logits that depends on the key alone gives every query the same weights.",
            True,
            "It is the same in every row, so by itself it makes all rows equal.",
        ),
        Statement(
            "linear_per_layer",
            "In a pure attention layer with tokens already close to their mean, halving the deviation "
            "that goes in "
            "halves the one that comes out, to leading order.",
            False,
            "It falls to an eighth: quadratic weights times a linear deviation.",
        ),
        Statement(
            "uniform_mean_is_best_summary",
            "A head with uniform weights gives the most informative summary of its values.",
            False,
            "It gives the most diluted one: independent values shrink in variance by $1/T$.",
        ),
        Statement(
            "ffn_helps",
            "Feed-forward blocks between the attention layers counteract the collapse.",
            True,
            "They act on each token by itself and can stretch the differences between tokens.",
        ),
    ),
    always=("residuals_abolish_collapse", "same_as_entropy_collapse", "cubic_per_layer"),
    count=3,
    slips=(
        Slip(
            "residual_cure",
            lambda answer, options: plus(
                minus(answer, "residuals_slow_collapse"), options, "residuals_abolish_collapse"
            ),
            "Residual connections are taken for a cure; they slow the collapse down, they do not end it.",
        ),
        Slip(
            "collapse_confusion",
            lambda answer, options: plus(answer, options, "same_as_entropy_collapse"),
            "Rank collapse is mixed up with one-hot rows; here the tokens become equal, not the rows sharp.",
        ),
        Slip(
            "rate",
            lambda answer, options: plus(minus(answer, "cubic_per_layer"), options, "linear_per_layer"),
            "The rate is taken as linear; second-order weights times a first-order deviation make a third-order one.",
        ),
    ),
)

BOUND_FORMULA = Drill(
    id="rank_collapse.bound_formula",
    asks="the bound after L layers as a formula",
    stars=3,
    moves=("F",),
    params={},
    solve=lambda: "C^(-1/2) (sqrt(C) r_0)^(3^L)",
    answer=Expression(symbols={"C": "C > 0", "r_0": "r_0 > 0", "L": "integer >= 2"}, tolerance=EQUIVALENT),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "exponent_3L",
            lambda: "C^(-1/2) (sqrt(C) r_0)^(3 L)",
            "The exponent $3L$ is used; cubing $L$ times multiplies the exponents to $3^L$.",
        ),
        Slip(
            "constant_lost",
            lambda: "(sqrt(C) r_0)^(3^L)",
            "This bounds the rescaled $u = \\sqrt C\\,r$; dividing by $\\sqrt C$ leads back to $r$.",
        ),
        Slip(
            "geometric",
            lambda: "C^L r_0^(3^L)",
            "One factor $C$ is counted per layer; later layers cube the earlier factors, so they pile up faster.",
        ),
    ),
)

UNIFORM_FORMULA = Drill(
    id="rank_collapse.uniform_formula",
    asks="the variance of the mean of T values as a formula",
    stars=3,
    moves=("T",),
    params={},
    solve=lambda: "sigma^2/T",
    answer=Expression(symbols={"sigma": "sigma > 0", "T": "integer >= 1"}, tolerance=EQUIVALENT),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "sd",
            lambda: "sigma/sqrt(T)",
            "This is the standard deviation of the mean; the variance is its square.",
        ),
        Slip(
            "squared",
            lambda: "sigma^2/T^2",
            "The $1/T^2$ of the weights is kept, but $T$ variances add up under it.",
        ),
    ),
)

CARD = Card(
    number=17,
    slug="c17_rank_collapse",
    title="Uniform heads and rank collapse",
    stars=3,
    moves=("F", "T"),
    statement=(
        "Averaging shrinks differences: a uniform head divides the variance of independent values by "
        "their number, and "
        "in a stack of attention layers alone the tokens' deviation from their mean shrinks like its cube "
        "at every "
        "layer, hence doubly exponentially in depth."
    ),
    formulas=(
        r"\operatorname{Var}\Big(\frac1T \sum_{j=1}^{T} v_j\Big) = \frac{\sigma_v^2}{T}",
        r"\mathbf x_i^\top W \mathbf x_j = (\bar{\mathbf x} + \mathbf r_i)^\top W \bar{\mathbf x} "
        r"+ \bar{\mathbf x}^\top W \mathbf r_j + \mathbf r_i^\top W \mathbf r_j",
        r"r_{l+1} \le C\,r_l^3 \Rightarrow r_L \le C^{-1/2} \big(\sqrt C\,r_0\big)^{3^L}",
    ),
    drills=(
        UNIFORM_VARIANCE,
        DEPTH_BOUND,
        RESIDUAL_SCALING,
        LAYERS_NEEDED,
        CUBIC_RATIOS,
        LOGIT_SPLIT,
        STATEMENTS,
        BOUND_FORMULA,
        UNIFORM_FORMULA,
    ),
)
