"""The online-softmax state on arrays: start, update by a block of keys, finalise, merge partial results.

Every function takes numpy arrays or torch tensors (any device) and returns the same kind. lse is the natural
logarithm everywhere; libraries that store base 2 (FlashInfer, Triton's tutorial) are converted by
`lse_to_base`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple


class SoftmaxState(NamedTuple):
    """m, l: [...]; u: [..., d_v]. Before any key: m = −inf, l = 0, u = 0."""

    m: Any
    l: Any  # noqa: E741 - the recurrence's own letter
    u: Any


class Partial(NamedTuple):
    """A finished result over some keys: o [..., d_v] and its natural lse [...]; (0, −inf) where none was
    visible.
    """

    o: Any
    lse: Any


def namespace(x: Any) -> Any:
    """The module (numpy or torch) whose functions work on x."""
    if type(x).__module__.partition(".")[0] == "torch":
        import torch

        return torch
    import numpy as np

    return np


def init_state(shape: tuple[int, ...], d_v: int, *, like: Any = None) -> SoftmaxState:
    """The empty state for query rows of that shape; dtype and device of `like` (float64 numpy without it)."""
    if like is None:
        import numpy as np

        like = np.empty(0)
    xp = namespace(like)
    place = {"dtype": like.dtype} if xp.__name__ == "numpy" else {"dtype": like.dtype, "device": like.device}
    return SoftmaxState(xp.full(shape, -math.inf, **place), xp.zeros(shape, **place), xp.zeros((*shape, d_v), **place))


def clean(v: Any) -> tuple[Any, Any]:
    """v with its non-finite numbers set to 0, and where they were (None where all are finite)."""
    xp = namespace(v)
    finite = xp.isfinite(v)
    if bool(finite.all()):
        return v, None
    return xp.where(finite, v, xp.zeros_like(v)), ~finite


def weighted(p: Any, v: Any, visible: Any = None) -> Any:
    """p @ v, in which an invisible key's value never counts, not even as 0 · NaN.

    p: [..., n] or [..., r, n] weights; v: [..., n, d_v]; visible: booleans like p (None: p > 0 decides).
    """
    xp = namespace(p)
    kept, bad = clean(v)
    out = xp.matmul(p, kept)
    if bad is not None:
        # A visible NaN must stay NaN: mark the outputs that a visible non-finite value reaches.
        seen = (p > 0) if visible is None else visible
        hit = xp.matmul(seen + xp.zeros_like(p), bad + xp.zeros_like(kept)) > 0
        out = xp.where(hit, xp.full_like(out, math.nan), out)
    return out


def update_state(state: SoftmaxState, scores: Any, values: Any) -> SoftmaxState:
    """The state after one more block.

    scores: [..., n], already scaled, −inf where masked; values: [n, d_v] or [..., n, d_v].
    """
    if scores.shape[-1] == 0:
        return state
    xp = namespace(scores)
    m = xp.maximum(state.m, xp.amax(scores, -1))
    base = xp.where(m == -math.inf, xp.zeros_like(m), m)  # rows that saw no key yet: e^{−inf − 0} = 0, no NaN
    rescale = xp.exp(state.m - base)
    p = xp.exp(scores - base[..., None])
    added = weighted(p[..., None, :], values)[..., 0, :]
    return SoftmaxState(m, rescale * state.l + p.sum(-1), rescale[..., None] * state.u + added)


def finalise(state: SoftmaxState) -> Partial:
    """(o, lse) = (u/ℓ, m + ln ℓ); (0, −inf) for rows that saw no key."""
    xp = namespace(state.l)
    empty = state.l == 0
    safe = xp.where(empty, xp.ones_like(state.l), state.l)
    lse = xp.where(empty, xp.full_like(safe, -math.inf), state.m + xp.log(safe))
    return Partial(state.u / safe[..., None], lse)


def merge_states(a: SoftmaxState, b: SoftmaxState) -> SoftmaxState:
    """The state over both sets of keys. Commutative to the bit; the empty state is the identity."""
    xp = namespace(a.m)
    m = xp.maximum(a.m, b.m)
    base = xp.where(m == -math.inf, xp.zeros_like(m), m)
    x, y = xp.exp(a.m - base), xp.exp(b.m - base)
    return SoftmaxState(m, x * a.l + y * b.l, x[..., None] * a.u + y[..., None] * b.u)


def merge_partials(a: Partial, b: Partial) -> Partial:
    """Two finished results (natural lse) over disjoint keys as one: two GPUs, or two splits of a cache.

    A side whose lse is −inf contributes nothing whatever its o holds; two empty sides give (0, −inf).
    """
    xp = namespace(a.lse)
    m = xp.maximum(a.lse, b.lse)
    base = xp.where(m == -math.inf, xp.zeros_like(m), m)
    x, y = xp.exp(a.lse - base), xp.exp(b.lse - base)
    total = x + y
    empty = total == 0
    safe = xp.where(empty, xp.ones_like(total), total)
    lse = xp.where(empty, xp.full_like(total, -math.inf), base + xp.log(safe))
    # A side without weight is left out by selection, so its o may hold anything (0 · NaN would leak), and
    # the other side's numbers pass through untouched: the identity is exact.
    both = (x / safe)[..., None] * a.o + (y / safe)[..., None] * b.o
    o = xp.where((y == 0)[..., None], a.o, xp.where((x == 0)[..., None], b.o, both))
    o = xp.where(empty[..., None], xp.zeros_like(o), o)
    lse = xp.where(y == 0, a.lse, xp.where(x == 0, b.lse, lse))
    return Partial(o, lse)


def merge_many(parts: Iterable[Partial]) -> Partial:
    """Fold of `merge_partials` from the left. ValueError for no part at all (their shape would be unknown)."""
    result: Partial | None = None
    for part in parts:
        result = part if result is None else merge_partials(result, part)
    if result is None:
        raise ValueError("nothing to merge: at least one partial result is needed")
    return result


def lse_to_base(lse: Any, *, from_: float | str = 2, to: float | str = "e") -> Any:
    """A logsumexp re-expressed in another base: log_to Σe^s = log_from Σe^s · ln from / ln to. "e" is
    natural.
    """
    log = {"e": 1.0}
    old = log[from_] if isinstance(from_, str) else math.log(from_)
    new = log[to] if isinstance(to, str) else math.log(to)
    return lse * (old / new)
