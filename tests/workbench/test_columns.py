"""What the columns of a table are for: ids, labels that are there, yes and no, dates, and what is not compared."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from askgraph.errors import FileError, LabelError, SettingError
from askgraph.web.listing import Query, list_items
from askgraph.workbench import report
from askgraph.workbench.columns import choose_columns, look_at_columns
from askgraph.workbench.exchange import text_of
from askgraph.workbench.export import prediction_rows
from askgraph.workbench.items import read_items
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source, read_columns
from askgraph.workbench.suitability import examine

N = 24
PROSE = "A sentence that is long enough to be compared by its words, about"


def write(folder, columns, name="t.csv"):
    """A table of N rows: each column is a function from a row number to a cell."""
    path = folder / name
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([columns, *([cell(k) for cell in columns.values()] for k in range(N))])
    return path


def text(k):
    return f"{PROSE} {'cats' if k % 2 else 'ships'} {k}"


def code(k):
    return f"C {k:03}"


def size(k):
    return k % 7 + 0.5


def region(k):
    return "" if k % 2 else ("north", "south")[k // 2 % 2]


def looked(path, **given):
    return {one.name: one for one in look_at_columns(Source(path, **given), read_columns(path))}


def ids_of(path, **given):
    return choose_columns(Source(path, **given), read_columns(path)).id


@pytest.mark.parametrize(
    "name", ["code", "Key", "doc", "No.", "nr", "Nummer", "Kürzel", "item_id", "idItem", "OrderNo", "UUID", "DOI", "file name"]
)  # fmt: skip
def test_a_column_of_short_distinct_values_that_is_called_so_is_the_id(tmp_path, name):
    path = write(tmp_path, {"size": size, name: code})
    items, _, _ = read_items(Source(path))
    assert items.ids[:2] == ["C 000", "C 001"]
    assert items.notes == (f"ids are those of {name!r}; --id names another column",)
    assert looked(path)[name].use == "id"


@pytest.mark.parametrize("name", ["paid", "grid", "valid", "zip code", "phone number", "remark", "surname", "numbers"])
def test_a_column_that_is_called_otherwise_is_not_the_id(tmp_path, name):
    assert ids_of(write(tmp_path, {"size": size, name: code})) is None


@pytest.mark.parametrize(
    "cell",
    [
        text,
        lambda k: "same",
        lambda k: "" if k == 5 else code(k),
        lambda k: code(k) * 20,
        lambda k: k + 0.5,
        lambda k: -k,
        lambda k: f"2024-01-{k + 1:02}",
        lambda k: "",
    ],
    ids=["prose", "duplicates", "a gap", "long", "decimals", "below zero", "dates", "empty"],
)
@pytest.mark.parametrize("name", ["no", "name"])
def test_a_column_called_so_is_not_the_id_unless_its_values_can_be_typed_and_tell_items_apart(tmp_path, name, cell):
    items, _, _ = read_items(Source(write(tmp_path, {"size": size, name: cell})))
    assert items.ids[:2] == ["1", "2"]


def test_the_column_called_id_comes_first_and_then_the_order_of_the_table(tmp_path):
    assert ids_of(write(tmp_path, {"name": code, "ID": lambda k: f"i{k}", "size": size})) == "ID"
    assert ids_of(write(tmp_path, {"name": code, "code": lambda k: f"i{k}", "size": size})) == "name"
    assert ids_of(write(tmp_path, {"code": code, "size": size}), id="") is None
    with pytest.raises(FileError, match="the id 'same' is on line 2 already"):
        read_items(Source(write(tmp_path, {"id": lambda k: "same", "code": code, "size": size})))


@pytest.mark.parametrize(
    "given",
    [{"text": "code"}, {"features": ["code"]}, {"show": ["code", "size"]}, {"label": "code"}, {"vectors": "code"}],
)
def test_a_column_that_is_given_for_something_else_is_not_the_id(tmp_path, given):
    path = write(tmp_path, {"code": lambda k: k, "size": size})
    assert ids_of(path) == "code"
    assert ids_of(path, **given) is None


def test_the_last_column_to_compare_items_by_is_not_the_id(tmp_path):
    assert ids_of(write(tmp_path, {"no": lambda k: k})) is None
    chosen = choose_columns(Source(path := write(tmp_path, {"no": lambda k: k, "name": code})), read_columns(path))
    assert (chosen.id, chosen.features) == ("name", ["no"])
    assert ids_of(write(tmp_path, {"no": lambda k: k, "label": lambda k: k % 2})) is None


@pytest.mark.parametrize(
    ("nodes", "ids"),
    [(lambda k: k + 1, None), (code, "code"), (lambda k: f"n{k}", "name"), (lambda k: 1000 + k, "key")],
)
def test_ids_are_those_that_the_nodes_of_a_graph_are_called_by(tmp_path, nodes, ids):
    columns = {"code": code, "name": lambda k: f"n{k}", "key": lambda k: 1000 + k, "text": text}
    edges = tmp_path / "edges.csv"
    edges.write_text("source,target\n" + "".join(f"{nodes(k)},{nodes((k + 3) % N)}\n" for k in range(N)))
    items, graph, _ = read_items(Source(write(tmp_path, columns), edges))
    assert items.columns["id"] == ids
    assert graph.n_edges == N


def test_a_name_that_is_the_id_is_the_heading_and_is_found(tmp_path):
    columns = {"name": lambda k: f"人 {k}", "text": text, "town": lambda k: f"town {k}"}
    Project.create(tmp_path / "p.ask", Source(write(tmp_path, columns)))
    with Project.open(tmp_path / "p.ask", write=True) as project:
        item = project.items.item(3)
        assert (item.id, project.items.title(item), project.items.naming_field) == ("人 3", "人 3", None)
        assert project.items.search("人 23") == [23]
        assert [row["title"] for row in list_items(project, None, Query(sort="title", order="desc", limit=2))[1]] == [
            "人 9",
            "人 8",
        ]
        project.say("ann", "人 3", "label", "a")
    columns["title"] = lambda k: f"Title {k}"
    Project.create(tmp_path / "q.ask", Source(write(tmp_path, columns)))
    with Project.open(tmp_path / "q.ask") as project:
        assert (project.items.item(3).id, project.items.title(project.items.item(3))) == ("人 3", "Title 3")


@pytest.mark.parametrize(
    ("columns", "offered"),
    [
        ({"region": region}, ["region"]),
        ({"region": lambda k: "" if k == 0 else "ab"[k % 2]}, []),
        ({"region": lambda k: "" if k < 2 else "ab"[k % 2]}, ["region"]),
        ({"region": lambda k: "ab"[k % 2]}, []),
        ({"region": lambda k: "" if k % 2 else f"r{k // 4}"}, []),
        ({"region": lambda k: "" if k % 2 else "one"}, []),
        ({"stars": lambda k: "" if k % 2 else k // 2 % 2}, []),
        ({"Relevant": lambda k: "" if k % 2 else k // 2 % 2}, ["Relevant"]),
        ({"class": lambda k: k % 3}, ["class"]),
        ({"class": lambda k: k}, []),
        ({"spam": lambda k: "" if k % 2 else ("yes", "no")[k // 2 % 2]}, ["spam"]),
        ({f"asked {q}": lambda k: "" if k % 2 else ("yes", "no")[k // 2 % 2] for q in range(3)}, []),
        ({"day": lambda k: "" if k % 2 else f"2024-01-0{k // 2 % 2 + 1}"}, []),
    ],
    ids=["half", "4 % empty", "8 % empty", "full", "2 per value", "one value", "numbers", "called so", "full and called so",
         "many numbers", "yes and no", "a list of questions", "dates"],
)  # fmt: skip
def test_a_half_filled_column_of_few_values_is_offered_as_labels_that_are_there(tmp_path, columns, offered):
    path = write(tmp_path, {"text": text, **columns})
    assert [one.name for one in looked(path).values() if one.offered] == offered
    items, _, _ = read_items(Source(path))
    assert list(items.hidden) == offered
    assert [note for note in items.notes if "labels that you have already?" in note] == [
        note for note in items.notes if f"give --label {offered[0] if offered else None}" in note
    ]


def test_what_is_offered_is_said_and_counted(tmp_path):
    path = write(tmp_path, {"text": text, "region": region})
    assert looked(path)["region"][1:] == ("short", None, True, 2, 12)
    sentence = "region has 2 values and 12 empty cells: labels that you have already? then give --label region"
    assert sentence in read_items(Source(path))[0].notes
    assert sentence in examine(Source(path)).found
    assert looked(path, label="region")["region"][2:4] == ("label", False)
    for named in ({"text": "region"}, {"show": ["text", "region"]}):
        assert not looked(path, **named)["region"].offered
    Project.create(tmp_path / "p.ask", Source(path))
    with Project.open(tmp_path / "p.ask") as project:
        assert any(
            line.startswith("'region': labels that you had already?") for line in report.checkup(project)["improve"]
        )
        assert not any("of numbers compared and not shown" in line for line in report.checkup(project)["improve"])


@pytest.mark.parametrize(
    ("cells", "given"),
    [
        (lambda k: f"{1.5 * k}" if k < 9 else "", "then give --label target"),
        (lambda k: k + 0.5 if k < 20 else "", "give --label target --answers numbers"),
        (lambda k: k % 5 + 1 if k < 8 else "", 'give --label target --answers ordered --classes "1,2,3,4,5"'),
    ],
    ids=["few", "many", "steps"],
)
def test_numbers_with_gaps_in_a_column_called_target_are_offered_and_not_compared(tmp_path, cells, given):
    """Of few different ones no kind is offered."""
    path = write(tmp_path, {"size": size, "target": cells})
    items, _, _ = read_items(Source(path))
    assert looked(path)["target"].offered
    assert list(items.hidden) == ["target"]
    (offer,) = [note for note in items.notes if "labels that you have already?" in note]
    assert offer.endswith(given)


def test_labels_are_compared_where_nothing_else_is_left(tmp_path):
    path = write(tmp_path, {"name": code, "class": lambda k: k % 3})
    assert choose_columns(Source(path), read_columns(path)).features == ["class"]
    assert not looked(path)["class"].offered


@pytest.mark.parametrize("label", ["region", None], ids=["given", "offered"])
def test_labels_that_are_there_are_kept_for_exports_and_shown_searched_or_compared_nowhere(tmp_path, label):
    columns = {"region": region, "size": size, "place": lambda k: f"place {k % 9}"}
    Project.create(tmp_path / "p.ask", Source(write(tmp_path, columns), label=label), classes=["north", "south"])
    with Project.open(tmp_path / "p.ask") as project:
        assert project.items.columns["features"] == ["size"]
        item = project.items.item(0)
        assert (item.fields["region"], "region" in project.items.item(1).fields) == ("north", False)
        assert "region" not in project.items.shown
        assert project.items.naming_field != "region"
        assert "north" not in project.items.title(item)
        assert "north" not in text_of(project, item)
        assert project.items.search("north") == []
        assert project.items.search("place 4") == [4, 13, 22]
        exported = list(prediction_rows(project))
        assert [row["region"] for row in exported] == [region(k) or None for k in range(N)]
    assert len(project.answers.labels) == (12 if label else 0)


def test_exact_copies_are_copies_whatever_label_they_came_with(tmp_path):
    columns = {"size": lambda k: k % 12, 're"gion': region}
    Project.create(tmp_path / "p.ask", Source(write(tmp_path, columns), label='re"gion'))
    with Project.open(tmp_path / "p.ask") as project:
        assert project.items.copies[3] == [15]


def test_items_with_names_of_their_own_are_no_copies(tmp_path):
    for name, copies in (("code", [10, 17]), ("name", None)):
        Project.create(tmp_path / f"{name}.ask", Source(write(tmp_path, {name: code, "size": size})))
        with Project.open(tmp_path / f"{name}.ask") as project:
            assert project.items.columns["id"] == name
            assert project.items.copies.get(3) == copies


@pytest.mark.parametrize(
    ("yes", "no"), [("True", "FALSE"), ("ja", "Nein"), ("WAHR", "falsch"), ("Yes", "no"), (True, False)]
)
def test_yes_and_no_are_compared_as_numbers_and_kept_as_they_came(tmp_path, yes, no):
    path = tmp_path / "t.jsonl"
    said = [None if k == 7 else yes if k % 3 else no for k in range(N)]
    path.write_text("".join(json.dumps({"size": k % 5, "open": cell}) + "\n" for k, cell in enumerate(said)))
    items, graph, notes = read_items(Source(path, scale=None, neighbors=3))
    assert "'size', 'open'" in notes[0]
    assert items.fields["open"] == said
    assert items.kinds == {"size": "number", "open": "text"}
    assert looked(path)["open"][1:] == ("boolean", "compared", False, 2, 1)
    numbers = tmp_path / "n.jsonl"
    as_numbers = [None if cell is None else int(cell == yes) for cell in said]
    numbers.write_text("".join(json.dumps({"size": k % 5, "open": cell}) + "\n" for k, cell in enumerate(as_numbers)))
    np.testing.assert_array_equal(
        graph.weights.toarray(), read_items(Source(numbers, neighbors=3))[1].weights.toarray()
    )


def test_words_of_two_pairs_are_not_yes_and_no(tmp_path):
    path = write(tmp_path, {"size": size, "a": lambda k: ("yes", "nein")[k % 2], "b": lambda k: "yes"})
    assert {looked(path)[name].kind for name in "ab"} == {"short"}
    with pytest.raises(FileError, match="is not a finite number"):
        read_items(Source(path, features=["a"]))


@pytest.mark.parametrize(
    "cell",
    [
        lambda k: f"2024-12-{k + 1:02}",
        lambda k: f"2024-12-{k + 1:02}T08:30:00.5+01:00",
        lambda k: f"{k + 1}.12.2024",
        lambda k: f"{k + 1}.12.24 8:30",
        lambda k: f"12/{k + 1}/2024 08:30 PM",
        lambda k: "" if k % 2 else f"2024/12/{k + 1:02}",
    ],
)
def test_dates_are_not_compared_and_that_is_said(tmp_path, cell):
    path = write(tmp_path, {"size": size, "opened": cell})
    assert looked(path)["opened"][1:4] == ("date", None, False)
    items, _, notes = read_items(Source(path))
    assert "'opened'" not in notes[0]
    assert "not compared: opened (dates); --features or --text takes other columns" in items.notes


def test_what_is_not_compared_is_said_with_the_reason_and_once(tmp_path):
    columns = {
        "id": code,
        "text": text,
        "size": size,
        "opened": lambda k: f"2024-12-{k + 1:02}",
        "town": lambda k: f"t{k % 3}",
    }
    columns |= {"fine": lambda k: ("ja", "nein")[k % 2], "region": region, "nothing": lambda k: ""}
    path = write(tmp_path, columns)
    expected = (
        "not compared: size (numbers, beside text), opened (dates), town (short text), "
        "region (labels?), nothing (empty); --features or --text takes other columns"
    )
    assert expected in read_items(Source(path))[0].notes
    assert [line for line in examine(Source(path)).lines() if "not compared" in line] == [f"found: {expected}"]


def test_columns_of_nothing_are_looked_at_too(tmp_path):
    path = write(tmp_path, {"name": lambda k: "", "other": lambda k: "x"})
    assert [one.kind for one in looked(path).values()] == ["empty", "short"]
    assert {one.use for one in looked(path).values()} == {None}
    with pytest.raises(SettingError, match="what should items be compared by"):
        read_items(Source(path))


def test_unknown_items_are_named_together_before_anything_is_saved(tmp_path):
    Project.create(tmp_path / "p.ask", Source(write(tmp_path, {"code": code, "size": size})))
    said = [("C 001", "label", "a"), ("C  002", "label", "b"), *((f"X{k}", "label", "a") for k in range(7))]
    with Project.open(tmp_path / "p.ask", write=True) as project:
        with pytest.raises(LabelError, match=r"no item 'X0', 'X1', 'X2', 'X3', 'X4', … \(7 in all\)"):
            project.say_all("ann", said)
        assert not project.answers.log
        project.say_all("ann", said[:2])
        assert (project.answers.labels[1], project.answers.labels[2]) == ("a", "b")
