"""Documents on disk: which form a name asks for, and all of them or none."""

from __future__ import annotations

import re
import sys
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


STANDARD_OUTPUT = frozenset({"-", "/dev/stdout"})
"""Names of standard output."""


def is_standard_output(name: str, binary: bool) -> bool:
    """Whether a name means standard output; refused where binary data would land on a terminal."""
    if name not in STANDARD_OUTPUT:
        return False
    if binary and sys.stdout.isatty():
        raise CannotWrite("this is binary data, and standard output is a terminal: redirect it or name a file")
    return True


def others(folder: str, names: Sequence[str]) -> list[str]:
    """Sheets of an earlier run in a folder: files named as `--split` names them, but none of `names`."""
    known = re.compile(rf"\d{{3,}}-.+\.({'|'.join(FORMS)})")
    return sorted({path.name for path in Path(folder).iterdir() if known.fullmatch(path.name)} - set(names))


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
    """Write every document under a temporary name, then rename them all; nothing half-written stays behind.

    What goes to standard output is written last.
    """
    streamed = [body for path, body in documents if str(path) in STANDARD_OUTPUT]
    with ExitStack() as stack:
        for path, body in documents:
            if str(path) not in STANDARD_OUTPUT:
                stack.enter_context(whole(path, "wb")).write(body)
    for body in streamed:
        sys.stdout.buffer.write(body)
        sys.stdout.buffer.flush()
