"""`drillgen key`: the key of given ids."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from drillgen.cli.selectors import json_option, read_secret, secret_option
from drillgen.cli.sheet_options import common, gather

if TYPE_CHECKING:
    from drillgen.worksheet import Options, Sheet


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@common
@secret_option
@json_option
@click.option("--out", metavar="FILE", help="Write here (.pdf, .html, .md, .tex) instead of the screen.")
def command(ids: tuple[str, ...], secret: str | None, as_json: bool, out: str | None, **given: object) -> None:
    """The key of a sheet from the ids that are printed on it; `-` reads ids from standard input.

    On a terminal it is plain text, in a pipe Markdown.

    \b
    drillgen key kv_cache.per_token@1/4821 softmax.shift@1/12 --solutions
    drillgen key kv_cache.per_token@1/4821 --out key.pdf
    """
    from drillgen.instance import open_id
    from drillgen.worksheet import build, render
    from drillgen.worksheet.files import form_of, save

    out = None if out == "-" else out
    form = form_of(out) if out else "md"
    if ids == ("-",):
        ids = tuple(sys.stdin.read().split())
    if not ids:
        raise click.UsageError("standard input holds no ids")
    options = gather(given)
    opened = read_secret(secret)
    sheet = build([open_id(id, opened) for id in ids], options)
    if out:
        save([(out, render([sheet], options, form, key=True))])
    elif as_json:
        for line in _objects(sheet, options):
            click.echo(line)
    elif sys.stdout.isatty():
        for line in _lines(sheet, options):
            click.echo(line)
    else:
        click.echo(render([sheet], options, form, key=True).decode(), nl=False)


def _objects(sheet: Sheet, options: Options) -> Iterator[str]:
    """One JSON object a problem."""
    for question in sheet.questions:
        parts = [
            {
                "name": part.name, "kind": part.kind, "answer": part.answer, "show": part.show,
                "precision": part.precision, "options": {c.letter: c.text for c in part.choices},
            }
            for part in question.parts
        ]  # fmt: skip
        made = {"number": question.number, "id": question.id, "answer": question.problem["answer"], "parts": parts}
        if options.solutions:
            made["solution"] = question.problem["solution"]
        yield json.dumps(made, ensure_ascii=False)


def _lines(sheet: Sheet, options: Options) -> Iterator[str]:
    """The key as plain text."""
    import textwrap

    from drillgen.say import width
    from drillgen.typeset import terminal
    from drillgen.worksheet.question import named_slips

    def phrase(markdown: str) -> str:
        return " ".join(terminal.write(markdown, 100_000).split())

    def wrapped(mark: str, text: str) -> list[str]:
        first, rest = f"   {mark}", " " * (3 + len(mark))
        return textwrap.wrap(text, width(), initial_indent=first, subsequent_indent=rest, break_long_words=False)

    for question in sheet.questions:
        yield f"{question.number}. {question.id}"
        for part in question.parts:
            right = [c for c in part.choices if c.right]
            note = " · ".join(c.text if c.plain else phrase(c.text) for c in right) or part.precision
            yield from wrapped(f"({part.name}) " if part.name else "", f"{part.answer}   [{note}]")
        if options.solutions:
            yield ""
            solution = terminal.write(str(question.problem["solution"]), width() - 3)
            yield from (f"   {line}".rstrip() for line in solution.split("\n"))
            yield ""
            for slip in named_slips(question):
                yield from wrapped("- ", f"{slip.mark}{slip.show}: {phrase(slip.remark)}")
            yield ""
