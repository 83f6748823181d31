"""`drillgen show`: one problem."""

from __future__ import annotations

import click

from drillgen.cli.selectors import json_option, read_secret, secret_option


@click.command()
@click.argument("id")
@click.option("--answers", is_flag=True, help="With answer, slips and worked solution.")
@click.option("--hints", is_flag=True, help="With the three hints.")
@json_option
@secret_option
def command(id: str, answers: bool, hints: bool, as_json: bool, secret: str | None) -> None:
    """One problem by its id, as prose or JSON.

    \b
    drillgen show kv_cache.per_token@1/4821 --answers
    """
    from drillgen.instance import open_id

    problem = open_id(id, read_secret(secret)).problem(answers)
    if as_json:
        import json

        click.echo(json.dumps(problem, ensure_ascii=False))
        return
    from drillgen.say import problem_lines

    for line in problem_lines(problem, hints=hints):
        click.echo(line)
