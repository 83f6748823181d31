"""Errors of the cards, each saying who should act."""

from __future__ import annotations

from collections.abc import Iterable


class DrillError(Exception):
    """A drill that cannot be served: the author's fault."""


class Unknown(LookupError):
    """A name that was looked up and is not known; the message offers the nearest names (exit 3)."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        import difflib

        known = sorted(set(known))
        folded = {k.lower(): k for k in known}
        near = [folded[n] for n in difflib.get_close_matches(name.lower(), folded, n=3, cutoff=0.5)]
        near += [k for k in known if name and name.lower() in k.lower() and k not in near][: 3 - len(near)]
        if near:
            hint = f"; the nearest: {', '.join(near)}"
        elif len(known) <= 24:
            hint = f"; known: {', '.join(known)}"
        else:
            hint = ""
        super().__init__(f"unknown {what} {name[:60]!r}{hint}")
        self.name = name
        self.near = near


class BadParameter(ValueError):
    """A parameter value that `solve` cannot use: what, where, and what would be right."""
