"""The commands that show or write what came of a project: its answers, and a label for every item."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from askgraph.cli.options import JsonOption, ProjectOption, find_project, say
from askgraph.cli.printing import print_json, print_table
from askgraph.errors import FileError, SettingError
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
        texts = [None if row["label"] is None else form.text_of(row["label"], known) for row in rows]
        print_table(
            [{name: row[name] for name in columns} | {"label": text} for row, text in zip(rows, texts, strict=True)]
        )


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
    from askgraph.support.files import replacing
    from askgraph.workbench.project import Project
    from askgraph.workbench.report import to_sign
    from askgraph.workbench.report_page import page, summary
    from askgraph.workbench.report_words import LANGUAGES

    if language not in LANGUAGES:
        raise SettingError(f"--language {language}: choose from {', '.join(LANGUAGES)}")
    with Project.open(find_project(project)) as opened:
        said = to_sign(opened)
    if json:
        print_json(said)
        return
    try:
        with replacing(output) as file:
            file.write(page(said, LANGUAGES[language]).encode())
    except OSError as error:
        raise FileError(f"{output}: cannot be written ({error.strerror}); choose another place with -o") from None
    say(f"{summary(said, LANGUAGES[language])}\n\n{LANGUAGES[language].say('file', path=output)}")


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
    from askgraph.workbench.datasheet import write_how_labeled
    from askgraph.workbench.export import lost_columns, number_columns, prediction_rows, write_rows
    from askgraph.workbench.project import Project

    with Project.open(find_project(project)) as opened:
        write_rows(output, prediction_rows(opened), numbers=number_columns(opened))
        labels, items = len(opened.answers.labels), opened.store.n_items
        known = bool(opened.answers.classes or labels)
        how, lost = write_how_labeled(opened, output), lost_columns(opened)
    if known:
        say(f"{items:,} items in {output}: {labels:,} labels given, {items - labels:,} predicted or set aside")
    else:
        say(f"{items:,} items in {output}, none with a label: label some, and there will be predictions")
    if lost:
        _say_lost(lost)
    say(f"How they were labeled, in words for a paper: {how}")


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
            help="columns (of 1 and 0, one per class), labelstudio, argilla, huggingface, spacy, fasttext, asreview, ris, or "
            "folders (of pictures, one per class).",
        ),
    ] = None,
    answered: Annotated[
        bool, typer.Option("--answered", help="Only items whose label was given, without predictions.")
    ] = False,
    project: ProjectOption = None,
) -> None:
    """Write the answers of all people with the fields of the items, or a file for another tool.

    Without --for, a .json file is for Label Studio and a .ris file for reference managers; other files hold the answers.

    Examples:

    askgraph export -o answers.csv

    askgraph export -o answers.xlsx

    askgraph export -o tasks.json

    askgraph export --for fasttext -o train.txt

    askgraph export --for columns -o classes.csv
    """
    from askgraph.workbench.exchange import FORMATS, labeled_items, write_folders
    from askgraph.workbench.export import lost_columns
    from askgraph.workbench.project import Project

    by_suffix = {".json": "labelstudio", ".ris": "ris"}.get(output.suffix.casefold() if output else "", "answers")
    wanted = tool or by_suffix
    if wanted not in (*FORMATS, "folders"):
        raise SettingError(f"--for {wanted}: choose from {', '.join([*FORMATS, 'folders'])}")
    with Project.open(find_project(project)) as opened:
        if wanted == "folders":
            say(write_folders(opened, output or Path("labeled"), answered))
            return
        path = output or Path(FORMATS[wanted].name)
        FORMATS[wanted].write(opened, path, answered)
        standing, items = sum(opened.answers.people.values()), opened.items.n_items
        if wanted in ("huggingface", "spacy", "fasttext"):  # which leave items without a label out
            items = sum(1 for _ in labeled_items(opened, answered))
        told, lost = opened.log.count_answered(labels_only=wanted == "argilla"), lost_columns(opened)
    if wanted == "answers":
        say(f"{standing:,} answer{'s' * (standing != 1)} in {path}")
    elif wanted in ("labelstudio", "argilla"):
        say(f"{items:,} items, {told:,} of them with answers, in {path}")
    else:
        say(f"{items:,} item{'s' * (items != 1)} in {path}")
    if lost and wanted not in ("spacy", "fasttext", "ris"):
        _say_lost(lost)


def _say_lost(names: list[str]) -> None:
    say(f"without the vectors in {few(names)}: those of a model have taken their place in the project")
