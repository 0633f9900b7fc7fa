"""What texts mean as a third block of rows: laws on made-up vectors, and the installed package."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from tokenizers import Tokenizer
from tokenizers.models import WordLevel

import askgraph as ag
from askgraph.errors import MissingExtraError, SettingError
from askgraph.graph import meaning, neighbors
from askgraph.graph.meaning import SHAPE, TABLE, WordVectors, find_words, is_english, meaning_rows
from askgraph.graph.texts import Texts, choose_words, text_rows
from askgraph.workbench.growing import prepare_addition
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source

WORDS = ["cat", "feline", "purrs", "meows", "ship", "vessel", "sails", "floats", "the", "of"]
NEAR = np.array([[3, 0, 0], [3, 0.2, 0], [2.5, 0.1, 0.1], [2.5, 0, 0.2], [0, 3, 0], [0.2, 3, 0], [0.1, 2.5, 0.1], [0, 2.5, 0.2],
                 [0.1, 0.1, 0.1], [0.1, 0.1, 0.2]])  # fmt: skip
GERMAN = [
    "Der Hund bellt laut am Abend",
    "Ein Schiff fährt auf dem Meer",
    "Regen und Wind am Morgen",
    "Die Katze schläft",
]
HINDI = ["बिल्ली सो रही है", "जहाज समुद्र में है", "बारिश हो रही है", "कुत्ता भौंकता है"]
CHINESE = ["猫在睡觉", "船在海上", "下雨了", "狗在叫"]
ENGLISH = [
    "the cat purrs",
    "a feline that meows",
    "the ship sails",
    "a vessel of steel that floats",
    "the cat and the ship",
]


def split(texts):
    return [[WORDS.index(word) for word in text.lower().split() if word in WORDS] for text in texts]


made_up = WordVectors("wordllama", "1.0", "0" * 64, NEAR.astype(np.float32), split)
needs_package = pytest.mark.skipif(find_words() is None, reason='no wordllama here: pip install "askgraph[meaning]"')
texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), min_size=1, max_size=12)


@given(texts, st.randoms())
def test_rows_have_length_1_or_0_and_go_with_their_text(some, draw):
    rows = meaning_rows(some, made_up)[0]
    lengths = np.linalg.norm(rows, axis=1)
    assert np.logical_or(np.isclose(lengths, 1.0), lengths == 0.0).all()
    for k, text in enumerate(some):
        assert text or not rows[k].any()
        assert rows[k] == pytest.approx(rows[some.index(text)], abs=0)  # the same words, the same row, bit for bit
    order = list(range(len(some)))
    draw.shuffle(order)
    assert meaning_rows([some[k] for k in order], made_up)[0] == pytest.approx(rows[order], abs=1e-12)


def test_a_row_is_the_mean_of_vectors_less_that_of_all_texts():
    some = ["cat purrs", "ship", "cat cat the", ""]
    sums = np.array([sum((NEAR[WORDS.index(word)] for word in text.split()), np.zeros(3)) for text in some])
    unit = sums[:3] / np.linalg.norm(sums[:3], axis=1, keepdims=True)
    apart = unit - unit.mean(axis=0)
    wanted = np.vstack([apart / np.linalg.norm(apart, axis=1, keepdims=True), np.zeros(3)])
    assert meaning_rows(some, made_up)[0] == pytest.approx(wanted, abs=1e-6)
    assert not meaning_rows(["cat", "cat"], made_up)[0].any()  # what all say says nothing


def test_a_cosine_is_the_mean_of_words_fragments_and_meaning():
    rows, today = text_rows(ENGLISH, made_up), text_rows(ENGLISH)
    meant = meaning_rows(ENGLISH, made_up)[0]
    said = meant.any(axis=1)
    assert said.all()
    assert (rows @ rows.T).toarray() == pytest.approx((today @ today.T).toarray() + meant @ meant.T)
    assert (rows[:, : today.shape[1]] != today).nnz == 0


@pytest.mark.parametrize("some", [GERMAN, HINDI, CHINESE], ids=["German", "Hindi", "Chinese"])
def test_texts_in_other_languages_are_compared_as_without_meaning(some):
    with mock.patch("askgraph.graph.texts.find_words", return_value=made_up):
        assert choose_words(some, "auto") is None
    assert not is_english(some)
    assert is_english(ENGLISH)
    assert (ag.nearest_texts(some, k=2).weights != ag.nearest_texts(some, k=2, meaning="none").weights).nnz == 0


def test_where_the_package_is_not_there_it_is_named():
    with mock.patch("askgraph.graph.texts.find_words", return_value=None):
        assert choose_words(ENGLISH, "auto") is None
        with pytest.raises(MissingExtraError, match="askgraph\\[meaning\\]"):
            ag.nearest_texts(ENGLISH, meaning="wordllama")
    with pytest.raises(SettingError, match="choose 'none' or 'auto' or 'wordllama'"):
        ag.nearest_texts(ENGLISH, meaning="word2vec")
    with mock.patch.object(meaning, "find_spec", return_value=None):
        assert find_words.__wrapped__() is None


def header(**about):
    said = {"dtype": "F16", "shape": list(SHAPE), "data_offsets": [0, SHAPE[0] * SHAPE[1] * 2], **about}
    text = json.dumps({TABLE: said}).encode()
    return len(text).to_bytes(8, "little") + text


@pytest.mark.parametrize(
    "weights",
    [b"", b"\x05\0\0\0\0\0\0\0nojs", header(), header(shape=[3, 4]), header(shape=3), header(dtype="F32"),
     header(data_offsets=None), header(data_offsets=["a", 1]), header().replace(b"dtype", b"other"), b"\xff" * 40],
    ids=["empty", "no json", "no data", "another shape", "no shape", "another type", "no place", "no number", "no type", "no size"],
)  # fmt: skip
def test_a_file_that_is_no_table_of_vectors_is_as_if_there_were_none(weights):
    assert meaning._read_table(weights) is None


@pytest.mark.parametrize("damaged", [None, "pieces", "metadata", "weights"])
def test_a_package_that_is_damaged_is_as_if_there_were_none(tmp_path, monkeypatch, damaged):
    for name in (meaning.WEIGHTS, meaning.PIECES):
        (tmp_path / name).parent.mkdir()
    (tmp_path / meaning.WEIGHTS).write_bytes(b"" if damaged == "weights" else header(shape=[0, 0], data_offsets=[0, 0]))
    (tmp_path / meaning.PIECES).write_text("no json" if damaged == "pieces" else Tokenizer(WordLevel()).to_str())
    monkeypatch.setattr(meaning, "find_spec", lambda _: SimpleNamespace(submodule_search_locations=[str(tmp_path)]))
    monkeypatch.setattr(meaning, "SHAPE", (0, 0))
    monkeypatch.setattr(meaning, "PACKAGE", "no such package" if damaged == "metadata" else "numpy")
    assert (find_words.__wrapped__() is None) == (damaged is not None)


def test_a_table_is_read_as_it_was_written():
    values = np.arange(SHAPE[0] * SHAPE[1]).reshape(SHAPE) % 7 / 8
    found = meaning._read_table(header() + values.astype("<f2").tobytes())
    assert found.dtype == np.float32
    assert (found == values).all()


def test_signed_columns_of_few_entries_stay_sparse():
    some = np.where(np.random.default_rng(0).random((60, 50)) < 0.05, -1.0, 0.0) + np.eye(60, 50)
    assert neighbors._by_sign(csr_array(some))[1] is None
    assert neighbors._by_sign(some)[1] is None


@needs_package
def test_texts_that_share_no_word_are_joined_by_what_they_mean():
    some = [
        "The striker scored twice",
        "A late goal won the match",
        "Shares fell on Wall Street",
        "The bank raised its rates",
    ]
    edges = ag.nearest_texts(some, k=1, meaning="wordllama").weights.toarray() > 0
    assert edges[0, 1]
    assert edges[2, 3]
    assert not edges[:2, 2:].any()


OFFLINE = """
import logging, os, socket, sys
def refuse(*args, **options):
    raise AssertionError("a socket was opened")
socket.socket = refuse
before = list(logging.root.handlers), logging.root.level
import askgraph as ag
print(ag.nearest_texts(["the cat", "a feline", "the ship", "a vessel"], k=1, meaning="wordllama"))
assert (list(logging.root.handlers), logging.root.level) == before
assert "wordllama" not in sys.modules
assert not os.listdir(os.environ["HOME"])
"""


@needs_package
def test_nothing_is_fetched_logged_or_written(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE],
        env={"HOME": str(tmp_path), "PATH": "", "NUMBA_CACHE_DIR": "/nowhere", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "4 nodes" in done.stdout
    assert logging.root.level == logging.WARNING


def write(path, rows, first=0):
    lines = [f'p{first + k},"{text}"' for k, text in enumerate(rows)]
    path.write_text("\n".join(["id,title", *lines]) + "\n")
    return path


@pytest.fixture
def installed(monkeypatch):
    """The made-up vectors in place of the package."""
    for place in ("askgraph.graph.texts", "askgraph.workbench.items", "askgraph.workbench.rejoining"):
        monkeypatch.setattr(f"{place}.find_words", lambda: made_up)


def test_a_project_keeps_what_its_texts_were_compared_by_and_grows_with_the_same_alone(
    tmp_path, installed, monkeypatch
):
    table = write(tmp_path / "t.csv", [*ENGLISH, *(f"{text} {k}" for k, text in enumerate(ENGLISH))])
    Project.create(tmp_path / "p.ask", Source(table, text="title", meaning="wordllama"))
    more = write(tmp_path / "more.csv", ["the vessel floats", "cat of the feline"], 100)
    with Project.open(tmp_path / "p.ask", write=True) as project:
        assert project.items.columns["meaning"] == {"name": "wordllama", "version": "1.0", "sha256": "0" * 64}
        assert "the words, word fragments and meaning (wordllama 1.0) of 'title' (cosine)" in project.about["graph"][0]
        with monkeypatch.context() as other:
            other.setattr("askgraph.workbench.rejoining.find_words", lambda: None)
            with pytest.raises(
                SettingError, match=r"vectors of wordllama 1\.0, and it is not installed; pip install wordllama==1\.0"
            ):
                prepare_addition(project, more)
            for differs in ({"checksum": "1" * 64}, {"version": "1.1"}):
                other.setattr("askgraph.workbench.rejoining.find_words", lambda of=differs: made_up._replace(**of))
                with pytest.raises(SettingError, match="is installed, which may compare them otherwise"):
                    prepare_addition(project, more)
        prepare_addition(project, more)


def test_what_is_compared_is_said_and_without_meaning_nothing_is_kept(tmp_path, installed):
    table = write(tmp_path / "t.csv", GERMAN)
    Project.create(tmp_path / "p.ask", Source(table, text="title"))
    Project.create(tmp_path / "q.ask", Source(table, text="title", meaning="none"))
    with Project.open(tmp_path / "p.ask") as closed, Project.open(tmp_path / "q.ask") as without:
        assert closed.items.columns["meaning"] is None
        assert "left out: they are not in English (--meaning wordllama" in " ".join(closed.about["read"])
        assert without.about["graph"][0] == closed.about["graph"][0]
        assert (closed.graph.weights != without.graph.weights).nnz == 0
    numbers = tmp_path / "n.csv"
    numbers.write_text("id,x\n" + "".join(f"{k},{k}\n" for k in range(9)))
    with pytest.raises(SettingError, match="only texts are compared by what they mean"):
        Project.create(tmp_path / "n.ask", Source(numbers, features=["x"], meaning="wordllama"))


def test_a_further_text_is_compared_by_what_it_means_less_the_mean_of_all_texts():
    texts = Texts(ENGLISH, made_up)
    for k, text in enumerate(ENGLISH):
        assert abs(texts.row_of(text) - texts.rows[[k]]).max() < 1e-12
    assert np.argsort(-texts.cosines("feline meows purrs"))[:2].tolist() == [1, 0]
    assert texts.cosines("vessel")[2] > 0.3  # "the ship sails" shares no word with it
    assert texts.cosines("Hund")[2] <= 0
