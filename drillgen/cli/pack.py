"""`drillgen pack`: problems for other systems."""

from __future__ import annotations

import click

from drillgen.cli.selectors import draw_set, drawing, read_secret, repeat_hint, seed_text, selection, selectors
from drillgen.pack import BINARY, ENDINGS, FORMATS


@click.command(epilog="  ".join(f"{name}: {what}" for name, what in FORMATS.items()))
@click.argument("form", type=click.Choice(list(FORMATS)), metavar="FORMAT")
@selectors
@drawing
@click.option("--title", default="Attention drills", metavar="TEXT", help="Name of the deck, category or quiz.")
@click.option("--choices", is_flag=True, help="Multiple choice, with options made of the slips.")
@click.option("--out", required=True, metavar="FILE", help="Where to write the package; - is standard output.")
def command(
    form: str, card: tuple[str, ...], drill: tuple[str, ...], stars: tuple[int, ...], kind: tuple[str, ...],
    chain: str, count: int | None, minutes: int | None, seed: str | None, balanced: bool, unique: bool,
    secret: str | None, title: str, choices: bool, out: str,
) -> None:  # fmt: skip
    """A package for Anki, Moodle, QTI 2.1, Canvas, Jupyter or datasets: FORMAT is one of
    anki, moodle, qti, canvas, ipynb, jsonl.

    \b
    drillgen pack anki --card 13 --count 50 --seed 7 --out kv.apkg
    drillgen pack moodle --cards 1-7 --choices --out quiz.xml
    """
    from drillgen.output import CannotWrite
    from drillgen.pack import pack
    from drillgen.pack.items import flatten
    from drillgen.progress import track
    from drillgen.worksheet import Options, build
    from drillgen.worksheet.files import is_standard_output, save
    from drillgen.worksheet.roster import clean

    if not (is_standard_output(out, form in BINARY) or out.lower().endswith(ENDINGS[form])):
        raise CannotWrite(f"{form} is written to a name that ends in {ENDINGS[form]}, not {out!r}")
    text = seed_text(seed)
    chosen = selection(card, drill, stars, kind, chain)
    drawn = draw_set(chosen, text, count or 10, minutes, balanced=balanced, unique=unique, secret=read_secret(secret))
    total = None if minutes else count or 10
    sheet = build(track(drawn, "pack", total), Options(choices=choices))
    title = clean(title) or Options.title
    items = [item for question in sheet.questions for item in flatten(question.problem, choices)]
    save([(out, pack(form, items, title))])
    repeat_hint(seed, text)
