"""Independent routes for card 5: complex-step derivatives of the loss itself, and exact fractions."""

from fractions import Fraction

import numpy as np

STEP = 1e-30


def _softmax(s):
    e = np.exp(s - np.max(s.real, axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def _slopes(loss, size):
    """Derivatives of a loss by the entries of a shift that starts at zero."""
    out = []
    for k in range(size):
        shift = np.zeros(size, dtype=complex)
        shift[k] = 1j * STEP
        out.append(float(loss(shift).imag / STEP))
    return out


def _row(v):
    return np.log(np.array(v["p"])), np.array(v["values"], dtype=float), np.array(v["g"], dtype=float)


def score_gradient(v):
    s, V, g = _row(v)
    return _slopes(lambda shift: g @ (_softmax(s + shift) @ V), len(s))


def query_gradient(v):
    s, V, g = _row(v)
    K = np.array(v["keys"], dtype=float)
    return _slopes(lambda shift: g @ (_softmax(s + K @ shift / np.sqrt(v["d_k"])) @ V), v["d_k"])


def key_gradient(v):
    s, V, g = _row(v)
    q, one_hot = np.array(v["q"], dtype=float), np.eye(3)[v["j"] - 1]
    return _slopes(lambda shift: g @ (_softmax(s + one_hot * (q @ shift) / np.sqrt(v["d_k"])) @ V), v["d_k"])


def value_gradient(v):
    s, V, g = _row(v)
    one_hot = np.eye(3)[v["j"] - 1]
    return _slopes(lambda shift: g @ (_softmax(s) @ (V + np.outer(one_hot, shift))), 2)


def _exact(p):
    return [Fraction(round(20 * x), 20) for x in p]


def _exact_parts(v):
    p = _exact(v["p"])
    o = [sum(a * row[c] for a, row in zip(p, v["values"], strict=True)) for c in range(2)]
    return p, sum(a * b for a, b in zip(v["g"], o, strict=True))


def row_number(v):
    return float(_exact_parts(v)[1])


def descent_signs(v):
    p, D = _exact_parts(v)
    slopes = [sum(a * b for a, b in zip(v["g"], row, strict=True)) - D for row in v["values"]]
    return [(x < 0) - (x > 0) if a > 0 else 0 for a, x in zip(p, slopes, strict=True)]


def score_matrix(v):
    S, dO, V = np.log(np.array(v["P"])), np.array(v["dO"], dtype=float), np.array(v["V"], dtype=float)
    flat = _slopes(lambda shift: np.sum(dO * (_softmax(S + shift.reshape(2, 2)) @ V)), 4)
    return [flat[:2], flat[2:]]


ROUTES = {
    "backward.score_gradient": score_gradient,
    "backward.query_gradient": query_gradient,
    "backward.key_gradient": key_gradient,
    "backward.value_gradient": value_gradient,
    "backward.row_number": row_number,
    "backward.score_matrix": score_matrix,
    "backward.descent_signs": descent_signs,
}
