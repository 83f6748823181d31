"""Scenarios on what attention can do and where it bends: cards 8, 10 and 16 to 18."""

from __future__ import annotations

from drillgen.scenarios.parts import Values, ask, drawn, fixed, same, scenario
from solvers.algebra import dot, softmax
from solvers.draws import Draws


def _bias_error(values: Values, given: Values) -> float:
    """|the learner's own smoother − plain attention|; plain attention lacks the key-length term."""
    scores = [values["q"] * k / values["lam"] ** 2 for k in values["keys"]]
    return abs(float(given["b"]) - float(dot(softmax(scores), values["values"])))


STATISTICIAN = scenario(
    "statistician",
    (8, 18),
    "A statistician calls attention a 1964 kernel smoother. Agree as far as you can, then say where it stops.",
    (
        ask("kernel_smoothing.log_weight", "Which logit stands behind the kernel?"),
        ask("kernel_smoothing.estimate", "One estimate."),
        ask(
            "kernel_smoothing.bias_error",
            "How far off is plain attention?",
            same("b", "T", "q", "keys", "values", "lam"),
            ("b",),
            _bias_error,
        ),
        ask("kernel_smoothing.bandwidth", "Which bandwidth is the usual scale?"),
        ask("sinks.bandwidth", "And which one is a QK-norm gain?"),
        ask("kernel_smoothing.statements", "Where does the analogy end?"),
    ),
    ("the key-length bias", "exact for keys of equal length", "a learned, anisotropic, asymmetric kernel"),
)


ONE_DIMENSIONAL = scenario(
    "one_dimensional_head",
    (10,),
    "A head has width one. Which keys can it ever pick, and what changes at width two?",
    (
        ask("rank.score_rank", "The rank of its scores.", fixed(d_k=1)),
        ask("rank.top_keys_1d", "Which keys win?"),
        ask("rank.reachable_2d", "Which can win at width two?"),
        ask("rank.log_weight_rank", "And the weights?"),
        ask("rank.linear_attention", "The same question for linear attention."),
    ),
    (
        "outer products",
        "logits are low-rank, weights need not be",
        "linear attention keeps the low rank in the weights",
    ),
)


MUP_SCALE = scenario(
    "mup_scale",
    (16,),
    "One paper divides by $d_k$, another by $\\sqrt{d_k}$. Settle the dispute.",
    (
        ask("alignment.mean_logit", "The mean logit under the root.", drawn("d_k", "rho", scale="sqrt_dk")),
        ask("alignment.mean_logit", "Under $d_k$.", drawn("d_k", "rho", scale="dk")),
        ask("alignment.logit_sd", "The spread under the root.", drawn("d_k", "rho", scale="sqrt_dk")),
        ask("alignment.logit_sd", "Under $d_k$.", drawn("d_k", "rho", scale="dk")),
        ask("alignment.expression", "Where does the spread come from?", fixed(target="raw_variance")),
        ask("scaling.over_scaled_entropy", "The price of $d_k$ at the start.", drawn("d_k")),
        ask("alignment.width_growth", "And as the width grows?"),
        ask("alignment.which_scale", "Name the regime."),
    ),
    (
        "random sums against aligned sums",
        "both are right in their regime",
        "in practice keep the root and bound the logits",
    ),
    lambda draws: {"d_k": draws.choice((16, 32, 64, 128)), "rho": draws.choice((0.25, 0.3, 0.5, 0.6, 0.75, 0.8))},
)


COLLAPSE_STARTS = (
    (0.25, 0.9),
    (0.25, 1.0),
    (0.5, 0.6),
    (0.5, 0.7),
    (0.5, 0.8),
    (0.5, 0.9),
    (0.5, 1.0),
    (2, 0.5),
    (2, 0.6),
)


def _start(draws: Draws) -> Values:
    C, r_0 = draws.choice(COLLAPSE_STARTS)
    return {"C": C, "r_0": r_0}


ATTENTION_ONLY = scenario(
    "attention_only_model",
    (17,),
    "Is a stack of attention layers, nothing else, a good language model? Argue it through.",
    (
        ask("rank_collapse.uniform_variance", "What does a uniform head leave?"),
        ask("rank_collapse.logit_split", "Which part of a logit tells rows apart?"),
        ask("rank_collapse.residual_scaling", "The order of one layer.", fixed(layers=1)),
        ask("rank_collapse.depth_bound", "After several layers.", drawn("C", "r_0")),
        ask("rank_collapse.layers_needed", "Until nothing is left.", drawn("C", "r_0")),
        ask("rank_collapse.cubic_ratios", "Does the measurement agree?", fixed(r=[0.783, 0.273, 0.0126])),
        ask("rank_collapse.statements", "Sort the claims."),
    ),
    ("the query-only term cancels", "doubly exponential", "residuals slow it, feed-forward layers help"),
    _start,
)


FIRST_TOKEN = scenario(
    "first_token_mass",
    (18,),
    "Several heads park most of their attention at position one, and a first-in-first-out cache ruins the model. One "
    "explanation for both, please.",
    (
        ask("sinks.advantage", "Which logit does that share take?", drawn("T", w=0.8)),
        ask("sinks.share", "And how cheap is a smaller share?", drawn("T", a=5)),
        ask("sinks.output_with_sink", "What does such a head output?", fixed(w=0.8)),
        ask("sinks.eviction_factor", "What does eviction do to the others?", fixed(w=0.8)),
        ask("sinks.kept_positions", "Which positions should stay?", fixed(n=4)),
        ask("sinks.cap", "How does QK-norm limit the sharpness?"),
        ask("sinks.statements", "Sort the claims."),
    ),
    ("rows must sum to one", "a near-zero value, so a no-op", "keep the first few tokens"),
    lambda draws: {"T": draws.choice((64, 128, 512, 1024))},
)
