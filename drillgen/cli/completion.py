"""`drillgen completion`: shell completion."""

from __future__ import annotations

import click


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script.

    \b
    eval "$(drillgen completion bash)"
    drillgen completion fish > ~/.config/fish/completions/drillgen.fish
    """
    from click.shell_completion import get_completion_class

    from drillgen.cli import group

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(group, {}, "drillgen", "_DRILLGEN_COMPLETE").source())
