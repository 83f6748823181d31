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
    """A black and white image with a quiet border, eight pixels a module, so that viewers do not blur it."""
    width = (len(modules) + 2 * border) * 8
    edge = [0] * border
    blank = [[0] * (len(modules) + 2 * border)] * border
    rows = [*blank, *([*edge, *row, *edge] for row in modules), *blank]
    # One bit a pixel: a module's eight pixels are one byte, 0 for black; each row begins with its filter, none.
    pixels = b"".join((b"\0" + bytes(0 if module else 255 for module in row)) * 8 for row in rows)
    head = struct.pack(">IIBBBBB", width, width, 1, 0, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(pixels, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in chunks
    )


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
