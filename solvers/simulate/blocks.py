"""A pool of cache blocks with reference counts: what a paged cache and a serving scheduler allocate from."""

from __future__ import annotations


class OutOfBlocks(MemoryError):
    """The pool has fewer free blocks than were asked for."""


class BlockPool:
    """`count` blocks, each free or held by one or more owners. The lowest-numbered free block goes out first.

    Two sequences that share a prefix hold the same blocks; a block returns to the pool with its last owner.
    """

    def __init__(self, count: int) -> None:
        if count < 0:
            raise ValueError(f"a pool holds 0 or more blocks, not {count}")
        self.count = count
        self.references = [0] * count
        self._free = list(range(count - 1, -1, -1))

    @property
    def free(self) -> int:
        """Blocks nobody holds."""
        return len(self._free)

    @property
    def held(self) -> int:
        """Blocks somebody holds; a shared block counts once."""
        return self.count - len(self._free)

    def take(self, n: int = 1) -> list[int]:
        """n free blocks, each with one owner; all or, with `OutOfBlocks`, none."""
        if n > len(self._free):
            raise OutOfBlocks(f"{n} blocks asked for, {len(self._free)} of {self.count} are free")
        taken = [self._free.pop() for _ in range(n)]
        for block in taken:
            self.references[block] = 1
        return taken

    def share(self, blocks: list[int]) -> None:
        """One more owner for each of these held blocks."""
        for block in blocks:
            self._held(block)
        for block in blocks:
            self.references[block] += 1

    def release(self, blocks: list[int]) -> None:
        """One owner fewer for each of these blocks; those without an owner become free."""
        for block in blocks:
            self._held(block)
            self.references[block] -= 1
            if self.references[block] == 0:
                self._free.append(block)

    def _held(self, block: int) -> None:
        if not 0 <= block < self.count or self.references[block] == 0:
            raise ValueError(f"block {block} is not held by anybody")


def blocks_for(tokens: int, block: int) -> int:
    """Blocks that so many tokens fill, the last one perhaps in part."""
    return -(-tokens // block)
