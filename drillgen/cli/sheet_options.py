"""How a sheet looks: the options that `sheet` and `key` share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from drillgen.cli.selectors import ParamType

if TYPE_CHECKING:
    from drillgen.worksheet.options import Options

F = TypeVar("F", bound=Callable[..., Any])


class Space(ParamType[str | float]):
    """auto, none, or a length in cm."""

    name = "space"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str | float:
        text = str(value).strip().lower()
        if text == "auto":
            return "auto"
        if text == "none":
            return 0.0
        digits = text.removesuffix("cm").strip()
        whole, _, rest = digits.partition(".")
        if (whole + rest).isascii() and (whole + rest).isdigit() and len(digits) < 8 and float(digits) <= 11:
            return float(digits)
        message = f"{value!r} is no space; write auto, none, or centimetres up to 11, e.g. 3cm"
        raise click.BadParameter(message, ctx, param)


def common(command: F) -> F:
    """--title, --paper, --choices, --solutions, --fonts."""
    for option in reversed(
        (
            click.option("--title", default="Attention drills", metavar="TEXT", help="What stands on top."),
            click.option("--paper", type=click.Choice(["a4", "letter"]), default="a4", help="Paper size (a4)."),
            click.option("--choices", is_flag=True, help="Multiple choice, with options made of the slips."),
            click.option("--solutions", is_flag=True, help="Worked solutions and slips in the key."),
            click.option("--fonts", type=click.Path(exists=True, file_okay=False), help="A folder of fonts for names."),
        )
    ):
        command = option(command)
    return command


def layout(command: F) -> F:
    """The options of `common`, and those that only a sheet has."""
    for option in reversed(
        (
            click.option("--instructions", default="", metavar="TEXT", help="Shown under the title."),
            click.option(
                "--columns", type=click.IntRange(1, 2), metavar="N", default=1, help="Columns of problems (1)."
            ),
            click.option("--space", type=Space(), default="auto", help="Working space: auto, none or 3cm, say."),
        )
    ):
        command = option(command)
    return common(command)


def gather(given: Mapping[str, Any]) -> Options:
    """The options as the worksheet package takes them."""
    from pathlib import Path

    from drillgen.worksheet.options import Options
    from drillgen.worksheet.roster import clean

    space = given.get("space", "auto")
    return Options(
        title=clean(given["title"]) or Options.title,
        instructions="\n".join(clean(line, 2000) for line in given.get("instructions", "").splitlines()),
        paper=given["paper"],
        columns=given.get("columns", 1),
        space=None if space == "auto" else float(space),
        choices=given["choices"],
        solutions=given["solutions"],
        fonts=Path(given["fonts"]) if given["fonts"] else None,
    )
