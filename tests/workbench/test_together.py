"""Items that are compared by several things at once: blocks of columns side by side, each of unit length, and their weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image
from scipy.sparse import csr_array, hstack

import askgraph as ag
from askgraph.errors import SettingError
from askgraph.graph.blocks import centered, graded, side_by_side
from askgraph.graph.pictures import PARTS
from askgraph.graph.texts import text_rows
from askgraph.io.pictures import named_picture_rows
from askgraph.workbench.columns import look_at_columns
from askgraph.workbench.growing import prepare_addition, take_in
from askgraph.workbench.items import read_items
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source, read_columns

TEXTS = [
    "Katze mit Pfoten, schläft gern auf dem Sofa",
    "Schiff auf weitem Meer, unter vollen Segeln",
    "Hund und Katze im Garten hinterm Haus",
]


@pytest.fixture
def table(tmp_path):
    """Forty texts of three kinds, with a size that tells two of them apart, and vectors beside."""
    rng = np.random.default_rng(0)
    rows = [
        f'n{k},"{TEXTS[k % 3]}, {k // 3}",{rng.normal() + 3 * (k % 3 == 1):.3f},{rng.normal():.3f}' for k in range(40)
    ]
    (tmp_path / "t.csv").write_text("id,about,size,mass\n" + "\n".join(rows) + "\n")
    np.save(tmp_path / "v.npy", rng.normal(size=(40, 5)))
    return tmp_path / "t.csv"


def cells(path):
    rows = [line.rsplit(",", 2) for line in path.read_text().splitlines()[1:]]
    return [text.split(",", 1)[1].strip('"') for text, _, _ in rows], np.array(
        [[float(a), float(b)] for _, a, b in rows]
    )


def weights_of(source):
    items, graph, notes = read_items(source)
    return graph.weights.toarray(), items, notes


def test_text_and_numbers_count_the_same_and_columns_as_often_as_is_said(table):
    texts, numbers = cells(table)
    both = Source(table, text="about", features=["size", "mass"], neighbors=4)
    found, items, notes = weights_of(both)
    rows = hstack([text_rows(texts), csr_array(np.sqrt(2) * graded(numbers))], format="csr")
    np.testing.assert_allclose(found, ag.nearest_neighbors(rows, 4, "cosine").weights.toarray(), atol=1e-12)
    assert "by the words and word fragments of 'about' and, beside that, by 'size', 'mass' (cosine)" in notes[0]
    assert items.features is not None
    found, _, _ = weights_of(replace(both, weights={"size": 3.0, "about": 0.5}))
    block = graded(numbers, np.array([3.0, 1.0]))
    rows = hstack([np.sqrt(0.5) * text_rows(texts), csr_array(np.sqrt(2 * 2.0) * block)], format="csr")
    np.testing.assert_allclose(found, ag.nearest_neighbors(rows, 4, "cosine").weights.toarray(), atol=1e-12)


@pytest.mark.parametrize("gaps", [False, True])
def test_numbers_count_beside_text_by_themselves_where_they_have_to_do_with_it(tmp_path, gaps):
    rng, path = np.random.default_rng(0), tmp_path / "t.csv"
    lines = ["id,about,size,mass,fast,late"]
    for k in range(240):
        size = "" if gaps and k % 7 == 0 else f"{rng.normal() + 3 * (k % 3 == 1):.3f}"
        fast, late = ("yes", "no")[k % 3 == 2], ("yes", "no")[rng.integers(2)]
        lines.append(f'n{k},"{TEXTS[k % 3]}, {rng.integers(99)}",{size},{rng.normal():.3f},{fast},{late}')
    path.write_text("\n".join(lines) + "\n")
    items, _, notes = read_items(Source(path))
    assert "by the words and word fragments of 'about' and, beside that, by 'size', 'fast' (cosine)" in notes[0]
    assert any(
        "not compared: mass (numbers, beside text), late (yes or no, beside text)" in note for note in items.notes
    )
    assert "of 'about' (TF-IDF" in read_items(Source(path, text="about"))[2][0]  # nothing beside what is named
    assert [one.use for one in look_at_columns(Source(path), read_columns(path))] == [
        "id",
        *["compared"] * 2,
        None,
        "compared",
        None,
    ]


def test_vectors_are_a_block_beside_words_and_numbers(table):
    texts, numbers = cells(table)
    vectors = np.load(table.with_name("v.npy"))
    source = Source(table, text="about", vectors=str(table.with_name("v.npy")), neighbors=4)
    found, items, _ = weights_of(source)
    rows = side_by_side([text_rows(texts), centered(vectors)[0]])
    np.testing.assert_allclose(found, ag.nearest_neighbors(rows, 4, "cosine").weights.toarray(), atol=1e-12)
    np.testing.assert_array_equal(items.arrays["vectors/given"].reshape(40, 5), vectors)
    found, _, _ = weights_of(Source(table, features=["size", "mass"], vectors=source.vectors, neighbors=4))
    rows = np.hstack([centered(vectors)[0], np.sqrt(2) * graded(numbers)])
    np.testing.assert_allclose(found, ag.nearest_neighbors(rows, 4, "cosine").weights.toarray(), atol=1e-12)


@pytest.fixture
def photos(tmp_path):
    """Twelve pictures in a folder, and vectors of them beside it."""
    rng, folder = np.random.default_rng(0), tmp_path / "photos"
    folder.mkdir()
    for k in range(12):
        Image.fromarray(rng.integers(0, 255, (16, 16, 3), dtype=np.uint8)).save(folder / f"{k:02}.png")
    np.save(tmp_path / "v.npy", rng.normal(size=(12, 5)))
    return folder


@pytest.mark.parametrize("named", ["file,{}", "{}, file"])
def test_vectors_are_a_block_beside_pictures(photos, named):
    vectors = photos.with_name("v.npy")
    source = Source(photos, vectors=named.format(vectors), neighbors=3, weights={"file": 2.0})
    found, _, notes = weights_of(source)
    pictures, _ = named_picture_rows([f"{k:02}.png" for k in range(12)], photos)
    rows = side_by_side([centered(np.load(vectors))[0], pictures / np.sqrt(PARTS)], [1.0, 2.0])
    np.testing.assert_allclose(found, ag.nearest_neighbors(rows, 3, "cosine").weights.toarray(), atol=1e-9)
    assert (
        "v.npy, 5 numbers each and, beside that, by the edges, light and colors of the pictures in 'file'" in notes[0]
    )


def test_pictures_that_come_later_are_compared_with_their_vectors(photos, tmp_path):
    vectors = photos.with_name("v.npy")
    Project.create(tmp_path / "all.ask", Source(photos, vectors=f"file,{vectors}", neighbors=3))
    kept, last = photos / "11.png", tmp_path / "11.png"
    kept.rename(last)
    np.save(tmp_path / "some.npy", np.load(vectors)[:11])
    Project.create(tmp_path / "some.ask", Source(photos, vectors=f"file,{tmp_path / 'some.npy'}", neighbors=3))
    last.rename(kept)
    with Project.open(tmp_path / "some.ask", write=True) as some:
        take_in(some.store, prepare_addition(some, photos, vectors=str(vectors)).path.name)
    with Project.open(tmp_path / "some.ask") as some, Project.open(tmp_path / "all.ask") as every:
        assert (some.graph.weights != every.graph.weights).nnz == 0


def test_two_files_of_vectors_are_refused(photos):
    with pytest.raises(SettingError, match=r"a\.npy,b\.npy: neither a file nor a column"):
        read_items(Source(photos, vectors="a.npy,b.npy"))


def test_numbers_alone_count_as_often_as_is_said(table):
    _, numbers = cells(table)
    scaled = (numbers - numbers.mean(axis=0)) / numbers.std(axis=0) * np.sqrt([4.0, 1.0])
    found, _, _ = weights_of(Source(table, features=["size", "mass"], neighbors=4, weights={"size": 4}))
    np.testing.assert_allclose(found, ag.nearest_neighbors(scaled, 4).weights.toarray(), atol=1e-9)


def test_an_item_without_words_is_compared_by_its_numbers(table):
    table.write_text(table.read_text() + "n40,,5.0,0.0\n")
    found, _, notes = weights_of(Source(table, text="about", features=["size", "mass"], neighbors=4))
    assert found[-1].any()
    assert not any("without words" in note for note in notes)


def test_weights_are_kept_in_the_project(table):
    Project.create(table.with_suffix(".ask"), Source(table, text="about", features=["size"], weights={"size": 2.0}))
    with Project.open(table.with_suffix(".ask")) as project:
        assert project.items.columns["weights"] == {"size": 2.0}


@given(
    arrays(float, st.tuples(st.integers(2, 12), st.integers(1, 3)), elements=st.integers(-5, 5).map(float)),
    st.integers(0, 99),
)
def test_graded_numbers_say_their_order_alone(numbers, seed):
    block = graded(numbers)
    lengths = np.linalg.norm(block, axis=1)
    assert ((abs(lengths - 1) < 1e-9) | (lengths == 0)).all()
    order = np.random.default_rng(seed).permutation(len(numbers))
    np.testing.assert_allclose(graded(numbers[order]), block[order], atol=1e-9)
    np.testing.assert_allclose(graded(numbers**3 * 1e9 + numbers), block, atol=1e-12)  # larger where it was larger
    twice = graded(np.hstack([numbers, numbers]))
    np.testing.assert_allclose(twice @ twice.T, block @ block.T, atol=1e-9)
