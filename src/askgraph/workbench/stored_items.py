"""The items of a project: found by their ids or a text, and how each of them is called and shown."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from askgraph.errors import LabelError
from askgraph.support.arguments import whole_number
from askgraph.support.wording import few
from askgraph.workbench.cells import one_line, readable
from askgraph.workbench.columns import is_date, is_name
from askgraph.workbench.excerpts import Excerpts
from askgraph.workbench.items import MAX_SHOWN_FEATURES
from askgraph.workbench.likeness import Likeness
from askgraph.workbench.store import Item, Store

NAMING = {
    "title",
    "name",
    "headline",
    "heading",
    "subject",
    "titel",
    "überschrift",
    "betreff",
}  # columns that name items
NAMING_SAMPLE = 100  # items looked at for a column of names
MAX_TITLE_CHARACTERS = 80  # of an item in a list; longer titles are cut


class StoredItems:
    """The items of a project file, each at its place: its row number from 0, which is its node in the graph."""

    def __init__(self, store: Store, about: dict[str, Any]) -> None:
        self._store, self._about = store, about

    @cached_property
    def n_items(self) -> int:
        """The number of items."""
        return self._store.n_items

    def place(self, id: str) -> int:
        """Return the place of an item.

        Parameters
        ----------
        id
            The id of the item.

        Returns
        -------
        int
            The place.
        """
        return self.places([id])[0]

    def places(self, ids: Iterable[str]) -> list[int]:
        """Return the places of some items; raise an error that names all unknown ones.

        Parameters
        ----------
        ids
            The ids of the items.

        Returns
        -------
        list of int
            The places, in the order given.
        """
        found = [(id, self._store.place(one_line(id) or "")) for id in ids]
        if unknown := [id for id, place in found if place is None]:
            raise LabelError(f"no item {few(unknown)}; ids come from the table, and askgraph ask shows some")
        return [place for _, place in found if place is not None]

    def item(self, place: int) -> Item:
        """Return one item.

        Parameters
        ----------
        place
            The place of the item.

        Returns
        -------
        Item
            The item.
        """
        return self._store.items([whole_number(place, "place", 0, self.n_items - 1)])[0]

    def search(self, text: str) -> list[int]:
        """Find the items that hold a text in their id or in a field, but for fields that are kept for exports alone.

        Parameters
        ----------
        text
            The text; upper and lower case are the same.

        Returns
        -------
        list of int
            The places of the items.
        """
        return self._store.search(text, self.unseen)

    @cached_property
    def text_fields(self) -> list[str]:
        """The fields by whose texts items are compared; of items that are compared otherwise, all fields of text that are shown."""
        compared = [name for name in self.columns.get("text") or () if name in self._about["fields"]]
        return compared or [name for name, kind in self.shown.items() if kind == "text"]

    @property
    def fields(self) -> dict[str, str]:
        """All fields, and the kind of each."""
        found: dict[str, str] = self._about["fields"]
        return found

    @cached_property
    def text_columns(self) -> list[str]:
        """The fields of text that people see or items are compared by; none that is kept for exports alone."""
        return [name for name, kind in self.fields.items() if kind == "text" and name not in self.unseen]

    def check_texts(self) -> None:
        """Raise an error where items have no text, so that none of them is like some words."""
        if not self.text_fields:
            raise LabelError("these items have no field of text, so no words say which of them are meant")

    @cached_property
    def likeness(self) -> Likeness:
        """How alike the items are to some words, by what they are compared by: words, fragments and perhaps what they mean."""
        return Likeness(self._texts, bool(self.columns.get("meaning")))

    def _texts(self) -> list[str]:
        """Return the texts of each item, one after the other."""
        fields = (item.fields for item in self._store.every())
        return ["\n".join(str(one.get(name, "")) for name in self.text_fields) for one in fields]

    @cached_property
    def excerpts(self) -> Excerpts:
        """What lists show of items beside their names: the start of what items are compared by."""
        fields: dict[str, str] = self._about["fields"]
        compared = [name for name in self._about.get("compared", ()) if name in fields]
        texts = [name for name in self.text_fields if name != self.naming_field]
        return Excerpts(self._store, texts, [name for name in compared if fields[name] == "number"])

    def is_named(self, item: Item) -> bool:
        """Return whether an item has a name of its own; else its title is the start of what it holds, or tells nothing."""
        bare = not item.fields and not item.image  # a node of a graph has nothing but its name
        return bare or self.named_by_id or bool(item.fields.get(self.naming_field or ""))

    def title(self, item: Item) -> str:
        """Return a short line that stands for an item: its name, else its first text, else its numbers, else its id.

        The id is the name where it comes from a column of names.

        Parameters
        ----------
        item
            The item.

        Returns
        -------
        str
            One line of at most 80 characters.
        """
        kinds = {name: kind for name, kind in self.shown.items() if name in item.fields}
        texts = (
            str(item.fields[name]) for name, kind in kinds.items() if kind == "text" and not is_date(item.fields[name])
        )
        numbers = ", ".join(f"{name} {item.fields[name]}" for name, kind in kinds.items() if kind == "number")
        named = item.id if self.named_by_id else item.fields.get(self.naming_field or "")
        line = " ".join(readable(str(named or next(texts, "") or numbers)).split()) or item.id
        return line if len(line) <= MAX_TITLE_CHARACTERS else line[: MAX_TITLE_CHARACTERS - 1] + "…"

    @property
    def columns(self) -> dict[str, Any]:
        """The columns that items came from: of ids, images and labels, and those they are compared by; {} if not known."""
        found = self._about.get("source")
        return found if isinstance(found, dict) else {}

    @property
    def apart(self) -> bool:
        """Whether nothing joins the items yet, because they are compared later."""
        return "later" in self.columns

    @cached_property
    def shown(self) -> dict[str, str]:
        """The fields that people see, and the kind of each; of a project of an earlier version, not dozens of numbers."""
        fields: dict[str, str] = self._about["fields"]
        numbers = [name for name, kind in fields.items() if kind == "number"]
        hidden = set(self._about.get("hidden", numbers if len(numbers) > MAX_SHOWN_FEATURES else ()))
        return {name: kind for name, kind in fields.items() if name not in hidden}

    @cached_property
    def unseen(self) -> set[str]:
        """The fields that are kept for exports alone: neither shown nor compared, as labels that were there."""
        return set(self._about.get("hidden", ())) - set(self._about.get("compared", ()))

    @cached_property
    def naming_field(self) -> str | None:
        """The field that names the items: one called title, name or the like, else short texts that all differ; or None.

        None too where ids come from a column of names, which the page shows.
        """
        texts = [name for name, kind in self.shown.items() if kind == "text"]
        some = self._store.items(range(min(self.n_items, NAMING_SAMPLE)))
        called = (name for name in texts if name.casefold() in NAMING)
        distinct = (name for name in texts if _are_names([str(item.fields.get(name, "")) for item in some]))
        return next(called, None) or (None if self._ids_are_names else next(distinct, None))

    @property
    def named_by_id(self) -> bool:
        """Whether items are known by their ids, which come from a column of names."""
        return self._ids_are_names and self.naming_field is None

    @property
    def _ids_are_names(self) -> bool:
        column = self.columns.get("id")
        return isinstance(column, str) and is_name(column)

    @cached_property
    def copies(self) -> dict[int, list[int]]:
        """The places of the exact copies of each item that has some: the same image and fields, but for those that are unseen.

        Items whose ids are names are never copies: people label them by their names.
        """
        alike = [] if self._ids_are_names else self._store.same(self.unseen)
        return {place: [other for other in same if other != place] for same in alike for place in same}


def _are_names(texts: list[str]) -> bool:
    """Return whether texts are short, tell items apart, and are neither addresses nor dates."""
    named = bool(texts) and len(set(texts)) == len(texts) and max(map(len, texts)) <= MAX_TITLE_CHARACTERS
    return named and not any("://" in text for text in texts) and not all(map(is_date, texts))
