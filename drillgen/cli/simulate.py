"""`drillgen simulate`: online softmax, KV caches, serving, rank collapse and entropy, run for real."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from drillgen.cli.selectors import ParamType, json_option

if TYPE_CHECKING:
    from drillgen.simulate.report import Report

F = TypeVar("F", bound=Callable[..., Any])
SHARE = click.FloatRange(0, 1, min_open=True)


class Count(ParamType[int]):
    """A whole number with bounds so wide that help need not print them; what is outside is told when it is met."""

    name = "integer"

    def __init__(self, least: int = 1, most: int = 10**12) -> None:
        self.least, self.most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            found = int(value)
        except ValueError:
            self.fail(f"{value!r} is no whole number.", param, ctx)
        if found < self.least:
            self.fail(f"{value} is less than {self.least}.", param, ctx)
        if found > self.most:
            self.fail(f"{value} is more than {self.most:,}.", param, ctx)
        return found

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return "N"


COUNT = Count()


class Simulations(click.Group):
    """Offers the nearest name for one that it does not know."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            from solvers.errors import Unknown

            raise click.UsageError(str(Unknown("simulation", args[0], self.commands)), ctx)
        return super().resolve_command(ctx, args)


class DType(ParamType[str]):
    """A storage format by either of its names: fp16 or float16, bf16 or bfloat16, fp32, fp64, fp8, int8."""

    name = "dtype"

    def __init__(self, *known: str) -> None:
        self.known = known

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        name = str(value).lower().replace("bfloat", "bf").replace("float", "fp")
        if name not in self.known:
            self.fail(f"{value!r} is not one of {', '.join(self.known)}.", param, ctx)
        return name

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return f"[{'|'.join(self.known)}]"


def _plot_name(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    if value is not None:
        from drillgen.simulate.plots import kind_of

        if kind_of(value) is None:
            raise click.BadParameter(f"{value}: the file's name ends in .svg or .png.")
    return value


def output(command: F) -> F:
    """--plot and --json."""
    plot = click.option("--plot", metavar="FILE", callback=_plot_name, help="Also draw FILE.svg or FILE.png.")
    return plot(json_option(command))


def machine(command: F) -> F:
    """--backend and --device."""
    backend = click.option(
        "--backend", type=click.Choice(["auto", "numpy", "torch", "triton"]), default="auto", show_default=True,
        help="What computes; auto is numpy on the CPU, Triton on CUDA.",
    )  # fmt: skip
    device = click.option(
        "--device", type=click.Choice(["auto", "cpu", "cuda"]), default="auto", show_default=True, help="Where."
    )
    return backend(device(command))


seed = click.option("--seed", type=Count(0, 10**18), default=0, show_default=True, help="Of the random draws.")


@click.group(cls=Simulations, context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Run what the cards end in: online softmax, a KV cache, serving, rank collapse, entropy.

    \b
    drillgen simulate online-softmax --T 4096 --block 128 --dtype fp32
    drillgen simulate kv-cache --model llama2-7b --T 4096 --accelerator A100-80GB --plot roofline.png
    drillgen simulate serving --requests 500 --rate 8 --plot memory.svg
    """


@command.command("online-softmax", short_help="One row in blocks, m, ℓ and u at every step.")
@click.option("--T", "T", type=COUNT, default=4096, show_default=True, help="Keys in the row.")
@click.option("--d-v", type=COUNT, default=64, show_default=True, help="Width of a value.")
@click.option("--d-k", type=COUNT, default=64, show_default=True, help="Width of a key.")
@click.option("--block", type=COUNT, default=128, show_default=True, help="Keys a block.")
@click.option(
    "--dtype", type=DType("fp64", "fp32", "fp16", "bf16"), default="fp32", show_default=True,
    help="What the inputs are rounded to; 16-bit ones accumulate in fp32.",
)  # fmt: skip
@click.option("--trace", is_flag=True, help="With --json: m and ℓ after every block.")
@machine
@seed
@output
def online_softmax(plot: str | None, as_json: bool, **asked: Any) -> None:
    """One query row, block by block, against a float64 softmax of the same rounded inputs (card 15)."""
    from drillgen.simulate import online

    trace = asked.pop("trace")
    _show(online.run(online.Setting(**asked), trace), plot, as_json)


@command.command("kv-cache", short_help="Bytes, fit and decode time of a cache.")
@click.option("--model", default="llama2-7b", show_default=True, help="A model by its id.")
@click.option("--T", "T", type=COUNT, default=4096, show_default=True, help="Tokens a sequence.")
@click.option("--batch", type=COUNT, default=1, show_default=True, help="Sequences.")
@click.option(
    "--dtype", type=DType("fp64", "fp32", "fp16", "bf16", "fp8", "int8"), default="fp16", show_default=True,
    help="Of the cached numbers.",
)  # fmt: skip
@click.option("--accelerator", default="A100-80GB", show_default=True, help="An accelerator by its id.")
@click.option(
    "--layout", type=click.Choice(["contiguous", "paged", "sink-window"]), default="contiguous", show_default=True,
    help="How the tokens lie.",
)  # fmt: skip
@click.option("--page", type=COUNT, default=16, show_default=True, help="Tokens a page (paged).")
@click.option("--sinks", type=Count(0), default=4, show_default=True, help="First tokens kept (sink-window).")
@click.option("--window", type=COUNT, default=512, show_default=True, help="Newest tokens kept (sink-window).")
@click.option("--allocate", is_flag=True, help="Take the memory for real, and say how much appeared.")
@machine
@seed
@output
def kv_cache(plot: str | None, as_json: bool, **asked: Any) -> None:
    """A model's cache: its bytes measured on its arrays, how many sequences fit, how fast it decodes (cards 13, 14)."""
    from drillgen.simulate import kv

    _show(kv.run(kv.Setting(**asked)), plot, as_json)


@command.command(short_help="Many requests on one cache.")
@click.option("--model", default="llama2-7b", show_default=True, help="A model by its id.")
@click.option("--accelerator", default="A100-80GB", show_default=True, help="An accelerator by its id.")
@click.option("--gpus", type=Count(1, 4096), default=1, show_default=True, help="How many share the model.")
@click.option(
    "--dtype", type=DType("fp64", "fp32", "fp16", "bf16", "fp8", "int8"), default="fp16", show_default=True,
    help="Of the cached numbers.",
)  # fmt: skip
@click.option("--requests", type=Count(1, 10**6), default=200, show_default=True, help="How many.")
@click.option(
    "--rate",
    type=click.FloatRange(0),
    metavar="X",
    default=4.0,
    show_default=True,
    help="Arrivals a second; 0: at once.",
)
@click.option("--prompt", default="lognormal:400:0.8", show_default=True, help="Prompt lengths.")
@click.option("--output", "output", default="exp:200", show_default=True, help="Output lengths.")
@click.option("--trace", type=click.Path(dir_okay=False), help="Requests from a CSV or JSON Lines file instead.")
@click.option(
    "--policy", type=click.Choice(["paged", "reserved"]), default="paged", show_default=True,
    help="Blocks as tokens come, or the longest length set aside.",
)  # fmt: skip
@click.option("--block", type=Count(1, 65536), default=16, show_default=True, help="Tokens a block.")
@click.option("--max-batch", type=Count(1, 10**6), default=256, show_default=True, help="Requests at once.")
@click.option("--max-tokens", type=COUNT, default=8192, show_default=True, help="Tokens a step works on.")
@click.option("--max-len", type=COUNT, help="Longest prompt plus output served (the model's context).")
@click.option(
    "--flops-efficiency", type=SHARE, metavar="X", default=1.0, show_default=True, help="Share of peak FLOP/s reached."
)
@click.option(
    "--bandwidth-efficiency",
    type=SHARE,
    metavar="X",
    default=1.0,
    show_default=True,
    help="Share of bandwidth reached.",
)
@seed
@output
def serving(plot: str | None, as_json: bool, **asked: Any) -> None:
    """Many requests on one cache: admission, paging, preemption, continuous batching; times are lower bounds.

    Lengths are a number, uniform:LOW:HIGH, exp:MEAN or lognormal:MEDIAN:SIGMA.
    """
    from drillgen.simulate import serve

    _show(serve.run(serve.Setting(**asked)), plot, as_json)


@command.command("rank-collapse", short_help="Attention alone, layer upon layer.")
@click.option("--tokens", type=Count(1, 10**6), default=32, show_default=True, help="Tokens a stack reads.")
@click.option("--width", type=Count(1, 10**5), default=64, show_default=True, help="Width of a token.")
@click.option("--layers", type=Count(1, 10**4), default=12, show_default=True, help="Depth.")
@click.option("--stacks", type=Count(1, 10**5), default=20, show_default=True, help="Random stacks.")
@seed
@output
def rank_collapse(plot: str | None, as_json: bool, **asked: int) -> None:
    """How fast attention alone turns all tokens into one, and what skip connections change (card 17)."""
    from drillgen.simulate import curves

    _show(curves.rank_collapse(**asked), plot, as_json)


class Numbers(ParamType[list[float]]):
    """A list of numbers, 0 or more each: 0.5,1,2."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[float]:
        try:
            found = [float(x) for x in str(value).split(",") if x.strip()]
        except ValueError:
            found = []
        if not found or not all(0 <= x < 1e6 for x in found):
            self.fail(f"{value!r} is no list of numbers from 0 on, like 0.5,1,2.", param, ctx)
        return found


@command.command(short_help="Entropy of softmax rows by spread.")
@click.option("--T", "T", type=COUNT, default=4096, show_default=True, help="Keys in a row.")
@click.option(
    "--sigma", type=Numbers(), default="0,0.5,1,1.5,2,3,4,6,8,11.3", show_default=True, help="Spreads of the logits."
)
@click.option("--rows", type=Count(1, 10**6), default=200, show_default=True, help="Rows for each spread.")
@seed
@output
def entropy(T: int, sigma: list[float], rows: int, seed: int, plot: str | None, as_json: bool) -> None:
    """Entropy of softmax rows as the logits spread, beside ln T − σ²/2 (card 3)."""
    from drillgen.simulate import curves

    _show(curves.entropy(T, sigma, rows, seed), plot, as_json)


def _show(report: Report, plot: str | None, as_json: bool) -> None:
    """The figure first, so that a missing matplotlib is said before anything is printed; then JSON or the table."""
    if plot is not None:
        from drillgen.simulate import plots

        plots.save(report.draw, plot)
    if as_json:
        click.echo(json.dumps(report.data, ensure_ascii=False))
    else:
        for line in report.lines:
            click.echo(line)
