"""One query row through the online softmax, block by block, beside a float64 softmax of the same rounded inputs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from drillgen.simulate.limits import backend_for, interpret_triton, need
from drillgen.simulate.report import Report, facts, table

NUMPY_DTYPES = ("fp64", "fp32", "fp16", "bf16")
SHOWN = 12


@dataclass(frozen=True, slots=True)
class Setting:
    """T keys of width d_k, values of width d_v, `block` keys a step."""

    T: int
    d_v: int
    d_k: int
    block: int
    backend: str
    dtype: str
    device: str
    seed: int


def run(asked: Setting, with_trace: bool) -> Report:
    """Draw q, K and V from N(0, 1), round them to the dtype, and run the recurrence."""
    import numpy as np

    backend, device = backend_for(asked.backend, asked.device, asked.dtype, NUMPY_DTYPES)
    # Inputs and their rounded copy in float64, the scores, and what the back end keeps.
    need(8.0 * asked.T * (3 * (asked.d_k + asked.d_v) + 4), f"a row of {asked.T:,} keys")
    from solvers.simulate.decoding import round_to
    from solvers.simulate.reference import attention_reference

    draw = np.random.default_rng(asked.seed)
    q, k, v = (
        round_to(draw.standard_normal((n, w)), asked.dtype)
        for n, w in ((1, asked.d_k), (asked.T, asked.d_k), (asked.T, asked.d_v))
    )
    wanted = attention_reference(q[None, None], k[None, None], v[None, None])
    path: list[tuple[float, float]] = []
    if backend == "triton":
        o, lse, block = _triton(asked, device, q, k, v)
    else:
        o, lse, path = _recurrence(asked, backend, device, q, k, v)
        block = asked.block
    blocks = math.ceil(asked.T / block)
    data: dict[str, Any] = {
        "max_abs_error_output": float(np.abs(o - wanted.o[0, 0, 0]).max()),
        "max_abs_error_lse": abs(lse - float(wanted.lse[0, 0, 0])),
        "state_numbers": asked.d_v + 2,
        "blocks": blocks,
        "backend": backend,
        "dtype": asked.dtype,
    }
    if with_trace:
        data["trace"] = [{"block": i + 1, "m": m, "l": x} for i, (m, x) in enumerate(path)]
    lines = facts([
        ("keys", f"{asked.T:,} in {blocks:,} blocks of {block:,}"),
        ("back end", f"{backend}, {asked.dtype} inputs, {device}"),
        ("state per query row", f"{asked.d_v + 2} numbers (m, ℓ and {asked.d_v} of u), whatever T is"),
        ("lse = m + ln ℓ", f"{lse:.9g}"),
        ("largest error of the output", f"{data['max_abs_error_output']:.3g}"),
        ("error of lse", f"{data['max_abs_error_lse']:.3g}"),
        ("compared with", "a float64 softmax over the same rounded inputs"),
    ])  # fmt: skip
    if path:
        lines += ["", *_steps(path)]
    return Report(data, lines, lambda figure: _draw(figure, path, asked))


def _recurrence(
    asked: Setting, backend: str, device: str, q: Any, k: Any, v: Any
) -> tuple[Any, float, list[tuple[float, float]]]:
    """(o, lse, (m, ℓ) after every block) by init, update and finalise, in the accumulating dtype."""
    import numpy as np

    from solvers.simulate.state import finalise, init_state, update_state

    wide = "float64" if asked.dtype == "fp64" else "float32"
    if backend == "numpy":
        q, k, v = (x.astype(wide) for x in (q, k, v))
    else:
        import torch

        q, k, v = (torch.from_numpy(x).to(device, getattr(torch, wide)) for x in (q, k, v))
    state = init_state((1,), asked.d_v, like=q)
    path = []
    for start in range(0, asked.T, asked.block):
        keys = slice(start, start + asked.block)
        state = update_state(state, (q @ k[keys].T) / math.sqrt(asked.d_k), v[keys])
        path.append((float(state.m[0]), float(state.l[0])))
    o, lse = finalise(state)
    o = o if backend == "numpy" else o.cpu().numpy()
    return np.asarray(o, dtype=np.float64)[0], float(lse[0]), path


def _triton(asked: Setting, device: str, q: Any, k: Any, v: Any) -> tuple[Any, float, int]:
    """(o, lse, keys a tile) of the Triton kernel; in its interpreter where there is no GPU."""
    import click
    import torch

    if device == "cpu":
        if not interpret_triton():
            from drillgen.output import Refused

            raise Refused("Triton was loaded for a GPU in this process and cannot interpret; set TRITON_INTERPRET=1")
        click.echo("no GPU: the Triton kernel runs in its interpreter (right, but slow)", err=True)
    from solvers.simulate.attention import attention

    kind = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}[asked.dtype]
    tensors = [torch.from_numpy(x)[None, None].to(device, kind) for x in (q, k, v)]
    block = 1 << max(4, (min(asked.block, asked.T, 256) - 1).bit_length())  # a power of two, as tiles are
    o, lse = attention(*tensors, block_q=16, block_k=block, backend="triton")
    return o.double().cpu().numpy()[0, 0, 0], float(lse[0, 0, 0]), block


def _steps(path: list[tuple[float, float]]) -> list[str]:
    """The first and last blocks as a table: m, ℓ, and by what the past was rescaled."""
    rows = []
    for i, (m, x) in enumerate(path):
        if i < SHOWN - 2 or i >= len(path) - 2:
            before = path[i - 1][0] if i else -math.inf
            rows.append([str(i + 1), f"{m:.6g}", f"{x:.6g}", f"{math.exp(before - m):.4g}"])
        elif i == SHOWN - 2:
            rows.append(["…", "", "", ""])
    return table(rows, ["block", "m", "ℓ", "rescale of the past"])


def _draw(figure: Any, path: list[tuple[float, float]], asked: Setting) -> None:
    from drillgen.simulate import plots

    if not path:
        from drillgen.output import Refused

        raise Refused("the Triton kernel keeps its states on the chip; --plot needs --backend numpy or torch")
    plots.states(figure, path, asked.block)
