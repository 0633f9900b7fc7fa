"""The commands that open a page: open, call, print."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode

import typer

from askgraph.cli.project import ProjectOption, WhoOption, init, me, project_file
from askgraph.errors import SettingError

app = typer.Typer(add_completion=False, rich_markup_mode=None)

HostOption = Annotated[str, typer.Option(help="The address to listen at; others than 127.0.0.1 need a password.")]
PortOption = Annotated[
    int | None, typer.Option(help="The port [default: 8765, or any that is free].", min=0, max=65535)
]
PasswordOption = Annotated[
    str | None, typer.Option(envvar="ASKGRAPH_PASSWORD", help="What others must know to come in.")
]
NamesOption = Annotated[
    list[str] | None, typer.Option("--allow-host", help="A name the server goes by; may be repeated.")
]
LeaseOption = Annotated[float, typer.Option(help="Seconds until an item that someone left open is asked again.", min=1)]


@app.command()
def serve(
    project: ProjectOption = None,
    host: HostOption = "127.0.0.1",
    port: PortOption = None,
    password: PasswordOption = None,
    allow_host: NamesOption = None,
    lease: LeaseOption = 120.0,
) -> None:
    """Serve the page of a project, for you or for several people; commands go on working meanwhile.

    Examples:

    askgraph serve -p items.ask

    ASKGRAPH_PASSWORD=... askgraph serve -p items.ask --host 0.0.0.0 --port 8000
    """
    from askgraph.web.serve import serve as run

    run(project_file(project), host, port, password, allow_host or (), lease, _say)


@app.command()
def label(
    items: Annotated[
        Path | None, typer.Argument(help="A table (csv, tsv, jsonl, parquet) or a project (.ask).")
    ] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Try it on 1,797 handwritten digits.")] = False,
    graph: Annotated[Path | None, typer.Option(help="A graph over the ids, for a new project.")] = None,
    features: Annotated[str | None, typer.Option(help="Columns to compare items by, for a new project.")] = None,
    text: Annotated[str | None, typer.Option(help="A column of text to compare items by, for a new project.")] = None,
    id: Annotated[str | None, typer.Option(help="The column of ids, for a new project.")] = None,
    image: Annotated[str | None, typer.Option(help="A column of image files, for a new project.")] = None,
    images: Annotated[Path | None, typer.Option(help="The folder they are in.")] = None,
    classes: Annotated[str | None, typer.Option(help="Classes, with commas, for a new project.")] = None,
    known: Annotated[
        str | None, typer.Option("--label", help="A column of labels that exist, for a new project.")
    ] = None,
    show: Annotated[str | None, typer.Option(help="Columns to show, with commas, for a new project.")] = None,
    overlap: Annotated[int, typer.Option(help="People that should label each item, for a new project.", min=1)] = 1,
    port: PortOption = None,
    who: WhoOption = None,
    browser: Annotated[bool, typer.Option(help="Open it in the browser.")] = True,
) -> None:
    """From a file to finished labels: makes the project if needed, and opens the page at the first question.

    Examples:

    askgraph label items.csv

    askgraph label papers.csv --text abstract --classes "relevant,not relevant"

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
    elif not (path := items.with_suffix(".ask")).exists():
        init(items, path, graph, features, text, id, show, image, images, known, classes, overlap=overlap)
    else:
        print(f"going on with {path}, as it was made; to begin anew, choose another name with askgraph init -o")

    def ready(url: str) -> None:
        _open(url, who or me(), browser)

    run(path, port=port, ready=ready)


def _say(url: str) -> None:
    print(f"The page is at {url}\nStop with Ctrl-C; everything is saved as you go.", flush=True)


def _open(url: str, who: str, browser: bool) -> None:
    import webbrowser

    _say(f"{url}&{urlencode({'who': who})}")
    if browser:
        webbrowser.open(f"{url}&{urlencode({'who': who})}")
