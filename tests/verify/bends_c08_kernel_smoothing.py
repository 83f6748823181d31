"""Wrong left routes for the property rows of card 8: other kernels, other scales, missing terms, other axes."""

from drillgen.verify.c08_kernel_smoothing import LAM, circle, expanded, scaled_weights, sine, smoothed, space


def _normalised_over_queries(data, lam):
    import numpy as np

    keys, values, queries = data
    kernels = np.exp(-((queries[:, None, :] - keys[None]) ** 2).sum(-1) / (2 * lam**2))
    return kernels / kernels.sum(0, keepdims=True) @ values


def _without_bias(data, lam):
    import numpy as np

    keys, values, queries = data
    weights = np.exp(queries @ keys.T / lam**2)
    return weights / weights.sum(1, keepdims=True) @ values


def _longer_keys():
    keys, values, queries = circle()
    keys[::2] *= 1.01
    return smoothed((keys, values, queries), LAM)


BENDS = {
    "c8.bias.match": [
        lambda: smoothed(sine(), LAM, two=1.0),
        lambda: _normalised_over_queries(sine(), LAM),
        lambda: _without_bias(sine(), LAM),
        lambda: -smoothed(sine(), LAM),
    ],
    "c8.equal_length": [lambda: smoothed(circle(), LAM, two=1.0), _longer_keys, lambda: smoothed(circle(), 1.0)],
    "c8.random3d": [lambda: smoothed(space(), 1.0, two=1.0), lambda: _without_bias(space(), 1.0)],
    "c8.expansion": [lambda: expanded(sign=1.0), lambda: expanded(cross=1.0), lambda: expanded(sign=0.0)],
    "c8.bandwidth.dk": [lambda: scaled_weights(1.0), lambda: scaled_weights(0.25), lambda: scaled_weights(0.0)],
}
