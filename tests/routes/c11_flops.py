"""Independent routes for card 11: multiply-adds counted product by product, crossovers found by search."""

import json
from fractions import Fraction
from pathlib import Path

import solvers

SHAPES = {r["id"]: r for r in json.loads((Path(solvers.__file__).parent / "data" / "models.json").read_text("utf-8"))}


def _matmul(m, k, n):
    """Counts instead of multiplying: one output at a time, where that is few; else one row at a time."""
    a_row = sum(2 for _ in range(k))
    if m * n <= 5000:
        return sum(a_row for _ in range(m) for _ in range(n))
    return sum([a_row * n] * m)


def _products(v, T):
    """Every matrix product of the layer as (m, k, n), with what it is."""
    r = SHAPES[v["model"]]
    d, h, kv, e, f = (r[x] for x in ("d", "h", "h_kv", "d_h", "d_ff"))
    out = [
        ("linear", (T, d, h * e)),
        ("linear", (T, h * e, d)),
        ("linear", (T, d, kv * e)),
        ("linear", (T, d, kv * e)),
    ]
    out += [("pairs", (T, e, T)) for _ in range(h)] + [("pairs", (T, T, e)) for _ in range(h)]
    return [*out, ("ffn", (T, d, f)), ("ffn", (T, d, f)), ("ffn", (T, f, d))]


def _count(v, T, causal=False):
    total = {"linear": Fraction(0), "pairs": Fraction(0), "ffn": Fraction(0)}
    seen = sum(range(1, T + 1))
    for what, (m, k, n) in _products(v, T):
        cost = Fraction(2 * m * k * n)
        total[what] += cost * seen / T**2 if causal and what == "pairs" else cost
    return total


def _share(v, causal):
    c = _count(v, v["T"], causal)
    return c["pairs"] / sum(c.values())


def _search(excess):
    """The least T at which a rising function of T is no longer negative."""
    low, high = 1, 2
    while excess(high) < 0:
        low, high = high, 2 * high
    while high - low > 1:
        mid = (low + high) // 2
        low, high = (mid, high) if excess(mid) < 0 else (low, mid)
    return high


def _crossover(v):
    def excess(T):
        c = _count(v, T)
        return c["pairs"] - c["linear"] - c["ffn"]

    T = _search(excess)
    assert excess(T) == 0
    return T


def _crossover_causal(v):
    """Tokens come one by one: token t meets t keys; stop when the pairs have caught up with the weights."""
    d, f = v["d"], v["d_ff"]
    weights, behind, t = 4 * 2 * d * d + 3 * 2 * d * f, 0, 0
    while True:
        t += 1
        behind += 4 * t * d - weights
        if behind >= 0:
            assert behind == 0
            return t


def _doubling(v):
    return sum(_count(v, 2 * v["T"]).values()) / sum(_count(v, v["T"]).values())


ROUTES = {
    "flops.matmul": lambda v: _matmul(v["m"], v["k"], v["n"]),
    "flops.projections": lambda v: _count(v, v["T"])["linear"],
    "flops.quadratic": lambda v: _count(v, v["T"])["pairs"],
    "flops.ffn": lambda v: _count(v, v["T"])["ffn"],
    "flops.quadratic_share": lambda v: _share(v, causal=False),
    "flops.causal_share": lambda v: _share(v, causal=True),
    "flops.crossover": _crossover,
    "flops.crossover_causal": _crossover_causal,
    "flops.per_token": lambda v: [_count(v, v["T"])[k] / v["T"] for k in ("linear", "ffn", "pairs")],
    "flops.doubling": _doubling,
}
