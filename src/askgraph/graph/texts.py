"""Texts as rows of numbers, words beside fragments of words; the graph of texts that are alike, and a search by words."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain, count
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, vstack

from askgraph.errors import GraphError, MissingExtraError
from askgraph.graph.blocks import join_blocks, side_by_side
from askgraph.graph.build import graph_from_pairs
from askgraph.graph.graph import Graph
from askgraph.graph.meaning import EXTRA, MEANINGS, WordVectors, find_words, is_english, meaning_rows
from askgraph.graph.several import alikeness
from askgraph.support.arguments import listed, one_of, whole_number
from askgraph.support.progress import working
from askgraph.support.threads import in_threads
from askgraph.support.wording import counted
from askgraph.types import Array, IntArray

MAX_WORDS, MAX_FRAGMENTS = 50_000, 200_000  # in the vocabulary; rarer ones are left out
FRAGMENT = (2, 4)  # characters, from and to
BYTES = 250, 400  # of memory per character of texts, until their graph is there: without meaning, and with it
TEXTS_PER_BLOCK = 5_000  # texts whose words and fragments are counted at a time
COMPARED, NEAR = 1_000, 10  # texts that columns of numbers are held against, and the neighbors of each
TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
URL = re.compile(r"(?:https?://|www\.)([^\s/?#]+)\S*")  # the host is kept: it says where a link leads
DIGIT, WORD, WORDS = re.compile(r"\d"), re.compile(r"\w"), re.compile(r"\b\w\w+\b")


def nearest_texts(
    texts: Iterable[Any], k: int = 10, names: Iterable[Hashable] | None = None, meaning: str = "auto"
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
    meaning : {"auto", "wordllama", "none"}
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


def search_texts(
    texts: Iterable[Any],
    query: str,
    n: int | None = 10,
    names: Iterable[Hashable] | None = None,
    meaning: str = "auto",
) -> tuple[list[Any], Array]:
    """Find the texts that are most alike to some words: a few of them, a sentence, or a whole text.

    Texts are compared as `nearest_texts` compares them; words and fragments that none of them holds do not count.

    Parameters
    ----------
    texts : iterable of str
        The texts; None counts as an empty text, and anything else is turned into text first.
    query : str
        The words.
    n : int, optional
        The number of texts to return, or fewer where fewer have anything in common with the words; None for all of these.
    names : iterable, optional
        The names of the texts.
    meaning : {"auto", "wordllama", "none"}
        Whether to compare what texts mean, as in `nearest_texts`.

    Returns
    -------
    tuple of list and array
        The indices of the texts, or their names, best first, and the cosine of each. Both are empty where nothing of the
        words is known.

    Examples
    --------
    >>> places, cosines = search_texts(["red apples", "green apples", "blue sky"], "an apple that is green", n=2)
    >>> places, cosines.round(2).tolist()
    ([1, 0], [0.85, 0.19])
    """
    if isinstance(texts, str | bytes):
        raise GraphError("one text: give a list of texts")
    if not isinstance(query, str):
        raise GraphError(f"query={query!r}: give the words to search for as text")
    given = listed(texts, "texts", GraphError)
    called = list(range(len(given))) if names is None else listed(names, "names", GraphError)
    if len(called) != len(given):
        raise GraphError(f"{len(called):,} names for {counted(len(given), 'text')}: give one name per text")
    cosines = Texts(given, choose_words(given, meaning)).cosines(query)
    places = best_first(cosines)[: None if n is None else whole_number(n, "n", 1)]
    return [called[place] for place in places], cosines[places]


def best_first(cosines: Array) -> IntArray:
    """Return the places of what has anything in common, the most alike first.

    >>> best_first(np.array([0.1, 0.0, 0.5])).tolist()
    [2, 0]
    """
    order = np.argsort(-cosines, kind="stable")
    return order[cosines[order] > 0]


def join_written(rows: csr_array, k: int, names: Iterable[Hashable] | None = None) -> Graph:
    """Join rows of texts to the k nearest by cosine; an empty row gets no edge."""
    graph, empty = join_blocks(rows, k, names, "text"), int(np.count_nonzero(np.diff(rows.indptr) == 0))
    said = f"{counted(empty, 'item')} without words: they have no edge, so nothing is predicted for them"
    return graph.noted(said) if empty else graph


class Texts:
    """Texts as rows of numbers, and what gives a further text, such as words to search for, a row among them.

    A row is TF-IDF of the words of a text and of its fragments, and perhaps what it means: blocks of unit length each.

    Parameters
    ----------
    texts : sequence
        The texts; None counts as an empty text, and anything else is turned into text first.
    meant : WordVectors, optional
        Vectors of words, by which texts are compared, too.

    Attributes
    ----------
    rows : sparse array
        One row per text.

    Examples
    --------
    >>> texts = Texts(["red apples", "green apples", None])
    >>> texts.cosines("apples, green ones").round(2).tolist()
    [0.43, 0.99, 0.0]
    """

    rows: csr_array

    def __init__(self, texts: Sequence[Any], meant: WordVectors | None = None) -> None:
        n, plain = len(texts), [plain_text(text) for text in texts]
        gigabytes = max(0.1, sum(map(len, plain)) * BYTES[meant is not None] / 1e9)
        with working(f"words and fragments of {n:,} texts: up to {gigabytes:.1f} GB of memory"):
            tokens, documents = _tokens(plain)
            self._words, words = _tfidf(documents, [_words(token) for token in tokens], MAX_WORDS)
            self._fragments, fragments = _tfidf(documents, [_fragments(token) for token in tokens], MAX_FRAGMENTS)
        self._meaning, blocks = None, [words, fragments]
        if meant is not None:
            with working(f"meaning of {n:,} texts"):
                meanings, self._meaning = meaning_rows([bare_text(text) for text in texts], meant)
            blocks.append(csr_array(meanings))
        self.rows = csr_array(side_by_side(blocks))
        self._lengths = np.sqrt(np.sum([np.diff(block.indptr) > 0 for block in blocks], axis=0))

    def row_of(self, text: Any) -> csr_array:
        """Return the row of a further text: what none of the texts holds does not count.

        Parameters
        ----------
        text : object
            The text, as one of those that were given.

        Returns
        -------
        sparse array
            One row; empty where nothing of the text is known.
        """
        tokens = plain_text(text).lower().split()
        words, fragments = (chain.from_iterable(map(part, tokens)) for part in (_words, _fragments))
        blocks = [self._words.row_of(words), self._fragments.row_of(fragments)]
        if self._meaning is not None:
            blocks.append(csr_array(self._meaning.row_of(bare_text(text))))
        return csr_array(side_by_side(blocks))

    def cosines(self, text: Any) -> Array:
        """Return how alike each text is to a further one: the cosine of their rows, 0 where one of them is empty.

        Parameters
        ----------
        text : object
            The further text.

        Returns
        -------
        array
            One number per text.
        """
        row = self.row_of(text)
        lengths = self._lengths * np.sqrt((row.data**2).sum())
        products = (self.rows @ row.T).toarray().ravel()
        return np.divide(products, lengths, out=np.zeros(products.size), where=lengths > 0)


def text_rows(texts: Sequence[Any], meant: WordVectors | None = None) -> csr_array:
    """Return one row per text: TF-IDF of its words and of its fragments, each of unit length, so that a cosine is the mean of both.

    With vectors of words, what the text means is a third block.

    >>> rows = text_rows(["red apples", "green apples", None])
    >>> rows.shape[0], abs(rows.sum(axis=1)[2])
    (3, np.float64(0.0))
    """
    return Texts(texts, meant).rows


def choose_words(texts: Sequence[Any], meaning: str) -> WordVectors | None:
    """Return the vectors of words by which texts are compared, too; None where they are not; `nearest_texts` says when."""
    if one_of(meaning, "meaning", MEANINGS) == "none":
        return None
    if meaning == "auto":
        return find_words() if is_english([bare_text(text) for text in texts]) else None
    if (words := find_words()) is None:
        raise MissingExtraError(EXTRA)
    return words


def like_texts(texts: Sequence[str], columns: Mapping[str, Array]) -> list[str]:
    """Return the columns of numbers by which items of like texts are alike, of some items: their neighbors share words.

    Any others would make neighbors of items that have nothing to do with each other.
    """
    written = np.array([k for k, text in enumerate(texts) if WORD.search(text)], dtype=np.int64)
    rng = np.random.default_rng(0)
    some = rng.permutation(written)[:COMPARED]
    if some.size <= NEAR or not columns:
        return []
    rows = text_rows([texts[k] for k in some])
    near = join_blocks(rows, NEAR)
    return [
        name for name, column in columns.items() if alikeness(_chain(column[some], rng.random(some.size)), near, rows)
    ]


def _chain(column: Array, ties: Array) -> Graph:
    """Join the rows that follow each other in the order of a column, NEAR of them; ``ties`` orders equal numbers."""
    order = np.lexsort((ties, column))
    steps = range(1, NEAR // 2 + 1)
    i = np.concatenate([order[:-step] for step in steps])
    j = np.concatenate([order[step:] for step in steps])
    return graph_from_pairs(order.size, i, j)


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


def _words(token: str) -> list[str]:
    return WORDS.findall(token)


def _fragments(token: str) -> list[str]:
    """Return the fragments of a token with a space on either side; a token too short for the next length has no longer ones."""
    padded = f" {token} "
    lengths = range(FRAGMENT[0], min(FRAGMENT[1], len(padded)) + 1)
    return [padded[at : at + length] for length in lengths for at in range(len(padded) - length + 1)]


class _Terms(NamedTuple):
    """The terms of texts: the column of each, and how rare it is."""

    columns: dict[str, int]
    rarity: Array

    def row_of(self, parts: Iterable[str]) -> csr_array:
        """Return the row of a further text by the terms that it consists of, of which unknown ones are left out."""
        counts = _counted([sorted(self.columns[term] for term in parts if term in self.columns)], len(self.columns))
        counts.sum_duplicates()
        return _weighted(counts, self.rarity)


def _tfidf(documents: csr_array, parts: list[list[str]], most: int) -> tuple[_Terms, csr_array]:
    """Return terms that tokens consist of, and TF-IDF rows of unit length, as scikit-learn's vectorizer counts them.

    Texts share most of their tokens, so each token is taken apart once, and terms are counted by a product of matrices.
    """
    terms = sorted(set(chain.from_iterable(parts)))
    columns = {term: k for k, term in enumerate(terms)}
    consist = _counted([[columns[term] for term in some] for some in parts], len(terms))
    totals = (documents.sum(axis=0) @ consist).astype(np.int64)
    if totals.size > most:
        kept = np.sort(np.argsort(-totals)[:most])
        consist, columns = consist[:, kept], {terms[k]: place for place, k in enumerate(kept)}
    counts = _product(documents, consist)
    rarity = _rarity(counts)
    return _Terms(columns, rarity), _weighted(counts, rarity)


def _rarity(counts: csr_array) -> Array:
    """Return 1 + log((1 + n) / (1 + rows with the term)) of each term."""
    n, terms = counts.shape
    return np.asarray(1 + np.log((1 + n) / (1 + np.bincount(counts.indices, minlength=terms))))


def _weighted(counts: csr_array, rarity: Array) -> csr_array:
    """Return (1 + log count) · rarity, each row scaled to length 1."""
    n = counts.shape[0]
    values, row = (np.log(counts.data) + 1) * rarity[counts.indices], np.repeat(np.arange(n), np.diff(counts.indptr))
    values /= np.sqrt(np.bincount(row, values * values, minlength=n))[row]
    return csr_array((values, counts.indices, counts.indptr), shape=counts.shape)


def _product(left: csr_array, right: csr_array) -> csr_array:
    """Return the product of two sparse matrices, in threads, with sorted places."""

    def part(rows: slice) -> csr_array:
        found = csr_array(left[rows] @ right)
        found.sort_indices()
        return found

    starts = range(0, max(left.shape[0], 1), TEXTS_PER_BLOCK)
    return csr_array(vstack(in_threads(part, [slice(at, at + TEXTS_PER_BLOCK) for at in starts])))
