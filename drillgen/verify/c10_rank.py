"""Card 10: numerical ranks of a random head, and which keys narrow heads can pick."""

from __future__ import annotations

from typing import Any

from drillgen.verify.rows import Property, Row
from solvers.algebra import softmax
from solvers.c10_rank import outer_products, reachable_2d, top_keys_1d

SEED = 10


def head(T: int = 64, d_k: int = 8) -> tuple[Any, Any]:
    """Seeded normal queries and keys [T, d_k]."""
    import numpy as np

    q, k = np.random.default_rng(SEED).normal(size=(2, T, d_k))
    return q, k


def scores() -> Any:
    """QKᵀ/√8 of the seeded head [64, 64]."""
    q, k = head()
    return q @ k.T / 8**0.5


def weights(axis: int = 1) -> Any:
    """Its softmax weights [64, 64], over keys unless another axis is named."""
    import numpy as np

    e = np.exp(scores())
    return e / e.sum(axis=axis, keepdims=True)


def log_weights(axis: int = 1) -> Any:
    """The entrywise logarithm of the weights."""
    import numpy as np

    return np.log(weights(axis))


def nine_outer_products() -> Any:
    """log P built from factors of inner length d_k + 1: queries and minus the logsumexps, keys and ones."""
    import numpy as np

    q, k = head()
    lse = np.logaddexp.reduce(scores(), axis=1)
    left = np.column_stack([q / 8**0.5, -lse])
    right = np.column_stack([k, np.ones(len(k))])
    return left @ right.T


def _rank(matrix: Any) -> int:
    import numpy as np

    return int(np.linalg.matrix_rank(matrix))


def product(d_k: int = 6) -> Any:
    """QKᵀ in one product, 20 tokens."""
    q, k = head(20, d_k)
    return q @ k.T


def summed_products() -> list[list[float]]:
    """The same as a sum of six outer products."""
    q, k = head(20, 6)
    terms = outer_products(q.tolist(), k.tolist())
    return [[sum(t[i][j] for t in terms) for j in range(20)] for i in range(20)]


def one_dimensional(instances: int = 2000, T: int = 64) -> list[tuple[set[int], set[int]]]:
    """Top keys by argmax, and the two extreme keys, for random heads of width one."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    out = []
    for _ in range(instances):
        q, k = rng.normal(size=(2, T))
        top = np.argmax(np.outer(q, k), axis=1)
        out.append(({int(j) for j in top}, {int(np.argmax(k)), int(np.argmin(k))}))
    return out


def fraction_of_extremes(heads: list[tuple[set[int], set[int]]]) -> float:
    """The share of heads whose top keys are extreme keys only."""
    return sum(top <= extremes for top, extremes in heads) / len(heads)


def most_top_keys(heads: list[tuple[set[int], set[int]]]) -> int:
    """The most different top keys of any head."""
    return max(len(top) for top, _ in heads)


def _found_by_rule() -> int:
    """The same maximum by the sign rule, for heads with queries of both signs."""
    return max(len(top_keys_1d(keys, [-1.0, 2.0])) for keys in ([3, 1, 2], [5.0, -4.0, 0.5, 2.0]))


def circle(n: int = 12) -> list[list[float]]:
    """Keys spread evenly on a circle."""
    from math import cos, pi, sin

    return [[cos(2 * pi * j / n), sin(2 * pi * j / n)] for j in range(n)]


def picked_on_circle() -> int:
    """How many keys on the circle win the query that points at them; the hull must say the same."""
    keys = circle()
    won = [j for j, q in enumerate(keys) if all(_dot(q, q) > _dot(q, k) for i, k in enumerate(keys) if i != j)]
    return len(won) if [j + 1 for j in won] == reachable_2d(keys) else -1


def _dot(a: list[float], b: list[float]) -> float:
    return a[0] * b[0] + a[1] * b[1]


def zero_query_row(q: float = 0.0) -> list[float]:
    """The weights of a query of a head of width one over 64 random keys."""
    k = head(64, 1)[1][:, 0].tolist()
    return softmax([q * x for x in k])


def linear_weights(after: Any = None) -> Any:
    """Row-normalised weights of linear attention entry by entry, T = 40, r = 5 positive features.

    after: what is done to the product of features before the rows are normalised (nothing in linear attention).
    """
    import numpy as np

    phi_q, phi_k = np.exp(np.random.default_rng(SEED).normal(size=(2, 40, 5)))
    w = np.array([[float(np.dot(a, b)) for b in phi_k] for a in phi_q])
    w = w if after is None else after(w)
    return w / w.sum(axis=1, keepdims=True)


def five_features() -> Any:
    """The same weights as a product of inner length five, the normaliser folded into the query features."""
    import numpy as np

    phi_q, phi_k = np.exp(np.random.default_rng(SEED).normal(size=(2, 40, 5)))
    return (phi_q / (phi_q @ phi_k.sum(axis=0))[:, None]) @ phi_k.T


HEAD = f"normal queries and keys, T = 64, d_k = 8, seed {SEED}"

ROWS = {
    "c10.rank.logits": Row(lambda: _rank(scores()), note=HEAD),
    "c10.rank.weights": Row(lambda: _rank(weights()), note=HEAD),
    "c10.rank.log_weights": Property(
        left=log_weights,
        right=nine_outer_products,
        limit=1e-12,
        note=f"the logarithms of the weights against a product of inner length nine; {HEAD}",
    ),
    "c10.outer_products": Property(left=product, right=summed_products, note=f"T = 20, d_k = 6, seed {SEED}"),
    "c10.d1.fraction": Row(
        lambda: fraction_of_extremes(one_dimensional()), note=f"2,000 random heads of 64 keys, seed {SEED}"
    ),
    "c10.d1.max_keys": Row(
        lambda: max(most_top_keys(one_dimensional(400)), _found_by_rule()),
        note=f"the most among 400 random heads, and by the sign rule; seed {SEED}",
    ),
    "c10.circle": Row(picked_on_circle, note="each key by the query that points at it, and as corners of the hull"),
    "c10.d1.zero_query": Property(left=zero_query_row, right=lambda: [1 / 64] * 64),
    "c10.linear_attn.rank": Property(
        left=linear_weights,
        right=five_features,
        limit=1e-12,
        note=f"normalised weights against a product of inner length five; T = 40, seed {SEED}",
    ),
}
