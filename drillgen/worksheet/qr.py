"""The ids of a sheet as QR codes: what they hold is the command that rebuilds its key."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence

BYTES = 400
"""Most bytes in one code: at 16 to 18 mm its modules stay readable for a phone."""


def codes(command: str, ids: Sequence[str]) -> list[bytes]:
    """One PNG a code, each holding a whole command; long sheets get several."""
    return [png(matrix(text)) for text in commands(command, ids)]


def matrix(text: str) -> Sequence[Sequence[int]]:
    """Rows of modules, 1 for dark."""
    import segno

    # A fixed mask: trying all eight, as the standard suggests, takes most of the time and no scanner needs it.
    made = segno.make(text, error="l", micro=False, mask=4, boost_error=False)
    rows: Sequence[Sequence[int]] = made.matrix
    return rows


def png(modules: Sequence[Sequence[int]], border: int = 2) -> bytes:
    """A black and white image with a quiet border, four pixels a module, so that viewers do not blur it."""
    width = (len(modules) + 2 * border) * 4
    edge = [0] * border
    blank = [[0] * (len(modules) + 2 * border)] * border
    rows = [*blank, *([*edge, *row, *edge] for row in modules), *blank]
    pixels = b"".join((b"\0" + _bits(row)) * 4 for row in rows)
    head = struct.pack(">IIBBBBB", width, width, 1, 0, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(pixels, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in chunks
    )


def _bits(row: Sequence[int]) -> bytes:
    """One bit a pixel, 0 for black: two modules of four pixels are a byte."""
    nibbles = [0 if module else 15 for module in row] + [15] * (len(row) % 2)
    return bytes(16 * left + right for left, right in zip(nibbles[::2], nibbles[1::2], strict=True))


def commands(command: str, ids: Sequence[str]) -> Iterator[str]:
    """`drillgen key ID ID ...`, split so that each fits one code."""
    text = command
    for id in ids:
        if text != command and len(text) + 1 + len(id) > BYTES:
            yield text
            text = command
        text += f" {id}"
    if text != command:
        yield text
