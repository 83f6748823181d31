"""Independent routes for card 4: numpy on the dense matrix, exact fractions, finite differences of a softmax."""

from fractions import Fraction

import numpy as np


def _dense(p):
    p = np.array(p, dtype=float)
    return np.diag(p) - np.outer(p, p)


def _finite_difference(p, step=1e-5):
    """Central differences of softmax at the scores ln p, sharpened once by Richardson's rule."""

    def weights(s):
        e = np.exp(s - s.max())
        return e / e.sum()

    s = np.log(np.array(p))

    def central(h):
        columns = []
        for j in range(len(p)):
            shift = np.zeros(len(p))
            shift[j] = h
            columns.append((weights(s + shift) - weights(s - shift)) / (2 * h))
        return np.stack(columns, axis=1)

    return (4 * central(step) - central(2 * step)) / 3


def matrix(v):
    return np.round(_finite_difference(v["p"]), 8).tolist()


def quadratic_form(v):
    u = np.array(v["u"], dtype=float)
    return float(u @ _dense(v["p"]) @ u)


def gershgorin(v):
    J = _dense(v["p"])
    return float(max(J[i, i] + sum(abs(J[i, j]) for j in range(len(J)) if j != i) for i in range(len(J))))


def two_key_eigenvalue(v):
    return float(np.linalg.eigvalsh(_dense([v["p"], 1 - v["p"]]))[-1])


def top_eigenvalue(v):
    return float(np.linalg.eigvalsh(_dense(v["p"]))[-1])


def vector_product(v):
    return (_dense(v["p"]) @ np.array(v["u"], dtype=float)).tolist()


def rank(v):
    """Elimination on exact fractions."""
    p = [Fraction(round(20 * x), 20) for x in v["p"]]
    rows = [[a * ((i == j) - b) for j, b in enumerate(p)] for i, a in enumerate(p)]
    found = 0
    for column in range(len(p)):
        pivot = next((r for r in range(found, len(p)) if rows[r][column]), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        for r in range(found + 1, len(p)):
            factor = rows[r][column] / rows[found][column]
            rows[r] = [x - factor * y for x, y in zip(rows[r], rows[found], strict=True)]
        found += 1
    return found


def frobenius(v):
    return float(np.linalg.norm(_dense(v["p"])))


ROUTES = {
    "jacobian.matrix": matrix,
    "jacobian.quadratic_form": quadratic_form,
    "jacobian.gershgorin": gershgorin,
    "jacobian.two_key_eigenvalue": two_key_eigenvalue,
    "jacobian.top_eigenvalue": top_eigenvalue,
    "jacobian.vector_product": vector_product,
    "jacobian.rank": rank,
    "jacobian.frobenius": frobenius,
}
