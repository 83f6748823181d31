"""`drillgen check`: grade one answer."""

from __future__ import annotations

import click

from drillgen.cli.selectors import json_option, read_secret, secret_option


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
    from drillgen.checking import check

    return check(id, answer, part, decimal_comma, as_json, read_secret(secret))
