"""Texts as rows of numbers, words beside fragments of words, and the graph of texts that are alike."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from itertools import chain, count
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack, vstack

from askgraph.errors import GraphError, MissingExtraError
from askgraph.graph.build import nearest_neighbors, place_nodes
from askgraph.graph.graph import Graph
from askgraph.graph.meaning import EXTRA, MEANINGS, WordVectors, find_words, is_english, meaning_rows
from askgraph.support.arguments import listed, one_of
from askgraph.support.progress import working
from askgraph.support.threads import in_threads
from askgraph.support.wording import counted

MAX_WORDS, MAX_FRAGMENTS = 50_000, 200_000  # in the vocabulary; rarer ones are left out
FRAGMENT = (2, 4)  # characters, from and to
BYTES = (
    250,
    400,
)  # of memory per character of texts, from their rows to the features of their graph: without meaning, and with it
TEXTS_PER_BLOCK = 5_000  # texts whose words and fragments are counted at a time
TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
URL = re.compile(r"(?:https?://|www\.)([^\s/?#]+)\S*")  # the host is kept: it says where a link leads
DIGIT, WORD, WORDS = re.compile(r"\d"), re.compile(r"\w"), re.compile(r"\b\w\w+\b")


def nearest_texts(
    texts: Iterable[Any], k: int = 10, names: Iterable[Hashable] | None = None, meaning: str = "none"
) -> Graph:
    """Join each text to the k that are most alike, by their words, by fragments of words and perhaps by what they mean.

    A text is one row of TF-IDF weights of words beside one of fragments of two to four characters, each of unit length, and
    the distance of two texts is 1 − cosine. Fragments see what words do not: endings, misspellings, languages that write no
    spaces. A text without any letter or digit gets no edge. What English texts mean is the mean of vectors of their words, less
    that of all texts: a third block of unit length, so that texts are alike, too, that share no word.

    Parameters
    ----------
    texts : iterable of str
        The texts; None counts as an empty text, and anything else is turned into text first.
    k : int
        The number of neighbors of each text.
    names : iterable, optional
        The names of the texts.
    meaning : {"none", "auto", "wordllama"}
        Whether to compare what texts mean, by vectors of words that the package wordllama carries
        (``pip install "askgraph[meaning]"``); "auto" does where it is installed and the texts are English.

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
    given = listed(texts, "texts", GraphError)
    return join_written(text_rows(given, choose_words(given, meaning)), k, names)


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


def text_rows(texts: Sequence[Any], meant: WordVectors | None = None) -> csr_array:
    """Return one row per text: TF-IDF of its words and of its fragments, each of unit length, so that a cosine is the mean of both.

    With vectors of words, what the text means is a third block.

    >>> rows = text_rows(["red apples", "green apples", None])
    >>> rows.shape[0], abs(rows.sum(axis=1)[2])
    (3, np.float64(0.0))
    """
    n, plain = len(texts), [plain_text(text) for text in texts]
    gigabytes = max(0.1, sum(map(len, plain)) * BYTES[meant is not None] / 1e9)
    with working(f"words and fragments of {n:,} texts: up to {gigabytes:.1f} GB of memory"):
        tokens, documents = _tokens(plain)
        blocks = [
            _tfidf(documents, [WORDS.findall(token) for token in tokens], MAX_WORDS),
            _tfidf(documents, [_fragments(token) for token in tokens], MAX_FRAGMENTS),
        ]
    if meant is not None:
        with working(f"meaning of {n:,} texts"):
            blocks.append(csr_array(meaning_rows([bare_text(text) for text in texts], meant)))
    return csr_array(hstack(blocks, format="csr"))


def choose_words(texts: Sequence[Any], meaning: str) -> WordVectors | None:
    """Return the vectors of words by which texts are compared, too; None where they are not; `nearest_texts` says when."""
    if one_of(meaning, "meaning", MEANINGS) == "none":
        return None
    if meaning == "auto":
        return find_words() if is_english([bare_text(text) for text in texts]) else None
    if (words := find_words()) is None:
        raise MissingExtraError(EXTRA)
    return words


def plain_text(text: Any) -> str:
    """Return the text that people read, every digit a 0, since numbers rarely recur; "" if it has no letter and no digit.

    >>> plain_text("Win &pound;1000 at <b>https://win.example.org/now?id=7</b>!")
    'Win £0000 at  win.example.org !'
    """
    return DIGIT.sub("0", bare_text(text))


def bare_text(text: Any) -> str:
    """Return the text that people read: entities decoded, tags left out, of links the host; "" without a letter or digit."""
    if text is None:
        return ""
    bare = URL.sub(r"\1", TAG.sub(" ", html.unescape(str(text))))
    return bare if WORD.search(bare) else ""


def _tokens(texts: Iterable[str]) -> tuple[list[str], csr_array]:
    """Return what stands between spaces in any of the texts, and how often each of these tokens stands in each text."""
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    rows = [[numbers[token] for token in text.lower().split()] for text in texts]
    return list(numbers), _counted(rows, len(numbers))


def _counted(rows: Sequence[Sequence[int]], columns: int) -> csr_array:
    """Return a matrix that counts how often each number stands in each row; it may name a place several times."""
    starts = np.cumsum([0, *map(len, rows)])
    kind = np.int32 if starts[-1] < 2**31 else np.int64
    places = np.fromiter(chain.from_iterable(rows), dtype=kind, count=starts[-1])
    return csr_array((np.ones(places.size), places, starts.astype(kind)), shape=(len(rows), columns))


def _fragments(token: str) -> list[str]:
    """Return the fragments of a token with a space on either side; a token too short for the next length has no longer ones."""
    padded = f" {token} "
    lengths = range(FRAGMENT[0], min(FRAGMENT[1], len(padded)) + 1)
    return [padded[at : at + length] for length in lengths for at in range(len(padded) - length + 1)]


def _tfidf(documents: csr_array, parts: list[list[str]], most: int) -> csr_array:
    """Return TF-IDF rows of unit length of the parts that tokens consist of, as scikit-learn's vectorizer counts them.

    Texts share most of their tokens, so each token is taken apart once, and parts are counted by a product of matrices.
    """
    terms = {term: k for k, term in enumerate(sorted(set(chain.from_iterable(parts))))}
    if not terms:
        return csr_array((documents.shape[0], 0))
    consist = _counted([[terms[term] for term in some] for some in parts], len(terms))
    totals = (documents.sum(axis=0) @ consist).astype(np.int64)
    if totals.size > most:
        consist = consist[:, np.sort(np.argsort(-totals)[:most])]
    return _weighted(_product(documents, consist))


def _weighted(counts: csr_array) -> csr_array:
    """Return (1 + log count) · (1 + log((1 + n) / (1 + rows with the term))), each row scaled to length 1."""
    n, terms = counts.shape
    rarity = 1 + np.log((1 + n) / (1 + np.bincount(counts.indices, minlength=terms)))
    values, row = (np.log(counts.data) + 1) * rarity[counts.indices], np.repeat(np.arange(n), np.diff(counts.indptr))
    values /= np.sqrt(np.bincount(row, values * values, minlength=n))[row]
    return csr_array((values, counts.indices, counts.indptr), shape=counts.shape)


def _product(left: csr_array, right: csr_array) -> csr_array:
    """Return the product of two sparse matrices, in threads, with sorted places."""

    def part(rows: slice) -> csr_array:
        found = csr_array(left[rows] @ right)
        found.sort_indices()
        return found

    n = left.shape[0]
    return csr_array(vstack(in_threads(part, [slice(at, at + TEXTS_PER_BLOCK) for at in range(0, n, TEXTS_PER_BLOCK)])))
