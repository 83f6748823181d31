"""Scenarios on what attention costs: parameters, FLOPs, memory, caches, one pass (cards 9 and 11 to 15)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from drillgen.instance import Instance
from drillgen.scenario import Bind
from drillgen.scenarios.parts import Values, also, ask, drawn, fixed, same, scenario
from solvers import facts

HEADS_AND_BUDGET = scenario(
    "heads_and_budget",
    (9, 13),
    "Finance asks why four times as many heads do not cost four times as much, and what GPT-2 small's attention "
    "holds per layer.",
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


RETRAIN_OR_UPTRAIN = scenario(
    "retrain_or_uptrain",
    (14,),
    "Serving a multi-head model of 7 to 8 billion parameters at long context costs too much. Should it be retrained "
    "with grouped queries?",
    (
        ask("gqa.cache_ratio", "What does grouping save?", also(_shape(("h", "H_kv")), target="gqa")),
        ask(
            "gqa.decode_intensity",
            "Intensity before:",
            lambda shared, earlier: {
                "h": facts.model(shared["model"]).h,
                "H_kv": facts.model(shared["model"]).h,
                "dtype": "fp16",
            },
        ),
        ask("gqa.decode_intensity", "And after:", also(_shape(("h", "H_kv")), dtype="fp16")),
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
