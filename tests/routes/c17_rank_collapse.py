"""Independent routes for card 17: quadratic forms, recursions run layer by layer, logits at shifted tokens."""

import math
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np


def _uniform_variance(v):
    """wᵀ Σ w for weights 1/T and the covariance of independent values, given as its diagonal."""
    w = np.full(v["T"], 1 / v["T"])
    return float(w @ (np.full(v["T"], v["sigma_v"] ** 2) * w))


def _depth(v):
    r = v["r_0"]
    for _layer in range(v["L"]):
        r = v["C"] * r**3
    return r


def _scaling(v):
    """Two deviations, one c times smaller, through layers that take a deviation to a quadratic times itself."""
    small, large = Fraction(1, v["c"]), Fraction(1)
    for _layer in range(v["layers"]):
        small, large = (small * small) * small, (large * large) * large
    return large / small


def _layers(v):
    """In logarithms, so that nothing underflows before the threshold."""
    log_r, n = math.log(v["r_0"]), 0
    while log_r > math.log(v["eps"]):
        log_r, n = math.log(v["C"]) + 3 * log_r, n + 1
    return n


def _ratios(v):
    r = [Fraction(Decimal(repr(x))) for x in v["r"]]
    return [later / earlier**3 for earlier, later in pairwise(r)]


def _split(v):
    """Only whole logits are used: at the mean instead of a token, a deviation's own part drops out."""
    mean, W = np.array(v["mean"]), np.array(v["W"])
    query, key = mean + np.array(v["r_i"]), mean + np.array(v["r_j"])

    def logit(a, b):
        return int(np.einsum("a,ab,b->", a, W, b))

    base = logit(mean, mean)
    return [
        logit(query, mean),
        logit(mean, key) - base,
        logit(query, key) - logit(query, mean) - logit(mean, key) + base,
    ]


ROUTES = {
    "rank_collapse.uniform_variance": _uniform_variance,
    "rank_collapse.depth_bound": _depth,
    "rank_collapse.residual_scaling": _scaling,
    "rank_collapse.layers_needed": _layers,
    "rank_collapse.cubic_ratios": _ratios,
    "rank_collapse.logit_split": _split,
}
