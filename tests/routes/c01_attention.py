"""Independent routes for card 1: numpy arrays with real shapes, torch's own attention rule, sums written out."""

import numpy as np


def shape_of(v):
    """Shapes of arrays that were really multiplied (one token stands for the long contexts' content)."""
    B, h, T, d_k, d_v, d = (v[k] for k in ("B", "h", "T", "d_k", "d_v", "d"))
    Q, K, V = (np.zeros((B, h, T, n), dtype=np.float32) for n in (d_k, d_k, d_v))
    KT = np.moveaxis(K, 3, 2)
    S = np.einsum("bhik,bhkj->bhij", Q[:1, :1], KT[:1, :1])
    S = np.broadcast_to(S, (B, h, *S.shape[2:]))
    out = np.broadcast_to(np.einsum("bhij,bhjc->bhic", S[:1, :1], V[:1, :1]), (B, h, T, d_v))
    concat = np.concatenate([out[:, n] for n in range(h)], axis=-1)
    projected = np.stack([row @ np.zeros((concat.shape[-1], d), dtype=np.float32) for row in concat])
    tensors = {"Q": Q, "K_transposed": KT, "V": V, "S": S, "P": S, "O": out, "concat": concat, "projected": projected}
    return list(tensors[v["tensor"]].shape)


def weights(q, keys):
    terms = np.exp(np.asarray(keys, float) @ np.asarray(q, float) * len(q) ** -0.5)
    return terms / terms.sum()


def score_matrix(v):
    return [[sum(a * b for a, b in zip(q, k, strict=True)) * v["d_k"] ** -0.5 for k in v["K"]] for q in v["Q"]]


def weights_row(v):
    return weights(v["q"], v["keys"]).tolist()


def output_row(v):
    return (weights(v["q"], v["keys"]) @ np.asarray(v["values"], float)).tolist()


def causal_output(v):
    """Row by row, each token with the keys up to its own, and no mask at all."""
    return [(weights(q, v["K"][: i + 1]) @ np.asarray(v["V"][: i + 1], float)).tolist() for i, q in enumerate(v["Q"])]


def wrong_axis_rowsum(v):
    S = np.exp(np.asarray(v["scores"], float))
    return float((S / S.sum(axis=0, keepdims=True))[v["i"] - 1].sum())


def achievable_outputs(v):
    """Scores that put most weight on two values reach everything between them; random scores never get out."""
    rng = np.random.default_rng(1)
    x = np.sort(np.asarray(v["values"], float))
    w = np.exp(rng.normal(0, 8, (4000, len(x))))
    seen = (w / w.sum(axis=1, keepdims=True)) @ x
    right = []
    for c in v["candidates"]:
        inside = seen.min() <= c <= seen.max()
        if inside:  # solve for the gap between the extremes' scores that gives exactly this output
            share = (c - x[0]) / (x[-1] - x[0])
            assert np.isfinite(np.log(share / (1 - share)))
            right.append(f"{c:g}")
    return sorted(right)


def value_affine(v):
    """Two values and weights that give the old output, averaged anew after the change."""
    o, u = np.asarray(v["o"]), np.asarray(v["u"])
    p = np.array([0.25, 0.75])
    first = np.array([1.5, -0.5])
    second = (o - p[0] * first) / p[1]
    return (p @ (v["c"] * np.stack([first, second]) + u)).tolist()


def qk_reparameterisation(v):
    """Least squares for the matrix that keeps W_Q W_K^T for a random W_Q."""
    W_Q = np.random.default_rng(3).normal(size=(5, 2))
    A, W_K = np.asarray(v["A"], float), np.asarray(v["W_K"], float)
    found, *_ = np.linalg.lstsq(W_Q @ A, W_Q @ W_K.T, rcond=None)
    return found.T.tolist()


ROUTES = {
    "attention.shape_of": shape_of,
    "attention.score_matrix": score_matrix,
    "attention.weights_row": weights_row,
    "attention.output_row": output_row,
    "attention.causal_output": causal_output,
    "attention.wrong_axis_rowsum": wrong_axis_rowsum,
    "attention.achievable_outputs": achievable_outputs,
    "attention.value_affine": value_affine,
    "attention.qk_reparameterisation": qk_reparameterisation,
}
