"""The commands that look after a project or its data: judge, check, join anew, copy and restore."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from askgraph.cli.label_files import read_labels
from askgraph.cli.options import (
    EncodingOption,
    FeaturesOption,
    GraphOption,
    JsonOption,
    ProjectOption,
    ScaleOption,
    SheetOption,
    TextOption,
    VectorsOption,
    find_project,
    say,
    split_names,
)
from askgraph.cli.printing import print_json
from askgraph.errors import FileError

app: typer.Typer = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def doctor(
    file: Annotated[
        Path | None,
        typer.Argument(help="A project, a table or a graph; an edge list without a header goes with --graph."),
    ] = None,
    graph: GraphOption = None,
    features: FeaturesOption = None,
    text: TextOption = None,
    vectors: VectorsOption = None,
    scale: ScaleOption = None,
    id: Annotated[str | None, typer.Option(help="The column of ids.")] = None,
    label: Annotated[str | None, typer.Option(help="The column of labels; an empty cell means none.")] = None,
    labels: Annotated[Path | None, typer.Option(help="A table of labels there are: id (or node) and label.")] = None,
    neighbors: Annotated[int, typer.Option(help="Neighbors per item.", min=1)] = 10,
    project: ProjectOption = None,
    json: JsonOption = False,
    sheet: SheetOption = None,
    encoding: EncodingOption = None,
) -> None:
    """Say whether a table or a graph suits, which settings, how fast and what to expect; or check a project.

    Examples:

    askgraph doctor flowers.csv --label species

    askgraph doctor citations.csv --labels topics.csv

    askgraph doctor items.ask
    """
    if graph or (file is not None and file.suffix != ".ask"):
        from askgraph.workbench.source import Source
        from askgraph.workbench.suitability import examine, is_graph_file

        joined = file is not None and not graph and is_graph_file(file, sheet, encoding)
        table, graphs = (None, [file]) if file is not None and joined else (file, graph)
        source = Source(
            table,
            graphs,
            id=id,
            features=split_names(features),
            text=split_names(text),
            label=label,
            neighbors=neighbors,
            vectors=vectors,
            scale=scale,
            sheet=sheet,
            encoding=encoding,
        )
        known = None if labels is None else dict(read_labels(labels, id))
        judged = examine(source, known)
        print_json(judged.as_dict()) if json else say("\n".join(judged.lines()))
        return
    _check_project(find_project(file or project), json)


def _check_project(path: Path, json: bool) -> None:
    from askgraph.workbench.project import Project
    from askgraph.workbench.report import checkup

    with Project.open(path) as opened:
        found = checkup(opened)
    if json:
        print_json(found)
    else:
        experts = (f"for experts: {what}" for what in found["experts"])
        for line in (*found["checked"], *(f"to do: {what}" for what in found["improve"]), *experts):
            say(line)
    if found["damage"]:
        raise FileError(found["damage"])


@app.command()
def embed(
    model: Annotated[
        str,
        typer.Option(
            help="The folder of a model, an installed package that carries one, or the name of one in the cache."
        ),
    ],
    text: Annotated[
        str | None,
        typer.Option(help="Fields of text, separated by commas [default: pictures, else all fields of text]."),
    ] = None,
    neighbors: Annotated[int | None, typer.Option(help="Neighbors per item [default: as before].", min=1)] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the vectors to this .npy file too.")
    ] = None,
    project: ProjectOption = None,
) -> None:
    """Compare the items by vectors from a model on this machine, too; nothing is fetched, answers stay, and a second run goes on.

    For text a model of sentence-transformers, for pictures CLIP or DINO; needs pip install "askgraph[embed]".

    Example: askgraph embed --model all-MiniLM-L6-v2 --text title,description
    """
    import numpy as np

    from askgraph.support.files import replacing
    from askgraph.workbench.embedding import embed_project
    from askgraph.workbench.project import Project

    path = find_project(project)
    with Project.open(path, write=True) as opened:
        vectors = embed_project(opened, model, split_names(text), neighbors)
        notes = opened.store.about["graph"]
    if output is not None:
        with replacing(output) as file:
            np.save(file, vectors)
    say(f"{path}: {len(vectors):,} items")
    for note in notes:
        say(f"  {note}")


@app.command()
def copy(
    to: Annotated[Path, typer.Argument(help="The name of the copy; an existing file is never overwritten.")],
    project: ProjectOption = None,
) -> None:
    """Copy the project, also while somebody labels; the copy is checked.

    Example: askgraph copy backup-of-today.ask -p items.ask
    """
    from askgraph.workbench.restoring import copy_project

    path = find_project(project)
    labels = copy_project(path, to)
    say(f"{to}: {labels:,} label{'s' * (labels != 1)}, as in {path}")


@app.command()
def restore(
    copy: Annotated[Path, typer.Argument(help="A copy of the project.")],
    project: ProjectOption = None,
) -> None:
    """Replace the project by a copy; the replaced file is kept under another name.

    Example: askgraph restore backup.ask -p items.ask
    """
    from askgraph.workbench.restoring import restore as put_back

    path = find_project(project)
    labels, kept = put_back(copy, path)
    say(f"{path}: {labels:,} label{'s' * (labels != 1)} now, as in {copy}")
    if kept:
        say(f"what was there before is kept as {kept}")
