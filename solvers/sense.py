"""Parameters typed to `drillgen solve`, held against what their names mean: a width is at least 1, KV heads divide the
query heads, weights add up to one, a list has the length that the problem gives. Draws need none of this.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from solvers.domains import Domain, Matrix, Vector
from solvers.errors import BadParameter

COUNTS = frozenset(
    ("B", "H_kv", "L", "T", "block_size", "d", "d_ff", "d_h", "d_k", "d_v", "h", "h_new", "i", "j", "layers", "n_gpu",
     "r", "t", "window")
)  # fmt: skip
"""Sizes, and places counted from 1."""
POSITIVE = frozenset(
    ("C", "eps", "g", "l", "l_a", "l_b", "lam", "mem_gib", "r_0", "sigma_k", "sigma_q", "sigma_s", "sigma_v", "tau")
)
SHARES = frozenset(("p", "w"))
"""Strictly between 0 and 1; as a list: weights of a row."""
MOST = 10**15
MOST_HEADS = 10**6
"""Beyond these nobody asks, and loops over them would not end."""


def check(domains: Mapping[str, Domain], given: Mapping[str, Any]) -> None:
    """Raise `BadParameter` for the first value that makes no sense; `given` holds every parameter."""
    numbers = {n: v for n, v in given.items() if isinstance(v, int | float)}
    counts = COUNTS | {"m", "k", "n"} if {"m", "k", "n"} <= set(given) else COUNTS
    if "accelerator" in given:
        counts -= {"T"}  # an empty cache is one
    for name, value in numbers.items():
        _number(name, value, counts)
    _places(numbers)
    _heads(numbers)
    for name, value in given.items():
        if isinstance(value, list):
            _list(name, value, domains[name], given)


def _number(name: str, value: float, counts: Set[str]) -> None:
    if abs(value) > MOST or (name in ("H_kv", "L", "h", "h_new", "layers") and value > MOST_HEADS):
        raise BadParameter(f"{name}={value:g}: that is beyond what is worked out here")
    if name in counts and value < 1:
        raise BadParameter(f"{name}={value:g}: at least 1 is wanted")
    if name == "T" and value < 0:
        raise BadParameter(f"{name}={value:g}: at least 0 is wanted")
    if name in POSITIVE and value <= 0:
        raise BadParameter(f"{name}={value:g}: a number above 0 is wanted")
    if name in SHARES and not 0 < value < 1:
        raise BadParameter(f"{name}={value:g}: a share between 0 and 1 is wanted, both excluded")
    if name == "rho" and not -1 <= value <= 1:
        raise BadParameter(f"rho={value:g}: a correlation between -1 and 1 is wanted")


def _places(numbers: Mapping[str, float]) -> None:
    """Places in a sequence of T tokens, and head numbers."""
    for name in ("i", "j", "t"):
        if name in numbers and "T" in numbers and numbers[name] > numbers["T"]:
            raise BadParameter(f"{name}={numbers[name]:g}: there are only T={numbers['T']:g} places")
    if "n" in numbers and "T" in numbers and not 1 <= numbers["n"] <= numbers["T"]:
        raise BadParameter(f"n={numbers['n']:g}: between 1 and T={numbers['T']:g} is wanted")
    if "n" in numbers and "h" in numbers and not 0 <= numbers["n"] < numbers["h"]:
        raise BadParameter(f"n={numbers['n']:g}: the {numbers['h']:g} heads are counted from 0")
    if "window" in numbers and "n" in numbers and numbers["n"] < 0:
        raise BadParameter(f"n={numbers['n']:g}: at least 0 is wanted")


def _heads(numbers: Mapping[str, float]) -> None:
    """Query heads are shared out evenly among KV heads, a width among heads."""
    h, d = numbers.get("h"), numbers.get("d")
    if h and "H_kv" in numbers and h % numbers["H_kv"]:
        raise BadParameter(f"H_kv={numbers['H_kv']:g}: the KV heads must divide the h={h:g} query heads")
    if not h or not d:
        return
    if "d_h" in numbers:
        if h * numbers["d_h"] != d:
            raise BadParameter(f"d={d:g}: the h={h:g} heads of width d_h={numbers['d_h']:g} must make up the width d")
    elif "d_v" not in numbers:
        for name in ("h", "h_new"):
            if name in numbers and d % numbers[name]:
                raise BadParameter(f"{name}={numbers[name]:g}: the heads must share the width d={d:g} evenly")


def _list(name: str, value: list[Any], domain: Domain, given: Mapping[str, Any]) -> None:
    """Lengths as the problem has them, weights that are weights, reorderings that are reorderings."""
    rows = _wanted(getattr(domain, "length", None) if isinstance(domain, Vector) else None, given)
    columns = None
    if isinstance(domain, Matrix):
        rows, columns = _wanted(domain.rows, given), _wanted(domain.columns, given)
    elif name in ("keys", "p", "pi", "scores", "values") and "T" in given:
        rows = given["T"]
    elif name == "values" and isinstance(given.get("scores"), list):
        rows = len(given["scores"])
    if name == "heads" and "h" in given:
        rows = given["h"]
    if rows is not None and len(value) != rows:
        raise BadParameter(f"{name} holds {len(value)} {_things(len(value), domain)}, {rows} are wanted")
    if columns is not None and any(len(row) != columns for row in value):
        raise BadParameter(f"{name} has rows of {len(value[0])} numbers, {columns} are wanted")
    if name == "p" and (min(value) < 0 or abs(sum(value) - 1) > 1e-6):
        raise BadParameter("p: weights are at least 0 and add up to 1")
    if name == "pi" and sorted(value) != list(range(1, len(value) + 1)):
        raise BadParameter(f"pi: each of 1 to {len(value)} is wanted once")


def _things(count: int, domain: Domain) -> str:
    thing = "row" if isinstance(domain, Matrix) else "number"
    return thing if count == 1 else thing + "s"


def _wanted(length: object, given: Mapping[str, Any]) -> int | None:
    """The length that a domain names: a number, or another parameter; several possible ones say nothing."""
    if isinstance(length, str):
        return int(given[length])
    return length if isinstance(length, int) else None
