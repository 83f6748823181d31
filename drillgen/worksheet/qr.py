"""The ids of a sheet as QR codes: what they hold is the command that rebuilds its key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

BYTES = 330
"""Most bytes in one code: at 21 mm its modules stay readable for a phone."""


def codes(command: str, ids: Sequence[str]) -> list[str]:
    """One SVG a code, each holding a whole command; long sheets get several."""
    import segno

    return [
        # A fixed mask: trying all eight, as the standard suggests, takes most of the time and no scanner needs it.
        segno.make(text, error="l", micro=False, mask=4, boost_error=False).svg_inline(scale=1, border=2)
        for text in commands(command, ids)
    ]


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
