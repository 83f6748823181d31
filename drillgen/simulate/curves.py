"""Rank collapse over depth, and the entropy of softmax rows over the spread of their logits."""

from __future__ import annotations

import math
from typing import Any

from drillgen.progress import Progress
from drillgen.simulate.limits import need
from drillgen.simulate.report import Report, table


def rank_collapse(tokens: int, width: int, layers: int, stacks: int, seed: int) -> Report:
    """Median relative residual of random attention stacks after each layer, with and without skips (card 17)."""
    from solvers.simulate.collapse import rank_collapse as simulate

    need(8.0 * (3 * layers * width * width * 2 + 6 * tokens * width + 3 * tokens * tokens), "one stack")
    with Progress("stacks", stacks) as progress:
        found = simulate(tokens, width, layers, stacks, seed, progress=lambda *_: progress.step())
    data: dict[str, Any] = {
        "tokens": tokens, "width": width, "layers": layers, "stacks": stacks, "seed": seed,
        "pure": found.pure, "residual": found.residual,
        "ratios": ["nan" if math.isnan(x) else x for x in found.ratios],
    }  # fmt: skip
    rows = [
        [
            str(i),
            f"{p:.3g}",
            "" if i == 0 or p < 1e-12 else f"{found.ratios[i - 1]:.2f}",
            f"{r:.3g}",
        ]
        for i, (p, r) in enumerate(zip(found.pure, found.residual, strict=True))
    ]
    lines = [
        f"Relative residual of {tokens} tokens of width {width}, median of {stacks} random stacks",
        "",
        *table(rows, ["layer", "attention alone", "r / (r before)³", "with skips"]),
        "",
        "Below about 1e-15 the residual is rounding: float64 cannot tell the tokens apart.",
    ]

    def draw(figure: Any) -> None:
        from drillgen.simulate import plots

        plots.collapse(figure, found)

    return Report(data, lines, draw)


def entropy(T: int, sigmas: list[float], rows: int, seed: int) -> Report:
    """Median entropy of softmax rows for each spread of the logits, beside ln T − σ²/2 (card 3)."""
    from solvers.simulate.entropy import entropy_curve, limit

    need(8.0 * 4 * T, f"a row of {T:,} logits")
    with Progress("spreads", len(sigmas)) as progress:
        found = entropy_curve(T, sigmas, rows, seed, progress=lambda *_: progress.step())
    data: dict[str, Any] = {
        "T": T, "rows": rows, "seed": seed, "ln_T": math.log(T), "sigma_limit": limit(T),
        "curve": [
            {"sigma": x.sigma, "entropy": x.entropy, "approximation": x.approximation,
             "effective_keys": x.effective_keys, "top_weight": x.top_weight}
            for x in found
        ],
    }  # fmt: skip
    cells = [
        [
            f"{x.sigma:g}",
            f"{x.entropy:.3f}",
            f"{x.approximation:.3f}",
            f"{x.effective_keys:,.1f}",
            f"{x.top_weight:.3g}",
        ]
        for x in found
    ]
    lines = [
        f"Median of {rows} softmax rows over {T:,} independent logits N(0, σ²); ln T = {math.log(T):.3f}",
        "",
        *table(cells, ["σ", "entropy (nats)", "ln T − σ²/2", "effective keys e^H", "largest weight"]),
        "",
        f"The approximation ends where it reaches 0, at σ = √(2 ln T) = {limit(T):.2f}.",
    ]

    def draw(figure: Any) -> None:
        from drillgen.simulate import plots

        plots.entropy(figure, found, T)

    return Report(data, lines, draw)
