"""Independent routes for card 8: densities, least squares, a limit, and products of Gaussians in another order."""

import math
from functools import cache

import numpy as np
from scipy import optimize, special, stats


def _smoother(v):
    """The constant that fits the values best in the least-squares sense, weighted by a normal density around q."""
    density = stats.norm(loc=v["q"], scale=v["lam"]).pdf(v["keys"])
    root = np.sqrt(density)
    return float(np.linalg.lstsq(root[:, None], root * np.array(v["values"]), rcond=None)[0][0])


def _plain(v):
    """The mean value under e^{q k/lam²}, as a slope of a log partition function in a field on the values."""
    keys, values = np.array(v["keys"], float), np.array(v["values"], float)

    def log_z(field):
        return np.logaddexp.reduce(v["q"] * keys / v["lam"] ** 2 + field * values)

    # A complex step would need a complex logaddexp; a five-point stencil is exact to 1e-10 here.
    h = 1e-3
    return float((log_z(-2 * h) - 8 * log_z(-h) + 8 * log_z(h) - log_z(2 * h)) / (12 * h))


def _key_bias(v):
    """What the log kernel keeps of a key once dot product and the zero key's log kernel are taken off."""
    q, lam = np.array(v["q"], float), v["lam"]

    def log_kernel(k):
        return stats.multivariate_normal(mean=q, cov=lam**2 * np.eye(2)).logpdf(k)

    return [float(log_kernel(k) - log_kernel([0, 0]) - q @ np.array(k) / lam**2) for k in v["keys"]]


def _bandwidth(v):
    """The bandwidth at which a Gaussian on the circle falls off as the scaled dot product does."""
    d_k = v["d_k"]
    gap = 1 / math.sqrt(d_k) * (1 - math.cos(0.7))
    far = (1 - math.cos(0.7)) ** 2 + math.sin(0.7) ** 2
    return optimize.brentq(lambda lam: far / (2 * lam**2) - gap, 1e-3, 1e3, xtol=1e-14, rtol=1e-14)


def _zero_query(v):
    keys, values = np.array(v["keys"], float), np.array(v["values"], float)
    scores = keys @ np.zeros(2)
    weights = np.exp(scores) / np.exp(scores).sum()
    return (weights @ values).tolist()


@cache
def _truths():
    """Every statement tried on ten random points in four dimensions."""
    rng = np.random.default_rng(7)
    q, keys, values = rng.normal(size=4), rng.normal(size=(10, 4)), rng.normal(size=(10, 2))
    unit = keys / np.linalg.norm(keys, axis=1, keepdims=True)

    def gauss(at, points, lam):
        density = np.array([stats.multivariate_normal(mean=at, cov=lam**2 * np.eye(4)).pdf(p) for p in points])
        return density / density.sum()

    def same(a, b):
        return bool(np.allclose(a, b, rtol=1e-9, atol=1e-12))

    lam = 1.3
    without_query = special.softmax(keys @ q / lam**2 - (keys**2).sum(1) / (2 * lam**2))
    bandwidths = np.geomspace(0.05, 50, 300)
    plain = special.softmax(keys @ q)
    far = gauss(1e3 * q / np.linalg.norm(q), unit * 200, 100.0) @ values
    across = np.array([1.0, 0, 0, 0])
    pair = gauss(across, np.array([[1.0, 0, 0, 0], [1.0, 2, 0, 0]]), lam)
    W = rng.normal(size=(4, 2)) @ rng.normal(size=(2, 4))
    scores = keys @ W @ keys.T
    output = gauss(q, keys, lam) @ values
    inside = (values.min(0) <= output).all() and (output <= values.max(0)).all()
    return {
        "query_norm_needed": not same(without_query, gauss(q, keys, lam)),
        "always_identical": any(np.abs(plain - gauss(q, keys, b)).max() < 1e-3 for b in bandwidths),
        "equal_key_norms_exact": same(special.softmax(2 * unit @ q / lam**2), gauss(q, 2 * unit, lam)),
        "query_norm_cancels": same(without_query, gauss(q, keys, lam)),
        "long_keys_penalised": bool(pair[1] < pair[0]),
        "output_in_hull": bool(inside),
        "can_extrapolate": bool((far > values.max(0)).any() or (far < values.min(0)).any()),
        "qk_norm_makes_exact": same(special.softmax(5 * unit @ unit[0]), gauss(unit[0], unit, 1 / math.sqrt(5))),
        "kernel_symmetric_in_attention": same(scores, scores.T),
        "scale_is_bandwidth": same(special.softmax(unit @ q / math.sqrt(4)), gauss(q, unit, 4**0.25)),
    }


ROUTES = {
    "kernel_smoothing.estimate": _smoother,
    "kernel_smoothing.key_bias": _key_bias,
    "kernel_smoothing.bandwidth": _bandwidth,
    "kernel_smoothing.zero_query": _zero_query,
    "kernel_smoothing.statements": lambda v: sorted(k for k in v["options"] if _truths()[k]),
    "kernel_smoothing.bias_error": lambda v: abs(_smoother(v) - _plain(v)),
}
