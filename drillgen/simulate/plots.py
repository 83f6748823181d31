"""Figures of the simulations, and writing them as SVG or PNG. matplotlib is imported here only, and only for --plot."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import PurePath
from typing import Any

from drillgen.output import MissingExtra, whole

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#767676"
FORMATS = ("svg", "png")
STYLE = {
    "font.size": 10, "axes.titlesize": 11, "axes.titlelocation": "left", "axes.spines.top": False,
    "axes.spines.right": False, "axes.grid": True, "grid.color": "#E5E5E5", "grid.linewidth": 0.8,
    "axes.axisbelow": True, "legend.frameon": False, "figure.facecolor": "white", "svg.hashsalt": "drillgen",
    "svg.fonttype": "path",
}  # fmt: skip


def kind_of(name: str) -> str | None:
    """ "svg" or "png" by the file's ending, None for any other."""
    ending = PurePath(name).suffix.lower().lstrip(".")
    return ending if ending in FORMATS else None


def save(draw: Callable[[Any], None], name: str) -> None:
    """Draw a figure and write it whole. `MissingExtra` without matplotlib; the same input gives the same file."""
    if not find_spec("matplotlib"):
        raise MissingExtra("matplotlib", "plot", "--plot")
    import matplotlib as mpl
    from matplotlib.figure import Figure

    kind = kind_of(name) or "svg"
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.2, 4.4), layout="constrained")
        draw(figure)
        stream = io.BytesIO()
        figure.savefig(stream, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
    with whole(name, "wb") as out:
        out.write(stream.getvalue())


def states(figure: Any, path: Sequence[tuple[float, float]], block: int) -> None:
    """m and ℓ after every block; the blocks that raise the maximum are marked."""
    top, bottom = figure.subplots(2, 1, sharex=True)
    n = range(1, len(path) + 1)
    m, total = [s[0] for s in path], [s[1] for s in path]
    raised = [i for i in n if i == 1 or m[i - 1] > m[i - 2]]
    marks = {"marker": "o", "markersize": 4, "linestyle": "none", "color": ORANGE}
    top.step(n, m, where="post", color=BLUE)
    top.plot(raised, [m[i - 1] for i in raised], **marks, label="this block raised the maximum")
    top.set_ylabel("m")
    top.set_title(f"Running maximum m and normalizer ℓ, {len(path)} blocks of {block} keys")
    top.legend(loc="lower right")
    bottom.plot(n, total, color=BLUE)
    bottom.plot(raised, [total[i - 1] for i in raised], **marks)
    bottom.set(ylabel="ℓ", xlabel="block", ylim=(0, None))


def roofline(figure: Any, machine: Any, model: Any, intensity: float) -> None:
    """The machine's roofline on log axes, with decode attention of the model and of MHA and MQA on it."""
    axes = figure.subplots()
    ridge = machine.flops / machine.bandwidth
    low, high = 0.25, max(4096.0, ridge * 8)
    axes.loglog([low, ridge, high], [low * machine.bandwidth, machine.flops, machine.flops], color=BLUE, linewidth=2)
    axes.plot([ridge], [machine.flops], "o", color=BLUE, markersize=5)
    axes.annotate(
        f"ridge {ridge:.0f} FLOP/byte", (ridge, machine.flops), xytext=(6, -14), textcoords="offset points", color=BLUE
    )
    reached = min(machine.flops, intensity * machine.bandwidth)
    axes.plot([intensity], [reached], "o", color=ORANGE, markersize=8)
    peak = machine.flops / 1e12
    axes.annotate(
        f"{model.name} decode attention\n{intensity:g} FLOP/byte: {reached / 1e12:.3g} of {peak:,.0f} TFLOP/s",
        (intensity, reached), xytext=(10, -26), textcoords="offset points", color=ORANGE,
    )  # fmt: skip
    axes.set(
        xlabel="FLOP per byte moved", ylabel="FLOP/s at most", xlim=(low, high),
        title=f"{machine.name}: {machine.bandwidth / 1e9:,.0f} GB/s, {peak:,.0f} TFLOP/s (16-bit, dense)",
    )  # fmt: skip


def memory(figure: Any, outcome: Any, model: Any) -> None:
    """Bytes held and used over time against the pool, with the requests running and waiting below."""
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    t = [m.start for m in outcome.moments] + [outcome.seconds]
    gib = outcome.per_token / 2**30
    held = [m.held_tokens * gib for m in outcome.moments]
    used = [m.used_tokens * gib for m in outcome.moments]
    top.step(t, [*held, 0], where="post", color=ORANGE, label="blocks held")
    top.fill_between(t, [*used, 0], step="post", color=BLUE, alpha=0.35, linewidth=0, label="tokens cached")
    pool = outcome.pool_blocks * outcome.block * gib
    if held and max(held) > pool / 3:
        top.axhline(pool, color=GREY, linestyle="--", linewidth=1)
        top.annotate("pool", (1, pool), xycoords=("axes fraction", "data"), ha="right", va="bottom", color=GREY)
    top.set(ylabel="GiB", ylim=(0, None), title=f"KV cache of {model.name} over time (pool {pool:.1f} GiB)")
    above = {"loc": "lower right", "bbox_to_anchor": (1, 1), "ncols": 2, "borderaxespad": 0.2}
    top.legend(**above)
    bottom.step(t, [*(m.running for m in outcome.moments), 0], where="post", color=GREEN, label="running")
    bottom.step(t, [*(m.waiting for m in outcome.moments), 0], where="post", color=GREY, label="waiting")
    bottom.set(ylabel="requests", xlabel="seconds (lower bound)", ylim=(0, None))
    bottom.legend(**above)


def collapse(figure: Any, found: Any) -> None:
    """Relative residual after each layer on a logarithmic axis."""
    axes = figure.subplots()
    layers = range(len(found.pure))
    axes.semilogy(layers, found.pure, "o-", color=ORANGE, markersize=4)
    axes.semilogy(layers, found.residual, "o-", color=BLUE, markersize=4)
    axes.axhline(1e-15, color=GREY, linestyle=":", linewidth=1)
    at = len(found.pure) - 1
    axes.annotate("rounding of float64", (at, 1e-15), ha="right", va="bottom", color=GREY)
    axes.annotate(
        "attention alone", (min(3, at), found.pure[min(3, at)]), xytext=(8, 4), textcoords="offset points", color=ORANGE
    )
    axes.annotate(
        "with skip connections", (at, found.residual[-1]), xytext=(0, 24), textcoords="offset points", ha="right",
        color=BLUE,
    )  # fmt: skip
    axes.set(xlabel="layer", ylabel="relative residual r", title="Rank collapse: distance from all tokens being one")


def entropy(figure: Any, curve: Sequence[Any], T: int) -> None:
    """Simulated median entropy against σ, the approximation as far as it reaches, and the largest possible."""
    import math

    from solvers.simulate.entropy import limit

    axes = figure.subplots()
    end = limit(T)
    grid = [end * i / 100 for i in range(101)]
    axes.plot(grid, [math.log(T) - s**2 / 2 for s in grid], color=ORANGE, linestyle="--", label="ln T − σ²/2")
    axes.plot([x.sigma for x in curve], [x.entropy for x in curve], "o-", color=BLUE, markersize=4, label="simulated")
    axes.axhline(math.log(T), color=GREY, linewidth=1, linestyle=":")
    axes.annotate(
        f"ln T = {math.log(T):.2f}: uniform", (1, math.log(T)), xycoords=("axes fraction", "data"), ha="right",
        va="bottom", color=GREY,
    )  # fmt: skip
    axes.set(
        xlabel="spread σ of the logits", ylabel="row entropy (nats)", ylim=(0, math.log(T) * 1.08),
        xlim=(0, max(end, max((x.sigma for x in curve), default=end))),
        title=f"Entropy of softmax rows over {T:,} keys",
    )  # fmt: skip
    axes.legend(loc="center right")
