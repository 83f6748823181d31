"""Card 13: the KV cache, its size and what it costs to read.

Source: card 13. Sizes are in bytes, times in seconds, rates in tokens per second; model and accelerator figures in
solvers/facts.py. Weights are taken at 16 bits, so N parameters weigh 2N bytes, and a decode step is taken to read
every weight and the whole cache once.
"""

from __future__ import annotations

from grading.kinds.expression import Expression
from grading.kinds.integer import Integer
from grading.kinds.number import Number
from grading.kinds.quantity import Quantity
from grading.tolerance import EQUIVALENT, EXACT, rel
from solvers.domains import AcceleratorOf, Dtype, ModelOf, OneOf
from solvers.drill import Card, Drill, Slip
from solvers.sizes import (
    CAPACITY_IN_GIB,
    DECIMAL,
    GIB_PER_GB,
    ONE_BYTE_WEIGHTS,
    ONE_LAYER,
    ONE_OF_K_V,
    QUERIES_TOO,
    QUERY_HEADS,
    ROOM_SLIPS,
    ROUNDED_UP,
    TWO_BYTES,
    WHOLE_MEMORY,
    bytes_per_token,
    cache_bytes,
    longest_context,
    misread_as_binary,
    room,
    sequences_that_fit,
    weight_bytes,
)
from solvers.statements import Statement, minus, plus, statement_drill

ALL_MODELS = ModelOf(
    "gpt2-small", "gpt2-medium", "gpt2-xl", "llama2-7b", "llama2-13b", "llama2-70b",
    "llama3-8b", "llama3-70b", "mistral-7b",
)  # fmt: skip
SERVED = ModelOf("llama2-7b", "llama2-13b", "llama2-70b", "llama3-8b", "llama3-70b", "mistral-7b")
ACCELERATORS = AcceleratorOf("A100-80GB", "H100-SXM", "H200", "L40S", "MI300X")


def break_even_context(N: int, per_token: float, B: int = 1) -> float:
    """Tokens per sequence at which the caches of B sequences weigh as much as the 16-bit weights."""
    return weight_bytes(N) / (per_token * B)


def step_time(weights: float, cache: float, bandwidth: float) -> float:
    """Least seconds of one decode step: weights and cache (bytes) are each read once."""
    return (weights + cache) / bandwidth


def decode_rate(weights: float, cache: float, bandwidth: float, B: int = 1) -> float:
    """Most tokens per second of B sequences with `cache` bytes each: one step serves one token of every sequence."""
    return B / step_time(weights, B * cache, bandwidth)


PER_TOKEN = Drill(
    id="kv_cache.per_token",
    asks="bytes that the KV cache grows per token",
    stars=1,
    moves=("S",),
    params={"model": ALL_MODELS, "dtype": Dtype("fp16", "bf16", "int8", "fp8")},
    solve=bytes_per_token,
    answer=Quantity("bytes", tolerance=rel(0.01)),
    steps=lambda H_kv, d_h, b, answer: {"head": d_h * b, "layer": 2 * H_kv * d_h * b, "total": answer},
    slips=(
        Slip("one_of_k_v", lambda answer: answer // 2, ONE_OF_K_V),
        Slip(
            "query_heads_used",
            lambda L, h, H_kv, d_h, b: bytes_per_token(L, h, d_h, b) if h != H_kv else None,
            QUERY_HEADS,
        ),
        Slip("layers_forgotten", lambda answer, L: answer // L, ONE_LAYER),
        Slip("queries_cached_too", lambda answer, L, h, d_h, b: answer + L * h * d_h * b, QUERIES_TOO),
        Slip("decimal_as_binary", misread_as_binary, DECIMAL),
        Slip("two_bytes_assumed", lambda answer, b: answer * 2 if b == 1 else None, TWO_BYTES),
    ),
)

TOTAL = Drill(
    id="kv_cache.total",
    asks="size of the KV cache of a batch of sequences",
    stars=1,
    moves=("S",),
    params={
        "model": SERVED,
        "dtype": Dtype("fp16", "bf16", "int8"),
        "T": OneOf(2048, 4096, 8192, 16384, 32768, 131072),
        "B": OneOf(1, 2, 4, 8, 16),
    },
    solve=cache_bytes,
    answer=Quantity("bytes", tolerance=rel(0.01)),
    steps=lambda L, H_kv, d_h, b, T, answer: {
        "per_token": bytes_per_token(L, H_kv, d_h, b),
        "sequence": cache_bytes(L, H_kv, d_h, b, T),
        "total": answer,
    },
    slips=(
        Slip("one_of_k_v", lambda answer: answer // 2, ONE_OF_K_V),
        Slip(
            "query_heads_used",
            lambda L, h, H_kv, d_h, b, T, B: cache_bytes(L, h, d_h, b, T, B) if h != H_kv else None,
            QUERY_HEADS,
        ),
        Slip("layers_forgotten", lambda answer, L: answer // L, ONE_LAYER),
        Slip(
            "queries_cached_too",
            lambda answer, L, h, d_h, b, T, B: answer + L * h * d_h * b * T * B,
            QUERIES_TOO,
        ),
        Slip("decimal_as_binary", misread_as_binary, DECIMAL),
        Slip("two_bytes_assumed", lambda answer, b: answer * 2 if b == 1 else None, TWO_BYTES),
        Slip(
            "batch_forgotten",
            lambda answer, B: answer // B if B > 1 else None,
            "One sequence is given; every sequence of the batch has a cache of its own.",
        ),
    ),
)

MAX_SEQUENCES = Drill(
    id="kv_cache.max_sequences",
    asks="whole sequences that fit beside the weights",
    stars=1,
    moves=("S",),
    params={
        "model": SERVED,
        "accelerator": ACCELERATORS,
        "n_gpu": OneOf(1, 2, 4, 8),
        "T": OneOf(2048, 4096, 8192, 16384, 32768),
        "dtype": Dtype("fp16"),
    },
    derive=lambda L, H_kv, d_h, b, T, memory, n_gpu, N: {
        "free": room(memory, n_gpu, N),
        "cache": cache_bytes(L, H_kv, d_h, b, T),
    },
    require=lambda free, cache: (
        3 * cache <= free < 61 * cache and abs(free / cache - round(free / cache)) > 0.004 * (free / cache)
    ),
    hold=("model",),
    solve=sequences_that_fit,
    answer=Integer(unit="sequences", tolerance=EXACT),
    steps=lambda memory, n_gpu, N, L, H_kv, d_h, b, free, cache, answer: {
        "capacity": n_gpu * int(memory),
        "weights": weight_bytes(N),
        "free": free,
        "per_token": bytes_per_token(L, H_kv, d_h, b),
        "cache": cache,
        "quotient": free / cache,
        "answer": answer,
    },
    slips=(
        *ROOM_SLIPS,
        Slip(
            "query_heads_used",
            lambda free, cache, h, H_kv: sequences_that_fit(free, cache * h // H_kv) if h != H_kv else None,
            QUERY_HEADS,
        ),
        Slip("rounded_up", lambda answer: answer + 1, ROUNDED_UP),
    ),
)

MAX_CONTEXT = Drill(
    id="kv_cache.max_context",
    asks="context length that fits beside the weights",
    stars=1,
    moves=("S",),
    params={
        "model": SERVED,
        "accelerator": ACCELERATORS,
        "n_gpu": OneOf(1, 2, 4),
        "B": OneOf(1, 2, 4, 8),
        "dtype": Dtype("fp16", "int8"),
    },
    derive=lambda L, H_kv, d_h, b, memory, n_gpu, N: {
        "free": room(memory, n_gpu, N),
        "per_token": bytes_per_token(L, H_kv, d_h, b),
    },
    require=lambda free: free > 2e9,
    hold=("model",),
    solve=longest_context,
    answer=Number(unit="tokens", tolerance=rel(0.005)),
    steps=lambda memory, n_gpu, N, free, per_token, B, answer: {
        "capacity": n_gpu * int(memory),
        "weights": weight_bytes(N),
        "free": free,
        "per_token": per_token,
        "all": per_token * B,
        "answer": answer,
    },
    slips=(
        Slip(
            "weights_forgotten",
            lambda memory, n_gpu, per_token, B: longest_context(n_gpu * int(memory), per_token, B),
            WHOLE_MEMORY,
        ),
        Slip("one_of_k_v", lambda free, per_token, B: longest_context(2 * free, per_token, B), ONE_OF_K_V),
        Slip(
            "query_heads_used",
            lambda free, per_token, B, h, H_kv: longest_context(free, per_token * h // H_kv, B) if h != H_kv else None,
            QUERY_HEADS,
        ),
        Slip(
            "batch_forgotten",
            lambda free, per_token, B: longest_context(free, per_token, 1) if B > 1 else None,
            "All the room is given to one sequence; the sequences of the batch share it.",
        ),
        Slip(
            "capacity_in_gib",
            lambda memory, n_gpu, N, per_token, B: longest_context(room(memory * GIB_PER_GB, n_gpu, N), per_token, B),
            CAPACITY_IN_GIB,
        ),
    ),
)

TOKEN_TIME = Drill(
    id="kv_cache.token_time",
    asks="least time of a decode step by memory bandwidth",
    stars=1,
    moves=("S",),
    params={
        "model": SERVED,
        "accelerator": ACCELERATORS,
        "T": OneOf(4096, 8192, 16384, 32768, 65536),
        "B": OneOf(1, 2, 4, 8),
        "dtype": Dtype("fp16"),
    },
    derive=lambda L, H_kv, d_h, b, T, B, N: {
        "weights": weight_bytes(N),
        "cache": cache_bytes(L, H_kv, d_h, b, T, B),
    },
    require=lambda weights, cache, memory: weights + cache <= memory and cache >= 0.03 * weights,
    hold=("B",),
    solve=step_time,
    answer=Quantity("s", tolerance=rel(0.01)),
    steps=lambda weights, cache, L, H_kv, d_h, b, answer: {
        "per_token": bytes_per_token(L, H_kv, d_h, b),
        "weights": weights,
        "cache": cache,
        "bytes": weights + cache,
        "answer": answer,
    },
    slips=(
        Slip(
            "cache_forgotten",
            lambda weights, bandwidth: step_time(weights, 0, bandwidth),
            "Only the weights are read; the step reads the whole cache besides.",
        ),
        Slip(
            "weights_forgotten",
            lambda cache, bandwidth: step_time(0, cache, bandwidth),
            "Only the cache is read; the step reads every weight besides.",
        ),
        Slip(
            "one_byte_weights",
            lambda weights, cache, bandwidth: step_time(weights / 2, cache, bandwidth),
            ONE_BYTE_WEIGHTS,
        ),
        Slip(
            "weights_read_per_sequence",
            lambda weights, cache, bandwidth, B: step_time(weights * B, cache, bandwidth) if B > 1 else None,
            "The weights are read anew for each sequence; one reading serves the whole batch.",
        ),
        Slip("one_of_k_v", lambda weights, cache, bandwidth: step_time(weights, cache / 2, bandwidth), ONE_OF_K_V),
    ),
    notes="hold B: large batches fit less often, and would be rare without it",
)

TOKENS_PER_SECOND = Drill(
    id="kv_cache.tokens_per_second",
    asks="highest decode speed of one sequence by memory bandwidth",
    stars=1,
    moves=("S",),
    params={
        "model": SERVED,
        "accelerator": ACCELERATORS,
        "T": OneOf(4096, 8192, 16384, 32768, 65536),
        "B": OneOf(1),
        "dtype": Dtype("fp16"),
    },
    derive=lambda L, H_kv, d_h, b, T, B, N: {
        "weights": weight_bytes(N),
        "cache": cache_bytes(L, H_kv, d_h, b, T, B),
    },
    require=lambda weights, cache, memory: weights + cache <= memory,
    solve=decode_rate,
    answer=Quantity("tokens/s", tolerance=rel(0.01)),
    steps=lambda weights, cache, bandwidth, L, H_kv, d_h, b, answer: {
        "per_token": bytes_per_token(L, H_kv, d_h, b),
        "weights": weights,
        "cache": cache,
        "bytes": weights + cache,
        "time": step_time(weights, cache, bandwidth),
        "answer": answer,
    },
    slips=(
        Slip(
            "cache_forgotten",
            lambda weights, bandwidth: decode_rate(weights, 0, bandwidth),
            "Only the weights are read; the step reads the whole cache besides.",
        ),
        Slip(
            "time_not_rate",
            step_time,
            "The seconds of one step are given; tokens per second is the reciprocal.",
        ),
        Slip(
            "one_byte_weights",
            lambda weights, cache, bandwidth: decode_rate(weights / 2, cache, bandwidth),
            ONE_BYTE_WEIGHTS,
        ),
        Slip(
            "compute_bound",
            lambda flops, weights: flops / weights,
            "The peak FLOP/s is divided by the FLOPs per token; decoding waits for bytes, so divide the bandwidth.",
        ),
    ),
    notes="tightened: weights and cache fit into one accelerator, as the question implies",
)

BREAK_EVEN = Drill(
    id="kv_cache.break_even",
    asks="context length at which the cache outweighs the weights",
    stars=1,
    moves=("S",),
    params={"model": SERVED, "B": OneOf(1, 1, 2, 4, 8), "dtype": Dtype("fp16", "int8")},
    derive=lambda L, H_kv, d_h, b: {"per_token": bytes_per_token(L, H_kv, d_h, b)},
    solve=break_even_context,
    answer=Number(unit="tokens", tolerance=rel(0.01)),
    steps=lambda N, per_token, B, answer: {
        "weights": weight_bytes(N),
        "per_token": per_token,
        "all": per_token * B,
        "answer": answer,
    },
    slips=(
        Slip(
            "one_of_k_v",
            lambda answer: 2 * answer,
            "Only one of the two tensors is counted; every token caches a key and a value.",
        ),
        Slip("one_byte_weights", lambda answer: answer / 2, ONE_BYTE_WEIGHTS),
        Slip("query_heads_used", lambda answer, h, H_kv: answer * H_kv / h if h != H_kv else None, QUERY_HEADS),
        Slip(
            "batch_forgotten",
            lambda answer, B: answer * B if B > 1 else None,
            "One sequence has to reach the weights alone; here the caches of the whole batch add up.",
        ),
    ),
)

BATCH_RATE = Drill(
    id="kv_cache.batch_rate",
    asks="highest decode speed of a whole batch by memory bandwidth",
    stars=1,
    moves=("S",),
    params={
        "model": SERVED,
        "accelerator": ACCELERATORS,
        "T": OneOf(2048, 4096, 8192, 16384, 32768),
        "B": OneOf(2, 4, 8, 16, 32),
        "dtype": Dtype("fp16"),
    },
    derive=lambda L, H_kv, d_h, b, T, N: {
        "weights": weight_bytes(N),
        "cache": cache_bytes(L, H_kv, d_h, b, T),
    },
    require=lambda weights, cache, B, memory: weights + B * cache <= memory and B * cache >= 0.03 * weights,
    hold=("B",),
    solve=decode_rate,
    answer=Quantity("tokens/s", tolerance=rel(0.01)),
    steps=lambda weights, cache, bandwidth, B, L, H_kv, d_h, b, answer: {
        "per_token": bytes_per_token(L, H_kv, d_h, b),
        "cache": cache,
        "weights": weights,
        "bytes": weights + B * cache,
        "time": step_time(weights, B * cache, bandwidth),
        "answer": answer,
    },
    slips=(
        Slip(
            "one_sequence",
            lambda answer, B: answer / B,
            "Steps per second are given; each step makes one token for every sequence, so multiply by B.",
        ),
        Slip(
            "weights_per_sequence",
            lambda weights, cache, bandwidth: 1 / step_time(weights, cache, bandwidth),
            "The weights are read anew for each sequence; one reading serves the whole batch.",
        ),
        Slip(
            "cache_once",
            lambda weights, cache, bandwidth, B: B * decode_rate(weights, cache, bandwidth),
            "One cache is read for all; every sequence has its own, so the step reads B of them.",
        ),
    ),
    notes="beyond the catalogue; hold B: large batches fit less often, and would be rare without it",
)

CONTENTS = statement_drill(
    id="kv_cache.contents",
    asks="what a KV cache holds and how it grows",
    stars=1,
    moves=("S",),
    statements=(
        Statement(
            "queries",
            "It holds the queries of past tokens.",
            False,
            "A query is used in its own step and never read again.",
        ),
        Statement(
            "keys",
            "It holds the keys of past tokens.",
            True,
            "Each new query is scored against all of them.",
        ),
        Statement(
            "values",
            "It holds the values of past tokens.",
            True,
            "The new weights average all of them.",
        ),
        Statement(
            "grows_quadratically",
            "Its size grows with the square of the context length.",
            False,
            "Each token adds the same number of bytes; quadratic are the scores of a full pass, which are not kept.",
        ),
        Statement(
            "attention_weights",
            "It holds the attention weights of past tokens.",
            False,
            "A row of weights belongs to one query and is spent when that query's output is formed.",
        ),
        Statement(
            "scores",
            "It holds the scores of past queries against past keys.",
            False,
            "Past rows are finished; a new token computes one new row of scores from the keys.",
        ),
        Statement(
            "one_set_per_kv_head",
            "Each layer stores one key and one value per token for each KV head.",
            True,
            "Query heads of a group read the same stored head.",
        ),
        Statement(
            "one_set_per_query_head",
            "With grouped queries, each layer still stores one key and one value per token for each query head.",
            False,
            "Query heads of a group share one stored key and value; that is what grouping saves.",
        ),
        Statement(
            "one_set_per_layer",
            "Every layer stores keys and values of its own.",
            True,
            "Each layer projects its own input, so no layer can use another's keys.",
        ),
        Statement(
            "grows_linearly",
            "Its size grows in proportion to the context length.",
            True,
            "Each token adds the same number of bytes.",
        ),
        Statement(
            "past_entries_never_change",
            "In a causal decoder, stored entries stay as they are when later tokens arrive.",
            True,
            "Under the causal mask, nothing at a past position depends on later tokens.",
        ),
    ),
    always=("queries", "keys", "values", "grows_quadratically"),
    count=2,
    slips=(
        Slip(
            "queries_cached",
            lambda answer, options: plus(answer, options, "queries"),
            "Queries are marked as cached; only keys and values are read again by later tokens.",
        ),
        Slip(
            "values_forgotten",
            lambda answer: minus(answer, "values"),
            "Values are left out; the new weights average the past values, so they stay beside the keys.",
        ),
        Slip(
            "quadratic",
            lambda answer, options: minus(plus(answer, options, "grows_quadratically"), "grows_linearly"),
            "The cache is taken for the score matrix of training, which is quadratic; each token adds equally much.",
        ),
    ),
)

FORMULA = Drill(
    id="kv_cache.formula",
    asks="the bytes of the KV cache as a formula",
    stars=1,
    moves=("S",),
    params={},
    solve=lambda: "2 L H_kv d_h b T B",
    answer=Expression(
        symbols={
            "L": "integer >= 1",
            "H_kv": "integer >= 1",
            "d_h": "integer >= 1",
            "b": "b > 0",
            "T": "integer >= 1",
            "B": "integer >= 1",
        },
        tolerance=EQUIVALENT,
    ),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "one_tensor",
            lambda: "L H_kv d_h b T B",
            "One tensor is counted; the cache holds keys and values, so the factor 2 belongs in front.",
        ),
        Slip(
            "queries_too",
            lambda: "3 L H_kv d_h b T B",
            "Three tensors are counted; queries are never read again, so only keys and values stay: factor 2.",
        ),
        Slip(
            "batch_lost",
            lambda: "2 L H_kv d_h b T",
            "One sequence is counted; each of the B sequences has its own cache.",
        ),
        Slip(
            "one_layer",
            lambda: "2 H_kv d_h b T B",
            "One layer is counted; each of the L layers keeps its own keys and values.",
        ),
    ),
)

THROUGHPUT_FORMULA = Drill(
    id="kv_cache.throughput_formula",
    asks="the bound on a batch's tokens per second as a formula",
    stars=1,
    moves=("S",),
    params={},
    solve=lambda: "B s/(W + B C)",
    answer=Expression(symbols={"B": "integer >= 1", "W": "W > 0", "C": "C > 0", "s": "s > 0"}, tolerance=EQUIVALENT),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "one_sequence",
            lambda: "s/(W + B C)",
            "These are steps per second; a step makes one token for each sequence, so multiply by B.",
        ),
        Slip(
            "weights_per_sequence",
            lambda: "s/(W + C)",
            "The weights are read again for each sequence; one reading of W serves all B of them.",
        ),
        Slip(
            "cache_once",
            lambda: "B s/(W + C)",
            "A single cache is read; each sequence has its own, so a step reads B C bytes of cache.",
        ),
    ),
)

CARD = Card(
    number=13,
    slug="c13_kv_cache",
    title="The KV cache",
    stars=1,
    moves=("S",),
    statement=(
        "Decoding keeps the key and the value of every past token, once for each layer and KV head. A step reads all "
        "weights and the whole cache, so memory bandwidth bounds its speed."
    ),
    formulas=(
        r"\text{bytes} = 2 \cdot L \cdot H_{\text{kv}} \cdot d_h \cdot b \cdot T \cdot B",
        r"t_{\text{step}} \ge \frac{2N + \text{bytes}}{\text{bandwidth}}",
        r"\text{tokens/s} \le \frac{B \cdot \text{bandwidth}}{W + B \, C}",
    ),
    drills=(
        PER_TOKEN, TOTAL, MAX_SEQUENCES, MAX_CONTEXT, TOKEN_TIME, TOKENS_PER_SECOND, BREAK_EVEN, BATCH_RATE, CONTENTS,
        FORMULA, THROUGHPUT_FORMULA,
    ),
)  # fmt: skip
