"""Texts as rows and as a graph, and the search among many of them."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, hstack

import askgraph as ag
from askgraph.graph import neighbors
from askgraph.graph import texts as text_module
from askgraph.graph.texts import Texts, plain_text, text_rows

SCRIPTS = {
    "Latin": (
        ["der Hund bellt laut", "ein Hund, der bellt", "zwei Hunde bellen"],
        ["Regen am Abend", "abends regnet es", "es regnet"],
    ),
    "Cyrillic": (
        ["собака громко лает", "лает собака", "собаки лают"],
        ["вечером идёт дождь", "дождь идёт", "дождливый вечер"],
    ),
    "Japanese": (["犬が大声で吠える", "犬が吠える", "大きな犬が吠えた"], ["夜に雨が降る", "雨が降った夜", "夜の雨"]),
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_texts_are_joined_in_any_script(script):
    one, other = SCRIPTS[script]
    edges = ag.nearest_texts([*one, *other], k=1).weights.toarray() > 0
    assert edges[:3, :3].any(axis=1).all()
    assert edges[3:, 3:].any(axis=1).all()
    assert not edges[:3, 3:].any()


def test_a_cosine_is_the_mean_of_words_and_fragments():
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = ["red apples", "an apple, red", "blue sky", "apples in the sky"]
    rows = text_rows(texts)
    words, fragments = (
        TfidfVectorizer(sublinear_tf=True, **options).fit_transform(texts)
        for options in ({}, {"analyzer": "char_wb", "ngram_range": (2, 4)})
    )
    cosines = (words @ words.T + fragments @ fragments.T) / 2
    np.testing.assert_allclose((rows @ rows.T).toarray() / 2, cosines.toarray(), atol=1e-12)


@pytest.mark.slow
@given(st.lists(st.text(st.sampled_from("aAbß́Σς犬0_ \n\x1c-.")), min_size=1, max_size=8), st.integers(1, 30))
def test_rows_are_those_of_scikit_learn(texts, most):
    """Counting by tokens gives what the vectorizer gives, to the last bits, where rare terms are left out too."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    options = [{}, {"analyzer": "char_wb", "ngram_range": (2, 4)}]
    plain = [plain_text(text) for text in texts]
    with mock.patch.multiple(text_module, MAX_WORDS=most, MAX_FRAGMENTS=most, TEXTS_PER_BLOCK=3):
        rows = text_rows(texts)
    blocks = []
    for chosen in options:
        try:
            blocks.append(TfidfVectorizer(sublinear_tf=True, max_features=most, **chosen).fit_transform(plain))
        except ValueError:  # no words at all
            blocks.append(csr_array((len(texts), 0)))
    np.testing.assert_allclose(rows.toarray(), hstack(blocks).toarray(), rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (None, ""),
        ("!! ?", ""),
        ("caf&eacute; &amp; bar", "café & bar"),
        ("<p>one<br/>two</p>", " one two "),
        ("see http://a.example/b?c=1 now", "see a.example now"),
        ("call 0800 12", "call 0000 00"),
        ("x < y and y > z", "x < y and y > z"),
        (3.5, "0.0"),
    ],
)
def test_texts_are_read_as_people_read_them(text, read):
    assert plain_text(text) == read


def test_empty_texts_and_names():
    texts = ["a red apple", None, "an apple, red", "!!", "blue sky", "the sky is blue"]
    graph = ag.nearest_texts(texts, k=1, names="uvwxyz")
    assert list(graph.names) == list("uvwxyz")
    assert graph.degrees[[1, 3]].tolist() == [0, 0]
    assert any("2 items without words" in note for note in graph.notes)
    with pytest.raises(ag.GraphError, match="at least two"):
        ag.nearest_texts(["one", None, ""])


def many_texts(n, rng, words=3000):
    """Texts of words as often as in a language: the k-th word 1/k as often as the first."""
    vocabulary = np.array(["".join(rng.choice(list("abcdefghijklmnop"), 6)) for _ in range(words)])
    often = 1 / np.arange(1, words + 1)
    return [" ".join(rng.choice(vocabulary, 20, p=often / often.sum())) for _ in range(n)]


@pytest.mark.slow
def test_many_texts_are_searched_by_their_heaviest_entries(monkeypatch):
    rows = text_rows(many_texts(600, np.random.default_rng(0)))
    exact = ag.nearest_neighbors(rows, 5, "cosine")
    monkeypatch.setattr(neighbors, "SPARSE_UP_TO", 100)
    monkeypatch.setattr(neighbors, "HEAVIEST", 10_000)
    monkeypatch.setattr(neighbors, "CANDIDATES", 600)
    same = ag.nearest_neighbors(rows, 5, "cosine")
    np.testing.assert_allclose(same.weights.toarray(), exact.weights.toarray(), atol=1e-9)
    assert any("100.0% of the true ones" in note for note in same.notes)
    monkeypatch.setattr(neighbors, "HEAVIEST", 20)
    monkeypatch.setattr(neighbors, "CANDIDATES", 100)
    close = ag.nearest_neighbors(rows, 5, "cosine")
    shared = ((close.weights > 0).multiply(exact.weights > 0)).sum() / (exact.weights > 0).sum()
    assert 0.8 < shared <= 1


def test_rows_that_share_nothing_get_neighbors_too(monkeypatch):
    monkeypatch.setattr(neighbors, "SPARSE_UP_TO", 3)
    graph = ag.nearest_neighbors(csr_array(np.eye(6)), 2, "cosine")
    assert (np.diff(graph.weights.indptr) >= 2).all()


def test_many_rows_have_the_distances_of_few(monkeypatch):
    """The compiled search finds what a search of all pairs finds, where rows are equal, share nothing or hold tiny numbers."""
    rng = np.random.default_rng(1)
    table = rng.random((40, 60)) * (rng.random((40, 60)) < 0.15)
    table[3], table[4], table[5, 7] = table[2], 0, 1e-200
    few = ag.nearest_neighbors(csr_array(table), 4, "cosine")
    monkeypatch.setattr(neighbors, "SPARSE_UP_TO", 3)
    many = ag.nearest_neighbors(csr_array(table), 4, "cosine")
    joined = few.weights.sum(axis=1) > 0
    joined[4] = False  # equally far from all: any neighbors will do
    keep = np.ix_(joined, joined)
    np.testing.assert_allclose(many.weights.toarray()[keep], few.weights.toarray()[keep], atol=1e-12)


LANGUAGES = {
    "English": ["an SMTP server", "a game of cards", "a mail client"],
    "German": ["Der Hund bellt laut am Abend", "Ein Schiff fährt auf dem Meer", "Die Katze schläft"],
    "Hindi": ["बिल्ली सो रही है", "जहाज समुद्र में है", "कुत्ता भौंकता है"],
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_text_among_the_texts_gets_the_row_that_it_has(language):
    texts = Texts(LANGUAGES[language])
    for k, text in enumerate(LANGUAGES[language]):
        assert abs(texts.row_of(text) - texts.rows[[k]]).max() == 0.0
        assert texts.cosines(text)[k] == pytest.approx(1.0)
        assert texts.cosines(text).argmax() == k
        assert ag.search_texts(LANGUAGES[language], text.split()[1])[0][0] == k


@given(st.lists(st.text(st.sampled_from("aAbß́Σς犬0_ \n\x1c-.")), min_size=1, max_size=6), st.integers(1, 30))
def test_a_text_gets_its_row_where_rare_terms_are_left_out(some, most):
    with mock.patch.multiple(text_module, MAX_WORDS=most, MAX_FRAGMENTS=most):
        texts = Texts(some)
    for k, text in enumerate(some):
        assert (texts.row_of(text) != texts.rows[[k]]).nnz == 0


def test_a_search_gives_the_most_alike_first_and_nothing_for_what_is_unknown():
    texts = ["red apples", "green apples", None, "blue sky"]
    places, cosines = ag.search_texts(texts, "apples, green", n=None)
    assert places == [1, 0]
    assert (np.diff(cosines) < 0).all()
    assert ag.search_texts(texts, "apples, green", n=1)[0] == [1]
    assert ag.search_texts(texts, "apples, green", names=["r", "g", "-", "b"])[0] == ["g", "r"]
    for unknown in ("", "  ", "!?", "犬が", "xyz"):
        places, cosines = ag.search_texts(texts, unknown)
        assert places == []
        assert cosines.size == 0
    assert ag.search_texts([], "apples")[0] == []
    for wrong in (
        lambda: ag.search_texts("apples", "apples"),
        lambda: ag.search_texts(texts, None),
        lambda: ag.search_texts(texts, "apples", names=["a"]),
        lambda: ag.search_texts(texts, "apples", n=0),
    ):
        with pytest.raises(ag.AskgraphError):
            wrong()
