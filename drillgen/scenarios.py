"""The 23 scenarios: which drill each part is, which of its parameters are bound, and what a later part follows from.

Where the catalogue puts two questions into one part, they are two parts here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from drillgen.instance import Instance
from drillgen.scenario import Bind, Follow, Part, Scenario
from solvers import facts
from solvers.algebra import dot, softmax
from solvers.draws import Draws

Values = Mapping[str, Any]
Question = tuple[str, str, Bind, tuple[str, ...], Follow | None]


def scenario(
    name: str,
    cards: tuple[int, ...],
    prompt: str,
    questions: Sequence[Question],
    points: tuple[str, ...],
    draw: Any = lambda draws: {},
) -> Scenario:
    """A scenario whose parts are named a, b, c … in order."""
    parts = tuple(
        Part(letter, drill, ask, bind, needs, follow)
        for letter, (drill, ask, bind, needs, follow) in zip("abcdefghijkl", questions, strict=False)
    )
    return Scenario(f"scenario.{name}", cards, prompt, parts, points, draw)


def free(shared: Values, earlier: Mapping[str, Instance]) -> Values:
    """Nothing is bound."""
    del shared, earlier
    return {}


def fixed(**values: Any) -> Bind:
    """Parameters with stated values."""
    return lambda shared, earlier: values


def drawn(*names: str, **values: Any) -> Bind:
    """Parameters that the scenario draws once, and stated values."""
    return lambda shared, earlier: {**{n: shared[n] for n in names}, **values}


def same(part: str, *names: str, **values: Any) -> Bind:
    """Parameters taken over from an earlier part, and stated values."""
    return lambda shared, earlier: {**{n: earlier[part].values[n] for n in names}, **values}


def ask(
    drill: str, words: str, bind: Bind = free, needs: tuple[str, ...] = (), follow: Follow | None = None
) -> Question:
    """One question."""
    return drill, words, bind, needs, follow


def simplex(draws: Draws, count: int, tenths: int = 10) -> list[float]:
    """`count` positive multiples of 1/tenths that sum to one."""
    cuts = sorted(draws.sample(range(1, tenths), count - 1))
    return [(b - a) / tenths for a, b in zip([0, *cuts], [*cuts, tenths], strict=True)]


WHITEBOARD = scenario(
    "whiteboard_attention",
    (1,),
    "You get one marker and five minutes: put batched multi-head attention on the board and say how large each "
    "tensor is.",
    (
        ask("attention.shape_of", "Start with the queries.", fixed(tensor="Q")),
        ask("attention.shape_of", "Now the scores.", same("a", "B", "h", "T", "d_k", "d_v", "d", tensor="S")),
        ask("attention.shape_of", "The heads' outputs.", same("a", "B", "h", "T", "d_k", "d_v", "d", tensor="O")),
        ask(
            "attention.shape_of",
            "And after the heads are joined.",
            same("a", "B", "h", "T", "d_k", "d_v", "d", tensor="concat"),
        ),
        ask("score_memory.naive", "Which tensor grows fastest, and how many bytes is it?", fixed(scope="layer")),
        ask("attention.output_row", "One row by hand, please.", fixed(T=3)),
    ),
    (
        "leading axes only loop",
        "the $T \\times T$ tensor is the memory problem",
        "linear in the values, nonlinear in queries and keys",
    ),
)

HALF_PRECISION = scenario(
    "half_precision_kernel",
    (2, 12, 15),
    "A hand-written fp16 softmax works on short prompts and yields inf or NaN on long ones. Find the cause and "
    "repair it.",
    (
        ask("softmax.overflow_threshold", "Where does the exponential give up?", fixed(dtype="fp16")),
        ask("softmax.safe_schemes", "Here is a row that fails. Which shifts save it?", fixed(dtype="fp16")),
        ask("softmax.logsumexp", "The one number of this row worth keeping:", same("b", "scores")),
        ask(
            "online_softmax.row_logsumexp",
            "The same number, with the row read in blocks:",
            same("b", "scores", block_size=2),
            ("c",),
            lambda values, given: given["c"],
        ),
    ),
    ("shift by the row maximum", "accumulate in fp32", "keep one logsumexp per row for the backward pass"),
)

WHY_THE_ROOT = scenario(
    "why_the_root",
    (3, 16),
    "Defend the divisor $\\sqrt{d_k}$ against $d_k$ and against the root of the model width, assumptions first.",
    (
        ask("scaling.assumptions", "What has to hold?"),
        ask("scaling.dot_variance", "The raw dot product first.", drawn("d_k")),
        ask(
            "scaling.scaled_sd",
            "Its spread under the usual divisor:",
            drawn("d_k", scale="sqrt_dk"),
        ),
        ask("scaling.scaled_sd", "Under $d_k$:", same("c", "d_k", "d", "sigma_q", "sigma_k", scale="dk")),
        ask(
            "scaling.scaled_sd",
            "Under the root of the model width:",
            same("c", "d_k", "d", "sigma_q", "sigma_k", scale="sqrt_d"),
        ),
        ask("scaling.over_scaled_entropy", "What does a row look like with $d_k$?", drawn("d_k")),
        ask(
            "scaling.two_key_gauss",
            "How often do two keys saturate without a scale?",
            drawn("d_k", w=0.99, alpha="one"),
        ),
        ask("scaling.two_key_gauss", "And with the usual one?", drawn("d_k", w=0.99, alpha="inv_sqrt")),
        ask("alignment.mean_logit", "Training aligns queries and keys. What changes?", drawn("d_k", scale="sqrt_dk")),
        ask("scaling.statements", "Sort the claims."),
    ),
    (
        "too large gives one-hot rows, too small uniform ones",
        "independence holds at the start only",
        "today's stacks also bound logits directly",
    ),
    lambda draws: {"d_k": draws.choice((16, 32, 64, 128))},
)

SOFTMAX_GRADIENT = scenario(
    "softmax_gradient",
    (4,),
    "Differentiate a single softmax row. Under which circumstances does no gradient get through?",
    (
        ask("jacobian.entry", "One entry in symbols."),
        ask("jacobian.matrix", "The whole matrix for one row.", drawn("p")),
        ask("jacobian.quadratic_form", "Read it as a variance.", drawn("p")),
        ask("jacobian.gershgorin", "Bound its eigenvalues.", drawn("p")),
        ask(
            "jacobian.vector_product",
            "Its product with the same vector, without the matrix:",
            lambda shared, earlier: {"p": shared["p"], "u": earlier["c"].values["u"]},
        ),
        ask("jacobian.statements", "Sort true from false."),
    ),
    ("the variance reading", "the bound is one half, not one quarter", "the product takes $O(T)$"),
    lambda draws: {"p": simplex(draws, draws.choice((3, 4)))},
)


def _score_gradient(values: Values, given: Values) -> list[float]:
    """ds_j = p_j (g·v_j − D) with the learner's own D."""
    return [p * (dot(values["g"], v) - given["a"]) for p, v in zip(values["p"], values["values"], strict=True)]


def _query_gradient(values: Values, given: Values) -> list[float]:
    """Σ_j ds_j k_j / √d_k with the learner's own ds."""
    root = math.sqrt(values["d_k"])
    return [dot(given["b"], column) / root for column in zip(*values["keys"], strict=True)]


def _signs(values: Values, given: Values) -> list[int]:
    """−sign(ds_j) with the learner's own ds."""
    del values
    return [-1 if x > 0 else 1 if x < 0 else 0 for x in given["b"]]


BACKWARD_BY_HAND = scenario(
    "backward_by_hand",
    (5, 12),
    "Take the loss gradient through one attention row to scores, query, keys and values, then say what must be stored.",
    (
        ask("backward.row_number", "First the one number per row."),
        ask("backward.score_gradient", "The scores.", same("a", "T", "p", "values", "g"), ("a",), _score_gradient),
        ask("backward.query_gradient", "The query.", same("a", "T", "p", "values", "g"), ("b",), _query_gradient),
        ask("backward.value_gradient", "One of the values.", same("a", "T", "p", "values", "g")),
        ask(
            "backward.descent_signs",
            "What does one descent step do to the scores?",
            same("a", "T", "p", "values", "g"),
            ("b",),
            _signs,
        ),
        ask("backward.stored_tensors", "What must the forward pass keep?"),
    ),
    (
        "five matrix lines",
        "$D$ is the upstream gradient times the output",
        "the weights are recomputed, not stored",
    ),
)


def _renormalised(values: Values, given: Values) -> list[float]:
    """The visible weights of the full row divided by the learner's own sum; zeros after i."""
    row = softmax(values["scores"])
    return [p / given["c"] if j < values["i"] else 0.0 for j, p in enumerate(row)]


TOO_GOOD_LOSS = scenario(
    "too_good_loss",
    (6,),
    "Within an hour a new language model shows a training loss near zero and writes nonsense. What do you test "
    "first, and "
    "what would each outcome mean?",
    (
        ask("causal_mask.diagnosis", "Name the suspect.", fixed(symptom="loss_near_zero_garbage_text")),
        ask("causal_mask.affected_outputs", "Edit one token. Which outputs may move?", fixed(mask="causal")),
        ask("causal_mask.post_softmax_sum", "What does a mask behind the softmax do to a row?"),
        ask(
            "causal_mask.masked_row",
            "Divide by that sum: the row is right again, at full cost. Give it.",
            same("c", "T", "i", "scores"),
            ("c",),
            _renormalised,
        ),
        ask("causal_mask.leak", "Without that division: how much of the future leaks?", same("c", "T", "i", "scores")),
        ask("causal_mask.blank_row", "What becomes of a row with every key blocked?", fixed(fill="-inf")),
        ask("causal_mask.blank_row", "And with a large finite fill?", same("f", "T", fill="-1e9")),
        ask("causal_mask.triu_visible", "Which triangle is right? First with the diagonal blocked:", fixed(k=0)),
        ask("causal_mask.triu_visible", "And one above it:", same("h", "T", "i", k=1)),
    ),
    ("edit the future, the past must not move", "mask scores, not weights", "the same fact makes the cache exact"),
)

SHUFFLED_ENCODER = scenario(
    "shuffled_encoder",
    (7,),
    "Shuffling an encoder's input merely shuffled its output, and a colleague filed a bug. Answer the ticket.",
    (
        ask("permutation.classify", "Name the property.", fixed(operation="attention_no_mask")),
        ask("permutation.permuted_scores", "What happens to the scores?"),
        ask("permutation.permuted_output", "What happens to the outputs?"),
        ask("permutation.pooled", "What can a pooled vector still tell?", same("c", "T", "pi")),
        ask("permutation.causal_running_mean", "What does a causal mask change?", same("c", "T", "pi")),
        ask("permutation.bos_share", "And which position signal does it leak?", fixed(n=1)),
    ),
    (
        "equivariant, not invariant",
        "pooling loses the order altogether",
        "a causal mask leaks position weakly; real models add positions",
    ),
)


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

HEADS_AND_BUDGET = scenario(
    "heads_and_budget",
    (9, 13),
    "Finance asks why four times as many heads do not cost four times as much, and what GPT-2 small's attention "
    "holds per "
    "layer.",
    (
        ask("parameters.head_change", "From 8 heads to 32 at the same width.", drawn("d", h=8, h_new=32, keep="width")),
        ask("parameters.mha_total", "The layer's weights.", drawn("d", h=8)),
        ask("parameters.mha_bias", "GPT-2 small, biases included.", fixed(d=768, h=12)),
        ask(
            "rank.score_rank",
            "What more heads do cost: the rank of one head's scores, before.",
            lambda shared, earlier: {"T": 1024, "d_k": shared["d"] // 8, "h": 8},
        ),
        ask(
            "rank.score_rank",
            "And after.",
            lambda shared, earlier: {"T": 1024, "d_k": shared["d"] // 32, "h": 32},
        ),
        ask("kv_cache.per_token", "And what does the cache depend on?"),
    ),
    ("$4d^2$ whatever $h$ is", "narrower heads, lower rank each", "the cache follows the KV heads"),
    lambda draws: {"d": draws.choice((512, 1024, 2048, 4096))},
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

QUADRUPLE_SLIDE = scenario(
    "quadruple_slide",
    (11,),
    "A slide claims that twice the context means four times the cost. Check it for one model.",
    (
        ask("flops.projections", "The linear part.", drawn("model", "T")),
        ask("flops.quadratic", "The quadratic part.", drawn("model", "T")),
        ask("flops.ffn", "The feed-forward part.", drawn("model", "T")),
        ask(
            "flops.quadratic_share",
            "The quadratic part's share.",
            drawn("model", "T"),
            ("a", "b", "c"),
            lambda values, given: given["b"] / (given["a"] + given["b"] + given["c"]),
        ),
        ask(
            "flops.doubling",
            "So what is the true factor?",
            drawn("model", "T"),
            ("d",),
            lambda values, given: 2 + 2 * given["d"],
        ),
        ask("flops.crossover", "Where does the slide start to be right?", drawn("model")),
    ),
    ("three terms", "a small share at 4K", "a crossover far beyond"),
    lambda draws: {
        "model": draws.choice(("llama2-7b", "llama2-13b", "llama2-70b", "llama3-8b", "llama3-70b", "mistral-7b")),
        "T": draws.choice((2048, 4096, 8192, 16384, 32768)),
    },
)

OUT_OF_MEMORY = scenario(
    "out_of_memory_128k",
    (12, 13),
    "Training at 128K tokens runs out of memory at batch one. Where did it go, and what brings it back?",
    (
        ask("score_memory.per_head", "One head's weights.", drawn("dtype", T=131072)),
        ask(
            "score_memory.naive",
            "One layer's.",
            drawn("dtype", T=131072, B=1, scope="layer", model="llama3-8b"),
            ("a",),
            lambda values, given: given["a"] * values["h"],
        ),
        ask(
            "score_memory.online",
            "With one number a row instead.",
            drawn("dtype", T=131072, B=1, scope="layer", model="llama3-8b"),
        ),
        ask("score_memory.recompute_flops", "What does that cost in FLOPs?", fixed(model="llama3-8b", T=131072)),
        ask(
            "kv_cache.total",
            "And the separate bill at inference.",
            drawn("dtype", T=131072, B=1, model="llama3-8b"),
        ),
    ),
    ("quadratic at training, linear at inference", "recomputation, not approximation", "checkpoint the rest"),
    lambda draws: {"dtype": draws.choice(("fp16", "bf16"))},
)

CHAT = {"model": "llama2-7b", "dtype": "fp16", "T": 4096}
ON_A100 = {**CHAT, "accelerator": "A100-80GB"}

FIT_ON_ONE_GPU = scenario(
    "fit_on_one_gpu",
    (13,),
    "A chat of 4,096 tokens: what does its cache occupy, and how many such chats can one accelerator hold?",
    (
        ask("kv_cache.per_token", "Bytes per token.", fixed(model="llama2-7b", dtype="fp16")),
        ask(
            "kv_cache.total",
            "One conversation.",
            fixed(**CHAT, B=1),
            ("a",),
            lambda values, given: given["a"] * values["T"],
        ),
        ask(
            "kv_cache.max_sequences",
            "Conversations per card.",
            fixed(**ON_A100, n_gpu=1),
            ("b",),
            lambda values, given: math.floor((values["memory"] - 2 * values["N"]) / given["b"]),
        ),
        ask(
            "kv_cache.token_time",
            "Time per token at batch one.",
            fixed(**ON_A100, B=1),
            ("b",),
            lambda values, given: (2 * values["N"] + given["b"]) / values["bandwidth"],
        ),
        ask(
            "kv_cache.tokens_per_second",
            "And the rate.",
            fixed(**ON_A100, B=1),
            ("d",),
            lambda values, given: 1 / given["d"],
        ),
        ask("kv_cache.per_token", "With an int8 cache.", fixed(model="llama2-7b", dtype="int8")),
    ),
    (
        "the 2 for keys and values",
        "GiB against GB",
        "bandwidth sets the pace",
        "the levers are grouping, int8 and paging",
    ),
)


def _shape(names: Sequence[str]) -> Bind:
    """Sizes of the model that the scenario draws, by name."""

    def bind(shared: Values, earlier: Mapping[str, Instance]) -> Values:
        del earlier
        model = facts.model(shared["model"])
        return {n: getattr(model, n) for n in names}

    return bind


def _with(bind: Bind, **values: Any) -> Bind:
    return lambda shared, earlier: {**bind(shared, earlier), **values}


RETRAIN_OR_UPTRAIN = scenario(
    "retrain_or_uptrain",
    (14,),
    "Serving a multi-head model of 7 to 8 billion parameters at long context is too dear. Should it be retrained with "
    "grouped queries?",
    (
        ask("gqa.cache_ratio", "What does grouping save?", _with(_shape(("h", "H_kv")), target="gqa")),
        ask(
            "gqa.decode_intensity",
            "Intensity before:",
            lambda shared, earlier: {
                "h": facts.model(shared["model"]).h,
                "H_kv": facts.model(shared["model"]).h,
                "dtype": "fp16",
            },
        ),
        ask("gqa.decode_intensity", "And after:", _with(_shape(("h", "H_kv")), dtype="fp16")),
        ask("gqa.ridge", "Against the accelerator's ridge:", drawn("accelerator")),
        ask(
            "gqa.peak_fraction",
            "So which share of the peak can decoding reach, grouped?",
            drawn("model", "accelerator"),
            ("c", "d"),
            lambda values, given: given["c"] / given["d"],
        ),
        ask("gqa.sequences_fit", "Sequences that fit before:", drawn("model", "accelerator", scheme="mha")),
        ask(
            "gqa.sequences_fit",
            "And after:",
            same("f", "model", "accelerator", "n_gpu", "T", "dtype", scheme="gqa"),
        ),
        ask("gqa.mean_pool", "How is a checkpoint converted?"),
        ask("gqa.statements", "Sort the claims."),
    ),
    (
        "bytes fall, FLOPs do not",
        "uptrain with mean-pooled heads at a few percent of the cost",
        "choose the group count",
    ),
    lambda draws: {
        "model": draws.choice(("mistral-7b", "llama3-8b")),
        "accelerator": draws.choice(("A100-80GB", "H100-SXM", "H200", "L40S", "MI300X")),
    },
)

ONE_PASS = scenario(
    "one_pass_exact",
    (15,),
    "Memory per head may grow linearly with the context, no faster. Give a one-pass algorithm, show it exact, "
    "and combine "
    "two halves computed elsewhere.",
    (
        ask("online_softmax.update_rule", "The update of the normaliser.", fixed(target="l")),
        ask("online_softmax.update_rule", "And of the output sum.", fixed(target="u")),
        ask("online_softmax.rescale_factor", "The factor for one block."),
        ask("online_softmax.trace", "Run it."),
        ask(
            "online_softmax.row_logsumexp",
            "What do you keep of that row?",
            same("d", "scores", "values", "block_size"),
            ("d",),
            lambda values, given: given["d"][-1][0] + math.log(given["d"][-1][1]),
        ),
        ask("online_softmax.merge", "Merge two halves."),
        ask("online_softmax.state_size", "How much state is carried?"),
        ask("online_softmax.statements", "Sort the claims."),
    ),
    ("the invariant and its induction", "the same factor for $\\ell$ and $u$", "speed comes from less memory traffic"),
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
        ask("alignment.width_growth", "What keeps still as the width grows?"),
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
        ask("backward.score_gradient", "The backward step.", _with(_weights, T=3), ("a",), _own_score_gradient),
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
        ask("gqa.scheme_cache", "What does sharing save?", drawn("model")),
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

ALL = (
    WHITEBOARD, HALF_PRECISION, WHY_THE_ROOT, SOFTMAX_GRADIENT, BACKWARD_BY_HAND, TOO_GOOD_LOSS, SHUFFLED_ENCODER,
    STATISTICIAN, HEADS_AND_BUDGET, ONE_DIMENSIONAL, QUADRUPLE_SLIDE, OUT_OF_MEMORY, FIT_ON_ONE_GPU, RETRAIN_OR_UPTRAIN,
    ONE_PASS, MUP_SCALE, ATTENTION_ONLY, FIRST_TOKEN, CHAIN_SOFTMAX, CHAIN_SCALE, CHAIN_COST, CHAIN_EXPRESSIVENESS,
    CHAIN_ORDER,
)  # fmt: skip
