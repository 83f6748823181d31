"""Wrong left routes for the property rows of card 17."""

import numpy as np

from drillgen.verify.c17_rank_collapse import iterated_log, near_collapse
from solvers.c17_rank_collapse import attention_layer, residual


def _both(W=lambda W: W, tokens=lambda X: X, taken_off=residual, scale=1.0):
    X, W0, W_V = near_collapse(0.3)
    X, bent = tokens(X), W(W0)
    out = taken_off(attention_layer(X, bent, W_V))
    return np.concatenate([(X @ bent @ X.T).ravel() * scale, out.ravel()])


BENDS = {
    "c17.exponent.triples": [
        lambda: iterated_log(C=1.0),
        lambda: iterated_log(L=3),
        lambda: -iterated_log(),
        lambda: 12 * np.log(1.7**0.5 * 0.5) - 0.5 * np.log(1.7),
    ],
    "c17.split": [
        lambda: _both(W=np.transpose),
        lambda: _both(W=np.negative),
        lambda: _both(scale=2.0),
        lambda: _both(taken_off=lambda Y: Y),
        lambda: _both(taken_off=lambda Y: Y - Y.mean(axis=1, keepdims=True)),
        lambda: _both(tokens=lambda X: X - X.mean(axis=0)),
    ],
}
