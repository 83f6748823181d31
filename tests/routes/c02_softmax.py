"""Independent routes for card 2: fifty-digit decimals, finite differences, bisection, arithmetic in the format."""

import math
from decimal import Decimal, localcontext

import numpy as np


def exact_softmax(scores, tau=1.0):
    """Weights from fifty-digit exponentials of the scores as they are, no maximum taken out."""
    with localcontext() as context:
        context.prec = 50
        terms = [(Decimal(s) / Decimal(tau)).exp() for s in scores]
        total = sum(terms)
        return [float(t / total) for t in terms]


def shift(v):
    return exact_softmax([s + v["c"] for s in v["scores"]])


def logsumexp(v):
    with localcontext() as context:
        context.prec = 50
        return float(sum(Decimal(s).exp() for s in v["scores"]).ln())


def temperature(v):
    return exact_softmax(v["scores"], v["tau"])


def temperature_limit(v):
    """The weights at a temperature so extreme that the limit is reached."""
    return [round(p, 9) for p in exact_softmax(v["scores"], 1e-3 if v["limit"] == "zero" else 1e12)]


def temperature_solve(v):
    """Bisection on the temperature; the better key's weight falls as it rises."""
    low, high = 1e-3, 1e3
    for _ in range(200):
        tau = math.sqrt(low * high)
        if exact_softmax_two(v["a"], tau) > v["w"]:
            low = tau
        else:
            high = tau
    return tau


def exact_softmax_two(gap, tau):
    return 1.0 / (1.0 + math.exp(-gap / tau))


def overflow_threshold(v):
    """Bisection for the largest argument whose exponential still fits, in fifty-digit decimals."""
    largest = {
        "fp16": Decimal(2 - 2.0**-10) * 2**15,
        "bf16": (2 - Decimal(2) ** -7) * Decimal(2) ** 127,
        "fp32": (2 - Decimal(2) ** -23) * Decimal(2) ** 127,
        "fp64": (2 - Decimal(2) ** -52) * Decimal(2) ** 1023,
    }[v["dtype"]]
    with localcontext() as context:
        context.prec = 400
        low, high = Decimal(0), Decimal(800)
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if middle.exp() <= largest else (low, middle)
        return float(low)


def safe_schemes(v):
    """Runs each scheme in the format itself and compares with float64."""
    form = {"fp16": np.float16, "fp32": np.float32}[v["dtype"]]
    s = np.array(v["scores"], dtype=np.float64)
    true = np.exp(s - s.max())
    true /= true.sum()
    right = []
    shifts = {"naive": 0.0, "subtract_max": s.max(), "subtract_min": s.min(), "subtract_mean": s.mean()}
    with np.errstate(all="ignore"):
        for name, c in shifts.items():
            terms = np.exp((s - c).astype(form))
            total = form(0)
            for t in terms:
                total = form(total + t)
            p = (terms / total).astype(np.float64)
            if np.isfinite(p).all() and np.isfinite(total) and np.abs(p - true).max() < 0.01:
                right.append(name)
    return sorted(right)


def lse_gradient(v):
    """Central differences of the tempered logsumexp in fifty-digit decimals."""
    with localcontext() as context:
        context.prec = 50
        tau, h = Decimal(v["tau"]), Decimal("1e-12")

        def f(s):
            return tau * sum((Decimal(x) / tau).exp() for x in s).ln()

        out = []
        for i in range(len(v["scores"])):
            up, down = [Decimal(x) for x in v["scores"]], [Decimal(x) for x in v["scores"]]
            up[i] += h
            down[i] -= h
            out.append(float((f(up) - f(down)) / (2 * h)))
        return out


def sum_overflow(v):
    """Adds one key after another until the total passes the largest number."""
    found = []
    for term in (Decimal(str(v["x"])).exp(), Decimal(1)):
        count, total = 0, Decimal(0)
        while total + term <= 65504:
            count, total = count + 1, total + term
        found.append(count)
    return found


ROUTES = {
    "softmax.shift": shift,
    "softmax.logsumexp": logsumexp,
    "softmax.temperature": temperature,
    "softmax.temperature_limit": temperature_limit,
    "softmax.temperature_solve": temperature_solve,
    "softmax.overflow_threshold": overflow_threshold,
    "softmax.safe_schemes": safe_schemes,
    "softmax.lse_gradient": lse_gradient,
    "softmax.sum_overflow": sum_overflow,
}
