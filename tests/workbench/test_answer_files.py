"""Answers of every kind go to files and come back as they were."""

from __future__ import annotations

import csv
import json

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import askgraph as ag
from askgraph.cli.app import app
from askgraph.cli.label_files import read_answers, save_annotations
from askgraph.errors import AskgraphError, FileError, LabelError, SettingError
from askgraph.kinds.named import as_kind
from askgraph.kinds.numbers import Numbers
from askgraph.kinds.ordered import Ordered
from askgraph.kinds.several import Several
from askgraph.learner.settings import Settings
from askgraph.workbench.datasheet import how_labeled
from askgraph.workbench.exchange import FORMATS, asreview_rows, labeled_items, ris_lines, write_folders
from askgraph.workbench.export import answer_rows, prediction_rows, write_rows
from askgraph.workbench.growing import prepare_addition, take_in
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source, read_columns

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
                    again.say_all("bob", [(id, "label", label) for id, label, _ in read_answers(again, file)])
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
            again.say_all("bob", [(id, "label", label) for id, label, _ in read_answers(again, folder / f"c{end}")])
        assert labels_of(folder / f"{end}.ask") == before
        source = Source(folder / f"c{end}", features=["x"], label="a,b b,ü", neighbors=2)
        create(folder / f"{end}-init.ask", kind, (), source)
        assert labels_of(folder / f"{end}-init.ask") == before
        with Project.open(folder / f"{end}-init.ask") as again:
            assert again.answers.classes == classes


def some(tmp_path, name, said):
    """A project of a kind with some answers."""
    kind, classes = KINDS[name]
    path = create(tmp_path / "p.ask", kind, classes)
    said_by(path, said)
    return path


SEVERAL = {0: ["a", "ü"], 1: [], 2: ["b b"]}
ONE_OF = {0: "a", 3: ag.one_of("a", "b b"), 7: "ü"}


@pytest.mark.parametrize(("end", "cells"), [
    (".csv", ["a|ü", "(none)", "b b"]), (".xlsx", ["a|ü", "(none)", "b b"]), (".jsonl", [["a", "ü"], [], ["b b"]]),
    (".json", [["a", "ü"], [], ["b b"]]), (".parquet", [["a", "ü"], [], ["b b"]]),
])  # fmt: skip
def test_several_classes_are_a_list_where_a_file_holds_lists_and_joined_elsewhere(tmp_path, end, cells):
    with Project.open(some(tmp_path, "several", SEVERAL)) as project:
        write_rows(tmp_path / f"t{end}", prediction_rows(project))
    found = read_columns(tmp_path / f"t{end}")
    assert found.cells("label")[:3] == cells
    assert found.cells("source")[:3] == ["answered"] * 3
    assert {"probability", "p(a)", "p(b b)", "p(ü)"} <= set(found.header)
    assert "low" not in found.header


def test_numbers_have_a_range_and_no_probability_and_ordered_classes_have_both(tmp_path):
    (tmp_path / "o").mkdir()
    with Project.open(some(tmp_path, "numbers", {0: 0.0, 7: 3.25})) as project:
        rows = list(prediction_rows(project))
    assert [row["label"] for row in (rows[0], rows[7])] == [0.0, 3.25]
    assert all(row["low"] <= row["label"] <= row["high"] for row in rows)
    assert rows[3]["low"] < rows[3]["high"]
    assert not [name for name in rows[0] if name.startswith("p")]
    with Project.open(some(tmp_path / "o", "words", {0: "bad", 4: "so-so", 7: "good"})) as project:
        rows, steps = list(prediction_rows(project)), project.answers.classes
    assert all(steps.index(row["low"]) <= steps.index(row["label"]) <= steps.index(row["high"]) for row in rows)
    assert {"probability", "p(bad)", "p(good)"} <= set(rows[0])


def test_a_column_per_class_is_empty_where_nobody_knows_and_0_where_an_item_has_none(tmp_path):
    (tmp_path / "c").mkdir()
    with Project.open(some(tmp_path, "several", SEVERAL)) as project:
        FORMATS["columns"].write(project, tmp_path / "c.csv", True)
    rows = list(csv.DictReader((tmp_path / "c.csv").read_text().splitlines()))
    assert [[row[name] for name in ("a", "b b", "ü")] for row in rows[:4]] == [
        ["1", "0", "1"], ["0", "0", "0"], ["0", "1", "0"], ["", "", ""],
    ]  # fmt: skip
    with Project.open(some(tmp_path / "c", "classes", ONE_OF)) as project:
        FORMATS["columns"].write(project, tmp_path / "c.csv", True)
    rows = list(csv.DictReader((tmp_path / "c.csv").read_text().splitlines()))
    assert [rows[3][name] for name in ("a", "b b", "ü")] == ["", "", "0"]


@pytest.mark.parametrize("name", KINDS)
def test_every_format_is_written_or_refused_with_what_to_do_instead(tmp_path, name):
    said = {"several": SEVERAL, "numbers": {0: 1.0, 7: 2.0}}.get(name)
    classes = KINDS[name][1]
    path = some(tmp_path, name, said or {0: classes[0], 3: ag.one_of(*classes[:2]), 7: classes[2]})
    refused = {}
    with Project.open(path) as project:
        for tool, form in FORMATS.items():
            try:
                form.write(project, tmp_path / form.name, False)
            except SettingError as error:
                refused[tool] = str(error)
        assert how_labeled(project).count("\n") == 1
    if name != "numbers":
        assert refused.keys() <= {"asreview"}
    else:
        assert set(refused) == {"columns", "asreview", "spacy", "fasttext"}
        assert all("export" in said or "askgraph find NUMBER" in said for said in refused.values())


def test_other_tools_get_the_likeliest_of_one_of_some_classes_as_a_prediction(tmp_path):
    with Project.open(some(tmp_path, "classes", ONE_OF)) as project:
        rows = {one.item.id: one for one in labeled_items(project)}
        assert rows["n3"].label in ("a", "b b")
        assert not rows["n3"].given
        assert rows["n0"].given
        assert [one.item.id for one in labeled_items(project, answered=True)] == ["n0", "n7"]


def test_label_studio_and_argilla_have_the_controls_of_each_kind(tmp_path):
    found = {}
    said = {
        "several": SEVERAL,
        "numbers": {0: -2.5},
        "stars": {0: "3"},
        "words": {0: "good"},
        "classes": {0: ag.one_of("a", "ü")},
    }
    for name, answers in said.items():
        (tmp_path / name).mkdir()
        with Project.open(some(tmp_path / name, name, answers)) as project:
            for tool in ("labelstudio", "argilla"):
                FORMATS[tool].write(project, tmp_path / "t.json", False)
                found[name, tool] = json.loads((tmp_path / "t.json").read_text())[0]
    results = {name: found[name, "labelstudio"]["annotations"][0]["result"][0] for name in said}
    assert [(results[name]["type"], results[name]["value"]) for name in said] == [
        ("choices", {"choices": ["a", "ü"]}), ("number", {"number": -2.5}), ("rating", {"rating": 3}),
        ("choices", {"choices": ["good"]}), ("choices", {"choices": ["a", "ü"]}),
    ]  # fmt: skip
    assert "meta" in results["classes"]
    assert "meta" not in results["several"]
    values = {name: found[name, "argilla"]["responses"].get("label", [{}])[0].get("value") for name in said}
    assert values == {"several": ["a", "ü"], "numbers": "-2.5", "stars": 3, "words": "good", "classes": None}


def test_hugging_face_gets_lists_of_classes_and_numbers(tmp_path):
    found = {}
    for name, said in (("several", SEVERAL), ("numbers", {0: 0.5, 7: 1.5}), ("words", {0: "good", 7: "bad"})):
        (tmp_path / name).mkdir()
        with Project.open(some(tmp_path / name, name, said)) as project:
            FORMATS["huggingface"].write(project, tmp_path / f"{name}.parquet", True)
        table = pq.read_table(tmp_path / f"{name}.parquet")
        features = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
        assert list(features) == table.column_names
        found[name] = features["label"], table.column("label").to_pylist()
    names = {"names": ["a", "b b", "ü"], "_type": "ClassLabel"}
    assert found["several"] == ({"feature": names, "_type": "Sequence"}, [[0, 2], [], [1]])
    assert found["numbers"] == ({"dtype": "float64", "_type": "Value"}, [0.5, 1.5])
    assert found["words"] == ({"names": ["bad", "so-so", "good"], "_type": "ClassLabel"}, [2, 0])


@pytest.mark.parametrize("tool", ["labelstudio", "argilla"])
@pytest.mark.parametrize("name", KINDS)
def test_of_two_people_who_differ_the_same_one_counts_after_a_file_of_another_tool(tmp_path, name, tool):
    """Ann answers before bob, after him, and again after him: of several answers the newest decides where they are even."""
    kind, classes = KINDS[name]
    one, other = {"several": [("a",), ("ü",)], "numbers": [1.0, 5.0]}.get(name, classes[::2])
    path = create(tmp_path / "p.ask", kind, classes)
    with Project.open(path, write=True) as project:
        for item, people in (("n0", ["ann", "bob"]), ("n1", ["bob", "ann"]), ("n2", ["ann", "bob", "ann"])):
            for who in people:
                project.say(who, item, "label", one if who == "ann" else other)
        FORMATS[tool].write(project, tmp_path / "t.json", True)
    again = create(tmp_path / "again.ask", kind, classes)
    save_annotations(again, tmp_path / "t.json", False)
    assert labels_of(again) == labels_of(path)


@pytest.mark.parametrize(("name", "said"), [
    ("several", {0: ("a", "ü"), 3: (), 7: ("b b",)}), ("classes", {0: "ü", 7: "b b"}), ("words", {0: "good", 3: "bad"}),
    ("numbers", {0: 0.5, 7: -1.5}),
])  # fmt: skip
def test_what_hugging_face_and_spacy_get_comes_back_equal(tmp_path, name, said):
    before, (kind, classes) = labels_of(path := some(tmp_path, name, said)), KINDS[name]
    given = list(before.values())
    for tool, column, texts in (("huggingface", "label", None), ("spacy", "cats", ["text"])):
        if (tool, name) == ("spacy", "numbers"):
            continue
        file = tmp_path / f"{tool}{'.parquet' if texts is None else '.jsonl'}"
        with Project.open(path) as project:
            FORMATS[tool].write(project, file, True)
        if texts is None:
            with Project.open(create(tmp_path / "told.ask", kind, classes)) as told:
                assert {id: label for id, label, _ in read_answers(told, file)} == before
        source = Source(file, features=None if texts else ["x"], text=texts, label=column, neighbors=1, meaning="none")
        again = create(tmp_path / f"{tool}.ask", kind, classes, source)
        assert list(labels_of(again).values()) == given


@pytest.mark.parametrize("features", [
    '{"info": {"features": {"label": {"names": 3, "_type": "ClassLabel"}}}}', '{"info": {"features": ["label"]}}', "[", "{}",
    '{"info": {"features": {"label": {"names": ["a", 1], "_type": "ClassLabel"}}}}', "[" * 100_000,
])  # fmt: skip
def test_what_a_parquet_file_says_of_classes_may_be_anything(tmp_path, features):
    import pyarrow as pa

    table = pa.table({"id": ["n0", "n1"], "label": [0, 1]}).replace_schema_metadata({"huggingface": features})
    pq.write_table(table, tmp_path / "t.parquet")
    assert read_columns(tmp_path / "t.parquet").cells("label") == [0, 1]


@pytest.mark.parametrize(("name", "cats", "wrong"), [
    ("several", {"a": 0.5, "ü": 1}, "give each class 1 or 0"),
    ("classes", {"a": 1, "ü": 1}, "has 2 times 1"),
    ("words", {"bad": 0, "good": 0}, "has 0 times 1"),
])  # fmt: skip
def test_categories_that_are_no_answer_are_named_with_their_line(tmp_path, name, cats, wrong):
    with pytest.raises(LabelError, match=f"line 1, 'label': .*{wrong}"):
        told(tmp_path, name, json.dumps({"id": "n0", "label": cats}) + "\n", ".jsonl")


def test_spacy_and_fasttext_get_each_class_of_several(tmp_path):
    with Project.open(some(tmp_path, "several", SEVERAL)) as project:
        for tool in ("spacy", "fasttext"):
            FORMATS[tool].write(project, tmp_path / tool, True)
    cats = [json.loads(line)["cats"] for line in (tmp_path / "spacy").read_text().splitlines()]
    assert cats[:2] == [{"a": 1.0, "b b": 0.0, "ü": 1.0}, {"a": 0.0, "b b": 0.0, "ü": 0.0}]
    assert (tmp_path / "fasttext").read_text().splitlines() == [
        "__label__a __label__ü title 0", "title 1", "__label__b_b title 2",
    ]  # fmt: skip


@pytest.mark.parametrize(("tool", "rows"), [("spacy", 1), ("huggingface", 1), ("columns", N), ("ris", N)])
def test_the_command_says_how_many_items_it_has_written(tmp_path, tool, rows):
    """An item that is one of some classes is left out where answers alone are written and a tool cannot hold it."""
    path = some(tmp_path, "classes", {0: "a", 1: ag.one_of("a", "ü")})
    words = ["export", "--for", tool, "--answered", "-o", str(tmp_path / "out.csv"), "-p", str(path)]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.stdout.startswith(f"{rows} item{'s' * (rows > 1)} in ")


def test_references_and_screening_say_what_is_sought_of_every_kind(tmp_path):
    (tmp_path / "n").mkdir()
    with Project.open(some(tmp_path, "several", SEVERAL), write=True) as project:
        project.log.change("ann", "find", "ü")
        assert [row["included"] for row in asreview_rows(project)][:4] == [1, 0, 0, None]
        records = "".join(ris_lines(project, answered=True)).split("ER  -")
        assert [line for line in records[0].split("\r\n") if line[:2] in ("KW", "N1")] == [
            "KW  - a", "KW  - ü", "N1  - askgraph: a, ü (answered)", "N1  - ASReview_relevant",
        ]  # fmt: skip
        assert "N1  - askgraph: (none) (answered)\r\nN1  - ASReview_irrelevant" in records[1]
    with Project.open(some(tmp_path / "n", "numbers", {0: 5.0, 7: 1.0}), write=True) as project:
        with pytest.raises(SettingError, match="askgraph find NUMBER"):
            next(asreview_rows(project))
        project.log.change("ann", "find", None, "3")
        rows = [row["included"] for row in asreview_rows(project)]
        assert (rows[0], rows[7], rows[1]) == (1, 0, None)
        assert "N1  - askgraph: 5 EUR (answered)\r\nN1  - ASReview_relevant" in "".join(ris_lines(project))


def test_folders_are_for_single_classes(tmp_path):
    for name, said in (("several", "--for columns"), ("numbers", "export")):
        (tmp_path / name).mkdir()
        with Project.open(some(tmp_path / name, name, {})) as project, pytest.raises(SettingError, match=said):
            write_folders(project, tmp_path / "out")


def told(tmp_path, name, text, end=".csv"):
    """What a table that comes back says to a project without answers, by ids."""
    (tmp_path / f"back{end}").write_text(text)
    with Project.open(some(tmp_path, name, {})) as project:
        return {id: label for id, label, _ in read_answers(project, tmp_path / f"back{end}")}


@pytest.mark.parametrize(("name", "text", "wrong"), [
    ("several", "id,a,b b,ü\nn0,1,,0\n", r"line 2: 'b b' is empty and other classes are not"),
    ("several", "id,a,b b,ü\nn0,1,0,0\nn1,2,0,0\n", r"line 3, 'a': '2' is neither 1 nor 0"),
    ("several", "id,a,b b\nn0,1,0\n", "none for 'ü'"),
    ("several", "id,x\nn0,1\n", "no column 'label'"),
    ("classes", "id,a,b b,ü\nn0,1,0,0\n", "no column 'label'"),
    ("numbers", "id,label\nn0,1\nn1,many\n", r"line 3, 'label': 'many'"),
    ("numbers", 'id,label\nn0,"1,234"\nn1,"5,678"\n', "may be 1.234 or 1234"),
    ("words", "id,label\nn0,good\nn1,great\n", r"line 3, 'label': 'great' is no step"),
])  # fmt: skip
def test_a_bad_cell_is_named_with_its_row(tmp_path, name, text, wrong):
    with pytest.raises((LabelError, FileError), match=wrong):
        told(tmp_path, name, text)


@pytest.mark.parametrize(("name", "text", "found"), [
    ("several", "id,ü,a,b b\nn0,1,0,1\nn1,,,\nn2,no,NO,0\n", {"n0": ("b b", "ü"), "n2": ()}),
    ("several", "id,labels\nn0,a;ü\nn1,\nn2,(none)\n", {"n0": ("a", "ü"), "n2": ()}),
    ("several", 'id,label\nn0,"[""ü"",""a""]"\nn1,[]\n', {"n0": ("a", "ü"), "n1": ()}),
    ("numbers", 'id,label\nn0,"1.234,5 EUR"\nn1,"7,25"\nn2,0 EUR\nn3,\n', {"n0": 1234.5, "n1": 7.25, "n2": 0.0}),
    ("numbers", "id;label\nn0;1.234,5\nn1;7,25\n", {"n0": 1234.5, "n1": 7.25}),
    ("classes", "id,label\nn0,a|ü\nn1,b b\n", {"n0": ag.one_of("a", "ü"), "n1": "b b"}),
    ("stars", "id,label\nn0,1|2\nn1,3\n", {"n0": ag.one_of("1", "2"), "n1": "3"}),
])  # fmt: skip
def test_tables_of_other_programs_are_read_as_the_kind_of_the_project(tmp_path, name, text, found):
    assert told(tmp_path, name, text) == found


def test_added_rows_bring_their_columns_of_classes(tmp_path):
    (tmp_path / "t.csv").write_text("id,x,a,b\n" + "".join(f"n{k},{k},{k % 2},1\n" for k in range(6)))
    create(tmp_path / "p.ask", Several(), (), Source(tmp_path / "t.csv", features=["x"], label=["a", "b"], neighbors=2))
    (tmp_path / "more.csv").write_text("id,x,a,b\nm0,9,0,0\nm1,8,,\n")
    with Project.open(tmp_path / "p.ask", write=True) as project:
        assert set(project.items.unseen) == {"a", "b"}
        take_in(project.store, prepare_addition(project, tmp_path / "more.csv").path.name)
    found = labels_of(tmp_path / "p.ask")
    assert (found["n0"], found["n1"], found["m0"]) == (("b",), ("a", "b"), ())
    assert "m1" not in found


TASK = {"id": 1, "data": {"id": "n0", "text": "some words"}}


@pytest.mark.parametrize(("name", "result", "wrong"), [
    ("classes", {"type": "choices", "value": {"choices": ["a", "ü"]}}, "several classes for one item"),
    ("classes", {"type": "number", "value": {"number": 3}}, "is not a class"),
    ("numbers", {"type": "choices", "value": {"choices": ["a"]}}, "is not a number"),
    ("stars", {"type": "rating", "value": {"rating": 9}}, "'9' is no step"),
    ("several", {"type": "number", "value": {"number": 3}}, "is no list of classes"),
])  # fmt: skip
def test_an_annotation_of_another_kind_is_named_and_nothing_is_saved(tmp_path, name, result, wrong):
    tasks = [{**TASK, "annotations": []}, {**TASK, "annotations": [{"completed_by": 1, "result": [result]}]}]
    (tmp_path / "t.json").write_text(json.dumps(tasks))
    path = some(tmp_path, name, {})
    with pytest.raises(AskgraphError, match=rf"t\.json, task 2: .*{wrong}"):
        save_annotations(path, tmp_path / "t.json", new=True)
    assert not labels_of(path)


def test_predictions_of_models_are_left_out_where_they_cannot_suggest_and_it_is_said(tmp_path):
    result = {"type": "number", "value": {"number": 3}}
    predictions = [{"model_version": "net", "score": 0.5, "result": [result]}]
    tasks = [{"data": {"x": k}, "predictions": predictions, "annotations": []} for k in range(4)]
    (tmp_path / "t.json").write_text(json.dumps(tasks))
    create(tmp_path / "p.ask", Numbers(), (), Source(tmp_path / "t.json", features=["x"], neighbors=1))
    with Project.open(tmp_path / "p.ask") as project:
        assert "4 predictions of models left out: they can suggest single classes only" in project.about["read"]


@pytest.mark.parametrize(("name", "part"), [
    ("numbers", "Labels are 3 numbers: the least is -1 EUR, the median 0 EUR, the largest 2 EUR."),
    ("several", "Labels by class, of which an item may have several: a 1, b b 1, ü 1."),
    ("words", "they are expected to be off by"),
])  # fmt: skip
def test_the_paragraph_has_the_figures_of_its_kind(tmp_path, name, part):
    said = {"numbers": {0: 0.0, 3: -1.0, 7: 2.0}, "several": SEVERAL, "words": {0: "bad", 7: "good"}}[name]
    with Project.open(some(tmp_path, name, said)) as project:
        words = how_labeled(project)
    assert part in words
    assert "%" not in words.partition("predicted by the same model")[2].partition("Software")[0]
