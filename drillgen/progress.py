"""A progress line on stderr for long runs: only on a terminal, only after one second."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import TypeVar

T = TypeVar("T")


class Progress:
    """Counts steps and shows them; a plain no-op where stderr is no terminal."""

    def __init__(self, what: str, total: int | None = None) -> None:
        self.what, self.total, self.done = what, total, 0
        self._begun = self._shown = time.monotonic()
        self._live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._drawn = False

    def step(self, count: int = 1) -> None:
        """`count` more done."""
        self.done += count
        if not self._live:
            return
        now = time.monotonic()
        if now - self._begun > 1.0 and now - self._shown > 0.1:
            self._shown, self._drawn = now, True
            rate = self.done / (now - self._begun)
            rest = f"/{self.total} ({self.done / self.total:.0%})" if self.total else ""
            left = f", {(self.total - self.done) / rate:.0f} s left" if self.total and rate else ""
            sys.stderr.write(f"\r\x1b[K{self.what}: {self.done}{rest}, {rate:.0f}/s{left}")
            sys.stderr.flush()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def track(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """The items, counted as they pass."""
    with Progress(what, total) as progress:
        for item in items:
            yield item
            progress.step()
