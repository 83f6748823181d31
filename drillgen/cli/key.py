"""`drillgen key`: the key of given ids."""

from __future__ import annotations

import sys

import click

from drillgen.cli.selectors import read_secret, secret_option
from drillgen.cli.sheet_options import common, gather


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@common
@secret_option
@click.option("--out", metavar="FILE", help="Write here (.pdf, .html, .md, .tex) instead of text to the screen.")
def command(ids: tuple[str, ...], secret: str | None, out: str | None, **given: object) -> None:
    """The key of a sheet from the ids that are printed on it; `-` reads ids from standard input.

    \b
    drillgen key kv_cache.per_token@1/4821 softmax.shift@1/12 --solutions
    drillgen key kv_cache.per_token@1/4821 --out key.pdf
    """
    from drillgen.instance import open_id
    from drillgen.worksheet import build, render
    from drillgen.worksheet.files import form_of, save

    form = form_of(out) if out else "md"
    if ids == ("-",):
        ids = tuple(sys.stdin.read().split())
    options = gather(given)
    opened = read_secret(secret)
    sheet = build([open_id(id, opened) for id in ids], options)
    made = render([sheet], options, form, key=True)
    if out:
        save([(out, made)])
    else:
        click.echo(made.decode(), nl=False)
