"""Requests to serve: fixed lengths, drawn ones, or a trace file. Seeded, and the same on every Python."""

from __future__ import annotations

import csv
import json
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Lengths = Callable[[random.Random], int]

SPELLINGS = "a number, uniform:LOW:HIGH, exp:MEAN or lognormal:MEDIAN:SIGMA"


@dataclass(frozen=True, slots=True)
class Request:
    """arrival: seconds; prompt: tokens to read; output: tokens to produce, at least 1 each."""

    arrival: float
    prompt: int
    output: int


def lengths(text: str) -> Lengths:
    """A length distribution from its spelling: 512, uniform:100:1000, exp:300 (mean), lognormal:200:0.8 (median,
    sigma).

    Drawn lengths are rounded to integers of at least 1. ValueError for anything else.
    """
    name, _, rest = text.strip().partition(":")
    try:
        numbers = [float(x) for x in rest.split(":")] if rest else []
        if not rest:
            fixed = int(name)
            if fixed < 1:
                raise ValueError
            return lambda _draw: fixed
        if not all(math.isfinite(x) and x > 0 for x in numbers):
            raise ValueError
        if name == "uniform":
            low, high = (int(x) for x in numbers)
            if low > high:
                raise ValueError
            return lambda draw: low + int(draw.random() * (high - low + 1))
        if name == "exp":
            (mean,) = numbers
            return lambda draw: max(1, round(-mean * math.log(1 - draw.random())))
        if name == "lognormal":
            median, sigma = numbers
            return lambda draw: max(1, round(median * math.exp(sigma * _normal(draw))))
    except ValueError:
        pass
    raise ValueError(f"lengths are {SPELLINGS}, not {text[:60]!r}")


def _normal(draw: random.Random) -> float:
    """A standard normal number from two uniform ones (Box and Muller)."""
    return math.sqrt(-2 * math.log(1 - draw.random())) * math.cos(2 * math.pi * draw.random())


def requests(count: int, rate: float, prompt: Lengths, output: Lengths, seed: int) -> list[Request]:
    """`count` requests arriving at random (Poisson) at `rate` a second; all at time 0 where rate is 0."""
    draw = random.Random(f"serving/{seed}")
    now, made = 0.0, []
    for _ in range(count):
        if rate > 0:
            now += -math.log(1 - draw.random()) / rate
        made.append(Request(now, prompt(draw), output(draw)))
    return made


def read_trace(path: Path) -> list[Request]:
    """Requests of a file: JSON Lines or CSV with a header, fields arrival (seconds), prompt, output.

    OSError where it cannot be read, ValueError naming the row where a field is missing or no number.
    """
    text = path.read_text("utf-8-sig")
    lines = [line for line in text.splitlines() if line.strip()]
    rows = [json.loads(line) for line in lines] if text.lstrip().startswith("{") else list(csv.DictReader(lines))
    made = []
    for number, row in enumerate(rows, 1):
        try:
            one = Request(float(row["arrival"]), int(row["prompt"]), int(row["output"]))
            if not (math.isfinite(one.arrival) and one.arrival >= 0 and one.prompt >= 1 and one.output >= 1):
                raise ValueError
        except (KeyError, TypeError, ValueError):
            raise ValueError(
                f"{path.name}, request {number}: needs arrival (seconds, 0 or more), prompt and output (1 or more)"
            ) from None
        made.append(one)
    return sorted(made, key=lambda r: r.arrival)
