"""Independent routes for card 15: direct sums over all keys, unshifted or in exact fractions, and counted arrays."""

from fractions import Fraction

import numpy as np


def trace(v):
    scores, values, size = np.array(v["scores"], float), np.array(v["values"], float), v["block_size"]
    rows = []
    for stop in range(size, len(scores) + size, size):
        seen = np.exp(scores[:stop])
        top = scores[:stop].max()
        rows.append([top, seen.sum() / np.exp(top), (seen * values[:stop]).sum() / np.exp(top)])
    return [[float(x) for x in row] for row in rows]


def rescale_factor(v):
    """What changing the base does to a direct sum over some keys."""
    past = np.linspace(-3, v["m_old"], 7)
    new = max(*v["block"], v["m_old"])
    return float(np.exp(past - new).sum() / np.exp(past - v["m_old"]).sum())


def update(v):
    """The old state as one heavy key among the others, measured from 0."""
    m = max(v["m"], *v["block"])
    weights = [np.exp(v["m"]) * v["l"], *np.exp(v["block"])]
    outputs = [v["u"] / v["l"], *v["values"]]
    return [m, float(sum(weights) / np.exp(m)), float(np.dot(weights, outputs) / np.exp(m))]


def merge(v):
    a, b = (np.exp(v[f"m_{side}"]) for side in "ab")
    return float((a * v["u_a"] + b * v["u_b"]) / (a * v["l_a"] + b * v["l_b"]))


def merge_logsumexp(v):
    return float(np.logaddexp(v["m_a"] + np.log(v["l_a"]), v["m_b"] + np.log(v["l_b"])))


def merge_from_lse(v):
    weights = np.exp([v["lse_a"], v["lse_b"]])
    return float(np.average([v["o_a"], v["o_b"]], weights=weights))


def row_logsumexp(v):
    return float(np.logaddexp.reduce(np.array(v["scores"], float)))


def output(v):
    return [float(Fraction(str(x)) / Fraction(str(v["l"]))) for x in v["u"]]


def state_size(v):
    one = np.zeros(())
    arrays = [np.broadcast_to(one, (v["h"], v["T"], *width)) for width in ((), (), (v["d_v"],))]
    return sum(a.size for a in arrays)


ROUTES = {
    "online_softmax.trace": trace,
    "online_softmax.rescale_factor": rescale_factor,
    "online_softmax.update": update,
    "online_softmax.merge": merge,
    "online_softmax.merge_logsumexp": merge_logsumexp,
    "online_softmax.merge_from_lse": merge_from_lse,
    "online_softmax.row_logsumexp": row_logsumexp,
    "online_softmax.output": output,
    "online_softmax.state_size": state_size,
}
