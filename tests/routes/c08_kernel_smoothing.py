"""Independent routes for card 8: densities, least squares, a limit, and products of Gaussians in another order."""

import math

import numpy as np
from scipy import optimize, stats


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


ROUTES = {
    "kernel_smoothing.estimate": _smoother,
    "kernel_smoothing.key_bias": _key_bias,
    "kernel_smoothing.bandwidth": _bandwidth,
    "kernel_smoothing.zero_query": _zero_query,
    "kernel_smoothing.bias_error": lambda v: abs(_smoother(v) - _plain(v)),
}
