"""Online softmax one row at a time, with every state kept: for worked solutions, in floats or exact numbers.

The recurrence is card 15's (Milakov and Gimelshein 2018; Dao et al. 2022): a running maximum m, normalizer
ℓ and unnormalized output u, rescaled by e^{m_old − m_new} whenever a block raises the maximum. Needs
nothing but Python.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

INF = math.inf


@dataclass(frozen=True, slots=True)
class State:
    """What one query row keeps: d_v + 2 numbers whatever T is.

    m: running maximum, −inf before the first visible key (in exact traces: the largest weight e^m, 0 before
    it). l: running normalizer on the base m. u: running unnormalized output on the base m, d_v numbers.
    """

    m: Any
    l: Any  # noqa: E741 - the recurrence's own letter
    u: tuple[Any, ...]

    @property
    def numbers(self) -> int:
        """How many numbers the state holds: d_v + 2."""
        return len(self.u) + 2

    @property
    def output(self) -> tuple[Any, ...]:
        """o = u/ℓ, the attention output over the keys seen so far; zeros where no key was visible."""
        if self.l == 0:
            return tuple(0 * x for x in self.u)
        return tuple(x / self.l for x in self.u)


@dataclass(frozen=True, slots=True)
class Step:
    """One block of the recurrence.

    keys: indices of the block's keys, counted from 0. rescale: e^{m_old − m_new}, 0 at the start.
    weights: e^{s_j − m_new} of the block's keys, 0 for a masked one. before, after: the states around it.
    """

    keys: range
    rescale: Any
    weights: tuple[Any, ...]
    before: State
    after: State

    @property
    def raised(self) -> bool:
        """Whether this block raised the maximum, so that the past had to be rescaled."""
        return bool(self.after.m > self.before.m)


@dataclass(frozen=True, slots=True)
class Trace:
    """All steps of a row in order; `final` is the last state."""

    steps: tuple[Step, ...]
    start: State

    @property
    def final(self) -> State:
        """The state after the last block (the start where there was none)."""
        return self.steps[-1].after if self.steps else self.start

    @property
    def states(self) -> tuple[State, ...]:
        """(m_0, ℓ_0, u_0) and every state after it."""
        return (self.start, *(s.after for s in self.steps))

    @property
    def output(self) -> tuple[Any, ...]:
        """o, d_v numbers."""
        return self.final.output

    @property
    def lse(self) -> float:
        """m + ln ℓ, the row's natural logsumexp; −inf where every key was masked. Float traces only."""
        return lse(self.final)


def lse(state: State) -> float:
    """The natural logsumexp m + ln ℓ of a float state, −inf for the empty state."""
    return -INF if state.l == 0 else float(state.m) + math.log(state.l)


def _vector(v: Any) -> tuple[Any, ...]:
    return tuple(v) if isinstance(v, (list, tuple)) or hasattr(v, "__len__") else (v,)


def _blocks(count: int, block: int | Sequence[int]) -> Iterator[range]:
    """Ranges of keys: blocks of one size (the last may be shorter) or of the sizes given, which must add
    up.
    """
    if isinstance(block, int):
        if block < 1:
            raise ValueError(f"a block holds at least one key, not {block}")
        sizes = [min(block, count - i) for i in range(0, count, block)]
    else:
        sizes = list(block)
        if sum(sizes) != count or min(sizes, default=1) < 0:
            raise ValueError(f"block sizes {sizes} do not add up to {count} keys")
    start = 0
    for size in sizes:
        yield range(start, start + size)
        start += size


def _walk(
    keys: Sequence[Any],
    values: Sequence[Any],
    block: int | Sequence[int],
    lowest: Any,
    ratio: Callable[..., Any],
) -> Trace:
    """The recurrence itself. ratio(a, b) is e^{a − b} in whatever the keys stand for; lowest is the start
    of m.
    """
    if len(keys) != len(values):
        raise ValueError(f"{len(keys)} scores but {len(values)} values")
    rows = [_vector(v) for v in values]
    width = len(rows[0]) if rows else 0
    if any(len(r) != width for r in rows):
        raise ValueError("the value vectors differ in length")
    start = state = State(lowest, 0, (0,) * width)
    steps = []
    for part in _blocks(len(keys), block):
        m = max([state.m, *(keys[j] for j in part)])
        rescale = 0 if state.l == 0 else ratio(state.m, m)
        weights = tuple(0 if keys[j] == lowest else ratio(keys[j], m) for j in part)
        seen = [(w, rows[j]) for w, j in zip(weights, part, strict=True) if w != 0]
        after = State(
            m,
            rescale * state.l + sum(w for w, _ in seen),
            tuple(rescale * x + sum(w * v[i] for w, v in seen) for i, x in enumerate(state.u)),
        )
        steps.append(Step(part, rescale, weights, state, after))
        state = after
    return Trace(tuple(steps), start)


def trace(
    scores: Sequence[Any],
    values: Sequence[Any],
    block: int | Sequence[int] = 1,
    *,
    exp: Callable[[Any], Any] = math.exp,
) -> Trace:
    """Run the recurrence over one row, keeping every state.

    scores: T numbers, already scaled; −inf masks a key, whose value is then never read. values: T vectors
    of d_v numbers (or T numbers). block: keys a block, or the list of block sizes. exp: the exponential of
    a difference of scores: `math.exp`, `sympy.exp` for symbolic states, `lambda x: Fraction(2) ** x` for
    base-2 scores kept exact.
    """
    return _walk(scores, values, block, -INF, lambda a, b: 1 if a == b else exp(a - b))


def trace_exact(weights: Sequence[Fraction | int], values: Sequence[Any], block: int | Sequence[int] = 1) -> Trace:
    """The same in exact rationals: weights are e^{s_j} (0 masks a key), and a state's m is e^m, the largest
    so far.

    Scores like ln 2 make every e^{s_j − m} a fraction, so ℓ and u stay fractions and the row's e^{lse} is
    m·ℓ.
    """
    if any(w < 0 for w in weights):
        raise ValueError("a weight e^s is never negative")
    exact = [Fraction(w) for w in weights]
    rows = [tuple(Fraction(x) for x in _vector(v)) for v in values]
    return _walk(exact, rows, block, Fraction(0), lambda a, b: a / b)


def merge(a: State, b: State, *, exp: Callable[[Any], Any] = math.exp) -> State:
    """The state over both sets of keys: both moved to the larger maximum, then added (card 15, step 7).

    The empty state (−inf, 0, 0) is the identity, also with itself.
    """
    if b.l == 0:
        return a
    if a.l == 0:
        return b
    m = max(a.m, b.m)
    x = 1 if a.m == m else exp(a.m - m)
    y = 1 if b.m == m else exp(b.m - m)
    return State(m, x * a.l + y * b.l, tuple(x * p + y * q for p, q in zip(a.u, b.u, strict=True)))
