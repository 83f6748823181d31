"""`drillgen sheet`: a worksheet to print, with its key."""

from __future__ import annotations

import click

from drillgen.cli.selectors import draw_set, drawing, read_secret, repeat_hint, seed_text, selection, selectors
from drillgen.cli.sheet_options import gather, layout


@click.command()
@selectors
@drawing
@layout
@click.option("--out", required=True, metavar="FILE", help="The sheet: .pdf, .html, .md or .tex.")
@click.option("--key", metavar="FILE", help="The key, with the answers; same endings.")
def command(
    card: tuple[str, ...], drill: tuple[str, ...], stars: tuple[int, ...], kind: tuple[str, ...], chain: str,
    count: int | None, minutes: int | None, seed: str | None, balanced: bool, unique: bool, secret: str | None,
    out: str, key: str | None, **given: object,
) -> None:  # fmt: skip
    """A worksheet: typeset problems with room to work, and a key that the grader has accepted.

    \b
    drillgen sheet --card 13 --card 15 --count 10 --seed 7 --out sheet.pdf --key key.pdf
    drillgen sheet --cards 1-7 --minutes 45 --solutions --out sheet.pdf --key key.pdf
    """
    from drillgen.worksheet import build, render
    from drillgen.worksheet.files import form_of, save

    form, key_form = form_of(out), form_of(key) if key else ""
    options = gather(given)
    text = seed_text(seed)
    chosen = selection(card, drill, stars, kind, chain)
    drawn = draw_set(chosen, text, count or 10, minutes, balanced=balanced, unique=unique, secret=read_secret(secret))
    sheets = [build(drawn, options)]
    made = [(out, render(sheets, options, form))]
    if key:
        made.append((key, render(sheets, options, key_form, key=True)))
    save(made)
    repeat_hint(seed, text)
