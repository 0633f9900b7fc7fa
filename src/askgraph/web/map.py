"""The map: the positions of all items in the plane."""

from __future__ import annotations

import os
import threading
from contextlib import suppress

from askgraph.errors import BusyError
from askgraph.types import Array
from askgraph.web.worker import compute_layout
from askgraph.workbench.project import Project


class MapMaker:
    """The positions of all items on the map: read from the project, or computed when first wanted and then stored."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._positions: Array | None = None
        self._thread: threading.Thread | None = None
        self._computed: Array | None = None

    def positions(self) -> Array | None:
        """Return one row (x, y) per item, or None while they are being computed."""
        if self._positions is None:
            self._positions = self._read()
        if self._positions is None and self._computed is not None:
            self._project.store.keep("layout", self._computed.ravel())
            self._positions = self._computed
        if self._positions is None and (self._thread is None or not self._thread.is_alive()):
            self._thread = threading.Thread(target=self._compute, args=(self._project.store.path,), daemon=True)
            self._thread.start()
        return self._positions

    def _read(self) -> Array | None:
        try:
            found: Array = self._project.store.array("layout", 2 * self._project.n_items).reshape(-1, 2)
            return found
        except KeyError:
            return None

    def _compute(self, path: str | os.PathLike[str]) -> None:
        with suppress(BusyError):  # the next request for the map tries again
            self._computed = compute_layout(path)
