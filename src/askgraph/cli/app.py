"""The command line application and its entry point."""

from __future__ import annotations

from typing import Annotated

import typer

from askgraph import __version__
from askgraph.cli import paper, project, results, serve, simulate, team, upkeep
from askgraph.errors import AskgraphError

app: typer.Typer = typer.Typer(
    no_args_is_help=True, add_completion=True, rich_markup_mode=None, pretty_exceptions_enable=False
)
for _commands in (serve.app, simulate.app, paper.app, project.app, results.app, upkeep.app, team.app):
    app.add_typer(_commands)


def main() -> None:
    """Run the command; print an error that askgraph raises on purpose as one sentence, without a traceback."""
    try:
        app()
    except AskgraphError as error:
        from askgraph.distributed.ranks import end_all

        end_all(f"askgraph: {error}")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback()
def about(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Which item should I label next, and what are all the others?

    Start with: askgraph start, and drop a table or pictures on the page; or try askgraph label --demo
    """
