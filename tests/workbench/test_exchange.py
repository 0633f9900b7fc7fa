"""Files for other tools, and what comes back from them."""

from __future__ import annotations

import csv
import io
import json
import re

import pyarrow.parquet as pq
import pytest
from PIL import Image

from askgraph.errors import AskgraphError, FileError, LabelError, SettingError
from askgraph.io.annotations import read_annotated
from askgraph.io.text import is_number
from askgraph.support.files import safe_name
from askgraph.workbench.answers import Answer
from askgraph.workbench.datasheet import how_labeled
from askgraph.workbench.exchange import (
    FORMATS,
    fasttext_lines,
    folder_names,
    has_titles,
    hugging_face_parquet,
    labeled_items,
    spacy_rows,
    write_folders,
)
from askgraph.workbench.export import prediction_rows
from askgraph.workbench.guesses import Guess
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source
from tests.helpers.projects import make

TEXTS = [
    "the team won the match",
    "shares fell at the bank",
    "a goal by the coach",
    "the market and the price",
    "=cmd() __label__spam \n two lines",
    "goal match team",
]


def news(tmp_path):
    """A project of six texts with answers of two people and the guess of a model."""
    table = tmp_path / "news.jsonl"
    rows = [{"id": f"n{k}", "title": text, "year": 2000 + k} for k, text in enumerate(TEXTS)]
    table.write_text("\n".join(map(json.dumps, rows)))
    Project.create(tmp_path / "news.ask", Source(table, text="title", neighbors=2), ["sports", "big business"])
    with Project.open(tmp_path / "news.ask", write=True) as project:
        project.say("ann", "n0", "label", "sports", 2.5)
        project.say("bob", "n0", "label", "big business")
        project.say("ann", "n1", "label", "big business")
        project.say("bob", "n4", "cannot")
        project.store.add_guesses([Guess(2, "gpt", "sports", 0.75)])
    return tmp_path / "news.ask"


def said(project):
    log = [a for a in project.answers.log.values() if project.answers.counts(a)]
    return sorted((a.who, project.items.item(a.item).id, a.kind, a.label) for a in log)


@pytest.mark.parametrize("tool", ["labelstudio", "argilla"])
def test_json_of_other_tools_goes_there_and_back(tmp_path, tool):
    path = news(tmp_path)
    with Project.open(path) as project:
        FORMATS[tool].write(project, tmp_path / "tasks.json", False)
        before, fields = said(project), [item.fields for item in project.store.every()]
        guessed = project.store.guesses()
    Project.create(tmp_path / "again.ask", Source(tmp_path / "tasks.json", text="title", neighbors=2))
    with Project.open(tmp_path / "again.ask") as again:
        kept = before if tool == "labelstudio" else [one for one in before if one[2] == "label"]
        assert said(again) == kept
        there = [item.fields for item in again.store.every()]
        assert [{k: str(v) for k, v in row.items()} for row in there] == [
            {k: str(v) for k, v in row.items()} for row in fields
        ]
        if tool == "labelstudio":  # Argilla has one suggestion per question, and that is ours
            assert again.store.guesses() == guessed
            first = next(a for a in again.answers.log.values() if a.who == "ann")
            assert first.seconds == 2.5


def test_what_label_studio_exports_is_read(tmp_path):
    tasks = [
        {
            "id": 7,
            "data": {"text": "some words to compare, and more of them"},
            "annotations": [
                {"completed_by": 3, "result": [{"type": "choices", "value": {"choices": ["a"]}}], "lead_time": 4.0},
                {"completed_by": {"email": "ann@example.org"}, "was_cancelled": True, "result": []},
            ],
            "predictions": [
                {"model_version": "bert", "score": 0.9, "result": [{"type": "choices", "value": {"choices": ["a"]}}]}
            ],
        },
        {"id": 8, "data": {"text": "other words to compare, and more of those"}, "annotations": []},
    ]
    (tmp_path / "t.json").write_text(json.dumps(tasks))
    found = read_annotated(tmp_path / "t.json")
    assert [(one.row, one.who, one.label) for one in found.answers] == [
        (0, "annotator 3", "a"),
        (0, "ann@example.org", None),
    ]
    assert [tuple(one) for one in found.guesses] == [(0, "bert", "a", 0.9, "task 1")]
    assert [row["id"] for row in found.rows] == [7, 8]
    tasks[0]["annotations"][0]["result"][0]["value"]["choices"] = ["a", "b"]
    (tmp_path / "t.json").write_text(json.dumps(tasks))
    assert read_annotated(tmp_path / "t.json").answers[0].label == ("a", "b")
    with pytest.raises(LabelError, match=r"t\.json, task 1: several classes for one item"):
        Project.create(tmp_path / "t.ask", Source(tmp_path / "t.json"))
    assert not (tmp_path / "t.ask").exists()


TWO_QUESTIONS = '[{"fields": {"a": "b"}, "responses": {"q": [{"value": "x"}], "r": [{"value": "y"}]}}]'
NO_RESULT = '[{"data": {}, "annotations": [{"result": 3}]}]'


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", "[1]", '[{"data": "x"}]', NO_RESULT, "[" * 100_000, TWO_QUESTIONS, '[{"fields": {}}]'],
)
def test_other_json_is_refused_by_name(tmp_path, content):
    """Promise 12."""
    (tmp_path / "t.json").write_text(content)
    with pytest.raises(AskgraphError, match=r"t\.json"):
        Project.create(tmp_path / "t.ask", Source(tmp_path / "t.json"))
    assert not (tmp_path / "t.ask").exists()


def test_hugging_face_loads_it(tmp_path):
    import pyarrow.parquet as pq

    with Project.open(news(tmp_path)) as project:
        table = pq.read_table(io.BytesIO(hugging_face_parquet(project)))
        rows = list(labeled_items(project))
    features = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
    assert list(features) == table.column_names == ["id", "title", "year", "label", "probability", "source"]
    assert features["label"] == {"names": ["sports", "big business"], "_type": "ClassLabel"}
    names = [features["label"]["names"][code] for code in table.column("label").to_pylist()]
    assert names == [row.label for row in rows]


def test_text_for_spacy_and_fasttext(tmp_path):
    with Project.open(news(tmp_path)) as project:
        spacy, lines = list(spacy_rows(project)), list(fasttext_lines(project))
        given = list(fasttext_lines(project, answered=True))
    assert spacy[1] == {"text": TEXTS[1], "cats": {"sports": 0.0, "big business": 1.0}}
    assert all(line.count("\n") == 1 and line.count("__label__") == 1 for line in lines)
    assert lines[1] == f"__label__big_business {TEXTS[1]}\n"
    assert len(lines) == 6
    assert len(given) == 2


def test_pictures_go_into_a_folder_per_class(tmp_path):
    photos, outside = tmp_path / "photos", tmp_path / "outside.png"
    (photos / "deep").mkdir(parents=True)
    Image.new("RGB", (8, 8), "red").save(outside)
    for k, name in enumerate(("a.png", "b.png", "deep/a.png", "c.png")):
        Image.new("RGB", (8, 8), (60 * k, 0, 0)).save(photos / name)
    Project.create(tmp_path / "p.ask", Source(photos, neighbors=1), ["cat", "../dog"])
    (photos / "b.png").unlink()
    (photos / "c.png").unlink()
    (photos / "c.png").symlink_to(outside)
    with Project.open(tmp_path / "p.ask", write=True) as project:
        project.say_all("ann", [(item.id, "label", "../dog") for item in project.store.every()])
        assert write_folders(project, tmp_path / "out") == f"2 pictures in {tmp_path / 'out'}; 2 pictures not found"
        with pytest.raises(FileError, match="not an empty folder"):
            write_folders(project, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["_dog"]
    assert len(list((tmp_path / "out" / "_dog").iterdir())) == 2
    with Project.open(news(tmp_path)) as texts, pytest.raises(SettingError, match="no pictures"):
        write_folders(texts, tmp_path / "none")


def test_the_paragraph_says_what_was_done(tmp_path):
    with Project.open(news(tmp_path)) as project:
        words = how_labeled(project)
    assert words.count("\n") == 1
    for part in ("Of 6 items, 2 have a label", "2 people gave 4 answers", "1 that people could not tell"):
        assert part in words
    assert "The other 4 labels are predicted" in words
    assert "askgraph 0." in words
    assert "ids are" not in words  # how the table was read is for who makes the project


def test_the_paragraph_tells_of_guidelines_groups_copies_and_a_search(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("id,x\n" + "".join(f"n{k},{k // 2}\n" for k in range(12)))
    Project.create(tmp_path / "p.ask", Source(table, features=["x"]), ["low", "high"])
    with Project.open(tmp_path / "p.ask", write=True) as project:
        assert "Of these answers" not in how_labeled(project)
        project.log.write_guidelines("ann", "Low is below 3.")
        project.say("ann", "n0", "label", "low")  # n1 is its copy
        project.say_all("ann", [("n8", "label", "high"), ("n10", "label", "high")], how="group")
        project.log.change("ann", "find", "high")
        words = how_labeled(project)
    ways = (
        "1 was given one by one, 2 given to groups of items that look alike (in 1 step), 3 taken over by exact copies"
    )
    assert f"Of these answers, {ways} of an item." in words
    assert "People had guidelines, in 1 version." in words
    assert "All items of 'high' were sought, the likeliest first: 4 found, too early to say" in words


def test_every_format_can_be_written_of_an_empty_project(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("x\n1\n2\n3\n")
    Project.create(tmp_path / "t.ask", Source(table, neighbors=1))
    with Project.open(tmp_path / "t.ask") as project:
        for name, format in FORMATS.items():
            if name not in ("asreview", "ris"):
                format.write(project, tmp_path / format.name, False)
        for name, what in (("asreview", "askgraph find CLASS"), ("ris", "no column is called title: RIS needs one")):
            with pytest.raises(SettingError, match=what):
                FORMATS[name].write(project, tmp_path / FORMATS[name].name, False)
            assert not (tmp_path / FORMATS[name].name).exists()
        assert "Of 3 items, 0 have" in how_labeled(project)
        assert len(list(prediction_rows(project))) == 3


@pytest.mark.parametrize("name", ["=cmd()|x", "@ann", "+1", "a;=1+1", "\x1b]0;own\x07", "-x", "\u202eevil", "|x"])
def test_no_name_of_a_class_or_a_person_is_a_command_in_a_file_for_others(tmp_path, name):
    """Promise 25, in every file that spreadsheets and terminals open: answers, references, lines for other tools."""
    path = make(tmp_path / "p.ask", 12)
    with Project.open(path, write=True) as project:
        said = [(0, name), (1, "relevant")]  # as lines of the log: some of these names only earlier versions took
        project.store.append([Answer(0, f"k{item}", name, "", "label", item, label) for item, label in said])
        project.refresh()
        for kind, form in FORMATS.items():
            form.write(project, tmp_path / f"{kind}-{form.name}", False)
    for file in tmp_path.glob("*.csv"):
        cells = [cell for row in csv.reader(file.read_text().splitlines()) for cell in row]
        parts = [part for cell in cells for part in re.split("[;\t]", cell)]
        assert not [part for part in parts if part[:1] in tuple("=+-@") and not is_number(part)], file
    records = (tmp_path / "ris-references.ris").read_text()
    assert records.count("ER  -") == 12
    assert (tmp_path / "fasttext-fasttext.txt").read_text().count("\n") == 12
    made = folder_names([name, "relevant"])
    assert all(folder == safe_name(folder) for folder in made.values())
    assert len(set(made.values())) == 2


def ris_of(tmp_path, table, **source):
    """The records that a table is exported as, one list of lines each; and the project."""
    (tmp_path / "t.csv").write_text(table)
    Project.create(tmp_path / "t.ask", Source(tmp_path / "t.csv", neighbors=2, **source), ["a", "b"])
    with Project.open(tmp_path / "t.ask", write=True) as project:
        project.say("ann", project.items.item(0).id, "label", "a")
        FORMATS["ris"].write(project, tmp_path / "t.ris", False)
    records = (tmp_path / "t.ris").read_text().split("ER  -")[:-1]
    return [[line for line in record.split("\n") if line.startswith(("TI", "AB", "PY"))] for record in records]


LONG = "words that are long enough to be compared by"


@pytest.mark.parametrize("title", ["Titel", "NAME", "Headline", "title"])
def test_titles_of_ris_come_from_a_column_called_so_in_any_case_and_abstracts_from_the_texts(tmp_path, title):
    table = f"Nr,{title},Year,Beschreibung\n" + "".join(f"{k},Paket {k},{2000 + k},{LONG} {k}\n" for k in range(4))
    found = ris_of(tmp_path, table, id="Nr", text="Beschreibung")
    assert found == [[f"TI  - Paket {k}", f"PY  - {2000 + k}", f"AB  - {LONG} {k}"] for k in range(4)]


def test_titles_of_ris_come_from_what_names_the_items_on_the_card_or_from_ids_called_names(tmp_path):
    rows = "".join(f"Paket {k},{LONG} {k}\n" for k in range(4))
    (tmp_path / "a").mkdir()
    assert ris_of(tmp_path, f"Paket,text\n{rows}", text="text")[0] == ["TI  - Paket 0", f"AB  - {LONG} 0"]
    assert ris_of(tmp_path / "a", f"Name,text\n{rows}", text="text", id="Name")[0] == [
        "TI  - Paket 0",
        f"AB  - {LONG} 0",
    ]


def test_ris_without_a_title_says_what_to_name_and_writes_nothing(tmp_path):
    with pytest.raises(
        SettingError, match="no column is called title: RIS needs one; rename the column of titles to title"
    ):
        ris_of(tmp_path, "x,y\n" + "".join(f"{k},{k % 3}\n" for k in range(6)))
    assert not (tmp_path / "t.ris").exists()


def test_labels_that_were_there_and_ids_are_in_every_export_and_not_in_the_texts_to_learn_from(tmp_path):
    rows = "".join(f"c{k},{'' if k > 3 else 'ab'[k % 2]},{k},note {k}\n" for k in range(8))
    (tmp_path / "t.csv").write_text(f"code,region,size,remark\n{rows}")
    source = Source(tmp_path / "t.csv", features=["size"], id="code", label="region", neighbors=2)
    Project.create(tmp_path / "t.ask", source)
    with Project.open(tmp_path / "t.ask", write=True) as project:
        project.log.change("ann", "find", "a")
        for name in ("labelstudio", "argilla", "huggingface", "asreview", "spacy"):
            FORMATS[name].write(project, tmp_path / name if name != "asreview" else tmp_path / "r.csv", False)
        tasks, records = (json.loads((tmp_path / name).read_text()) for name in ("labelstudio", "argilla"))
        table = pq.read_table(tmp_path / "huggingface").to_pylist()
        screened = list(csv.DictReader((tmp_path / "r.csv").read_text().splitlines()))
    for row in (tasks[0]["data"], records[0]["fields"], table[0], screened[0]):
        assert {name: str(row[name]) for name in ("code", "region", "size", "remark")} == {
            "code": "c0", "region": "a", "size": "0", "remark": "note 0",
        }  # fmt: skip
    texts = [json.loads(line) for line in (tmp_path / "spacy").read_text().splitlines()]
    assert texts[0] == {"text": "note 0", "cats": {"a": 1.0, "b": 0.0}}


def test_the_page_offers_ris_only_where_there_are_titles(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,2\n2,3\n3,1\n")
    Project.create(tmp_path / "t.ask", Source(tmp_path / "t.csv", neighbors=1))
    for path, offered in ((tmp_path / "t.ask", False), (news(tmp_path), True)):
        with Project.open(path) as project:
            assert has_titles(project) is offered
