"""The commands of what people note on items, and of the second reading: comments, marks, reasons."""

from __future__ import annotations

import json as json_module
from typing import Annotated, Any

import typer

from askgraph.cli.options import JsonOption, ProjectOption, WhoOption, find_project, say, split_names, user_name
from askgraph.cli.printing import print_json, print_table
from askgraph.cli.team import ClassArgument, classes
from askgraph.errors import SettingError
from askgraph.support.wording import counted

app: typer.Typer = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def note(
    id: Annotated[str | None, typer.Argument(help="The item.")] = None,
    text: Annotated[str | None, typer.Argument(help="A comment, of at most 2000 characters.")] = None,
    reasons: Annotated[
        str | None,
        typer.Option(help='Reasons for your answer to the item, separated by commas; "" takes them back.'),
    ] = None,
    undo: Annotated[int | None, typer.Option(help="Take back your comment of this number.", min=1)] = None,
    project: ProjectOption = None,
    who: WhoOption = None,
    json: JsonOption = False,
) -> None:
    """Comment on an item, or show the comments on one or on all; say why you answered as you did.

    A comment is not an answer: it changes nothing that is predicted. Everybody sees it with its author, who can take it back.

    Examples:

    askgraph note 17 "The second paragraph speaks of another study."

    askgraph note

    askgraph note 17 --reasons "wrong population,wrong design"
    """
    from askgraph.workbench.client import open_writer

    me, path = who or user_name(), find_project(project)
    if undo is not None:
        if id is not None or reasons is not None:
            raise SettingError("--undo takes back a comment by its number; leave out the item")
        with open_writer(path) as writer:
            writer.take_comment_back(me, undo)
        say(f"taken back: comment {undo}")
    elif text is not None or reasons is not None:
        if id is None:
            raise SettingError("reasons are for an answer to an item: name the item")
        with open_writer(path) as writer:
            if text is not None:
                writer.comment(me, id, text)
            if reasons is not None:
                writer.give_reasons(me, id, split_names(reasons) or [])
        say(f"saved: {' and '.join(['comment'] * (text is not None) + ['reasons'] * (reasons is not None))} on {id}")
    else:
        _show_comments(project, id, json)


def _show_comments(project: Any, id: str | None, json: bool) -> None:
    from askgraph.workbench.project import Project
    from askgraph.workbench.report import comments

    with Project.open(find_project(project)) as opened:
        places = opened.answers.notes.commented if id is None else [opened.items.place(id)]
        rows = [
            {"number": one["seq"], "item": item.id, "who": one["who"], "at": one["at"], "comment": one["text"]}
            for item in opened.store.items(places)
            for one in comments(opened, item.place)
        ]
    if json:
        print_json(rows)
    elif rows:
        print_table(rows)
    else:
        say('no comments yet; askgraph note ITEM "text" writes one')


@app.command()
def mark(
    id: Annotated[str | None, typer.Argument(help="The item.")] = None,
    off: Annotated[bool, typer.Option("--off", help="Remove the mark.")] = False,
    project: ProjectOption = None,
    who: WhoOption = None,
    json: JsonOption = False,
) -> None:
    """Mark an item to come back to it, remove the mark, or list the items that you marked.

    The mark is yours alone; the item can be answered as any other.

    Examples:

    askgraph mark 17

    askgraph mark
    """
    from askgraph.workbench.client import open_writer
    from askgraph.workbench.project import Project
    from askgraph.workbench.report import item_line

    me, path = who or user_name(), find_project(project)
    if id is not None:
        with open_writer(path) as writer:
            writer.mark(me, id, not off)
        say(f"{id} is {'not ' * off}marked to come back to")
        return
    with Project.open(path) as opened:
        items = opened.store.items(opened.answers.notes.marked(me))
        rows = [{name: item_line(opened, item)[name] for name in ("item", "title")} for item in items]
    if json:
        print_json(rows)
    elif rows:
        print_table(rows)
    else:
        say("you marked no item to come back to; askgraph mark ITEM marks one")


@app.command()
def second(
    share: Annotated[
        str | None, typer.Argument(help="The share of answered items to be read twice, such as 10%; 0 ends it.")
    ] = None,
    project: ProjectOption = None,
    who: WhoOption = None,
    json: JsonOption = False,
) -> None:
    """Let another person read a random share of the answered items, without seeing the first answer; show how far both agree.

    The items are drawn by the seed of the project. Whoever answers alone is never asked twice.

    Examples:

    askgraph second 10%

    askgraph second
    """
    from askgraph.workbench.client import open_writer
    from askgraph.workbench.figures import second_readings
    from askgraph.workbench.project import Project

    path = find_project(project)
    if share is not None:
        with open_writer(path) as writer:
            writer.change(who or user_name(), "second", None, share)
    with Project.open(path) as opened:
        found, unit = second_readings(opened), getattr(opened.answers.kind, "unit", None)
    if json:
        print_json(found)
    else:
        nothing = "no item is read twice; askgraph second 10% lets another person read a share"
        say(nothing if found is None else _read_twice(found, unit))


def _read_twice(found: dict[str, Any], unit: str | None) -> str:
    """Return the sentences on the second reading."""
    said = [
        f"second reading: {found['share']:.3g} of the answered items; {found['read']:,} read, {found['left']:,} to be read"
    ]
    if found["read"] and found["same"] is not None:
        said.append(f"{found['same']:,} of {counted(found['read'], 'pair')} of answers agree")
    if found["apart"] is not None:
        said.append(f"two answers are {found['apart']:.3g} {unit or 'steps'} apart")
    if alpha := found["alpha"]:
        ends = f"{alpha['low']:.2f} to {alpha['high']:.2f}, {counted(alpha['items'], 'item')}"
        said.append(f"Krippendorff's alpha {alpha['value']:.2f} ({ends})")
    return "\n".join(said)


@classes.command()
def reasons(
    name: ClassArgument,
    names: Annotated[
        str | None, typer.Argument(metavar="REASONS", help='All its reasons, separated by commas; "" for none.')
    ] = None,
    project: ProjectOption = None,
    who: WhoOption = None,
) -> None:
    """Say which reasons an answer of a class can have; the page offers them after such an answer. Without any, count them.

    Examples:

    askgraph classes reasons "not relevant" "wrong population,wrong design"
    """
    from askgraph.workbench.client import open_writer
    from askgraph.workbench.figures import reasons as counts
    from askgraph.workbench.project import Project

    path = find_project(project)
    if names is not None:
        with open_writer(path) as writer:
            listed = json_module.dumps(split_names(names) or [], ensure_ascii=False)
            writer.change(who or user_name(), "reasons", name, listed)
    with Project.open(path) as opened:
        rows = [one for one in counts(opened.answers) if one["class"] == opened.answers.naming.meant(name)]
    if rows:
        print_table([{"reason": one["reason"], "items": one["count"]} for one in rows])
    else:
        say(f"{name} has no reasons")
