"""`drillgen check`: grade one answer."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from drillgen.cli.selectors import json_option, read_secret, secret_option

if TYPE_CHECKING:
    from drillgen.instance import Instance
    from drillgen.scenario import ScenarioInstance

EXIT = {"right": 0, "wrong": 1}


@click.command(
    # -h is not help here: an answer may well begin with -h.
    context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]},
)
@click.argument("id")
@click.argument("answer", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--part", help="One part of a scenario or of a problem in parts.")
@click.option("--decimal-comma", is_flag=True, help="Read 1,5 as one and a half.")
@json_option
@secret_option
def command(
    id: str, answer: tuple[str, ...], part: str | None, decimal_comma: bool, as_json: bool, secret: str | None
) -> int:
    """Grade one answer: exit 0 right, 1 wrong, 3 unreadable, 4 undecided.

    \b
    drillgen check kv_cache.per_token@1/1 "56 KiB"
    drillgen check kv_cache.per_token@1/1 0.5 MiB      words are joined by spaces
    drillgen check softmax.shift@1/3 -                 reads standard input
    """
    from drillgen.cli import text_of
    from drillgen.instance import open_id

    text = text_of(" ".join(answer))
    if text == "-":
        text = sys.stdin.read(1_000_000).rstrip("\n")
    found = open_id(id, read_secret(secret))
    verdict = found.grade(text, part=part, decimal_comma=decimal_comma)
    if as_json:
        import json

        click.echo(json.dumps({**verdict.to_json(), "id": id}, ensure_ascii=False))
    else:
        from drillgen.say import verdict_lines

        for line in verdict_lines(verdict, _shown(found, part)):
            click.echo(line)
    if verdict.status != "graded":
        return 3
    return EXIT.get(verdict.verdict or "", 4)


def _shown(found: Instance | ScenarioInstance, part: str | None) -> dict[str, Any]:
    """The options in the order shown, of a choice or of a scenario's part that is one."""
    from drillgen.instance import Instance

    kind: Any = None
    if isinstance(found, Instance):
        kind = found.kind if part is None else None
    elif part is not None:
        kind = found.parts[part].kind
    return {"options": [{"key": o.key} for o in getattr(kind, "options", ())]}
