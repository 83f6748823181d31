"""Card 8: the smoother and biased attention agree; equal key lengths need no bias; a zero query takes the mean."""

from __future__ import annotations

from typing import Any

from drillgen.verify.rows import Property, Row
from solvers import facts
from solvers.algebra import attention, matmul
from solvers.c08_kernel_smoothing import bandwidth_of_width, key_bias, log_kernel, nadaraya_watson, plain_attention

SEED = 8
LAM = 0.5
POINTS = 40


def sine() -> tuple[Any, Any, Any]:
    """40 noisy points of a sine on [0, 2π] and 60 queries: keys [40, 1], values [40, 1], queries [60, 1]."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    x = np.sort(rng.uniform(0, 2 * np.pi, POINTS))[:, None]
    return x, np.sin(x) + rng.normal(scale=0.2, size=x.shape), np.linspace(0, 2 * np.pi, 60)[:, None]


def circle() -> tuple[Any, Any, Any]:
    """40 keys on the unit circle with normal values [40, 1] and 60 queries on it."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    keys, queries = (np.array([np.cos(a), np.sin(a)]).T for a in (rng.uniform(0, 7, POINTS), np.linspace(0, 6, 60)))
    return keys, rng.normal(size=(POINTS, 1)), queries


def space() -> tuple[Any, Any, Any]:
    """30 normal keys and values in three dimensions and 20 queries."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    return rng.normal(size=(30, 3)), rng.normal(size=(30, 2)), rng.normal(size=(20, 3))


def smoothed(data: Any, lam: float, two: float = 2.0) -> Any:
    """Kernels of all distances at once, over their sums, times the values."""
    import numpy as np

    keys, values, queries = data
    distances = ((queries[:, None, :] - keys[None, :, :]) ** 2).sum(-1)
    kernels = np.exp(-distances / (two * lam * lam))
    return kernels / kernels.sum(1, keepdims=True) @ values


def attended(data: Any, lam: float, biased: bool) -> list[list[float]]:
    """Dot-product attention at temperature lam², one query after the other."""
    keys, values, queries = (a.tolist() for a in data)
    bias = key_bias(keys, lam) if biased else None
    return [plain_attention(q, keys, values, lam, bias) for q in queries]


def expanded(sign: float = -1.0, cross: float = 2.0) -> Any:
    """q·k/lam² - ‖q‖²/2lam² - ‖k‖²/2lam² for twelve normal pairs in four dimensions, lam = 1.25."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    q, k = rng.normal(size=(2, 12, 4))
    return (cross * (q * k).sum(-1) - (q * q).sum(-1) + sign * (k * k).sum(-1)) / (2 * 1.25**2)


def unexpanded() -> list[float]:
    """The log kernels of the same pairs."""
    import numpy as np

    q, k = np.random.default_rng(SEED).normal(size=(2, 12, 4)).tolist()
    return [log_kernel(a, b, 1.25) for a, b in zip(q, k, strict=True)]


WIDTHS = (2, 64, 128)


def _equal_keys(d_k: int) -> tuple[Any, Any, Any]:
    """16 keys of length √d_k, values that pick single weights out, and a normal query."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    keys = rng.normal(size=(16, d_k))
    keys *= np.sqrt(d_k) / np.linalg.norm(keys, axis=1, keepdims=True)
    return keys, np.eye(16), rng.normal(size=(1, d_k))


def scaled_weights(power: float = 0.5) -> list[Any]:
    """softmax(q·k/d_k^power) for every width."""
    import numpy as np

    out = []
    for d_k in WIDTHS:
        keys, _, q = _equal_keys(d_k)
        weights = np.exp(q @ keys.T / d_k**power)
        out.append((weights / weights.sum()).tolist())
    return out


def gaussian_weights() -> list[Any]:
    """Smoother weights at bandwidth d_k^{1/4} for the same keys."""
    out = []
    for d_k in WIDTHS:
        keys, values, q = (a.tolist() for a in _equal_keys(d_k))
        out.append([nadaraya_watson(q[0], keys, values, bandwidth_of_width(d_k))])
    return out


def _toy_query() -> list[int]:
    return matmul(facts.TOY_X, facts.TOY_W_Q)[0]


def _toy_mean() -> list[float]:
    q, k, v = (matmul(facts.TOY_X, w) for w in (facts.TOY_W_Q, facts.TOY_W_K, facts.TOY_W_V))
    return attention(q, k, v)[1][0]


TOY_NOTE = "from the reconstructed toy; the source prints three of its five keys and values"

ROWS = {
    "c8.bias.match": Property(
        left=lambda: smoothed(sine(), LAM),
        right=lambda: attended(sine(), LAM, biased=True),
        note=f"own data: noise sd 0.2, x uniform on [0, 2π], 60 queries, seed {SEED}",
    ),
    "c8.equal_length": Property(
        left=lambda: smoothed(circle(), LAM),
        right=lambda: attended(circle(), LAM, biased=False),
        note=f"40 keys on the unit circle, 60 queries, seed {SEED}",
    ),
    "c8.random3d": Property(
        left=lambda: smoothed(space(), 1.0),
        right=lambda: attended(space(), 1.0, biased=True),
        note=f"30 normal keys, 20 queries, bandwidth 1, seed {SEED}",
    ),
    "c8.expansion": Property(left=expanded, right=unexpanded, note=f"12 normal pairs, seed {SEED}"),
    "c8.bandwidth.dk": Property(
        left=scaled_weights, right=gaussian_weights, note=f"16 keys of length √d_k for each width, seed {SEED}"
    ),
    "c8.the.mean": Row(_toy_mean, note=TOY_NOTE),
    "c8.the.zero_query": Row(_toy_query, note=TOY_NOTE),
}
