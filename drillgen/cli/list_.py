"""`drillgen list`: the drills."""

from __future__ import annotations

import json

import click

from drillgen.cli.selectors import json_option, selection, selectors


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
    from drillgen.scenario import scenarios

    chosen = selection(card, drill, stars, kind, chain)
    rows = [
        {
            "id": d.id, "card": c.number, "kind": d.answer.name, "stars": d.stars, "moves": list(d.moves),
            "minutes": d.minutes, "instances": _count(d.instances()), "asks": d.asks,
        }
        for c, d in chosen.chosen()
    ]  # fmt: skip
    if not (card or drill or stars or kind or chain):
        rows += [
            {
                "id": s.id, "card": s.cards[0], "kind": "parts", "stars": s.stars, "moves": list(s.moves),
                "minutes": s.minutes, "instances": None, "asks": s.prompt,
            }
            for s in scenarios().values()
        ]  # fmt: skip
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


def _count(number: float) -> int | None:
    """Instances as an integer; None where the number is beyond any use."""
    return int(number) if number < 10**9 else None
