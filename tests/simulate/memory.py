"""Run by test_memory in a process of its own: how much memory a long forward takes beside its inputs and output.

Prints MiB of growth of the process's peak, by VmHWM, for T = 8192 and d = 128 in float32: T×T would be 256 MiB.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any


def peak() -> int:
    for line in Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    raise RuntimeError("no VmHWM in /proc/self/status")


def main(backend: str) -> None:
    import numpy as np

    from solvers.simulate.attention import attention

    T, d = 8192, 128
    draw = np.random.default_rng(0)
    arrays: list[Any] = [draw.standard_normal((1, 1, T, d), dtype=np.float32) for _ in range(3)]
    if backend == "torch":
        import torch

        torch.set_num_threads(1)
        arrays = [torch.from_numpy(x) for x in arrays]
    attention(*(x[:, :, :64] for x in arrays), backend=backend)  # libraries take their own buffers first
    out = np.ones((1, 1, T, d), dtype=np.float32)  # what the output will take, and give back
    del out
    before = peak()
    o, _ = attention(*arrays, backend=backend)
    assert o.shape == (1, 1, T, d)
    print((peak() - before) / 1024)


if __name__ == "__main__":
    main(sys.argv[1])
