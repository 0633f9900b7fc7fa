"""The commands that open the labeling page: serve, label."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode

import typer

from askgraph.cli.options import (
    BackupAnswersOption,
    BackupMegabytesOption,
    BackupMinutesOption,
    BackupsOption,
    EncodingOption,
    GraphOption,
    PortOption,
    ProjectOption,
    ScaleOption,
    SheetOption,
    SuggestionsOption,
    VectorsOption,
    WhoOption,
    find_project,
    user_name,
)
from askgraph.cli.project import init
from askgraph.errors import FileError, SettingError

app: typer.Typer = typer.Typer(add_completion=False, rich_markup_mode=None)

HostOption = Annotated[str, typer.Option(help="The address to listen on; any other than 127.0.0.1 needs a password.")]
PasswordOption = Annotated[
    str | None, typer.Option(envvar="ASKGRAPH_PASSWORD", help="The password that others log in with.")
]
NamesOption = Annotated[
    list[str] | None, typer.Option("--allow-host", help="A host name that the server is reached by; can be repeated.")
]
LeaseOption = Annotated[
    float, typer.Option(help="Seconds until an item that somebody left unanswered is offered to others.", min=1)
]


@app.command()
def start(
    folder: Annotated[Path, typer.Argument(help="The folder that projects lie in.")] = Path(),
    port: PortOption = None,
    who: WhoOption = None,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
) -> None:
    """Begin in the browser: go on with a project, or drop a table or pictures on a page, choose columns, and label.

    Everything stays on this machine: files come to the folder where you are, and nobody else can reach the page.

    Example: askgraph start
    """
    from askgraph.web.serve import serve as run
    from askgraph.web.start import begin_here

    if not folder.is_dir():
        raise FileError(f"{folder}: no such folder; name one that is there, or leave it out")
    with ExitStack() as until_the_end:

        def ready(url: str) -> None:
            print(f"The page is at {url}&{urlencode({'who': who or user_name()})}\nStop with Ctrl-C.", flush=True)
            if browser:
                _open_page(url, who or user_name(), until_the_end)

        made = begin_here(folder, port, ready)
        if made is None:
            return
        path, number, token = made
        print(f"The project is {path}; next time: askgraph label {path.name}", flush=True)
        run(path, port=number, token=token, ready=lambda _: None)


@app.command()
def serve(
    project: ProjectOption = None,
    host: HostOption = "127.0.0.1",
    port: PortOption = None,
    password: PasswordOption = None,
    allow_host: NamesOption = None,
    lease: LeaseOption = 120.0,
    backups: BackupsOption = 3,
    backup_answers: BackupAnswersOption = 100,
    backup_minutes: BackupMinutesOption = 10.0,
    backup_megabytes: BackupMegabytesOption = 1000.0,
) -> None:
    """Serve the page of a project to one or several people; the other commands work meanwhile.

    Examples:

    askgraph serve -p items.ask

    ASKGRAPH_PASSWORD=... askgraph serve -p items.ask --host 0.0.0.0 --port 8000
    """
    from askgraph.web.serve import serve as run
    from askgraph.workbench.backups import BackupPlan

    plan = BackupPlan(backups, backup_answers, backup_minutes, backup_megabytes)
    run(find_project(project), host, port, password, allow_host or (), lease, _print_address, plan)


@app.command()
def label(
    items: Annotated[
        Path | None,
        typer.Argument(
            help="A table (csv, tsv, xlsx, ods, jsonl, parquet), a folder of pictures, or a project (.ask)."
        ),
    ] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Try the page on 1,797 handwritten digits.")] = False,
    graph: GraphOption = None,
    features: Annotated[
        str | None, typer.Option(help="Columns of numbers to compare items by, for a new project.")
    ] = None,
    text: Annotated[
        str | None, typer.Option(help="Columns of text to compare items by, separated by commas, for a new project.")
    ] = None,
    vectors: VectorsOption = None,
    scale: ScaleOption = None,
    id: Annotated[str | None, typer.Option(help="The column of ids, for a new project.")] = None,
    image: Annotated[str | None, typer.Option(help="The column of image file names, for a new project.")] = None,
    images: Annotated[Path | None, typer.Option(help="The folder of the images.")] = None,
    classes: Annotated[str | None, typer.Option(help="Classes, separated by commas, for a new project.")] = None,
    known: Annotated[
        str | None, typer.Option("--label", help="The column of labels that exist already, for a new project.")
    ] = None,
    show: Annotated[str | None, typer.Option(help="Columns to show, separated by commas, for a new project.")] = None,
    overlap: Annotated[int, typer.Option(help="People who should label each item, for a new project.", min=1)] = 1,
    suggestions: SuggestionsOption = None,
    sheet: SheetOption = None,
    encoding: EncodingOption = None,
    port: PortOption = None,
    who: WhoOption = None,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
) -> None:
    """Label the items of a file: make a project if there is none yet, and open the page at the first question.

    Examples:

    askgraph label items.csv

    askgraph label papers.csv --text abstract --classes "relevant,not relevant"

    askgraph label photos/ --classes "cat,dog"

    askgraph label --demo
    """
    from askgraph.web.demo import make_demo
    from askgraph.web.serve import serve as run

    if demo:
        path = make_demo(Path("askgraph-demo"))
    elif items is None:
        raise SettingError("label what? give a table or a project (askgraph label items.csv), or try --demo")
    elif items.suffix.casefold() == ".ask":
        path = items
    elif not (path := (items if items.name else items.absolute()).with_suffix(".ask")).exists():
        compared = (graph, features, text, vectors, scale)
        init(
            items,
            path,
            *compared,
            id,
            show,
            image,
            images,
            known,
            classes,
            overlap=overlap,
            suggestions=suggestions,
            later="auto",
            sheet=sheet,
            encoding=encoding,
        )
    else:
        print(f"going on with {path} and its settings; for a new project, choose another name with askgraph init -o")

    with ExitStack() as until_the_end:

        def ready(url: str) -> None:
            _print_address(f"{url}&{urlencode({'who': who or user_name()})}")
            if browser:
                _open_page(url, who or user_name(), until_the_end)

        run(path, port=port, ready=ready)


def _print_address(url: str) -> None:
    print(f"The page is at {url}\nStop with Ctrl-C; every answer is saved at once.", flush=True)


def _open_page(url: str, who: str, until_the_end: ExitStack) -> None:
    """Open the page in the browser, by a file: the address with the token would be among the browser's arguments."""
    import webbrowser

    from askgraph.web.entry import entry_file

    base, _, token = url.partition("/?token=")
    try:
        webbrowser.open(until_the_end.enter_context(entry_file(base, token, who)).as_uri())
    except OSError as error:
        print(f"The browser was not started ({error.strerror}); open the address yourself.", flush=True)
