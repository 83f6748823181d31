"""The Triton kernels and the torch back end on a CUDA device, against float64 of the same rounded inputs."""

from __future__ import annotations

from typing import Any

import pytest

from solvers.simulate.attention import attention, attention_backward, decode_attention
from solvers.simulate.cache import CacheShape, ContiguousCache
from solvers.simulate.paged import PagedCache

torch = pytest.importorskip("torch")
pytest.importorskip("triton")
if not torch.cuda.is_available():
    pytest.skip("no CUDA device", allow_module_level=True)
pytestmark = pytest.mark.gpu
TOLERANCE = {torch.float32: 5e-6, torch.float16: 3e-3, torch.bfloat16: 2e-2}
MASKS: dict[str, dict[str, Any]] = {
    "full": {},
    "causal": {"causal": True},
    "window": {"causal": True, "window": 100, "sinks": 4},
    "padding": {"key_lengths": [0, 300]},
    "cap": {"causal": True, "soft_cap": 15.0},
}


def draw(dtype: Any, B: int = 2, h: int = 8, H_kv: int = 2, T_q: int = 300, T_k: int = 333, d: int = 64) -> list[Any]:
    torch.manual_seed(0)
    shapes = ((B, h, T_q, d), (B, H_kv, T_k, d), (B, H_kv, T_k, d), (B, h, T_q, d))
    return [torch.randn(s, device="cuda").to(dtype) for s in shapes]


def gap(found: Any, wanted: Any) -> float:
    same = found.double() == wanted
    return float(torch.where(same, 0.0, (found.double() - wanted).abs()).max())


@pytest.mark.parametrize("dtype", list(TOLERANCE), ids=str)
@pytest.mark.parametrize("masks", list(MASKS))
@pytest.mark.parametrize("d", [40, 64, 128])
def test_forward(dtype: Any, masks: str, d: int) -> None:
    q, k, v, _ = draw(dtype, d=d)
    wanted = attention(q.double(), k.double(), v.double(), backend="torch", **MASKS[masks])
    found = attention(q, k, v, backend="triton", **MASKS[masks])
    assert gap(found.o, wanted.o) <= TOLERANCE[dtype]
    assert gap(found.lse, wanted.lse) <= 5e-6 * 3


@pytest.mark.parametrize("dtype", list(TOLERANCE), ids=str)
@pytest.mark.parametrize("masks", list(MASKS))
def test_backward(dtype: Any, masks: str) -> None:
    q, k, v, do = draw(dtype)
    wide = [x.double() for x in (q, k, v)]
    o, lse = attention(*wide, backend="torch", **MASKS[masks])
    wanted = attention_backward(*wide, o, lse, do.double(), backend="torch", **MASKS[masks])
    found = attention(q, k, v, backend="triton", **MASKS[masks])
    grads = attention_backward(q, k, v, found.o, found.lse, do, backend="triton", **MASKS[masks])
    # Gradients sum over rows of 16-bit products: relative to their own size.
    limit = {torch.float32: 1e-5, torch.float16: 5e-3, torch.bfloat16: 3e-2}[dtype]
    for x, y in zip(grads, wanted, strict=True):
        assert gap(x, y) / float(y.abs().max()) <= limit


@pytest.mark.parametrize("dtype", list(TOLERANCE), ids=str)
@pytest.mark.parametrize("splits", [1, 7, None])
@pytest.mark.parametrize("paged", [False, True])
def test_decode(dtype: Any, splits: int | None, paged: bool) -> None:
    lengths = [0, 1000, 333]
    q, k, v, _ = draw(dtype, B=3, T_q=1, T_k=1000, d=128)
    wanted = decode_attention(q[:, :, 0].double(), k.double(), v.double(), lengths=lengths, backend="torch")
    table = None
    if paged:
        table = torch.randperm(200, device="cuda")[:189].reshape(3, 63)
        pages = [torch.full((200, 2, 16, 128), float("nan"), device="cuda", dtype=dtype) for _ in range(2)]
        for b, n in enumerate(lengths):
            at = torch.arange(n, device="cuda")
            for page, x in zip(pages, (k, v), strict=True):
                page[table[b, at // 16], :, at % 16] = x[b, :, :n].swapaxes(0, 1)
        k, v = pages
    found = decode_attention(q[:, :, 0], k, v, lengths=lengths, block_table=table, splits=splits, backend="triton")
    assert gap(found.o, wanted.o) <= TOLERANCE[dtype]


def test_hidden_values_never_leak() -> None:
    q, k, v, _ = draw(torch.float16)
    wanted = attention(q.double(), k.double(), v.double(), causal=True, backend="torch").o
    k[:, :, -1], v[:, :, -1] = float("nan"), float("nan")
    found = attention(q, k, v, causal=True, backend="triton").o
    assert gap(found[:, :, :-1], wanted[:, :, :-1]) <= 3e-3 and found[:, :, -1].isnan().all()


def test_the_same_answer_every_time() -> None:
    # A race would show as a difference between runs of the same input.
    q, k, v, do = draw(torch.bfloat16, T_q=1000, T_k=1000, d=128)
    first = attention(q, k, v, causal=True, backend="triton")
    grads = attention_backward(q, k, v, *first, do, causal=True, backend="triton")
    for _ in range(5):
        again = attention(q, k, v, causal=True, backend="triton")
        assert torch.equal(first.o, again.o) and torch.equal(first.lse, again.lse)
        for x, y in zip(grads, attention_backward(q, k, v, *first, do, causal=True, backend="triton"), strict=True):
            assert torch.equal(x, y)


def test_caches_on_the_device_report_what_was_allocated() -> None:
    shape = CacheShape(4, 2, 64, 64, "bf16")
    for make in (
        lambda: ContiguousCache(shape, 2, 4096, library="torch", device="cuda"),
        lambda: PagedCache(shape, 512, 16, library="torch", device="cuda"),
    ):
        before = torch.cuda.memory_allocated()
        cache = make()
        assert torch.cuda.memory_allocated() - before == cache.nbytes
        del cache
