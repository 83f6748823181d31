"""Independent routes for card 6: whole masked matrices in numpy, reachability in a graph, numpy's own triu."""

import math

import numpy as np


def allowed_pairs(v):
    return int(np.tril(np.ones((v["T"], v["T"]))).sum())


def allowed_fraction(v):
    return allowed_pairs(v) / v["T"] ** 2


def _row(s):
    e = np.exp(np.array(s, dtype=float))
    return e / e.sum()


def masked_row(v):
    s = np.array(v["scores"], dtype=float)
    s[v["i"] :] = -np.inf
    return _row(s).tolist()


def post_softmax_sum(v):
    return float(_row(v["scores"])[: v["i"]].sum())


def _buggy_output(v, scores):
    keep = np.arange(v["T"]) < v["i"]
    return float((_row(scores) * keep) @ np.array(v["values"], dtype=float))


def leak(v):
    return abs(_buggy_output(v, [*v["scores"][:-1], v["new_score"]]) - _buggy_output(v, v["scores"]))


def affected_outputs(v):
    """Boolean reachability through L layers."""
    sees = np.tril(np.ones((v["T"], v["T"]), dtype=bool)) if v["mask"] == "causal" else np.ones((v["T"], v["T"]), bool)
    changed = np.zeros(v["T"], dtype=bool)
    changed[v["j"] - 1] = True
    for _ in range(v["L"]):
        changed = (sees & changed[None, :]).any(axis=1)
    return [int(i) + 1 for i in np.flatnonzero(changed)]


def triu_visible(v):
    row = np.triu(np.ones((v["T"], v["T"])), v["k"])[v["i"] - 1]
    return int((row == 0).sum())


def blank_row(v):
    fill = {"-inf": -np.inf, "-1e9": np.float32(-1e9)}.get(v["fill"], np.finfo(np.float32).min)
    s = np.full(v["T"], fill, dtype=np.float32)
    with np.errstate(invalid="ignore"):
        e = np.exp(s - s.max())
        p = e / e.sum()
    if v["fill"].endswith("zeroed"):
        p = p * np.float32(0)
    return "nan" if math.isnan(p[0]) else float(p[0])


def diagnosis(v):
    """The observable signs of each bug on a small example, looked up by symptom."""
    T, s = 4, np.arange(16.0).reshape(4, 4) % 5

    def softmax(x):
        with np.errstate(invalid="ignore"):
            e = np.exp(x - x.max(axis=1, keepdims=True))
            return e / e.sum(axis=1, keepdims=True)

    causal = np.triu(np.ones((T, T), dtype=bool), 1)
    strict = np.triu(np.ones((T, T), dtype=bool), 0)
    weights = {
        "future_leak": softmax(s),
        "diagonal_masked_off_by_one": softmax(np.where(strict, -np.inf, s)),
        "diagonal_masked_with_finite_fill": softmax(np.where(strict, -1e9, s)),
        "mask_after_softmax": np.where(causal, 0.0, softmax(s)),
        "blank_row_minus_inf": softmax(np.where(causal | (np.arange(T) == 0), -np.inf, s)),
    }
    signs = {
        "loss_near_zero_garbage_text": lambda p: np.triu(p, 1).sum() > 0.5 and np.allclose(p.sum(axis=1), 1),
        "cached_decode_differs_from_full_pass": lambda p: np.triu(p, 1).sum() > 0.5 and np.allclose(p[-1].sum(), 1),
        "nan_from_first_row_on": lambda p: np.isnan(p[0]).all(),
        "nan_only_with_padding": lambda p: np.isnan(p).any(),
        "rows_sum_below_one": lambda p: (p.sum(axis=1)[:-1] < 0.999).all() and np.triu(p, 1).sum() == 0,
        "first_row_uniform_over_all": lambda p: np.allclose(p[0], 1 / T),
    }
    found = [cause for cause, p in weights.items() if signs[v["symptom"]](p)]
    # Both NaN bugs blank a row: by the mask itself on full sequences, by padding where that alone brings them out.
    if v["symptom"].startswith("nan"):
        wanted = "blank_row_minus_inf" if "padding" in v["symptom"] else "diagonal_masked_off_by_one"
        return wanted if wanted in found else found
    # A finite fill on the diagonal also puts weight on the future in the first row; the leak reaches every row.
    if len(found) > 1:
        found = [c for c in found if c == "future_leak"]
    return found[0]


ROUTES = {
    "causal_mask.allowed_fraction": allowed_fraction,
    "causal_mask.allowed_pairs": allowed_pairs,
    "causal_mask.masked_row": masked_row,
    "causal_mask.post_softmax_sum": post_softmax_sum,
    "causal_mask.leak": leak,
    "causal_mask.affected_outputs": affected_outputs,
    "causal_mask.triu_visible": triu_visible,
    "causal_mask.blank_row": blank_row,
    "causal_mask.diagnosis": diagnosis,
}
