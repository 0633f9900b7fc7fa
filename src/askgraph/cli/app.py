"""The command: open, call, print."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from askgraph import __version__
from askgraph.cli import project as project
from askgraph.cli import serve as page
from askgraph.distributed.ranks import end_all, launched, silent_but_first
from askgraph.errors import AskgraphError, FileError, SettingError
from askgraph.support.progress import bar

if TYPE_CHECKING:
    from askgraph.pools import Dask
    from askgraph.simulate import Problem, Run
    from askgraph.simulate.runs import Record
    from askgraph.simulate.sharded import ShardedProblem

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
app.add_typer(page.app)
app.add_typer(project.app)
LEVELS = (0.80, 0.90, 0.95)
SAMPLERS = "influence,tv,random"


def main() -> None:
    """Run the command; errors that askgraph raises on purpose are one plain sentence."""
    try:
        app()
    except AskgraphError as error:
        end_all(f"askgraph: {error}")


def _version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback()
def about(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it and stop.")
    ] = False,
) -> None:
    """Which item should I label next, and what are all the others?

    Start with: askgraph label --demo
    """


@app.command()
def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="Where to save the curve.")] = Path("demo.png"),
    budget: Annotated[int, typer.Option(help="Labels to give.", min=1)] = 80,
    runs: Annotated[int, typer.Option(help="Runs to average, a seed each.", min=1)] = 5,
) -> None:
    """Label 1,797 handwritten digits with a simulated expert, and see what asking well saves.

    Example: askgraph demo -o curve.png
    """
    from askgraph.simulate import Run, simulate_all
    from askgraph.simulate.curves import learning_curves

    problem = _digits()
    print(f"1,797 digits, a node each, joined to their 10 nearest by pixels: {problem.graph}")
    wanted = [Run(sampler, seed, budget, data="digits") for sampler in SAMPLERS.split(",") for seed in range(runs)]
    records = []
    with bar(len(wanted), "asking") as tick:
        for record in simulate_all(problem, wanted):
            records.append(record)
            tick()
    _print_table(records)
    learning_curves(records, output, "1,797 handwritten digits")
    print(f"The curve is in {output}. On your own data: askgraph simulate --help")


@app.command()
def simulate(
    graph: Annotated[
        Path,
        typer.Argument(
            help="A graph (edge list csv/tsv/txt/jsonl/parquet, npz, mtx, graphml) or a table (csv, tsv, jsonl, parquet, npz)."
        ),
    ],
    labels: Annotated[Path | None, typer.Option(help="The label of every node: csv with node,label.")] = None,
    label: Annotated[str | None, typer.Option(help="A column of the table that holds the labels.")] = None,
    features: Annotated[str | None, typer.Option(help="Columns of the table to compare rows by, with commas.")] = None,
    id: Annotated[str | None, typer.Option(help="A column of the table that names the rows.")] = None,
    neighbors: Annotated[int, typer.Option(help="Neighbours of a row of the table.", min=1)] = 10,
    samplers: Annotated[str, typer.Option(help="Short names, with commas.")] = SAMPLERS,
    budget: Annotated[int, typer.Option(help="Labels to give in a run.", min=1)] = 100,
    runs: Annotated[int, typer.Option(help="Runs a sampler, a seed each.", min=1)] = 10,
    delta: Annotated[
        float | None, typer.Option(help="The ridge of the field [default: 0.001 times the mean degree].")
    ] = None,
    doubt: Annotated[str, typer.Option(help="sqrt, inverse, none, or a number in [0, 1].")] = "sqrt",
    form: Annotated[str, typer.Option(help="printed or derived.")] = "printed",
    readout: Annotated[str, typer.Option(help="consensus, tempered, mass, map or reweighted.")] = "consensus",
    engine: Annotated[
        str, typer.Option(help="auto, dense, direct, iterative, gpu or petsc; auto under mpiexec is petsc.")
    ] = "auto",
    workers: Annotated[int, typer.Option(help="Processes; 0 means one a core.", min=0)] = 0,
    pool: Annotated[
        str | None, typer.Option(help="A Dask cluster to spread runs over, by its scheduler: dask://HOST:PORT.")
    ] = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="Records, one JSON line a run.")] = Path("runs.jsonl"),
) -> None:
    """Learning curves on your own labeled graph or table; a command that was stopped goes on where it was.

    Examples:

    askgraph simulate edges.csv --labels labels.csv --samplers tv,msd,random --budget 100 --runs 10 -o runs.jsonl

    askgraph simulate flowers.csv --label species -o runs.jsonl

    askgraph simulate flowers.csv --label species --runs 1000 --pool dask://127.0.0.1:8786

    mpiexec -n 4 askgraph simulate "shards/*.parquet" --labels labels.npy --samplers tv
    """
    from askgraph.simulate import Problem, Run
    from askgraph.simulate.records import Records

    together = launched() > 1 or engine == "petsc"
    if together:
        silent_but_first()
        if pool is not None:
            raise SettingError("--pool spreads runs over engines of one process each: leave it out under mpiexec")
    problem: Problem | ShardedProblem = (_sharded_problem if together else _problem)(
        graph, labels, label, features, id, neighbors
    )
    like = Run("", 0, budget, _doubt(doubt), form, delta, readout, engine, data=f"{graph.name} {problem.fingerprint}")
    wanted = [replace(like, sampler=name, seed=seed) for name in _names(samplers) for seed in range(runs)]
    engines = _engine_reasons(problem, [run for run in wanted if run.settings])
    records = Records(output)
    missing = records.missing(wanted)
    print(
        f"{problem.graph}, {len(problem.classes)} classes; {len(wanted) - len(missing)} of {len(wanted)} runs are there already"
    )
    print(engines)
    try:
        with _pool(pool) as spread, bar(len(missing), "runs") as tick:
            if isinstance(problem, Problem):
                records.fill(problem, missing, workers or os.cpu_count() or 1, lambda _: tick(), spread)
            else:
                records.fill_together(problem, wanted, lambda _: tick())
    except KeyboardInterrupt:
        print(f"stopped; finished runs are in {output}, and the same command goes on from there", file=sys.stderr)
        raise typer.Exit(130) from None
    _print_table(list(records.of(wanted).values()))
    print(f"Records are in {output}. Draw them: askgraph plot {output} -o curve.png")


@app.command()
def plot(
    records: Annotated[Path, typer.Argument(help="Records that simulate wrote.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="A .png, .svg or .pdf file.")] = Path("curve.png"),
    title: Annotated[str, typer.Option(help="Above the picture.")] = "",
) -> None:
    """Draw records as learning curves; nothing is computed anew.

    Example: askgraph plot runs.jsonl -o curve.png
    """
    from askgraph.simulate.curves import learning_curves
    from askgraph.simulate.records import Records

    found = Records(records).read()
    if not found:
        raise FileError(f"{records}: no records there; make some with askgraph simulate")
    learning_curves(found, output, title)
    print(f"{len(found)} runs drawn in {output}")
    kinds = len(
        {(record.get("data"), record.get("budget"), record.get("delta"), record.get("doubt")) for record in found}
    )
    if kinds > 1:
        print(f"note: the file holds runs of {kinds} different experiments, and the means are taken over all of them")


@app.command()
def paper(
    output: Annotated[Path, typer.Option("-o", "--output", help="A folder for the report and its records.")] = Path(
        "report"
    ),
    data: Annotated[
        Path | None,
        typer.Option(envvar="ASKGRAPH_DATA", help="A folder with the datasets; without it they are downloaded."),
    ] = None,
    figure: Annotated[list[int] | None, typer.Option(help="Only this figure, 1 to 14; may be repeated.")] = None,
    claim: Annotated[list[int] | None, typer.Option(help="Only this claim, 1 to 16; may be repeated.")] = None,
    table: Annotated[list[int] | None, typer.Option(help="Only this table, 1 or 2; may be repeated.")] = None,
    runs: Annotated[int, typer.Option(help="Runs a curve; 0 means 50, 20 or 10 as in the plan.", min=0)] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="Few runs and small budgets: minutes.")] = False,
    draw: Annotated[bool, typer.Option("--draw", help="Judge and draw what is there; run nothing.")] = False,
    tune: Annotated[bool, typer.Option("--tune", help="Tune the similarity graphs afresh, as the paper says.")] = False,
    centered: Annotated[bool, typer.Option("--centered", help="Pearson's correlation instead of the paper's.")] = False,
    workers: Annotated[int, typer.Option(help="Processes; 0 means one a core.", min=0)] = 0,
) -> None:
    """Redraw the paper: every figure and table, and every claim with a verdict; goes on where it was stopped.

    Examples:

    askgraph paper -o report --data data

    askgraph paper -o report --figure 3 --claim 2 --runs 5

    askgraph paper -o trial --quick
    """
    from askgraph.paper.study import Study, chosen

    if tune and (quick or draw):
        raise SettingError("--tune takes its time: leave out --quick and --draw, and draw later")
    parts = chosen(figure, claim, table)
    _writable(output)
    study = Study(output, data, *parts, runs, quick, centered, workers or os.cpu_count() or 1)
    try:
        settings = study.tuned(afresh=tune)
        evidence = study.read(settings) if draw else study.measure(settings)
    except KeyboardInterrupt:
        print(f"stopped; what is finished is in {output}, and the same command goes on from there", file=sys.stderr)
        raise typer.Exit(130) from None
    judged, pages = study.write(evidence)
    _print_verdicts([(claim.number, claim.text, claim.verdict(checks)) for claim, checks in judged])
    if quick or 0 < runs < 10:
        print("These verdicts are those of few runs: they show that the parts work, not what holds.")
    print(f"The report is in {' and '.join(map(str, pages))}")


def _pool(address: str | None) -> AbstractContextManager[Dask | None]:
    if address is None:
        return nullcontext()
    from askgraph.pools import pool_at

    return pool_at(address)


def _digits() -> Problem:
    from sklearn.datasets import load_digits

    from askgraph.graph.build import nearest_neighbors
    from askgraph.simulate import Problem

    digits = load_digits()
    return Problem(nearest_neighbors(digits.data, k=10), [int(y) for y in digits.target])


def _problem(
    path: Path, labels: Path | None, label: str | None, features: str | None, id: str | None, neighbors: int
) -> Problem:
    from askgraph.graph.build import nearest_neighbors
    from askgraph.io.readers import read_graph, read_labels, read_table
    from askgraph.simulate import Problem

    if labels is not None and (label or features or id):
        raise SettingError(
            "--labels goes with a graph; --label, --features and --id with a table: leave out one or the other"
        )
    if labels is not None:
        graph = read_graph(path)
        return Problem(graph, list(read_labels(labels, graph)))
    if label is None and path.suffix != ".npz":
        raise SettingError("where are the labels? give --labels FILE for a graph, or --label COLUMN for a table")
    X, truth, names = read_table(path, features.split(",") if features else None, label, id)
    if truth is None:
        raise FileError(f"{path}: no labels in it; give them with --labels FILE")
    return Problem(nearest_neighbors(X, k=neighbors, scale=True, names=names), list(truth))


def _sharded_problem(
    path: Path, labels: Path | None, label: str | None, features: str | None, id: str | None, neighbors: int
) -> ShardedProblem:
    """In all processes of an MPI job: shards of edges are read by all, anything else by the first one, which deals it out."""
    from askgraph.distributed.distribute import sharded
    from askgraph.distributed.ranks import world
    from askgraph.distributed.read_shards import is_shards, read_shards
    from askgraph.simulate.sharded import ShardedProblem, read_shard_labels

    ranks = world()
    if labels is not None and is_shards(path):
        return read_shard_labels(str(labels), read_shards(str(path)))
    whole = ranks.agreed(lambda: _problem(path, labels, label, features, id, neighbors) if ranks.first else None)
    graph = sharded(whole.graph if whole is not None else None)
    return ShardedProblem.dealt(graph, whole.truth if whole is not None else None)


def _names(samplers: str) -> list[str]:
    from askgraph.utilities import SAMPLERS as known

    names = [name.strip() for name in samplers.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise SettingError(f"no sampler called {name!r}: choose from {', '.join(known)}")
    return names


def _doubt(text: str) -> str | float | None:
    if text == "none":
        return None
    try:
        return float(text)
    except ValueError:
        return text


def _engine_reasons(problem: Problem | ShardedProblem, runs: Sequence[Run]) -> str:
    from askgraph.priors import choice

    wanted = {(run.delta, run.engine, run.settings.criterion.columns) for run in runs}
    return "engine: " + "; ".join(sorted({choice(problem.graph, *one)[1] for one in wanted}))


def _writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "runs.jsonl").open("ab").close()
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


def _print_table(records: Sequence[Record]) -> None:
    from rich.console import Console
    from rich.table import Table

    from askgraph.simulate.records import by_sampler, labels_needed, mean_curve

    table = Table(title="Labels needed for an accuracy of", title_justify="left")
    for column in ("sampler", *(f"{level:.0%}" for level in LEVELS), "at the end", "ms a question"):
        table.add_column(column, justify="left" if column == "sampler" else "right")
    for sampler, runs in by_sampler(records).items():
        needed = [labels_needed(runs, level) for level in LEVELS]
        seconds = [a + t for run in runs for a, t in zip(run["ask_seconds"], run["tell_seconds"], strict=True)]
        cells = ["not reached" if n is None else str(n) for n in needed]
        table.add_row(sampler, *cells, f"{mean_curve(runs)[-1]:.1%}", f"{1e3 * sum(seconds) / len(seconds):.1f}")
    Console().print(table)
