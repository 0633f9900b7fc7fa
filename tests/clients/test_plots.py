"""Cards for notebooks, and pictures in matplotlib; without matplotlib, what draws names the extra and the rest works."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import askgraph as ag
from askgraph.cli import app
from askgraph.cli import simulate as commands
from askgraph.clients.plots import _drawing, _judging, curve
from askgraph.kinds import Kind
from askgraph.simulate import Problem
from askgraph.workbench.source import Source


def told(n=40):
    graph, truth = ag.communities((n // 2, n - n // 2), mean_degree=6, rng=0)
    learner = ag.Learner(graph, rng=0)
    for _ in learner.run(lambda node: ("<left>", "right")[truth[node]], budget=8):
        pass
    return learner, [("<left>", "right")[k] for k in truth]


def test_cards_say_what_an_object_is_and_escape_it(tmp_path):
    learner, _ = told()
    named = ag.Graph.from_edges([("<ann>", "bob"), ("bob", "bob")])
    ag.Graph.from_edges([("ann", "bob"), ("bob", "cy")]).save(tmp_path / "friends.npz")
    ag.Project.create(tmp_path / "teams.ask", Source(graph=tmp_path / "friends.npz"), classes=["red", "<blue>"])
    with ag.Project.open(tmp_path / "teams.ask", write=True) as project:
        project.say("me", "ann", "label", "red")
        cards = [x._repr_html_() for x in (named, learner, learner.field, project, ag.Learner(ag.chain(3)))]
    for card in cards:
        assert card.count("<div") == card.count("</div") == 2
        assert not any(word in card for word in ("<ann>", "<left>", "<blue>"))
    words = ("self-loop", "&lt;left&gt;", "ridge", "red (1)", "none yet")
    assert all(word in card for word, card in zip(words, cards, strict=True))


def test_pictures_show_every_node_class_and_label():
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    learner, _ = told()
    axes = learner.plot()
    dots = [len(part.get_offsets()) for part in axes.collections[1:]]
    assert sum(dots) == 40 + 8 + 1  # nodes, rings, the star
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [*learner.classes, "labeled", "next question"]
    assert learner.graph.plot(axes) is axes
    assert ag.Learner(ag.chain(3)).plot().get_title("left") == "0 labels, 0 classes"
    plt.close("all")
    with pytest.raises(ag.TooLargeError, match="subgraph"):
        ag.chain(60_000).plot()


def test_a_curve_is_what_a_learner_would_have_predicted_then():
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    learner, truth = told()
    again, want = ag.Learner(learner.graph, rng=0), []
    for event in learner.history.log:
        again.tell(event.node, event.label)
        rest = [node for node in range(40) if node not in again.labels]
        want.append((len(again.labels), float(np.mean(again.predict(rest) == np.array(truth)[rest]))))
    found = curve(learner, truth)
    assert [count for count, _ in found] == [count for count, _ in want]
    np.testing.assert_allclose([share for _, share in found], [share for _, share in want])
    assert curve(learner, dict(enumerate(truth))) == found
    assert len(learner.labels) == 8
    assert learner.plot_curve(truth).get_lines()[0].get_ydata()[-1] == found[-1][1]
    plt.close("all")
    with pytest.raises(ag.LabelError, match="one per node"):
        learner.plot_curve(truth[:5])
    with pytest.raises(ag.LabelError, match="no curve"):
        ag.Learner(ag.chain(3)).plot_curve([0, 0, 0])


@pytest.mark.slow
def test_without_matplotlib_the_demo_prints_its_table_and_what_draws_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(commands, "_digits", lambda: Problem(ag.chain(12), [0] * 6 + [1] * 6))
    run = CliRunner().invoke
    demo = run(app, ["demo", "--runs", "1", "--budget", "2"])
    assert demo.exit_code == 0
    assert "influence" in demo.output
    assert 'pip install "askgraph[plot]"' in demo.output
    (tmp_path / "runs.jsonl").write_text('{"sampler": "tv", "seed": 0, "budget": 2, "accuracy": [0.5, 0.6]}\n')
    for words in (["plot", "runs.jsonl"], ["paper", "-o", "report", "--quick"]):
        done = run(app, words)
        assert isinstance(done.exception, ag.MissingExtraError)
        assert "askgraph[plot]" in str(done.exception)


def of_kind(kind):
    """Return a learner of this kind of answers on a grid, and the truth."""
    at = np.arange(48)
    x, y = at % 8, at // 8
    truth = {
        "ordered": (x // 2 + 1).tolist(),
        "several": [
            tuple(name for name, has in (("left", i < 4), ("low", j < 3)) if has) for i, j in zip(x, y, strict=True)
        ],
        "numbers": (x + 10.0).tolist(),
    }[kind]
    learner = ag.Learner(ag.grid(6, 8), answers=ag.Numbers(unit="km") if kind == "numbers" else kind, rng=0)
    for _ in learner.run(lambda node: truth[node], budget=12):
        pass
    return learner, truth


@pytest.mark.parametrize(
    ("kind", "title", "words"),
    [
        ("ordered", "12 labels, 4 classes; the median", ["4", "3", "2", "1"]),
        ("several", "12 labels, 2 classes; the likeliest of the classes of each node", ["left", "low", "none of them"]),
        ("numbers", "12 numbers; the predicted number", []),
    ],
)
def test_every_kind_of_answers_has_a_picture(kind, title, words):
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    learner, _ = of_kind(kind)
    axes = learner.plot()
    assert sum(len(part.get_offsets()) for part in axes.collections[1:]) == 48 + 12 + 1  # nodes, rings, the star
    assert axes.get_title("left") == title
    named = [text.get_text() for text in axes.get_legend().get_texts()]
    assert sorted(named) == sorted([*words, "labeled", "next question"])
    if kind == "ordered":
        assert named[:4] == words
    bars = [other.get_xlabel() for other in axes.figure.axes if other is not axes]
    assert bars == (["km"] if kind == "numbers" else [])
    assert len(ag.Learner(ag.chain(3), answers=kind).plot().collections[1].get_offsets()) == 3
    plt.close("all")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("ordered", "steps off, on average, among the unlabeled"),
        ("several", "F1 of the unlabeled"),
        ("numbers", "RMSE (km) of the unlabeled"),
    ],
)
def test_every_kind_of_answers_has_a_curve(kind, words):
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    learner, truth = of_kind(kind)
    axes = learner.plot_curve(truth)
    assert axes.get_ylabel() == words
    found = curve(learner, truth)
    rest = [node for node in range(48) if node not in learner.labels]
    made, true = learner.predict(rest), [truth[node] for node in rest]
    if kind == "several":
        both = sum(len(set(a) & set(b)) for a, b in zip(made, true, strict=True))
        want = 2 * both / sum(len(a) + len(b) for a, b in zip(made, true, strict=True))
        assert curve(learner, [list(label) for label in truth]) == found
    else:
        off = np.array(made, dtype=float) - true
        want = np.abs(off).mean() if kind == "ordered" else np.sqrt((off**2).mean())
    assert found[-1] == (12, pytest.approx(want))
    plt.close("all")
    with pytest.raises(ag.LabelError):
        curve(learner, [None] * 48)


def test_a_kind_that_cannot_be_drawn_is_refused_with_a_sentence():
    other = type("Colors", (Kind,), {**dict.fromkeys(Kind.__abstractmethods__), "name": "colors"})()
    for draw in (_drawing, lambda kind: _judging(kind, ())):
        with pytest.raises(ag.SettingError, match="answers='colors'"):
            draw(other)


def test_lines_and_cards_say_the_kind_of_answers():
    assert [repr(of_kind(kind)[0]) for kind in ("ordered", "several", "numbers")] == [
        "Learner(48 nodes, 12 labels, 4 classes, answers='ordered', engine='dense')",
        "Learner(48 nodes, 12 labels, 2 classes, answers='several', engine='dense')",
        "Learner(48 nodes, 12 numbers, answers='numbers', engine='dense')",
    ]
    assert "answers" not in repr(told()[0])
    card = of_kind("numbers")[0]._repr_html_()
    assert "10 to 17 km" in card
    assert "classes" not in card
    assert "none yet" in ag.Learner(ag.chain(3), answers="numbers")._repr_html_()
