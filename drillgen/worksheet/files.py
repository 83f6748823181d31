"""Documents on disk: which form a name asks for, and all of them or none."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from drillgen.output import CannotWrite, whole
from drillgen.worksheet.options import FORMS


def form_of(name: str) -> str:
    """pdf, html, md or tex, by a file name's ending."""
    ending = Path(name).suffix.lower().lstrip(".")
    ending = {"htm": "html", "markdown": "md"}.get(ending, ending)
    if ending not in FORMS:
        raise CannotWrite(f"cannot tell what to write from the name {name!r}: it ends in .pdf, .html, .md or .tex")
    return ending


def save(documents: Sequence[tuple[str | Path, bytes]]) -> None:
    """Write every document under a temporary name, then rename them all; nothing half-written stays behind."""
    with ExitStack() as stack:
        for path, body in documents:
            stack.enter_context(whole(path, "wb")).write(body)
