"""Scenarios on what attention computes: cards 1 to 7."""

from __future__ import annotations

import math

from drillgen.scenarios.parts import Values, ask, drawn, fixed, same, scenario, simplex
from solvers.algebra import dot, softmax
from solvers.draws import Draws

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


def _spread(values: Values, given: Values) -> float:
    """The root of the learner's own variance over the divisor in question."""
    squared = {"sqrt_dk": values["d_k"], "dk": values["d_k"] ** 2, "sqrt_d": values["d"]}[values["scale"]]
    return math.sqrt(given["b"] / squared)


def _components(draws: Draws) -> Values:
    """A head width and two spreads, neither of them one and their product not either."""
    sigma_q, sigma_k = draws.choice(((0.5, 1.5), (1.5, 0.5), (1.5, 1.5), (1.5, 2), (2, 1.5)))
    return {"d_k": draws.choice((16, 32, 64, 128)), "sigma_q": sigma_q, "sigma_k": sigma_k}


WHY_THE_ROOT = scenario(
    "why_the_root",
    (3, 16),
    "Defend the divisor $\\sqrt{d_k}$ against $d_k$ and against the root of the model width, assumptions first.",
    (
        ask("scaling.assumptions", "What has to hold?"),
        ask("scaling.dot_variance", "The raw dot product first.", drawn("d_k", "sigma_q", "sigma_k")),
        ask(
            "scaling.scaled_sd",
            "Its spread under the usual divisor:",
            drawn("d_k", "sigma_q", "sigma_k", scale="sqrt_dk"),
            ("b",),
            _spread,
        ),
        ask(
            "scaling.scaled_sd",
            "Under $d_k$:",
            same("c", "d_k", "d", "sigma_q", "sigma_k", scale="dk"),
            ("b",),
            _spread,
        ),
        ask(
            "scaling.scaled_sd",
            "Under the root of the model width:",
            same("c", "d_k", "d", "sigma_q", "sigma_k", scale="sqrt_d"),
            ("b",),
            _spread,
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
    _components,
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
