"""Card 16: published numbers of the aligned logit."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from drillgen.verify.rows import Row
from solvers.c03_scaling import gaussian_mean
from solvers.c16_alignment import logit_sd, mean_logit, raw_variance, simulate_dots

DRAWS = 50_000
NOTE = f"{DRAWS:,} pairs of vectors drawn component by component, seed 0"


@cache
def dots(d_k: int, rho: float) -> Any:
    """Simulated dot products."""
    return simulate_dots(d_k, rho, DRAWS, seed=0)


def chi_square_moments() -> list[float]:
    """Mean and variance of the squared length over d_k: second and fourth moment of one component, by quadrature."""
    second = gaussian_mean(lambda x: x**2)
    return [second, gaussian_mean(lambda x: x**4) - second**2]


ROWS = {
    "c16.rho1.mean": Row(lambda: mean_logit(128, 1, "sqrt_dk")),
    "c16.rho1.mean_sim": Row(lambda: float(dots(128, 1).mean()) / math.sqrt(128), note=NOTE),
    "c16.rho1.mean_d": Row(lambda: mean_logit(128, 1, "dk")),
    "c16.rho1.mean_d_sim": Row(lambda: float(dots(128, 1).mean()) / 128, note=NOTE),
    "c16.rho05.mean": Row(lambda: mean_logit(128, 0.5, "sqrt_dk")),
    "c16.rho05.mean_sim": Row(lambda: float(dots(128, 0.5).mean()) / math.sqrt(128), note=NOTE),
    "c16.rho05.sd": Row(lambda: logit_sd(128, 0.5, "sqrt_dk")),
    "c16.rho05.sd_sim": Row(lambda: float(dots(128, 0.5).std()) / math.sqrt(128), note=f"{NOTE}; exact value 1.118"),
    "c16.rho0.sd_d": Row(lambda: logit_sd(128, 0, "dk") * math.sqrt(128)),
    "c16.chi2.moments": Row(chi_square_moments, note="trapezoid rule for one component's moments"),
    "c16.variance": Row(lambda: float(dots(64, 0.8).var()) / raw_variance(64, 0.8), note=NOTE),
}
