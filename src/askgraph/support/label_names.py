"""Names by which a column or an array holds labels, in lower case."""

from __future__ import annotations

FILE_LABELS = {"label", "labels", "class", "y"}  # of a file of labels
LABEL_NAMES = FILE_LABELS - {"y"} | {
    "target", "relevant", "relevance", "included", "include", "label_included", "inclusion", "annotation", "gold", "klasse",
    "zielklasse", "relevanz", "einschluss",
}  # fmt: skip
USUAL_LABELS = LABEL_NAMES | {"category", "species", "topic", "kind"}
