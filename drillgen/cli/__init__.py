"""The command line: a lazy group, one file a command.

The table below is all that `drillgen --help` needs; a command's file is imported when the command runs (or when its
own help is asked for).
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import click

from drillgen.version import VERSION

COMMANDS = {
    "cards": "The cards with their formulas, printed numbers and drills.",
    "list": "The drills with kind, stars, minutes and number of instances.",
    "show": "One problem by its id.",
    "drill": "Ask problems in the terminal and grade the answers.",
    "generate": "A problem set, as Markdown or JSON Lines.",
    "check": "Grade one answer to one problem.",
    "match": "Grade rows that bring their own key.",
    "grade": "Grade submissions from CSV or JSON Lines.",
    "sheet": "A printable worksheet, with its key.",
    "key": "The key of given ids.",
    "pack": "Packages for Anki, Moodle, QTI, notebooks and datasets.",
    "solve": "A drill's solver as a calculator.",
    "simulate": "Run online softmax, KV caches, serving and more for real.",
    "verify": "Recompute every number that the cards print.",
    "audit": "Measured quality of the items.",
    "secret": "Make the secret of a sealed set.",
    "completion": "Shell completion for bash, zsh or fish.",
}


class LazyGroup(click.Group):
    """Knows every command's name and one-line help without importing it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        found: click.Command = import_module(f"drillgen.cli.{_module(name)}").command
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from solvers.errors import Unknown

            raise click.UsageError(str(Unknown("command", args[0], COMMANDS)), ctx)
        return super().resolve_command(ctx, args)


def _module(name: str) -> str:
    # `list` is a Python built-in; its file must not shadow it inside the package.
    return "list_" if name == "list" else name


@click.command(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=(
        "Exit codes: 0 done or right, 1 wrong answer or mismatch, 2 usage, 3 cannot read or write, "
        "4 undecided or partly quarantined, 130 interrupted, 141 closed pipe."
    ),
)
@click.version_option(VERSION, prog_name="drillgen")
def group() -> None:
    """Drills on attention mathematics: fresh numbers, graded answers, the slip named.

    \b
    drillgen drill --card 13                     practise the KV cache
    drillgen check kv_cache.per_token@1/1 "56 KiB"
    drillgen sheet --card 13 --count 10 --seed 7 --out sheet.pdf --key key.pdf
    """


def run(args: list[str]) -> int:
    """Run one command line; click's own errors are shown here, all others pass."""
    if "_DRILLGEN_COMPLETE" in os.environ:
        group.main(args, "drillgen")
    try:
        # Not group.main(): it turns a closed pipe into exit 1 before anybody else can see it.
        with group.make_context("drillgen", list(args)) as context:
            result: Any = group.invoke(context)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.Abort:
        return 130
    except click.ClickException as error:
        error.show()
        return error.exit_code
    return result if isinstance(result, int) else 0
