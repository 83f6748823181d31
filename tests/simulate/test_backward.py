"""Gradients with recomputed weights against autograd in float64, over masks and ragged shapes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.simulate.attention import attention, attention_backward

torch = pytest.importorskip("torch")
torch.set_num_threads(1)


def plain(q: Any, k: Any, v: Any, *, soft_cap: float | None = None, qk_gain: float | None = None,
          seen: Any = None) -> Any:  # fmt: skip
    """Attention with the whole matrix, in ordinary torch operations that autograd can follow."""
    group = q.shape[1] // k.shape[1]
    scale = 1 / math.sqrt(q.shape[-1])
    if qk_gain is not None:
        q, k, scale = q / q.norm(dim=-1, keepdim=True), k / k.norm(dim=-1, keepdim=True), qk_gain
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    s = q @ k.mT * scale
    if soft_cap is not None:
        s = soft_cap * torch.tanh(s / soft_cap)
    if seen is None:
        return torch.softmax(s, -1) @ v
    p = torch.softmax(s.masked_fill(~seen, -math.inf), -1)
    return torch.where(seen.any(-1, keepdim=True), p, torch.zeros_like(p)).nan_to_num(0.0) @ v


def visible(T_q: int, T_k: int, window: int | None = None, sinks: int = 0) -> Any:
    i, j = torch.arange(T_q)[:, None] + T_k - T_q, torch.arange(T_k)[None]
    seen = j <= i
    return seen if window is None else seen & ((i - j < window) | (j < sinks))


def gradients(q: Any, k: Any, v: Any, do: Any, **options: Any) -> list[Any]:
    leaves = [x.clone().requires_grad_() for x in (q, k, v)]
    plain(*leaves, **options).backward(do)
    return [x.grad for x in leaves]


CASES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("full", {}, {}),
    ("causal", {"causal": True}, {"seen": visible(30, 37)}),
    ("window", {"causal": True, "window": 7, "sinks": 3}, {"seen": visible(30, 37, 7, 3)}),
    ("cap", {"soft_cap": 2.0}, {"soft_cap": 2.0}),
    ("gain", {"qk_gain": 4.0}, {"qk_gain": 4.0}),
    ("padding", {"key_lengths": [37, 11]}, {"seen": torch.arange(37) < torch.tensor([37, 11])[:, None, None, None]}),
]


@pytest.mark.parametrize(("ours", "theirs"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
@pytest.mark.parametrize("block", [(9, 5), (None, None)])
def test_gradients_are_autograds(ours: dict[str, Any], theirs: dict[str, Any], block: Any) -> None:
    torch.manual_seed(0)
    q, do = torch.randn(2, 4, 30, 8, dtype=torch.float64), torch.randn(2, 4, 30, 6, dtype=torch.float64)
    k, v = torch.randn(2, 2, 37, 8, dtype=torch.float64), torch.randn(2, 2, 37, 6, dtype=torch.float64)
    wanted = gradients(q, k, v, do, **theirs)
    tiles = {"block_q": block[0], "block_k": block[1]}
    for convert in (lambda x: x, lambda x: x.numpy()):
        a = [convert(x) for x in (q, k, v)]
        o, lse = attention(*a, **ours, **tiles)
        found = attention_backward(*a, o, lse, convert(do), **ours, **tiles)
        for x, y in zip(found, wanted, strict=True):
            assert np.abs(np.asarray(x) - y.numpy()).max() <= 1e-12
    a = [x.float() for x in (q, k, v)]
    o, lse = attention(*a, **ours)
    for x, y in zip(attention_backward(*a, o, lse, do.float(), **ours), wanted, strict=True):
        assert float((x - y).abs().max() / y.abs().max()) <= 1e-5


@given(st.integers(1, 3), st.integers(1, 2), st.integers(1, 20), st.integers(1, 20), st.integers(0, 9999))
@settings(max_examples=40, deadline=None)
def test_ragged_shapes_and_random_masks(group: int, H_kv: int, T_q: int, T_k: int, seed: int) -> None:
    torch.manual_seed(seed)
    q, do = (torch.randn(1, group * H_kv, T_q, 5, dtype=torch.float64) for _ in range(2))
    k, v = (torch.randn(1, H_kv, T_k, 5, dtype=torch.float64) for _ in range(2))
    mask = torch.rand(1, group * H_kv, T_q, T_k) < 0.6
    o, lse = attention(q, k, v, mask=mask, block_q=7, block_k=6)
    found = attention_backward(q, k, v, o, lse, do, mask=mask, block_q=7, block_k=6)
    some = mask.any(-1, keepdim=True)
    # Rows without a key have no gradient; autograd is asked only about the others.
    wanted = gradients(q, k, v, torch.where(some, do, 0.0), seen=mask | ~some)
    for x, y in zip(found, wanted, strict=True):
        assert float((x - y).abs().max()) <= 1e-12


def test_gradcheck() -> None:
    class Ours(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, q: Any, k: Any, v: Any) -> Any:
            o, lse = attention(q, k, v, causal=True, soft_cap=3.0)
            ctx.save_for_backward(q, k, v, o, lse)
            return o

        @staticmethod
        def backward(ctx: Any, do: Any) -> Any:
            return attention_backward(*ctx.saved_tensors, do, causal=True, soft_cap=3.0)

    torch.manual_seed(1)
    q, k, v = (torch.randn(1, h, 8, 3, dtype=torch.float64, requires_grad=True) for h in (2, 1, 1))
    assert torch.autograd.gradcheck(Ours.apply, (q, k, v))


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_hidden_numbers_leave_no_trace_in_gradients(bad: float) -> None:
    torch.manual_seed(2)
    q, do = (torch.randn(1, 2, 6, 4, dtype=torch.float64) for _ in range(2))
    k, v = (torch.randn(1, 1, 9, 4, dtype=torch.float64) for _ in range(2))
    mask = (torch.arange(9) != 4)[None, None, None].expand(1, 1, 6, 9)
    wanted = gradients(q, k, v, do, seen=mask)
    k[:, :, 4], v[:, :, 4] = bad, bad
    o, lse = attention(q, k, v, mask=mask)
    for x, y in zip(attention_backward(q, k, v, o, lse, do, mask=mask), wanted, strict=True):
        assert float((x - y).abs().max()) <= 1e-12
