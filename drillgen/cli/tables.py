"""Tables in the terminal: columns as wide as their texts, wrapped where the terminal is narrower.

On a terminal no line is longer than it; elsewhere every row is one whole line, so that `grep` and `sort` see it all.
"""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterator, Sequence

GAP = 2
NARROWEST = 14
"""Columns are never wrapped to less than this."""


def terminal_width() -> int | None:
    """The terminal's columns (COLUMNS goes first), or None where standard output is no terminal."""
    try:
        if given := os.environ.get("COLUMNS"):
            return max(40, int(given))
        return max(40, os.get_terminal_size(sys.stdout.fileno()).columns) if sys.stdout.isatty() else None
    except (OSError, ValueError):
        return None


def grid(
    header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = (), room: int | None = None
) -> Iterator[str]:
    """The header and the rows as lines, row by row joined by newlines.

    right: the columns that are set flush right. room: the columns of the terminal; None for no limit.
    """
    lengths = [sorted(len(r[i]) for r in (header, *rows)) for i in range(len(header))]
    widths = _fitted(lengths, room)
    for row in (header, *rows):
        cells = [_wrapped(text, width) for text, width in zip(row, widths, strict=True)]
        lines = []
        for level in range(max(map(len, cells))):
            parts = [c[level] if level < len(c) else "" for c in cells]
            placed = [parts[i].rjust(w) if i in right else parts[i].ljust(w) for i, w in enumerate(widths)]
            lines.append((" " * GAP).join(placed).rstrip())
        yield "\n".join(lines)


def _fitted(lengths: Sequence[Sequence[int]], room: int | None) -> list[int]:
    """The widths of the columns whose cells have these lengths (ascending): narrowed until they fit.

    First go the few cells that are longer than most of their column, then whatever column is widest.
    """
    widths = [column[-1] for column in lengths]
    if room is None:
        return widths
    usual = [max(NARROWEST, column[len(column) * 4 // 5]) for column in lengths]
    for floors in (usual, [NARROWEST] * len(widths)):
        while sum(widths) + GAP * (len(widths) - 1) > room:
            over, at = max((w - floor, i) for i, (w, floor) in enumerate(zip(widths, floors, strict=True)))
            if over <= 0:
                break
            widths[at] -= 1
    return widths


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_on_hyphens=False) or [""] if len(text) > width else [text]
