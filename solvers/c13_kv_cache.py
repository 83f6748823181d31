"""Card 13: the KV cache, its size and what it costs to read.

Source: card 13. Sizes are in bytes, times in seconds; model and accelerator figures in solvers/facts.py.
"""

from __future__ import annotations

from grading.kinds.expression import Expression
from grading.kinds.quantity import Quantity
from grading.tolerance import EQUIVALENT, rel
from solvers.domains import Dtype, ModelOf
from solvers.drill import Card, Drill, Slip
from solvers.statements import Statement, minus, plus, statement_drill

ALL_MODELS = ModelOf(
    "gpt2-small", "gpt2-medium", "gpt2-xl", "llama2-7b", "llama2-13b", "llama2-70b",
    "llama3-8b", "llama3-70b", "mistral-7b",
)  # fmt: skip


def bytes_per_token(L: int, H_kv: int, d_h: int, b: float) -> float:
    """Bytes that one token adds: a key and a value of width d_h for every layer and KV head, b bytes a number."""
    return 2 * L * H_kv * d_h * b


PER_TOKEN = Drill(
    id="kv_cache.per_token",
    asks="bytes that the KV cache grows per token",
    stars=1,
    moves=("S",),
    params={"model": ALL_MODELS, "dtype": Dtype("fp16", "bf16", "int8", "fp8")},
    solve=bytes_per_token,
    answer=Quantity("bytes", tolerance=rel(0.01)),
    steps=lambda H_kv, d_h, b, answer: {
        "head": d_h * b,
        "layer": 2 * H_kv * d_h * b,
        "total": answer,
    },
    slips=(
        Slip(
            "one_of_k_v",
            lambda answer: answer // 2,
            "Only one tensor is counted (or, at 16 bits, the bytes per number are left out): "
            "every token caches a key and a value.",
        ),
        Slip(
            "query_heads_used",
            lambda L, h, H_kv, d_h, b: bytes_per_token(L, h, d_h, b) if h != H_kv else None,
            "The query heads are counted; keys and values exist once for each KV head.",
        ),
        Slip(
            "layers_forgotten",
            lambda answer, L: answer / L,
            "One layer's share is given; every layer keeps its own keys and values, so multiply by L.",
        ),
        Slip(
            "queries_cached_too",
            lambda answer, h, H_kv: answer * (2 * H_kv + h) / (2 * H_kv),
            "Queries are counted too; a query is used once and never read again, so only K and V stay.",
        ),
        Slip(
            "decimal_as_binary",
            lambda answer: answer * 1024 / 1000,
            "The figure in powers of 1000 is written with a binary unit; a KiB is 1024 bytes.",
        ),
        Slip(
            "two_bytes_assumed",
            lambda answer, b: answer * 2 if b == 1 else None,
            "Two bytes per number are assumed; this format stores one byte per number.",
        ),
    ),
)

CONTENTS = statement_drill(
    id="kv_cache.contents",
    asks="what a KV cache holds and how it grows",
    stars=1,
    moves=("S",),
    statements=(
        Statement("keys", "It holds the keys of past tokens.", True, "Each new query is scored against all of them."),
        Statement("values", "It holds the values of past tokens.", True, "The new weights average all of them."),
        Statement("queries", "It holds the queries of past tokens.", False, "A query is used in its own step only."),
        Statement(
            "grows_quadratically",
            "Its size grows with the square of the context length.",
            False,
            "Each token adds the same number of bytes, so it grows linearly.",
        ),
        Statement(
            "grows_linearly",
            "Its size grows in proportion to the context length.",
            True,
            "Each token adds the same number of bytes.",
        ),
    ),
    always=("queries", "values", "grows_quadratically"),
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
            "L": "integer >= 1", "H_kv": "integer >= 1", "d_h": "integer >= 1", "b": "b > 0",
            "T": "integer >= 1", "B": "integer >= 1",
        },
        tolerance=EQUIVALENT,
    ),  # fmt: skip
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "one_tensor",
            lambda: "L H_kv d_h b T B",
            "One tensor is counted; the cache holds keys and values, so the factor 2 belongs in front.",
        ),
    ),
)

CARD = Card(
    number=13,
    slug="c13_kv_cache",
    title="The KV cache",
    stars=1,
    moves=("S",),
    statement="Decoding keeps the key and the value of every past token, once for each layer and KV head.",
    formulas=(r"\text{bytes} = 2 \cdot L \cdot H_{\text{kv}} \cdot d_h \cdot b \cdot T \cdot B",),
    drills=(PER_TOKEN, CONTENTS, FORMULA),
)
