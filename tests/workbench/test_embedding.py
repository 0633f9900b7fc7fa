"""Rows -> vectors: any function, and models that are loaded as they lie on the disk; what is done is kept, nothing is fetched."""

from __future__ import annotations

import os
import socket
from importlib.util import find_spec

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import askgraph as ag
from askgraph.cli import app
from askgraph.errors import AskgraphError, FileError, GraphError, MissingExtraError, SettingError
from askgraph.graph.blocks import centered, side_by_side
from askgraph.graph.texts import text_rows
from askgraph.io.pictures import named_picture_rows
from askgraph.workbench import embedding
from askgraph.workbench.embedding import embed_project, packaged_model
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source

HERE = all(find_spec(name) for name in ("torch", "transformers", "sentence_transformers"))
SEEN = range(6)  # pictures that can be read
WORDS = ["cat", "dog", "fur", "paw", "ship", "sea", "boat", "wave"]


def needs_models(test):
    """Mark a test that loads real models; where they are required it fails without them."""
    skipped = not HERE and os.environ.get("ASKGRAPH_EMBED") != "required"
    quiet = pytest.mark.filterwarnings("ignore")  # torch and transformers warn of themselves
    return pytest.mark.embed(pytest.mark.skipif(skipped, reason="no torch here: make test-embed")(quiet(test)))


def lengths(texts):
    return [[len(text), text.count("a"), 1.0] for text in texts]


def test_any_function_is_a_model_and_gets_batches():
    sizes = []

    def model(rows):
        sizes.append(len(rows))
        return np.array(rows) * [[1.0, 2.0]]

    vectors = ag.embed([[k, k] for k in range(10)], model, batch_size=4)
    np.testing.assert_array_equal(vectors, [[k, 2 * k] for k in range(10)])
    assert (vectors.dtype, sizes) == (np.float32, [4, 4, 2])


@pytest.mark.parametrize(
    ("rows", "model", "says"),
    [
        ([], lengths, "no rows"),
        (["a", "b"], lambda rows: [1.0, 2.0], r"shape \(2,\) for 2 rows"),
        (["a", "b"], lambda rows: [[1.0]], r"shape \(1, 1\) for 2 rows"),
        (["a", "b"], lambda rows: [[np.nan]] * len(rows), "finite"),
        (["a", "b"], lambda rows: [[]] * len(rows), r"shape \(2, 0\)"),
    ],
)
def test_a_model_that_gives_something_else_is_refused(rows, model, says):
    with pytest.raises(SettingError, match=says):
        ag.embed(rows, model)
    with pytest.raises(SettingError, match="batch_size=0"):
        ag.embed(["a"], lengths, batch_size=0)


def test_a_model_whose_vectors_change_their_length_is_refused():
    with pytest.raises(SettingError, match="all of one length"):
        ag.embed(list("abc"), lambda rows: np.ones((len(rows), len(rows))), batch_size=2)


@pytest.mark.skipif(HERE, reason="the extra is installed here")
def test_without_the_extra_the_message_says_what_to_install():
    with pytest.raises(MissingExtraError, match=r'pip install "askgraph\[embed\]"'):
        ag.embed(["a"], "all-MiniLM-L6-v2")


@pytest.fixture
def project(tmp_path):
    rows = "".join(f"p{k},{'aaaa' * (k % 2 + 1)} and some words of no weight,x\n" for k in range(20))
    (tmp_path / "t.csv").write_text("id,about,more\n" + rows + "empty,,\n")
    Project.create(tmp_path / "t.ask", Source(tmp_path / "t.csv", show=["about", "more"]))
    return tmp_path / "t.ask"


def test_a_project_keeps_its_vectors_and_goes_on_after_a_kill(project, monkeypatch):
    asked = []

    def model(texts):
        asked.extend(filter(None, texts))
        if len(asked) > 12 and "killed" not in asked:
            asked.append("killed")
            raise KeyboardInterrupt
        return lengths(texts)

    monkeypatch.setattr(embedding, "PART", 5)
    monkeypatch.setattr(embedding, "load_model", lambda name, pictures: model)
    with Project.open(project, write=True) as opened:
        opened.say("ann", "p3", "label", "odd")
        before = opened.graph.weights.toarray()
        opened.store.keep("layout", np.zeros(42))
        with pytest.raises(KeyboardInterrupt):
            embed_project(opened, "tiny", ["about"], neighbors=3)
    with Project.open(project) as opened:
        np.testing.assert_array_equal(opened.graph.weights.toarray(), before)
    asked[:] = ["killed"]
    with Project.open(project, write=True) as opened:
        vectors = embed_project(opened, "tiny", ["about"], neighbors=3)
    assert len(asked) == 1 + 10  # the first two parts were kept
    np.testing.assert_array_equal(
        vectors[:20], lengths(f"{'aaaa' * (k % 2 + 1)} and some words of no weight" for k in range(20))
    )
    assert not vectors[20].any()
    with Project.open(project, write=True) as opened:
        assert opened.about["vectors"] == {"model": "tiny", "fields": ["about"], "beside": True}
        assert "from tiny, 3 numbers each (cosine)" in opened.about["graph"][0]
        assert any("1 item with nothing to embed" in note for note in opened.about["graph"])
        assert opened.answers.labels == dict.fromkeys(range(1, 20, 2), "odd")  # exact copies took the answer
        texts = [f"{'aaaa' * (k % 2 + 1)} and some words of no weight\nx" for k in range(20)]
        rows = side_by_side([text_rows([*texts, ""]), centered(vectors)[0]])[:20]
        expected = ag.nearest_neighbors(rows, 3, "cosine").weights.toarray()
        np.testing.assert_allclose(opened.graph.weights.toarray()[:20, :20], expected, atol=1e-12)
        assert opened.graph.degrees[20] == 0
        with pytest.raises(KeyError):
            opened.store.array("layout")
        assert opened.ask()
        embed_project(opened, "tiny", ["about"], neighbors=4)
        assert len(asked) == 1 + 10
        embed_project(opened, "other", ["about"])
        assert len(asked) == 1 + 10 + 20
        assert opened.store.about["vectors"]["model"] == "other"


def test_pictures_of_a_project_are_embedded_and_bad_ones_left_out(tmp_path, monkeypatch):
    folder = tmp_path / "photos"
    folder.mkdir()
    for k in range(6):
        Image.fromarray(np.full((8, 8), 40 * k, np.uint8)).save(folder / f"{k}.png")
    (folder / "bad.png").write_bytes(b"nothing")
    Project.create(tmp_path / "p.ask", Source(folder, neighbors=3))
    monkeypatch.setattr(
        embedding,
        "load_model",
        lambda name, pictures: lambda images: [[1.0, image.getpixel((0, 0))[0]] for image in images],
    )
    with Project.open(tmp_path / "p.ask", write=True) as opened:
        vectors = embed_project(opened, "tiny")
        rows = named_picture_rows([item.image for item in opened.store.every()], folder)[0]
        expected = ag.nearest_neighbors(np.hstack([rows / np.sqrt(3), centered(vectors)[0]])[SEEN], 3, "cosine")
        np.testing.assert_allclose(
            opened.graph.weights.toarray()[np.ix_(SEEN, SEEN)], expected.weights.toarray(), atol=1e-12
        )
    assert vectors[:, 1].tolist() == [0, 40, 80, 120, 160, 200, 0]
    assert not vectors[6].any()


def test_a_package_that_carries_a_model_is_found_by_its_name(tmp_path, monkeypatch):
    carried = tmp_path / "tiny_words" / "model"
    carried.mkdir(parents=True)
    (carried / "config.json").write_text("{}")
    about = tmp_path / "tiny_words-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny-words\nVersion: 1.0\n")
    (about / "RECORD").write_text("tiny_words/model/config.json,,\ntiny_words-1.0.dist-info/METADATA,,\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert packaged_model("tiny-words") == packaged_model("tiny_words") == carried
    assert [packaged_model(name) for name in ("no-such-package", "some/model", "", "numpy")] == [None] * 4


def test_what_cannot_be_embedded_is_said(project, tmp_path):
    ag.Graph.from_edges([("a", "b"), ("b", "c")]).save(tmp_path / "g.npz")
    Project.create(tmp_path / "g.ask", Source(graph=tmp_path / "g.npz"))
    with Project.open(tmp_path / "g.ask", write=True) as opened, pytest.raises(SettingError, match="neither text nor"):
        embed_project(opened, "tiny")
    with (
        Project.open(project, write=True) as opened,
        pytest.raises((SettingError, FileError, GraphError), match="depth"),
    ):
        embed_project(opened, "tiny", ["depth"])


@pytest.fixture(scope="module")
def text_model(tmp_path_factory):
    """A random BERT of one layer with a vocabulary of eight words, saved as sentence-transformers saves its models."""
    import sentence_transformers
    import torch
    import transformers
    from sentence_transformers import models

    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("text")
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]))
    config = transformers.BertConfig(
        vocab_size=13, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32
    )
    transformers.BertModel(config).save_pretrained(folder / "bert")
    transformers.BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder / "bert")
    words = models.Transformer(str(folder / "bert"))
    sentence_transformers.SentenceTransformer(modules=[words, models.Pooling(16)]).save(str(folder / "whole"))
    return folder / "whole"


@pytest.fixture(scope="module")
def picture_models(tmp_path_factory):
    """A random CLIP and a random DINO, saved as transformers saves its models."""
    import torch
    import transformers

    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("pictures")
    layers = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    clip = transformers.CLIPConfig(
        text_config={**layers, "vocab_size": 13},
        vision_config={**layers, "image_size": 32, "patch_size": 8},
        projection_dim=12,
    )
    transformers.CLIPModel(clip).save_pretrained(folder / "clip")
    size = {"height": 32, "width": 32}
    transformers.CLIPImageProcessor(size={"shortest_edge": 32}, crop_size=size).save_pretrained(folder / "clip")
    dino = transformers.Dinov2Config(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, image_size=32, patch_size=8
    )
    transformers.Dinov2Model(dino).save_pretrained(folder / "dino")
    transformers.BitImageProcessor(size={"shortest_edge": 32}, crop_size=size).save_pretrained(folder / "dino")
    return folder


@pytest.fixture
def offline(monkeypatch):
    """Whatever tries to connect to another machine fails the test."""
    tried = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *address, **options: tried.append(address) or 1 / 0)
    yield
    assert not tried


@needs_models
def test_texts_by_a_model_of_sentence_transformers(text_model, offline, tmp_path):
    from sentence_transformers import SentenceTransformer

    texts = ["cat dog fur", "ship sea wave", "paw cat", "boat"]
    vectors = ag.embed(texts, text_model, batch_size=3)
    assert vectors.shape == (4, 16)
    np.testing.assert_allclose(vectors, SentenceTransformer(str(text_model)).encode(texts), atol=1e-5)


@needs_models
def test_texts_of_a_project_by_the_command(text_model, offline, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = "".join(f"{k},{' '.join(rng.choice(WORDS[4 * (k % 2) :][:4], 8))}\n" for k in range(30))
    (tmp_path / "t.csv").write_text("id,about\n" + rows)
    Project.create(tmp_path / "t.ask", Source(tmp_path / "t.csv"))
    done = CliRunner().invoke(app, ["embed", "--model", str(text_model), "-o", "v.npy"], catch_exceptions=False)
    assert done.exit_code == 0
    assert f"from {text_model}, 16 numbers each (cosine)" in done.output
    assert np.load("v.npy").shape == (30, 16)


@needs_models
@pytest.mark.parametrize(("name", "width"), [("clip", 12), ("dino", 16)])
def test_pictures_by_a_model_of_transformers(picture_models, offline, tmp_path, name, width):
    rng, paths = np.random.default_rng(0), [tmp_path / f"{k}.png" for k in range(5)]
    for path in paths:
        Image.fromarray(rng.integers(0, 256, (40, 50, 3), dtype=np.uint8)).save(path)
    vectors = ag.embed(paths, picture_models / name, batch_size=2)
    assert vectors.shape == (5, width)
    np.testing.assert_allclose(vectors[3:4], ag.embed([Image.open(paths[3])], picture_models / name), atol=1e-5)
    assert np.abs(vectors[0] - vectors[1]).max() > 1e-4


@needs_models
@pytest.mark.parametrize(
    ("rows", "owner"),
    [(["a text"], "sentence-transformers"), ([Image.new("RGB", (9, 9))], "openai")],
    ids=["text", "picture"],
)
def test_without_weights_the_message_says_exactly_what_to_do(rows, owner, offline, tmp_path):
    with pytest.raises(FileError, match=f"hf download {owner}/no-such-model") as raised:
        ag.embed(rows, "no-such-model")
    assert "nothing is fetched" in str(raised.value)
    with pytest.raises(FileError, match="hf download some/model"):
        ag.embed(rows, "some/model")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(AskgraphError, match="does not hold a model that can be loaded") as raised:
        ag.embed(rows, tmp_path)
    assert "\n" not in str(raised.value)
