"""Caches report the bytes of their own arrays, and decoding through any of them is the full causal pass."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers import facts
from solvers.simulate.attention import Unavailable, attention, decode_attention
from solvers.simulate.blocks import BlockPool, OutOfBlocks
from solvers.simulate.cache import (
    CacheShape,
    ContiguousCache,
    Int8Cache,
    LatentCache,
    SinkWindowCache,
    array,
    decode_int8,
    encode_int8,
)
from solvers.simulate.decoding import decode_check, eviction, round_to
from solvers.simulate.paged import PagedCache

torch = pytest.importorskip("torch")

PUBLISHED = [
    ("llama2-7b", 4096, 1, 2**31), ("llama2-7b", 4096, 8, 16 * 2**30), ("llama3-8b", 131072, 1, 16 * 2**30),
    ("llama3-8b", 4096, 1, 536_870_912), ("gpt2-small", 1, 1, 36 * 1024), ("llama2-70b", 1, 1, 320 * 1024),
    ("falcon-7b", 1, 1, 8192),
]  # fmt: skip


@pytest.mark.parametrize(("name", "T", "batch", "nbytes"), PUBLISHED)
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_measured_bytes_of_published_models(name: str, T: int, batch: int, nbytes: int, library: str) -> None:
    shape = CacheShape.of(facts.model(name))
    cache = ContiguousCache(shape, batch, T, library=library, device="meta")
    assert cache.nbytes == sum(x.nbytes for x in cache.arrays.values()) == nbytes
    paged = PagedCache(shape, batch * -(-T // 16), 16, library=library, device="meta")
    assert paged.nbytes == nbytes * (-(-T // 16) * 16) // T
    assert paged.page_bytes * paged.pool.count == paged.nbytes


def test_a_wrong_layout_shows_in_the_bytes() -> None:
    model = facts.model("llama3-8b")
    right = ContiguousCache(CacheShape.of(model), 1, 64, device="meta").nbytes
    assert right == 2 * 32 * 8 * 128 * 2 * 64
    query_heads = CacheShape(model.L, model.h, model.d_h, model.d_h)
    keys_only = CacheShape(model.L, model.H_kv, model.d_h, model.d_h, tensors=("k",))
    wide = CacheShape.of(model, "fp32")
    measured = [ContiguousCache(s, 1, 64, device="meta").nbytes for s in (query_heads, keys_only, wide)]
    assert measured == [4 * right, right // 2, 2 * right]


def test_int8_halves_the_payload_and_adds_scales() -> None:
    shape = CacheShape.of(facts.model("llama2-7b"), "int8")
    cache = Int8Cache(shape, 1, 10, device="meta")
    assert cache.arrays["k"].nbytes + cache.arrays["v"].nbytes == 10 * 256 * 1024
    assert cache.nbytes == 10 * 2 * 32 * 32 * (128 + 2)


def test_latent_bytes_have_no_heads() -> None:
    cache = LatentCache(60, 512, 64, 2, 100, library="torch", dtype="bf16", device="meta")
    assert cache.nbytes == 60 * 2 * 100 * (512 + 64) * 2


@pytest.mark.parametrize(
    ("dtype", "size"), [("fp64", 8), ("fp32", 4), ("fp16", 2), ("bf16", 2), ("fp8", 1), ("int8", 1)]
)
def test_dtypes_on_the_meta_device(dtype: str, size: int) -> None:
    x = array((3, 10**6, 10**6), dtype, "torch", "meta")
    assert x.nbytes == 3 * 10**12 * size and x.is_meta
    if dtype in ("bf16", "fp8"):
        with pytest.raises(Unavailable, match=r"drillgen\[torch\]"):
            array((1,), dtype, "numpy", "cpu")


@pytest.mark.parametrize(("h", "H_kv"), [(4, 4), (8, 2), (4, 1), (71, 1)])
@pytest.mark.parametrize("dtype", ["fp64", "fp16", "bf16", "int8"])
def test_decoding_is_the_causal_pass(h: int, H_kv: int, dtype: str) -> None:
    check = decode_check(h, H_kv, 32, 4096, dtype, seed=3)
    assert (check.layers, check.T) == (2, 64)
    assert check.h * H_kv == check.H_kv * h
    assert 0 < check.error <= 1e-13


def test_latent_attention_is_attention_over_expanded_heads() -> None:
    draw = np.random.default_rng(0)
    h, d_n, d_r, d_c, d_v, T = 3, 8, 4, 6, 5, 20
    latent, rope = draw.normal(size=(1, T, d_c)), draw.normal(size=(1, T, d_r))
    up_k, up_v = draw.normal(size=(h, d_c, d_n)), draw.normal(size=(h, d_c, d_v))
    q_n, q_r = draw.normal(size=(1, h, T, d_n)), draw.normal(size=(1, h, T, d_r))
    cache = LatentCache(1, d_c, d_r, 1, T, dtype="fp64")
    for t in range(T):
        cache.append(0, latent[:, t : t + 1], rope[:, t : t + 1])
    k, v = cache.view(0)
    absorbed = np.concatenate([np.einsum("bhtn,hcn->bhtc", q_n, up_k), q_r], -1)
    scale = 1 / math.sqrt(d_n + d_r)
    o = np.einsum("bhtc,hcv->bhtv", attention(absorbed, k, v, causal=True, scale=scale).o, up_v)
    wide_k = np.concatenate(
        [np.einsum("btc,hcn->bhtn", latent, up_k), np.broadcast_to(rope[:, None], (1, h, T, d_r))], -1
    )
    wide_v = np.einsum("btc,hcv->bhtv", latent, up_v)
    wanted = attention(np.concatenate([q_n, q_r], -1), wide_k, wide_v, causal=True, scale=scale).o
    assert np.abs(o - wanted).max() <= 1e-13


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_sink_window_cache_is_the_mask(library: str) -> None:
    sinks, window, T = 3, 7, 40
    draw = np.random.default_rng(1)
    q, k, v = (draw.normal(size=(2, h, T, 4)) for h in (4, 2, 2))
    if library == "torch":
        q, k, v = map(torch.from_numpy, (q, k, v))
    wanted = attention(q, k, v, causal=True, window=window, sinks=sinks).o
    cache = SinkWindowCache(CacheShape(1, 2, 4, 4, "fp64"), 2, sinks, window, library=library)
    fixed = cache.nbytes
    for t in range(T):
        cache.append(0, k[:, :, t : t + 1], v[:, :, t : t + 1])
        assert cache.live(0) <= sinks + window and cache.nbytes == fixed
        o = attention(q[:, :, t : t + 1], *cache.view(0)).o
        # The mask counts the newest `window` keys among all; the cache keeps them beside the sinks.
        assert float(abs(o - wanted[:, :, t : t + 1]).max()) <= 1e-14
    assert cache.positions(0) == [0, 1, 2, *range(33, 40)]


def test_eviction_needs_the_sinks() -> None:
    kept, dropped = eviction(kept=4), eviction(kept=0)
    assert kept.sink_weight == pytest.approx(0.9, abs=0.02)
    assert kept.error < 0.01
    assert dropped.error == pytest.approx(
        1 / (1 - kept.sink_weight) - 1, rel=0.1
    )  # the parked weight falls on the rest
    assert (kept.live, dropped.live) == (68, 64)


@given(st.integers(0, 2**32 - 1), st.floats(-12, 12))
@settings(max_examples=40, deadline=None)
def test_int8_rows_are_within_half_a_step(seed: int, log: float) -> None:
    x = np.random.default_rng(seed).normal(size=(5, 16)) * math.exp(log / 2)
    x[0] = 0
    codes, scale = encode_int8(x)
    assert codes.dtype == np.int8 and scale.dtype == np.float16
    step = scale.astype(float)[:, None]
    # fp16 rounds the scale by up to 2^-11 of itself (more below its normal range), which moves the largest codes.
    assert (np.abs(decode_int8(codes, scale) - x) <= 0.5 * step + 127 * (step * 2**-11 + 2**-25)).all()
    wide = torch.from_numpy(x)
    assert (encode_int8(wide)[0].numpy() == codes).all()


def test_rounding_is_torchs() -> None:
    draw = np.random.default_rng(5)
    x = draw.normal(size=4000) * np.exp(draw.normal(size=4000) * 4)
    for dtype, kind in (("fp16", torch.float16), ("bf16", torch.bfloat16), ("fp8", torch.float8_e4m3fn)):
        y = np.clip(x, -448, 448) if dtype == "fp8" else np.clip(x, -6e4, 6e4)
        assert (torch.from_numpy(y).to(kind).double().numpy() == round_to(y, dtype)).all()


def test_full_caches_refuse() -> None:
    cache = ContiguousCache(CacheShape(1, 1, 2, 2, "fp64"), 1, 3)
    cache.append(0, np.ones((1, 1, 3, 2)), np.ones((1, 1, 3, 2)))
    with pytest.raises(MemoryError, match="3 \\+ 1 do not fit"):
        cache.append(0, np.ones((1, 1, 1, 2)), np.ones((1, 1, 1, 2)))


# --- paging


class Model:
    """What a paged cache should hold: a list of rows per sequence, and nothing shared."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Any]] = {}


@given(
    st.lists(st.tuples(st.sampled_from("afxw"), st.integers(0, 9), st.integers(1, 5)), max_size=30), st.integers(1, 4)
)
@settings(max_examples=60, deadline=None)
def test_pages_behave_like_separate_lists(steps: list[tuple[str, int, int]], page: int) -> None:
    cache = PagedCache(CacheShape(2, 1, 1, 1, "fp64"), 12, page)
    rows: dict[str, list[float]] = {}
    ticket = 0.0
    for action, which, n in steps:
        names = sorted(rows)
        name = names[which % len(names)] if names else None
        new = f"s{len(rows)}-{ticket}"
        ticket += 1
        try:
            if action == "a" or name is None:
                cache.add(new)
                rows[new] = []
            elif action == "f":
                cache.fork(name, new)
                rows[new] = list(rows[name])
            elif action == "x":
                cache.free(name)
                del rows[name]
            else:
                at = cache.extend(name, n)
                values = [ticket + i / 100 for i in range(n)]
                for layer in range(2):
                    x = np.array(values).reshape(1, n, 1)
                    cache.write(name, layer, at.start, x, -x)
                rows[name] += values
        except OutOfBlocks:
            pass  # all or nothing: the laws below must hold as if it had not been tried
        for known, wanted in rows.items():
            assert cache.lengths[known] == len(wanted)
            for layer in range(2):
                k, v = cache.view(known, layer)
                assert k[0, :, 0].tolist() == wanted and (-v[0, :, 0]).tolist() == wanted
        owners = [b for t in cache.tables.values() for b in t]
        assert all(cache.pool.references[b] == owners.count(b) for b in range(12))
        assert cache.pool.held == len(set(owners)) and cache.held_bytes == len(set(owners)) * cache.page_bytes
        assert 0 <= cache.unused_slots < max(1, page * max(1, len(set(owners))))


def test_a_fork_copies_only_what_it_writes() -> None:
    cache = PagedCache(CacheShape(1, 1, 1, 1, "fp64"), 10, 4)
    cache.add("a")
    cache.write("a", 0, cache.extend("a", 6).start, np.arange(6.0).reshape(1, 6, 1), np.zeros((1, 6, 1)))
    cache.fork("a", "b")
    assert cache.pool.held == 2
    at = cache.extend("b")
    assert cache.pool.held == 3 and cache.copies == 1
    cache.write("b", 0, at.start, np.full((1, 1, 1), 9.0), np.zeros((1, 1, 1)))
    assert cache.view("a", 0)[0][0, :, 0].tolist() == [0, 1, 2, 3, 4, 5]
    assert cache.view("b", 0)[0][0, :, 0].tolist() == [0, 1, 2, 3, 4, 5, 9]
    with pytest.raises(ValueError, match="shared page"):
        cache.write("b", 0, 0, np.zeros((1, 1, 1)), np.zeros((1, 1, 1)))
    cache.free("a")
    cache.free("b")
    assert cache.pool.free == 10


def test_a_full_page_is_not_copied() -> None:
    cache = PagedCache(CacheShape(1, 1, 1, 1, "fp64"), 4, 4)
    cache.add("a")
    cache.extend("a", 4)
    cache.fork("a", "b")
    cache.extend("b", 1)
    assert cache.copies == 0 and cache.tables["b"][0] == cache.tables["a"][0]


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_paged_decoding_is_contiguous_decoding(library: str) -> None:
    draw = np.random.default_rng(4)
    lengths = [5, 16, 37]
    cache = PagedCache(CacheShape(2, 2, 4, 4, "fp64"), 30, 8, library=library)
    q = draw.normal(size=(3, 6, 4))
    whole = draw.normal(size=(2, 3, 2, 40, 4))
    if library == "torch":
        q, whole = torch.from_numpy(q), torch.from_numpy(whole)
    for t in range(max(lengths)):  # interleaved, so that tables are out of order
        for b, n in enumerate(lengths):
            if t == 0:
                cache.add(str(b))
            if t < n:
                at = cache.extend(str(b))
                for layer in range(2):
                    cache.write(str(b), layer, at.start, whole[0, b, :, t : t + 1], whole[1, b, :, t : t + 1])
    table = cache.block_table(["0", "1", "2"])
    table = torch.from_numpy(table) if library == "torch" else table
    wanted = decode_attention(q, whole[0], whole[1], lengths=lengths)
    for layer in range(2):
        k, v = cache.pages_of(layer)
        found = decode_attention(q, k, v, lengths=lengths, block_table=table, splits=3)
        assert float(abs(found.o - wanted.o).max()) <= 1e-14
        assert float(abs(found.lse - wanted.lse).max()) <= 1e-14


def test_the_pool_gives_all_or_nothing() -> None:
    pool = BlockPool(3)
    first = pool.take(2)
    with pytest.raises(OutOfBlocks, match="2 blocks asked for, 1 of 3"):
        pool.take(2)
    assert pool.free == 1
    pool.share(first)
    pool.release(first)
    assert pool.free == 1
    pool.release(first)
    assert pool.free == 3
    with pytest.raises(ValueError, match="not held"):
        pool.release(first)
    with pytest.raises(ValueError, match="not held"):
        pool.share([0])
