"""`drillgen cards`: the cards."""

from __future__ import annotations

import json
from typing import Any

import click

from drillgen.cli.selectors import json_option


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
    for one in found:
        row: dict[str, Any] = {
            "id": one.topic, "number": one.number, "slug": one.slug, "title": one.title, "stars": one.stars,
            "moves": list(one.moves), "statement": one.statement, "formulas": list(one.formulas),
            "checks": _checks(one.number, compute=card is not None),
            "drills": [d.id for d in one.drills],
        }  # fmt: skip
        if as_json:
            click.echo(json.dumps(row, ensure_ascii=False))
        elif card is None:
            click.echo(
                f"{one.number:>3}  {one.topic:<17} {'★' * one.stars:<4} {len(one.drills):>2} drills  {one.title}"
            )
        else:
            for line in _page(row):
                click.echo(line)


def _checks(number: int, compute: bool) -> list[dict[str, Any]]:
    from drillgen.verify.run import published, run

    if not compute:
        return [{"id": r.id, "what": r.what, "printed": r.shown} for r in published() if r.card == number]
    return [{**r.to_json(), "what": r.row.what} for r in run(number)]


def _page(row: dict[str, Any]) -> list[str]:
    from drillgen.cli.verify import table
    from drillgen.say import prose

    out = [f"Card {row['number']} · {row['title']} {'★' * row['stars']}", ""]
    out += [prose(row["statement"]), ""]
    out += [prose(f"$${f}$$") for f in row["formulas"]]
    out += ["", *table(row["checks"]), "", "drills:"]
    return out + [f"  {d}" for d in row["drills"]]
