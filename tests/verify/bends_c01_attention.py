"""Wrong left routes for the property rows of card 1."""

import math

import numpy as np

from drillgen.verify.c01_attention import batched, drawn, toy
from solvers.algebra import matmul, softmax, transpose
from solvers.c01_attention import attention_arrays, scores


def _bent(scale=1.0, axis=-1, sign=1.0, normalise=True):
    out = []
    for Q, K, V in (drawn(), toy()):
        Q, K, V = (np.asarray(x, float) for x in (Q, K, V))
        P = np.exp(sign * Q @ K.T / math.sqrt(Q.shape[1]) * scale)
        if normalise:
            P = P / P.sum(axis=axis, keepdims=True)
        out.append(P @ V)
    return out


def _totals(axis):
    out = []
    for Q, K, V in (drawn(), toy()):
        S = attention_arrays(Q, K, V)[0]
        P = np.exp(S) / np.exp(S).sum(axis=axis, keepdims=True)
        out += P.sum(axis=1).tolist()
    return out


def _row_softmax():
    Q, K, _ = drawn()
    P = [softmax(row) for row in scores(Q.tolist(), K.tolist())]
    return [[sum(c) for c in zip(*P, strict=True)], [sum(row) for row in P]]


def _transposed_scores():
    Q, K, _ = drawn()
    P = transpose([softmax(c) for c in scores(Q.tolist(), K.tolist())])
    return [[sum(c) for c in zip(*P, strict=True)], [sum(row) for row in P]]


BENDS = {
    "c1.shape.batch_scores": [
        lambda: batched(2, 3, 5, 4, 7)[1],
        lambda: [2, 3, 4, 4],
        lambda: [2, 5, 5],
    ],
    "c1.shape.batch_out": [
        lambda: batched(2, 3, 5, 4, 7)[0],
        lambda: batched(2, 3, 5, 7, 4)[1],
    ],
    "c1.rows.sum_one": [
        lambda: _totals(axis=0),
        lambda: [2 * t for t in _totals(axis=1)],
    ],
    "c1.matrix_equals_rows": [
        lambda: _bent(scale=2**0.5),
        lambda: _bent(axis=0),
        lambda: _bent(sign=-1),
    ],
    "c1.convex.violation": [
        lambda: _bent(normalise=False)[0],
        lambda: _bent(axis=0)[0],
    ],
    "c1.bank.range": [
        lambda: [0.576, -0.284],
        lambda: matmul([[1.0, math.exp(2**0.5), math.exp(0.5**0.5)]], [row[:] for row in toy()[2][:3]])[0],
    ],
    "c1.wrong_axis": [_row_softmax, _transposed_scores],
}
