"""Card 18: published numbers of sinks and QK-norm. Random vectors and rows are drawn by `Draws` under fixed keys."""

from __future__ import annotations

import math
from collections.abc import Callable

from drillgen.verify.rows import Property, Row
from drillgen.verify.toy import bank_row, random_rows
from solvers.algebra import dot, softmax
from solvers.c18_sinks import advantage, gain_needed, kernel_bandwidth, sink_share, weight_cap
from solvers.draws import Draws

G, KEYS = 3.0, 50
"""Gain and number of keys of the row on the cap."""
SMALL = 1 / math.sqrt(128)
"""The gain of unit vectors under the usual scale at d_k = 128."""

GRID = [(w, T) for w in (0.01, 0.3, 0.5, 0.9, 0.999) for T in (2, 3, 128, 1024, 131072)]


def unit(draws: Draws, width: int) -> list[float]:
    """A random direction."""
    x = [draws.gauss() for _ in range(width)]
    length = math.sqrt(math.fsum(v * v for v in x))
    return [v / length for v in x]


def recovered(inverse: Callable[[float, int], float] = advantage) -> list[float]:
    """The share at the required advantage, for several shares and lengths."""
    return [sink_share(inverse(w, T), T) for w, T in GRID]


def top_weights(gain: float = G, opposed: float = -1.0) -> list[float]:
    """Largest weights of 300 rows of random unit vectors in 2 to 8 dimensions (the cap where they stay below it), and
    of a row with one key along the query and the others opposed to it."""
    draws, cap = Draws("verify/c18/cap"), weight_cap(G, KEYS)
    out = []
    for _ in range(300):
        width = draws.integer(2, 8)
        q = unit(draws, width)
        out.append(max(cap, *softmax([gain * dot(q, unit(draws, width)) for _ in range(KEYS)])))
    q = unit(draws, 4)
    keys = [q] + [[opposed * v for v in q]] * (KEYS - 1)
    return [*out, max(softmax([gain * dot(q, k) for k in keys]))]


def caps() -> list[float]:
    """The cap, once for every row."""
    return [weight_cap(G, KEYS)] * 301


def pairs() -> list[tuple[list[float], list[float]]]:
    """Two hundred pairs of unit vectors in 2 to 64 dimensions."""
    draws = Draws("verify/c18/pairs")
    out = []
    for _ in range(200):
        width = draws.integer(2, 64)
        out.append((unit(draws, width), unit(draws, width)))
    return out


def squared_distances() -> list[float]:
    """|q − k|² of all pairs."""
    return [math.fsum((a - b) ** 2 for a, b in zip(q, k, strict=True)) for q, k in pairs()]


def from_cosines(lead: float = 2.0) -> list[float]:
    """2 − 2 q·k of all pairs."""
    return [2 - lead * dot(q, k) for q, k in pairs()]


def totals(row: Callable[[list[float]], list[float]] | None = None) -> list[float]:
    """Sums of 200 random softmax rows of 2 to 100 keys."""
    rows = random_rows("c18/sums", 200, range(2, 101), sd=3.0)
    return [math.fsum(p if row is None else row(p)) for p in rows]


ROWS: dict[str, Row | Property] = {
    "c18.a90.1024": Row(lambda: advantage(0.9, 1024)),
    "c18.a90.128": Row(lambda: advantage(0.9, 128)),
    "c18.a90.4096": Row(lambda: advantage(0.9, 4096)),
    "c18.share.a5": Row(lambda: sink_share(5, 1024)),
    "c18.toy.the_share": Row(lambda: bank_row()[0]),
    "c18.cap.g5": Row(lambda: weight_cap(5, 4096)),
    "c18.cap.unit": Row(lambda: weight_cap(SMALL, 4096)),
    "c18.min_gain": Row(lambda: gain_needed(0.9, 4096)),
    "c18.bandwidth": Row(lambda: kernel_bandwidth(SMALL), "128^(1/4), as on card 8"),
    "c18.inverse": Property(recovered, lambda: [w for w, _ in GRID], note="25 shares and lengths"),
    "c18.cap.valid_and_tight": Property(
        top_weights, caps, limit=1e-14, note="300 random rows do not exceed the cap; opposed keys meet it"
    ),
    "c18.unit_distance": Property(squared_distances, from_cosines, note="200 random pairs"),
    "c18.sum_one": Property(totals, lambda: [1.0] * 200, note="200 random rows of up to 100 keys"),
}
