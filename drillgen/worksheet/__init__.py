"""Worksheets and keys: problems laid out for paper and screen.

sheet = build(instances)                       # regraded; raises KeyRefused
render([sheet], Options(), "pdf")              # bytes
render([sheet], Options(solutions=True), "pdf", key=True)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from drillgen.worksheet.options import Options
    from drillgen.worksheet.regrade import KeyRefused
    from drillgen.worksheet.sheets import Sheet, build, render

__all__ = ["KeyRefused", "Options", "Sheet", "build", "render"]
_HOMES = {"Sheet": "sheets", "build": "sheets", "render": "sheets", "Options": "options", "KeyRefused": "regrade"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(name)
    from importlib import import_module

    return getattr(import_module(f"drillgen.worksheet.{_HOMES[name]}"), name)
