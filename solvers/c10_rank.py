"""Card 10: what the width of a head bounds, and which keys can come out on top.

Source: card 10. T tokens, head width d_k; queries and keys are vectors of that width. Key numbers count from 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from grading.kinds.expression import Expression
from grading.kinds.integer import Integer
from grading.kinds.set_ import Set
from grading.tolerance import EQUIVALENT, EXACT
from solvers.algebra import dot
from solvers.domains import Made, OneOf, Values
from solvers.draws import Draws
from solvers.drill import Card, Drill, Slip
from solvers.statements import Statement, minus, plus, statement_drill

Point = Sequence[float]


def score_rank(T: int, d_k: int) -> int:
    """The largest rank of QKᵀ [T, T]: a sum of d_k outer products, and never more than its size."""
    return min(T, d_k)


def log_weight_rank(T: int, d_k: int) -> int:
    """The bound on rank(log P): the scores less one logsumexp a row, which adds one outer product."""
    return min(T, d_k + 1)


def linear_attention_rank(T: int, r: int) -> int:
    """The largest rank of the weights φ(Q) φ(K)ᵀ of linear attention with r features."""
    return min(T, r)


def outer_products(Q: Sequence[Point], K: Sequence[Point]) -> list[list[list[Any]]]:
    """The d_k matrices of rank at most one whose sum is QKᵀ: column c of Q times column c of K."""
    return [[[q[c] * k[c] for k in K] for q in Q] for c in range(len(Q[0]))]


def rank(A: Sequence[Sequence[Any]]) -> int:
    """The exact rank of a matrix of integers or fractions, by elimination."""
    rows = [[Fraction(x) for x in row] for row in A]
    found = 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((r for r in range(found, len(rows)) if rows[r][column]), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        top = rows[found]
        for r in range(found + 1, len(rows)):
            factor = rows[r][column] / top[column]
            rows[r] = [a - factor * b for a, b in zip(rows[r], top, strict=True)]
        found += 1
    return found


def top_keys(queries: Sequence[Point], keys: Sequence[Point]) -> list[int]:
    """The numbers of the keys that have the highest score of some query; tied keys all count."""
    winners: set[int] = set()
    for q in queries:
        scores = [dot(q, k) for k in keys]
        best = max(scores)
        winners.update(j for j, s in enumerate(scores, 1) if s == best)
    return sorted(winners)


def top_keys_1d(keys: Sequence[float], queries: Sequence[float]) -> list[int]:
    """Top keys of a head of width one: the largest key for positive queries, the smallest for negative ones.

    A zero query ties all keys.
    """
    if 0 in queries:
        return list(range(1, len(keys) + 1))
    wanted = ([max(keys)] if max(queries) > 0 else []) + ([min(keys)] if min(queries) < 0 else [])
    return [j for j, k in enumerate(keys, 1) if k in wanted]


def reachable_2d(keys: Sequence[Point]) -> list[int]:
    """The numbers of the keys that some query of width two has as its only top key: the corners of their hull.

    Points on an edge between two corners are never alone on top, nor are keys that occur twice.
    """
    order = sorted(range(len(keys)), key=lambda j: (keys[j][0], keys[j][1]))
    distinct = [j for i, j in enumerate(order) if i == 0 or tuple(keys[j]) != tuple(keys[order[i - 1]])]
    if len(distinct) < 3:
        corners = set(distinct)
    else:
        corners = {*_chain(keys, distinct), *_chain(keys, distinct[::-1])}
    alone = {j for j in corners if sum(tuple(k) == tuple(keys[j]) for k in keys) == 1}
    return sorted(j + 1 for j in alone)


def _chain(keys: Sequence[Point], order: Sequence[int]) -> list[int]:
    """One side of the hull, walked in order; only strict left turns stay."""
    kept: list[int] = []
    for j in order:
        while len(kept) > 1 and _turn(keys[kept[-2]], keys[kept[-1]], keys[j]) <= 1e-12:
            kept.pop()
        kept.append(j)
    return kept


def _turn(a: Point, b: Point, c: Point) -> float:
    """Positive where a → b → c turns left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _width_unlike(draws: Draws, so_far: Values) -> int:
    return draws.choice([w for w in (1, 2, 8, 16, 64, 128) if w != so_far["T"]])


SCORE_RANK = Drill(
    id="rank.score_rank",
    asks="the largest rank of one head's score matrix",
    stars=3,
    moves=("S",),
    params={
        "T": OneOf(4, 8, 16, 64, 128, 1024),
        "d_k": Made(_width_unlike, like="whole", values=6),
        "h": OneOf(2, 4, 8),
    },
    solve=score_rank,
    answer=Integer(tolerance=EXACT),
    steps=lambda T, d_k, answer: {"terms": d_k, "side": T, "rank": answer},
    slips=(
        Slip(
            "sequence_length",
            lambda T, d_k: T if d_k < T else None,
            "The size of the matrix is given; a sum of $d_k$ outer products cannot have a rank above $d_k$.",
        ),
        Slip(
            "all_heads",
            lambda h, d_k: h * d_k,
            "All heads are counted together; each head has a score matrix of its own, of inner width $d_k$.",
        ),
        Slip(
            "width_only",
            lambda T, d_k: d_k if d_k > T else None,
            "Only the inner width is looked at; a $T \\times T$ matrix has no rank above $T$.",
        ),
    ),
)

LOG_WEIGHT_RANK = Drill(
    id="rank.log_weight_rank",
    asks="the bound on the rank of log P",
    stars=3,
    moves=("S",),
    params={"T": OneOf(16, 32, 64, 128), "d_k": OneOf(1, 2, 4, 8, 12)},
    solve=log_weight_rank,
    answer=Integer(tolerance=EXACT),
    steps=lambda T, d_k, answer: {"scores": min(T, d_k), "bound": answer},
    slips=(
        Slip(
            "logsumexp_lost",
            lambda d_k: d_k,
            "The normaliser is left out; the logsumexp of every row adds one more outer product.",
        ),
        Slip(
            "full",
            lambda T: T,
            "Full rank is taken as for the weights; the logarithm undoes the exponential that made them so.",
        ),
        Slip(
            "plus_two",
            lambda d_k: d_k + 2,
            "Two is added; the logsumexps form a single outer product with the all-ones row.",
        ),
    ),
)


def _keys_on_a_line(draws: Draws, _so_far: Values) -> list[int]:
    return draws.sample(range(-6, 8), draws.choice((4, 5, 6)))


def _signed_queries(draws: Draws, _so_far: Values) -> list[int]:
    """Half of the time of both signs, else all positive or all negative."""
    sizes = [draws.integer(1, 4) for _ in range(draws.choice((3, 4, 5)))]
    pattern = draws.choice(("both", "both", "positive", "negative"))
    if pattern == "positive":
        return sizes
    if pattern == "negative":
        return [-s for s in sizes]
    positive = draws.integer(1, len(sizes) - 1)
    return draws.shuffled([*sizes[:positive], *(-s for s in sizes[positive:])])


def _where(keys: Sequence[Any], wanted: Any) -> list[int]:
    return [j for j, k in enumerate(keys, 1) if k == wanted]


TOP_KEYS_1D = Drill(
    id="rank.top_keys_1d",
    asks="the top keys of a head of width one",
    stars=3,
    moves=("S",),
    params={
        "keys": Made(_keys_on_a_line, like="vector"),
        "queries": Made(_signed_queries, like="vector"),
    },
    require=lambda keys: max(keys) != -min(keys),
    solve=top_keys_1d,
    answer=Set(tolerance=EXACT),
    steps=lambda keys, queries, answer: {
        "largest": max(keys),
        "largest_at": keys.index(max(keys)) + 1,
        "smallest": min(keys),
        "smallest_at": keys.index(min(keys)) + 1,
        "positive": [q for q in queries if q > 0],
        "negative": [q for q in queries if q < 0],
        "top": answer,
    },
    slips=(
        Slip(
            "always_largest",
            lambda keys: _where(keys, max(keys)),
            "Every query is given the largest key; a negative query reverses the order and takes the smallest.",
            branch=True,
        ),
        Slip(
            "largest_magnitude",
            lambda keys: _where(keys, max(keys, key=abs)),
            "Keys are ranked by size without sign; the score is the product, so the signs decide.",
            branch=True,
        ),
        Slip(
            "one_per_query",
            lambda keys, queries: list(range(1, min(len(set(queries)), len(keys)) + 1)),
            "Every query is given a key of its own; with one number per key only the two extremes can win.",
            branch=True,
        ),
        Slip(
            "both_extremes_always",
            lambda keys: sorted(_where(keys, max(keys)) + _where(keys, min(keys))),
            "Both extremes are listed; each wins only if some query has the sign for it.",
            branch=True,
        ),
    ),
)


def _points(draws: Draws, _so_far: Values) -> list[list[int]]:
    count = draws.choice((5, 6))
    found: dict[tuple[int, int], None] = {}
    while len(found) < count:
        found[draws.integer(-3, 3), draws.integer(-3, 3)] = None
    return [[x, y] for x, y in found]


def _extreme_columns(keys: Sequence[Point]) -> list[int]:
    first = [k[0] for k in keys]
    return sorted(_where(first, min(first)) + _where(first, max(first)))


def _longest(keys: Sequence[Point]) -> list[int]:
    lengths = [dot(k, k) for k in keys]
    return _where(lengths, max(lengths))


REACHABLE_2D = Drill(
    id="rank.reachable_2d",
    asks="keys in the plane that some query can pick alone",
    stars=3,
    moves=("S",),
    params={"keys": Made(_points, like="matrix")},
    derive=lambda keys: {"corners": reachable_2d(keys), "count": len(keys)},
    require=lambda corners, count: 3 <= len(corners) < count,
    solve=lambda corners: corners,
    answer=Set(tolerance=EXACT),
    steps=lambda keys, answer: {
        "corners": [keys[j - 1] for j in answer],
        "inside": [{"at": j, "key": k} for j, k in enumerate(keys, 1) if j not in answer],
        "reachable": answer,
    },
    slips=(
        Slip(
            "all_keys",
            lambda keys: list(range(1, len(keys) + 1)),
            "Every key is taken to have its query; a key inside the hull, or on an edge, is never alone on top.",
        ),
        Slip(
            "two_at_most",
            lambda keys: _extreme_columns(keys),
            "Only leftmost and rightmost are taken, as for width one; in the plane a query may point in any direction.",
        ),
        Slip(
            "longest_only",
            lambda keys: _longest(keys),
            "The longest key is taken; in another direction a shorter key can lie farthest along the query.",
        ),
    ),
)

LINEAR_ATTENTION = Drill(
    id="rank.linear_attention",
    asks="the rank that linear attention's weights can reach",
    stars=3,
    moves=("S",),
    params={"T": OneOf(64, 128, 512, 1024, 4096), "r": OneOf(4, 16, 32, 48)},
    solve=linear_attention_rank,
    answer=Integer(tolerance=EXACT),
    steps=lambda T, answer: {"side": T, "rank": answer},
    slips=(
        Slip(
            "full_rank",
            lambda T: T,
            "Full rank is given, as softmax weights can have; here no exponential follows the product of the features.",
        ),
        Slip(
            "log_rule",
            lambda r: r + 1,
            "One is added as for $\\log P$; there is no logsumexp here, the weights are the product itself.",
        ),
        Slip(
            "squared",
            lambda r: r * r,
            "The feature count is squared; it is the inner length of the product and bounds the rank as it is.",
        ),
    ),
)

STATEMENTS = statement_drill(
    id="rank.statements",
    asks="what is right about the rank of one head",
    stars=3,
    moves=("S",),
    statements=(
        Statement(
            "weights_rank_le_dk",
            "The weight matrix $P$ of a softmax head has rank at most $d_k$.",
            False,
            "The bound is on the scores; the entrywise exponential can raise the rank up to $T$.",
        ),
        Statement(
            "any_pattern_possible",
            "With $d_k + 1 < T$, every $T \\times T$ matrix of positive weights with rows that sum to one "
            "comes from some "
            "$Q$ and $K$.",
            False,
            "The logarithm of the weights has rank at most $d_k + 1$, and most such matrices have more.",
        ),
        Statement(
            "weights_can_be_full_rank",
            "With $d_k < T$, the weight matrix $P$ of a softmax head can still have rank $T$.",
            True,
            "The exponential acts entry by entry and does not keep the rank of the scores.",
        ),
        Statement(
            "scores_rank_le_dk",
            "The score matrix $QK^\\top$ has rank at most $d_k$.",
            True,
            "It is a sum of $d_k$ outer products.",
        ),
        Statement(
            "logweights_rank_le_dk_plus_1",
            "Without a mask, the entrywise logarithm of $P$ has rank at most $d_k + 1$.",
            True,
            "It is the score matrix less one number per row, and that subtraction is a single outer product.",
        ),
        Statement(
            "dk1_two_top_keys",
            "With $d_k = 1$ and distinct keys, at most two keys can ever be the only top key of a query.",
            True,
            "Positive queries take the largest key, negative ones the smallest.",
        ),
        Statement(
            "dk1_every_key_reachable",
            "With $d_k = 1$ and five distinct keys, each of them is the only top key of some query.",
            False,
            "The three keys between the extremes never win.",
        ),
        Statement(
            "linear_attention_weights_low_rank",
            "In linear attention with $r$ features, the $T \\times T$ weight matrix has rank at most $r$, "
            "with or without "
            "its row normalisation.",
            True,
            "It is a product of $T \\times r$ and $r \\times T$; scaling rows does not raise the rank.",
        ),
        Statement(
            "more_heads_raise_each_rank",
            "At a fixed model width, more heads raise the rank that each head's score matrix can reach.",
            False,
            "Each head gets narrower, $d_k = d/h$, so its bound falls.",
        ),
    ),
    always=("weights_rank_le_dk", "any_pattern_possible", "weights_can_be_full_rank"),
    count=3,
    slips=(
        Slip(
            "weights_low_rank",
            lambda answer, options: plus(minus(answer, "weights_can_be_full_rank"), options, "weights_rank_le_dk"),
            "The bound is put on the weights; it holds for the scores, and the exponential in between is not linear.",
        ),
        Slip(
            "no_limit",
            lambda answer, options: plus(answer, options, "any_pattern_possible"),
            "Full rank is taken for full freedom; the logarithms of the weights still have rank at most $d_k + 1$.",
        ),
    ),
)

LOG_WEIGHT_BOUND = Drill(
    id="rank.log_weight_bound_formula",
    asks="the bound on the rank of log P as a formula",
    stars=3,
    moves=("S",),
    params={},
    solve=lambda: "d_k + 1",
    answer=Expression(symbols={"d_k": "integer >= 1"}, tolerance=EQUIVALENT),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "score_rank",
            lambda: "d_k",
            "This bounds the scores; $\\log P$ also holds one logsumexp per row, which adds an outer product.",
        ),
        Slip(
            "doubled",
            lambda: "2 d_k",
            "The bound is doubled; the logsumexps add one outer product, not $d_k$ more.",
        ),
    ),
)

CARD = Card(
    number=10,
    slug="c10_rank",
    title="The rank of one head",
    stars=3,
    moves=("S",),
    statement=(
        "A head's scores are a sum of as many outer products as the head is wide, which bounds the rank "
        "of the scores "
        "and of the logarithms of the weights, but not of the weights; a head of width one can only pick "
        "the two "
        "extreme keys."
    ),
    formulas=(
        r"\operatorname{rank}(QK^\top) \le \min(T, d_k)",
        r"\log P = S - \boldsymbol\ell\,\mathbf 1^\top \Rightarrow \operatorname{rank}(\log P) \le d_k + 1",
        r"d_k = 1: \quad \text{top key} \in \{\text{largest key},\ \text{smallest key}\}",
        r"\operatorname{rank}\big(\phi(Q)\,\phi(K)^\top\big) \le r",
    ),
    drills=(
        SCORE_RANK,
        LOG_WEIGHT_RANK,
        TOP_KEYS_1D,
        REACHABLE_2D,
        LINEAR_ATTENTION,
        STATEMENTS,
        LOG_WEIGHT_BOUND,
    ),
)
