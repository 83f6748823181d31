"""Writing files whole or not at all, and the errors that commands end with."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any


class CannotWrite(RuntimeError):
    """An output that cannot be written: which and why (exit 3)."""


class MissingExtra(RuntimeError):
    """A part of the program that needs a package which is not installed; says what to install (exit 3)."""

    def __init__(self, package: str, extra: str, what: str) -> None:
        super().__init__(f"{what} needs {package}: pip install 'drillgen[{extra}]'")


class Refused(RuntimeError):
    """A request that is refused before it does harm (too much memory, an exhausted set); says why (exit 3)."""


@contextlib.contextmanager
def whole(path: Path | str, mode: str = "w", permissions: int | None = None) -> Iterator[IO[Any]]:
    """A file that appears complete under its name when the block ends well, and not at all otherwise.

    Written beside its place under a temporary name, synced, then renamed. Devices and pipes are written directly.
    """
    path = Path(path)
    options: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8", "newline": "", "errors": "backslashreplace"}
    try:
        if path.exists() and not stat.S_ISREG(path.stat().st_mode):
            with path.open(mode, **options) as stream:
                yield stream
            return
        # A link is followed, so that the file it points to is replaced and the link stays.
        path = path.resolve()
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".part")
    except OSError as error:
        raise CannotWrite(f"cannot write {path}: {error.strerror or error}") from None
    done = False
    try:
        with os.fdopen(handle, mode, **options) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(permissions if permissions is not None else _mode_of(path))
        Path(name).replace(path)
        done = True
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise CannotWrite(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        if not done:
            with contextlib.suppress(OSError):
                Path(name).unlink()


def _mode_of(path: Path) -> int:
    """The mode that the file had, or that a new one gets."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


@contextlib.contextmanager
def target(path: str | None) -> Iterator[IO[str]]:
    """Standard output, or a file written whole."""
    if path is None or path == "-":
        import sys

        yield sys.stdout
    else:
        with whole(path) as stream:
            yield stream
