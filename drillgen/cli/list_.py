"""`drillgen list`: the drills."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from drillgen.cli.selectors import json_option, selection, selectors

if TYPE_CHECKING:
    from drillgen.scenario import Scenario
    from solvers.drill import Card, Drill


@click.command("list")
@selectors
@json_option
def command(
    card: tuple[str, ...], drill: tuple[str, ...], stars: tuple[int, ...], kind: tuple[str, ...], chain: str,
    as_json: bool,
) -> None:  # fmt: skip
    """The drills with kind, stars, minutes and number of instances.

    \b
    drillgen list --card 13
    drillgen list --kind quantity --json
    """
    from drillgen.scenario import Scenario, scenarios

    chosen = selection(card, drill, stars, kind, chain).chosen()
    if not (card or drill or stars or kind or chain):
        chosen += scenarios().values()
    rows = [_scenario(c) if isinstance(c, Scenario) else _drill(*c) for c in chosen]
    if as_json:
        for row in rows:
            click.echo(json.dumps(row, ensure_ascii=False))
        return
    for line in _table(rows):
        click.echo(line)


def _table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """A line a drill; on a terminal that is too narrow, what it asks stands on the next line."""
    from drillgen.cli.tables import grid, terminal_width
    from drillgen.say import one_line

    asks = [one_line(str(r["asks"])) for r in rows]
    cells = [
        (
            str(r["card"]), str(r["id"]), "★" * int(r["stars"]), f"{r['minutes']} min", str(r["kind"]),
            "many" if r["instances"] is None else f"{r['instances']:,}",
        )
        for r in rows
    ]  # fmt: skip
    header, room = ("card", "drill", "stars", "time", "kind", "instances"), terminal_width()
    lines = list(grid(header, cells, right=(0, 3, 5)))
    wide = max(map(len, lines)) + 2
    if room is None or room >= wide + 30:
        for line, text in zip(lines, ("asks for", *asks), strict=True):
            indent = " " * wide
            yield line.ljust(wide) + (text if room is None else textwrap.fill(text, room - wide)).replace(
                "\n", "\n" + indent
            )
        return
    for (card, drill, stars, time, kind, many), text in zip(cells, asks, strict=True):
        head = f"{card:>3}  {drill}  {stars} · {time} · {kind} · {many} instance{'' if many == '1' else 's'}"
        yield textwrap.fill(head, room, subsequent_indent="     ", break_on_hyphens=False)
        yield textwrap.fill(text, room, initial_indent="       ", subsequent_indent="       ")


def _drill(card: Card, drill: Drill) -> dict[str, Any]:
    return {
        "id": drill.id, "card": card.number, "kind": drill.answer.name, "stars": drill.stars,
        "moves": list(drill.moves),
        "minutes": drill.minutes, "instances": _count(drill.instances()), "asks": drill.asks,
    }  # fmt: skip


def _scenario(found: Scenario) -> dict[str, Any]:
    return {
        "id": found.id, "card": found.cards[0], "kind": "parts", "stars": found.stars, "moves": list(found.moves),
        "minutes": found.minutes, "instances": None, "asks": found.prompt,
    }  # fmt: skip


def _count(number: float) -> int | None:
    """Instances as an integer; None where the number is beyond any use."""
    return int(number) if number < 10**9 else None
