"""`drillgen grade`: grade submissions."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from typing import IO, TYPE_CHECKING, Any

import click

from drillgen.cli.selectors import json_option, read_secret, secret_option

if TYPE_CHECKING:
    from drillgen.submissions import Grader
    from grading.verdict import Verdict


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@json_option
@click.option("--out", metavar="FILE", help="Write the verdicts here as JSON Lines.")
@click.option("--gradebook", metavar="FILE", help="Write a CSV of students by problems, with totals.")
@click.option("--decimal-comma", is_flag=True, help="Read 1,5 as one and a half.")
@click.option("--choices", is_flag=True, help="Answers may be letters of a sheet printed with --choices.")
@click.option("--strict", is_flag=True, help="Exit 3 when a row is no row, after all rows are written.")
@secret_option
def command(
    files: tuple[str, ...], as_json: bool, out: str | None, gradebook: str | None, decimal_comma: bool,
    choices: bool, strict: bool, secret: str | None,
) -> int:  # fmt: skip
    """Grade submissions: CSV with columns student, id, answer (and part), or JSON Lines with those fields.

    A wrong answer, an unreadable one (? in the gradebook, counted apart) and a bad row are data: exit 0. The last of
    several answers of a student to one problem counts in the gradebook.

    \b
    drillgen grade answers.csv
    drillgen grade a.csv b.jsonl --out verdicts.jsonl --gradebook marks.csv
    drillgen grade - --gradebook - < answers.csv
    """
    from drillgen.output import target
    from drillgen.progress import track
    from drillgen.submissions import Gradebook, Grader

    grader, book = Grader(read_secret(secret), decimal_comma, choices), Gradebook()
    counts: Counter[str] = Counter()
    with ExitStack() as stack:
        lines: IO[str] | None = stack.enter_context(target(out)) if out else None
        marks: IO[str] | None = stack.enter_context(target(gradebook)) if gradebook else None
        rows = _rows(files, grader)
        printer = _printer(as_json, lines, gradebook == "-", grader)
        for verdict in track(rows, "grade", printing=out in (None, "-")):
            counts[_class(verdict)] += 1
            if marks is not None:
                book.add(verdict)
            printer(verdict)
        if marks is not None:
            book.write(marks)
    if book.duplicates:
        again = "1 answer was" if book.duplicates == 1 else f"{book.duplicates:,} answers were"
        click.echo(f"note: {again} given again later; of several the last counts", err=True)
    click.echo(_summary(counts), err=bool(as_json or out or gradebook == "-"))
    if strict and counts["bad row"]:
        return 3
    return 4 if counts["quarantined"] else 0


ORDER = ["right", "wrong", "undecided", "unreadable", "unknown id", "bad row", "quarantined"]
_CLASSES = {"invalid": "unreadable", "unknown_id": "unknown id", "bad_row": "bad row"}


def _summary(counts: Counter[str]) -> str:
    total = sum(counts.values())
    parts = [
        f"{counts[name]:,} {name}{'s' if name in ('unknown id', 'bad row') and counts[name] > 1 else ''}"
        for name in ORDER
        if counts[name]
    ]
    return f"{total:,} answer{'' if total == 1 else 's'}{': ' if parts else ''}{', '.join(parts)}"


def _class(verdict: Verdict) -> str:
    if verdict.status == "graded":
        return verdict.verdict or "undecided"
    return _CLASSES.get(verdict.status, "quarantined")


def _rows(files: tuple[str, ...], grader: Any) -> Iterator[Verdict]:
    from drillgen.progress import note
    from drillgen.submissions import open_input, read

    for name in files:
        foreign = False
        with open_input(name) as stream:
            for row in read(stream, name):
                if not foreign and "\ufffd" in row.student + row.answer:
                    foreign = True
                    note(f"{name} holds bytes that are no UTF-8, shown as \ufffd: save it as CSV UTF-8")
                yield grader.grade(row)


def _printer(as_json: bool, lines: IO[str] | None, quiet: bool, grader: Grader) -> Any:
    """Where a verdict goes: the file, JSON Lines on standard output, a table, or nowhere."""
    if lines is not None:
        return lambda v: lines.write(json.dumps(v.to_json(), ensure_ascii=False) + "\n")
    if quiet:
        return lambda _: None
    if as_json:
        return lambda v: click.echo(json.dumps(v.to_json(), ensure_ascii=False))
    return _Table(grader).row


class _Table:
    """A line a verdict, the heading before the first; on a narrow terminal the last column has lines of its own.

    Rows are printed as they come, so the widths are fixed; nothing is cut off.
    """

    HEAD = f"{'student':<16} {'id':<42} {'verdict':<11} "

    def __init__(self, grader: Grader) -> None:
        from drillgen.cli.tables import terminal_width

        self._begun, self._grader = False, grader
        self._room = terminal_width()

    def row(self, verdict: Verdict) -> None:
        """Print one verdict."""
        if not self._begun:
            click.echo(self.HEAD + "what")
        self._begun = True
        student, part = printable_name(verdict.student), printable_name(verdict.part)
        id = printable_name(verdict.id) + (f" ({part})" if part else "")
        head = f"{student:<16} {id:<42} {_class(verdict):<11} "
        slips = f"[{', '.join(verdict.slips)}] " if verdict.slips else ""
        click.echo(self._joined(head, " ".join((slips + _why(verdict, self._grader)).split())))

    def _joined(self, head: str, why: str) -> str:
        import textwrap

        if self._room is None:
            return (head + why).rstrip()
        beside = self._room - len(self.HEAD) >= 40
        indent = " " * (len(self.HEAD) if beside else 4)
        said = textwrap.fill(why, self._room, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
        if beside and len(head) <= len(self.HEAD):
            return (head + said[len(indent) :]).rstrip()
        return f"{head.rstrip()}\n{said}" if said else head.rstrip()


def printable_name(text: object) -> str:
    """A name or id from outside, safe to show; empty where there is none."""
    from grading.reading.screen import printable

    return printable("" if text is None else str(text), 80)


def _why(verdict: Verdict, grader: Grader) -> str:
    from drillgen.checking import shown_options
    from drillgen.say import lettered, one_line
    from grading.reading.screen import printable

    if verdict.remarks:
        return " ".join(one_line(remark) for remark in verdict.remarks)
    if verdict.findings:
        return printable(verdict.findings[0].text, 300)
    if verdict.detail:
        return printable(verdict.detail.splitlines()[0], 300)
    if verdict.kind in ("choice", "multi_choice"):
        return lettered(verdict.reading, shown_options(grader.opened(verdict.id), verdict.part))
    return printable(verdict.reading, 300)
