"""Pictures of any common format -> rows of numbers to compare; pictures that cannot be read are named, not guessed."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from askgraph.errors import FileError
from askgraph.graph.blocks import join_blocks
from askgraph.graph.graph import Graph
from askgraph.graph.pictures import SIDE, describe_pictures
from askgraph.io.pixels import bombs_refused, small_picture
from askgraph.io.tables import Table
from askgraph.io.text import FilePath
from askgraph.support.arguments import listed
from askgraph.support.progress import Tick, bar
from askgraph.support.threads import in_threads
from askgraph.support.wording import counted
from askgraph.types import AnyArray

SUFFIXES = {".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".avif", ".tif", ".tiff"}
TOGETHER = 64  # pictures that a thread takes at a time


def nearest_pictures(
    pictures: Iterable[FilePath | Image.Image], k: int = 10, names: Iterable[Hashable] | None = None
) -> Graph:
    """Join each picture to the k that are most alike, by their edges, their light and their colors; no model is needed.

    A picture is brought to 32 × 32 pixels and becomes one row of numbers: histograms of the directions of edges, a small gray
    picture, and a histogram of colors, each of unit length. The distance of two pictures is 1 − cosine. Of an animated
    picture the first frame counts; it is turned as its camera says; what is transparent is white; gray of 16 bits is
    stretched from its darkest to its lightest value. A picture that cannot be read, has more than 89 million pixels, or takes
    more than 400 MB to read, gets no edge, and the graph's notes say so.

    Parameters
    ----------
    pictures : iterable of paths or of Pillow images
        The pictures.
    k : int
        The number of neighbors of each picture.
    names : iterable, optional
        The names of the pictures.

    Returns
    -------
    Graph
        The graph of the pictures, one node per picture.

    Examples
    --------
    >>> from PIL import Image
    >>> colors = ["darkred", "red", "navy", "blue"]
    >>> nearest_pictures([Image.new("RGB", (40, 30), color) for color in colors], k=1).n_nodes
    4
    """
    rows, notes = picture_rows(listed(pictures, "pictures"))
    return join_blocks(rows, k, names, "picture").noted(*notes)


def named_picture_rows(names: Sequence[str], folder: FilePath) -> tuple[AnyArray, list[str]]:
    """Return what `picture_rows` does, of files in a folder; no other file is opened, and sentences say the names as given."""
    return _rows([partial(_named_picture, name, folder) for name in names])


def find_picture(name: str, folder: FilePath) -> Path | None:
    """Return the file that a name stands for, or None if it is not a plain file in this folder, links followed."""
    try:
        root, found = Path(folder).resolve(), (Path(folder) / name).resolve()
        return found if found.is_relative_to(root) and found.is_file() else None
    except (OSError, ValueError):
        return None


def _named_picture(name: str, folder: FilePath) -> Image.Image:
    found = find_picture(name, folder)
    if found is None:
        raise FileError(
            f"{name!r} is not a file in the folder of the pictures; put it there, or name the folder that holds all with --images"
        )
    try:
        return small_picture(found)
    except FileError as error:
        raise FileError(str(error).replace(str(found), name, 1)) from None


def picture_rows(pictures: Sequence[FilePath | Image.Image]) -> tuple[AnyArray, list[str]]:
    """Return one row per picture, of zeros where it cannot be read, and sentences about those that cannot."""
    # A picture in memory may be in the list twice, and is not for two threads.
    in_memory = any(isinstance(picture, Image.Image) for picture in pictures)
    return _rows([partial(small_picture, picture) for picture in pictures], len(pictures) if in_memory else TOGETHER)


def _rows(readers: Sequence[Callable[[], Image.Image]], together: int = TOGETHER) -> tuple[AnyArray, list[str]]:
    """Return one row per small picture that is read, and sentences about those that cannot be; a thread takes some together."""
    parts = [readers[at : at + together] for at in range(0, len(readers), together)]
    with bombs_refused(), bar(len(readers), "looking at pictures") as tick:
        done = in_threads(lambda part: _described(part, tick), parts)
    failed = [str(error) for _, errors in done for error in errors]
    if len(failed) == len(readers):
        said = failed[0] if failed else "there are none"
        raise FileError(f"no picture could be read ({said})")
    without = f"{counted(len(failed), 'picture')} without an edge, so nothing is predicted there; the first: "
    return np.concatenate([rows for rows, _ in done]), [without + failed[0]] if failed else []


def _described(readers: Sequence[Callable[[], Image.Image]], tick: Tick) -> tuple[AnyArray, list[FileError]]:
    """Return one row per picture, of zeros where it cannot be read, and the errors of those."""
    pixels, failed = np.zeros((len(readers), SIDE, SIDE, 3), np.uint8), dict[int, FileError]()
    for k, read in enumerate(readers):
        try:
            pixels[k] = np.asarray(read())
        except FileError as error:
            failed[k] = error
        tick()
    rows = describe_pictures(pixels)
    rows[list(failed)] = 0.0
    return rows, list(failed.values())


def is_picture(name: Any) -> bool:
    """Return whether a cell is the name of a picture file.

    >>> is_picture("cat.JPG"), is_picture("cat.txt"), is_picture(7)
    (True, False, False)
    """
    return isinstance(name, str) and Path(name.strip()).suffix.casefold() in SUFFIXES


def folder_table(path: FilePath) -> Table:
    """Return a folder as a table: the columns file, relative to the folder, and folder, which is None for the folder itself."""
    root, found = Path(path), list[tuple[str, str | None]]()
    for parent, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        inside = Path(parent).relative_to(root)
        start, folder = (f"{inside.as_posix()}/", inside.name) if inside.name else ("", None)
        found += [(start + name, folder) for name in sorted(files) if is_picture(name) and not name.startswith(".")]
    if not found:
        raise FileError(
            f"{path}: a folder without pictures ({', '.join(sorted(SUFFIXES))}); give a folder with some, or a table"
        )
    columns: dict[str, list[Any]] = {"file": [file for file, _ in found], "folder": [folder for _, folder in found]}

    def cells(name: str) -> list[Any]:
        return columns[name]

    return Table(list(columns), partial(_not_numbers, path), cells, cells, lambda k: columns["file"][k])


def _not_numbers(path: FilePath, name: str) -> Any:
    raise FileError(f"{path}: the column {name!r} of a folder of pictures holds no numbers")
