"""A labeling card for notebooks: the question of a project, with the keys of the page, saved to the same project file."""

from __future__ import annotations

import base64
import mimetypes
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from askgraph.errors import AskgraphError, MissingExtraError, SettingError
from askgraph.plan import Question
from askgraph.workbench import report
from askgraph.workbench.answers import Answer
from askgraph.workbench.forms import count_classes
from askgraph.workbench.names import check_name
from askgraph.workbench.project import Project
from askgraph.workbench.store import Item

LARGEST_IMAGE = 5_000_000  # bytes that go to the browser with a question


def question(project: Project, who: str, place: int | None, note: str | None = None) -> dict[str, Any]:
    """Return what the card shows: the item at this place, or that nothing is left."""
    answers, given = project.answers, count_classes(project.answers.labels.values())
    keys, last = answers.naming.keys(answers.classes), answers.last(who)
    item = None if place is None else project.items.item(place)
    return {
        "project": project.about["project"],
        "item": None if item is None else _shown(project, item),
        "classes": [{"name": name, "key": keys[name], "count": given[name]} for name in answers.classes],
        "suggested": [] if place is None else report.suggested(project, place),
        "labels": len(answers.labels),
        "items": project.items.n_items,
        "finished": project.finished,
        "undo": None if last is None else _taken_back(project, last),
        "note": note,
    }


def _taken_back(project: Project, last: Answer) -> str:
    """Return what an undo would take back."""
    what = last.kind if last.label is None else project.answers.form.text(last.label)
    return f"{project.items.title(project.items.item(last.item))} is {what}"


def _shown(project: Project, item: Item) -> dict[str, Any]:
    fields = {name: item.fields[name] for name in project.items.shown if item.fields.get(name) is not None}
    return {"id": item.id, "title": project.items.title(item), "fields": fields, "image": _picture(project, item)}


def _picture(project: Project, item: Item) -> str | None:
    """Return the image of an item as a data address; None unless it lies in the project's folder of images and is small."""
    folder = project.about["images"]
    if folder is None or item.image is None:
        return None
    try:
        root, path = Path(folder).resolve(), (Path(folder) / item.image).resolve()
        kind = mimetypes.guess_type(path.name)[0] or ""
        if not path.is_relative_to(root) or not kind.startswith("image/") or path.stat().st_size > LARGEST_IMAGE:
            return None
        return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"
    except (OSError, ValueError):
        return None


def _widget() -> type:
    """Return the class, which inherits from anywidget's: it is made when it is first asked for."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise MissingExtraError('anywidget is not installed: pip install "askgraph[notebook]"') from None

    class LabelingCard(anywidget.AnyWidget):  # type: ignore[misc]  # anywidget's base has no types here
        """Label the items of a project in a notebook: one key is label, save and next.

        The keys are those of the page, ``?`` lists them, and answers are saved to the project file at once. Only one program
        can write to a project at a time: close the card before the page is served, or another card is opened.

        Parameters
        ----------
        path : str or path
            The project file, made by ``askgraph init`` or :meth:`askgraph.Project.create`.
        who : str
            The name that answers are saved under.

        Attributes
        ----------
        project : Project
            The open project.

        Examples
        --------
        >>> from askgraph.clients.card import LabelingCard
        >>> card = LabelingCard("items.ask", who="ann")  # doctest: +SKIP
        >>> card.close()  # doctest: +SKIP
        """

        _esm = Path(__file__).with_name("card.js")
        _css = Path(__file__).with_name("card.css")
        shown = traitlets.Dict().tag(sync=True)

        def __init__(self, path: str | os.PathLike[str], who: str = "me") -> None:
            self._who = check_name(who, "person")
            self._file = ExitStack()
            self.project: Project = self._file.enter_context(Project.open(path, write=True))
            if not self.project.answers.form.exclusive:
                self._file.close()
                kind = self.project.answers.kind.name
                raise SettingError(
                    f"the card has one key per class, not answers={kind!r}: label them on the page, askgraph label"
                )
            super().__init__(shown=question(self.project, self._who, self._next()))
            self.on_msg(self._heard)

        def close(self) -> None:
            """Close the project file, and take the card off the page."""
            self._file.close()
            super().close()

        def _next(self) -> int | None:
            """Ask, and return the place of the item to show."""
            self._asked = next(iter(self.project.questions()), None)
            return next(iter(self.project.ask()), None)

        def _answered(self, id: str) -> str | Question:
            """Return the question that an answer to this item answers, else the id."""
            asked = self._asked
            return asked if asked and self.project.items.place(id) == asked.node else id

        def _heard(self, _: Any, said: dict[str, Any], buffers: Any = None) -> None:
            """Save what was said, and show what comes next; what cannot be saved is said on the card."""
            note = undone = None
            try:
                if said["kind"] == "undo":
                    undone = self.project.undo(self._who)
                else:
                    item = self._answered(said["item"])
                    self.project.say(self._who, item, said["kind"], said.get("label"), said.get("seconds"))
            except AskgraphError as error:
                note = str(error)
            place = self._next()
            following = question(self.project, self._who, place if undone is None else undone.item, note)
            self.shown = {
                **following,
                "turn": self.shown.get("turn", 0) + 1,
            }  # never equal to the last one: the card waits for it

    LabelingCard.__qualname__ = "LabelingCard"
    return LabelingCard


def __getattr__(name: str) -> Any:
    if name != "LabelingCard":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = made = _widget()
    return made
