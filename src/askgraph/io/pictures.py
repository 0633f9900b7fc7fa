"""Pictures of any common format -> rows of numbers to compare; pictures that cannot be read are named, not guessed."""

from __future__ import annotations

import os
import warnings
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from askgraph.errors import FileError
from askgraph.graph.graph import Graph
from askgraph.graph.pictures import SIDE, describe_pictures, join_pictures
from askgraph.io.tables import Table
from askgraph.io.text import FilePath
from askgraph.support.arguments import listed
from askgraph.support.files import reading
from askgraph.support.progress import Tick, bar
from askgraph.support.threads import in_threads
from askgraph.support.wording import counted
from askgraph.types import AnyArray

SUFFIXES = {".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".avif", ".tif", ".tiff"}
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "AVIF", "TIFF")  # no format that runs a program or has a language
AMPLE = 4  # times the size to compare at: a JPEG file is unpacked no larger, which is many times faster
TOGETHER = 64  # pictures that a thread takes at a time
BAD = "save it anew as PNG or JPEG"


def nearest_pictures(
    pictures: Iterable[FilePath | Image.Image], k: int = 10, names: Iterable[Hashable] | None = None
) -> Graph:
    """Join each picture to the k that are most alike, by their edges, their light and their colors; no model is needed.

    A picture is brought to 32 × 32 pixels and becomes one row of numbers: histograms of the directions of edges, a small gray
    picture, and a histogram of colors, each of unit length. The distance of two pictures is 1 − cosine. Of an animated
    picture the first frame counts; it is turned as its camera says; what is transparent is white; gray of 16 bits is
    stretched from its darkest to its lightest value. A picture that cannot be read, or has more than 89 million pixels, gets
    no edge, and the graph's notes say so.

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
    return join_pictures(rows, k, names).noted(*notes)


def picture_rows(pictures: Sequence[FilePath | Image.Image]) -> tuple[AnyArray, list[str]]:
    """Return one row per picture, of zeros where it cannot be read, and sentences about those that cannot."""
    # A picture in memory may be in the list twice, and is not for two threads.
    in_memory = any(isinstance(picture, Image.Image) for picture in pictures)
    step = max(len(pictures), 1) if in_memory else TOGETHER
    parts = [pictures[at : at + step] for at in range(0, len(pictures), step)]
    with _bombs_refused(), bar(len(pictures), "looking at pictures") as tick:
        done = in_threads(lambda part: _described(part, tick), parts)
    failed = [str(error) for _, errors in done for error in errors]
    if len(failed) == len(pictures):
        said = failed[0] if failed else "there are none"
        raise FileError(f"no picture could be read ({said})")
    without = f"{counted(len(failed), 'picture')} without an edge, so nothing is predicted there; the first: "
    return np.concatenate([rows for rows, _ in done]), [without + failed[0]] if failed else []


def _described(pictures: Sequence[FilePath | Image.Image], tick: Tick) -> tuple[AnyArray, list[FileError]]:
    """Return one row per picture, of zeros where it cannot be read, and the errors of those."""
    pixels, failed = np.zeros((len(pictures), SIDE, SIDE, 3), np.uint8), dict[int, FileError]()
    for k, picture in enumerate(pictures):
        try:
            pixels[k] = np.asarray(small_picture(picture))
        except FileError as error:
            failed[k] = error
        tick()
    rows = describe_pictures(pixels)
    rows[list(failed)] = 0.0
    return rows, list(failed.values())


def small_picture(picture: FilePath | Image.Image) -> Image.Image:
    """Return a picture in RGB at the size to compare at."""
    whole = to_rgb(picture) if isinstance(picture, Image.Image) else _opened(picture, SIDE)
    return whole.resize((SIDE, SIDE), Image.Resampling.BILINEAR)


def read_picture(path: FilePath) -> Image.Image:
    """Read a picture file as RGB, the right way up."""
    with _bombs_refused():
        return _opened(path)


@contextmanager
def _bombs_refused() -> Iterator[None]:
    """Make the warning of Pillow about a picture that is too large an error; other warnings are silent: odd metadata does no harm.

    The filters are those of the process, so threads enter this once, together.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        yield


def _opened(path: FilePath, least: int | None = None) -> Image.Image:
    """Open a picture file as RGB, the right way up; with ``least`` a JPEG file may come smaller, but not below that many pixels."""
    with reading(path, "a picture", BAD):
        try:
            with Image.open(path, formats=_known_formats()) as opened:
                if least is not None:
                    opened.draft("RGB", (AMPLE * least, AMPLE * least))
                return to_rgb(ImageOps.exif_transpose(opened))
        except (Image.DecompressionBombWarning, Image.DecompressionBombError):
            limit = f"{(Image.MAX_IMAGE_PIXELS or 0) // 10**6:,} million pixels"
            raise FileError(f"{path}: unpacks to more than {limit}; make it smaller") from None
        except UnidentifiedImageError:
            raise FileError(f"{path}: not a picture, or not PNG, JPEG, GIF, WebP, BMP, AVIF or TIFF; {BAD}") from None


@cache
def _known_formats() -> list[str]:
    Image.init()  # Pillow loads what reads a format when it is first needed, and an early version has no AVIF
    return [name for name in FORMATS if name in Image.OPEN]


def to_rgb(picture: Image.Image) -> Image.Image:
    """Return the first frame in RGB: transparent on white, and gray of more than 8 bits stretched from darkest to lightest."""
    if picture.mode.startswith(("I", "F")):
        values = np.nan_to_num(np.asarray(picture, dtype=np.float64))
        values -= values.min(initial=np.inf)
        return Image.fromarray(np.uint8(values * (255 / (values.max() or 1.0)))).convert("RGB")
    if picture.has_transparency_data:
        layer = picture.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer).convert("RGB")
    return picture.convert("RGB")


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
