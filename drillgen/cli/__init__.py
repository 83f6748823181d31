"""The command line: a lazy group, one file a command, and one place that turns errors into lines and exit codes.

The table below is all that `drillgen --help` needs; a command's file is imported when the command runs (or when its
own help is asked for).
"""

from __future__ import annotations

import os
import sys
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


def main(argv: list[str] | None = None) -> None:
    """The console script: run, and exit with the contract's codes and never with a traceback."""
    _streams()
    code = 0
    try:
        code = _run(argv)
        sys.stdout.flush()
    except BrokenPipeError:
        code = 141
    except OSError as error:
        code = _os_error(error)
    except KeyboardInterrupt:
        code = 130
        if sys.stderr.isatty():
            click.echo("", err=True)  # the shell's prompt stands on a line of its own
    if code == 141:
        # The reader is gone: what is still buffered must not raise again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def _streams() -> None:
    """Standard streams that are there and that speak UTF-8, whatever the locale and the caller left us.

    A closed one is opened on the null device, so that no output file takes its number; writing to a closed standard
    output then fails as it should. A lone surrogate is written as \\ud800: in JSON that is its very escape.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR if number == 2 else os.O_RDONLY)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
        stream = getattr(sys, name)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="surrogateescape" if number == 0 else "backslashreplace")


def text_of(argument: str) -> str:
    """A text from the command line as UTF-8, whatever the locale; bytes that are none are escaped."""
    return argument if argument.isascii() else os.fsencode(argument).decode("utf-8", "backslashreplace")


def _run(argv: list[str] | None) -> int:
    try:
        args = sys.argv[1:] if argv is None else argv
        if "_DRILLGEN_COMPLETE" in os.environ:
            group.main(args, "drillgen")
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
    except (LookupError, ValueError, RuntimeError, ImportError) as error:
        if not _ours(error):
            return _internal(error)
        return fail(f"{error}{_where_to_look(error)}")
    except Exception as error:  # the last resort: whatever it is, people get a line and not a traceback
        return _internal(error)
    return result if isinstance(result, int) else 0


def _where_to_look(error: BaseException) -> str:
    """For a name that resembles nothing: the command that lists what there is."""
    from solvers.errors import Unknown

    if not isinstance(error, Unknown) or error.near or ";" in str(error):
        return ""
    lists = {
        "unknown card": "`drillgen cards` lists them",
        "unknown drill": "`drillgen list` shows drills and scenarios",
    }
    return next((f"; {where}" for begin, where in lists.items() if str(error).startswith(begin)), "")


def _internal(error: Exception) -> int:
    """A fault of the program itself: one line; DRILLGEN_TRACEBACK=1 shows where."""
    if os.environ.get("DRILLGEN_TRACEBACK") or isinstance(error, OSError):
        raise error
    return fail(f"internal error, please report it: {type(error).__name__}: {error} (DRILLGEN_TRACEBACK=1 shows where)")


def _ours(error: BaseException) -> bool:
    """Errors that are written for people; anything else is a fault of the program and must not hide."""
    from drillgen.ids import BadId
    from drillgen.output import CannotWrite, MissingExtra, Refused
    from grading.errors import BadKey, Unreadable
    from solvers.errors import BadParameter, Unknown

    return isinstance(
        error, Unknown | BadId | BadParameter | BadKey | Unreadable | CannotWrite | MissingExtra | Refused
    )


def _os_error(error: OSError) -> int:
    import errno

    if error.errno == errno.EPIPE:
        return 141
    where = f" {error.filename}" if error.filename else ""
    code = fail(f"cannot read or write{where}: {error.strerror or error}")
    # A full disk must not raise again when Python flushes at exit.
    if error.errno in (errno.ENOSPC, errno.EIO, errno.EBADF):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def fail(message: str) -> int:
    """One line on stderr; the exit code for "cannot read or write"."""
    from grading.reading.screen import printable

    click.echo(f"drillgen: {printable(message, 1000)}", err=True)
    return 3
