"""Stacks of attention layers at random initialization: how fast all tokens become one (card 17)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Collapse:
    """Medians over the stacks, layer 0 (the input) first: relative residual with and without skip connections."""

    pure: list[float]
    residual: list[float]

    @property
    def ratios(self) -> list[float]:
        """r_{l+1}/r_l³ of the pure stacks: of order 1 as long as the cubic law and the arithmetic hold."""
        return [b / a**3 if a > 0 else math.nan for a, b in zip(self.pure, self.pure[1:], strict=False)]


def rank_collapse(
    tokens: int = 32,
    width: int = 64,
    layers: int = 12,
    stacks: int = 20,
    seed: int = 0,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Collapse:
    """Simulate: one head of full width a layer, maps W ~ N(0, 1/width), tokens rescaled to unit mean square after it.

    The residual is r = ‖X − 1x̄ᵀ‖/‖X‖ (Frobenius). The card does not state its set-up; this one meets its figures.
    """
    import numpy as np

    draw = np.random.default_rng(seed)
    found: dict[bool, list[list[float]]] = {False: [], True: []}
    for stack in range(stacks):
        start = draw.normal(size=(tokens, width))
        maps = draw.normal(size=(layers, 3, width, width)) / math.sqrt(width)
        for skip in found:
            x = start / np.sqrt(np.mean(start**2))
            path = [_residual(x)]
            for w_q, w_k, w_v in maps:
                s = (x @ w_q) @ (x @ w_k).T / math.sqrt(width)
                p = np.exp(s - s.max(axis=1, keepdims=True))
                y = (p / p.sum(axis=1, keepdims=True)) @ (x @ w_v)
                x = x + y if skip else y
                x = x / np.sqrt(np.mean(x**2))
                path.append(_residual(x))
            found[skip].append(path)
        if progress is not None:
            progress(stack + 1, stacks)
    pure, residual = (np.median(np.array(found[skip]), axis=0).tolist() for skip in (False, True))
    return Collapse(pure, residual)


def _residual(x: object) -> float:
    import numpy as np

    rows = np.asarray(x)
    return float(np.linalg.norm(rows - rows.mean(axis=0)) / np.linalg.norm(rows))
