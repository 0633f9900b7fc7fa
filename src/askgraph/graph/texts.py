"""Texts as rows of numbers, words beside fragments of words, and the graph of texts that are alike."""

from __future__ import annotations

import html
import re
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack

from askgraph.errors import GraphError
from askgraph.graph.build import nearest_neighbors, place_nodes
from askgraph.graph.graph import Graph
from askgraph.support.arguments import listed
from askgraph.support.wording import counted

MAX_WORDS, MAX_FRAGMENTS = 50_000, 200_000  # in the vocabulary; rarer ones are left out
FRAGMENT = (2, 4)  # characters, from and to
TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
URL = re.compile(r"(?:https?://|www\.)([^\s/?#]+)\S*")  # the host is kept: it says where a link leads
DIGIT, WORD = re.compile(r"\d"), re.compile(r"\w")


def nearest_texts(texts: Iterable[Any], k: int = 10, names: Iterable[Hashable] | None = None) -> Graph:
    """Join each text to the k that are most alike, by their words and by fragments of words.

    A text is one row of TF-IDF weights of words beside one of fragments of two to four characters, each of unit length, and
    the distance of two texts is 1 − cosine. Fragments see what words do not: endings, misspellings, languages that write no
    spaces. A text without any letter or digit gets no edge.

    Parameters
    ----------
    texts : iterable of str
        The texts; None counts as an empty text, and anything else is turned into text first.
    k : int
        The number of neighbors of each text.
    names : iterable, optional
        The names of the texts.

    Returns
    -------
    Graph
        The graph of the texts, one node per text.

    Examples
    --------
    >>> nearest_texts(["red apples", "an apple, red", "blue sky", "the sky is blue"], k=1)
    Graph(4 nodes, 2 edges)
    """
    if isinstance(texts, str | bytes):
        raise GraphError("one text: give a list of texts")
    return join_written(text_rows(listed(texts, "texts", GraphError)), k, names)


def join_written(rows: csr_array, k: int, names: Iterable[Hashable] | None = None) -> Graph:
    """Join rows of texts to the k nearest by cosine; an empty row gets no edge."""
    n, written = rows.shape[0], np.flatnonzero(np.diff(rows.indptr))
    if written.size < 2:
        raise GraphError(f"{counted(written.size, 'text')} with words: neighbors need at least two")
    if written.size == n:
        return nearest_neighbors(rows, k, "cosine", names=names)
    graph = nearest_neighbors(rows[written], k, "cosine")
    empty = f"{counted(n - written.size, 'item')} without words: they have no edge, so nothing is predicted for them"
    return place_nodes(graph, written, n, names).noted(empty)


def text_rows(texts: Sequence[Any]) -> csr_array:
    """Return one row per text: TF-IDF of its words and of its fragments, each of unit length, so that a cosine is the mean of both.

    >>> rows = text_rows(["red apples", "green apples", None])
    >>> rows.shape[0], abs(rows.sum(axis=1)[2])
    (3, np.float64(0.0))
    """
    written = [plain_text(text) for text in texts]
    blocks = [
        _tfidf(written, analyzer="word", max_features=MAX_WORDS),
        _tfidf(written, analyzer="char_wb", ngram_range=FRAGMENT, max_features=MAX_FRAGMENTS),
    ]
    return csr_array(hstack(blocks, format="csr"))


def plain_text(text: Any) -> str:
    """Return the text that people read, every digit a 0, since numbers rarely recur; "" if it has no letter and no digit.

    Entities are decoded, tags left out, and of links the host is kept.

    >>> plain_text("Win &pound;1000 at <b>https://win.example.org/now?id=7</b>!")
    'Win £0000 at  win.example.org !'
    """
    if text is None:
        return ""
    bare = URL.sub(r"\1", TAG.sub(" ", html.unescape(str(text))))
    return DIGIT.sub("0", bare) if WORD.search(bare) else ""


def _tfidf(texts: list[str], **options: Any) -> csr_array:
    """Return TF-IDF rows of unit length; no column where there is nothing to count."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        return csr_array(TfidfVectorizer(sublinear_tf=True, **options).fit_transform(texts))
    except ValueError:  # an empty vocabulary
        return csr_array((len(texts), 0))
