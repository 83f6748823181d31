"""A simulation's result in its three forms, and the numbers' spelling in tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Report:
    """data: the JSON object. lines: the terminal table. draw: fills a matplotlib figure."""

    data: dict[str, Any]
    lines: list[str]
    draw: Callable[[Any], None]


def table(rows: Sequence[Sequence[str]], head: Sequence[str] = ()) -> list[str]:
    """Columns padded to line up: the first to the left, numbers (all others) to the right."""
    everything = [list(head), *map(list, rows)] if head else [list(r) for r in rows]
    widths = [max(len(r[i]) for r in everything) for i in range(len(everything[0]))]

    def line(row: list[str]) -> str:
        cells = [c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))]
        return "  ".join(cells).rstrip()

    out = [line(r) for r in everything]
    if head:
        out.insert(1, "  ".join("-" * w for w in widths))
    return out


def facts(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Name and value, one pair a line, values lined up on the left."""
    width = max(len(name) for name, _ in pairs)
    return [f"{name.ljust(width)}  {value}" for name, value in pairs]


def size(n: float) -> str:
    """Bytes in the binary unit that reads best, the exact number beside it: 2 GiB (2,147,483,648 bytes)."""
    value, unit = float(n), "bytes"
    for larger in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    if unit == "bytes":
        return f"{n:,.0f} bytes"
    return f"{value:.4g} {unit} ({n:,.0f} bytes)"


def seconds(t: float) -> str:
    """A time with three digits in s, ms or µs."""
    for scale, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if t >= scale:
            return f"{t / scale:.3g} {unit}" if t / scale < 1000 else f"{t / scale:,.0f} {unit}"
    return f"{t:.3g} s"
