"""The map: the positions of all items in the plane, and the names of its regions."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import NamedTuple

import numpy as np

from askgraph.errors import BusyError, LabelError
from askgraph.types import Array
from askgraph.web.regions import Region, frame, name_regions
from askgraph.web.thinker_process import SPAWN
from askgraph.workbench.cells import readable
from askgraph.workbench.project import Project
from askgraph.workbench.store import Item

REGIONS = "regions"  # the entry of a project that keeps the names of the regions
NAMING_SAMPLE, NAMING_CHARACTERS = 20_000, 2_000  # items, and characters of each, that name the regions


class Map(NamedTuple):
    """One row (x, y) per item, and the regions of the plane that have a name."""

    positions: Array
    regions: list[Region]


class MapMaker:
    """The map of a project: read from the file, or computed when first wanted and then stored."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self.edition: str = project.store.fingerprint[:16]  # of the items: places mean other ones when some come or go
        self._made: Map | None = None
        self._thread: threading.Thread | None = None
        self._computed: Map | None = None

    def made(self) -> Map | None:
        """Return the map, or None while it is being computed, or cannot be since nothing joins the items yet."""
        if self._project.items.apart:
            return None
        if self._made is None and (stored := self._read()) is not None:
            self._made = framed(stored)
        if self._made is None and self._computed is not None:
            self._project.store.keep("layout", self._computed.positions.ravel())
            self._project.store.note(REGIONS, self._computed.regions)
            self._made = framed(self._computed)
        if self._made is None and (self._thread is None or not self._thread.is_alive()):
            self._thread = threading.Thread(target=self._compute, args=(self._project.store.path,), daemon=True)
            self._thread.start()
        return self._made

    def positions(self) -> Array:
        """Return the positions of all items; raise an error while they are being computed."""
        made = self.made()
        if made is None:
            raise BusyError("the map is being drawn; try again in a moment")
        return made.positions

    def places(self, drawn: list[int], edition: str | None) -> list[int]:
        """Return places on a map that a page has drawn; raise an error if it shows other items than there are."""
        if drawn and edition != self.edition:
            raise LabelError("items came or went since this map was drawn; open it again")
        if (odd := max(drawn, default=0)) >= self._project.items.n_items:
            raise LabelError(f"no item at {odd}; give places below {self._project.items.n_items}")
        return drawn

    def _read(self) -> Map | None:
        try:
            positions: Array = self._project.store.array("layout", 2 * self._project.items.n_items).reshape(-1, 2)
            return Map(positions, [Region(*one) for one in self._project.store.about[REGIONS]])
        except (KeyError, TypeError):  # never computed, or by a version that named no regions
            return None

    def _compute(self, path: str | os.PathLike[str]) -> None:
        with suppress(BusyError):  # the next request for the map tries again
            self._computed = compute_map(path)


def framed(made: Map) -> Map:
    """Return a map on which a few items far from all others are drawn at the edge."""
    shown = frame(made.positions)
    middles = shown.place(np.array([[one.x, one.y] for one in made.regions]).reshape(-1, 2)).tolist()
    regions = [one._replace(x=x, y=y) for one, (x, y) in zip(made.regions, middles, strict=True)]
    return Map(shown.place(made.positions), regions)


def compute_map(path: str | os.PathLike[str]) -> Map:
    """Compute the map in a process of its own, and wait for it."""
    here, there = SPAWN.Pipe(duplex=False)
    process = SPAWN.Process(target=lay_out, args=(os.fspath(path), there), name="askgraph-layout", daemon=True)
    process.start()
    there.close()
    try:
        return Map(*here.recv())
    except EOFError:
        raise BusyError("the map could not be computed; open it again to retry") from None
    finally:
        here.close()
        process.join()


def lay_out(path: str, connection: Connection) -> None:
    """Compute the positions of all items on the map and the names of its regions, and send both; runs in a process of its own."""
    from askgraph.layout import layout

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(5)
    with Project.open(path) as project:
        try:
            positions: Array = project.store.array("layout", 2 * project.items.n_items).reshape(-1, 2)
        except KeyError:
            positions = layout(project.graph).astype(np.float64)
        sample = np.sort(np.random.default_rng(0).permutation(project.items.n_items)[:NAMING_SAMPLE])
        texts = [_text_of(project, item) for item in project.store.items(sample.tolist())]
        connection.send((positions, name_regions(positions[sample], texts)))


def _text_of(project: Project, item: Item) -> str:
    """Return what names a region by its words: the name of an item, and the beginning of its texts."""
    named = [item.id] if project.items.named_by_id else [item.fields.get(project.items.naming_field or "", "")]
    texts = [item.fields.get(name, "") for name in project.items.text_fields if name != project.items.naming_field]
    return readable(" ".join(str(text) for text in (*named, *texts))[:NAMING_CHARACTERS])
