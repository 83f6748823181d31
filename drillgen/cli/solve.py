"""`drillgen solve`: a drill's solver as a calculator."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from drillgen.cli.selectors import json_option

if TYPE_CHECKING:
    from solvers.drill import Card, Drill


@click.command(context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]})
@click.argument("drill")
@click.argument("values", nargs=-1, type=click.UNPROCESSED, metavar="NAME=VALUE...")
@json_option
def command(drill: str, values: tuple[str, ...], as_json: bool) -> None:
    """Answer, steps and unit for parameters of your own.

    \b
    drillgen solve kv_cache.per_token model=llama3-8b dtype=fp16
    drillgen solve softmax.shift scores=[0,2,1] c=10
    drillgen solve softmax.shift                 says which values it needs, with an example
    """
    from drillgen import catalog
    from drillgen.instance import plain
    from drillgen.scenario import scenario
    from solvers.errors import BadParameter

    if drill.startswith("scenario."):
        parts = ", ".join(dict.fromkeys(p.drill for p in scenario(drill).parts))
        raise BadParameter(f"{drill} is asked in parts; solve takes one drill: {parts}")
    card, found = catalog.drill(drill.partition("@")[0])
    given: dict[str, str] = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not equals:
            raise BadParameter(f"{text[:60]!r}: parameters are given as name=value, e.g. T=4096")
        given[name.strip()] = value.strip()
    if any(name not in given for name in found.params) and set(given) <= set(found.params):
        missing = ", ".join(name for name in found.params if name not in given)
        raise BadParameter(f"{found.id} needs {missing}; for example: {_example(card, found)}")
    params = found.read_params(given)
    try:
        completed, answer, _ = found.at(params)
        steps = found.named_steps(completed, answer)
    except BadParameter:
        raise
    except (ArithmeticError, ValueError, LookupError, TypeError, MemoryError) as error:
        raise BadParameter(f"{drill} has no answer at these parameters: {_plainly(error)}") from None
    kind = found.kind_for(completed)
    row = {
        "drill": found.id, "params": plain({k: completed[k] for k in found.params}),
        "answer": {"value": plain(answer), "unit": getattr(kind, "unit", "none"), "show": kind.show(answer)},
        "steps": [{"name": k, "value": plain(v)} for k, v in steps.items()],
    }  # fmt: skip
    if as_json:
        click.echo(json.dumps(row, ensure_ascii=False))
        return
    from drillgen.cli.verify import short

    wide = max(map(len, ("answer", *steps)))
    for name, value in steps.items():
        if name == "answer":  # follows below, with its unit
            continue
        click.echo(f"{name:<{wide}}  {short(plain(value))}")
    unit = getattr(kind, "unit", "none")
    click.echo(f"{'answer':<{wide}}  {kind.show(answer)}{'' if unit == 'none' else f'   (asked in {unit})'}")


def _plainly(error: Exception) -> str:
    """What Python says, as the person at the keyboard would."""
    text = str(error)
    if "zip()" in text:
        return "two lists that belong together differ in length"
    if isinstance(error, IndexError):
        return "a position lies beyond the end of its list"
    if isinstance(error, ZeroDivisionError):
        return "it would take a division by zero"
    if isinstance(error, OverflowError | MemoryError) or "range error" in text:
        return "a number on the way is too large"
    if "domain error" in text:
        return "a root or logarithm on the way does not exist"
    return text or type(error).__name__


def _example(card: Card, drill: Drill) -> str:
    """A command that works: the parameters of one drawn problem."""
    import shlex

    from drillgen.instance import make, plain

    values = make(card, drill, 1).values
    words = [f"{name}={_typed(plain(values[name]))}" for name in drill.params]
    return shlex.join(["drillgen", "solve", drill.id, *words])


def _typed(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), ensure_ascii=False)
