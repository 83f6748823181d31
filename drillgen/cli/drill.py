"""`drillgen drill`: ask in the terminal."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from drillgen.cli.selectors import (
    draw_set,
    json_option,
    read_secret,
    repeat_hint,
    secret_option,
    seed_text,
    selection,
    selectors,
)

if TYPE_CHECKING:
    from drillgen.ids import Secret
    from drillgen.instance import Instance
    from drillgen.problemset import Selection
    from drillgen.scenario import ScenarioInstance
    from grading.verdict import Verdict

KEYS = "[h hint · s skip · r reveal · ? help · q quit]"
HELP = """type an answer and press Enter; or one of
  h   a hint (three of them: the move, the formula, all but the last step)
  s   skip this problem
  r   reveal the answer and the worked solution
  q   quit
An answer that cannot be read costs no attempt; after a wrong one you may try
once more. An answer that is one of these letters goes in brackets: (h)."""
ONE_LINE = ("one row a line (or separated by semicolons)", "rows on one line, separated by semicolons")
"""Pressing Enter ends an answer here."""
WORDS = {"hint": "h", "skip": "s", "reveal": "r", "help": "?", "quit": "q", "exit": "q"}


@click.command()
@click.argument("what", nargs=-1, metavar="[CARD|DRILL|SCENARIO|ID]...")
@selectors
@click.option("--count", type=click.IntRange(1, 10_000), metavar="N", default=1, help="How many problems (1).")
@click.option("--seed", help="Any text; the same seed asks the same problems.")
@json_option
@secret_option
def command(
    what: tuple[str, ...], card: tuple[str, ...], drill: tuple[str, ...], stars: tuple[int, ...],
    kind: tuple[str, ...], chain: str, count: int, seed: str | None, as_json: bool, secret: str | None,
) -> int:  # fmt: skip
    """Ask one problem (or --count) in the terminal: answers, hints on demand, verdict, solution.

    \b
    drillgen drill                               any card
    drillgen drill 13                            card 13 (or kv_cache; or several: 13 14)
    drillgen drill kv_cache.per_token
    drillgen drill scenario whiteboard_attention
    drillgen drill kv_cache.per_token@1/4821     this very problem
    """
    text = seed_text(seed)
    session = Session(as_json)
    for found in _problems(what, selection(card, drill, stars, kind, chain), count, text, read_secret(secret)):
        if not session.ask(found):
            break
    session.close()
    if count > 1:
        repeat_hint(seed, text)
    return 0


def _problems(
    what: tuple[str, ...], chosen: Selection, count: int, seed: str, secret: Secret | None
) -> Iterator[Instance | ScenarioInstance]:
    """The one problem of an id, `count` instances of a scenario, or a set of the cards and drills that are named."""
    from dataclasses import replace

    from drillgen.instance import open_id

    if what and what[0] == "scenario":
        what = ("scenario." + ".".join(what[1:]),)
    for name in what:
        if "/" in name:
            if len(what) > 1:
                raise click.UsageError("one id at a time; cards and drills may be several")
            return iter([open_id(name, secret)])
    cards = tuple(name for name in what if "." not in name)
    drills = tuple(name for name in what if "." in name)
    chosen = replace(chosen, cards=(*chosen.cards, *cards), drills=(*chosen.drills, *drills))
    return draw_set(chosen, seed, count, secret=secret)


class Session:
    """One run: asks, reads, answers; totals at the end."""

    def __init__(self, as_json: bool) -> None:
        self.json = as_json
        self.right = self.asked = 0
        self.typed = sys.stdin.isatty()

    def ask(self, found: Instance | ScenarioInstance) -> bool:
        """Ask one problem or all parts of a scenario; False when the learner quits."""
        from drillgen.scenario import ScenarioInstance

        if self.asked and not self.json:
            click.echo("")
        if isinstance(found, ScenarioInstance):
            return self._scenario(found)
        problem = found.problem(answers=True)
        return self._one(problem, found.grade)

    def _scenario(self, found: ScenarioInstance) -> bool:
        from drillgen.say import head_line, labelled, part_lines, prose

        whole = found.problem(answers=True)
        if not self.json:
            click.echo(f"{head_line(whole)}\n\n{prose(whole['prompt'])}")
        given: dict[str, str] = {}
        for part in whole["parts"]:
            name = part["name"]

            def grade(text: str, name: str = name) -> Verdict:
                verdict = found.grade(text, part=name, given=given)
                if verdict.status == "graded":
                    given[name] = text
                return verdict

            if not self.json:
                click.echo("")
            if not self._one(part, grade, part_lines):
                return False
        if not self.json:
            click.echo("\nA strong answer touches:")
            for point in found.scenario.points:
                click.echo(labelled("  - ", point))
        return True

    def _one(self, problem: dict[str, Any], grade: Any, lines: Any = None) -> bool:
        """Ask one problem or part until it is right, wrong twice, skipped or revealed; False when the learner quits."""
        from drillgen.say import hint_line, problem_lines

        hidden = {"answer", "slips", "solution"}
        public = {k: v for k, v in problem.items() if k not in hidden}
        if self.json:
            click.echo(json.dumps(public, ensure_ascii=False))
        else:
            public["answer_format"] = public["answer_format"].replace(*ONE_LINE)
            for line in (lines or problem_lines)(public):
                click.echo(line)
        if self.typed:
            click.echo(KEYS, err=self.json)
        self.asked += 1
        hints, wrong = iter(enumerate(problem["hints"], 1)), 0
        while True:
            text = self._read()
            if text is None or text == "q":
                self.asked -= 1
                return False
            if text == "?":
                click.echo(HELP, err=self.json)
            elif text == "h":
                number, hint = next(hints, (0, "no further hints: r reveals the answer and the solution"))
                click.echo(hint_line(number, hint) if number else hint, err=self.json)
            elif text == "s":
                return True
            elif text == "r":
                self._reveal(problem)
                return True
            elif text:
                verdict = grade(text)
                self._say(verdict, problem)
                self.right += verdict.right
                wrong += verdict.status == "graded" and not verdict.right
                if verdict.right or wrong == 2:
                    self._reveal(problem)
                    return True
                if verdict.status == "graded" and not self.json:
                    click.echo("one more try on the same numbers (h for a hint, r to reveal)")

    def _say(self, verdict: Verdict, problem: dict[str, Any]) -> None:
        from drillgen.say import verdict_lines

        if self.json:
            click.echo(json.dumps({**verdict.to_json(), "id": problem["id"]}, ensure_ascii=False))
            return
        for line in verdict_lines(verdict, problem):
            click.echo(line)

    def _reveal(self, problem: dict[str, Any]) -> None:
        from drillgen.say import key_lines

        if self.json:
            return
        click.echo("")
        for line in key_lines(problem, slips=False):
            click.echo(line)

    def _read(self) -> str | None:
        """A line from the learner, commands by their letter; None at the end of the input."""
        if self.typed and not self.json and sys.stdout.isatty():
            line = _edited()
        else:
            if self.typed:
                click.echo("> ", nl=False, err=self.json)
            line = sys.stdin.readline(100_000)
        if not line and self.typed:
            click.echo("", err=self.json)  # Ctrl-D leaves the cursor behind the prompt
        text = line.strip()
        return WORDS.get(text.lower(), text) if line else None

    def close(self) -> None:
        """The totals, where something was asked."""
        if self.asked > 1:
            click.echo(f"\n{self.right} of {self.asked} right", err=self.json)


def _edited() -> str:
    """A line typed at the terminal, with arrow keys and history where Python has readline; empty at its end."""
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401 - input() uses it
    try:
        return input("> ") + "\n"
    except EOFError:
        return ""
