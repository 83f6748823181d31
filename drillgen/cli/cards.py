"""`drillgen cards`: the cards."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from drillgen.cli.selectors import json_option

if TYPE_CHECKING:
    from solvers.drill import Card


@click.command()
@click.argument("card", required=False)
@json_option
def command(card: str | None, as_json: bool) -> None:
    """The cards; with CARD, its formulas, its printed numbers beside the recomputed ones, and its drills.

    \b
    drillgen cards
    drillgen cards 13
    """
    from drillgen import catalog

    found = [catalog.card(card)] if card is not None else list(catalog.cards())
    rows = [_row(one, compute=card is not None) for one in found]
    if as_json:
        lines: Iterable[str] = (json.dumps(row, ensure_ascii=False) for row in rows)
    else:
        lines = _table(rows) if card is None else _page(rows[0])
    for line in lines:
        click.echo(line)


def _row(card: Card, compute: bool) -> dict[str, Any]:
    return {
        "id": card.topic, "number": card.number, "slug": card.slug, "title": card.title, "stars": card.stars,
        "moves": list(card.moves), "statement": card.statement, "formulas": list(card.formulas),
        "checks": _checks(card.number, compute), "drills": [d.id for d in card.drills],
    }  # fmt: skip


def _table(rows: list[dict[str, Any]]) -> Iterator[str]:
    from drillgen.cli.tables import grid, terminal_width

    cells = [(str(r["number"]), r["id"], "★" * r["stars"], str(len(r["drills"])), r["title"]) for r in rows]
    return grid(("card", "name", "stars", "drills", "about"), cells, right=(0, 3), room=terminal_width())


def _checks(number: int, compute: bool) -> list[dict[str, Any]]:
    from drillgen.verify.run import published, run

    if not compute:
        return [{"id": r.id, "what": r.what, "printed": r.shown} for r in published() if r.card == number]
    return [{**r.to_json(), "what": r.row.what} for r in run(number)]


def _page(row: dict[str, Any]) -> Iterator[str]:
    from drillgen.cli.verify import table
    from drillgen.say import prose

    yield f"Card {row['number']} · {row['title']} · {'★' * row['stars']}\n"
    yield prose(row["statement"]) + "\n"
    for formula in row["formulas"]:
        yield prose(f"$${formula}$$")
    yield ""
    yield from table(row["checks"])
    yield "\ndrills:"
    for drill in row["drills"]:
        yield f"  {drill}"
