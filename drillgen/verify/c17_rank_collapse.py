"""Card 17: variance of a uniform head, collapse of random stacks, and the orders in the residual."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from typing import Any

from drillgen.verify.rows import Property, Row
from solvers.c17_rank_collapse import (
    attention_layer,
    collapse,
    cubic_ratios,
    log_depth_bound,
    residual,
    split_logit,
    uniform_variance,
)

SEED = 17
STACK_SEED = 1


def simulated_variance(replicates: int = 8000, T: int = 4096) -> float:
    """Variance over replicates of the mean of T standard normals, drawn in single precision in ten blocks."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    blocks = [
        rng.standard_normal(size=(replicates // 10, T), dtype=np.float32).mean(axis=1, dtype=np.float64)
        for _ in range(10)
    ]
    return float(np.concatenate(blocks).var())


def near_collapse(eps: float) -> tuple[Any, Any, Any]:
    """12 tokens of width 8, a common mean plus deviations of size eps; a score matrix W and a value map; seeded."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    mean, deviations = rng.normal(size=8), residual(rng.normal(size=(12, 8)))
    W_Q, W_K, W_V = rng.normal(scale=8**-0.5, size=(3, 8, 8))
    return mean + eps * deviations, W_Q @ W_K.T / 8**0.5, W_V


def output_residual(eps: float) -> float:
    """‖res(P X W_V)‖ of one attention layer."""
    import numpy as np

    return float(np.linalg.norm(residual(attention_layer(*near_collapse(eps)))))


def slopes() -> list[float]:
    """Decades of output residual per decade of input residual."""
    out = [output_residual(eps) for eps in (1e-2, 1e-3, 1e-4)]
    return [math.log10(a / b) for a, b in pairwise(out)]


def row_departure(eps: float, key_only: bool = True) -> float:
    """‖P - 1 πᵀ‖ with π the softmax of the key-only term (of nothing, a uniform row, if key_only is off)."""
    import numpy as np

    X, W, _ = near_collapse(eps)
    S = X @ W @ X.T
    P = np.exp(S - S.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    mean = X.mean(axis=0)
    common = np.exp((X - mean) @ W.T @ mean) if key_only else np.ones(len(X))
    return float(np.linalg.norm(P - common / common.sum()))


def departure_order(key_only: bool = True) -> float:
    """Decades of the weights' departure from a common row per decade of input residual."""
    return math.log10(row_departure(1e-3, key_only) / row_departure(1e-4, key_only))


@cache
def pure() -> list[float]:
    """Relative residuals of attention-only stacks after 0 to 4 layers."""
    return collapse(4, seed=STACK_SEED)


@cache
def with_skips() -> list[float]:
    """Relative residuals with residual connections after 0 to 12 layers."""
    return collapse(12, skip=True, seed=STACK_SEED)


def iterated_log(C: float = 1.7, r_0: float = 0.5, L: int = 4) -> float:
    """ln r_L by running r' = C r³ layer by layer."""
    r = r_0
    for _ in range(L):
        r = C * r * r * r
    return math.log(r)


def logits_and_residual() -> Any:
    """All logits of one layer, and the residual of its output, straight from the tokens."""
    import numpy as np

    X, W, W_V = near_collapse(0.3)
    return np.concatenate([(X @ W @ X.T).ravel(), residual(attention_layer(X, W, W_V)).ravel()])


def split_and_residual() -> list[float]:
    """The same from the split logits, query-only term left out of the weights, and from Δ acting on R alone."""
    import numpy as np

    X, W, W_V = near_collapse(0.3)
    mean, R = X.mean(axis=0), residual(X)
    parts = np.array([[split_logit(mean.tolist(), a, b, W.tolist()) for b in R.tolist()] for a in R.tolist()])
    logits = parts.sum(axis=2)
    P = np.exp(parts[:, :, 1] + parts[:, :, 2])
    P /= P.sum(axis=1, keepdims=True)
    common = np.exp(parts[0, :, 1]) / np.exp(parts[0, :, 1]).sum()
    out = residual((P - common) @ R @ W_V)
    return [*logits.ravel().tolist(), *out.ravel().tolist()]


PRINTED = (math.sqrt(31 / 32), 0.783, 0.273, 0.0126, 2.2e-6)
STACKS = (
    "20 stacks, 32 tokens, width 64, one full-width head, maps N(0, 1/width), tokens rescaled to unit mean square "
    f"after every layer, median; the source does not state its set-up, this one fits all its figures; seed {STACK_SEED}"
)
ROUGH = STACKS + "; the fall is so steep that only the order of magnitude is meaningful"
LAYER = f"12 tokens, width 8, seed {SEED}"

ROWS = {
    "c17.uniform.var": Row(lambda: uniform_variance(4096, 1.0)),
    "c17.uniform.var_sim": Row(simulated_variance, note=f"8,000 means of 4,096 standard normals, seed {SEED}"),
    "c17.slopes": Row(slopes, note=f"deviations of 0.01, 0.001 and 0.0001 through one layer; {LAYER}"),
    "c17.pure.r1": Row(lambda: pure()[1], note=STACKS + "; 40 such batches give 0.785, sd 0.012"),
    "c17.pure.r2": Row(lambda: pure()[2], note=STACKS + "; 40 such batches give 0.307, sd 0.028"),
    "c17.pure.r3": Row(lambda: pure()[3], note=ROUGH),
    "c17.pure.r4": Row(lambda: pure()[4], note=ROUGH),
    "c17.ratios.printed": Row(
        lambda: cubic_ratios(PRINTED), note="r_0 is not printed; √(31/32) is what 32 independent tokens have"
    ),
    "c17.residual.r5": Row(lambda: with_skips()[5], note=STACKS + "; skip added before the rescaling"),
    "c17.residual.r12": Row(lambda: with_skips()[12], note=STACKS + "; skip added before the rescaling"),
    "c17.exponent.triples": Property(left=iterated_log, right=lambda: log_depth_bound(1.7, 0.5, 4)),
    "c17.ten_fold": Row(
        lambda: output_residual(1e-3) / output_residual(1e-4),
        note=f"output residual at a deviation of 0.001 over that at 0.0001; {LAYER}",
    ),
    "c17.split": Property(left=logits_and_residual, right=split_and_residual, note=LAYER),
    "c17.delta_order2": Row(departure_order, note=f"from 0.001 to 0.0001; {LAYER}"),
}
