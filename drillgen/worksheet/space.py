"""How much room a person needs to work a problem out."""

from __future__ import annotations

from drillgen.worksheet.options import Options

_BASE = {"choice": 2.0, "multi_choice": 2.0, "shape": 8.0, "set": 12.0, "vector": 20.0, "matrix": 26.0, "table": 34.0,
         "expression": 20.0, "indexed": 22.0, "matrix_expression": 22.0, "parts": 16.0}  # fmt: skip
_PER_MINUTE = {"choice": 0.8, "multi_choice": 0.8, "shape": 1.6}
MOST = 110.0
"""mm; with more, a problem and its line would not fit a page."""


def millimetres(kind: str, minutes: float, options: Options, made: bool = False) -> float:
    """mm of blank paper: what the options say, else by kind and minutes (26 mm for a quantity of 5 minutes).

    It is the least: what a page has left over is spread between its problems.

    made: options were made of slips, which leaves the working but not the writing up.
    """
    if options.space is not None:
        return min(MOST, options.space * 10)
    room = _BASE.get(kind, 15.0) + _PER_MINUTE.get(kind, 2.2) * minutes
    if made and kind not in ("choice", "multi_choice"):
        room *= 0.6
    return round(min(MOST, room * (0.85 if options.columns == 2 else 1.0)), 1)
