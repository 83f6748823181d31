"""Grading one answer from the command line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from drillgen.ids import Secret
    from drillgen.instance import Instance
    from drillgen.scenario import ScenarioInstance

EXIT = {"right": 0, "wrong": 1}


def check(
    id: str,
    words: Sequence[str],
    part: str | None = None,
    decimal_comma: bool = False,
    as_json: bool = False,
    secret: Secret | None = None,
) -> int:
    """Grade the words (joined by spaces; `-` alone reads standard input), print the verdict, return the exit code."""
    from drillgen.instance import open_id
    from drillgen.main import text_of

    text = text_of(" ".join(words))
    if text == "-":
        text = sys.stdin.read(1_000_000).rstrip("\n")
    found = open_id(id, secret)
    verdict = found.grade(text, part=part, decimal_comma=decimal_comma)
    if as_json:
        import json

        print(json.dumps({**verdict.to_json(), "id": id}, ensure_ascii=False))
    else:
        from drillgen.say import verdict_lines

        for line in verdict_lines(verdict, shown_options(found, part)):
            print(line)
    if verdict.status != "graded":
        return 3
    return EXIT.get(verdict.verdict or "", 4)


def shown_options(found: Instance | ScenarioInstance, part: str | None) -> dict[str, Any]:
    """The options in the order shown, of a choice or of a scenario's part that is one."""
    from drillgen.instance import Instance

    kind: Any = None
    if isinstance(found, Instance):
        kind = found.kind if part is None else None
    elif part is not None:
        kind = found.parts[part].kind
    return {"options": [{"key": o.key} for o in getattr(kind, "options", ())]}
