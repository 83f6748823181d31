"""Where the program starts, and the one place that turns errors into lines and exit codes."""

from __future__ import annotations

import os
import sys


def main(argv: list[str] | None = None) -> None:
    """The console script: run, and exit with the contract's codes and never with a traceback."""
    _streams()
    code = 0
    try:
        code = _run(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
    except BrokenPipeError:
        code = 141
    except OSError as error:
        code = _os_error(error)
    except KeyboardInterrupt:
        code = 130
        if sys.stderr.isatty():
            sys.stderr.write("\n")  # the shell's prompt stands on a line of its own
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


def _run(args: list[str]) -> int:
    try:
        if _plain_check(args):
            # Half of a check's time would go into importing click; without options there is nothing to parse.
            from drillgen.checking import check

            return check(args[1], args[2:])
        from drillgen.cli import run

        return run(args)
    except (LookupError, ValueError, RuntimeError, ImportError) as error:
        if not _ours(error):
            return _internal(error)
        return fail(f"{error}{_where_to_look(error)}")
    except Exception as error:  # the last resort: whatever it is, people get a line and not a traceback
        return _internal(error)


def _plain_check(args: list[str]) -> bool:
    """Whether the line is `check ID ANSWER…` without any option."""
    plain = len(args) > 2 and args[0] == "check" and not any(a.startswith("--") for a in args)
    return plain and "_DRILLGEN_COMPLETE" not in os.environ


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

    sys.stderr.write(f"drillgen: {printable(message, 1000)}\n")
    return 3
