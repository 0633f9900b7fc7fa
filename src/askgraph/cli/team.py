"""The commands of a team: classes, guidelines, roles, review, and how far people agree."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated, Any

import typer

from askgraph.cli.options import JsonOption, ProjectOption, WhoOption, find_project, say, split_names, user_name
from askgraph.cli.panels import Commands
from askgraph.cli.printing import print_json, print_table
from askgraph.errors import FileError, LabelError
from askgraph.support.wording import brief, counted

app: typer.Typer = typer.Typer(add_completion=False, rich_markup_mode=None)
classes: typer.Typer = typer.Typer(cls=Commands, add_completion=False, rich_markup_mode=None)
app.add_typer(classes, name="classes")

ClassArgument = Annotated[str, typer.Argument(metavar="CLASS", help="The class.")]


@classes.callback(invoke_without_command=True)
def show_classes(context: typer.Context, project: ProjectOption = None, json: JsonOption = False) -> None:
    """Show the classes with their keys, labels and descriptions; rename, merge, describe, order them, give them keys.

    Every change is a line in the log, and can be taken back.

    Examples:

    askgraph classes

    askgraph classes merge Sprots Sports
    """
    if context.invoked_subcommand is not None:
        return
    from askgraph.workbench.project import Project
    from askgraph.workbench.report import classes as report

    with Project.open(find_project(project)) as opened:
        rows, by_class = report(opened), opened.answers.kind.by_class
    if json:
        print_json(rows)
    elif not by_class:
        say("answers are numbers: there are no classes")
    elif not rows:
        say("no classes yet: the first answer makes one, or askgraph classes add NAME")
    else:
        columns = {"class": "name", "key": "key", "labels": "count", "description": "description"}
        print_table([{title: row[name] for title, name in columns.items()} for row in rows])


@classes.command()
def rename(
    name: ClassArgument,
    to: Annotated[str, typer.Argument(help="Its new name.")],
    project: ProjectOption = None,
    who: WhoOption = None,
) -> None:
    """Give a class another name; all its labels follow.

    Example: askgraph classes rename Sprots Sports
    """
    _change(project, who, "rename", name, to)
    say(f"{name} is called {to} now")


@classes.command()
def merge(
    name: ClassArgument,
    into: Annotated[str, typer.Argument(help="The class that takes its labels.")],
    project: ProjectOption = None,
    who: WhoOption = None,
) -> None:
    """Make one class of two: all labels of the first count for the second.

    Example: askgraph classes merge Sprots Sports
    """
    _change(project, who, "merge", name, into)
    say(f"{name} is part of {into} now")


@classes.command()
def describe(
    name: ClassArgument,
    sentence: Annotated[str, typer.Argument(help="One sentence, shown at the button of the class.")],
    project: ProjectOption = None,
    who: WhoOption = None,
) -> None:
    """Say in a sentence what belongs to a class.

    Example: askgraph classes describe Sports "Matches, athletes and clubs; not the business of clubs."
    """
    _change(project, who, "describe", name, sentence)
    say(f"{name}: {sentence}")


@classes.command()
def key(
    name: ClassArgument,
    key: Annotated[str, typer.Argument(help='A digit or letter that the page does not use itself; "" for none.')],
    project: ProjectOption = None,
    who: WhoOption = None,
) -> None:
    """Give a class a key; the class that had it gets another one.

    Example: askgraph classes key Sports o
    """
    _change(project, who, "key", name, key)
    say(f"{name}: key {key or 'as it comes'}")


@classes.command()
def order(
    names: Annotated[str, typer.Argument(help="All classes, separated by commas, in the order wanted.")],
    project: ProjectOption = None,
    who: WhoOption = None,
) -> None:
    """Put the classes in an order, for buttons, keys and tables.

    Example: askgraph classes order Sports,Business
    """
    _change(project, who, "order", None, json_module.dumps(split_names(names)))
    say(f"classes: {', '.join(split_names(names) or [])}")


@classes.command()
def add(name: ClassArgument, project: ProjectOption = None, who: WhoOption = None) -> None:
    """Declare a class before its first label.

    Example: askgraph classes add Science
    """
    _change(project, who, "add", name, None)
    say(f"{name} is a class now")


@classes.command()
def undo(
    number: Annotated[
        int | None, typer.Argument(help="The change, by its number in the history [default: your last one].")
    ] = None,
    project: ProjectOption = None,
    who: WhoOption = None,
) -> None:
    """Take back a change of the classes; it stays in the history.

    Example: askgraph classes undo
    """
    from askgraph.workbench.client import open_writer

    with open_writer(find_project(project)) as writer:
        undone = writer.undo_change(who or user_name(), number)
    say(f"taken back: {undone}" if undone else "there is nothing to take back")


@classes.command()
def history(project: ProjectOption = None, json: JsonOption = False) -> None:
    """Show who changed which class and when.

    Example: askgraph classes history
    """
    from askgraph.workbench.project import Project
    from askgraph.workbench.report import class_changes

    with Project.open(find_project(project)) as opened:
        rows = class_changes(opened)
    if json:
        print_json(rows)
    elif rows:
        columns = {"number": "seq", "at": "at", "who": "who", "change": "what", "undone": "undone"}
        print_table([{title: row[name] for title, name in columns.items()} for row in rows])
    else:
        say("no class was changed yet")


@app.command()
def guidelines(
    file: Annotated[Path | None, typer.Argument(help="A Markdown file, which becomes the next version.")] = None,
    version: Annotated[int | None, typer.Option(help="Print this version instead of the last.", min=1)] = None,
    history: Annotated[
        bool, typer.Option("--history", help="List the versions: who saved which when, and answers given under it.")
    ] = False,
    project: ProjectOption = None,
    who: WhoOption = None,
) -> None:
    """Print the guidelines that the page shows, or replace them by a Markdown file; versions before stay in the log.

    Examples:

    askgraph guidelines rules.md

    askgraph guidelines
    """
    from askgraph.workbench.client import open_writer
    from askgraph.workbench.figures import guideline_versions
    from askgraph.workbench.project import Project

    if file is not None:
        text = _read_text(file)
        with open_writer(find_project(project)) as writer:
            saved = writer.write_guidelines(who or user_name(), text)
        with Project.open(find_project(project)) as opened:
            before = opened.answers.guidelines[: saved - 1]
        replaced = (
            f", in place of version {saved - 1} by {before[-1].who}, which --version {saved - 1} prints"
            if before
            else ""
        )
        say(f"saved: version {saved} of the guidelines{replaced}")
        return
    with Project.open(find_project(project)) as opened:
        versions, given = opened.answers.guidelines, guideline_versions(opened.answers)
    if history:
        print_table([{name: one[name] for name in ("version", "at", "who", "answers")} for one in given])
        return
    if version is not None and version > len(versions):
        raise FileError(f"no version {version} of the guidelines; there are {len(versions)}")
    if versions:
        say((versions[(version or len(versions)) - 1].value or "").rstrip())
    else:
        say("no guidelines yet; write them as Markdown, and save them with: askgraph guidelines FILE")


@app.command()
def role(
    name: Annotated[str | None, typer.Argument(help="The person [default: list who has a role].")] = None,
    role: Annotated[str | None, typer.Argument(metavar="[lead|labeler|none]", help="The role.")] = None,
    ask: Annotated[bool, typer.Option("--ask", help="Type the password instead of getting one.")] = False,
    project: ProjectOption = None,
    json: JsonOption = False,
) -> None:
    """Say who leads and who labels; each gets a password of their own for a served page, which is shown once.

    A lead changes classes, guidelines and targets, and the word of a lead decides where people differ. Once somebody has a role,
    people log in with their names. The same command gives a new password in place of one that was lost.

    Examples:

    askgraph role ann lead

    askgraph role emil labeler

    askgraph role
    """
    from askgraph.workbench.client import open_writer
    from askgraph.workbench.passwords import check_password, new_password
    from askgraph.workbench.roles import ROLES

    path = find_project(project)
    if name is None:
        _show_roles(path, json)
        return
    if role not in (*ROLES, "none"):
        came = "" if role is None else f" is not {role!r}"
        raise LabelError(f"the role of {name}{came}: give lead, labeler or none, as in askgraph role {name} labeler")
    if role == "none":
        with open_writer(path) as writer:
            gone = writer.give_role(user_name(), name, None, None)
        say(f"{gone} has no role anymore, and is logged out; answers that were given stand as they are")
        return
    password = typer.prompt("Password", hide_input=True, confirmation_prompt=True) if ask else new_password()
    check_password(password)
    with open_writer(path) as writer:
        given = writer.give_role(user_name(), name, role, password)
    if json:
        print_json({"name": given, "role": role, **({} if ask else {"password": password})})
        return
    say(
        f"{given} is a {role} now" + (", with this password" if ask else f". The password, shown this once: {password}")
    )
    say("a served page lets people in by name and password from now on: askgraph serve")


def _show_roles(path: Path, json: bool) -> None:
    """List who has a role, and whether they can log in on this machine."""
    from askgraph.workbench.passwords import Passwords
    from askgraph.workbench.project import Project

    with Project.open(path) as opened:
        roles, known = opened.answers.roles, Passwords(path).people
        rows = [{"person": who, "role": role, "password": who in known} for who, role in roles.items()]
    if json:
        print_json(rows)
    elif rows:
        print_table([{**row, "password": "set" if row["password"] else "none on this machine"} for row in rows])
    else:
        say("nobody has a role, so everybody may do everything; askgraph role ann lead gives one")


@app.command()
def review(
    id: Annotated[str | None, typer.Argument(help="An item that you settle, with its label.")] = None,
    label: Annotated[str | None, typer.Argument(help="The label that you give it on this second look.")] = None,
    n: Annotated[int, typer.Option("-n", help="Number of items, and of suggestions.", min=1)] = 20,
    project: ProjectOption = None,
    who: WhoOption = None,
    json: JsonOption = False,
) -> None:
    """Show what is worth a second look: disagreements, labels and suggestions that look wrong, "cannot tell", least sure.

    All disagreements stand first, the farthest apart at the top, until somebody answers them here: also those of two against one.
    On the page, the view Review goes through the same items with keys.

    Examples:

    askgraph review -n 50

    askgraph review 17 setosa
    """
    if id is not None:
        _settle(project, who, id, label)
        return
    from askgraph.cli.computing import compute

    said = compute(find_project(project), "review", n=n, who=who or user_name())
    rows, guesses, lines = said["items"], said["suggestions"], said["sources"]
    if json:
        print_json({"items": rows, "suggestions": guesses})
        return
    if rows:
        print_table([_reviewed(row, texts) for row, texts in zip(rows, said["texts"], strict=True)])
        if differ := said["disagree"]:
            say(f"people disagree on {counted(differ, 'item')}; askgraph review ITEM LABEL settles one")
    else:
        say("nothing is worth a second look yet")
    if guesses:
        print_table([{**row, "chance": f"{row['chance']:.2f}"} for row in guesses])
    elif lines:
        say("\n".join(lines))


@app.command()
def people(project: ProjectOption = None, json: JsonOption = False) -> None:
    """Show how far people agree, and how often each of them errs, by class, or how far off their numbers are.

    This is never on the page.

    Example: askgraph people
    """
    from askgraph.workbench.project import Project
    from askgraph.workbench.report import agreement, care

    with Project.open(find_project(project)) as opened:
        agreed, cared, kind = agreement(opened), care(opened), opened.answers.kind
    if json:
        print_json({"agreement": agreed, "people": cared})
        return
    if not cared:
        say("nobody has answered yet")
        return
    unit = getattr(kind, "unit", None) or ""
    print_table([_careful(row, unit) for row in cared])
    heads = WORK | (LED if any(row["role"] or row["decided"] for row in cared) else {})
    print_table([{head: row.get(name) for head, name in heads.items()} for row in cared])
    say(ERRS if kind.by_class else OFF)
    if not agreed["pairs"]:
        say("agreement: no item was labeled by two people yet; askgraph init --overlap 2 asks for that")
        return
    say(f"agreement of all: Krippendorff's alpha {_range(agreed['alpha'])}{_alike(agreed['agreed'], unit)}")
    if agreed["classes"]:
        print_table([{"class": one["class"], "alpha": _range(one["alpha"])} for one in agreed["classes"]])
    print_table([_pair(one, kind.by_class, unit) for one in agreed["pairs"]])


WORK = {
    "person": "who",
    "one by one": "single",
    "many at once": "many",
    "exact copies": "copies",
    "spot checks": "checks",
    "first day": "first",
    "last day": "last",
}
LED = {"role": "role", "decided as lead": "decided"}
ERRS = "errs: estimated from items that several people labeled and from spot checks; 5 % before there are any"
OFF = (
    "above the others: half of the numbers are higher than others say by this, or more; spread: two of three numbers differ from "
    "that by less"
)
WHY = {
    "disagree": "people disagree",
    "return": "you marked it",
    "suspect": "other labels contradict",
    "cannot": "somebody could not tell",
    "unsure": "least sure",
}


def _reviewed(row: dict[str, Any], texts: dict[str, Any]) -> dict[str, Any]:
    return {
        "item": row["item"],
        "why": WHY[row["why"]],
        "answers": texts["answers"],
        "comments": "; ".join(f"{one['who']}: {one['text']}" for one in row["comments"]) or None,
        "rather": texts["instead"],
        "title": row["title"],
    }


def _careful(row: dict[str, Any], unit: str) -> dict[str, Any]:
    shown = {"person": row["who"], "answers": row["answers"], "compared": row["compared"]}
    if "spread" in row:
        return shown | _off(row, unit)
    steps = {} if row.get("bias") is None else {"steps above the truth": f"{row['bias']:+.2f}"}
    by_class = {f"of {name}": _slips(found) for name, found in row["classes"].items()}
    return shown | {"errs": f"{row['errs']:.0%} ({row['low']:.0%} to {row['high']:.0%})"} | steps | by_class


def _off(row: dict[str, Any], unit: str) -> dict[str, Any]:
    """Return the columns that say how far the numbers of a person are off."""
    if row["bias"] is None:
        return {"above the others": None, "spread": None}
    bias = f"{brief(row['bias'], '+')} {unit}".strip()
    if row["spread"] is None:
        return {"above the others": bias, "spread": None}
    return {
        "above the others": f"{bias} ({brief(row['low'], '+')} to {brief(row['high'], '+')})",
        "spread": f"{brief(row['spread'])} {unit}".strip(),
    }


def _slips(found: float | dict[str, float]) -> str:
    """Return how often a person errs in a class."""
    if isinstance(found, dict):
        return f"{found['misses']:.0%} missed, {found['false_alarms']:.0%} of others"
    return f"{found:.0%}"


def _pair(one: dict[str, Any], by_class: bool, unit: str) -> dict[str, Any]:
    """Return the line on two people."""
    people = {"people": " and ".join(one["people"])}
    if not by_class:
        return people | {"typical difference": f"{brief(one['apart'])} {unit}".strip(), "items": one["items"]}
    steps = {} if one["apart"] is None else {"steps apart": f"{one['apart']:.2f}"}
    return people | {"Cohen's kappa": _range(one["kappa"])} | steps


def _alike(agreed: dict[str, Any] | None, unit: str) -> str:
    """Return how many pairs of labels agree, and how far they are apart, as far as that says something."""
    if agreed is None:
        return ""
    share = [] if agreed["share"] is None else [f"{agreed['share']:.1%} of pairs of labels agree"]
    apart = [] if agreed["apart"] is None else [f"pairs are {agreed['apart']:.3g} {unit or 'steps'} apart"]
    return "".join(f"; {one}" for one in [*share, *apart])


def _range(found: dict[str, Any] | None) -> str:
    if found is None:
        return "–"
    return f"{found['value']:.2f} ({found['low']:.2f} to {found['high']:.2f}, {counted(found['items'], 'item')})"


def _settle(project: Path | None, who: str | None, id: str, label: str | None) -> None:
    """Save an answer on a second look."""
    from askgraph.workbench.client import open_writer
    from askgraph.workbench.project import Project

    path = find_project(project)
    with Project.open(path) as opened:
        given = None if label is None else opened.log.read(label)
        if given is None:
            raise LabelError(f"item {id!r} is settled by a label: askgraph review {id} LABEL")
        opened.log.check_classes([given])
    with open_writer(path) as writer:
        writer.settle(who or user_name(), id, given)
    say(f"settled: {id} {label}")


def _change(project: Path | None, who: str | None, kind: Any, name: str | None, value: str | None) -> None:
    from askgraph.workbench.client import open_writer

    with open_writer(find_project(project)) as writer:
        writer.change(who or user_name(), kind, name, value)


def _read_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise FileError(f"{file}: cannot be read ({error.strerror}); name a Markdown file") from None
    except UnicodeDecodeError:
        raise FileError(f"{file}: is not text in UTF-8; save it as such, and try again") from None
