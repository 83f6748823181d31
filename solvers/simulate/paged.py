"""A paged KV cache: fixed pages, a block table per sequence, shared prefixes copied only when written (vLLM)."""

from __future__ import annotations

from typing import Any

from solvers.simulate.blocks import BlockPool, blocks_for
from solvers.simulate.cache import Cache, CacheShape, array


class PagedCache(Cache):
    """`pages` pages of `page` tokens for all sequences together: arrays [L, pages, heads, page, width].

    A sequence is a name with a block table and a length. `extend` makes room for its next tokens, `write` fills
    them layer by layer. Forked sequences share pages; the first write into a shared page copies it.
    """

    def __init__(
        self, shape: CacheShape, pages: int, page: int = 16, *, library: str = "numpy", device: str = "cpu"
    ) -> None:
        if page < 1:
            raise ValueError(f"a page holds at least one token, not {page}")
        self.shape, self.page = shape, page
        self.pool = BlockPool(pages)
        self.tables: dict[str, list[int]] = {}
        self.lengths: dict[str, int] = {}
        self.copies = 0
        self.arrays = {
            t: array((shape.L, pages, shape.heads, page, shape.width(t)), shape.dtype, library, device)
            for t in shape.tensors
        }

    @property
    def page_bytes(self) -> int:
        """Bytes of one page over all layers and arrays."""
        return self.nbytes // self.pool.count if self.pool.count else 0

    @property
    def held_bytes(self) -> int:
        """Bytes of the pages that some sequence holds, shared ones once."""
        return self.pool.held * self.page_bytes

    @property
    def unused_slots(self) -> int:
        """Token slots of held pages that hold no token: the last page of each sequence, shared ones once."""
        fill: dict[int, int] = {}
        for name, table in self.tables.items():
            for i, block in enumerate(table):
                used = min(self.page, self.lengths[name] - i * self.page)
                fill[block] = max(fill.get(block, 0), used)
        return sum(self.page - used for used in fill.values())

    def add(self, name: str) -> None:
        """A new, empty sequence."""
        if name in self.tables:
            raise ValueError(f"sequence {name!r} exists")
        self.tables[name], self.lengths[name] = [], 0

    def extend(self, name: str, n: int = 1) -> range:
        """Room for n more tokens: their positions. Takes pages as needed, copies a shared last page; all or nothing."""
        table, start = self._table(name), self.lengths[name]
        shared = start % self.page and n and self.pool.references[table[-1]] > 1
        fresh = self.pool.take(blocks_for(start + n, self.page) - len(table) + bool(shared))
        if shared:
            copy = fresh.pop(0)
            for x in self.arrays.values():
                x[:, copy] = x[:, table[-1]]
            self.pool.release([table[-1]])
            table[-1] = copy
            self.copies += 1
        table += fresh
        self.lengths[name] = start + n
        return range(start, start + n)

    def write(self, name: str, layer: int, start: int, k: Any, v: Any) -> None:
        """Store tokens from position `start` on in one layer: k [heads, n, d_k], v [heads, n, d_v]."""
        table = self._table(name)
        if not 0 <= start <= start + k.shape[1] <= self.lengths[name]:
            raise ValueError(f"positions {start}..{start + k.shape[1] - 1} of {name!r} were not extended")
        for i in range(k.shape[1]):
            block, slot = table[(start + i) // self.page], (start + i) % self.page
            if self.pool.references[block] > 1:
                raise ValueError(f"position {start + i} of {name!r} lies in a shared page: extend makes the copy")
            for t, x in (("k", k), ("v", v)):
                if t in self.arrays:
                    self.arrays[t][layer, block, :, slot] = x[:, i]

    def fork(self, name: str, child: str) -> None:
        """A second sequence with the same tokens, holding the same pages."""
        table = self._table(name)
        self.add(child)
        self.pool.share(table)
        self.tables[child], self.lengths[child] = list(table), self.lengths[name]

    def free(self, name: str) -> None:
        """Give back the pages of a sequence; shared ones stay with their other owners."""
        self.pool.release(self._table(name))
        del self.tables[name], self.lengths[name]

    def pages_of(self, layer: int) -> tuple[Any, Any]:
        """(k, v) of a layer by page, as `decode_attention` takes them: [pages, heads, page, ·]."""
        return self.arrays["k"][layer], self.arrays["v"][layer]

    def block_table(self, names: list[str]) -> Any:
        """The tables of these sequences as a numpy array [B, longest], short ones filled with page 0."""
        import numpy as np

        width = max((len(self._table(n)) for n in names), default=0)
        rows = np.zeros((len(names), max(width, 1)), dtype=np.int64)
        for row, name in zip(rows, names, strict=True):
            row[: len(self.tables[name])] = self.tables[name]
        return rows

    def view(self, name: str, layer: int) -> tuple[Any, Any]:
        """(k, v) of one sequence gathered in order: [heads, n, ·]."""
        table, n = self._table(name), self.lengths[name]
        k, v = (
            self.arrays[t][layer][table].swapaxes(0, 1).reshape(self.shape.heads, -1, self.shape.width(t))[:, :n]
            for t in "kv"
        )
        return k, v

    def _table(self, name: str) -> list[int]:
        if name not in self.tables:
            raise ValueError(f"no sequence {name!r} in the cache")
        return self.tables[name]
