"""Vectors of texts and pictures from a model on this machine: nothing is fetched, and a project keeps each part that is done."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from askgraph.errors import FileError, MissingExtraError, SettingError
from askgraph.graph.blocks import centered
from askgraph.io.pictures import find_picture
from askgraph.io.pixels import read_picture
from askgraph.io.readers import has_columns
from askgraph.support.arguments import listed, whole_number
from askgraph.support.progress import bar, working
from askgraph.support.wording import counted, few
from askgraph.types import AnyArray
from askgraph.workbench.items import GIVEN_VECTORS, Items
from askgraph.workbench.joining import Compared, Joined, directed_features
from askgraph.workbench.project import Project
from askgraph.workbench.rejoining import columns_of, join_again, now_compared
from askgraph.workbench.store import Item

Model = Callable[[list[Any]], Any]
BATCH = 64  # rows that a model gets at once
MODEL_FILES = ("modules.json", "config.json")  # by which the folder of a model is known
PART = 256  # items whose vectors are saved together: a run that is killed loses no more than these
EXTRA = 'embedding needs sentence-transformers, transformers and torch: pip install "askgraph[embed]"'


def embed(rows: Sequence[Any], model: Model | str | os.PathLike[str], batch_size: int = BATCH) -> AnyArray:
    """Return one vector per row, from a model on this machine or from a function.

    Parameters
    ----------
    rows : sequence
        Texts, or pictures: paths (``pathlib.Path``) or Pillow images. A function may take rows of any type.
    model : callable or str
        A function from a list of rows to one vector for each, or a model: for texts what sentence-transformers reads, for
        pictures a CLIP or DINO model of transformers. A model is the path of its folder, the name of an installed package that
        carries one, or its name if its weights lie in the cache of Hugging Face already; nothing is fetched. Needs
        ``pip install "askgraph[embed]"``.
    batch_size : int
        The number of rows that the model gets at once.

    Returns
    -------
    array
        One row per row, of 32-bit floats. ``ag.nearest_neighbors(vectors, metric="cosine")`` joins them.

    Examples
    --------
    >>> vectors = embed(["a", "bb", "ccc"], lambda texts: [[len(text), 1.0] for text in texts])
    >>> vectors.tolist()
    [[1.0, 1.0], [2.0, 1.0], [3.0, 1.0]]
    """
    rows, batch_size = listed(rows, "rows"), whole_number(batch_size, "batch_size", 1)
    if not rows:
        raise SettingError("no rows to embed; give at least one")
    pictures = isinstance(rows[0], os.PathLike | Image.Image)
    function = model if callable(model) else load_model(model, pictures)
    with bar(len(rows), "embedding") as tick:
        return _vectors(rows, function, batch_size, tick)


def _vectors(rows: Sequence[Any], model: Model, batch_size: int, tick: Callable[[float], None]) -> AnyArray:
    """Return one vector per row; the model gets ``batch_size`` rows at once."""
    found: list[AnyArray] = []
    for start in range(0, len(rows), batch_size):
        batch = list(rows[start : start + batch_size])
        vectors = _as_vectors(model(batch))
        width = found[0].shape[1:] if found else vectors.shape[1:]
        if (
            vectors.ndim != 2
            or vectors.shape != (len(batch), *width)
            or not vectors.size
            or not np.isfinite(vectors).all()
        ):
            raise SettingError(
                f"the model gave an array of shape {vectors.shape} for {counted(len(batch), 'row')}; "
                "it must give one vector of finite numbers for each, all of one length"
            )
        found.append(vectors)
        tick(len(batch))
    return np.concatenate(found)


def _as_vectors(given: Any) -> AnyArray:
    """Return what a model gave as 32-bit floats; infinite where a number is too large for them."""
    try:
        with np.errstate(over="ignore"):
            return np.asarray(given, dtype=np.float64).astype(np.float32)
    except (ValueError, TypeError, OverflowError):
        raise SettingError(
            f"the model gave {given!r}; it must give one vector of finite numbers for each row"
        ) from None


def load_model(name: str | os.PathLike[str], pictures: bool) -> Model:
    """Return a function from texts, or from pictures, to vectors; weights come from a folder, a package or the cache."""
    try:
        import sentence_transformers
        import torch
        import transformers
    except ImportError:
        raise MissingExtraError(EXTRA) from None
    with working(f"loading {name}"):
        try:
            place = str(name if Path(name).is_dir() else packaged_model(str(name)) or name)
            if pictures:
                return _picture_model(place, torch, transformers)
            return _text_model(place, sentence_transformers)
        except (OSError, ValueError, KeyError, ImportError) as error:
            raise FileError(_how_to_get(str(name), pictures, error)) from None


def packaged_model(package: str) -> Path | None:
    """Return the folder of the model that an installed package carries, without importing it; None if there is no such package."""
    try:
        files = [Path(str(file.locate())) for file in distribution(package).files or ()]
    except (PackageNotFoundError, ValueError):
        return None
    folders = [file.parent for name in MODEL_FILES for file in files if file.name == name]
    return min(folders, key=lambda folder: len(folder.parts), default=None)


def _text_model(name: str, sentence_transformers: Any) -> Model:
    model = sentence_transformers.SentenceTransformer(name, local_files_only=True)
    return lambda texts: model.encode(texts, batch_size=len(texts), show_progress_bar=False, convert_to_numpy=True)


def _picture_model(name: str, torch: Any, transformers: Any) -> Model:
    processor = transformers.AutoImageProcessor.from_pretrained(name, local_files_only=True)
    model = transformers.AutoModel.from_pretrained(name, local_files_only=True).eval()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model.to(device)
    look = getattr(model, "get_image_features", model)  # CLIP has a text side too, DINO has not

    def vectors(pictures: list[Any]) -> Any:
        with torch.inference_mode():
            opened = [read_picture(one) if isinstance(one, os.PathLike) else one for one in pictures]
            seen = look(**processor(images=opened, return_tensors="pt").to(device))
        return getattr(seen, "pooler_output", seen).cpu().numpy()

    return vectors


def _how_to_get(name: str, pictures: bool, error: Exception) -> str:
    """Return the sentence that says what to do where a model is not on this machine or cannot be read."""
    if Path(name).is_dir():
        reason = " ".join(str(error).split())[:200]
        return f"{name}: this folder does not hold a model that can be loaded ({reason}); save it anew with save_pretrained"
    owner = "facebook" if "dino" in name else "openai" if pictures else "sentence-transformers"
    hub = name if "/" in name else f"{owner}/{name}"
    return (
        f"{name}: neither a folder, nor a package with a model, nor one whose weights are on this machine; nothing is fetched; "
        f"get them once with: hf download {hub}, or name the folder of a model"
    )


def embed_project(
    project: Project, model: str | os.PathLike[str], fields: Sequence[str] | None = None, neighbors: int | None = None
) -> AnyArray:
    """Embed the items of a project that is open to write, keep the vectors there, and compare the items by them, too.

    Items are embedded by ``fields`` of text, by default by their pictures where they have some, else by all shown fields of
    text. The vectors count beside what the items are compared by already: as much as words, as all pictures, or as all numbers.
    Vectors are saved in parts; a second call with the same model goes on where the first one ended. Answers stay.
    """
    store, texts = project.store, [name for name, kind in project.items.shown.items() if kind == "text"]
    has_columns(store.path, list(project.about["fields"]), *(fields or ()))
    by_pictures = fields is None and project.about["images"] is not None
    names = [] if by_pictures else list(fields or texts)
    if not by_pictures and not names:
        raise SettingError(f"{store.path}: its items have neither text nor pictures to embed")
    made_by = {"model": _full_name(model), "fields": names or None, "beside": True}
    before = project.about.get("vectors") or {}
    if any(before.get(name) != made_by[name] for name in ("model", "fields")):
        store.drop("vectors/", but=GIVEN_VECTORS)
    if before != made_by:
        store.note("vectors", made_by)
    vectors = np.concatenate(list(_parts(project, model, names)))
    columns = columns_of(project) | ({} if neighbors is None else {"neighbors": neighbors})
    joined = join_again(project, columns, embedded=compared_by_model(made_by, vectors))
    notes = [*joined.notes, *joined.graph.notes]
    store.rejoin(joined.graph, joined.features, notes, now_compared(project.items.columns))
    return vectors


def compared_by_model(made_by: dict[str, Any], vectors: AnyArray) -> Compared:
    """Return vectors as what items are compared by; ``made_by`` names their model, and the fields it got, None for pictures."""
    of = f"the fields {few(made_by['fields'])}" if made_by["fields"] else "the pictures"
    missing = int((~vectors.any(axis=1)).sum())
    notes = (f"{counted(missing, 'item')} with nothing to embed",) if missing else ()
    said = f"vectors of {of} from {made_by['model']}, {vectors.shape[1]:,} numbers each"
    return Compared(
        vectors,
        lambda: centered(vectors)[0],
        said,
        f"{said} (cosine)",
        reads_texts=bool(made_by["fields"]),
        notes=notes,
    )


def join_embedded(embedded: Compared, neighbors: int) -> Joined:
    """Return what joins items by vectors from a model alone."""
    with working("comparing items"):
        graph = embedded.join(embedded.rows, neighbors)
    note = f"{counted(neighbors, 'nearest neighbor')} of each item by {embedded.alone}"
    return Joined(graph, [note, *embedded.notes], directed_features(graph, embedded.rows))


def stored_vectors(project: Project) -> AnyArray:
    """Return the vectors of all items that a model made; raise KeyError if some are missing."""
    n = project.items.n_items
    parts = [project.store.array(f"vectors/{start}").reshape(min(PART, n - start), -1) for start in range(0, n, PART)]
    return np.concatenate(parts)


def embed_new(project: Project, items: Items) -> AnyArray:
    """Return the vectors of all items of a project, and of new ones after them, by the model of the project."""
    made_by = project.about["vectors"]
    names = made_by["fields"] or []
    try:
        before = stored_vectors(project)
    except KeyError:
        raise SettingError(
            f"{project.store.path}: some of its items have no vectors yet; finish askgraph embed --model {made_by['model']} first"
        ) from None
    images = items.images or [None] * len(items.ids)
    new = [Item(0, id, items.row(k), images[k]) for k, id in enumerate(items.ids)]
    given = [_content(project, item, names) for item in new]
    some = [k for k, row in enumerate(given) if row is not None]
    vectors = np.zeros((len(new), before.shape[1]), dtype=np.float32)
    if some:
        function = load_model(made_by["model"], pictures=not names)
        with bar(len(some), "embedding") as tick:
            vectors[some] = _vectors([given[k] for k in some], function, BATCH, tick)
    return np.concatenate([before, vectors])


def split_parts(vectors: AnyArray) -> dict[str, AnyArray]:
    """Return the vectors of all items as the arrays that a project keeps, by name."""
    return {f"vectors/{start}": vectors[start : start + PART].ravel() for start in range(0, len(vectors), PART)}


def _full_name(model: str | os.PathLike[str]) -> str:
    return str(Path(model).absolute()) if Path(model).is_dir() else str(model)


def _parts(project: Project, model: str | os.PathLike[str], names: list[str]) -> Iterator[AnyArray]:
    """Yield the vectors of the items, part by part: those that are saved already, and new ones, which are saved."""
    store, n, function = project.store, project.items.n_items, None
    with bar(n, "embedding") as tick:
        for start in range(0, n, PART):
            places = range(start, min(start + PART, n))
            try:
                yield store.array(f"vectors/{start}").reshape(len(places), -1)
                tick(len(places))
                continue
            except KeyError:
                function = function or load_model(model, pictures=not names)
            given = [_content(project, item, names) for item in store.items(places)]
            some = [k for k, row in enumerate(given) if row is not None]
            blank = "" if names else Image.new("RGB", (32, 32))  # where a part has nothing, for the length of a vector
            found = _vectors([given[k] for k in some] or [blank], function, BATCH, lambda amount: None)
            vectors = np.zeros((len(places), found.shape[1]), dtype=np.float32)
            vectors[some] = found[: len(some)]
            store.keep(f"vectors/{start}", vectors.ravel())
            tick(len(places))
            yield vectors


def _content(project: Project, item: Item, names: list[str]) -> Any:
    """Return what a model gets of an item: its text, or its picture; None if there is none in its place or it cannot be read."""
    if names:
        return "\n".join(str(item.fields[name]) for name in names if name in item.fields).strip() or None
    try:
        found = find_picture(item.image or "", project.about["images"])
        return None if found is None else read_picture(found)
    except FileError:
        return None
