"""`drillgen solve`: a drill's solver as a calculator."""

from __future__ import annotations

import json

import click

from drillgen.cli.selectors import json_option


@click.command(context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]})
@click.argument("drill")
@click.argument("values", nargs=-1, type=click.UNPROCESSED, metavar="NAME=VALUE…")
@json_option
def command(drill: str, values: tuple[str, ...], as_json: bool) -> None:
    """Answer, steps and unit for parameters of your own.

    \b
    drillgen solve kv_cache.per_token model=llama3-8b dtype=fp16
    drillgen solve softmax.shift scores=[0,2,1] c=10
    """
    from drillgen import catalog
    from drillgen.instance import plain
    from solvers.errors import BadParameter

    _, found = catalog.drill(drill)
    given: dict[str, str] = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not equals:
            raise BadParameter(f"{text[:60]!r}: parameters are given as name=value, e.g. T=4096")
        given[name.strip()] = value.strip()
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
        "drill": drill, "params": plain({k: completed[k] for k in found.params}),
        "answer": {"value": plain(answer), "unit": getattr(kind, "unit", "none"), "show": kind.show(answer)},
        "steps": [{"name": k, "value": plain(v)} for k, v in steps.items()],
    }  # fmt: skip
    if as_json:
        click.echo(json.dumps(row, ensure_ascii=False))
        return
    from drillgen.cli.verify import short

    for name, value in steps.items():
        if name == "answer":  # follows below, with its unit
            continue
        click.echo(f"{name:<16} {short(plain(value))}")
    unit = getattr(kind, "unit", "none")
    click.echo(f"{'answer':<16} {kind.show(answer)}{'' if unit == 'none' else f'   (asked in {unit})'}")


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
