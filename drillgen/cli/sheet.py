"""`drillgen sheet`: a worksheet to print, with its key."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from drillgen.cli.selectors import draw_set, drawing, read_secret, repeat_hint, seed_text, selection, selectors
from drillgen.cli.sheet_options import gather, layout
from drillgen.worksheet.options import FORMS, Options

if TYPE_CHECKING:
    from drillgen.ids import Secret
    from drillgen.worksheet import Sheet


MOST = 500
"""Problems on one sheet."""


@click.command()
@selectors
@drawing
@layout
@click.option("--out", metavar="FILE", help="The sheet: .pdf, .html, .md or .tex; - is standard output.")
@click.option("--key", metavar="FILE", help="The key, with the answers; same endings.")
@click.option("--students", metavar="FILE", help="A roster (CSV with `name`, perhaps `id`): one sheet each.")
@click.option("--split", metavar="DIR", help="With --students: one file each in this folder, not one in all.")
@click.option("--form", type=click.Choice(FORMS), default="pdf", help="What --split and --out - write (pdf).")
def command(
    card: tuple[str, ...], drill: tuple[str, ...], stars: tuple[int, ...], kind: tuple[str, ...], chain: str,
    count: int | None, minutes: int | None, seed: str | None, balanced: bool, unique: bool, secret: str | None,
    out: str | None, key: str | None, students: str | None, split: str | None, form: str, **given: object,
) -> None:  # fmt: skip
    """A worksheet: typeset problems with room to work, and a key that the grader has accepted.

    \b
    drillgen sheet --card 13 --card 15 --count 10 --seed 7 --out sheet.pdf --key key.pdf
    drillgen sheet --cards 1-7 --minutes 45 --solutions --out sheet.pdf --key key.pdf
    drillgen sheet --card 13 --students roster.csv --split sheets --key keys.pdf
    """
    from drillgen.output import Refused
    from drillgen.progress import track
    from drillgen.worksheet import render
    from drillgen.worksheet.files import form_of, is_standard_output, others, save, save_into
    from drillgen.worksheet.sheets import render_each

    if (out is None) == (split is None):
        raise click.UsageError("give either --out FILE or, with --students, --split DIR")
    if out is not None and key is not None and Path(out).resolve() == Path(key).resolve():
        raise click.UsageError("--out and --key name the same file")
    if split is not None and students is None:
        raise click.UsageError("--split goes with --students")
    if (count or 0) > MOST:
        raise Refused(f"a sheet holds at most {MOST} problems, not {count}")
    named = [name for name in (out, key) if name]
    forms = {name: form if is_standard_output(name, form == "pdf") else form_of(name) for name in named}
    options = gather(given)
    text = seed_text(seed)
    chosen = selection(card, drill, stars, kind, chain)
    opened = read_secret(secret)
    drawn = list(draw_set(chosen, text, count or 10, minutes, balanced=balanced, unique=unique, secret=opened))
    sheets = _sheets(drawn, options, text, students, opened)
    if "pdf" in (*forms.values(), form if split else ""):
        _warn(sheets, options)
    documents = [(name, render(sheets, options, forms[name], key=name == key)) for name in named]
    if split:
        names = [f"{sheet.student.slug}.{form}" for sheet in sheets if sheet.student]
        made = track(render_each(sheets, options, form), "files", len(sheets))
        save_into(split, list(zip(names, made, strict=True)))
        _leftovers(split, others(split, names))
    save(documents)
    repeat_hint(seed, text)


def _sheets(drawn: list[Any], options: Options, seed: str, students: str | None, secret: Secret | None) -> list[Sheet]:
    from drillgen.worksheet import build

    if students is None:
        return [build(drawn, options)]
    from drillgen.progress import track
    from drillgen.worksheet.roster import own_problems, read

    roster = read(students)
    return [
        build(own_problems(drawn, seed, student, secret), options, student)
        for student in track(roster, "sheets", len(roster))
    ]


def _leftovers(folder: str, found: list[str]) -> None:
    if found:
        shown = ", ".join(found[:3]) + (", …" if len(found) > 3 else "")
        files = "1 file that this run has" if len(found) == 1 else f"{len(found)} files that this run has"
        click.echo(f"note: {folder} also holds {files} not written: {shown}", err=True)


def _warn(sheets: list[Sheet], options: Options) -> None:
    from drillgen.worksheet.names import fit

    for line in fit(sheets, options).warnings:
        click.echo(f"note: {line}", err=True)
