"""A progress line on stderr for long runs: only on a terminal, only after one second."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import TypeVar

T = TypeVar("T")
CLEAR = "\r\x1b[K"


class Progress:
    """Counts steps and shows them; a plain no-op where stderr is no terminal.

    printing: what is done meanwhile goes to standard output, line by line; on a terminal that is progress enough.
    """

    def __init__(self, what: str, total: int | None = None, printing: bool = False) -> None:
        self.what, self.total, self.done = what, total, 0
        self._begun = self._shown = time.monotonic()
        self._live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._live = self._live and not (printing and sys.stdout.isatty())
        self._drawn = False

    def step(self, count: int = 1) -> None:
        """`count` more done."""
        self.done += count
        if not self._live:
            return
        now = time.monotonic()
        if now - self._begun > 1.0 and now - self._shown > 0.1:
            self._shown = now
            self._drawn = _Drawn.now = True
            rate = self.done / (now - self._begun)
            rest = f"/{self.total:,} ({self.done / self.total:.0%})" if self.total else ""
            left = f", {_duration((self.total - self.done) / rate)} left" if self.total and rate else ""
            sys.stderr.write(f"{CLEAR}{self.what}: {self.done:,}{rest}, {rate:,.0f}/s{left}")
            sys.stderr.flush()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._drawn:
            _Drawn.now = False
            sys.stderr.write(CLEAR)
            sys.stderr.flush()


class _Drawn:
    """Whether a progress line stands on the screen: there is one standard error for all."""

    now = False


def note(text: str) -> None:
    """A line of talk on stderr, instead of the progress line where one stands there (it comes back by itself)."""
    import click

    click.echo(f"{CLEAR if _Drawn.now else ''}note: {text}", err=True)


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def track(items: Iterable[T], what: str, total: int | None = None, printing: bool = False) -> Iterator[T]:
    """The items, counted as they pass."""
    with Progress(what, total, printing) as progress:
        for item in items:
            yield item
            progress.step()
