"""`drillgen verify`: recompute the printed numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from drillgen.cli.selectors import json_option


@click.command()
@click.argument("card", required=False)
@json_option
def command(card: str | None, as_json: bool) -> int:
    """Recompute every number that the cards print; exit 1 where one does not come out.

    Each row is found by a closed form, by linear algebra or by a stated, seeded simulation. Rows that nothing here can
    recompute (bibliography, settings, figures reported by others) are listed with the reason.

    \b
    drillgen verify
    drillgen verify 13 --json
    """
    from drillgen import catalog
    from drillgen.progress import track
    from drillgen.verify.run import published, run

    number = None if card is None else 0 if card == "0" else catalog.card(card).number
    total = sum(1 for r in published() if number is None or r.card == number)
    rows: list[dict[str, Any]] = []
    for result in track(run(number), "verify", total, printing=as_json):
        rows.append({**result.to_json(), "what": result.row.what})
        if as_json:
            click.echo(json.dumps(result.to_json(), ensure_ascii=False))
    scored = [r for r in rows if r["ok"] is not None]
    met = sum(1 for r in scored if r["ok"])
    if not as_json:
        for line in table(rows):
            click.echo(line)
        click.echo(f"\n{met} of {len(scored)} recomputed; {len(rows) - len(scored)} listed that cannot be")
    return 0 if met == len(scored) else 1


def table(rows: Sequence[dict[str, Any]]) -> list[str]:
    """What, printed, recomputed, ok: one row each, notes below."""
    from drillgen.cli.tables import grid, terminal_width
    from drillgen.say import labelled, plain

    marks = {True: "ok", False: "NO", None: "-"}
    cells = [(r["what"], r["printed"], "" if r["ok"] is None else short(r["value"]), marks[r["ok"]]) for r in rows]
    lines = grid(("what", "printed", "recomputed", "ok"), cells, room=terminal_width())
    out = [next(lines)]
    for row, line in zip(rows, lines, strict=True):
        out.append(line)
        if row["note"] and (row["ok"] is None or not row["ok"] or "DOUBTFUL" in row["note"]):
            out.append(labelled("    ", row["note"], plain))
    return out


def short(value: Any) -> str:
    """A value in a table cell."""
    if isinstance(value, bool) or value is None:
        return {True: "holds", False: "fails"}.get(value, "") if value is not None else ""
    if isinstance(value, list):
        return "(" + ", ".join(short(v) for v in value) + ")"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
