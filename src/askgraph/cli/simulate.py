"""The commands that run simulated experts: demo, simulate, plot."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from askgraph.cli.options import WorkersOption, read_options, split_names, with_plan_options
from askgraph.errors import FileError, MissingExtraError, SettingError
from askgraph.support.progress import bar
from askgraph.support.threads import n_cores

if TYPE_CHECKING:
    from askgraph.pools import Dask
    from askgraph.simulate import Problem, Run
    from askgraph.simulate.runs import Record
    from askgraph.simulate.sharded import ShardedProblem

app: typer.Typer = typer.Typer(add_completion=False, rich_markup_mode=None)
LEVELS = (0.80, 0.90, 0.95)  # accuracies of the table: labels needed to reach each
SAMPLERS = "influence,tv,random"


@app.command()
def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="The file to save the curve in.")] = Path("demo.png"),
    budget: Annotated[int, typer.Option(help="Labels to give.", min=1)] = 80,
    runs: Annotated[int, typer.Option(help="Runs to average, each with its own seed.", min=1)] = 5,
) -> None:
    """Label 1,797 handwritten digits with a simulated expert, and show what good questions save.

    Example: askgraph demo -o curve.png
    """
    from askgraph.simulate import Run, simulate_all
    from askgraph.simulate.curves import learning_curves

    problem = _digits()
    print(f"1,797 digits, one node each, joined to their 10 nearest neighbors by pixels: {problem.graph}")
    wanted = [Run(sampler, seed, budget, data="digits") for sampler in SAMPLERS.split(",") for seed in range(runs)]
    records = []
    with bar(len(wanted), "asking") as tick:
        for record in simulate_all(problem, wanted, n_cores()):
            records.append(record)
            tick()
    order = {(run.sampler, run.seed): k for k, run in enumerate(wanted)}
    records.sort(key=lambda record: order[record["sampler"], record["seed"]])
    _print_table(records)
    try:
        learning_curves(records, output, "1,797 handwritten digits")
        print(f"The curve is in {output}. On your own data: askgraph simulate --help")
    except MissingExtraError as error:
        print(f"The curve is not drawn: {error}. On your own data: askgraph simulate --help")


@app.command()
@with_plan_options
def simulate(
    graph: Annotated[
        Path,
        typer.Argument(
            help="A graph (edge list csv/tsv/txt/jsonl/parquet, npz, mtx, graphml), or a table (csv, xlsx, jsonl, parquet, npz)."
        ),
    ],
    labels: Annotated[Path | None, typer.Option(help="The label of every node: csv with node,label.")] = None,
    label: Annotated[str | None, typer.Option(help="The column of the table that holds the labels.")] = None,
    features: Annotated[
        str | None, typer.Option(help="Columns of the table to compare rows by, separated by commas.")
    ] = None,
    id: Annotated[str | None, typer.Option(help="The column of the table that names the rows.")] = None,
    neighbors: Annotated[int, typer.Option(help="Neighbors per row of the table.", min=1)] = 10,
    samplers: Annotated[str, typer.Option(help="Short names of samplers, separated by commas.")] = SAMPLERS,
    budget: Annotated[int, typer.Option(help="Labels per run.", min=1)] = 100,
    runs: Annotated[int, typer.Option(help="Runs per sampler, each with its own seed.", min=1)] = 10,
    delta: Annotated[
        float | None, typer.Option(help="The ridge of the field [default: 0.001 times the mean degree].")
    ] = None,
    readout: Annotated[str, typer.Option(help="cautious, consensus, tempered, mass, map or reweighted.")] = "cautious",
    engine: Annotated[
        str, typer.Option(help="auto, dense, direct, iterative, gpu or petsc; auto under mpiexec is petsc.")
    ] = "auto",
    workers: WorkersOption = 0,
    pool: Annotated[
        str | None, typer.Option(help="The scheduler of a Dask cluster that shares the runs: dask://HOST:PORT.")
    ] = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="The file of records, one JSON line per run.")] = Path(
        "runs.jsonl"
    ),
    **options: Any,
) -> None:
    """Compute learning curves on your own labeled graph or table; repeat a stopped command to continue it.

    Examples:

    askgraph simulate edges.csv --labels labels.csv --samplers tv,msd,random --budget 100 --runs 10 -o runs.jsonl

    askgraph simulate flowers.csv --label species -o runs.jsonl

    askgraph simulate flowers.csv --label species --runs 1000 --pool dask://127.0.0.1:8786

    mpiexec -n 4 askgraph simulate "shards/*.parquet" --labels labels.npy --samplers tv
    """
    from askgraph.distributed.ranks import launched, silent_but_first
    from askgraph.simulate import Problem, Run
    from askgraph.simulate.records import Records

    together = launched() > 1 or engine == "petsc"
    if together:
        silent_but_first()
        if pool is not None:
            raise SettingError("--pool spreads runs over engines of one process each: leave it out under mpiexec")
    problem: Problem | ShardedProblem = (_read_sharded_problem if together else _read_problem)(
        graph, labels, label, features, id, neighbors
    )
    how = {"delta": delta, "readout": readout, "engine": engine, **read_options(options)}
    like = Run("", 0, budget, data=f"{graph.name} {problem.fingerprint}", **how)
    wanted = [replace(like, sampler=name, seed=seed) for name in _check_samplers(samplers) for seed in range(runs)]
    engines = _explain_engines(problem, [run for run in wanted if run.settings])
    records = Records(output)
    missing = records.missing(wanted)
    print(
        f"{problem.graph}, {len(problem.classes)} classes; {len(wanted) - len(missing)} of {len(wanted)} runs are there already"
    )
    print(engines)
    try:
        with _open_pool(pool) as cluster, bar(len(missing), "runs") as tick:
            if isinstance(problem, Problem):
                records.fill(problem, missing, workers or n_cores(), lambda _: tick(), cluster)
            else:
                records.fill_together(problem, wanted, lambda _: tick())
    except KeyboardInterrupt:
        print(f"stopped; finished runs are in {output}, and the same command goes on from there", file=sys.stderr)
        raise typer.Exit(130) from None
    _print_table(list(records.of(wanted).values()))
    print(f"The records are in {output}. Draw them: askgraph plot {output} -o curve.png")


@app.command()
def plot(
    records: Annotated[Path, typer.Argument(help="The records that askgraph simulate wrote.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="A .png, .svg or .pdf file.")] = Path("curve.png"),
    title: Annotated[str, typer.Option(help="The title above the picture.")] = "",
) -> None:
    """Draw records as learning curves, without computing anything again.

    Example: askgraph plot runs.jsonl -o curve.png
    """
    from askgraph.simulate.curves import learning_curves
    from askgraph.simulate.records import Records

    found = Records(records).read()
    if not found:
        raise FileError(f"{records}: holds no records; make some with askgraph simulate")
    learning_curves(found, output, title)
    print(f"{len(found)} runs are drawn in {output}")
    kinds = len(
        {(record.get("data"), record.get("budget"), record.get("delta"), record.get("doubt")) for record in found}
    )
    if kinds > 1:
        print(f"note: the file holds runs of {kinds} different experiments, and the means are taken over all of them")


def _open_pool(address: str | None) -> AbstractContextManager[Dask | None]:
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


def _read_problem(
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
        raise FileError(f"{path}: holds no labels; give them with --labels FILE")
    return Problem(nearest_neighbors(X, k=neighbors, scale=True, names=names), list(truth))


def _read_sharded_problem(
    path: Path, labels: Path | None, label: str | None, features: str | None, id: str | None, neighbors: int
) -> ShardedProblem:
    """Read the problem in all processes of an MPI job: every process reads shards; other files rank 0 reads and distributes."""
    from askgraph.distributed.distribute import sharded
    from askgraph.distributed.ranks import world
    from askgraph.distributed.read_shards import is_shards, read_shards
    from askgraph.simulate.sharded import ShardedProblem, read_shard_labels

    ranks = world()
    if labels is not None and is_shards(path):
        return read_shard_labels(str(labels), read_shards(str(path)))
    whole = ranks.all_or_error(
        lambda: _read_problem(path, labels, label, features, id, neighbors) if ranks.first else None
    )
    graph = sharded(whole.graph if whole is not None else None)
    return ShardedProblem.dealt(graph, whole.truth if whole is not None else None)


def _check_samplers(samplers: str) -> list[str]:
    from askgraph.utilities import SAMPLERS as known

    names = split_names(samplers) or []
    for name in names:
        if name not in known:
            raise SettingError(f"no sampler called {name!r}: choose from {', '.join(known)}")
    return names


def _explain_engines(problem: Problem | ShardedProblem, runs: Sequence[Run]) -> str:
    from askgraph.priors import choice
    from askgraph.priors.precision import Precision

    wanted = {(run.delta, run.engine, run.settings.plan.sampler.criterion.columns) for run in runs}
    reasons = {choice(Precision.of(problem.graph, d), engine, columns)[1] for d, engine, columns in wanted}
    return "engine: " + "; ".join(sorted(reasons))


def _print_table(records: Sequence[Record]) -> None:
    from rich.console import Console
    from rich.table import Table

    from askgraph.simulate.records import by_sampler, labels_needed, mean_curve

    table = Table(title="Labels needed for an accuracy of", title_justify="left")
    for column in ("sampler", *(f"{level:.0%}" for level in LEVELS), "at the end", "ms per question"):
        table.add_column(column, justify="left" if column == "sampler" else "right")
    for sampler, runs in by_sampler(records).items():
        needed = [labels_needed(runs, level) for level in LEVELS]
        seconds = [a + t for run in runs for a, t in zip(run["ask_seconds"], run["tell_seconds"], strict=True)]
        cells = ["not reached" if n is None else str(n) for n in needed]
        table.add_row(sampler, *cells, f"{mean_curve(runs)[-1]:.1%}", f"{1e3 * sum(seconds) / len(seconds):.1f}")
    Console().print(table)
