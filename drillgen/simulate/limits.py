"""Which back end, device and how much memory: decided, and refused with a reason, before anything is allocated."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

from drillgen.output import MissingExtra, Refused
from solvers.errors import BadParameter

DTYPES = ("fp64", "fp32", "fp16", "bf16", "fp8", "int8")


def backend_for(backend: str, device: str, dtype: str, numpy_dtypes: tuple[str, ...]) -> tuple[str, str]:
    """(back end, device) from what was asked: auto is numpy where it can, Triton or torch on CUDA.

    `MissingExtra` for a package that is not installed, `BadParameter` for a pair that cannot be, `Refused` for CUDA
    where there is none.
    """
    if backend == "auto":
        if device == "cuda":
            backend = "triton" if find_spec("triton") and dtype != "fp64" else "torch"
        else:
            backend = "numpy" if dtype in numpy_dtypes else "torch"
    if backend == "numpy":
        if device == "cuda":
            raise BadParameter("numpy runs on the CPU; use --backend torch or triton with --device cuda")
        if dtype not in numpy_dtypes:
            raise BadParameter(f"numpy has no {dtype}; use --backend torch")
        return backend, "cpu"
    if not find_spec("torch"):
        raise MissingExtra("torch", "torch", f"the {backend} back end")
    if backend == "triton":
        if not find_spec("triton"):
            raise MissingExtra("triton", "gpu", "the triton back end")
        if dtype in ("fp64", "int8", "fp8"):
            raise BadParameter(f"the Triton kernels take fp32, fp16 or bf16, not {dtype}")
    has_cuda = device != "cpu" and _cuda()
    if device == "cuda" and not has_cuda:
        raise Refused("no CUDA device here (torch.cuda.is_available() is false); use --device cpu")
    return backend, "cuda" if has_cuda else "cpu"


def _cuda() -> bool:
    import torch

    return bool(torch.cuda.is_available())


def interpret_triton() -> bool:
    """Make Triton run in its interpreter, for a machine without a GPU; false where it was already set up otherwise."""
    if "solvers.simulate.triton_kernels" not in sys.modules:
        os.environ["TRITON_INTERPRET"] = "1"
    from solvers.simulate import triton_backend

    return triton_backend.INTERPRETED


def need(nbytes: float, what: str, device: str = "cpu") -> None:
    """`Refused` when that many bytes are more than the device has free."""
    free = available(device)
    if free is not None and nbytes > free:
        where = "free on the CUDA device" if device == "cuda" else "free on this machine"
        raise Refused(f"{what} needs {nbytes:,.0f} bytes of memory; {free:,.0f} are {where}")


def available(device: str = "cpu") -> int | None:
    """Bytes that can still be allocated, None where the system does not say."""
    if device == "cuda":
        import torch

        return int(torch.cuda.mem_get_info()[0])
    found = [n for n in (_meminfo(), _cgroup()) if n is not None]
    return min(found, default=None)


def _meminfo() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    try:  # no /proc (macOS): the whole memory, better than nothing
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _cgroup() -> int | None:
    """What a container's limit leaves."""
    try:
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text("ascii"))
        return max(0, limit - int(Path("/sys/fs/cgroup/memory.current").read_text("ascii")))
    except (OSError, ValueError):
        return None
