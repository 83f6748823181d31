"""`drillgen drill`: ask in the terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from drillgen.cli.selectors import (
    draw_set,
    json_option,
    read_secret,
    secret_option,
    seed_text,
    selection,
    selectors,
)

if TYPE_CHECKING:
    from drillgen.instance import Instance
    from drillgen.scenario import ScenarioInstance
    from grading.verdict import Verdict

KEYS = "h hint · s skip · r reveal · ? help · q quit"
HELP = """type an answer and press Enter; or one of
  h   a hint (three of them: the move, the formula, all but the last step)
  s   skip this problem
  r   reveal the answer and the worked solution
  q   quit
an answer that cannot be read costs no attempt; after a wrong one you may try once more"""


@click.command()
@click.argument("what", nargs=-1, metavar="[CARD|DRILL|SCENARIO|ID]")
@selectors
@click.option("--count", type=click.IntRange(1, 10_000), default=1, help="How many problems (1).")
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
    drillgen drill 13                            card 13 (or kv_cache)
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
    return 0


def _problems(
    what: tuple[str, ...], chosen: Any, count: int, seed: str, secret: Any
) -> Iterator[Instance | ScenarioInstance]:
    from dataclasses import replace

    from drillgen import catalog
    from drillgen.instance import open_id
    from drillgen.problemset import Selection

    name = " ".join(what)
    if name.startswith("scenario"):
        from drillgen.scenario import make_scenario, scenario
        from solvers.draws import Draws

        bare = name.removeprefix("scenario").strip(" .")
        if "/" not in bare:
            found, draws = scenario(bare), Draws(f"set/{seed}")
            return (make_scenario(found, draws.integer(0, 999_999_999), secret) for _ in range(count))
        name = f"scenario.{bare}"
    if "/" in name:
        return iter([open_id(name, secret)])
    if "." in name:
        catalog.drill(name)
        chosen = Selection(drills=(name,))
    elif name:
        chosen = replace(chosen, cards=(*chosen.cards, name))
    return draw_set(chosen, seed, count, secret=secret)


class Session:
    """One run: asks, reads, answers; totals at the end."""

    def __init__(self, as_json: bool) -> None:
        self.json = as_json
        self.right = self.asked = 0

    def ask(self, found: Instance | ScenarioInstance) -> bool:
        """Ask one problem or all parts of a scenario; False when the learner quits."""
        from drillgen.say import head_line, prose
        from drillgen.scenario import ScenarioInstance

        if not isinstance(found, ScenarioInstance):
            return self._one(found.problem(answers=True), found.grade)
        whole = found.problem(answers=True)
        if not self.json:
            click.echo(f"{head_line(whole)}\n\n{prose(whole['prompt'])}\n")
        given: dict[str, str] = {}
        for part in whole["parts"]:
            name = part["name"]

            def grade(text: str, name: str = name) -> Verdict:
                verdict = found.grade(text, part=name, given=given)
                if verdict.status == "graded":
                    given[name] = text
                return verdict

            if not self._one(part, grade):
                return False
        if not self.json:
            click.echo("A strong answer touches:")
            for point in found.scenario.points:
                click.echo(f"  - {prose(point)}")
        return True

    def _one(self, problem: dict[str, Any], grade: Any) -> bool:
        from drillgen.say import problem_lines, prose, verdict_lines

        hidden = {"answer", "slips", "solution"}
        public = {k: v for k, v in problem.items() if k not in hidden}
        if self.json:
            click.echo(json.dumps(public, ensure_ascii=False))
        else:
            for line in problem_lines(public):
                click.echo(line)
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
                number, hint = next(hints, (0, "no further hints: r reveals the solution"))
                click.echo(f"hint {number}: {prose(hint)}" if number else hint, err=self.json)
            elif text == "s":
                return True
            elif text == "r":
                self._reveal(problem)
                return True
            elif text:
                verdict = grade(text)
                if self.json:
                    click.echo(json.dumps({**verdict.to_json(), "id": problem["id"]}, ensure_ascii=False))
                else:
                    for line in verdict_lines(verdict):
                        click.echo(line)
                if verdict.right:
                    self.right += 1
                    self._reveal(problem)
                    return True
                wrong += verdict.status == "graded"
                if wrong == 2:
                    self._reveal(problem)
                    return True
                if verdict.status == "graded" and not self.json:
                    click.echo("one more try on the same numbers (h for a hint, r to reveal)")

    def _reveal(self, problem: dict[str, Any]) -> None:
        from drillgen.say import prose

        if self.json:
            return
        click.echo(f"answer: {prose(problem['answer']['show'])}\n\n{prose(problem['solution'])}\n")

    def _read(self) -> str | None:
        """A line from the learner, or None at the end of the input."""
        if sys.stdin.isatty():
            click.echo(f"[{KEYS}]\n> ", nl=False, err=self.json)
        line = sys.stdin.readline(100_000)
        return line.strip() if line else None

    def close(self) -> None:
        """The totals, where something was asked."""
        if self.asked > 1:
            click.echo(f"{self.right} of {self.asked} right", err=self.json)
