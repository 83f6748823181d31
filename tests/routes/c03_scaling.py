"""Independent routes for card 3: exact enumeration of two-point components, exact fractions, scipy's distributions."""

import itertools
import math
from fractions import Fraction

import numpy as np
from scipy import integrate, stats


def enumerated_variance(d_k, sigma_q, sigma_k):
    """Two-point components ±σ: the variance of one product over all four outcomes, then d_k of them."""
    outcomes = [sq * sk for sq in (-sigma_q, sigma_q) for sk in (-sigma_k, sigma_k)]
    mean = sum(outcomes) / 4
    one = sum((x - mean) ** 2 for x in outcomes) / 4
    return sum(one for _ in range(d_k))


def dot_variance(v):
    return enumerated_variance(v["d_k"], v["sigma_q"], v["sigma_k"])


def scaled_sd(v):
    by = {"none": 1, "sqrt_dk": v["d_k"] ** 0.5, "dk": v["d_k"], "sqrt_d": v["d"] ** 0.5}[v["scale"]]
    return (enumerated_variance(v["d_k"], v["sigma_q"], v["sigma_k"]) / by**2) ** 0.5


def right_multiplier(v):
    return enumerated_variance(v["d_k"], v["sigma_q"], v["sigma_k"]) ** -0.5


def row_entropy(v):
    H = float(stats.entropy(v["p"]))
    # Effective keys as the geometric mean of the reciprocal weights.
    return [H, float(np.prod([x**-x for x in v["p"]]))]


def _entropy_of(T, sigma):
    """ln T + ln E[e^s] − E[s e^s]/E[e^s] by adaptive quadrature of the Gaussian averages."""
    norm = stats.norm(scale=sigma)
    one, _ = integrate.quad(lambda s: math.exp(s) * norm.pdf(s), -12 * sigma, 12 * sigma + sigma**2, epsabs=1e-12)
    two, _ = integrate.quad(lambda s: s * math.exp(s) * norm.pdf(s), -12 * sigma, 12 * sigma + sigma**2, epsabs=1e-12)
    return math.log(T) + math.log(one) - two / one


def entropy_gaussian(v):
    return _entropy_of(v["T"], v["sigma_s"])


def effective_keys(v):
    return math.exp(_entropy_of(v["T"], v["sigma_s"]))


def over_scaled_entropy(v):
    return _entropy_of(v["T"], v["d_k"] ** -0.5)


def validity_edge(v):
    """Bisection for the zero of the estimate."""
    low, high = 0.0, 20.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if v["T"] > math.exp(middle * middle / 2) else (low, middle)
    return low


def _alpha(v):
    return 1.0 if v["alpha"] == "one" else v["d_k"] ** -0.5


def _gap(v):
    """Bisection for the gap at which a two-key softmax gives w."""
    low, high = 0.0, 50.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if 1 / (1 + math.exp(-middle)) < v["w"] else (low, middle)
    return low


def _gap_variance(v):
    """Variance of α q·(k₁ − k₂) for a query of squared length d_k, by enumerating two-point key components."""
    one = np.var([a - b for a, b in itertools.product((-1, 1), repeat=2)])
    return _alpha(v) ** 2 * v["d_k"] * float(one)


def two_key_gap(v):
    return _gap(v) / _gap_variance(v) ** 0.5


def two_key_gauss(v):
    law = stats.norm(scale=_gap_variance(v) ** 0.5)
    return float(law.cdf(-_gap(v)) + law.sf(_gap(v)))


def two_key_exact(v):
    """Not over the chi-square: q·z is a sum of d_k/2 independent Laplace variables, whose tail is a finite sum.

    For m Laplace variables of scale b the sum is b (G₁ − G₂) with G's ~ Gamma(m); given G₂ the Gamma(m) tail is
    Poisson, which leaves rational coefficients and one exponential.
    """
    m = v["d_k"] // 2
    x = Fraction(_gap(v) / (_alpha(v) * 2**0.5)).limit_denominator(10**12)
    # P(G₁ − G₂ > x) = Σ_{k<m} e^{−x}/k! Σ_j C(k,j) x^{k−j} Γ(m+j)/(Γ(m) 2^{m+j})
    total = Fraction(0)
    for k in range(m):
        inner = sum(
            Fraction(math.comb(k, j) * math.perm(m + j - 1, j), 2 ** (m + j)) * x ** (k - j) for j in range(k + 1)
        )
        total += inner / math.factorial(k)
    return 2 * float(total * Fraction(math.exp(-float(x))))


def exact_by_quadrature(v):
    """The conditional tail averaged over scipy's chi-square."""
    law = stats.chi2(v["d_k"])
    c, a = _gap(v), _alpha(v)
    value, _ = integrate.quad(
        lambda n: 2 * stats.norm.sf(c / (a * math.sqrt(2 * n))) * law.pdf(n),
        *law.ppf([1e-15, 1 - 1e-15]), epsabs=1e-12, limit=300,
    )  # fmt: skip
    return float(value)


def fast_exact(v):
    """The finite sum in floats where d_k is small, quadrature otherwise (the fractions grow long)."""
    return two_key_exact(v) if v["d_k"] <= 48 else exact_by_quadrature(v)


ROUTES = {
    "scaling.dot_variance": dot_variance,
    "scaling.scaled_sd": scaled_sd,
    "scaling.right_multiplier": right_multiplier,
    "scaling.row_entropy": row_entropy,
    "scaling.entropy_gaussian": entropy_gaussian,
    "scaling.effective_keys": effective_keys,
    "scaling.over_scaled_entropy": over_scaled_entropy,
    "scaling.validity_edge": validity_edge,
    "scaling.two_key_gap": two_key_gap,
    "scaling.two_key_gauss": two_key_gauss,
    "scaling.two_key_exact": fast_exact,
}
