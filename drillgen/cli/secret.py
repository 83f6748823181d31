"""`drillgen secret`: make the secret of a sealed set."""

from __future__ import annotations

import click


@click.command()
@click.argument("file", type=click.Path(dir_okay=False))
def command(file: str) -> None:
    """Make a secret FILE (mode 0600) for `--secret`: without it, the ids of a set drawn with it rebuild nothing.

    Keep it until the last answer is graded: lost, the set's key is lost too.
    """
    from drillgen.sealing import create

    made = create(file)
    click.echo(f"wrote {file}; ids of sets drawn with it end in ~{made.mark}")
