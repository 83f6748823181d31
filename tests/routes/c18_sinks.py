"""Independent routes for card 18: whole softmax rows, searches for the crossing, best cases built from vectors."""

import numpy as np


def _softmax(s):
    p = np.exp(s - np.max(s))
    return p / p.sum()


def _first_share(a, T):
    logits = np.full(T, 1.7)
    logits[0] += a
    return float(_softmax(logits)[0])


def share(v):
    return _first_share(v["a"], v["T"])


def _crossing(f, target, low=0.0, high=60.0):
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) < target else (low, middle)
    return (low + high) / 2


def advantage(v):
    return _crossing(lambda a: _first_share(a, v["T"]), v["w"])


def _best_case(g, T):
    """The largest weight with one key along the query and all others opposite to it."""
    q = np.array([0.6, -0.8])
    keys = np.concatenate([q[None], np.repeat(-q[None], T - 1, axis=0)])
    return float(_softmax(g * keys @ q).max())


def cap(v):
    return _best_case(v["g"], v["T"])


def gain_needed(v):
    return _crossing(lambda g: _best_case(g, v["T"]), v["w"])


def bandwidth(v):
    """From the kernel's fall between two keys at known distances from the query."""
    q, near, far = (np.array([np.cos(x), np.sin(x)]) for x in (0.3, 0.8, 2.1))
    fall = v["g"] * (q @ near - q @ far)
    squares = np.sum((q - far) ** 2) - np.sum((q - near) ** 2)
    return float(np.sqrt(squares / (2 * fall)))


def output_with_sink(v):
    """A row of logits that gives the sink its share, averaged over all values."""
    n = len(v["values"])
    logits = np.zeros(n + 1)
    logits[0] = np.log(v["w"] / (1 - v["w"]) * n)
    return float(_softmax(logits) @ np.array([0.0, *v["values"]]))


def eviction_factor(v):
    logits = np.array([0.0, 1.3, -0.4, 0.9])
    logits[0] = np.log(v["w"] / (1 - v["w"])) + np.logaddexp.reduce(logits[1:])
    before, after = _softmax(logits)[1:], _softmax(logits[1:])
    return float((after / before)[1])


def kept_positions(v):
    """The cache as it fills: every token stored, the oldest evicted that is no sink."""
    held = []
    for position in range(1, v["t"] + 1):
        held.append(position)
        recent = [p for p in held if p > v["n"]]
        if len(recent) > v["window"]:
            held.remove(recent[0])
    return held


ROUTES = {
    "sinks.share": share,
    "sinks.advantage": advantage,
    "sinks.cap": cap,
    "sinks.gain_needed": gain_needed,
    "sinks.bandwidth": bandwidth,
    "sinks.output_with_sink": output_with_sink,
    "sinks.eviction_factor": eviction_factor,
    "sinks.kept_positions": kept_positions,
}
