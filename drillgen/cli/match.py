"""`drillgen match`: grade rows that bring their own key."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import click


@click.command()
@click.argument("file", type=click.Path(allow_dash=True))
@click.option("--out", metavar="FILE", help="Write here instead of standard output.")
@click.option("--strict", is_flag=True, help="Exit 3 when a row is no row, after all rows are written.")
def command(file: str, out: str | None, strict: bool) -> int:
    """One verdict a row, in order, as JSON Lines. FILE may be - for standard input.

    A row: {"id": …, "kind": "quantity", "key": "512 KiB", "answer": "0.5 MiB", "tolerance": {"rel": 0.01}}; symbolic
    kinds also take "symbols", "arrays" and "shapes". Key and answer are both untrusted text.
    """
    from drillgen.output import target
    from grading.match import match_row

    encode = json.JSONEncoder(ensure_ascii=False).encode
    bad = quarantined = 0
    with _lines(file) as lines, target(out) as stream:
        for line in lines:
            if not line.strip():
                continue
            verdict = match_row(_row(line))
            bad += verdict["status"] == "bad_row"
            quarantined += verdict["status"] in ("timeout", "crash")
            stream.write(encode(verdict) + "\n")
    if strict and bad:
        return 3
    return 4 if quarantined else 0


def _row(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None  # match_row says that this is no row


class _lines:
    """The lines of a file or of standard input, as bytes."""

    def __init__(self, file: str) -> None:
        self.file = file

    def __enter__(self) -> Iterable[bytes]:
        from drillgen.output import CannotWrite

        if self.file == "-":
            self.stream: Any = sys.stdin.buffer
            return bounded(self.stream)
        try:
            self.stream = open(self.file, "rb")  # noqa: PTH123 - closed in __exit__
        except OSError as error:
            raise CannotWrite(f"cannot read {self.file}: {error.strerror}") from None
        return bounded(self.stream)

    def __exit__(self, *_: object) -> None:
        if self.file != "-":
            self.stream.close()


MAX_LINE = 4_000_000


def bounded(stream: Any) -> Iterator[bytes]:
    """Lines of at most MAX_LINE bytes; a longer one comes cut (and so is no JSON), the rest of it is skipped."""
    while line := stream.readline(MAX_LINE):
        if len(line) == MAX_LINE and not line.endswith(b"\n"):
            while (rest := stream.readline(MAX_LINE)) and not rest.endswith(b"\n"):
                pass
        yield line
