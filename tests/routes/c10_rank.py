"""Independent routes for card 10: ranks of random matrices by singular values, winners by trying queries."""

from functools import cache

import numpy as np


@cache
def _score_rank(T, d_k):
    """Rank of the image of 160 random vectors (more than any d_k drawn), which is the matrix's rank up to 160."""
    rng = np.random.default_rng(T + d_k)
    seen = rng.normal(size=(T, min(T, 160)))
    return int(np.linalg.matrix_rank(rng.normal(size=(T, d_k)) @ (rng.normal(size=(d_k, T)) @ seen)))


@cache
def _log_weight_rank(T, d_k):
    rng = np.random.default_rng(T + d_k)
    scores = rng.normal(size=(T, d_k)) @ rng.normal(size=(d_k, T)) / np.sqrt(d_k)
    weights = np.exp(scores)
    weights /= weights.sum(axis=1, keepdims=True)
    return int(np.linalg.matrix_rank(np.log(weights), tol=1e-9))


@cache
def _linear_rank(T, r):
    """Rank of the image of 64 random vectors, which is the matrix's rank up to 64."""
    rng = np.random.default_rng(T + r)
    features_q, features_k = np.exp(rng.normal(size=(2, T, r)))
    return int(np.linalg.matrix_rank(features_q @ (features_k.T @ rng.normal(size=(T, 64))), tol=1e-6))


def _top_1d(v):
    return sorted({int(np.argmax([q * k for k in v["keys"]])) + 1 for q in v["queries"]})


def _reachable(v):
    """Queries all around the circle; between integer points this close no cone is narrower than the grid."""
    keys = np.array(v["keys"], float)
    angles = np.linspace(0, 2 * np.pi, 7200, endpoint=False) + 1e-4
    scores = np.stack([np.cos(angles), np.sin(angles)], axis=1) @ keys.T
    ordered = np.sort(scores, axis=1)
    alone = ordered[:, -1] - ordered[:, -2] > 1e-9
    return sorted({int(j) + 1 for j in np.argmax(scores, axis=1)[alone]})


@cache
def _truths():
    """Every statement tried on random heads of 12 tokens and width 3 (or as the statement says)."""
    rng = np.random.default_rng(5)
    T, d_k = 12, 3
    q, k = rng.normal(size=(2, T, d_k))
    scores = q @ k.T / np.sqrt(d_k)
    weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    pattern = rng.dirichlet(np.ones(T), size=T)
    phi_q, phi_k = np.exp(rng.normal(size=(2, T, d_k)))
    linear = phi_q @ phi_k.T
    keys, queries = rng.normal(size=5), rng.normal(size=2000)
    winners = {int(np.argmax(x * keys)) for x in queries}

    def rank(matrix):
        return int(np.linalg.matrix_rank(matrix, tol=1e-9))

    def head_rank(heads, d=24):
        a, b = rng.normal(size=(2, 40, d // heads))
        return rank(a @ b.T)

    return {
        "weights_rank_le_dk": rank(weights) <= d_k,
        "any_pattern_possible": rank(np.log(pattern)) <= d_k + 1,
        "weights_can_be_full_rank": rank(weights) == T,
        "scores_rank_le_dk": rank(scores) <= d_k,
        "logweights_rank_le_dk_plus_1": rank(np.log(weights)) <= d_k + 1,
        "dk1_two_top_keys": len(winners) <= 2,
        "dk1_every_key_reachable": len(winners) == 5,
        "linear_attention_weights_low_rank": max(rank(linear), rank(linear / linear.sum(1, keepdims=True))) <= d_k,
        "more_heads_raise_each_rank": head_rank(8) > head_rank(4),
    }


def _statements(v):
    return sorted(key for key in v["options"] if _truths()[key])


ROUTES = {
    "rank.score_rank": lambda v: _score_rank(v["T"], v["d_k"]),
    "rank.log_weight_rank": lambda v: _log_weight_rank(v["T"], v["d_k"]),
    "rank.top_keys_1d": _top_1d,
    "rank.reachable_2d": _reachable,
    "rank.statements": _statements,
    "rank.linear_attention": lambda v: _linear_rank(v["T"], v["r"]),
}
