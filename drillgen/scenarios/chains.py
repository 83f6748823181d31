"""The five chains: short questions, one a card, along one line of thought."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from drillgen.instance import Instance
from drillgen.scenarios.parts import Values, also, ask, drawn, fixed, same, scenario
from solvers.algebra import dot, softmax
from solvers.draws import Draws


def _three_scores(draws: Draws) -> Values:
    """Three integers in -2..4 with a spread of 2 to 4 and one maximum."""
    while True:
        scores = [draws.integer(-2, 4) for _ in range(3)]
        if 2 <= max(scores) - min(scores) <= 4 and scores.count(max(scores)) == 1:
            return {"scores": scores}


def _weights(shared: Values, earlier: Mapping[str, Instance]) -> Values:
    """The row's weights to four decimals that still sum to one (the largest takes what rounding leaves)."""
    del earlier
    p = [round(x, 4) for x in softmax(shared["scores"])]
    top = p.index(max(p))
    p[top] = round(1 - sum(x for j, x in enumerate(p) if j != top), 4)
    return {"p": p}


def _own_jacobian(values: Values, given: Values) -> list[list[float]]:
    del values
    p = _a_row(given["a"])
    return [[x * ((i == j) - y) for j, y in enumerate(p)] for i, x in enumerate(p)]


def _own_score_gradient(values: Values, given: Values) -> list[float]:
    p = _a_row(given["a"])
    gains = [dot(values["g"], v) for v in values["values"]]
    mean = dot(p, gains)
    return [x * (y - mean) for x, y in zip(p, gains, strict=True)]


def _a_row(p: Sequence[float]) -> Sequence[float]:
    """The learner's weights, where they are weights at all; else nothing follows from them."""
    if min(p) < 0 or abs(sum(p) - 1) > 0.02:
        raise ValueError("no attention row")
    return p


CHAIN_SOFTMAX = scenario(
    "chain_softmax",
    (2, 4, 5, 15),
    "Softmax chain: from the shift to the one-pass recurrence.",
    (
        ask("softmax.shift", "The shift.", drawn("scores")),
        ask("jacobian.matrix", "The same row's Jacobian.", _weights, ("a",), _own_jacobian),
        ask("backward.score_gradient", "The backward step.", also(_weights, T=3), ("a",), _own_score_gradient),
        ask("online_softmax.trace", "The recurrence over the same scores.", drawn("scores", block_size=1)),
    ),
    ("one row carried through four cards",),
    _three_scores,
)


CHAIN_SCALE = scenario(
    "chain_scale",
    (3, 16, 18),
    "Scale chain: random logits, aligned logits, bounded logits.",
    (
        ask("scaling.scaled_sd", "At the start.", drawn("d_k")),
        ask("alignment.mean_logit", "After training.", drawn("d_k")),
        ask("sinks.gain_needed", "Bounded."),
    ),
    ("start, training, practice",),
    lambda draws: {"d_k": draws.choice((16, 32, 64, 128))},
)


CHAIN_COST = scenario(
    "chain_cost",
    (11, 12, 13, 14),
    "Cost chain for one model and context.",
    (
        ask("flops.quadratic_share", "Compute.", drawn("model", "T")),
        ask("score_memory.naive", "Training memory.", drawn("model", "T")),
        ask("kv_cache.total", "Inference memory.", drawn("model", "T", dtype="fp16", B=1)),
        ask(
            "gqa.scheme_cache",
            "And a token's share of it if no head shared its keys and values?",
            drawn("model", scheme="mha"),
        ),
    ),
    ("$d^2$ for weights, $T^2$ for pairs, $T$ for the cache",),
    lambda draws: {
        "model": draws.choice(("llama2-70b", "llama3-8b", "llama3-70b", "mistral-7b")),
        "T": draws.choice((2048, 4096, 8192, 32768)),
    },
)


def _plane(shared: Values, earlier: Mapping[str, Instance]) -> Values:
    """Part a's values as first coordinates, fresh second ones."""
    first = earlier["a"].values["values"]
    return {"T": len(first), "values": [[x, y] for x, y in zip(first, shared["second"], strict=False)]}


CHAIN_EXPRESSIVENESS = scenario(
    "chain_expressiveness",
    (1, 8, 10, 17),
    "Expressiveness chain: average, smoother, rank, collapse.",
    (
        ask("attention.achievable_outputs", "What can averages reach?"),
        ask("kernel_smoothing.zero_query", "The flattest case.", _plane),
        ask("rank.top_keys_1d", "What can a narrow head pick?"),
        ask("rank_collapse.uniform_variance", "What does repeated averaging do?"),
    ),
    ("the limits of weighted averages",),
    lambda draws: {"second": [draws.integer(-2, 5) for _ in range(5)]},
)


CHAIN_ORDER = scenario(
    "chain_order",
    (6, 7),
    "Order chain: what the mask guarantees and which symmetry it breaks.",
    (
        ask("causal_mask.affected_outputs", "The guarantee.", fixed(mask="causal")),
        ask("permutation.permuted_output", "The symmetry without it."),
        ask("permutation.causal_running_mean", "The symmetry broken.", same("b", "T", "pi")),
    ),
    ("guarantee, symmetry, break",),
)
