"""`drillgen audit`: measured quality of the items."""

from __future__ import annotations

import json

import click

from drillgen.cli.selectors import json_option


@click.command()
@click.argument("drill", required=False)
@json_option
def command(drill: str | None, as_json: bool) -> int:
    """Measured quality of the items, over 300 draws a drill; exit 1 when a gate fails.

    Columns: instances (at most), distinct items among the draws, entropy of the answers in bits, share of the commonest
    answer, slips equal to the key (must be 0), share of slip pairs with the same value, keys equal to 0, 1 or a shown
    number, decades of magnitude, share of the tolerance that rounding of the shown inputs uses, words, symbols.

    \b
    drillgen audit
    drillgen audit kv_cache.per_token --json
    """
    from drillgen import catalog
    from drillgen.audit import run
    from drillgen.progress import track

    total = 1 if drill and catalog.drill(drill) else sum(1 for _ in catalog.drills())
    bad = 0
    if not as_json:
        click.echo(
            f"{'drill':<38}{'inst':>9}{'dist':>5}{'bits':>6}{'top':>7}{'s=k':>4}{'alike':>7}{'triv':>6}"
            f"{'dec':>6}{'rnd':>6}{'words':>6}{'sym':>4}  gates"
        )
    for report in track(run(drill), "audit", total, printing=True):
        bad += not report.ok
        if as_json:
            click.echo(json.dumps(report.to_json()))
            continue
        m = report.metrics
        missed = [g for g, met in report.gates.items() if not met and g not in report.excused]
        notes = ["MISSED " + ", ".join(missed)] if missed else ["ok"]
        notes += [f"excused {g}: {why}" for g, why in report.excused.items()] + (["fixed"] if m["fixed"] else [])
        click.echo(
            f"{report.drill:<38}{m['instances'] or 'many':>9}{m['distinct']:>5}{m['answer_entropy_bits']:>6.1f}"
            f"{m['top_answer']:>7.1%}{m['slip_is_key']:>4}{m['slip_pairs_alike']:>7.1%}"
            f"{_opt(m, 'trivial_key', '.1%'):>6}{_opt(m, 'decades', '.1f'):>6}"
            f"{m['rounding']:>6.2f}{m['words']:>6}{m['symbols']:>4}  {'; '.join(notes)}"
        )
    return 1 if bad else 0


def _opt(metrics: object, name: str, form: str) -> str:
    value = metrics.get(name) if isinstance(metrics, dict) else None
    return "-" if value is None else format(value, form)
