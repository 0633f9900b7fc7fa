"""A project as data people read it: up to date at every look, also beside the server that has it open."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from html import escape
from types import TracebackType
from typing import Any, NamedTuple

from askgraph.errors import MissingExtraError, SettingError
from askgraph.learner import Learner
from askgraph.support.arguments import file_path
from askgraph.workbench.export import prediction_rows
from askgraph.workbench.project import Project
from askgraph.workbench.report import to_sign
from askgraph.workbench.report_page import page
from askgraph.workbench.report_words import LANGUAGES


class Report(NamedTuple):
    """A report that one can sign: its figures, and the page that prints on two sheets; a notebook shows the page."""

    figures: dict[str, Any]
    html: str

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, where no script runs."""
        return f'<iframe sandbox srcdoc="{escape(self.html)}" style="width:100%;height:60em;border:0"></iframe>'


class OpenProject:
    """A project that is read, and never written; see :func:`open_project`.

    Every call sees what was saved before it, by whom ever. Use it in one thread.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path, self._file = file_path(path), ExitStack()
        self._open()

    def _open(self) -> None:
        self._file.close()
        self._project = self._file.enter_context(Project.open(self._path))
        self._seen = self._items()

    def _items(self) -> tuple[str, str]:
        """Return what changes when items come or go, or are joined otherwise."""
        store = self._project.store
        return store.fingerprint, json.dumps(store.about, sort_keys=True)

    @property
    def project(self) -> Project:
        """The project, with all that was saved up to now."""
        if self._items() != self._seen:
            self._open()
        self._project.refresh()
        return self._project

    @property
    def learner(self) -> Learner:
        """The learner, told all labels up to now; its nodes are the places of the items."""
        return self.project.learner

    def to_pandas(self) -> Any:
        """Return the table with what was answered and is predicted, as ``askgraph predict`` writes it; its index is the ids.

        Returns
        -------
        pandas.DataFrame
            One row per item: its own columns, the label, its probability or range, whether it was answered or predicted, and by
            whom.

        Examples
        --------
        >>> import askgraph as ag
        >>> ag.open_project("papers.ask").to_pandas()  # doctest: +SKIP
        """
        try:
            from pandas import DataFrame
        except ImportError:
            raise MissingExtraError('a frame needs pandas: pip install "askgraph[frames]"') from None
        return DataFrame(list(prediction_rows(self.project))).set_index("id")

    def to_polars(self) -> Any:
        """Return the same table as :meth:`to_pandas`, with the ids in the column ``id``.

        Returns
        -------
        polars.DataFrame
            One row per item.

        Examples
        --------
        >>> import askgraph as ag
        >>> ag.open_project("papers.ask").to_polars()  # doctest: +SKIP
        """
        try:
            from polars import DataFrame
        except ImportError:
            raise MissingExtraError('a frame needs polars: pip install "askgraph[frames]"') from None
        return DataFrame(list(prediction_rows(self.project)), infer_schema_length=None)

    def report(self, language: str = "en") -> Report:
        """Return the report that one can sign, as ``askgraph report`` writes it.

        Parameters
        ----------
        language : {"en", "de"}
            The language of the page.

        Returns
        -------
        Report
            Its ``figures`` as a dictionary and its page as ``html``; a notebook shows the page.

        Examples
        --------
        >>> import askgraph as ag
        >>> ag.open_project("papers.ask").report().figures["labels"]  # doctest: +SKIP
        120
        """
        if language not in LANGUAGES:
            raise SettingError(f"language={language!r}: choose from {', '.join(LANGUAGES)}")
        figures = to_sign(self.project)
        return Report(figures, page(figures, LANGUAGES[language]))

    def close(self) -> None:
        """Close the file.

        Examples
        --------
        >>> import askgraph as ag
        >>> with ag.open_project("papers.ask") as papers:  # closes it by itself  # doctest: +SKIP
        ...     papers.to_pandas()
        """
        self._file.close()

    def __enter__(self) -> OpenProject:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        project = self.project
        return f"OpenProject({self._path!r}: {project.items.n_items} items, {len(project.answers.labels)} labels)"

    def _repr_html_(self) -> str:
        """Return a card for notebooks."""
        return self.project._repr_html_()


def open_project(path: str | os.PathLike[str]) -> OpenProject:
    """Open a project to read it, live beside the page that people label on.

    Parameters
    ----------
    path : str or path
        The project file.

    Returns
    -------
    OpenProject
        The project: ``to_pandas()``, ``to_polars()``, ``learner`` and ``report()`` are up to date each time. ``close`` it, or open
        it in a ``with`` block.

    Examples
    --------
    >>> import askgraph as ag
    >>> papers = ag.open_project("papers.ask")  # doctest: +SKIP
    >>> papers.to_pandas().query("source == 'predicted'").sort_values("probability").head()  # doctest: +SKIP
    """
    return OpenProject(path)
