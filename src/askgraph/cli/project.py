"""The commands of a project: open, call, print."""

from __future__ import annotations

import getpass
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from askgraph.errors import FileError, SettingError

app = typer.Typer(add_completion=False, rich_markup_mode=None)

ProjectOption = Annotated[
    Path | None,
    typer.Option("-p", "--project", envvar="ASKGRAPH_PROJECT", help="The project [default: the only .ask file here]."),
]
WhoOption = Annotated[
    str | None, typer.Option("--who", envvar="ASKGRAPH_WHO", help="Who says so [default: your user name].")
]
JsonOption = Annotated[bool, typer.Option("--json", help="For machines.")]
TableArgument = Annotated[
    Path | None,
    typer.Argument(help="A table of items: csv, tsv, jsonl or parquet; none where items are a graph's nodes."),
]


@app.command()
def init(
    table: TableArgument = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The project file [default: TABLE.ask].")
    ] = None,
    graph: Annotated[Path | None, typer.Option(help="A graph over the ids: an edge list, npz, mtx, graphml.")] = None,
    features: Annotated[str | None, typer.Option(help="Columns of numbers to compare items by, with commas.")] = None,
    text: Annotated[str | None, typer.Option(help="A column of text to compare items by.")] = None,
    id: Annotated[
        str | None, typer.Option(help="The column of ids [default: one called id, else row numbers].")
    ] = None,
    show: Annotated[str | None, typer.Option(help="Columns to show, with commas [default: all].")] = None,
    image: Annotated[str | None, typer.Option(help="A column of image files.")] = None,
    images: Annotated[Path | None, typer.Option(help="The folder they are in; no other file is ever shown.")] = None,
    label: Annotated[str | None, typer.Option(help="A column of labels that exist; empty cells are unlabeled.")] = None,
    classes: Annotated[str | None, typer.Option(help="Classes, with commas; new ones can come at any time.")] = None,
    neighbors: Annotated[int, typer.Option(help="Neighbours of an item.", min=1)] = 10,
    overlap: Annotated[int, typer.Option(help="People that should label each item.", min=1)] = 1,
    sampler: Annotated[str, typer.Option(help="How questions are chosen.")] = "influence",
    seed: Annotated[int, typer.Option(help="Of what is drawn at random.", min=0)] = 0,
) -> None:
    """Make a project from a table, or from a graph.

    Examples:

    askgraph init items.csv -o items.ask

    askgraph init papers.csv --text abstract --classes "relevant,not relevant"

    askgraph init papers.csv --graph citations.csv --label topic
    """
    from askgraph.learner.settings import Settings
    from askgraph.workbench.items import Source
    from askgraph.workbench.project import Project

    if table is None and graph is None:
        raise SettingError("what are the items? give a table (askgraph init items.csv) or a graph with --graph")
    path = output or Path((table or graph or Path()).stem + ".ask")
    source = Source(table, graph, id, names(features), text, names(show), image, label, neighbors)
    Project.create(path, source, names(classes) or (), images, Settings(utility=sampler), seed, overlap)
    with Project.open(path) as project:
        print(f"{path}: {project.store.n_items:,} items, {project.graph.n_edges:,} edges")
        for note in project.about["graph"]:
            print(f"  {note}")
        print(f"Label them in the browser with: askgraph label {path}")


@app.command()
def status(project: ProjectOption = None, json: JsonOption = False) -> None:
    """Where the project is: labels, expected error, what to know.

    Example: askgraph status
    """
    from askgraph.workbench.project import Project
    from askgraph.workbench.report import progress
    from askgraph.workbench.writer_lock import WriterLock

    path = project_file(project)
    with Project.open(path) as opened:
        said = {
            "project": str(path),
            **progress(opened, opened.predictions()),
            "serving": bool(WriterLock(path).server()),
        }
    if json:
        _json(said)
        return
    _lines(said)


@app.command()
def ask(
    n: Annotated[int, typer.Option("-n", help="How many, to be labeled together.", min=1)] = 1,
    project: ProjectOption = None,
    json: JsonOption = False,
) -> None:
    """The items to label next.

    Example: askgraph ask -n 5
    """
    from askgraph.workbench.project import Project

    with Project.open(project_file(project)) as opened:
        places = opened.ask(n)
        items = opened.store.items(places)
        rows = [{"id": item.id, **dict.fromkeys(opened.about["fields"]), **item.fields} for item in items]
        reason = opened.finished
    if json:
        _json({"items": rows, "finished": None if rows else reason})
    elif not rows:
        print(reason)
    else:
        _table(rows)


@app.command()
def tell(
    id: Annotated[str | None, typer.Argument(help="The item.")] = None,
    label: Annotated[str | None, typer.Argument(help="Its label.")] = None,
    file: Annotated[Path | None, typer.Option(help="Many at once: a table with the columns id and label.")] = None,
    project: ProjectOption = None,
    who: WhoOption = None,
) -> None:
    """The label of an item, or of many.

    Examples:

    askgraph tell 17 setosa

    askgraph tell --file results.csv
    """
    if (file is None) == (id is None or label is None):
        raise SettingError("give an id and its label (askgraph tell 17 setosa), or --file with many")
    said = [(id or "", label or "")] if file is None else _answers(file)
    _say(project, who, [(item, "label", name) for item, name in said])


@app.command()
def relabel(
    id: Annotated[str, typer.Argument(help="The item.")],
    label: Annotated[str, typer.Argument(help="Its label from now on.")],
    project: ProjectOption = None,
    who: WhoOption = None,
) -> None:
    """Another label for an item; the earlier one stays in the history.

    Example: askgraph relabel 17 virginica
    """
    _say(project, who, [(id, "label", label)])


@app.command()
def skip(
    id: Annotated[str, typer.Argument(help="The item.")],
    why: Annotated[str, typer.Option(help="later, cannot (tell) or invalid.")] = "later",
    project: ProjectOption = None,
    who: WhoOption = None,
) -> None:
    """Set an item aside: ask later, cannot tell, or not a valid item.

    Example: askgraph skip 17 --why cannot
    """
    if why not in ("later", "cannot", "invalid"):
        raise SettingError(f"--why {why}: choose later, cannot or invalid")
    _say(project, who, [(id, why, None)])


@app.command()
def undo(project: ProjectOption = None, who: WhoOption = None) -> None:
    """Take back your last answer; it stays in the history.

    Example: askgraph undo
    """
    from askgraph.workbench.client import writing

    with writing(project_file(project)) as writer:
        undone = writer.undo(who or me())
    print(f"taken back: {undone.item} {undone.label or undone.kind}" if undone else "there is nothing to take back")


@app.command()
def history(
    project: ProjectOption = None,
    n: Annotated[int, typer.Option("-n", help="How many, the newest.", min=1)] = 20,
    json: JsonOption = False,
) -> None:
    """Who said what, and when; nothing is ever deleted.

    Example: askgraph history -n 50
    """
    from askgraph.workbench.project import Project
    from askgraph.workbench.report import history as lines

    with Project.open(project_file(project)) as opened:
        rows = lines(opened, n)
    if json:
        _json(rows)
    else:
        columns = ("seq", "at", "who", "item", "kind", "label", "undone")
        _table([{name: row[name] for name in columns} for row in rows])


@app.command()
def predict(
    output: Annotated[Path, typer.Option("-o", "--output", help="A .csv, .jsonl or .parquet file.")] = Path(
        "labels.csv"
    ),
    project: ProjectOption = None,
) -> None:
    """Every item's label: given or predicted, with the probability of each class, its variance and who labeled it.

    Example: askgraph predict -o labels.csv
    """
    from askgraph.workbench.export import predicted, write_rows
    from askgraph.workbench.project import Project

    with Project.open(project_file(project)) as opened:
        write_rows(output, predicted(opened))
        labels, items, classes = len(opened.answers.labels), opened.store.n_items, opened.answers.classes
    if classes:
        print(f"{items:,} items in {output}: {labels:,} labels given, {items - labels:,} predicted or set aside")
    else:
        print(f"{items:,} items in {output}, none with a label: there is nothing to predict from yet")


@app.command()
def export(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="A .csv, .jsonl, .parquet file, or .json for Label Studio.")
    ] = Path("answers.csv"),
    project: ProjectOption = None,
) -> None:
    """What people answered, with the items' fields; .json is what Label Studio imports, with predictions too.

    Examples:

    askgraph export -o answers.csv

    askgraph export -o tasks.json
    """
    from askgraph.workbench.export import answered, label_studio, write_rows
    from askgraph.workbench.project import Project

    with Project.open(project_file(project)) as opened:
        rows = label_studio(opened) if output.suffix.casefold() == ".json" else answered(opened)
        write_rows(output, rows)
        standing = sum(opened.answers.people.values())
    print(f"{standing:,} answer{'s' * (standing != 1)} in {output}")


@app.command()
def doctor(project: ProjectOption = None, json: JsonOption = False) -> None:
    """Check the file and the graph, and say what to improve.

    Example: askgraph doctor
    """
    from askgraph.workbench.project import Project
    from askgraph.workbench.report import checkup

    with Project.open(project_file(project)) as opened:
        found = checkup(opened)
    if json:
        _json(found)
    else:
        for line in (*found["checked"], *(f"to do: {what}" for what in found["improve"])):
            print(line)
    if found["damage"]:
        raise FileError(found["damage"])


@app.command()
def restore(
    copy: Annotated[Path, typer.Argument(help="A copy of the project.")],
    project: ProjectOption = None,
) -> None:
    """Put a copy in the place of the project; what was there is kept under another name.

    Example: askgraph restore backup.ask -p items.ask
    """
    from askgraph.workbench.restoring import restore as put_back

    path = project_file(project)
    labels, kept = put_back(copy, path)
    print(f"{path}: {labels:,} label{'s' * (labels != 1)} now, as in {copy}")
    if kept:
        print(f"what was there before is kept as {kept}")


def names(listed: str | None) -> list[str] | None:
    """Names with commas between them."""
    return None if listed is None else [name.strip() for name in listed.split(",") if name.strip()]


def project_file(project: Path | None) -> Path:
    """The project that is meant."""
    if project is not None:
        return project
    here = sorted(Path().glob("*.ask"))
    if len(here) != 1:
        said = "no .ask file here" if not here else f"{len(here)} .ask files here"
        raise FileError(f"{said}: which project? name it with -p, or make one with askgraph init")
    return here[0]


def me() -> str:
    """The name of who runs the command."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no such user in this container
        return "me"


def _say(project: Path | None, who: str | None, said: list[Any]) -> None:
    from askgraph.workbench.client import writing

    with writing(project_file(project)) as writer:
        saved = writer.say(who or me(), said)
    print(f"saved: {saved} answer{'s' * (saved != 1)}")


def _answers(file: Path) -> list[tuple[str, str]]:
    """Ids and labels of a file; rows without a label have not come back yet."""
    from askgraph.io.readers import has_columns
    from askgraph.workbench.items import read_columns

    table = read_columns(file)
    has_columns(file, table.header, "id", "label")
    pairs = zip(table.cells("id"), table.cells("label"), strict=True)
    return [(str(item), str(label)) for item, label in pairs if item is not None and label is not None]


def _json(what: Any) -> None:
    json.dump(what, sys.stdout, ensure_ascii=False, indent=1)
    print()


def _table(rows: Sequence[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    names = list(dict.fromkeys(name for row in rows for name in row))
    table = Table()
    for name in names:
        table.add_column(Text(name))  # text that is data: no markup
    for row in rows:
        table.add_row(*(Text("" if row.get(name) is None else str(row[name])) for name in names))
    wide = None if sys.stdout.isatty() else int(os.environ.get("COLUMNS", "160"))
    Console(width=wide).print(table)


def _lines(said: dict[str, Any]) -> None:
    print(f"{said['project']}: {said['labels']:,} of {said['items']:,} items labeled, {said['aside']:,} set aside")
    if said["classes"]:
        rows = [{"class": c["name"], "labeled": c["count"], "predicted": c["predicted"]} for c in said["classes"]]
        _table(rows)
    if error := said["error"]:
        audited = f", {error['audited']} audited" if error["audited"] else ""
        print(f"expected error: {error['value']:.1%} ({error['low']:.1%} to {error['high']:.1%}{audited})")
    if needed := said["needed"]:
        print(f"about {needed['low']} to {needed['high']} more labels for {1 - needed['target']:.0%} right")
    for line in (said["stop"], *said["advice"]):
        if line:
            print(line)
    print(f"engine: {said['engine']}; questions by {said['sampler']}, read by {said['readout']}")
    if said["serving"]:
        print("a server has it open")
