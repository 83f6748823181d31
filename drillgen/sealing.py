"""Sealed sets: the secret file that keys the draws.

What it protects from: rebuilding a problem, its hints, slips or key from the id alone. What not: whoever holds the
secret file, or has seen the key sheet, knows the answers; and problems drawn from few instances can be enumerated by
asking the same drill unsealed.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from drillgen.ids import Secret
from drillgen.output import CannotWrite

HEADER = "drillgen secret 1"


def load(path: str) -> Secret:
    """Read a secret file; anything else in it is said."""
    try:
        with Path(path).open("rb") as stream:
            raw = stream.read(1000)
    except OSError as error:
        raise CannotWrite(f"cannot read the secret {path}: {error.strerror}") from None
    lines = raw.decode("ascii", "replace").split("\n")
    if len(lines) < 2 or lines[0] != HEADER or len(lines[1]) != 64 or set(lines[1]) - set("0123456789abcdef"):
        raise CannotWrite(f"{path} is no secret file: `drillgen secret {path}` makes one")
    return Secret(bytes.fromhex(lines[1]))


def create(path: str) -> Secret:
    """Make a new secret file, readable by its owner alone; an existing file is never overwritten."""
    key = secrets.token_bytes(32)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise CannotWrite(f"{path} exists already; a secret is never overwritten") from None
    except OSError as error:
        raise CannotWrite(f"cannot write {path}: {error.strerror}") from None
    with os.fdopen(handle, "w", encoding="ascii") as stream:
        stream.write(f"{HEADER}\n{key.hex()}\n")
    return Secret(key)
