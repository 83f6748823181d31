"""Independent routes for card 16: moments of one component by Gauss–Hermite nodes, added over the components."""

import math

import numpy as np

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(20)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def component(rho):
    """Mean and variance of q_c k_c, by quadrature over the two normal numbers behind them."""
    q, z = np.meshgrid(NODES, NODES, indexing="ij")
    w = np.outer(WEIGHTS, WEIGHTS)
    product = q * (rho * q + math.sqrt(1 - rho**2) * z)
    mean = float((w * product).sum())
    return mean, float((w * (product - mean) ** 2).sum())


def _by(scale, d_k):
    return {"none": 1, "sqrt_dk": d_k**0.5, "dk": d_k}[scale]


def mean_logit(v):
    return sum(component(v["rho"])[0] for _ in range(v["d_k"])) / _by(v["scale"], v["d_k"])


def logit_sd(v):
    return sum([component(v["rho"])[1]] * v["d_k"]) ** 0.5 / _by(v["scale"], v["d_k"])


def width_growth(v):
    """Both widths worked out in full, then compared."""
    aligned = v["regime"] == "aligned_mean"
    mean, variance = component(0.4 if aligned else 0.0)

    def logit(d_k):
        return (mean * d_k if aligned else (variance * d_k) ** 0.5) / _by(v["scale"], d_k)

    return logit(64 * v["c"]) / logit(64)


def which_scale(v):
    """Which divisors keep the stated quantity at one size from width 64 to 4,096, found by trying each."""
    wanted = {
        "initialisation_independent": ["sd"],
        "trained_fully_aligned": ["mean"],
        "width_transfer_mup": ["mean"],
        "unit_variance_logits_at_start": ["sd"],
        "mean_logit_constant_across_width_when_aligned": ["mean"],
        "central_limit_regime": ["sd"],
        "law_of_large_numbers_regime": ["mean"],
        "one_scale_right_at_every_stage": ["sd", "mean"],
    }[v["situation"]]

    def steady(scale, what):
        sizes = []
        for d_k in (64, 4096):
            mean, _ = component(0.5)
            _, variance = component(0.0)
            raw = mean * d_k if what == "mean" else (variance * d_k) ** 0.5
            sizes.append(raw / (_by(scale, d_k) if scale != "sqrt_d_model" else 4096**0.5))
        return math.isclose(*sizes)

    fits = [s for s in ("sqrt_dk", "dk", "sqrt_d_model") if all(steady(s, w) for w in wanted)]
    return fits[0] if fits else "neither"


ROUTES = {
    "alignment.mean_logit": mean_logit,
    "alignment.logit_sd": logit_sd,
    "alignment.width_growth": width_growth,
    "alignment.which_scale": which_scale,
}
