"""The command line application and its entry point."""

from __future__ import annotations

import os
import sys
from typing import Annotated, TextIO

import typer

from askgraph.cli import arena, notes, paper, project, results, serve, simulate, team, upkeep
from askgraph.cli.panels import WIDEST, Commands
from askgraph.errors import AskgraphError
from askgraph.version import __version__

app: typer.Typer = typer.Typer(
    cls=Commands,
    context_settings={"max_content_width": WIDEST},
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for _commands in (
    serve.app,
    simulate.app,
    paper.app,
    project.app,
    results.app,
    upkeep.app,
    team.app,
    notes.app,
    arena.app,
):
    app.add_typer(_commands)


def main() -> None:
    """Run the command; print an error that askgraph raises on purpose as one sentence, without a traceback."""
    _replace_closed_streams()
    try:
        try:
            app()
        except SystemExit:
            sys.stdout.flush()  # not at the end of the process, where no error could be caught
            raise
    except AskgraphError as error:
        from askgraph.distributed.ranks import end_all

        end_all(f"askgraph: {error}")
    except OSError as error:
        if _can_be_written(sys.stdout):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still to be written would fail again
        if not isinstance(error, BrokenPipeError):  # as in askgraph history | head: nobody reads on
            print(f"askgraph: the output cannot be written ({error.strerror}); write it elsewhere", file=sys.stderr)
        sys.exit(1)


def _replace_closed_streams() -> None:
    """Let commands print where the streams were closed before they started (askgraph status >&-): nobody reads it."""
    sys.stderr = sys.stderr or _nowhere()
    if sys.stdout is None:
        sys.stdout = _nowhere()
        print("askgraph: the standard output is closed, so what this command prints is lost", file=sys.stderr)


def _nowhere() -> TextIO:
    return os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def _can_be_written(stream: TextIO) -> bool:
    try:
        stream.write("\n")  # a stream without a buffer has forgotten what failed
        stream.flush()
        return True
    except OSError:
        return False


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
