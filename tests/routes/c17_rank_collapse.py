"""Independent routes for card 17: quadratic forms, recursions run layer by layer, logits at shifted tokens."""

import math
from decimal import Decimal
from fractions import Fraction
from functools import cache
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


def _softmax(S):
    e = np.exp(S - S.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def _spread(X):
    return np.linalg.norm(X - X.mean(axis=0)) / np.linalg.norm(X)


def _run(layers, skip, rng):
    """One random stack of 16 tokens of width 32: relative spreads, and the sharpest weight of the last layer."""
    X, spreads = rng.normal(size=(16, 32)), []
    for _ in range(layers):
        A, B, V = rng.normal(scale=32**-0.5, size=(3, 32, 32))
        P = _softmax((X @ A) @ (X @ B).T / 32**0.5)
        X = P @ X @ V + (X if skip else 0)
        X = X / np.sqrt((X * X).mean())
        spreads.append(_spread(X))
    return spreads, P.max()


@cache
def _truths():
    """Every statement tried on random tokens and stacks."""
    rng = np.random.default_rng(3)
    mean, R = rng.normal(size=8), rng.normal(size=(10, 8))
    R -= R.mean(axis=0)
    W, V = rng.normal(scale=0.3, size=(2, 8, 8))

    def spread_out(eps):
        X = mean + eps * R
        Y = _softmax(X @ W @ X.T) @ X @ V
        return np.linalg.norm(Y - Y.mean(axis=0))

    order = math.log10(spread_out(1e-2) / spread_out(1e-3))
    pure, sharpest = _run(5, False, rng)
    skipped, _ = _run(60, True, rng)
    query_only = ((mean + R) @ W @ mean)[:, None]
    key_only = (R @ W.T @ mean)[None, :]
    cross = R @ W @ R.T
    rows = _softmax(np.broadcast_to(key_only, (10, 10)))
    near = 3 + 0.01 * rng.normal(size=(10, 8))
    return {
        "residuals_abolish_collapse": skipped[-1] > 0.5 * skipped[0],
        "same_as_entropy_collapse": sharpest > 0.9,
        "cubic_per_layer": abs(order - 3) < 0.1,
        "residuals_slow_collapse": skipped[4] > 100 * pure[4],
        "tokens_become_identical": pure[4] < 1e-3,
        "query_only_term_cancels": np.allclose(_softmax(query_only + key_only + cross), _softmax(key_only + cross)),
        "key_only_term_same_rows": np.allclose(rows, rows[0]),
        "linear_per_layer": abs(order - 1) < 0.1,
        "uniform_mean_is_best_summary": rng.normal(size=(500, 16)).mean(axis=1).var() > 0.5,
        # A unit with a bias, as a feed-forward block has, can take the shared part off and keep the differences.
        "ffn_helps": _spread(np.maximum(near - 3, 0)) > 10 * _spread(near),
    }


ROUTES = {
    "rank_collapse.uniform_variance": _uniform_variance,
    "rank_collapse.depth_bound": _depth,
    "rank_collapse.residual_scaling": _scaling,
    "rank_collapse.layers_needed": _layers,
    "rank_collapse.cubic_ratios": _ratios,
    "rank_collapse.statements": lambda v: sorted(k for k in v["options"] if _truths()[k]),
    "rank_collapse.logit_split": _split,
}
