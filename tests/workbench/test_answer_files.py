"""Answers of every kind go to files and come back as they were."""

from __future__ import annotations

import csv

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import askgraph as ag
from askgraph.cli.label_files import read_answers, save_annotations
from askgraph.kinds.named import as_kind
from askgraph.kinds.numbers import Numbers
from askgraph.kinds.ordered import Ordered
from askgraph.kinds.several import Several
from askgraph.learner.settings import Settings
from askgraph.workbench.exchange import FORMATS
from askgraph.workbench.export import answer_rows, prediction_rows, write_rows
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source

N = 8
KINDS = {
    "classes": (as_kind("classes"), ["a", "b b", "ü"]),
    "several": (Several(), ["a", "b b", "ü"]),
    "words": (Ordered(), ["bad", "so-so", "good"]),
    "stars": (Ordered(), ["1", "2", "3"]),
    "numbers": (Numbers(unit="EUR"), []),
}
TABLES = [".csv", ".tsv", ".xlsx", ".jsonl", ".parquet", ".json"]


def create(path, kind, classes=(), source=None):
    """A project of some rows in which answers are of this kind."""
    if source is None:
        table = path.with_suffix(".csv")
        table.write_text("id,title,x\n" + "".join(f"n{k},title {k},{k / 2}\n" for k in range(N)))
        source = Source(table, features=["x"], neighbors=2)
    chosen = Settings.of(kind.usual_sampler(False, lambda: True), answers=kind, **kind.usual_options)
    Project.create(path, source, classes, settings=chosen)
    return path


def labels_of(path):
    with Project.open(path) as project:
        return {project.items.item(place).id: label for place, label in project.answers.labels.items()}


def said_by(path, said):
    with Project.open(path, write=True) as project:
        project.say_all("ann", [(f"n{k}", "label", label) for k, label in said.items()])
    return labels_of(path)


def answers_to(name):
    """Random answers of a kind, by the numbers of items; numbers of as many digits as a spreadsheet holds."""
    _, classes = KINDS[name]
    sets = st.lists(st.sampled_from(classes), unique=True, max_size=3) if classes else st.nothing()
    one = {
        "several": sets,
        "numbers": (st.floats(-1e6, 1e6) | st.sampled_from([0.0, -7.0, 1e-9])).map(lambda x: float(f"{x:.15g}")),
    }.get(
        name,
        st.sampled_from(classes) | sets.filter(lambda s: len(s) > 1).map(lambda s: ag.one_of(*s)) if classes else None,
    )
    return st.dictionaries(st.integers(0, N - 1), one, max_size=N)


def tab_separated(path):
    rows = list(csv.reader(path.read_text().splitlines()))
    path.with_suffix(".tsv").write_text("\n".join("\t".join(row) for row in rows) + "\n")


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_answers_come_back_equal_from_every_table(tmp_path_factory, name, data):
    folder, (kind, classes) = tmp_path_factory.mktemp("p"), KINDS[name]
    before = said_by(create(folder / "p.ask", kind, classes), data.draw(answers_to(name)))
    for what, rows in (("answers", answer_rows), ("labels", prediction_rows)):
        for end in TABLES:
            file = folder / f"{what}{end}"
            with Project.open(folder / "p.ask") as project:
                kept = [row for row in rows(project) if row.get("source") in (None, "answered")]
                if not kept or (what == "labels" and not before):
                    continue
                write_rows(file.with_suffix(".csv") if end == ".tsv" else file, kept)
            if end == ".tsv":
                tab_separated(file.with_suffix(".csv"))
            if end != ".json":  # which tell takes for what other tools write
                create(folder / f"{what}{end}.ask", kind, classes)
                with Project.open(folder / f"{what}{end}.ask", write=True) as again:
                    again.say_all("bob", [(id, "label", label) for id, label in read_answers(again, file)])
                assert labels_of(folder / f"{what}{end}.ask") == before
            if what == "labels":
                source = Source(file, id="id", features=["x"], label="label", neighbors=2)
                if len(kept) > 1:
                    create(folder / f"{what}{end}-init.ask", kind, classes, source)
                    assert labels_of(folder / f"{what}{end}-init.ask") == before


@pytest.mark.parametrize("tool", ["labelstudio", "argilla"])
@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_answers_come_back_equal_from_other_tools(tmp_path_factory, name, tool, data):
    folder, (kind, classes) = tmp_path_factory.mktemp("p"), KINDS[name]
    before = said_by(create(folder / "p.ask", kind, classes), data.draw(answers_to(name)))
    if tool == "argilla":  # which cannot hold "one of"
        before = {id: label for id, label in before.items() if not isinstance(label, type(ag.one_of("a", "b")))}
    with Project.open(folder / "p.ask") as project:
        FORMATS[tool].write(project, folder / "t.json", False)
    create(folder / "again.ask", kind, classes, Source(folder / "t.json", features=["x"], neighbors=2))
    assert labels_of(folder / "again.ask") == before
    create(folder / "told.ask", kind, classes)
    if before:
        save_annotations(folder / "told.ask", folder / "t.json", new=False)
    assert labels_of(folder / "told.ask") == before


@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(answers_to("several"))
def test_a_column_per_class_comes_back_equal(tmp_path_factory, said):
    folder, (kind, classes) = tmp_path_factory.mktemp("p"), KINDS["several"]
    before = said_by(create(folder / "p.ask", kind, classes), said)
    for end in (".csv", ".xlsx", ".jsonl", ".parquet"):
        with Project.open(folder / "p.ask") as project:
            FORMATS["columns"].write(project, folder / f"c{end}", True)
        create(folder / f"{end}.ask", kind, classes)
        with Project.open(folder / f"{end}.ask", write=True) as again:
            again.say_all("bob", [(id, "label", label) for id, label in read_answers(again, folder / f"c{end}")])
        assert labels_of(folder / f"{end}.ask") == before
        source = Source(folder / f"c{end}", features=["x"], label="a,b b,ü", neighbors=2)
        create(folder / f"{end}-init.ask", kind, (), source)
        assert labels_of(folder / f"{end}-init.ask") == before
        with Project.open(folder / f"{end}-init.ask") as again:
            assert again.answers.classes == classes
