"""`drillgen list`: the drills."""

from __future__ import annotations

import json
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
    width = max(len(str(r["id"])) for r in rows)
    for row in rows:
        many = "many" if row["instances"] is None else f"{row['instances']:,}"
        stars_shown = "★" * int(str(row["stars"]))
        click.echo(
            f"{row['card']:>3}  {row['id']:<{width}}  {stars_shown:<3}  {row['minutes']:>3} min  "
            f"{row['kind']:<17}  {many:>12}  {row['asks']}"
        )


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
