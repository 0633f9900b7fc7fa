"""The map: the positions of all items in the plane, and the names of its regions."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import NamedTuple

from askgraph.errors import BusyError
from askgraph.types import Array
from askgraph.web.regions import Region
from askgraph.web.worker import compute_map
from askgraph.workbench.project import Project

REGIONS = "regions"  # the entry of a project that keeps the names of the regions


class Map(NamedTuple):
    """One row (x, y) per item, and the regions of the plane that have a name."""

    positions: Array
    regions: list[Region]


class MapMaker:
    """The map of a project: read from the file, or computed when first wanted and then stored."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._made: Map | None = None
        self._thread: threading.Thread | None = None
        self._computed: Map | None = None

    def made(self) -> Map | None:
        """Return the map, or None while it is being computed."""
        if self._made is None:
            self._made = self._read()
        if self._made is None and self._computed is not None:
            self._project.store.keep("layout", self._computed.positions.ravel())
            self._project.store.note(REGIONS, self._computed.regions)
            self._made = self._computed
        if self._made is None and (self._thread is None or not self._thread.is_alive()):
            self._thread = threading.Thread(target=self._compute, args=(self._project.store.path,), daemon=True)
            self._thread.start()
        return self._made

    def _read(self) -> Map | None:
        try:
            positions: Array = self._project.store.array("layout", 2 * self._project.n_items).reshape(-1, 2)
            return Map(positions, [Region(*one) for one in self._project.store.about[REGIONS]])
        except (KeyError, TypeError):  # never computed, or by a version that named no regions
            return None

    def _compute(self, path: str | os.PathLike[str]) -> None:
        with suppress(BusyError):  # the next request for the map tries again
            positions, regions = compute_map(path)
            self._computed = Map(positions, regions)
