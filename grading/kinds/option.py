"""One option of a choice."""

from __future__ import annotations

from typing import NamedTuple


class Option(NamedTuple):
    """key: the catalogue's name for it. text: what is shown. reason: why it is right or wrong, for the solution."""

    key: str
    text: str
    reason: str = ""
