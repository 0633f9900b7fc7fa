"""The commands that make a project, label its items and change which there are."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from askgraph.cli.label_files import check_classes, read_answers, save_annotations
from askgraph.cli.options import (
    EncodingOption,
    FeaturesOption,
    GraphOption,
    JsonOption,
    ProjectOption,
    ScaleOption,
    SheetOption,
    SuggestionsOption,
    TextOption,
    VectorsOption,
    WhoOption,
    find_project,
    say,
    split_names,
    user_name,
)
from askgraph.cli.printing import print_json, print_table
from askgraph.errors import LabelError, SettingError
from askgraph.support.wording import as_wide, counted, few

app: typer.Typer = typer.Typer(add_completion=False, rich_markup_mode=None)

TableArgument = Annotated[
    Path | None,
    typer.Argument(
        help="A table of items (csv, tsv, xlsx, ods, jsonl, parquet) or a folder of pictures; none if items are nodes of --graph."
    ),
]
MAX_DISPUTED = 10  # items that askgraph sources lists; the page and --json list more
NewOption = Annotated[bool, typer.Option("--new", help="Make a class of a label that is not one yet.")]


@app.command()
def init(
    table: TableArgument = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The project file [default: TABLE.ask].")
    ] = None,
    graph: GraphOption = None,
    features: FeaturesOption = None,
    text: TextOption = None,
    vectors: VectorsOption = None,
    scale: ScaleOption = None,
    id: Annotated[
        str | None,
        typer.Option(
            help="The column of ids [default: the column called id, else one of short, distinct values called code, name or alike, "
            'else row numbers; "" for row numbers].'
        ),
    ] = None,
    show: Annotated[str | None, typer.Option(help="Columns to show, separated by commas [default: all].")] = None,
    image: Annotated[
        str | None, typer.Option(help="The column of image file names [default: found by its names].")
    ] = None,
    images: Annotated[
        Path | None,
        typer.Option(help="The folder of the images [default: that of the table]; the page shows no file outside it."),
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(help="The column of labels that exist already; an empty cell means none. Of pictures: folder."),
    ] = None,
    classes: Annotated[
        str | None, typer.Option(help="Classes, separated by commas; new ones can be added at any time.")
    ] = None,
    answers: Annotated[
        str,
        typer.Option(
            help="What an answer is, for good: classes (one), several (of the classes, or none), ordered (one of --classes, the "
            "lowest first) or numbers."
        ),
    ] = "classes",
    unit: Annotated[str | None, typer.Option(help="What numbers are in, such as EUR.")] = None,
    link: Annotated[
        str | None,
        typer.Option(help="How numbers are read: identity, log for positive ones that vary by factors, or auto."),
    ] = None,
    neighbors: Annotated[int, typer.Option(help="Neighbors per item.", min=1)] = 10,
    overlap: Annotated[int, typer.Option(help="People who should label each item.", min=1)] = 1,
    sampler: Annotated[
        str | None, typer.Option(help="The sampler that chooses questions [default: influence; sigma for numbers].")
    ] = None,
    spot_checks: Annotated[
        int,
        typer.Option(help="Every how many questions one is drawn at random, to judge predictions; 0 for none.", min=0),
    ] = 8,
    seed: Annotated[int, typer.Option(help="The seed of all random choices.", min=0)] = 0,
    suggestions: SuggestionsOption = None,
    find: Annotated[
        str | None, typer.Option(help="A class to find all items of: questions are those most likely in it.")
    ] = None,
    meaning: Annotated[
        str,
        typer.Option(
            help="Compare what texts mean, too: auto (where they are English and wordllama is installed), wordllama or none."
        ),
    ] = "auto",
    weights: Annotated[
        str | None,
        typer.Option(
            help='How often columns count of those that items are compared by, such as "price=2,title=0.5" [default: 1].'
        ),
    ] = None,
    later: Annotated[
        str,
        typer.Option(
            help="Store items at once, and let the server compare them while people label some drawn at random: never, auto (many "
            "texts or pictures) or always."
        ),
    ] = "never",
    sheet: SheetOption = None,
    encoding: EncodingOption = None,
) -> None:
    """Make a project from a table or a graph.

    Examples:

    askgraph init items.csv -o items.ask

    askgraph init papers.csv --text abstract --classes "relevant,not relevant"

    askgraph init news.csv --text title,description

    askgraph init photos.csv --vectors embeddings.npy

    askgraph init flats.csv --text description --features price --weights price=2

    askgraph init photos/ --label folder

    askgraph init papers.csv --text abstract --classes "relevant,irrelevant" --find relevant

    askgraph init survey.xlsx --sheet "Wave 2" --text comment

    askgraph init papers.csv --graph citations.csv --label topic

    askgraph init papers.csv --graph citations.csv --graph authors.csv

    askgraph init news.csv --text title --suggestions guesses.csv

    askgraph init tickets.csv --answers several --classes "login,bug"

    askgraph init reviews.csv --answers ordered --classes "bad,fair,good"

    askgraph init flats.csv --answers numbers --unit EUR --link log
    """
    from askgraph.graph.meaning import find_words
    from askgraph.workbench.new_project import kind_named, usual_settings
    from askgraph.workbench.project import Project
    from askgraph.workbench.source import Source

    if table is None and not graph:
        raise SettingError("what are the items? give a table (askgraph init items.csv) or a graph with --graph")
    path = output or Path((table or (graph or [Path()])[0]).absolute().stem + ".ask")
    source = Source(
        table,
        graph,
        id=id,
        features=split_names(features),
        text=split_names(text),
        show=split_names(show),
        image=image,
        label=label,
        neighbors=neighbors,
        vectors=vectors,
        scale=scale,
        sheet=sheet,
        encoding=encoding,
        meaning=meaning,
        weights=_read_weights(weights),
        later=cast(Any, later),
    )
    kind, declared = kind_named(answers, unit, link), split_names(classes) or ()
    if find is not None:
        _check_sought(kind, declared, find)
    settings = usual_settings(kind, sampler, spot_checks)
    Project.create(path, source, declared, images, settings, seed, overlap, suggestions or ())
    if find is not None:
        with Project.open(path, write=True) as project:
            name, value = project.answers.form.read_sought(find)
            if name is not None and name not in project.answers.classes and not project.answers.form.ranked:
                project.log.change(user_name(), "add", name)
            project.log.change(user_name(), "find", name, value)
    with Project.open(path) as project:
        say(f"{path}: {project.store.n_items:,} items, {project.graph.n_edges:,} edges")
        for note in (*project.about["read"], *project.about["graph"]):
            say(f"  {note}")
        for suggested in project.learner.guesses.sources if suggestions else ():
            say(f"  {suggested}")
        if project.items.columns.get("text") and meaning == "auto" and find_words() is None:
            say('  pip install "askgraph[meaning]" compares what English texts mean, too')
        say(f"Label them in the browser with: askgraph label {path}")


def _check_sought(kind: Any, classes: Sequence[str], find: str) -> None:
    """Raise an error for what cannot be sought, before a project is made: an answer makes a class, and never a step."""
    from askgraph.workbench.forms import form_of

    form = form_of(kind)
    name, value = form.read_sought(find)
    form.sought(name, value)
    if form.ranked and name not in (steps := form.declare(classes)):
        raise LabelError(f"{name!r} is no step: choose one of {few(steps)}")


def _read_weights(text: str | None) -> dict[str, float]:
    """Read how often columns count: name=number, separated by commas.

    >>> _read_weights("price=2,title=0.5")
    {'price': 2.0, 'title': 0.5}
    """
    pairs = [one.rpartition("=") for one in split_names(text) or ()]
    try:
        return {name.strip(): float(number) for name, _, number in pairs}
    except ValueError:
        raise SettingError(
            f"--weights {text}: give the names of columns and numbers, such as price=2,title=0.5"
        ) from None


@app.command()
def status(project: ProjectOption = None, json: JsonOption = False) -> None:
    """Show labels, the expected error and advice.

    Example: askgraph status
    """
    from askgraph.cli.computing import compute
    from askgraph.workbench.writer_lock import WriterLock

    path = find_project(project)
    found = compute(path, "status")
    said = {"project": str(path), **found["figures"], "serving": bool(WriterLock(path).server())}
    if json:
        print_json(said)
    else:
        _print_status(said, found["error"])


@app.command()
def ask(
    n: Annotated[int, typer.Option("-n", help="Number of items, chosen to be labeled together.", min=1)] = 1,
    project: ProjectOption = None,
    json: JsonOption = False,
) -> None:
    """Show the items to label next.

    Example: askgraph ask -n 5
    """
    from askgraph.workbench.project import Project

    with Project.open(find_project(project)) as opened:
        places = opened.ask(n)
        items = opened.store.items(places)
        names = [name for name in opened.about["fields"] if name not in opened.items.unseen]
        rows = [{"id": item.id, **{name: item.fields.get(name) for name in names}} for item in items]
        reason = opened.finished
    if json:
        print_json({"items": rows, "finished": None if rows else reason})
    elif not rows:
        say(reason)
    else:
        print_table(rows)


@app.command()
def tell(
    id: Annotated[str | None, typer.Argument(help="The item.")] = None,
    label: Annotated[
        str | None,
        typer.Argument(help='Its label: a class, "a|b" or "(none)" where items have several, or a number.'),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            help="A table with the columns id (or what your table calls it) and label, and perhaps who, or JSON of Label "
            "Studio or Argilla, to save many at once."
        ),
    ] = None,
    new: NewOption = False,
    project: ProjectOption = None,
    who: WhoOption = None,
    sheet: SheetOption = None,
    encoding: EncodingOption = None,
) -> None:
    """Save the label of an item, or of many.

    Where the project has classes, a label that is not one of them is refused, and the nearest class is named.

    Examples:

    askgraph tell 17 setosa

    askgraph tell 18 versicolor --new

    askgraph tell 19 "billing|login"

    askgraph tell 19 -- -3.5

    askgraph tell --file results.csv
    """
    if (file is None) == (id is None or label is None):
        raise SettingError("give an id and its label (askgraph tell 17 setosa), or a table of them with --file")
    if (sheet or encoding) and (file is None or file.suffix.casefold() == ".json"):
        raise SettingError("--sheet and --encoding say how the table of --file is read; leave them out without one")
    if file is not None and file.suffix.casefold() == ".json":
        save_annotations(project, file, new)
        return
    if file is None:
        _save(project, who, [(id or "", "label", label or "")], new)
        return
    with _opened(project) as opened:
        rows = read_answers(opened, file, sheet, encoding)
    by_person: dict[str, list[Any]] = {}
    for item, found, named in rows:
        by_person.setdefault(named or who or user_name(), []).append((item, "label", found))
    _save_all(project, by_person or {who or user_name(): []}, new)


def _opened(project: Path | None) -> AbstractContextManager[Any]:
    """Return the project, opened to read it."""
    from askgraph.workbench.project import Project

    return Project.open(find_project(project))


@app.command()
def relabel(
    id: Annotated[str, typer.Argument(help="The item.")],
    label: Annotated[str, typer.Argument(help="Its new label.")],
    new: NewOption = False,
    project: ProjectOption = None,
    who: WhoOption = None,
) -> None:
    """Change the label of an item; the earlier one stays in the history.

    Example: askgraph relabel 17 virginica
    """
    _save(project, who, [(id, "label", label)], new)


@app.command()
def add(
    table: Annotated[
        Path | None, typer.Argument(help="A table with new rows, or the folder of pictures that has new ones.")
    ] = None,
    graph: GraphOption = None,
    vectors: Annotated[
        str | None, typer.Option(help="The vectors of the new rows, where items are compared by vectors of a file.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Where ids are row numbers, take the rows too that are there already.")
    ] = False,
    project: ProjectOption = None,
    sheet: SheetOption = None,
    encoding: EncodingOption = None,
) -> None:
    """Bring new rows into a project, also while people label; they are joined to all items as these are joined.

    Rows that are there already are left out: by their id, or where ids are row numbers by all that the project keeps of them.
    New columns are left out, too; answers stay as they are.

    Example: askgraph add more.csv
    """
    from askgraph.workbench.client import open_writer
    from askgraph.workbench.growing import discard, prepare_addition
    from askgraph.workbench.project import Project

    path = find_project(project)
    with Project.open(path) as opened:
        addition = prepare_addition(opened, table, graph or (), vectors, every, sheet, encoding)
        numbered = opened.items.columns.get("id") is None
    try:
        with open_writer(path) as writer:
            added = writer.add(addition.path)
    finally:
        discard(addition.path)
    say(f"{path}: {added:,} item{'s' * (added != 1)} more")
    if addition.known:
        more = "; --all takes them" if numbered and table is not None else ""
        of = f"{addition.known:,} of {addition.known + added:,} {'nodes' if table is None else 'rows'}"
        say(f"  {of} were there already and are left out{more}")
    for note in addition.notes:
        say(f"  {note}")


@app.command()
def remove(
    ids: Annotated[list[str], typer.Argument(help="The items.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask whether you are sure.")] = False,
    project: ProjectOption = None,
) -> None:
    """Delete items for good: from the items, and every answer to them from the log, which no other command does.

    Example: askgraph remove 17 --yes
    """
    from askgraph.workbench.client import open_writer
    from askgraph.workbench.project import Project

    path = find_project(project)
    with Project.open(path) as opened:
        opened.log.check([(id, "invalid", None) for id in ids])
    if not yes:
        typer.confirm(f"Delete {len(ids)} item{'s' * (len(ids) != 1)} and all answers to them, for good?", abort=True)
    with open_writer(path) as writer:
        gone = writer.remove(ids)
    what = f"{gone.items} item{'s' * (gone.items != 1)} and {gone.lines} line{'s' * (gone.lines != 1)} of the log"
    say(f"{path}: {what} deleted for good")
    if gone.elsewhere:
        say(
            f"copies from before still hold them, beside the project: {', '.join(gone.elsewhere)}; delete those too if you must"
        )


@app.command()
def suggest(
    file: Annotated[
        Path,
        typer.Argument(
            help="A table with the columns item (or id, or what your table calls it) and label, and perhaps score (0 to 1) "
            "and source; or what a model replied to the requests of askgraph export --for prompts."
        ),
    ],
    project: ProjectOption = None,
    sheet: SheetOption = None,
    encoding: EncodingOption = None,
) -> None:
    """Add labels that a model suggests: evidence for predictions, shown on the card, and never taken for answers of people.

    Rows of unknown items or classes are left out and named; it is an error if no row fits.

    Examples:

    askgraph suggest guesses.csv

    askgraph suggest replies.jsonl
    """
    from askgraph.workbench.client import open_writer
    from askgraph.workbench.project import Project

    path = find_project(project)
    with Project.open(path) as opened:
        guesses, left = opened.read_suggestions(file, sheet, encoding)
        ids = opened.store.ids()
    with open_writer(path) as writer:
        writer.suggest([ids[one.item] for one in guesses], guesses)
    with Project.open(path) as opened:
        say("\n".join([*(str(source) for source in opened.learner.guesses.sources), *left]))


@app.command()
def rule(
    test: Annotated[
        str | None,
        typer.Argument(
            help='A regular expression, such as "prize|winner", or a condition on a column, such as "price > 100" or '
            '"country == DE".'
        ),
    ] = None,
    name: Annotated[str | None, typer.Argument(metavar="CLASS", help="The class that it suggests.")] = None,
    column: Annotated[
        str | None,
        typer.Option(help="The columns to search, separated by commas [default: all of text]."),
    ] = None,
    case: Annotated[bool, typer.Option("--case", help="Upper and lower case differ.")] = False,
    new: NewOption = False,
    remove: Annotated[
        int | None, typer.Option(help="End the rule of this number, which askgraph sources lists.", min=1)
    ] = None,
    project: ProjectOption = None,
    who: WhoOption = None,
) -> None:
    """Suggest a class for the items that fit a rule: evidence for predictions, like what a model suggests, and never an answer.

    Rows that are added later are tested, too. A rule is a change like those of classes, which their history lists.

    Examples:

    askgraph rule "prize|winner" spam

    askgraph rule "price > 100" expensive

    askgraph rule --remove 3
    """
    from askgraph.workbench.client import open_writer

    path, who = find_project(project), who or user_name()
    if remove is not None:
        if test is not None:
            raise SettingError(f"--remove {remove} ends a rule: leave {test!r} out")
        _end_rule(path, who, remove)
        return
    if test is None or name is None:
        raise SettingError(
            'give a rule and its class, as in askgraph rule "prize|winner" spam; askgraph sources lists all'
        )
    name, value, source, ids, guesses = _fit_rule(path, test, name, split_names(column) or (), case, new)
    with open_writer(path) as writer:
        if new:
            _add_class(path, writer, who, name)
        writer.rule(who, name, value, ids, guesses)
    _print_sources(path, source)


def _fit_rule(
    path: Path, test: str, name: str, columns: Sequence[str], case: bool, new: bool
) -> tuple[str, str, str, list[str], list[Any]]:
    """Return the class that a rule suggests, the rule as JSON, its source, and the items it fits with what it guesses of them."""
    from askgraph.workbench.guesses import Guess
    from askgraph.workbench.project import Project
    from askgraph.workbench.rules import fitting, read_rule

    with Project.open(path) as opened:
        opened.answers.form.kind.check_guesses()
        if not new:
            if not opened.answers.classes:
                raise LabelError(f"no class {name!r}; --new makes it a class")
            opened.log.check_classes([name])
        name = opened.answers.naming.meant(name)
        made = read_rule(test, opened.items, columns, case)
        places = fitting(made, opened.items, opened.store.every())
        ids = opened.store.ids()
    return name, made.to_json(), made.source, [ids[k] for k in places], [Guess(k, made.source, name) for k in places]


def _add_class(path: Path, writer: Any, who: str, name: str) -> None:
    from askgraph.workbench.project import Project

    with Project.open(path) as opened:
        there = name in opened.answers.classes
    if not there:
        writer.change(who, "add", name, None)


def _end_rule(path: Path, who: str, number: int) -> None:
    from askgraph.workbench.client import open_writer
    from askgraph.workbench.project import Project

    with Project.open(path) as opened:
        if number not in [change.seq for change, _ in opened.answers.naming.rules]:
            raise LabelError(f"no rule {number}; askgraph sources lists the numbers of all")
    with open_writer(path) as writer:
        undone = writer.undo_change(who, number)
    say(f"taken back: {undone}")


@app.command()
def sources(project: ProjectOption = None, json: JsonOption = False) -> None:
    """Show where suggestions come from: models and rules, how many items each speaks of, how often it is right, and who errs.

    Precision is measured against answers that people gave one by one; on the page it is part of Progress.

    Example: askgraph sources
    """
    path = find_project(project)
    _print_sources(path, None, json)


def _print_sources(path: Path, only: str | None = None, json: bool = False) -> None:
    """Print what is known of the sources of suggestions, or of one."""
    from askgraph.cli.computing import compute

    found = compute(path, "sources")
    rows = [one for one in found["sources"] if only in (None, one["name"])]
    if json:
        print_json(found)
    elif not rows:
        say('nothing suggests labels yet; askgraph rule "prize|winner" spam or askgraph suggest FILE does')
    else:
        print_table([_source_row(one) for one in rows])
        if only is None:
            _print_disputed(found)


def _source_row(one: dict[str, Any]) -> dict[str, Any]:
    """Return what the table of sources says of one."""
    rule, about = one["rule"], one["about"]
    right = f"{one['agreed']} of {one['compared']}"
    return {
        "rule": rule and rule["number"],
        "source": rule["text"] if rule else one["name"],
        "suggests": rule and rule["class"],
        "items": f"{one['guesses']:,} ({one['share']:.0%})",
        "agree with people": f"{right} ({one['low']:.0%} to {one['high']:.0%})"
        if one["compared"]
        else "none compared yet",
        "about right": None if about is None else f"{about:.0%}",
    }


def _print_disputed(found: dict[str, Any]) -> None:
    """Print which sources contradict each other, and on which items one disagrees with people or with another."""
    names = {one["name"]: (one["rule"] or {}).get("text", one["name"]) for one in found["sources"]}
    for pair in found["pairs"]:
        one, other = (names[name] for name in pair["sources"])
        say(
            f"{one} and {other}: {pair['differ']:,} of {pair['both']:,} items that both speak of are suggested otherwise"
        )
    if found["items"]:
        print_table(
            [
                {
                    "item": one["item"],
                    "people": one["label"],
                    "suggested": "; ".join(f"{names[said['source']]}: {said['label']}" for said in one["guesses"]),
                    "title": one["title"],
                }
                for one in found["items"][:MAX_DISPUTED]
            ]
        )
        say(
            f"{found['against']:,} items where a suggestion is not what people say, {found['between']:,} where suggestions differ"
        )


@app.command()
def find(
    name: Annotated[
        str | None,
        typer.Argument(
            help='The class to find all items of; "at least good" where classes have an order; "at least 250", highest or lowest '
            "of numbers. Leave it out to see how far it is."
        ),
    ] = None,
    like: Annotated[
        str | None,
        typer.Option(
            help="Words that describe it, such as a sentence: the items most like them are asked for until some are found."
        ),
    ] = None,
    stop: Annotated[bool, typer.Option("--stop", help="Ask for items of every class again.")] = False,
    certify: Annotated[
        float | None,
        typer.Option(
            help="Prove that this share of it is found, such as 0.95, with 95% confidence: a random sample of what is left comes "
            "next. How many items that is is told first; leave it out to see that for 80, 90 and 95%."
        ),
    ] = None,
    project: ProjectOption = None,
    who: WhoOption = None,
    json: JsonOption = False,
) -> None:
    """Find all items of a class: questions are the items most likely in it, and it says how many are left.

    It is a change like those of classes, which their history lists and their undo takes back; so is a sample that certifies it.

    Examples:

    askgraph find relevant

    askgraph find relevant --like "a trial of a drug against migraine"

    askgraph find

    askgraph find --certify 0.95
    """
    from askgraph.kinds.recall import Left
    from askgraph.workbench.client import open_writer
    from askgraph.workbench.project import Project
    from askgraph.workbench.report import certifying, search
    from askgraph.workbench.sampling import check_share

    path = find_project(project)
    if like is not None and (name is None or stop):
        raise SettingError(f"--like {like!r}: name the class to find too, as in askgraph find CLASS --like {like!r}")
    if certify is not None and (like is not None or stop):
        raise SettingError("--certify comes after a search: leave --like and --stop out")
    if certify is not None:
        check_share(str(certify))
    if name is not None or stop:
        with Project.open(path) as opened:
            sought = (None, None) if stop else opened.answers.form.read_sought(name or "")
            begun = opened.answers.naming.sought == sought
        if not (begun and certify is not None):
            with open_writer(path) as writer:
                writer.change(who or user_name(), "find", *sought, like)
    if certify is not None:
        with Project.open(path) as opened:
            offered = certifying(opened) if opened.model.sought is not None else None
        with open_writer(path) as writer:
            writer.change(who or user_name(), "certify", None, str(certify))
        if offered and not json:
            say(_offered(offered))
    with Project.open(path) as opened:
        said, by_class = None if opened.model.sought is None else search(opened)["find"], opened.answers.kind.by_class
    left = Left(*(said[name] for name in Left._fields)) if said and "found" in said else None
    if json:
        sought_now = {name: said[name] for name in ("class", "text", "like")} if said else {"class": None}
        certified = {name: said[name] for name in ("certificate", "offers")} if said and left else {}
        print_json({**sought_now, **(left._asdict() if left else {}), **certified})
    elif said is None:
        how = "NAME seeks all items of a class" if by_class else "highest, lowest or NUMBER seeks such items"
        say(f"nothing is sought: every item may be asked for; askgraph find {how}")
    else:
        say(f"{said['text']}: {left}" if left else f"{said['text']}: asked for first; they are never all found")
        if said["like"]:
            say(_like(said))
        if left:
            say("\n".join(_certified(said)))


def _certified(said: dict[str, Any]) -> list[str]:
    """Return sentences on what a random sample proves, or on what one would take."""
    from askgraph.kinds.certificate import Certificate

    lines = [str(Certificate(**said["certificate"]))] if said["certificate"] else []
    if said["lost"]:
        lines = ["items were removed since the random sample was drawn, so it proves nothing anymore; draw another one"]
    if said["certificate"] and said["certificate"]["share"] is None:
        return [*lines, "they are asked for next: askgraph ask, or the page"]
    return (
        [*lines, f"{_offered(said)}; askgraph find --certify 0.95 draws it"] if said["offers"] and not lines else lines
    )


def _offered(said: dict[str, Any]) -> str:
    """Return how many items to read for each share that a random sample may certify, and what a few hits leave of it."""
    from askgraph.kinds.certificate import percent

    sizes = [f"{one['read']:,} for {one['share']:.0%}" for one in said["offers"]]
    hits = [" or ".join(percent(share) for share in one["proves"][1:]) for one in said["offers"] if one["proves"][1:]]
    most = [
        f"; from {one['share']:.0%} on that is most of what is left: rather read all of it"
        for one in said["offers"]
        if one["most"]
    ]
    found = f"; with one or three of them in the class, that proves {', '.join(hits)}" if hits else ""
    begin = f"to certify with {said['confidence']:.0%} confidence how much is found, read a random sample of the"
    return f"{begin} {said['rest']:,} items left: {', '.join(sizes)}{''.join(most[:1])}{found}"


@app.command()
def skip(
    id: Annotated[str, typer.Argument(help="The item.")],
    why: Annotated[str, typer.Option(help="later (ask again), cannot (tell) or invalid (not an item).")] = "later",
    project: ProjectOption = None,
    who: WhoOption = None,
) -> None:
    """Set an item aside: to be asked later, impossible to tell, or not a valid item.

    Example: askgraph skip 17 --why cannot
    """
    if why not in ("later", "cannot", "invalid"):
        raise SettingError(f"--why {why}: choose later, cannot or invalid")
    _save(project, who, [(id, why, None)])


@app.command()
def undo(
    project: ProjectOption = None,
    who: WhoOption = None,
    since: Annotated[
        str | None,
        typer.Option(
            help="Take back all answers since then: 14:00 of today, or with the date, such as '2026-11-19 14:00'."
        ),
    ] = None,
    back: Annotated[bool, typer.Option("--back", help="Let the answers count again that --since took back.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Take back your last answer, or all that you gave in one step; or all that a person gave since a time.

    All lines stay in the history, and what --since took back, --back gives back.

    Examples:

    askgraph undo

    askgraph undo --who emil --since "2026-11-02 14:00"
    """
    from askgraph.workbench.client import open_writer
    from askgraph.workbench.forms import in_words

    who = who or user_name()
    if since is not None or back:
        if since is not None and back:
            raise SettingError("--since takes answers back and --back gives them back: leave one of them out")
        _give_back(project, who) if since is None else _undo_since(project, who, since, yes)
        return
    with open_writer(find_project(project)) as writer:
        undone = writer.undo(who)
    if undone is None:
        say("there is nothing to take back")
    else:
        others = f", and {counted(undone.together - 1, 'other')} of the same step" if undone.together > 1 else ""
        what = undone.kind if undone.label is None else in_words(undone.label)
        say(f"taken back: {undone.item} {what}{others}")


def _undo_since(project: Path | None, who: str, since: str, yes: bool) -> None:
    """Say how many answers of a person would be taken back, ask, and take them back."""
    from askgraph.workbench.client import open_writer
    from askgraph.workbench.moments import in_local_time, read_moment
    from askgraph.workbench.names import check_name
    from askgraph.workbench.project import Project

    path, moment, who = find_project(project), read_moment(since), check_name(who, "person")
    with Project.open(path) as opened:
        found = opened.answers.since(who, moment)
    if not found:
        say(f"{who} gave no answer since {in_local_time(moment)} that could be taken back")
        return
    items = counted(len({answer.item for answer in found}), "item")
    say(f"{who} gave {counted(len(found), 'answer')} to {items} since {in_local_time(moment)}")
    if not (yes or typer.confirm("Take them back?")):
        say("nothing was taken back")
        return
    with open_writer(path) as writer:
        taken = writer.undo_since(user_name(), who, moment)
    say(
        f"taken back: {counted(taken, 'answer')} of {who}; askgraph undo --who {shlex.quote(who)} --back gives them back"
    )


def _give_back(project: Path | None, who: str) -> None:
    """Let the answers of a person count again that were last taken back since a time."""
    from askgraph.workbench.client import open_writer

    with open_writer(find_project(project)) as writer:
        given = writer.give_back(user_name(), who)
    say(f"given back: {counted(given, 'answer')} of {who}" if given else f"nothing of {who} was taken back by --since")


def _save(project: Path | None, who: str | None, said: list[Any], new: bool = False) -> None:
    """Save answers of one person; labels that are text are read as cells of a table are."""
    with _opened(project) as opened:
        said = [(item, kind, _read_label(opened, one) if isinstance(one, str) else one) for item, kind, one in said]
        doubt = _doubt(opened, said)
    _save_all(project, {who or user_name(): said}, new)
    if doubt:
        say(doubt)


def _save_all(project: Path | None, said: dict[str, list[Any]], new: bool) -> None:
    """Save the answers of some people, after all of them are checked; ``new`` allows new classes."""
    from askgraph.workbench.client import open_writer

    path, everything = find_project(project), [one for given in said.values() for one in given]
    if not new:
        check_classes(path, [label for _, _, label in everything])
    if len(said) > 1:
        with _opened(project) as opened:
            opened.log.check(everything)
    with open_writer(path) as writer:
        saved = [(writer.say(name, given), name) for name, given in said.items()]
    alone = len(saved) == 1
    say("saved: " + (counted(saved[0][0], "answer") if alone else ", ".join(f"{n} of {name}" for n, name in saved)))


def _read_label(opened: Any, text: str) -> Any:
    """Return what a person types as an answer."""
    if (label := opened.log.read(text)) is None:
        raise LabelError(opened.answers.form.refusal(text))
    return label


def _doubt(opened: Any, said: list[Any]) -> str | None:
    """Return the sentence that asks whether a single number is right that lies far from what is expected, or None."""
    from askgraph.workbench.report import expected_otherwise

    if len(said) != 1 or not isinstance(number := said[0][2], float):
        return None
    ends = expected_otherwise(opened.predictions(), opened.items.place(said[0][0]), number)
    if ends is None:
        return None
    low, high = as_wide(*ends)
    unit = getattr(opened.answers.kind, "unit", None)
    said_so = " ".join([f"{number:,.15g}", *([unit] if unit else [])])
    return f"you said {said_so}, expected {low:,.12g} to {high:,.12g}: sure? askgraph undo takes it back"


def _print_status(said: dict[str, Any], error: str | None) -> None:
    many = f" ({said['together']:,} of them many at once)" if said["together"] else ""
    say(f"{said['project']}: {said['labels']:,} of {said['items']:,} items labeled{many}, {said['aside']:,} set aside")
    if said["classes"]:
        print_table([_class_row(one) for one in said["classes"]])
    if error is not None:
        say(f"expected error: {error}")
    if checks := said["checks"]:
        say(_checked(checks))
    if sought := said["find"]:
        say(_sought(sought))
    if needed := said["needed"]:
        unit = said["error"]["unit"]
        goal = (
            f"{1 - needed['target']:.0%} right"
            if unit is None
            else f"an error of {needed['target']:,.12g} {unit}".strip()
        )
        say(f"{_in_words(needed, said['left'])} for {goal}")
    for line in (said["stop"], *said["advice"]):
        if line:
            say(line)
    if said["serving"]:
        say("a server has it open")


def _class_row(one: dict[str, Any]) -> dict[str, Any]:
    """Return what the table of classes says of a class."""
    row = {"class": one["name"], "labeled": one["count"], "predicted": one["predicted"]}
    checks, f1 = one["checks"], one["f1"]
    right = f"{checks['right']} of {checks['count']} ({checks['low']:.1%} to {checks['high']:.1%})" if checks else None
    return row | {"expected F1": None if f1 is None else f"{f1:.2f}", "spot checks right": right}


def _checked(checks: dict[str, Any]) -> str:
    """Return how many items drawn at random are predicted right; of numbers, how many there are."""
    if checks["right"] is None:
        return f"spot checks: {checks['count']} items drawn at random"
    return (
        f"spot checks: {checks['right']} of {checks['count']} items drawn at random are predicted right by all other answers, "
        f"{checks['before']} were before they were answered"
    )


def _sought(said: dict[str, Any]) -> str:
    """Return how far a search is; nobody knows how many of the highest are left."""
    from askgraph.kinds.recall import Left

    like = f"\n{_like(said)}" if said["like"] else ""
    if "found" not in said:
        return f"finding the {said['text']}: the likeliest are asked for{like}"
    left = Left(*(said[name] for name in Left._fields))
    lines = [f"finding all of {said['text']!r}: {left}{like}", *_certified(said)]
    return "\n".join(lines)


def _like(said: dict[str, Any]) -> str:
    """Return by which words something is sought."""
    return f"until some are known, the items most like {said['like']!r} are asked for"


def _in_words(needed: dict[str, Any], left: int) -> str:
    """Return how many more labels are needed; where that may be all items that are left, say so."""
    if needed["high"] < left:
        return f"about {needed['low']:,} to {needed['high']:,} more labels"
    all_left = f"label all {left:,} that are left" if left > 1 else "label the one that is left"
    return f"about {needed['low']:,} more labels, or {all_left}," if needed["low"] < left else all_left
