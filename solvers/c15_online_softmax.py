"""Card 15: the online softmax, its running state, and merging partial results.

Source: card 15 (Milakov and Gimelshein 2018; Dao et al. 2022). A state is (m, l, u): running maximum, normaliser
l = Σ e^{s_j − m} and unnormalised output u = Σ e^{s_j − m} v_j over the keys seen so far. Scores are already scaled,
logarithms natural. Values here are scalars, one column of V; `solvers/simulate/trace.py` runs vectors and exact
fractions, `solvers/simulate/state.py` arrays.
"""

# ruff: noqa: E741 - l is the recurrence's own letter, and the catalogue's name of a parameter

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from grading.kinds.expression import Expression
from grading.kinds.integer import Integer
from grading.kinds.number import Number
from grading.kinds.parts import Part, Parts
from grading.kinds.table import Table
from grading.kinds.vector import Vector as VectorAnswer
from grading.tolerance import EQUIVALENT, EXACT, rel, within
from solvers.domains import Ints, Made, OneOf, Steps, Values, Vector
from solvers.draws import Draws
from solvers.drill import Card, Drill, Slip
from solvers.statements import Statement, minus, plus, statement_drill

Factor = Callable[[float, float], float]
"""By what the past sums are multiplied when the maximum goes from the first argument to the second."""
State = tuple[float, float, float]


def rescale_factor(m_old: float, m_new: float) -> float:
    """e^{m_old − m_new}, which moves sums from the old base to the new one; 0 from the start m_old = −∞."""
    return math.exp(m_old - m_new)


def advance(
    m: float,
    l: float,
    u: float,
    block: Sequence[float],
    values: Sequence[float],
    for_l: Factor = rescale_factor,
    for_u: Factor = rescale_factor,
) -> State:
    """The state after one more block of scores and scalar values. for_l, for_u: other factors, as in mistakes."""
    top = max(m, *block)
    weights = [math.exp(s - top) for s in block]
    new_l = for_l(m, top) * l + sum(weights)
    new_u = for_u(m, top) * u + sum(w * v for w, v in zip(weights, values, strict=True))
    return top, new_l, new_u


def blocks_of(items: Sequence[Any], block_size: int) -> list[Sequence[Any]]:
    """The items in blocks; the last may be shorter."""
    return [items[i : i + block_size] for i in range(0, len(items), block_size)]


def recurrence(
    scores: Sequence[float],
    values: Sequence[float],
    block_size: int,
    for_l: Factor = rescale_factor,
    for_u: Factor = rescale_factor,
) -> list[list[float]]:
    """(m, l, u) after every block of a row: one list of three numbers a block."""
    rows: list[list[float]] = []
    state: State | None = None
    for block, part in zip(blocks_of(scores, block_size), blocks_of(values, block_size), strict=True):
        if state is None:  # from m = −∞ the factor is 0 whatever the mistake
            state = advance(max(block), 0.0, 0.0, block, part)
        else:
            state = advance(*state, block, part, for_l, for_u)
        rows.append(list(state))
    return rows


def output(l: float, u: Sequence[float]) -> list[float]:
    """o = u/l for a finished state; u [d_v] → [d_v]."""
    return [x / l for x in u]


def state_logsumexp(m: float, l: float) -> float:
    """ln Σ e^{s_j} = m + ln l, in nats."""
    return m + math.log(l)


def merge(a: State, b: State, for_l: Factor = rescale_factor, for_u: Factor = rescale_factor) -> State:
    """The state over the keys of both: each moved to the larger maximum, then added."""
    m = max(a[0], b[0])
    l = for_l(a[0], m) * a[1] + for_l(b[0], m) * b[1]
    u = for_u(a[0], m) * a[2] + for_u(b[0], m) * b[2]
    return m, l, u


def merge_outputs(o_a: float, lse_a: float, o_b: float, lse_b: float) -> tuple[float, float]:
    """(o, logsumexp) over the keys of both from finished outputs and their logsumexps."""
    m = max(lse_a, lse_b)
    a, b = math.exp(lse_a - m), math.exp(lse_b - m)
    return (a * o_a + b * o_b) / (a + b), m + math.log(a + b)


def state_numbers(T: int, d_v: int, h: int = 1) -> int:
    """Running numbers of h heads with T query rows each: a maximum, a normaliser and d_v sums a row."""
    return h * T * (d_v + 2)


def unchanged(_old: float, _new: float) -> float:
    """The factor of a sum that is not rescaled."""
    return 1.0


def inverse_factor(m_old: float, m_new: float) -> float:
    """The factor with the wrong sign in its exponent."""
    return math.exp(m_new - m_old)


NEVER_RESCALED = (
    r"The old sums are added as they stand; once the maximum rises they must shrink by $e^{\text{old} - \text{new}}$."
)
U_NOT_RESCALED = r"Only $\ell$ is moved to the new maximum; $u$ stands on the same base and takes the same factor."
WRONG_SIGN = "The exponent is new minus old, which lets the past grow; it is old minus new, a factor of at most 1."
MAX_NOT_ADDED_BACK = r"Only the log of the normaliser is given; $\ell$ was measured from the maximum, so add $m$ back."
MAX_ONLY = r"The maximum alone is given; the other keys add $\ln \ell$ to it."


def _raised(scores: Sequence[float], values: Sequence[float], block_size: int) -> list[tuple[float, float]]:
    """(u before, rise) for every later block that raises the maximum."""
    rows = recurrence(scores, values, block_size)
    return [(a[2], b[0] - a[0]) for a, b in pairwise(rows) if b[0] > a[0]]


ROW = {
    "scores": Vector((3, 4, 6), Ints(-2, 4)),
    "values": Made(lambda draws, so_far: [draws.integer(0, 6) for _ in so_far["scores"]], like="vector"),
    "block_size": OneOf(1, 2, 3),
}


def _wrong_table(for_l: Factor, for_u: Factor) -> Callable[..., list[list[float]]]:
    return lambda scores, values, block_size: recurrence(scores, values, block_size, for_l, for_u)


def _next_row(values: Mapping[str, Any], index: int, own: Sequence[float]) -> list[float] | None:
    """Row `index` (from 0) of the table after the learner's own previous row; None where that is no state."""
    m, l, u = (float(x) for x in own)
    block, part = (blocks_of(values[name], values["block_size"])[index] for name in ("scores", "values"))
    return list(advance(m, l, u, block, part)) if l > 0.99 else None


def _trace_steps(
    scores: Sequence[float], values: Sequence[float], block_size: int, answer: list[list[float]]
) -> dict[str, Any]:
    """For every block: by how much the maximum rises, the factor on the past, the weights and what they add."""
    before = [answer[0], *answer[:-1]]
    weights = [
        [math.exp(s - row[0]) for s in block] for block, row in zip(blocks_of(scores, block_size), answer, strict=True)
    ]
    added_u = [
        sum(w * v for w, v in zip(block, part, strict=True))
        for block, part in zip(weights, blocks_of(values, block_size), strict=True)
    ]
    return {
        "rises": [row[0] - old[0] for row, old in zip(answer, before, strict=True)],
        "factors": [rescale_factor(old[0], row[0]) for row, old in zip(answer, before, strict=True)],
        "weights": weights,
        "added_l": [sum(block) for block in weights],
        "added_u": added_u,
        "known": answer[:-1],
        "last_factor": rescale_factor(before[-1][0], answer[-1][0]),
        "last_weights": weights[-1],
        "rows": answer,
    }


TRACE = Drill(
    id="online_softmax.trace",
    asks="run the one-pass recurrence over a row, block by block",
    stars=3,
    moves=("F",),
    params=ROW,
    require=lambda scores, values, block_size: (
        len(scores) > block_size and any(u > 0.5 for u, _ in _raised(scores, values, block_size))
    ),
    hold=("block_size",),
    solve=lambda scores, values, block_size: recurrence(scores, values, block_size),
    answer=Table(columns=("m", "l", "u"), tolerance=rel(0.01)),
    follow=_next_row,
    steps=_trace_steps,
    slips=(
        Slip("never_rescaled", _wrong_table(unchanged, unchanged), NEVER_RESCALED),
        Slip("u_not_rescaled", _wrong_table(rescale_factor, unchanged), U_NOT_RESCALED),
        Slip("wrong_sign", _wrong_table(inverse_factor, inverse_factor), WRONG_SIGN),
    ),
)


def _block_above(draws: Draws, so_far: Values) -> list[float]:
    """Three tenths in −2..6 whose maximum lies 0.2 to 4 above m_old."""
    old = round(so_far["m_old"] * 10)
    top = draws.integer(old + 2, min(60, old + 40))
    return [x / 10 for x in draws.shuffled([top, draws.integer(-20, top), draws.integer(-20, top)])]


RESCALE_FACTOR = Drill(
    id="online_softmax.rescale_factor",
    asks="the factor on the running sums when a block raises the maximum",
    stars=3,
    moves=("F",),
    params={"m_old": Steps(-2, 4, 0.1), "block": Made(_block_above, like="vector")},
    derive=lambda m_old, block: {"m_new": max(m_old, *block)},
    solve=rescale_factor,
    answer=Number(tolerance=within(0.001)),
    steps=lambda m_old, m_new, answer: {"m_new": m_new, "exponent": round(m_old - m_new, 10), "answer": answer},
    slips=(
        Slip("wrong_sign", inverse_factor, WRONG_SIGN),
        Slip(
            "no_rescale", lambda: 1, "The old sums are left as they are; they stand on the old maximum and must move."
        ),
        Slip(
            "exponent_only",
            lambda m_old, m_new: m_old - m_new,
            "Only the exponent is given; sums of exponentials are multiplied by e to that power.",
        ),
    ),
)


def _next_part(values: Mapping[str, Any], index: int, own: Sequence[Any]) -> float | None:
    """l or u of the new state if the learner's own new maximum is taken as given."""
    if own[0] is None or abs(own[0]) > 50:
        return None
    top = float(own[0])
    weights = [math.exp(s - top) for s in values["block"]]
    if index == 2:
        weights = [w * v for w, v in zip(weights, values["values"], strict=True)]
    old: float = values["lu"[index - 1]]
    return rescale_factor(values["m"], top) * old + sum(weights)


def _pair_above(draws: Draws, so_far: Values) -> list[int]:
    """Two integers in −1..6 whose maximum lies 1 to 3 above m."""
    top = draws.integer(so_far["m"] + 1, min(6, so_far["m"] + 3))
    return draws.shuffled([top, draws.integer(-1, top)])


def _wrong_update(for_l: Factor, for_u: Factor) -> Callable[..., list[float]]:
    return lambda m, l, u, block, values: list(advance(m, l, u, block, values, for_l, for_u))


UPDATE = Drill(
    id="online_softmax.update",
    asks="one step of the recurrence from a given state",
    stars=3,
    moves=("F",),
    params={
        "m": Ints(-1, 4),
        "l": Steps(1.0, 3.0, 0.1),
        "u": Steps(0.5, 6.0, 0.1),
        "block": Made(_pair_above, like="vector"),
        "values": Vector(2, Ints(0, 6)),
    },
    solve=lambda m, l, u, block, values: list(advance(m, l, u, block, values)),
    answer=Parts(
        parts=(
            Part("m", Number(tolerance=rel(0.01)), "the new maximum m"),
            Part("l", Number(tolerance=rel(0.01)), "the new normaliser l"),
            Part("u", Number(tolerance=rel(0.01)), "the new unnormalised output u"),
        ),
        tolerance=rel(0.01),
    ),
    follow=_next_part,
    steps=lambda m, block, values, answer: {
        "m_new": answer[0],
        "exponent": m - answer[0],
        "factor": rescale_factor(m, answer[0]),
        "weights": [math.exp(s - answer[0]) for s in block],
        "l_block": sum(math.exp(s - answer[0]) for s in block),
        "u_block": sum(math.exp(s - answer[0]) * v for s, v in zip(block, values, strict=True)),
        "l_new": answer[1],
        "u_new": answer[2],
        "state": answer,
    },
    slips=(
        Slip("never_rescaled", _wrong_update(unchanged, unchanged), NEVER_RESCALED),
        Slip("u_not_rescaled", _wrong_update(rescale_factor, unchanged), U_NOT_RESCALED),
        Slip("wrong_sign", _wrong_update(inverse_factor, inverse_factor), WRONG_SIGN),
    ),
)

HALVES = {
    "m_a": Ints(0, 5),
    "l_a": Steps(1, 2, 0.0001),
    "u_a": Steps(0.5, 16, 0.0001),
    "m_b": Made(
        lambda draws, so_far: draws.choice([m for m in range(6) if 1 <= abs(m - so_far["m_a"]) <= 3]), like="whole"
    ),
    "l_b": Steps(1, 2, 0.0001),
    "u_b": Steps(0.5, 16, 0.0001),
}


def _halves(m_a: float, l_a: float, u_a: float, m_b: float, l_b: float, u_b: float) -> dict[str, Any]:
    """The merged state and the two factors."""
    m, l, u = merge((m_a, l_a, u_a), (m_b, l_b, u_b))
    return {"m": m, "l": l, "u": u, "factor_a": rescale_factor(m_a, m), "factor_b": rescale_factor(m_b, m)}


def _merged_output(for_l: Factor, for_u: Factor) -> Callable[..., float]:
    def wrong(m_a: float, l_a: float, u_a: float, m_b: float, l_b: float, u_b: float) -> float:
        _, l, u = merge((m_a, l_a, u_a), (m_b, l_b, u_b), for_l, for_u)
        return u / l

    return wrong


MERGE = Drill(
    id="online_softmax.merge",
    asks="merge two partial states into the exact output",
    stars=3,
    moves=("F",),
    params=HALVES,
    derive=_halves,
    require=lambda l_a, u_a, l_b, u_b: abs(u_a / l_a - u_b / l_b) > 0.5,
    solve=lambda l, u: u / l,
    answer=Number(tolerance=rel(0.01)),
    steps=lambda m, factor_a, factor_b, l, u, answer: {
        "m": m,
        "factor_a": factor_a,
        "factor_b": factor_b,
        "u": u,
        "l": l,
        "answer": answer,
    },
    slips=(
        Slip(
            "averaged_outputs",
            lambda l_a, u_a, l_b, u_b: (u_a / l_a + u_b / l_b) / 2,
            "The two outputs are averaged evenly; each half counts by its share of the whole normaliser.",
        ),
        Slip(
            "never_rescaled",
            _merged_output(unchanged, unchanged),
            "Sums on different maxima are added; move both to the larger maximum first.",
        ),
        Slip("wrong_sign", _merged_output(inverse_factor, inverse_factor), WRONG_SIGN),
        Slip("u_not_rescaled", _merged_output(rescale_factor, unchanged), U_NOT_RESCALED),
    ),
)

MERGE_LOGSUMEXP = Drill(
    id="online_softmax.merge_logsumexp",
    asks="the logsumexp of a row from two partial states",
    stars=3,
    moves=("F",),
    params=HALVES,
    derive=_halves,
    solve=lambda m, l: state_logsumexp(m, l),
    answer=Number(unit="nats", tolerance=within(0.01)),
    steps=lambda m, factor_a, factor_b, l, answer: {
        "m": m,
        "factor_a": factor_a,
        "factor_b": factor_b,
        "l": l,
        "log": math.log(l),
        "answer": answer,
    },
    slips=(
        Slip(
            "summed",
            lambda m_a, l_a, m_b, l_b: state_logsumexp(m_a, l_a) + state_logsumexp(m_b, l_b),
            "The two logsumexps are added, which multiplies the sums; the sums themselves must be added.",
        ),
        Slip("max_only", lambda m: m, MAX_ONLY),
        Slip(
            "never_rescaled",
            lambda m, l_a, l_b: state_logsumexp(m, l_a + l_b),
            "Normalisers on different maxima are added; move both to the larger maximum first.",
        ),
        Slip("max_not_added_back", lambda l: math.log(l), MAX_NOT_ADDED_BACK),
    ),
)


def _away(name: str, low: int, high: int, nearest: int, farthest: int) -> Made:
    """Tenths in low..high (counted in tenths) that lie nearest..farthest from an earlier parameter."""

    def make(draws: Draws, so_far: Values) -> float:
        other = round(so_far[name] * 10)
        below = range(max(low, other - farthest), other - nearest + 1)
        above = range(other + nearest, min(high, other + farthest) + 1)
        tenths: int = draws.choice([*below, *above])
        return tenths / 10

    return Made(make)


MERGE_FROM_LSE = Drill(
    id="online_softmax.merge_from_lse",
    asks="combine two finished outputs by their logsumexps",
    stars=3,
    moves=("F",),
    params={
        "o_a": Steps(-2, 6, 0.1),
        "o_b": _away("o_a", -20, 60, 11, 80),
        "lse_a": Steps(1, 7, 0.1),
        "lse_b": _away("lse_a", 10, 70, 4, 30),
    },
    solve=lambda o_a, lse_a, o_b, lse_b: merge_outputs(o_a, lse_a, o_b, lse_b)[0],
    answer=Number(tolerance=within(0.01)),
    steps=lambda lse_a, lse_b, answer: {
        "exponent": round(lse_b - lse_a, 10),
        "odds": math.exp(lse_b - lse_a),
        "w_a": 1 / (1 + math.exp(lse_b - lse_a)),
        "w_b": 1 / (1 + math.exp(lse_a - lse_b)),
        "answer": answer,
    },
    slips=(
        Slip(
            "averaged_outputs",
            lambda o_a, o_b: (o_a + o_b) / 2,
            "The two outputs are averaged evenly; the half with the larger logsumexp holds more of the weight.",
        ),
        Slip(
            "weighted_by_lse",
            lambda o_a, lse_a, o_b, lse_b: (lse_a * o_a + lse_b * o_b) / (lse_a + lse_b),
            "The logsumexps themselves serve as weights; the sums they are logs of do, so exponentiate first.",
        ),
        Slip(
            "shares_swapped",
            lambda o_a, lse_a, o_b, lse_b: merge_outputs(o_b, lse_a, o_a, lse_b)[0],
            "Each output got the other half's share; the larger logsumexp gives the larger share.",
        ),
        Slip(
            "larger_lse_wins",
            lambda o_a, lse_a, o_b, lse_b: o_a if lse_a > lse_b else o_b,
            "Only the half with the larger logsumexp is taken; the other keeps a share that is small, not zero.",
        ),
    ),
)

ROW_LOGSUMEXP = Drill(
    id="online_softmax.row_logsumexp",
    asks="the one number of a row that the backward pass needs",
    stars=3,
    moves=("F",),
    params=ROW,
    derive=lambda scores, values, block_size: {"states": recurrence(scores, values, block_size)},
    require=lambda states: len(states) > 1 and states[-1][0] > states[0][0],
    hold=("block_size",),
    solve=lambda states: state_logsumexp(states[-1][0], states[-1][1]),
    answer=Number(unit="nats", tolerance=within(0.005)),
    steps=lambda scores, states, answer: {
        "m": states[-1][0],
        "weights": [math.exp(s - states[-1][0]) for s in scores],
        "l": states[-1][1],
        "log": math.log(states[-1][1]),
        "answer": answer,
    },
    slips=(
        Slip("max_not_added_back", lambda states: math.log(states[-1][1]), MAX_NOT_ADDED_BACK),
        Slip(
            "log_forgotten",
            lambda states: states[-1][0] + states[-1][1],
            r"The normaliser is added to the maximum without its log; the logsumexp is $m + \ln \ell$.",
        ),
        Slip("max_only", lambda states: states[-1][0], MAX_ONLY),
        Slip(
            "never_rescaled",
            lambda scores, values, block_size, states: state_logsumexp(
                states[-1][0], recurrence(scores, values, block_size, unchanged)[-1][1]
            ),
            NEVER_RESCALED,
        ),
    ),
    notes="tightened: the maximum rises after block 1, so that never_rescaled differs from the key",
)

OUTPUT = Drill(
    id="online_softmax.output",
    asks="the output of a row from its finished state",
    stars=3,
    moves=("F",),
    params={
        "T": OneOf(8, 16, 64, 128, 512, 1024),
        "m": Ints(1, 5),
        "l": Steps(1.2, 6.0, 0.1),
        "u": Vector(2, Steps(-6.0, 9.0, 0.1)),
    },
    require=lambda l, u: all(abs(x) >= 0.5 and abs(x) / l <= 6 for x in u),
    solve=lambda l, u: output(l, u),
    answer=VectorAnswer(tolerance=rel(0.01)),
    steps=lambda answer: {"o": answer},
    slips=(
        Slip(
            "not_divided", lambda u: u, r"The running sum $u$ is given; divide it by the normaliser $\ell$ at the end."
        ),
        Slip(
            "divided_by_max",
            lambda u, m: [x / math.exp(m) for x in u],
            r"The sum is divided by $e^m$; both $u$ and $\ell$ stand on the base $m$, so it cancels and $u/\ell$ "
            "is left.",
        ),
        Slip(
            "divided_by_count",
            lambda u, T: [x / T for x in u],
            "The sum is divided by the number of keys, as for equal weights; the weights add up to l.",
        ),
    ),
    notes="beyond the catalogue; slips u, u/e^m and u/T",
)

STATE_SIZE = Drill(
    id="online_softmax.state_size",
    asks="how many running numbers the recurrence carries",
    stars=3,
    moves=("S",),
    params={
        "T": OneOf(512, 1024, 4096, 131072),
        "d_v": OneOf(16, 32, 64, 80, 96, 128),
        "h": OneOf(1, 8, 12, 32),
    },
    require=lambda T, h: 4096 <= h * T <= 2**20,
    solve=state_numbers,
    answer=Integer(unit="numbers", tolerance=EXACT),
    steps=lambda T, d_v, answer: {"row": d_v + 2, "head": T * (d_v + 2), "answer": answer},
    slips=(
        Slip(
            "quadratic",
            lambda h, T: h * T * T,
            "The whole score matrix is counted; the recurrence never holds it, only a state for each query row.",
        ),
        Slip(
            "only_max_and_sum",
            lambda h, T: 2 * h * T,
            "Maximum and normaliser alone are counted; each row also carries its unnormalised output.",
        ),
        Slip(
            "one_scalar_lost",
            lambda h, T, d_v: h * T * (d_v + 1),
            "One scalar is missing; beside the output a row carries two, its maximum and its normaliser.",
        ),
        Slip(
            "one_row_only",
            lambda d_v: d_v + 2,
            "The state of a single row is given; every query row of every head has one.",
        ),
    ),
    notes="tightened: 4,096 to 1,048,576 query rows in all, so that answers stay within three decades",
)

UPDATE_RULE = Drill(
    id="online_softmax.update_rule",
    asks="the update of l or u for one key, as a formula",
    stars=3,
    moves=("F",),
    params={"target": OneOf("l", "u")},
    derive=lambda target: {"old": f"{target}_old", "new_term": "" if target == "l" else " v"},
    solve=lambda old, new_term: f"e^(m_old - m_new) {old} + e^(s - m_new){new_term}",
    answer=Expression(
        symbols={"m_old": "real", "m_new": "real", "l_old": "l_old > 0", "u_old": "real", "s": "real", "v": "real"},
        tolerance=EQUIVALENT,
    ),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip("wrong_sign", lambda old, new_term: f"e^(m_new - m_old) {old} + e^(s - m_new){new_term}", WRONG_SIGN),
        Slip("no_rescale", lambda old, new_term: f"{old} + e^(s - m_new){new_term}", NEVER_RESCALED),
        Slip(
            "old_base_for_new_key",
            lambda old, new_term: f"e^(m_old - m_new) {old} + e^(s - m_old){new_term}",
            "The new key is measured from the old maximum; both terms must stand on the new one.",
        ),
    ),
)

STATEMENTS = statement_drill(
    id="online_softmax.statements",
    asks="what is true of the one-pass recurrence",
    stars=3,
    moves=("F",),
    statements=(
        Statement(
            "an_approximation",
            "It approximates softmax attention instead of computing it exactly.",
            False,
            "Rescaling keeps the sums exact whatever the blocks; only rounding differs.",
        ),
        Statement(
            "exact_up_to_rounding",
            "In exact arithmetic it gives the same output as softmax attention computed over the whole row.",
            True,
            r"At the end the common factor $e^{-m}$ cancels between $u$ and $\ell$.",
        ),
        Statement(
            "fewer_flops",
            "It needs fewer FLOPs than computing the whole score matrix and then its softmax.",
            False,
            "Both products are done in full, and rescaling adds a little on top.",
        ),
        Statement(
            "same_factor_for_l_and_u",
            r"When the maximum rises, $\ell$ and $u$ are multiplied by the same factor.",
            True,
            "Both are sums of $e^{s_j - m}$ terms on the same base $m$.",
        ),
        Statement(
            "faster_by_less_memory_traffic",
            "Fused into one kernel it is faster because scores and weights never travel to main memory and back.",
            True,
            r"The $T \times T$ intermediates stay in on-chip memory, block by block.",
        ),
        Statement(
            "state_grows_with_T_per_row",
            "The running state of one query row grows with the number of keys.",
            False,
            "It is always a maximum, a normaliser and $d_v$ sums.",
        ),
        Statement(
            "block_size_changes_result",
            "In exact arithmetic, another block size gives another output.",
            False,
            "After any block the sums equal the direct sums over the keys seen so far.",
        ),
        Statement(
            "exponents_never_positive",
            "No exponent that it evaluates is ever positive.",
            True,
            "Scores and old maxima are measured from the new maximum, which is at least as large.",
        ),
        Statement(
            "halves_merge_exactly",
            "States of two halves of the keys, computed apart, can be merged into the exact result.",
            True,
            "Move both to the larger maximum and add.",
        ),
        Statement(
            "normaliser_can_reach_zero",
            r"After a block with finite scores, $\ell$ can still be arbitrarily close to zero.",
            False,
            r"The key that holds the maximum adds $e^0$, so $\ell$ is at least 1.",
        ),
    ),
    always=("an_approximation", "exact_up_to_rounding", "fewer_flops", "same_factor_for_l_and_u"),
    count=2,
    slips=(
        Slip(
            "approximation",
            lambda answer, options: minus(plus(answer, options, "an_approximation"), "exact_up_to_rounding"),
            "The recurrence is taken for an approximation; it is exact, since rescaled sums equal the direct sums.",
        ),
        Slip(
            "saves_flops",
            lambda answer, options: plus(answer, options, "fewer_flops"),
            "Fewer FLOPs are credited; it does all of them and a few more, and wins by moving fewer bytes.",
        ),
        Slip(
            "u_left_alone",
            lambda answer: minus(answer, "same_factor_for_l_and_u"),
            "The factor on u is denied; u stands on the same maximum as l and is rescaled with it.",
        ),
    ),
)

MERGE_FORMULA = Drill(
    id="online_softmax.merge_formula",
    asks="the merged output of two partial states as a formula",
    stars=3,
    moves=("F",),
    params={},
    solve=lambda: "(e^(m_a) u_a + e^(m_b) u_b)/(e^(m_a) l_a + e^(m_b) l_b)",
    answer=Expression(
        symbols={
            "m_a": "real",
            "l_a": "l_a > 0",
            "u_a": "real",
            "m_b": "real",
            "l_b": "l_b > 0",
            "u_b": "real",
        },
        tolerance=EQUIVALENT,
    ),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "no_rescale",
            lambda: "(u_a + u_b)/(l_a + l_b)",
            "Sums on different maxima are added; bring both to a common base first.",
        ),
        Slip(
            "mean_of_outputs",
            lambda: "(u_a/l_a + u_b/l_b)/2",
            "The two outputs are averaged evenly; each half counts by its share of the whole normaliser.",
        ),
        Slip(
            "wrong_sign",
            lambda: "(e^(-m_a) u_a + e^(-m_b) u_b)/(e^(-m_a) l_a + e^(-m_b) l_b)",
            "The factors are inverted; a state on base $m$ stands for sums $e^m$ times as large.",
        ),
    ),
)

LSE_MERGE_FORMULA = Drill(
    id="online_softmax.lse_merge_formula",
    asks="the logsumexp of a row from those of its halves, as a formula",
    stars=3,
    moves=("F",),
    params={},
    solve=lambda: "ln(e^x + e^y)",
    answer=Expression(symbols={"x": "real", "y": "real"}, tolerance=EQUIVALENT),
    steps=lambda answer: {"formula": answer},
    slips=(
        Slip(
            "sum",
            lambda: "x + y",
            "Adding the logs multiplies the sums; undo both logs, add, and take the log again.",
        ),
        Slip(
            "mean_weighting",
            lambda: "ln((e^x + e^y)/2)",
            "The two sums are averaged; the row's sum is their total, so there is no half.",
        ),
        Slip(
            "average",
            lambda: "(x + y)/2",
            "The logs are averaged; undo both logs, add the sums, and take the log again.",
        ),
    ),
)

CARD = Card(
    number=15,
    slug="c15_online_softmax",
    title="The online softmax",
    stars=3,
    moves=("F",),
    statement=(
        "One pass over the keys, block by block, with a running maximum, normaliser and unnormalised output, gives "
        "exact softmax attention: whenever the maximum rises, both sums move to the new base."
    ),
    formulas=(
        r"m_n = \max\left(m_{n-1}, \max_{j \in \mathcal{B}_n} s_j\right)",
        r"\ell_n = e^{m_{n-1} - m_n}\, \ell_{n-1} + \sum_{j \in \mathcal{B}_n} e^{s_j - m_n}",
        r"u_n = e^{m_{n-1} - m_n}\, u_{n-1} + \sum_{j \in \mathcal{B}_n} e^{s_j - m_n}\, v_j",
        r"o = \frac{u_N}{\ell_N}, \qquad \operatorname{lse} = m_N + \ln \ell_N",
        r"o = \frac{e^{m_a - m}\, u_a + e^{m_b - m}\, u_b}{e^{m_a - m}\, \ell_a + e^{m_b - m}\, \ell_b}",
    ),
    drills=(
        TRACE,
        RESCALE_FACTOR,
        UPDATE,
        MERGE,
        MERGE_LOGSUMEXP,
        MERGE_FROM_LSE,
        ROW_LOGSUMEXP,
        OUTPUT,
        STATE_SIZE,
        UPDATE_RULE,
        STATEMENTS,
        MERGE_FORMULA,
        LSE_MERGE_FORMULA,
    ),
)
