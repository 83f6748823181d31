"""Independent routes for card 7: real attention layers in numpy, run before and after the reordering."""

import numpy as np


def _softmax(S):
    E = np.exp(S - S.max(axis=-1, keepdims=True))
    return E / E.sum(axis=-1, keepdims=True)


def _Pi(pi):
    return np.eye(len(pi))[[token - 1 for token in pi]]


def _causal(S):
    return np.where(np.tri(len(S), dtype=bool), S, -np.inf)


def bos_share(v):
    values = np.array([1.0] * v["n"] + [0.0] * (v["T"] - v["n"]))
    return float((_softmax(_causal(np.zeros((v["T"], v["T"])))) @ values)[v["t"] - 1])


def permuted_output(v):
    return np.rint(_Pi(v["pi"]) @ np.array(v["O"])).astype(int).tolist()


def permuted_scores(v):
    """Factor S = Q Kᵀ, reorder the tokens' queries and keys, multiply again."""
    S = np.array(v["S"], dtype=float)
    Q, K = S, np.eye(len(S))
    order = [token - 1 for token in v["pi"]]
    return np.rint(Q[order] @ K[order].T).astype(int).tolist()


def pooled(v):
    rows = [v["O"][token - 1] for token in v["pi"]]
    how = {"mean": np.mean, "max": np.max, "sum": np.sum}[v["pool"]]
    return [float(x) for x in how(np.array(rows), axis=0)]


def causal_running_mean(v):
    values = _Pi(v["pi"]) @ np.array(v["values"], dtype=float)
    return (_softmax(_causal(np.zeros((4, 4)))) @ values).tolist()


RNG = np.random.default_rng(7)
D = 4
W = [RNG.standard_normal((D, D)) for _ in range(6)]
POSITIONS = RNG.standard_normal((5, D))


def _attention(X, causal=False, rope=False, w=W):
    Q, K, V = X @ w[0], X @ w[1], X @ w[2]
    if rope:
        Q, K = _rotate(Q), _rotate(K)
    S = Q @ K.T / np.sqrt(D)
    return _softmax(_causal(S) if causal else S) @ V


def _rotate(A):
    z = A[:, 0::2] + 1j * A[:, 1::2]
    z = z * np.exp(1j * np.arange(len(A))[:, None] * np.array([1.0, 0.3]))
    return np.stack([z.real, z.imag], axis=-1).reshape(A.shape)


def _ffn(X):
    return np.tanh(X @ W[3]) @ W[4]


def _layer(X):
    X = X + _attention(X)
    X = X + _ffn(X)
    return (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)


OPERATIONS = {
    "attention_no_mask": _attention,
    "multi_head_attention_no_mask": lambda X: np.hstack([_attention(X), _attention(X, w=W[3:])]) @ np.vstack(W[:2]),
    "position_wise_ffn": _ffn,
    "stack_of_unmasked_layers": lambda X: _layer(_layer(X)),
    "attention_then_mean_pool": lambda X: _attention(X).mean(axis=0, keepdims=True),
    "attention_then_max_pool": lambda X: _attention(X).max(axis=0, keepdims=True),
    "causal_attention": lambda X: _attention(X, causal=True),
    "attention_with_absolute_positions": lambda X: _attention(X + POSITIONS),
    "attention_with_rope": lambda X: _attention(X, rope=True),
    "read_out_first_row": lambda X: _attention(X)[:1],
}


def classify(v):
    f, X = OPERATIONS[v["operation"]], RNG.standard_normal((5, D))
    order = [2, 0, 4, 1, 3]
    old, new = f(X), f(X[order])
    if len(old) == 5 and np.allclose(new, old[order]):
        return "equivariant"
    return "invariant" if np.allclose(new, old) else "neither"


ROUTES = {
    "permutation.bos_share": bos_share,
    "permutation.permuted_output": permuted_output,
    "permutation.permuted_scores": permuted_scores,
    "permutation.pooled": pooled,
    "permutation.classify": classify,
    "permutation.causal_running_mean": causal_running_mean,
}
