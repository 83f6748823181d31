"""Serving a stream of requests: times and memory of the discrete-event simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drillgen.output import Refused
from drillgen.progress import Progress
from drillgen.simulate.report import Report, facts, seconds, size, table
from solvers.errors import BadParameter

POINTS = 400


@dataclass(frozen=True, slots=True)
class Setting:
    """The load, the machine and the scheduler's rules, as on the command line."""

    model: str
    accelerator: str
    gpus: int
    dtype: str
    requests: int
    rate: float
    prompt: str
    output: str
    trace: str | None
    policy: str
    block: int
    max_batch: int
    max_tokens: int
    max_len: int | None
    flops_efficiency: float
    bandwidth_efficiency: float
    seed: int


def run(asked: Setting) -> Report:
    """Serve the requests; every time in the result is a lower bound from the roofline."""
    from solvers import facts as known
    from solvers.simulate import serving
    from solvers.simulate.roofline import Machine

    model, accelerator = known.model(asked.model), known.accelerator(asked.accelerator)
    machine = Machine.of(
        accelerator, asked.gpus, flops_share=asked.flops_efficiency, bandwidth_share=asked.bandwidth_efficiency
    )
    load = _load(asked)
    rules = serving.Rules(
        block=asked.block, max_batch=asked.max_batch, max_tokens=asked.max_tokens,
        max_len=asked.max_len or model.context, policy=asked.policy,
    )  # fmt: skip
    with Progress("requests served", len(load)) as progress:
        try:
            outcome = serving.simulate(
                model, machine, load, rules, dtype=asked.dtype,
                progress=lambda done, _all: progress.step(done - progress.done),
            )  # fmt: skip
        except serving.WeightsDoNotFit as error:
            raise Refused(f"{error}; more --gpus or another --accelerator") from None
    data = _data(asked, outcome)
    return Report(data, _lines(asked, model, accelerator, data), lambda f: _draw(f, outcome, model))


def _load(asked: Setting) -> list[Any]:
    from solvers.simulate import workload

    try:
        if asked.trace is not None:
            return workload.read_trace(Path(asked.trace))
        draws = workload.lengths(asked.prompt), workload.lengths(asked.output)
    except (ValueError, UnicodeDecodeError) as error:
        raise BadParameter(str(error)) from None
    return workload.requests(asked.requests, asked.rate, *draws, asked.seed)


def _data(asked: Setting, outcome: Any) -> dict[str, Any]:
    done = outcome.finished
    produced = sum(s.produced for s in done)
    first = [s.first - s.request.arrival for s in done]
    gaps = [(s.done - s.first) / (s.produced - 1) for s in done if s.produced > 1]
    total = outcome.seconds
    return {
        "model": asked.model, "accelerator": asked.accelerator, "gpus": asked.gpus, "policy": asked.policy,
        "dtype": asked.dtype, "times": "lower bounds",
        "flops_efficiency": asked.flops_efficiency, "bandwidth_efficiency": asked.bandwidth_efficiency,
        "requests": len(done) + len(outcome.rejected), "finished": len(done), "rejected": len(outcome.rejected),
        "preemptions": sum(s.preempted for s in done), "steps": outcome.totals.steps, "seconds": total,
        "prompt_tokens": sum(s.request.prompt for s in done), "output_tokens": produced,
        "recomputed_tokens": outcome.recomputed,
        "output_tokens_per_second": produced / total if total else 0.0,
        "time_to_first_token": _spread(first), "time_per_output_token": _spread(gaps),
        "pool_bytes": outcome.pool_blocks * outcome.block * outcome.per_token,
        "peak_held_bytes": outcome.peak_held_bytes, "peak_used_bytes": outcome.peak_used_bytes,
        "waste": outcome.waste,
        "memory": [
            {"t": m.start, "held_bytes": m.held_tokens * outcome.per_token,
             "used_bytes": m.used_tokens * outcome.per_token, "running": m.running, "waiting": m.waiting}
            for m in thinned(outcome.moments)
        ],
    }  # fmt: skip


def thinned(moments: Sequence[Any]) -> Sequence[Any]:
    """At most POINTS of them, evenly, the first and last kept."""
    if len(moments) <= POINTS:
        return moments
    return [moments[round(i * (len(moments) - 1) / (POINTS - 1))] for i in range(POINTS)]


def _spread(values: list[float]) -> dict[str, float] | None:
    """Mean, median, 95 % and largest; None where there is no value."""
    if not values:
        return None
    ordered = sorted(values)

    def at(share: float) -> float:
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    return {"mean": sum(values) / len(values), "p50": at(0.5), "p95": at(0.95), "max": ordered[-1]}


def _lines(asked: Setting, model: Any, accelerator: Any, data: dict[str, Any]) -> list[str]:
    pool = data["pool_bytes"]
    share = f"{data['peak_held_bytes'] / pool:.1%} of it" if pool else "no pool"
    lines = facts([
        ("served", f"{model.name} on {asked.gpus} × {accelerator.name}, {asked.policy} cache in {asked.dtype}"),
        ("requests", f"{data['finished']:,} finished, {data['rejected']:,} rejected, "
         f"{data['preemptions']:,} preemptions"),
        ("tokens", f"{data['prompt_tokens']:,} read, {data['output_tokens']:,} produced, "
         f"{data['recomputed_tokens']:,} recomputed"),
        ("time", f"{seconds(data['seconds'])} in {data['steps']:,} steps"),
        ("throughput", f"{data['output_tokens_per_second']:,.0f} output tokens/s"),
        ("cache pool", size(pool)),
        ("most of it held", f"{size(data['peak_held_bytes'])}, {share}"),
        ("held but unused", f"{data['waste']:.1%} on average over time"),
    ])  # fmt: skip
    rows = [
        [name, *(seconds(x[k]) for k in ("mean", "p50", "p95", "max"))]
        for name, x in (
            ("time to first token", data["time_to_first_token"]),
            ("time per output token", data["time_per_output_token"]),
        )
        if x
    ]
    if rows:
        lines += ["", *table(rows, ["", "mean", "median", "95 %", "longest"])]
    return [*lines, "", "Times are lower bounds: the roofline without launches, communication or imperfect overlap."]


def _draw(figure: Any, outcome: Any, model: Any) -> None:
    from drillgen.simulate import plots

    plots.memory(figure, outcome, model)
