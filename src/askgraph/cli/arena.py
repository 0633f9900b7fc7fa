"""The commands that compare methods: arena run, arena report."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from askgraph.cli.options import split_names
from askgraph.cli.panels import Commands
from askgraph.errors import FileError, SettingError
from askgraph.support.progress import bar

if TYPE_CHECKING:
    from askgraph.arena.contest import Entry, Limits, Record
    from askgraph.arena.sets import ArenaSet

app: typer.Typer = typer.Typer(add_completion=False, rich_markup_mode=None)
arena: typer.Typer = typer.Typer(cls=Commands, add_completion=False, no_args_is_help=True, rich_markup_mode=None)
app.add_typer(arena, name="arena")


@arena.callback()
def about() -> None:
    """Compare methods that ask for labels, on the same graphs, first labels and answers; docs/arena.md is the protocol."""


@arena.command()
def run(
    method: Annotated[
        str, typer.Argument(help="The function that makes the method, by its import path: module:function.")
    ],
    track: Annotated[str, typer.Option(help="graph, features, rows, noisy-10, noisy-20, noisy-30 or split.")] = "graph",
    sets: Annotated[
        str, typer.Option(help="small (those that come with askgraph), names or npz files, separated by commas.")
    ] = "small",
    output: Annotated[Path, typer.Option("-o", "--output", help="The file that records are added to.")] = Path(
        "arena.jsonl"
    ),
    seeds: Annotated[int, typer.Option(help="Runs on each set, from seed 0 on.", min=1)] = 5,
    name: Annotated[str | None, typer.Option(help="How the method is called [default: its import path].")] = None,
    folder: Annotated[Path | None, typer.Option(help="The folder of sets that are read from files.")] = None,
    seconds: Annotated[float, typer.Option(help="Seconds that a run may take.", min=1)] = 600.0,
    memory: Annotated[float, typer.Option(help="Gigabytes that a run may take.", min=0.1)] = 8.0,
    jobs: Annotated[int, typer.Option(help="Runs at a time.", min=1)] = 1,
) -> None:
    """Run a method on a track; repeat a stopped command to continue it.

    A method is what a function (graph, features, classes, seed) returns, with ask(), tell(node, label) and predict().

    Examples:

    askgraph arena run mymodule:make --track graph --sets small -o mine.jsonl

    askgraph arena run askgraph.arena.methods:learner --track split --sets cora,citeseer --folder planetoid -o ours.jsonl
    """
    from askgraph.arena.contest import Entry, Limits, key
    from askgraph.arena.sets import choose_sets
    from askgraph.simulate.records import Lines

    chosen = choose_sets(track, split_names(sets) or (), folder)
    lines = Lines(output)
    there = {(r["name"], r["track"], r["set"], r["seed"], r["checksum"]) for r in lines.read()}
    entries = [(Entry(name or method, method, track, seed), one) for one in chosen for seed in range(seeds)]
    left = [(entry, one) for entry, one in entries if key(entry, one) not in there]
    if len(left) < len(entries):
        print(f"{output}: {len(entries) - len(left)} of {len(entries)} runs are there already")
    failed = 0
    with lines.appending() as append, bar(len(left), f"{name or method}, {track}") as tick:
        for record in _runs(left, Limits(seconds, 1000 * memory), jobs):
            append(record)
            tick()
            failed += record["status"] == "failed"
            if record["status"] == "failed":
                print(f"{record['set']}, seed {record['seed']}: failed: {record['reason']}", flush=True)
    print(f"{output}: {len(left) - failed} runs added" + (f", {failed} more failed" if failed else ""))


def _runs(left: list[tuple[Entry, ArenaSet]], limits: Limits, jobs: int) -> Iterator[Record]:
    from askgraph.arena.contest import compete

    with ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(compete, entry, one, limits) for entry, one in left]
        try:
            for one in as_completed(waiting):
                yield one.result()
        finally:
            pool.shutdown(cancel_futures=True)


@arena.command()
def report(
    records: Annotated[list[Path], typer.Argument(help="Files of records.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The page to write.")] = Path("arena.html"),
    sheet: Annotated[
        Path | None, typer.Option("--csv", help="A table to write, too: one row per track, set and method.")
    ] = None,
) -> None:
    """Make one page of records: curves, ranks, tables, each claim with its range.

    Example: askgraph arena report ours.jsonl mine.jsonl -o arena.html --csv arena.csv
    """
    from askgraph.arena.page import page
    from askgraph.arena.results import tables, write_summaries
    from askgraph.simulate.records import Lines

    if missing := [str(path) for path in records if not path.is_file()]:
        raise FileError(f"{missing[0]}: no such file; askgraph arena run writes one")
    found = [record for path in records for record in Lines(path).read()]
    if not found:
        raise SettingError(f"{records[0]}: no runs in it; askgraph arena run adds some")
    made = tables(found)
    output.write_text(page(made), "utf-8")
    for table in made:
        for row in table.rows:
            print(f"{table.track}: {row.name}: rank {row.rank.value:.1f}, {100 * row.mean.value:.1f} % over the curve")
    print(f"The page is {output}")
    if sheet is not None:
        write_summaries(sheet, found)
        print(f"The table is {sheet}")
