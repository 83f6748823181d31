"""Sizes of weights and KV caches, what fits into memory beside them, and the mistakes people make with them.

Cards 13 and 14 share these. Sizes are in bytes; N parameters weigh 2N bytes at 16 bits.
"""

from __future__ import annotations

from solvers.drill import Slip

GIB_PER_GB = 2**30 / 10**9


def bytes_per_token(L: int, H_kv: int, d_h: int, b: float) -> float:
    """Bytes that one token adds: a key and a value of width d_h for every layer and KV head, b bytes a number."""
    return 2 * L * H_kv * d_h * b


def cache_bytes(L: int, H_kv: int, d_h: int, b: float, T: int, B: int = 1) -> float:
    """Bytes of the cache of B sequences of T tokens each."""
    return bytes_per_token(L, H_kv, d_h, b) * T * B


def llama_parameters(d: int, L: int, d_ff: int, vocab: int, H_kv_d_h: int) -> int:
    """Parameters of a Llama-shaped decoder whose width is d = h·d_h.

    Two tables of vocab·d (embedding and output), per layer 2d² + 2d·H_kv·d_h of attention, 3d·d_ff of gated
    feed-forward and two norms of d, and a last norm.
    """
    layer = 2 * d * d + 2 * d * H_kv_d_h + 3 * d * d_ff + 2 * d
    return 2 * vocab * d + L * layer + d


def weight_bytes(N: int, b: int = 2) -> int:
    """Bytes of N parameters at b bytes each."""
    return b * N


def room(memory: float, n_gpu: int, N: int) -> int:
    """Bytes that 16-bit weights of N parameters leave free on n_gpu accelerators of `memory` bytes each."""
    return n_gpu * int(memory) - weight_bytes(N)


def sequences_that_fit(free: float, cache: float) -> int:
    """How many whole caches of `cache` bytes fit into `free` bytes; 0 where there is no room."""
    return max(0, int(free // cache))


def longest_context(free: float, per_token: float, B: int) -> int:
    """Tokens that each of B sequences may have so that their caches fit into `free` bytes."""
    return max(0, int(free // (per_token * B)))


def misread_as_binary(answer: float) -> float:
    """The bytes that result when a decimal figure (2.15 GB) is written with the binary unit (2.15 GiB)."""
    k = 0
    while k < 5 and answer >= 1000.0 ** (k + 1):
        k += 1
    return answer * 1.024**k


ONE_OF_K_V = (
    "Only one tensor is counted (or, at 16 bits, the bytes per number are left out): "
    "every token caches a key and a value."
)
QUERY_HEADS = "The query heads are counted; keys and values exist once for each KV head."
ONE_LAYER = "One layer's share is given; every layer keeps its own keys and values, so multiply by L."
QUERIES_TOO = "Queries are counted too; a query is used once and never read again, so only K and V stay."
DECIMAL = "The figure in powers of 1000 is written with a binary unit; each binary prefix is a power of 1024."
TWO_BYTES = "Two bytes per number are assumed; this format stores one byte per number."
ONE_BYTE_WEIGHTS = "The parameter count is taken for bytes; a 16-bit weight takes two bytes."
WHOLE_MEMORY = "The whole memory is given to the cache; the 16-bit weights take their part first."
CAPACITY_IN_GIB = "The vendor's gigabytes are read as GiB; memory is sold in powers of 1000."
CACHE_IN_GB = "The cache's figure in GiB is taken as GB, which makes it too small; turn both into bytes."
ROUNDED_UP = "The quotient is rounded up; the last sequence fits only in part, so round down."

ROOM_SLIPS = (
    Slip(
        "weights_forgotten",
        lambda memory, n_gpu, cache: sequences_that_fit(n_gpu * int(memory), cache),
        WHOLE_MEMORY,
        branch=True,
    ),
    Slip(
        "capacity_in_gib",
        lambda memory, n_gpu, N, cache: sequences_that_fit(room(memory * GIB_PER_GB, n_gpu, N), cache),
        CAPACITY_IN_GIB,
        branch=True,
    ),
    Slip(
        "cache_in_gb",
        lambda free, cache: sequences_that_fit(free, cache / GIB_PER_GB),
        CACHE_IN_GB,
        branch=True,
    ),
    Slip("one_of_k_v", lambda free, cache: sequences_that_fit(2 * free, cache), ONE_OF_K_V),
)
"""What goes wrong in counting the caches that fit beside the weights."""
