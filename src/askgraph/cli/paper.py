"""The command that redraws the paper."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from askgraph.cli.options import WorkersOption
from askgraph.errors import FileError, SettingError
from askgraph.support.threads import n_cores

app: typer.Typer = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def paper(
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder of the report and its records.")] = Path(
        "report"
    ),
    data: Annotated[
        Path | None,
        typer.Option(envvar="ASKGRAPH_DATA", help="The folder with the datasets; without it they are downloaded."),
    ] = None,
    figure: Annotated[list[int] | None, typer.Option(help="Only this figure, 1 to 14; can be repeated.")] = None,
    claim: Annotated[list[int] | None, typer.Option(help="Only this claim, 1 to 19; can be repeated.")] = None,
    table: Annotated[list[int] | None, typer.Option(help="Only this table, 1 or 2; can be repeated.")] = None,
    runs: Annotated[int, typer.Option(help="Runs per curve; 0 means 50, 20 or 10, depending on the graph.", min=0)] = 0,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few runs of few labels, in minutes instead of hours.")
    ] = False,
    draw: Annotated[bool, typer.Option("--draw", help="Judge and draw the stored records; run nothing.")] = False,
    tune: Annotated[
        bool, typer.Option("--tune", help="Tune deltas and thresholds again, as the paper describes.")
    ] = False,
    centered: Annotated[
        bool, typer.Option("--centered", help="Use Pearson's centered correlation instead of the paper's formula.")
    ] = False,
    workers: WorkersOption = 0,
) -> None:
    """Redraw the paper: its figures and tables, and a verdict on each claim; repeat a stopped command to continue it.

    Examples:

    askgraph paper -o report --data data

    askgraph paper -o report --figure 3 --claim 2 --runs 5

    askgraph paper -o trial --quick
    """
    from askgraph.paper.study import Study, choose_parts
    from askgraph.support.notebook import pyplot

    pyplot()  # names the extra now, not after hours of runs
    if tune and (quick or draw):
        raise SettingError("--tune cannot be combined with --quick or --draw: leave those out, and draw later")
    parts = choose_parts(figure, claim, table)
    _check_writable(output)
    study = Study(output, data, *parts, runs, quick, centered, workers or n_cores())
    try:
        settings = study.tuned(afresh=tune)
        evidence = study.read(settings) if draw else study.measure(settings)
    except KeyboardInterrupt:
        print(f"stopped; finished work is in {output}, and the same command goes on from there", file=sys.stderr)
        raise typer.Exit(130) from None
    judged, pages = study.write(evidence)
    _print_verdicts([(x.claim.number, x.claim.text, x.words if study.judges else "not judged") for x in judged])
    if not study.judges:
        print("Too few runs to judge claims by: this shows that all parts work.")
    print(f"The report is in {' and '.join(map(str, pages))}")


def _check_writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "curves.jsonl").open("ab").close()
    except OSError as error:
        raise FileError(f"{folder}: cannot be written ({error.strerror}); choose another folder with -o") from None


def _print_verdicts(verdicts: Sequence[tuple[int, str, str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("", "claim", "verdict")
    for number, text, verdict in verdicts:
        table.add_row(str(number), text, verdict)
    if verdicts:
        Console().print(table)
