"""Wrong left routes for the property rows of the toolkit."""

from fractions import Fraction

import numpy as np

from drillgen.verify.c00_toolkit import LAWS, analytic_gradients, circuit, combined, maps, variance


def _rotated(transpose, invert):
    W_Q, W_K, A = maps()
    B = np.linalg.inv(A) if invert else A
    return (W_Q @ A) @ (W_K @ (B.T if transpose else B)).T


def _full_rank():
    C = circuit() + 0.1 * np.eye(6)
    return np.linalg.svd(C, compute_uv=False)[3:].tolist()


def _shifted(law):
    return [(x + 1, p) for x, p in law]


BENDS = {
    "c0.var.sum": [
        lambda: variance(combined(LAWS[:2], sum)),
        lambda: variance(combined(LAWS, lambda xs: xs[0] + xs[1] + xs[1])),
        lambda: 2 * variance(combined(LAWS, sum)),
    ],
    "c0.var.product": [
        lambda: variance(combined([_shifted(LAWS[0]), LAWS[1]], lambda xs: xs[0] * xs[1])),
        lambda: variance([(x * x, p) for x, p in LAWS[0]]),
        lambda: Fraction(0),
    ],
    "c0.grad.logsoftmax": [
        lambda: [[[-x for x in row] for row in M] for M in analytic_gradients()],
        lambda: [[list(c) for c in zip(*M, strict=True)] for M in analytic_gradients()],
        lambda: analytic_gradients()[::-1],
    ],
    "c0.gauge.invariance": [
        lambda: _rotated(transpose=False, invert=True),
        lambda: _rotated(transpose=True, invert=False),
        lambda: -circuit(),
    ],
    "c0.qk_circuit.rank": [
        _full_rank,
        lambda: np.linalg.svd(circuit(), compute_uv=False)[:3].tolist(),
    ],
}
