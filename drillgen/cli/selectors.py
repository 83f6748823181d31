"""Options that several commands share: what a set is drawn from, and how."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from click import ParamType as ParamType

    from drillgen.ids import Secret
    from drillgen.problemset import Drawn, Selection
else:

    class ParamType(click.ParamType):
        """Generic for the type checker; at run time click's own class, which is generic in its newest releases only."""

        def __class_getitem__(cls, _):
            return cls


F = TypeVar("F", bound=Callable[..., Any])


def selectors(command: F) -> F:
    """--card, --drill, --stars, --kind, --chain: gathered by `selection`."""
    for option in reversed(
        (
            click.option(
                "--card", "--cards", "card", multiple=True, metavar="CARD",
                help="13, kv_cache or c13_kv_cache; lists and ranges: 1-7,13. Repeatable; none means all.",
            ),
            click.option("--drill", multiple=True, metavar="ID", help="A drill or scenario by id. Repeatable."),
            click.option(
                "--stars", multiple=True, type=click.IntRange(1, 3), metavar="N", help="Difficulty. Repeatable."
            ),
            click.option("--kind", multiple=True, metavar="KIND", help="Answer kind, e.g. quantity. Repeatable."),
            click.option("--chain", default="", metavar="NAME", help="softmax, scale, cost, expressiveness or order."),
        )
    ):  # fmt: skip
        command = option(command)
    return command


def _one_measure(context: click.Context, option: click.Parameter, value: int | None) -> int | None:
    """A set has a count or fills a time, not both: one of them would be dropped without a word."""
    other = "minutes" if option.name == "count" else "count"
    if value is not None and context.params.get(other) is not None:
        raise click.UsageError("give --count or --minutes, not both", context)
    return value


def drawing(command: F) -> F:
    """--count, --minutes, --seed, --balanced, --unique, --secret: used by `draw_set`."""
    for option in reversed(
        (
            click.option(
                "--count", type=click.IntRange(1, 10_000_000), metavar="N", callback=_one_measure,
                help="How many problems (10).",
            ),
            click.option(
                "--minutes", type=click.IntRange(5, 600), metavar="N", callback=_one_measure,
                help="Fill a time budget instead of a count.",
            ),
            click.option("--seed", help="Any text; the same seed gives the same set."),
            click.option("--balanced", is_flag=True, help="Spread moves, kinds and difficulty evenly."),
            click.option("--unique", is_flag=True, help="Fail rather than repeat a problem."),
            secret_option,
        )
    ):  # fmt: skip
        command = option(command)
    return command


secret_option = click.option(
    "--secret", type=click.Path(dir_okay=False), help="The secret file of a sealed set (see `drillgen secret`)."
)

json_option = click.option("--json", "as_json", is_flag=True, help="JSON instead of prose.")


def selection(
    card: tuple[str, ...], drill: tuple[str, ...], stars: tuple[int, ...], kind: tuple[str, ...], chain: str = ""
) -> Selection:
    """The selection that the options describe."""
    from drillgen.problemset import Selection

    return Selection(cards=card, drills=drill, stars=stars, kinds=kind, chain=chain)


def read_secret(path: str | None) -> Secret | None:
    """The secret in a file, or None where no file is named."""
    if path is None:
        return None
    from drillgen.sealing import load

    return load(path)


def seed_text(seed: str | None) -> str:
    """The seed, or a drawn one where none is given."""
    from drillgen.main import text_of

    if seed is not None:
        return text_of(seed)
    import secrets

    return str(secrets.randbelow(10**9))


def draw_set(
    chosen: Selection,
    seed: str,
    count: int | None,
    minutes: int | None = None,
    *,
    balanced: bool = False,
    unique: bool = False,
    secret: Secret | None = None,
) -> Iterator[Drawn]:
    """The problems of a set; says once on stderr that a drill had to repeat."""
    from drillgen.problemset import Stream, take
    from drillgen.progress import note

    said: list[str] = []

    def repeat(id: str) -> None:
        if not said:
            note(f"{id} has no further problems and repeats itself in this set")
        said.append(id)

    stream = Stream(chosen.chosen(), seed, secret, unique=unique, balanced=balanced, on_repeat=repeat)
    return take(stream, count if minutes is None else None, minutes)


def repeat_hint(given: str | None, seed: str) -> None:
    """Where no seed was given: the command that repeats the set, on stderr."""
    if given is None:
        import shlex
        import sys

        again = shlex.join(["drillgen", *sys.argv[1:], "--seed", seed])
        click.echo(f"seed {seed}; the same set again: {again}", err=True)
