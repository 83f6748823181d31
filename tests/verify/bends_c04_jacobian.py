"""Wrong versions of the routes of card 4: diagonal only, signs, a missing or plain mean, a lost factor."""

from drillgen.verify import c04_jacobian as v
from solvers import c04_jacobian as c04
from solvers.algebra import softmax


def diagonal_only(p):
    return [[a * (1 - a) * (i == j) for j in range(len(p))] for i, a in enumerate(p)]


def outer_added(p):
    return [[a * ((i == j) + b) for j, b in enumerate(p)] for i, a in enumerate(p)]


def negated(p):
    return [[-x for x in row] for row in c04.jacobian(p)]


def log_derivative(p):
    return [[(i == j) - b for j, b in enumerate(p)] for i in range(len(p))]


BENDS = {
    "c4.bound.gershgorin_holds": [
        lambda: v.bounded_tops(lambda p: max(a * (1 - a) for a in p)),
        lambda: v.bounded_tops(lambda p: 2 * min(a * (1 - a) for a in p)),
        lambda: v.bounded_tops(lambda p: 0.25),
    ],
    "c4.eig.two_key": [
        lambda: [p * (1 - p) for p in v.SHORT],
        lambda: [4 * p * (1 - p) for p in v.SHORT],
        lambda: [2 * p * p for p in v.SHORT],
    ],
    "c4.fd.7key": [
        lambda: diagonal_only(softmax(v.scores_7())),
        lambda: negated(softmax(v.scores_7())),
        lambda: c04.jacobian_of_scores(v.scores_7(), tau=1.001),
    ],
    "c4.rank.T_minus_1": [lambda: [7, 3], lambda: [5, 1]],
    "c4.rowsum.zero": [lambda: v.row_sums(diagonal_only), lambda: v.row_sums(outer_added)],
    "c4.symmetric": [lambda: [log_derivative(p) for p in v.rows()]],
    "c4.quad_is_variance": [
        lambda: v.quadratic(diagonal_only),
        lambda: v.quadratic(negated),
        lambda: v.quadratic(log_derivative),
    ],
    "c4.psd": [
        lambda: [[-x for x in c04.eigenvalues(p)][::-1] for p in v.rows()],
        lambda: [[x - 0.01 for x in c04.eigenvalues(p)] for p in v.rows()],
    ],
    "c4.jvp": [
        lambda: v.products(lambda p, u: [a * b for a, b in zip(p, u, strict=True)]),
        lambda: v.products(lambda p, u: [a * (b - sum(u) / len(u)) for a, b in zip(p, u, strict=True)]),
        lambda: v.products(lambda p, u: [-x for x in c04.jacobian_times(p, u)]),
    ],
    "c4.saturation": [
        lambda: c04.jacobian_of_scores([4.0, 0.0, 0.0]),
        lambda: log_derivative(softmax([40.0, 0.0, 0.0])),
        lambda: outer_added(softmax([40.0, 0.0, 0.0])),
    ],
}
