"""Who gets a sheet."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Student:
    """row: 1-based line of the roster file. label: what is printed."""

    row: int
    name: str
    id: str = ""

    @property
    def label(self) -> str:
        return self.name
