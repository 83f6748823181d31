"""`drillgen generate`: a problem set."""

from __future__ import annotations

import json

import click

from drillgen.cli.selectors import (
    draw_set,
    drawing,
    json_option,
    read_secret,
    repeat_hint,
    seed_text,
    selection,
    selectors,
)


@click.command()
@selectors
@drawing
@click.option("--answers", is_flag=True, help="With answers, slips and worked solutions.")
@json_option
@click.option("--out", metavar="FILE", help="Write here instead of standard output; .jsonl means JSON Lines.")
def command(
    card: tuple[str, ...], drill: tuple[str, ...], stars: tuple[int, ...], kind: tuple[str, ...], chain: str,
    count: int | None, minutes: int | None, seed: str | None, balanced: bool, unique: bool, secret: str | None,
    answers: bool, as_json: bool, out: str | None,
) -> None:  # fmt: skip
    """A problem set as Markdown, or as JSON Lines with --json or a .jsonl name.

    \b
    drillgen generate --card 13 --count 5 --seed 7
    drillgen generate --cards 1-7,13 --count 1000 --answers --out set.jsonl
    """
    from drillgen.output import target
    from drillgen.progress import track
    from drillgen.say import problem_markdown

    text = seed_text(seed)
    chosen = selection(card, drill, stars, kind, chain)
    problems = draw_set(
        chosen, text, count or 10, minutes, balanced=balanced, unique=unique, secret=read_secret(secret)
    )
    lines = as_json or (out or "").endswith((".jsonl", ".ndjson"))
    total = None if minutes else count or 10
    with target(out) as stream:
        for number, instance in enumerate(track(problems, "generate", total, printing=out in (None, "-")), 1):
            problem = instance.problem(answers)
            if lines:
                stream.write(json.dumps(problem, ensure_ascii=False) + "\n")
            else:
                stream.write(problem_markdown(problem, number) + "\n")
    repeat_hint(seed, text)
