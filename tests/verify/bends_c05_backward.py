"""Wrong versions of the routes of card 5: missing row sums, transposes and scales, exchanged signs and axes."""

from drillgen.verify import c05_backward as v
from solvers import c05_backward as c05
from solvers.algebra import dot, matmul, matvec, scaled, softmax, transpose


def no_row_sum(p, values, g):
    return [a * b for a, b in zip(p, matvec(values, g), strict=True)]


def squared_upstream(p, values, g):
    return c05.score_gradient(p, values, [x * x for x in g])


def bent(change):
    """The backward pass with one array exchanged."""

    def backward(Q, K, V, dO, mask):
        import dataclasses

        found = c05.attention_backward(Q, K, V, dO, mask)
        return dataclasses.replace(found, **change(found, Q, K, V, dO))

    return lambda: v.closed_6(backward)


CHANGES = [
    bent(lambda f, Q, K, V, dO: {"dQ": [scaled(row, 3**0.5) for row in f.dQ]}),
    bent(lambda f, Q, K, V, dO: {"dK": [scaled(row, 3**-0.5) for row in matmul(f.dS, Q)]}),
    bent(lambda f, Q, K, V, dO: {"dV": matmul(f.P, dO)}),
    bent(lambda f, Q, K, V, dO: {"dQ": [scaled(r, 3**-0.5) for r in matmul(c05.entrywise(f.P, f.dP), K)]}),
    bent(lambda f, Q, K, V, dO: {"dK": [scaled(row, -1.0) for row in f.dK]}),
]


def fd_without_scale():
    slopes = c05.score_gradient(softmax(v.bank_scores(v.query())), v.values(), v.G)
    return [dot(slopes, column) for column in transpose(v.keys())]


BENDS = {
    "c5.toy.descent_effect": [lambda: v.step_signs(v.dLdq()), lambda: v.step_signs([1.0, 1.0])],
    "c5.toy.sign_flip": [
        lambda: v.random_row_gradients(c05.score_gradient),
        lambda: v.random_row_gradients(squared_upstream, -1.0),
    ],
    "c5.toy.fd_q": [fd_without_scale, lambda: scaled(v.dLdq(), -1.0), lambda: scaled(v.dLdq(), 2**-0.5)],
    "c5.sum_zero": [
        lambda: [sum(row) for row in v.random_row_gradients(no_row_sum)],
        lambda: [sum(map(abs, row)) for row in v.random_row_gradients(c05.score_gradient)],
    ],
    "c5.dv_is_p_g": [lambda: v.toy_dV(transposed=False), lambda: [scaled(r, -1.0) for r in v.toy_dV()]],
    "c5.D_identity": [lambda: v.row_numbers(weighted=False), lambda: v.row_numbers(by_rows=False)],
    "c5.T6.autograd": CHANGES,
    "c5.T6.fd": CHANGES,
    "c5.dW.fd": [lambda: v.closed_maps(scale_q=3**0.5), lambda: v.closed_maps(swap=True)],
}
