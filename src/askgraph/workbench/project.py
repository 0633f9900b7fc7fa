"""A project file in use: its items, the log of what people say, and the model that follows it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unicodedata import normalize

from askgraph.answers.plain import declared_classes
from askgraph.errors import SettingError
from askgraph.graph import Graph
from askgraph.io.text import FilePath
from askgraph.kinds import Kind as AnswerKind
from askgraph.kinds import as_kind
from askgraph.learner import Learner
from askgraph.learner.settings import Settings
from askgraph.plan import Question
from askgraph.support.arguments import file_path, listed, whole_number
from askgraph.support.moved import finds_old_names, with_new_names
from askgraph.support.notebook import card, tally
from askgraph.workbench.answers import Answer, Answers, How, Kind
from askgraph.workbench.database import reporting_damage
from askgraph.workbench.forms import Label, count_classes, form_of
from askgraph.workbench.guesses import RULE, Guess, guesses_in
from askgraph.workbench.log import Log
from askgraph.workbench.model import Model, Predictions
from askgraph.workbench.new_project import check_about, read_new_project, usual_settings
from askgraph.workbench.note_log import NoteLog
from askgraph.workbench.old_names import OLD_KEYWORDS, OLD_NAMES
from askgraph.workbench.replies import ASKED, replies_in
from askgraph.workbench.second import SecondReading
from askgraph.workbench.source import Source, read_columns
from askgraph.workbench.store import Store
from askgraph.workbench.stored_items import StoredItems
from askgraph.workbench.writer_lock import WriterLock


class Project:
    """The items of one project file, what people said of them, and the model that asks and predicts.

    Make a file with :meth:`create` and open it with :meth:`open`. The log is read line by line (:meth:`refresh`); the learner
    is made when it is first needed, and told what changed.

    Attributes
    ----------
    store
        The open file.
    about
        Settings of the project: its name, classes, fields, images, graph, learner settings, seed and overlap.
    items
        The items: their places, titles, fields and copies.
    answers
        All answers so far, and the labels that count.
    log
        What people say: answers, changes of classes, guidelines.
    notes
        What people note on items: comments, marks to come back, reasons for an answer.
    second
        Which items another person is to read.
    model
        The learner, its questions and its predictions.

    Examples
    --------
    >>> import askgraph as ag
    >>> from askgraph.workbench.source import Source
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     ag.Graph.from_edges([("ann", "bob"), ("bob", "cy"), ("cy", "di")]).save(f"{folder}/friends.npz")
    ...     Project.create(f"{folder}/teams.ask", Source(graph=f"{folder}/friends.npz"), classes=["red", "blue"])
    ...     with Project.open(f"{folder}/teams.ask", write=True) as project:
    ...         for name, team in (("ann", "red"), ("di", "blue")):
    ...             answer = project.say("me", name, "label", team)
    ...         predicted = project.predictions()
    >>> predicted.labels.tolist()
    ['red', 'red', 'blue', 'blue']
    """

    store: Store
    about: dict[str, Any]
    items: StoredItems
    answers: Answers
    log: Log
    notes: NoteLog
    second: SecondReading
    model: Model

    def __init__(self, store: Store) -> None:
        self.store, self.about = store, store.about
        check_about(self.about, store.path)
        self.items = StoredItems(store, self.about)
        self._begin()

    def _begin(self) -> None:
        """Read the log from its first line on."""
        with reporting_damage(self.store.path):
            declared_classes(self.about["classes"])  # raises an error for what are not classes
            declared = [normalize("NFC", name) for name in self.about["classes"]]
            guesses = self.store.guesses() if not declared else []
            guessed = sorted({one.label for one in guesses if not one.source.startswith(RULE)})
        with reporting_damage(self.store.path):
            form = form_of(Settings.from_json(self.about["settings"]).answers)
        self.answers = Answers(declared or guessed, form)
        self.model = Model(self.store, self.items, self.about, self.answers)
        self.log = Log(self.store, self.items, self.answers, self.model)
        self.second = SecondReading(self.store, self.about, self.answers)
        self.notes = NoteLog(self.store, self.items, self.answers, self.log.refresh)
        self.refresh()

    @classmethod
    @with_new_names(OLD_KEYWORDS)
    def create(
        cls,
        path: str | os.PathLike[str],
        source: Source,
        classes: Sequence[str] = (),
        images: str | os.PathLike[str] | None = None,
        settings: Settings | None = None,
        seed: int = 0,
        overlap: int = 1,
        guesses: Sequence[FilePath] = (),
        answers: str | AnswerKind | None = None,
    ) -> None:
        """Make a new project file from a table or a graph.

        Parameters
        ----------
        path
            The new file; an existing one is never overwritten.
        source
            Where items come from and what joins them.
        classes
            Classes to declare; others can be added at any time. Of ordered ones all, the lowest first.
        images
            The folder of the images that ``source.image`` names; by default the one that ``source`` says.
        settings
            Settings of the learner.
        seed
            The seed of all random choices.
        overlap
            The number of people who should label each item.
        guesses
            Files with what models guess, as in :meth:`suggest`.
        answers
            The kind of answers, which stays as it is: "classes", "ordered", "several" or "numbers", or one that was made, such as
            ``askgraph.Numbers(unit="EUR")``. By default that of ``settings``, else "classes".
        """
        overlap, seed = whole_number(overlap, "overlap", 1), whole_number(seed, "seed")
        settings = usual_settings("classes" if answers is None else answers) if settings is None else settings
        if not isinstance(settings, Settings):
            kind = type(settings).__name__
            raise SettingError(f"a {kind} is not Settings: make them with askgraph.learner.settings.Settings.of")
        if answers is not None and settings.answers != as_kind(answers):
            raise SettingError("answers and settings name two kinds of answers: leave one of them out")
        names = form_of(settings.answers).declare(list(map(str, declared_classes(listed(classes, "classes")))))
        source = source if images is None else replace(source, images=images)
        new = read_new_project(Path(path).stem, source, names, settings, seed, overlap, guesses)
        Store.create(path, new.items, new.graph, new.about)
        if new.answers or new.guesses:
            with cls.open(path, write=True) as project:
                project.store.append(new.answers)
                project.store.add_guesses(new.guesses)

    @classmethod
    @contextmanager
    def open(cls, path: str | os.PathLike[str], write: bool = False) -> Iterator[Project]:
        """Open a project file, as a context manager.

        Parameters
        ----------
        path
            The file.
        write
            Open it to save answers. Only one program can at a time; another one gets a ``BusyError``.

        Yields
        ------
        Project
            The project, until the block ends.
        """
        path = file_path(path)
        lock = WriterLock(path) if write else None
        if lock:
            Store.open(path).close()  # reports a bad file before a lock file is made beside it
            lock.take()
        try:
            with Store.open(path, write) as store:
                project = cls(store)
                try:
                    yield project
                finally:
                    project.model.forget()
        finally:
            if lock:
                lock.release()

    def refresh(self) -> int:
        """Read the answers that were saved since the last call, and the target.

        Returns
        -------
        int
            The number of new lines of the log.
        """
        self.about |= self.store.noted("target")
        return self.log.refresh()

    def say(
        self,
        who: str,
        item: str | Question,
        kind: Kind,
        label: Label | Sequence[str] | None = None,
        seconds: float | None = None,
        key: str | None = None,
        predicted: Label | None = None,
        how: How | None = None,
    ) -> Answer:
        """Save one answer of a person.

        Parameters
        ----------
        who
            The name of the person.
        item
            The id of the item, or the question that is answered: one of :meth:`questions`, which says whether it is a spot
            check and what was predicted.
        kind
            "label", or a reason to set the item aside: "later", "cannot" (tell) or "invalid".
        label
            The label, for an answer of kind "label" only: a class, or ``askgraph.one_of`` some; a list of classes where items
            have several; a number.
        seconds
            How long the answer took.
        key
            A unique text: an answer whose key is in the log already is not saved again.
        predicted
            What was predicted for an item that was drawn at random: a spot check. A question says it by itself.
        how
            "review" for an answer on a second look.

        Returns
        -------
        Answer
            The line of the log.
        """
        return self.log.say(who, item, kind, label, seconds, key, predicted, how)

    def say_all(
        self,
        who: str,
        said: Iterable[tuple[str, Kind, Any]],
        seconds: float | None = None,
        key: str | None = None,
        predicted: Label | None = None,
        how: How | None = None,
    ) -> list[Answer]:
        """Save several answers of a person, all or none.

        Exact copies of an item take its answer, each with a line of its own, unless somebody has answered the copy itself.

        Parameters
        ----------
        who
            The name of the person.
        said
            One (item, kind, label) per answer, with the id of the item, as in :meth:`say`.
        seconds
            How long each answer took.
        key
            A unique text: answers whose key is in the log already are not saved again.
        predicted
            What was predicted for each item before, where they are spot checks.
        how
            "map", "table" or "group" for answers to many items in one step, which one undo takes back: those selected on the
            map or in the table, or a group that look alike. "review" for a second look.

        Returns
        -------
        list of Answer
            The lines of the log, without those of copies; for a known key, the lines that were written then.
        """
        return self.log.say_all(who, said, seconds, key, predicted, how)

    def undo(self, who: str, key: str | None = None) -> Answer | None:
        """Take back the last answer of a person that was not taken back yet, with all that were given in the same step.

        Parameters
        ----------
        who
            The name of the person.
        key
            A unique text: an undo whose key is in the log already is not saved again.

        Returns
        -------
        Answer or None
            The answer that was taken back; None if there is none.
        """
        return self.log.undo(who, key)

    def ask(self, n: int = 1) -> list[int]:
        """Choose the items to label next; items put off with "later" come when nothing else is left.

        Parameters
        ----------
        n
            The number of items, chosen to be labeled together.

        Returns
        -------
        list of int
            Up to n places of items.
        """
        asked = [question.node for question in self.questions(whole_number(n, "n", 1))]
        return asked or [item for item, why in self.answers.aside.items() if why == "later"][:n]

    def questions(self, n: int = 1, at_once: bool = False) -> list[Question]:
        """Choose the questions to ask next, each with the rule that asks it and, of a spot check, what is predicted.

        Parameters
        ----------
        n
            The number of questions.
        at_once
            Whether they are for several people who label at the same time: one pass over the scores chooses them.

        Returns
        -------
        list of Question
            Up to n questions, by the places of items; :meth:`say` takes them.
        """
        return self.model.questions(n, at_once)

    def predictions(self) -> Predictions:
        """Predict the label of every item; given labels stay as they are.

        Returns
        -------
        Predictions
            Classes, and for each item probabilities, a label, how sure it is, its range, and the variance.
        """
        return self.model.predictions()

    def suggest(self, file: FilePath, sheet: str | None = None, encoding: str | None = None) -> list[str]:
        """Add what models guess; see :meth:`askgraph.learner.guesses.Guesses.tell`.

        Parameters
        ----------
        file
            A csv, tsv, xlsx, ods, jsonl or parquet file with the columns item (or id, or the name of the column that the ids of the
            project come from) and label, and perhaps score (from 0 to 1) and source; by default the source is the name of
            the file. While the project has no classes, those guessed become its classes; after that, a row whose label is
            not a class is left out, as is one whose item is unknown. If no row fits, that is an error. Or the output of a
            batch, a jsonl file with what a model replied to the requests that ``askgraph export --for prompts`` writes.
        sheet
            The sheet of a spreadsheet; by default the first.
        encoding
            The encoding of text, such as "windows-1252"; by default it is found out.

        Returns
        -------
        list of str
            One line per source: how many guesses it has, and how good they are by the labels so far. Then one line per
            reason for which rows were left out.
        """
        new, left = self.read_suggestions(file, sheet, encoding)
        self.add_guesses(new)
        return [*(str(source) for source in self.learner.guesses.sources), *left]

    def read_suggestions(
        self, file: FilePath, sheet: str | None = None, encoding: str | None = None
    ) -> tuple[list[Guess], list[str]]:
        """Read a file of guesses without adding them; see :meth:`suggest`.

        Parameters
        ----------
        file
            The file.
        sheet
            The sheet of a spreadsheet; by default the first.
        encoding
            The encoding of text; by default it is found out.

        Returns
        -------
        tuple
            The guesses that fit, and one line per reason for which rows were left out.
        """
        self.answers.form.kind.check_guesses()
        places, classes = {id: k for k, id in enumerate(self.store.ids())}, self.answers.classes
        table = read_columns(file := file_path(file), sheet, encoding)
        if ASKED in table.header:
            if not classes:
                raise SettingError(
                    f"{file}: replies name classes, and there are none; add them with askgraph classes add"
                )
            return replies_in(file, table, str(self.about["uid"]), places, classes, self.answers.naming.meant)
        return guesses_in(file, table, places, classes, self.items.columns.get("id"))

    def add_guesses(self, guesses: Sequence[Guess]) -> None:
        """Store guesses, and let the model hear of them; while the project has no classes, those guessed become its classes.

        Parameters
        ----------
        guesses
            The guesses, by the places of their items.
        """
        self.store.add_guesses(guesses)
        if self.answers.classes:
            self.model.forget()
        else:
            self._begin()

    @property
    def graph(self) -> Graph:
        """The graph over the items; node k is the item at place k."""
        return self.model.graph

    @property
    def learner(self) -> Learner:
        """The learner, after all answers that were read."""
        return self.model.learner

    @property
    def target(self) -> float | None:
        """The expected error at or below which there are enough labels; None where there is no usual one and nobody has set it.

        For classes it is the share of wrong predictions.
        """
        given, (least, most, _) = self.about.get("target"), self.answers.form.targets
        right = isinstance(given, int | float) and least <= given <= most
        return float(given) if right and given is not None else self.answers.form.kind.stop_at

    @target.setter
    def target(self, error: float) -> None:
        least, most, what = self.answers.form.targets
        if not least <= error <= most:
            raise SettingError(f"a target of {error:g}: give {what}")
        self.store.note("target", error)
        self.about["target"] = error

    @property
    def finished(self) -> str | None:
        """The sentence that says why there is nothing left to ask; None while there is."""
        return self.log.finished

    __getattr__ = finds_old_names(OLD_NAMES)

    def _repr_html_(self) -> str:
        """Return a card for notebooks."""
        answers, told = self.answers, count_classes(self.answers.labels.values())
        rows: dict[str, object] = {
            "file": self.store.path,
            "items": f"{self.items.n_items:,}",
            "labels": f"{len(answers.labels):,}",
            "classes": tally(answers.classes, told),
            "set aside": len(answers.aside),
            "answers": answers.people and tally(answers.people, answers.people),
            "finished": self.finished,
        }
        return card(f"Project {self.about['project']}", {name: said for name, said in rows.items() if said})
