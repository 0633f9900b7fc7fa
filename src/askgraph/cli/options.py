"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import getpass
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from askgraph.errors import FileError, without_controls
from askgraph.options import DEFAULTS

Command = TypeVar("Command", bound=Callable[..., Any])

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
        help="Vectors to compare items by: an npy or npz file, a column of lists or of pictures, or FIRST:LAST for columns; the "
        "column of pictures and one of the others, such as file,clip.npy, for both."
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

# What the help says of the options of a plan; a simulation asks one question at a time, so it has no ``batch``.
PLAN_HELP = {
    "doubt": "How much to distrust the field: sqrt, inverse, none, or a number in [0, 1].",
    "class_shares": "The shares of the classes that doubt leans to, separated by commas [default: equal].",
    "form": "printed, derived or means.",
    "expect": "The mean over answers, or the minimum: mean or min.",
    "ahead": "Nodes that a look-ahead sampler scores where summaries are estimates.",
    "explore": "The probability of a random question: sqrt, inverse, none, or a number in [0, 1].",
    "first": "How the first question is chosen: random or utility.",
    "small_components": "Whether nodes of small components wait: wait or ask.",
    "hubs": "What to do about hubs: discount, skip or ask [default: discount for influence, else ask].",
    "spot_checks": "Every how many questions one is drawn at random; 0 for none.",
}


def with_plan_options(command: Command) -> Command:
    """Give a command that ends in ``**options`` the options of a plan, with their defaults; :func:`read_options` reads them."""
    given = inspect.signature(command, eval_str=True)  # typer reads a signature that is set as it is
    kept = list(given.parameters.values())[:-1]
    more = [_plan_option(name) for name in PLAN_HELP]
    command.__signature__ = given.replace(parameters=[*kept, *more])  # type: ignore[attr-defined]  # of any callable
    command.__annotations__ |= {one.name: one.annotation for one in more}
    return command


def _plan_option(name: str) -> inspect.Parameter:
    usual, help = DEFAULTS[name], typer.Option(help=PLAN_HELP[name])
    kind: Any = Annotated[int, help] if isinstance(usual, int) else Annotated[str | None, help]
    default = usual if isinstance(usual, int | None) else str(usual)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def read_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a plan that a command got as text: numbers, shares between commas, None for none."""
    return {name: _read(value) if isinstance(value, str) else value for name, value in given.items()}


def _read(text: str) -> float | str | tuple[float, ...] | None:
    if text == "none":
        return None
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        return text
    return numbers if len(numbers) > 1 else numbers[0]


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
