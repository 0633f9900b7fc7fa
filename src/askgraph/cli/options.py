"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import Annotated

import typer

from askgraph.errors import FileError, without_controls

ProjectOption = Annotated[
    Path | None,
    typer.Option("-p", "--project", envvar="ASKGRAPH_PROJECT", help="The project [default: the only .ask file here]."),
]
WhoOption = Annotated[
    str | None, typer.Option("--who", envvar="ASKGRAPH_WHO", help="The person who answers [default: your user name].")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for other programs.")]
PortOption = Annotated[int | None, typer.Option(help="The port [default: 8765, or any free one].", min=0, max=65535)]
WorkersOption = Annotated[int, typer.Option(help="Processes to use; 0 means one per core.", min=0)]

FeaturesOption = Annotated[
    str | None, typer.Option(help="Columns of numbers to compare items by, separated by commas.")
]
TextOption = Annotated[str | None, typer.Option(help="Columns of text to compare items by, separated by commas.")]
VectorsOption = Annotated[
    str | None,
    typer.Option(
        help="Vectors to compare items by: an npy or npz file, a column of lists or of pictures, or FIRST:LAST for columns."
    ),
]
ScaleOption = Annotated[
    str | None,
    typer.Option(help="How --features are scaled: none, unit or range [default: unit where their ranges differ much]."),
]
GraphOption = Annotated[
    list[Path] | None,
    typer.Option(help="A graph whose nodes are the ids: an edge list, npz, mtx, graphml; can be repeated."),
]
SuggestionsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--suggestions",
        help="A table of labels that a model suggests: item, label, and perhaps score and source; can be repeated.",
    ),
]


SheetOption = Annotated[str | None, typer.Option(help="The sheet of an xlsx or ods file [default: the first].")]
EncodingOption = Annotated[
    str | None,
    typer.Option(
        help="The encoding of a csv, tsv or txt file, such as windows-1252 [default: UTF-8, by its mark, or Windows text]."
    ),
]


BackupsOption = Annotated[
    int, typer.Option(envvar="ASKGRAPH_BACKUPS", help="Backups to keep beside the project; 0 makes none.", min=0)
]
BackupAnswersOption = Annotated[
    int, typer.Option(envvar="ASKGRAPH_BACKUP_ANSWERS", help="New answers after which a backup is made.", min=1)
]
BackupMinutesOption = Annotated[
    float,
    typer.Option(envvar="ASKGRAPH_BACKUP_MINUTES", help="Minutes after which any new answer is backed up.", min=0),
]
BackupMegabytesOption = Annotated[
    float, typer.Option(envvar="ASKGRAPH_BACKUP_MEGABYTES", help="The most that all backups may take.", min=0)
]


def say(text: object) -> None:
    """Print text with control characters written out: items and names may come from anybody."""
    print(without_controls(str(text)))


def split_names(listed: str | None) -> list[str] | None:
    """Split names at commas; return None for None."""
    return None if listed is None else [name.strip() for name in listed.split(",") if name.strip()]


def find_project(project: Path | None) -> Path:
    """Return the named project, or the only .ask file in this folder."""
    if project is not None:
        return project
    here = sorted(Path().glob("*.ask"))
    if len(here) != 1:
        found = "no .ask file here" if not here else f"{len(here)} .ask files here"
        raise FileError(f"{found}: which project? name it with -p, or make one with askgraph init")
    return here[0]


def user_name() -> str:
    """Return the name of the user who runs the command."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container without this user
        return "me"
