"""The commands that show or write what came of a project: its answers, and a label for every item."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from askgraph.cli.options import JsonOption, ProjectOption, find_project, say
from askgraph.cli.printing import print_json, print_table
from askgraph.errors import SettingError
from askgraph.support.wording import few

app: typer.Typer = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def history(
    project: ProjectOption = None,
    n: Annotated[int, typer.Option("-n", help="Number of answers, the newest first.", min=1)] = 20,
    json: JsonOption = False,
) -> None:
    """Show who answered what and when; only askgraph remove deletes answers, with their item.

    Example: askgraph history -n 50
    """
    from askgraph.workbench.project import Project
    from askgraph.workbench.report import history as lines

    with Project.open(find_project(project)) as opened:
        rows, form, known = lines(opened, n), opened.answers.form, opened.answers.naming.heard
    if json:
        print_json(rows)
    else:
        columns = (
            "seq",
            "at",
            "who",
            *(["lead"] if any(row["lead"] for row in rows) else []),
            "item",
            "kind",
            "label",
            "undone",
        )
        texts = [_said(row) if row["label"] is None else form.text_of(row["label"], known) for row in rows]
        print_table(
            [{name: row[name] for name in columns} | {"label": text} for row, text in zip(rows, texts, strict=True)]
        )


def _said(row: dict[str, Any]) -> str | None:
    """Return what a line of the history says that is not a label: a comment, or reasons."""
    return row["text"] or ", ".join(row["reasons"]) or None


@app.command()
def report(
    output: Annotated[Path, typer.Option("-o", "--output", help="The page to write.")] = Path("report.html"),
    language: Annotated[str, typer.Option(help="en or de.")] = "en",
    project: ProjectOption = None,
    json: JsonOption = False,
) -> None:
    """Write a report that one can sign: what was labeled, by whom, under which guidelines, how good it is, what was not seen.

    It is a page that prints on two sheets; each figure has the command that gives it.

    Examples:

    askgraph report

    askgraph report -o bericht.html --language de
    """
    from askgraph.cli.computing import compute
    from askgraph.workbench.report_words import LANGUAGES

    if language not in LANGUAGES:
        raise SettingError(f"--language {language}: choose from {', '.join(LANGUAGES)}")
    path = find_project(project)
    if json:
        print_json(compute(path, "figures"))
        return
    said = compute(path, "report", output, language=language)
    say(f"{said['summary']}\n\n{LANGUAGES[language].say('file', path=output)}")


@app.command()
def predict(
    output: Annotated[Path, typer.Option("-o", "--output", help="A .csv, .xlsx, .jsonl or .parquet file.")] = Path(
        "labels.csv"
    ),
    project: ProjectOption = None,
) -> None:
    """Write your table with a label for every item, given or predicted, how likely it is, and where it comes from.

    A paragraph that says how the items were labeled goes into a .md file beside it.

    Example: askgraph predict -o labels.csv
    """
    from askgraph.cli.computing import compute

    said = compute(find_project(project), "predict", output)
    labels, items = said["labels"], said["items"]
    if said["known"]:
        say(f"{items:,} items in {output}: {labels:,} labels given, {items - labels:,} predicted or set aside")
    else:
        say(f"{items:,} items in {output}, none with a label: label some, and there will be predictions")
    if said["lost"]:
        _say_lost(said["lost"])
    say(f"How they were labeled, in words for a paper: {output.with_name(said['how'])}")


@app.command()
def export(
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="The file, or the folder for folders [default: answers.csv, or by --for]."),
    ] = None,
    tool: Annotated[
        str | None,
        typer.Option(
            "--for",
            help="columns (of 1 and 0, one per class), labelstudio, argilla, huggingface, spacy, fasttext, asreview, ris, "
            "folders (of pictures, one per class), or prompts (requests to a language model, one per item without a label).",
        ),
    ] = None,
    answered: Annotated[
        bool, typer.Option("--answered", help="Only items whose label was given, without predictions.")
    ] = False,
    model: Annotated[str | None, typer.Option(help="The model that prompts are for, as its server calls it.")] = None,
    project: ProjectOption = None,
) -> None:
    """Write the answers of all people with the fields of the items, or a file for another tool.

    Without --for, a .json file is for Label Studio and a .ris file for reference managers; other files hold the answers.

    Prompts are in the batch format of OpenAI-compatible servers. askgraph sends nothing; askgraph suggest reads the replies.

    Examples:

    askgraph export -o answers.csv

    askgraph export -o answers.xlsx

    askgraph export -o tasks.json

    askgraph export --for fasttext -o train.txt

    askgraph export --for columns -o classes.csv

    askgraph export --for prompts --model gpt-4o-mini
    """
    from askgraph.cli.computing import compute
    from askgraph.workbench.format_names import FORMAT_NAMES

    by_suffix = {".json": "labelstudio", ".ris": "ris"}.get(output.suffix.casefold() if output else "", "answers")
    wanted = tool or by_suffix
    if wanted not in (*FORMAT_NAMES, "folders", "prompts"):
        raise SettingError(f"--for {wanted}: choose from {', '.join([*FORMAT_NAMES, 'folders', 'prompts'])}")
    if wanted != "prompts" and model is not None:
        raise SettingError(f"--model {model}: a model answers prompts only; add --for prompts, or leave it out")
    source = find_project(project)
    if wanted == "prompts":
        _export_prompts(source, output or Path("prompts.jsonl"), model or "")
        return
    if wanted == "folders":
        _export_folders(source, output or Path("labeled"), answered)
        return
    path = output or Path(FORMAT_NAMES[wanted])
    said = compute(source, "export", path, tool=wanted, answered=answered)
    standing, items, told, lost = (said[name] for name in ("answers", "items", "told", "lost"))
    if wanted == "answers":
        say(f"{standing:,} answer{'s' * (standing != 1)} in {path}")
    elif wanted in ("labelstudio", "argilla"):
        say(f"{items:,} items, {told:,} of them with answers, in {path}")
    else:
        say(f"{items:,} item{'s' * (items != 1)} in {path}")
    if lost and wanted not in ("spacy", "fasttext", "ris"):
        _say_lost(lost)


def _export_folders(path: Path, output: Path, answered: bool) -> None:
    from askgraph.workbench.exchange import write_folders
    from askgraph.workbench.project import Project

    with Project.open(path) as opened:
        say(write_folders(opened, output, answered))


def _export_prompts(path: Path, output: Path, model: str) -> None:
    from askgraph.workbench.project import Project
    from askgraph.workbench.prompts import BYTES_PER_TOKEN, write_prompts

    with Project.open(path) as opened:
        made = write_prompts(opened, output, model)
    about = f", about {made.tokens:,} tokens to read (an estimate: one per {BYTES_PER_TOKEN} bytes of text)"
    requests = f"{made.requests:,} request{'s' * (made.requests != 1)}"
    say(f"{requests} to {model} in {output}{about if made.requests else ''}")
    if made.answered:
        say(f"{made.answered:,} left out, whose prompt this model has answered already")
    if made.requests:
        say("askgraph sends nothing: your own server or client does; then askgraph suggest reads its replies")


def _say_lost(names: list[str]) -> None:
    say(f"without the vectors in {few(names)}: those of a model have taken their place in the project")
