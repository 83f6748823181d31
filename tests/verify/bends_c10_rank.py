"""Wrong left routes for the property rows of card 10."""

import numpy as np

from drillgen.verify.c10_rank import head, linear_weights, log_weights, product, scores, weights, zero_query_row


def _a_component_lost():
    q, k = head(20, 6)
    return q[:, :5] @ k[:, :5].T


BENDS = {
    "c10.rank.log_weights": [
        weights,
        scores,
        lambda: log_weights(axis=0),
        lambda: -log_weights(),
        lambda: np.log(np.tril(weights()) + 1e-3),
    ],
    "c10.outer_products": [_a_component_lost, lambda: product().T, lambda: -product(), lambda: product() / 6**0.5],
    "c10.d1.zero_query": [lambda: zero_query_row(0.01), lambda: zero_query_row(-1.0)],
    "c10.linear_attn.rank": [
        lambda: linear_weights(np.exp),
        lambda: linear_weights(np.sqrt),
        lambda: linear_weights(np.transpose),
        lambda: linear_weights(np.tril),
    ],
}
