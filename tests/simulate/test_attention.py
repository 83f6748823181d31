"""Block-wise attention against its definition in float64: every mask, every back end on the CPU, ragged shapes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.simulate.attention import attention, attention_flops, decode_attention
from solvers.simulate.reference import attention_reference

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

SHAPE = (2, 8, 2, 300, 300, 64)
TOLERANCE = {"float64": 1e-14, "float32": 5e-6, "float16": 3e-3, "bfloat16": 2e-2}


def inputs(B: int, h: int, H_kv: int, T_q: int, T_k: int, d: int, d_v: int | None = None, seed: int = 0) -> list[Any]:
    draw = np.random.default_rng(seed)
    return [draw.normal(size=shape) for shape in ((B, h, T_q, d), (B, H_kv, T_k, d), (B, H_kv, T_k, d_v or d))]


def as_torch(x: Any) -> Any:
    return torch.from_numpy(x) if isinstance(x, np.ndarray) else x


def error(found: Any, wanted: Any) -> tuple[float, float]:
    """Largest errors of o and lse; rows without a key must agree exactly."""
    o, lse = (np.asarray(x.double() if hasattr(x, "double") else x, dtype=float) for x in found)
    empty = np.isneginf(wanted.lse)
    assert np.array_equal(np.isneginf(lse), empty)
    assert (o[empty] == 0).all()
    return np.abs(o - wanted.o).max(initial=0), np.abs(lse[~empty] - wanted.lse[~empty]).max(initial=0)


@pytest.mark.parametrize("dtype", list(TOLERANCE))
def test_precision_of_each_dtype(dtype: str) -> None:
    kind = getattr(torch, dtype)
    tensors = [torch.from_numpy(x).to(kind) for x in inputs(*SHAPE)]
    wanted = attention_reference(*(x.double().numpy() for x in tensors), causal=True)
    found = attention(*tensors, causal=True, backend="torch")
    assert found.o.dtype == kind
    o, lse = error(found, wanted)
    assert o <= TOLERANCE[dtype]
    assert lse <= (1e-13 if dtype == "float64" else 5e-6)
    if dtype in ("float64", "float32"):
        o, lse = error(attention(*(x.numpy() for x in tensors), causal=True), wanted)
        assert o <= TOLERANCE[dtype] and lse <= (1e-13 if dtype == "float64" else 5e-6)


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("block", [(1, 7), (7, 13), (64, 300), (300, 1)])
def test_block_sizes_change_rounding_only(library: str, block: tuple[int, int]) -> None:
    q, k, v = inputs(1, 2, 1, 60, 75, 16)
    wanted = attention_reference(q, k, v, causal=True)
    if library == "torch":
        q, k, v = map(as_torch, (q, k, v))
    found = attention(q, k, v, causal=True, block_q=block[0], block_k=block[1])
    assert error(found, wanted)[0] <= 1e-14


@st.composite
def calls(draw: st.DrawFn) -> dict[str, Any]:
    """A ragged shape and a mix of masks."""
    group, H_kv = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    T_q, T_k = draw(st.integers(1, 40)), draw(st.integers(1, 40))
    B = draw(st.integers(1, 2))
    options: dict[str, Any] = {"causal": draw(st.booleans())}
    if options["causal"] and draw(st.booleans()):
        options |= {"window": draw(st.integers(1, 45)), "sinks": draw(st.integers(0, 5))}
    if draw(st.booleans()):
        options["key_lengths"] = [draw(st.integers(0, T_k)) for _ in range(B)]
    if draw(st.booleans()):
        options["soft_cap"] = draw(st.floats(0.5, 30))
    if draw(st.booleans()):
        options["qk_gain"] = draw(st.floats(0.1, 20))
    if draw(st.booleans()):
        shape = [n if draw(st.booleans()) else 1 for n in (B, group * H_kv, T_q, T_k)]
        options["mask"] = np.random.default_rng(draw(st.integers(0, 99))).random(shape) < 0.7
    return {
        "shape": (B, group * H_kv, H_kv, T_q, T_k, draw(st.integers(1, 9)), draw(st.integers(1, 9))),
        "options": options,
        "block": {"block_q": draw(st.integers(1, 50)), "block_k": draw(st.integers(1, 50))},
        "seed": draw(st.integers(0, 2**32 - 1)),
        "spread": draw(st.sampled_from([0.1, 1.0, 40.0])),
    }


@given(calls())
@settings(max_examples=150, deadline=None)
def test_any_shape_and_any_mask(call: dict[str, Any]) -> None:
    q, k, v = inputs(*call["shape"], seed=call["seed"])
    q = q * call["spread"]
    wanted = attention_reference(q, k, v, **call["options"])
    for convert in (np.asarray, as_torch):
        options = {n: convert(x) if n == "mask" else x for n, x in call["options"].items()}
        found = attention(*map(convert, (q, k, v)), **options, **call["block"])
        o, lse = error(found, wanted)
        assert o <= 1e-13 and lse <= 1e-13 * max(1.0, call["spread"] * 10)


def test_grouped_queries_are_repeated_keys() -> None:
    q, k, v = inputs(2, 8, 2, 40, 50, 16)
    a = attention(q, k, v, causal=True)
    b = attention(q, np.repeat(k, 4, 1), np.repeat(v, 4, 1), causal=True)
    assert np.abs(a.o - b.o).max() <= 1e-14


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_rows_before_every_key_are_zero(library: str) -> None:
    q, k, v = inputs(1, 2, 1, 9, 4, 8)
    if library == "torch":
        q, k, v = map(as_torch, (q, k, v))
    o, lse = attention(q, k, v, causal=True)  # bottom-right: rows 0..4 stand before the first key
    assert (o[:, :, :5] == 0).all() and (lse[:, :, :5] == -math.inf).all()
    assert np.isfinite(np.asarray(lse[:, :, 5:])).all()


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_hidden_keys_and_values_never_leak(library: str, bad: float) -> None:
    clean = inputs(1, 4, 2, 30, 30, 8)
    q, k, v = (x.copy() for x in clean)
    k[:, :, 20:], v[:, :, 20:] = bad, bad
    wanted = attention_reference(*clean, causal=True)
    if library == "torch":
        q, k, v = map(as_torch, (q, k, v))
    o = np.asarray(attention(q, k, v, causal=True, block_q=16, block_k=16).o)
    assert np.abs(o[:, :, :20] - wanted.o[:, :, :20]).max() <= 1e-14
    assert np.isnan(o[:, :, 20:]).all()  # these rows do see them
    o = np.asarray(attention(q, k, v, key_lengths=[20]).o)
    assert np.isfinite(o).all()


def test_large_and_very_negative_logits() -> None:
    half = torch.full((1, 1, 4, 64), 60.0, dtype=torch.float16)
    o, lse = attention(half, half, half, backend="torch")
    assert torch.isfinite(o).all()
    assert float(lse[0, 0, 0]) == pytest.approx(60 * 60 * 8 + math.log(4), abs=5e-3)  # 28,800 + ln 4 > no fp16 overflow
    q, k, v = np.full((1, 1, 1, 1), -1.0), np.array([[[[3e5], [2e5]]]]), np.array([[[[1.0], [2.0]]]])
    o, lse = attention(q, k, v, scale=1.0)
    assert o[0, 0, 0, 0] == 2.0 and lse[0, 0, 0] == -2e5


def test_scores_that_climb_from_tile_to_tile() -> None:
    # Each tile's maximum is far above the last one's, so the kept base must be given up every time.
    q, v = np.ones((1, 1, 80, 1)), np.random.default_rng(0).normal(size=(1, 1, 200, 3))
    for k in (np.arange(200.0) * 40, np.arange(200.0)[::-1] * 40):
        k = k.reshape(1, 1, 200, 1)
        wanted = attention_reference(q, k, v, scale=1.0)
        for convert in (np.asarray, as_torch):
            found = attention(*map(convert, (q, k, v)), scale=1.0, block_q=80, block_k=8)
            assert error(found, wanted)[0] <= 1e-14
    k = (np.arange(200.0) * 400).reshape(1, 1, 200, 1).astype(np.float32)
    found = attention(q.astype(np.float32), k, v.astype(np.float32), scale=1.0, block_q=80, block_k=8)
    assert np.isfinite(found.o).all()
    # e^80 fits float32, but not times values of this size.
    k = (np.arange(16) // 8 * 80.0).reshape(1, 1, 16, 1).astype(np.float32)
    large = np.full((1, 1, 16, 3), 1e6, dtype=np.float32)
    o, _ = attention(q.astype(np.float32), k, large, scale=1.0, block_q=80, block_k=8)
    assert np.abs(o / 1e6 - 1).max() <= 5e-6


def test_qk_norm_of_zeros_and_of_large_half_numbers() -> None:
    q, k, v = inputs(1, 1, 1, 3, 4, 64)
    k[:, :, 0] = 0  # a padded key has no direction: its logit is 0
    assert error(attention(q, k, v, qk_gain=2.0), attention_reference(q, k, v, qk_gain=2.0))[0] <= 1e-14
    large = [torch.from_numpy(x).half() * 60 for x in (q, k)] + [torch.from_numpy(v).half()]  # |q|² > 65,504
    o, lse = attention(*large, qk_gain=2.0)
    wanted = attention_reference(*(x.double().numpy() for x in large), qk_gain=2.0)
    assert np.abs(o.double().numpy() - wanted.o).max() <= 3e-3
    assert np.abs(lse.numpy() - wanted.lse).max() <= 3e-3


def test_weights_sum_to_one() -> None:
    q, k, _ = inputs(1, 2, 2, 50, 60, 8)
    o = attention(q, k, np.ones((1, 2, 60, 1)), causal=True).o
    assert np.abs(o - 1).max() <= 1e-14


def test_qk_norm_bounds_every_logit_and_weight() -> None:
    g, T = 3.0, 50
    q, k, _ = inputs(1, 1, 1, 20, T, 6)
    o, lse = attention(q * 100, k / 100, np.eye(T)[None, None], qk_gain=g)
    assert (np.abs(lse - math.log(T)) <= g).all()
    assert o.max() <= math.exp(g) / (math.exp(g) + (T - 1) * math.exp(-g))


@pytest.mark.parametrize("splits", [1, 3, 50, None])
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_split_decoding_is_the_last_row(library: str, splits: int | None) -> None:
    q, k, v = inputs(3, 6, 2, 1, 41, 8, 5)
    lengths = [0, 41, 17]
    wanted = attention_reference(q, k, v, key_lengths=lengths)
    if library == "torch":
        q, k, v = map(as_torch, (q, k, v))
    o, lse = decode_attention(q[:, :, 0], k, v, lengths=lengths, splits=splits)
    found = (np.asarray(o)[:, :, None], np.asarray(lse)[:, :, None])
    assert error(found, wanted)[0] <= 1e-14


@pytest.mark.parametrize(
    ("shapes", "options", "message"),
    [
        (((1, 3, 4, 8), (1, 2, 4, 8), (1, 2, 4, 8)), {}, "cannot share"),
        (((1, 2, 4, 8), (1, 2, 4, 7), (1, 2, 4, 8)), {}, "batch or width"),
        (((1, 2, 4, 8), (1, 2, 4, 8), (1, 2, 5, 8)), {}, "heads or length"),
        (((2, 4, 8), (1, 2, 4, 8), (1, 2, 4, 8)), {}, "4 axes"),
        (((1, 2, 4, 8),) * 3, {"window": 3}, "causal=True"),
        (((1, 2, 4, 8),) * 3, {"sinks": 3, "causal": True}, "only with a window"),
        (((1, 2, 4, 8),) * 3, {"key_lengths": [5]}, "from 0 to 4"),
        (((1, 2, 4, 8),) * 3, {"mask": np.ones((4, 4), bool)}, "does not broadcast"),
        (((1, 2, 4, 8),) * 3, {"mask": np.ones((1, 1, 4, 4))}, "booleans"),
        (((1, 2, 4, 8),) * 3, {"soft_cap": 0.0}, "positive"),
        (((1, 2, 4, 8),) * 3, {"backend": "mps"}, "unknown back end"),
        (((1, 2, 4, 8),) * 3, {"block_q": 0}, "at least 1"),
    ],
)
def test_calls_that_do_not_fit_are_refused(shapes: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        attention(*(np.zeros(s) for s in shapes), **options)


def test_arrays_of_two_libraries_are_refused() -> None:
    q, k, v = inputs(1, 1, 1, 2, 2, 2)
    with pytest.raises(ValueError, match="mixed"):
        attention(q, as_torch(k), v)


def test_the_usual_flop_convention() -> None:
    assert attention_flops(1, 1, 10, 10, 8) == 4 * 100 * 8
    assert attention_flops(2, 3, 10, 10, 8, causal=True) == 2 * 3 * 4 * 100 * 8 // 2
