"""What a sheet looks like."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

FORMS = ("pdf", "html", "md", "tex")


@dataclass(frozen=True, kw_only=True)
class Options:
    """title, instructions: plain text, set as it is and never read as markup; instructions may have several lines.

    space: cm of working space a problem, or None for what its kind and minutes need. choices: problems with slips
    become multiple choice. solutions: the key holds worked solutions. fonts: a folder of fonts for names that the
    embedded ones do not cover.
    """

    title: str = "Attention drills"
    instructions: str = ""
    paper: Literal["a4", "letter"] = "a4"
    columns: Literal[1, 2] = 1
    space: float | None = None
    choices: bool = False
    solutions: bool = False
    fonts: Path | None = None

    @property
    def command(self) -> str:
        """What rebuilds the key, without the ids."""
        return "drillgen key --choices" if self.choices else "drillgen key"
