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


def save_into(folder: str, documents: Sequence[tuple[str, bytes]]) -> None:
    """Write documents into a folder (made where it is missing): staged inside it first, then put in place."""
    import tempfile

    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".drillgen-") as stage:
            for name, body in documents:
                (Path(stage) / name).write_bytes(body)
            for name, _ in documents:
                (Path(stage) / name).replace(Path(folder) / name)
    except OSError as error:
        raise CannotWrite(f"cannot write into {folder}: {error.strerror or error}") from None


def save(documents: Sequence[tuple[str | Path, bytes]]) -> None:
    """Write every document under a temporary name, then rename them all; nothing half-written stays behind."""
    with ExitStack() as stack:
        for path, body in documents:
            stack.enter_context(whole(path, "wb")).write(body)
