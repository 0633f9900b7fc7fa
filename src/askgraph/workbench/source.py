"""Where items come from: a table or a graph, and what its columns are for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Literal

from askgraph.errors import SettingError
from askgraph.graph.meaning import MEANINGS
from askgraph.io.pictures import folder_table
from askgraph.io.readers import TABLES
from askgraph.io.spreadsheets import SPREADSHEETS, sheet_table
from askgraph.io.tables import Table, text_table
from askgraph.io.text import FilePath, suffix
from askgraph.support.arguments import file_path, one_of, real_number, whole_number

WEIGHTS = 0.01, 100.0  # of a column, from and to
MAX_NAME = 4000  # characters of the name of a column or a file


@dataclass(frozen=True)
class Source:
    """The files and columns that items and their graph come from; ``read_items`` chooses where None is given.

    Parameters
    ----------
    table
        A csv, tsv, xlsx, ods, jsonl or parquet file with one row per item, or a folder of pictures, whose columns are "file" and
        "folder"; None where items are the nodes of ``graph``.
    graph
        A file with a graph whose nodes are the ids, or several.
    id
        The column of ids, or "" for row numbers from 1; by default the column called "id", else the first one of short, distinct
        cells that is called as those of ids are (code, item_id, name), else row numbers.
    features
        Columns of numbers to compare items by.
    text
        The column of text to compare items by, or several.
    vectors
        Vectors to compare items by: an npy or npz file, a column of lists or of file names of pictures, or a range of
        columns, first:last; or the column of pictures and one of the others, separated by a comma.
    show
        Columns to show; by default all others but vectors.
    hide
        Columns that are kept and not shown; by default those that look like labels that are there already.
    image
        The column of image file names; by default the first one where every cell is the name of a picture.
    label
        The column of labels that exist already; an empty cell means no label. It is kept and not shown. Where items have several
        classes, perhaps a list of columns, one per class: 1 where an item has it, 0 where not; a row without any says nothing.
    neighbors
        Nearest neighbors per item.
    scale
        How ``features`` are scaled: "none", "unit" (mean 0, deviation 1) or "range" (to [−1, 1]); by default "unit" where
        their ranges differ much, else "none".
    images
        The folder of the images; by default the folder that ``table`` is or lies in.
    sheet
        The sheet of a spreadsheet; by default the first.
    encoding
        How the text of a csv, tsv or txt file is encoded, such as "windows-1252"; by default it is found out.
    meaning
        Whether texts are compared by what they mean, too, by vectors of English words: "auto" (where the texts are English and
        the package wordllama is installed), "wordllama" or "none".
    pictures
        The column of pictures that are compared beside ``vectors``; by default one that ``vectors`` names, too.
    weights
        How often columns count of those that items are compared by, by name, such as ``{"price": 2}``; 1 by default. Columns
        that are compared as one, all those of text and all those of numbers, count as often together as they do on average.
    later
        Whether items are stored at once and compared by the server of the project, while people label some drawn at random:
        "never", "auto" (many texts or pictures) or "always". Items joined by given vectors or edges are never left for later.
    """

    table: FilePath | None = None
    graph: FilePath | Sequence[FilePath] | None = None
    id: str | None = None
    features: Sequence[str] | None = None
    text: str | Sequence[str] | None = None
    show: Sequence[str] | None = None
    image: str | None = None
    label: str | Sequence[str] | None = None
    neighbors: int = 10
    vectors: str | None = None
    scale: str | None = None
    images: FilePath | None = None
    sheet: str | None = None
    encoding: str | None = None
    hide: Sequence[str] | None = None
    meaning: str = "auto"
    pictures: str | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    later: Literal["never", "auto", "always"] = "never"

    def __post_init__(self) -> None:
        """Raise an error for what names no file or column."""
        for name in ("graph", "features", "text", "show", "hide", "label"):
            value, single = getattr(self, name), PathLike if name == "graph" else str
            if not isinstance(value, single | Sequence | None) or (
                value == "" and name != "label"
            ):  # a column may have no name
                raise SettingError(f"{name}={value!r}: give a list")
        for path in (*self.graphs, *(one for one in (self.table, self.images) if one is not None)):
            file_path(path)
        one = {
            name: getattr(self, name) for name in ("id", "image", "vectors", "pictures", "scale", "sheet", "encoding")
        }
        several = {
            "features": self.features,
            "text": self.texts,
            "show": self.show,
            "hide": self.hide,
            "label": self.labels,
        }
        names = {name: [value] for name, value in one.items()} | {
            name: list(value or ()) for name, value in several.items()
        }
        for name, values in names.items():
            if odd := [value for value in values if not isinstance(value, str | None) or len(value or "") > MAX_NAME]:
                raise SettingError(f"{name}={odd[0]!r}: give the name of a column, as text")
        if self.features is not None and not names["features"]:
            raise SettingError("features=[]: name at least one column of numbers, or leave it out")
        whole_number(self.neighbors, "neighbors", 1)
        one_of(self.meaning, "meaning", MEANINGS)
        one_of(self.later, "later", ("never", "auto", "always"))
        for name, weight in self.weights.items():
            real_number(weight, f"the weight of {name!r}", *WEIGHTS)

    @property
    def image_folder(self) -> Path:
        """The folder that file names of images start from."""
        table = Path(self.table or "")
        return Path(self.images) if self.images is not None else table if table.is_dir() else table.parent

    @property
    def graphs(self) -> list[FilePath]:
        """The files with graphs."""
        return [self.graph] if isinstance(self.graph, str | PathLike) else list(self.graph or ())

    @property
    def labels(self) -> list[str]:
        """The columns of labels that exist already: none, one, or one per class."""
        return [self.label] if isinstance(self.label, str) else list(self.label or ())

    @property
    def texts(self) -> list[str] | None:
        """The columns of text to compare items by, or None."""
        return [self.text] if isinstance(self.text, str) else None if self.text is None else list(self.text)


def read_columns(path: FilePath, sheet: str | None = None, encoding: str | None = None) -> Table:
    """Read a table of any supported file type, or a folder of pictures.

    ``sheet`` names one of a spreadsheet, by default the first; ``encoding`` that of text, by default it is
    found out.
    """
    folder = Path(path).is_dir()
    kind = "" if folder else suffix(path, (".csv", ".tsv", ".txt", "", *TABLES))
    if sheet is not None and kind not in SPREADSHEETS:
        raise SettingError(f"{path}: only a spreadsheet has sheets; leave --sheet out, or give an xlsx or ods file")
    if encoding is not None and (folder or kind in TABLES):
        raise SettingError(f"{path}: only text (csv, tsv, txt) is read with an encoding; leave --encoding out")
    if folder:
        return folder_table(path)
    if kind in SPREADSHEETS:
        return sheet_table(path, sheet)
    return TABLES[kind](path) if kind in TABLES else text_table(path, encoding)
