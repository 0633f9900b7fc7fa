"""What the columns of a table are for: ids, pictures, labels, and what items are compared by."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import NoneType
from typing import Any, Literal, NamedTuple
from unicodedata import normalize

import numpy as np

from askgraph.errors import SettingError
from askgraph.graph.texts import like_texts
from askgraph.io.pictures import find_picture, is_picture
from askgraph.io.readers import read_graph
from askgraph.io.tables import Table
from askgraph.io.text import FilePath, is_number
from askgraph.support.label_names import LABEL_NAMES
from askgraph.support.wording import counted, few
from askgraph.types import Array
from askgraph.workbench.cells import is_missing, is_numeric, number, one_line, truths
from askgraph.workbench.joining import joined_texts, vector_columns
from askgraph.workbench.source import Source

Kind = Literal["text", "short", "number", "boolean", "date", "picture", "empty"]
Use = Literal["id", "compared", "label", "picture"]

MIN_TEXT_CHARACTERS = 25  # a column whose cells have fewer on average is not compared by its words unless named
MAX_ID_CHARACTERS = 80  # an id or a label is short enough to be typed; a column with a longer cell holds neither
WHY_NOT = {"date": "dates", "short": "short text", "text": "text", "picture": "pictures", "empty": "empty"}
MAX_NAMED = 8  # columns that are named in one sentence; of more, the number is given

# A column is the one of ids by its whole name, by its last word (item_id, OrderNo), or by its first word "id" (idItem).
KEY_NAMES = {
    "id", "code", "key", "doc", "no", "nr", "num", "number", "uid", "uuid", "guid", "index", "ref", "identifier", "doi",
    "isbn", "issn", "pmid", "pmcid", "accession", "sku", "slug", "docid", "docno", "paperid", "kennung", "kürzel",
    "kuerzel", "nummer", "schlüssel", "signatur", "aktenzeichen", "artikelnummer", "kundennummer", "bestellnummer",
    "identifiant", "numéro", "clé", "código", "número", "clave", "codice", "numero",
}  # fmt: skip
KEY_ENDINGS = {
    "id", "uid", "uuid", "guid", "key", "code", "nr", "no", "number", "nummer", "kennung", "identifier", "accession",
}  # fmt: skip
NAME_NAMES = {"name", "fullname", "filename", "file", "username", "dateiname", "nom", "nombre", "nome"}  # headings too
NOT_KEYS = {
    "zip", "postal", "post", "area", "phone", "telephone", "mobile", "fax", "house", "street", "room", "page", "line",
    "error", "status", "source",
}  # fmt: skip

# Labels that are there already, perhaps: short cells of text or of yes and no with two of three signs. They are 2 to MAX_CLASSES
# different ones, each of them MIN_PER_CLASS times on average; at least MIN_EMPTY of all cells are empty; the column is called by
# one of LABEL_NAMES, and then may hold numbers. Several columns of yes and no with gaps are answers to a list of questions and no
# labels.
MAX_CLASSES, MIN_PER_CLASS, MIN_EMPTY, SIGNS = 30, 3, 0.05, 2

DAY = r"(\d{4}[-/]\d{1,2}[-/]\d{1,2}|\d{1,2}\.\d{1,2}\.(\d{4}|\d\d)|\d{1,2}/\d{1,2}/(\d{4}|\d\d))"
TIME = r"([T ]+\d{1,2}:\d\d(:\d\d([.,]\d+)?)?( ?[AaPp]\.?[Mm]\.?)?( ?(Z|UTC|[+-]\d\d(:?\d\d)?))?)?"
DATE = re.compile(DAY + TIME)


class Column(NamedTuple):
    """A column of a table: what its cells are, and what it is for unless somebody says otherwise.

    ``offered`` says that it looks like labels that are there already; ``values`` counts the different cells that are not
    empty, ``empty`` those that are.
    """

    name: str
    kind: Kind
    use: Use | None
    offered: bool = False
    values: int = 0
    empty: int = 0


def look_at_columns(source: Source, table: Table) -> list[Column]:
    """Return what each column of a table is, and what it would be for."""
    kinds = find_kinds(table, table.header)
    found = _find_columns(source, table, kinds)
    chosen = _choose(found, table, kinds) or found  # where nothing is left to compare items by, somebody has to say it
    uses, offered = find_uses(chosen, table), find_offered(chosen, table, kinds)
    seen = []
    for name in table.header:
        counts = _count(table.cells(name))
        empty = counts.pop(None, 0)
        seen.append(Column(name, kinds[name], uses.get(name), name in offered, len(counts), empty))
    return seen


def find_uses(source: Source, table: Table) -> dict[str, Use]:
    """Return the use of each column that a source has one for."""
    compared = [*(source.features or ()), *(source.texts or ()), *vector_columns(source.vectors, table.header)]
    found: dict[str, Use] = dict.fromkeys(compared, "compared")
    if source.image:
        found[source.image] = "picture"
    found |= dict.fromkeys(source.labels, "label")
    return found | ({source.id: "id"} if source.id else {})


def choose_columns(source: Source, table: Table) -> Source:
    """Find the columns of ids and of pictures, and choose features or text where the source does not say how to compare items."""
    kinds = find_kinds(table, table.header)
    chosen = _choose(_find_columns(source, table, kinds), table, kinds)
    if chosen is None:
        raise SettingError(
            f"{source.table}: what should items be compared by? no column holds numbers or text (columns: {few(table.header)}); "
            "name some with --features or --text, or give --vectors or --graph FILE"
        )
    return chosen


def _find_columns(source: Source, table: Table, kinds: Mapping[str, Kind]) -> Source:
    """Return a source with the columns of ids and of pictures."""
    if Path(source.table or "").is_dir():
        return replace(source, id="file", image="file", show=source.show or ())
    source = replace(source, image=source.image or _image_column(source, table, kinds))
    return replace(source, id=_id_column(source, table, kinds))


def _choose(source: Source, table: Table, kinds: Mapping[str, Kind]) -> Source | None:
    """Return a source that says how to compare items; by labels that are there perhaps, only where nothing else is left.

    Where it names nothing, texts are compared, and beside them the columns of numbers in which items with like texts are alike.
    """
    free = {name: kind for name, kind in kinds.items() if name not in (source.id, source.image, *source.labels)}
    plain = _plain(source, table, free)
    chosen = compare_by(source, plain) or compare_by(source, free)
    if chosen is None or chosen is source or chosen.texts is None:
        return chosen
    return replace(chosen, features=numbers_like(table, chosen.texts, plain) or None)


def numbers_like(table: Table, texts: Sequence[str], kinds: Mapping[str, Kind]) -> list[str]:
    """Return the columns of numbers in which items whose texts are alike are alike, too."""
    numbers = {name: column for name, kind in kinds.items() if (column := _numbers(table, name, kind)) is not None}
    return like_texts(joined_texts(table, texts), numbers)


def _numbers(table: Table, name: str, kind: Kind) -> Array | None:
    """Return a column of numbers, or of yes and no as 1 and 0, its gaps filled with the median; None for any other."""
    if kind not in ("number", "boolean"):
        return None
    if (values := table.floats(name)) is None:
        cells = table.cells(name)
        found = truths(cells) or map(number, cells)
        values = np.array([np.nan if value is None else value for value in found])
    there = values[~np.isnan(values)]
    return np.where(np.isnan(values), np.median(there), values) if there.size else None


def _plain(source: Source, table: Table, kinds: Mapping[str, Kind]) -> dict[str, Kind]:
    """Return the columns that do not look like labels that are there already."""
    offered = find_offered(source, table, kinds)
    return {name: kind for name, kind in kinds.items() if name not in offered}


def compare_by(source: Source, kinds: Mapping[str, Kind]) -> Source | None:
    """Return a source that says how to compare items, by these columns if it does not say so yet; None if none will do."""
    if any(given is not None for given in (source.features, source.text, source.vectors, source.graph or None)):
        return source
    if prose := [name for name, kind in kinds.items() if kind == "text"]:
        return replace(source, text=prose)
    if source.image is not None and "number" not in kinds.values():
        return replace(source, vectors=source.image)
    numbers = [name for name, kind in kinds.items() if kind in ("number", "boolean")]
    return replace(source, features=numbers) if numbers else None


def find_kinds(table: Table, names: Iterable[str]) -> dict[str, Kind]:
    """Return what the cells of each of these columns are. Must be fast: tables can be wide."""
    return {name: "number" if table.floats(name) is not None else _kind(table.cells(name)) for name in names}


def _kind(cells: list[Any]) -> Kind:
    different = list(dict.fromkeys(cells)) if _are_texts(cells) else cells
    if all(map(is_missing, different)):
        return "short" if any(cell is not None for cell in different) else "empty"
    if is_numeric(different):
        return "number"
    if truths(different) is not None:
        return "boolean"
    if all(map(is_date, different)):
        return "date"
    if all(map(is_picture, different)):
        return "picture"
    return "text" if _is_prose(cells) else "short"


def is_date(cell: Any) -> bool:
    """Return whether a cell is a date, with or without a time, or missing."""
    return isinstance(cell, date) or (isinstance(cell, str) and bool(DATE.fullmatch(cell))) or is_missing(cell)


def _is_prose(cells: list[Any]) -> bool:
    """Return whether the cells of a column are long enough to be compared by their words."""
    texts = [cell for cell in cells if isinstance(cell, str)]
    enough = MIN_TEXT_CHARACTERS * len(cells)
    return sum(map(len, texts)) >= enough and sum(len(text) for text in texts if not is_number(text)) >= enough


def _are_texts(cells: list[Any]) -> bool:
    """Return whether all cells are text or empty, so that equal ones are the same."""
    return set(map(type, cells)) <= {str, NoneType}


def _count(cells: list[Any]) -> Counter[str | None]:
    """Return how often each different cell comes; None stands for empty ones."""
    counts = Counter(cells if _are_texts(cells) else map(one_line, cells))
    counts[None] += counts.pop("", 0)
    return counts


def _image_column(source: Source, table: Table, kinds: Mapping[str, Kind]) -> str | None:
    """Return the first column that holds nothing but names of pictures, if one of these files exists."""
    pictures = (name for name, kind in kinds.items() if kind == "picture")
    return next((name for name in pictures if is_there(source, table.cells(name))), None)


def is_there(source: Source, cells: Sequence[Any]) -> bool:
    """Return whether any of these cells names a file in the folder of images."""
    return any(find_picture(line, source.image_folder) for cell in cells if (line := one_line(cell)))


def _id_column(source: Source, table: Table, kinds: Mapping[str, Kind]) -> str | None:
    """Return the column of ids: the one given, else the one called id, else the first that can be it by name and cells.

    A column that the source names for something else is not taken, nor one without which nothing would be left to compare items
    by, nor one that does not hold every node of the given graphs.
    """
    if source.id is not None:
        return source.id or None
    if exact := next((name for name in table.header if name.casefold() == "id"), None):
        return exact
    named = {*find_uses(source, table), *(source.show or ())}
    called = [name for name in kinds if name not in named and (is_key(name) or is_name(name))]
    free = {name: kind for name, kind in kinds.items() if name not in (source.image, *source.labels)}
    plain = _plain(source, table, free) if called else {}
    able = (
        name
        for name in called
        if _are_ids(table.cells(name), kinds[name])
        and compare_by(source, {other: kind for other, kind in plain.items() if other != name})
    )
    if not source.graphs:
        return next(able, None)
    matching = list(able)
    nodes = {node for path in source.graphs for node in _nodes(path)} if matching else set()
    return next((name for name in matching if nodes <= set(map(one_line, table.cells(name)))), None)


def _nodes(path: FilePath) -> list[str | None]:
    graph = read_graph(path)
    return [one_line(graph.name(k)) for k in range(graph.n_nodes)]


def is_key(column: str) -> bool:
    """Return whether a column is called as those of ids are.

    >>> [is_key(name) for name in ("code", "Item_ID", "idItem", "Nr.", "paid", "zip code")]
    [True, True, True, True, False, False]
    """
    words = _words(column)
    by_words = len(words) > 1 and (words[-1] in KEY_ENDINGS or words[0] == "id") and not NOT_KEYS.intersection(words)
    return "".join(words) in KEY_NAMES or by_words


def is_name(column: str) -> bool:
    """Return whether a column is called as those of names are, by which people know items.

    >>> is_name("Name"), is_name("file name"), is_name("surname")
    (True, True, False)
    """
    return "".join(_words(column)) in NAME_NAMES


def _words(column: str) -> list[str]:
    apart = re.sub(r"(?<=[^\W\d_])(?<![A-Z])(?=[A-Z])", " ", normalize("NFKC", column))
    return [word for word in re.split(r"[\W_]+", apart.casefold()) if word]


def _are_ids(cells: list[Any], kind: Kind) -> bool:
    """Return whether cells are short, distinct, never empty, and either whole numbers or no sentences."""
    if kind not in ("number", "short", "text") or (_are_texts(cells) and len(set(cells)) < len(cells)):
        return False
    texts = [line for line in map(one_line, cells) if line is not None]
    if not len(set(texts)) == len(texts) == len(cells) or (kind == "number" and not all(map(str.isdecimal, texts))):
        return False
    return max(map(len, texts)) <= MAX_ID_CHARACTERS and not (kind == "text" and any(" " in text for text in texts))


def find_offered(source: Source, table: Table, kinds: Mapping[str, Kind]) -> dict[str, str]:
    """Return the columns that look like labels that are there already, each with a sentence that offers it.

    None where the source names such a column, nor columns that it names for something else.
    """
    if source.labels:
        return {}
    named = {*find_uses(source, table), *(source.show or ())}
    able = [name for name, kind in kinds.items() if name not in named and _may_be_labels(name, kind)]
    found = {name: said for name in able if (said := _offer(name, table.cells(name)))}
    asked = [name for name in found if kinds[name] == "boolean" and not _is_called_label(name)]
    return found if len(asked) < 2 else {name: said for name, said in found.items() if name not in asked}


def _may_be_labels(name: str, kind: Kind) -> bool:
    return kind in ("short", "text", "boolean") or (kind == "number" and _is_called_label(name))


def _is_called_label(name: str) -> bool:
    return name.casefold() in LABEL_NAMES


def _offer(name: str, cells: list[Any]) -> str | None:
    """Return the sentence that offers a column as labels that are there already, or None; see MAX_CLASSES."""
    counts = _count(cells)
    empty = counts.pop(None, 0)
    if not counts or max(len(value or "") for value in counts) > MAX_ID_CHARACTERS:
        return None
    few_values = 2 <= len(counts) <= MAX_CLASSES and len(cells) - empty >= MIN_PER_CLASS * len(counts)
    if [few_values, empty >= max(1, MIN_EMPTY * len(cells)), _is_called_label(name)].count(True) < SIGNS:
        return None
    gaps = counted(empty, "empty cell") if empty else "no empty cell"
    typed = f'"{name}"' if " " in name else name
    return f"{name} has {len(counts)} values and {gaps}: labels that you have already? then give --label {typed}"


def say_what_is_not_compared(source: Source, kinds: Mapping[str, Kind], offered: Mapping[str, str]) -> list[str]:
    """Return the sentence that names the columns that items are not compared by, and why; none if there is no such column."""
    beside = ", beside text" if source.texts else ""
    why = WHY_NOT | {"number": f"numbers{beside}", "boolean": f"yes or no{beside}"}
    left = [f"{name} ({'labels?' if name in offered else why[kind]})" for name, kind in kinds.items()]
    if not left or (source.features, source.text, source.vectors) == (None, None, None):
        return []
    more = f", … ({len(left)} in all)" if len(left) > MAX_NAMED else ""
    return [f"not compared: {', '.join(left[:MAX_NAMED])}{more}; --features or --text takes other columns"]
