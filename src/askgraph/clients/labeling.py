"""Label the rows of a frame: the page in a cell of a notebook, or in the browser, and the frame with labels as the result."""

from __future__ import annotations

import os
import sys
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from askgraph.errors import LabelError, SettingError
from askgraph.kinds import Kind
from askgraph.support.arguments import file_path, flag, whole_number
from askgraph.web.entry import entry_file
from askgraph.web.in_cell import Page, open_page
from askgraph.workbench.export import prediction_rows
from askgraph.workbench.names import check_name
from askgraph.workbench.project import Project
from askgraph.workbench.reading import OpenProject
from askgraph.workbench.source import Source

LOOK_SECONDS = 0.5  # how often a call that waits looks for new answers
HEIGHT = 640  # pixels of the page in a cell

CELL = """<div id="{name}"></div><script>(() => {{
  const here = ["localhost", "127.0.0.1"].includes(location.hostname) ? location.hostname : "127.0.0.1";
  const frame = document.createElement("iframe");
  frame.src = `http://${{here}}:{port}/?{query}`;
  frame.style = "width:100%;height:{height}px;border:1px solid #8886;border-radius:6px";
  document.getElementById("{name}").replaceChildren(frame);
}})()</script><noscript>Trust this notebook to see the page.</noscript>"""


class Labeling(OpenProject):
    """A project that is being labeled on a page, and read meanwhile; see :func:`label`.

    Attributes
    ----------
    page : Page
        The page that is served: its ``url``, its ``port``, and whether it ``runs``.
    """

    page: Page

    def __init__(self, path: Path, frame: Any) -> None:
        super().__init__(path)
        self._frame = frame
        self._before = len(self.project.answers.labels)  # before anybody can answer on the page
        try:
            self.page = open_page(path)
        except BaseException:
            super().close()
            raise

    @property
    def labeled(self) -> int:
        """The number of labels since the page was opened."""
        return len(self.project.answers.labels) - self._before

    def result(self) -> Any:
        """Return the frame with what was answered and is predicted up to now.

        Returns
        -------
        frame
            The frame that was given, with ``label``, ``probability`` (of numbers and ordered classes, the ends ``low`` and
            ``high`` of a range) and ``source``: "answered", "predicted" or "imported". A column of these names that the frame
            had is called "label (given)" and so on.

        Examples
        --------
        >>> import askgraph as ag
        >>> labeling = ag.label(frame, wait=False)  # doctest: +SKIP
        >>> labeling.result()  # doctest: +SKIP
        """
        rows = list(prediction_rows(self.project))
        names = [name for name in ("label", "probability", "low", "high", "source") if name in rows[0]]
        found = {name: [row[name] for row in rows] for name in names}
        taken = {name: f"{name} (given)" for name in names if name in self._frame.columns}
        if hasattr(self._frame, "with_columns"):
            polars = sys.modules["polars"]
            new = [polars.Series(name, values, strict=False) for name, values in found.items()]
            return self._frame.rename(taken).with_columns(new)
        return self._frame.rename(columns=taken).assign(**found)

    def close(self) -> None:
        """End the page, and close the file; answers are saved already.

        Examples
        --------
        >>> import askgraph as ag
        >>> ag.label(frame, wait=False).close()  # doctest: +SKIP
        """
        self.page.close()
        super().close()


def label(
    frame: Any,
    path: str | os.PathLike[str] = "labels.ask",
    *,
    classes: Sequence[str] = (),
    answers: str | Kind | None = None,
    budget: int | None = None,
    wait: bool = True,
    who: str = "me",
    **columns: Any,
) -> Any:
    """Open the labeling page for the rows of a frame, in the cell or in the browser, and return the frame with labels.

    The page comes from this machine only, and ends with the kernel. Answers are saved in the project file at once: the same call
    goes on with it, also another day.

    Parameters
    ----------
    frame : pandas.DataFrame or polars.DataFrame
        One row per item. An index of pandas that has names is the ids; else rows are numbered from 1.
    path : str or path
        The project file; it is made if it is not there, and must have the rows of this frame if it is.
    classes : sequence of str
        Classes to begin with, for a new project; others can be added on the page.
    answers : {"classes", "ordered", "several", "numbers"} or Kind, optional
        What people say of an item, for a new project; by default one class.
    budget : int, optional
        The number of new labels after which to return; without one, until nothing is left to ask or the cell is stopped.
    wait : bool
        Whether to wait until the budget is spent, nothing is left to ask, or the cell is stopped (a script: Ctrl-C), and then
        end the page and return the frame. If not, return at once, and let the page go on.
    who : str
        The name that answers are saved under.
    **columns
        What the columns are for, for a new project: ``text``, ``features``, ``vectors``, ``image``, ``images``, ``show``,
        ``label`` and others, as in ``askgraph init``; by default it is found out.

    Returns
    -------
    frame or Labeling
        The frame with the columns ``label``, ``probability`` and ``source``. With ``wait=False`` the open project: ``result()``
        is that frame up to now, and ``to_pandas()``, ``learner`` and ``report()`` are those of :func:`open_project`; ``close()``
        ends the page.

    Examples
    --------
    >>> import askgraph as ag
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"text": ["late again", "arrived broken", "still not here"]})
    >>> labeled = ag.label(frame, classes=["delivery", "quality"])  # doctest: +SKIP
    """
    who = check_name(who, "person")
    budget = None if budget is None else whole_number(budget, "budget", 1)
    flag(wait, "wait")
    project = Path(file_path(path))
    _make(project, frame, classes, answers, columns)
    labeling = Labeling(project, frame)
    try:
        _show(labeling.page, who)
        if not wait:
            return labeling
        _wait(labeling, budget)
        result = labeling.result()
    except BaseException:
        labeling.close()
        raise
    labeling.close()
    return result


def _make(path: Path, frame: Any, classes: Sequence[str], answers: str | Kind | None, columns: dict[str, Any]) -> None:
    """Make the project of a frame, or check that the one that is there has its rows."""
    if not hasattr(frame, "columns") or not (hasattr(frame, "to_json") or hasattr(frame, "write_ndjson")):
        raise LabelError(f"a {type(frame).__name__} is not a frame of pandas or polars: give one row per item")
    ids = _ids(frame)
    if path.exists():
        with Project.open(path) as project:
            found = project.store.ids()
        if found != (ids if ids is not None else [str(k + 1) for k in range(len(frame))]):
            raise SettingError(f"{path} has other items than this frame: name another file, ag.label(frame, path=...)")
        return
    with TemporaryDirectory() as folder:
        table, id = Path(folder) / f"{path.stem}.jsonl", _id_column(frame)
        if hasattr(frame, "write_ndjson"):
            frame.write_ndjson(table)
        else:
            rows = frame if ids is None else frame.assign(**{id: ids})
            rows.to_json(table, orient="records", lines=True, date_format="iso", force_ascii=False)
        given = {"id": "" if ids is None else id, **columns}
        Project.create(path, Source(table, **given), classes, answers=answers)


def _ids(frame: Any) -> list[str] | None:
    """Return the names of the rows, or None where they are only numbered."""
    index = getattr(frame, "index", None)
    if index is None or type(index).__name__ == "RangeIndex":
        return None
    names = [str(name) for name in index]
    if len(set(names)) < len(names):
        raise LabelError("the index of the frame names two rows alike: give reset_index(drop=True), or other names")
    return names


def _id_column(frame: Any) -> str:
    """Return a name for the column of ids that the frame does not have."""
    name = str(getattr(getattr(frame, "index", None), "name", None) or "id")
    while name in frame.columns:
        name = f"{name} (index)"
    return name


def _show(page: Page, who: str) -> None:
    """Show the page in the cell that runs, or open it in the browser."""
    if (display := _notebook()) is not None:
        name = f"askgraph-{uuid.uuid4().hex}"
        display(CELL.format(name=name, port=page.port, query=page.query(who), height=HEIGHT))
        return
    import webbrowser

    with entry_file(page.url, page.token, who) as file:
        if webbrowser.open(file.as_uri()):
            time.sleep(LOOK_SECONDS)  # until the browser has read the file
        else:
            print(f"Open {page.url}/?{page.query(who)}", flush=True)


def _notebook() -> Callable[[str], None] | None:
    """Return a function that shows HTML in the cell that runs; None outside of notebooks."""
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython
    from IPython.display import HTML, display

    shell = get_ipython()
    return (lambda html: display(HTML(html))) if shell is not None and "IPKernelApp" in shell.config else None


def _wait(labeling: Labeling, budget: int | None) -> None:
    """Wait until the budget is spent, nothing is left to ask, the page has ended, or somebody interrupts."""
    print("Label on the page; stop this cell (or press Ctrl-C) when you are done.", flush=True)
    try:
        while labeling.page.runs:
            if labeling.project.finished or (budget is not None and labeling.labeled >= budget):
                return
            time.sleep(LOOK_SECONDS)
    except KeyboardInterrupt:
        return
