"""Promise 25: csv and xlsx do no harm in a spreadsheet; exports come back as they were; Label Studio's JSON has its shape."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import askgraph as ag
from askgraph.errors import FileError
from askgraph.learner.settings import Settings
from askgraph.workbench import spreadsheet
from askgraph.workbench.exchange import label_studio_tasks
from askgraph.workbench.export import (
    ANSWER,
    OURS,
    answer_rows,
    lost_columns,
    number_columns,
    prediction_rows,
    to_csv,
    to_json,
    to_jsonl,
    to_parquet,
    write_rows,
)
from askgraph.workbench.formulas import escape_formula, unescape_formula
from askgraph.workbench.items import Items
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source, read_columns
from askgraph.workbench.store import Store
from tests.helpers.projects import make

STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
PAYLOADS = [
    "=cmd|' /C calc'!A0",
    "+1+cmd",
    "-1+1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    '=HYPERLINK("http://x")',
    "＝1+1",
    "harmless\r=1+1",
    "harmless\n=1+1",
    'harmless",=1+1',
]
NUMBERS = ["-5", "+1", "-1e5", "-.5", "-inf", "1", ""]
ODD = [
    "ü☃名前",
    "𝄞 \U0001f600",
    "two\nlines",
    "a\r\nb",
    'quo"te',
    "com,ma",
    "tab\t",
    " space ",
    "\u2028",
    "\x85",
    "\x1b[31m",
    "ﷺ",
    "a\0b",
]


def project_of(path, texts, classes=(), name="text"):
    about = {
        "project": "p", "uid": "p", "classes": list(classes), "fields": {name: "text"}, "images": None, "graph": [],
        "settings": Settings.of().to_json(), "seed": 0, "overlap": 1,
    }  # fmt: skip
    Store.create(path, Items([f"i{k}" for k in range(len(texts))], {name: texts}), ag.chain(len(texts)), about)
    return path


def rows_of(text):
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_cell_of_a_csv_starts_a_formula(tmp_path, payload):
    """In fields, ids, people, classes and so headers too."""
    # Promise 25
    path = project_of(tmp_path / "p.ask", [payload, "ham", "eggs"], [payload, "b"], payload)
    with Project.open(path, write=True) as project:
        project.say(payload, "i0", "label", payload)
        project.say("ann", "i1", "label", "b")
        for rows in (prediction_rows, answer_rows):
            found = rows_of("".join(to_csv(rows(project))))
            assert len({len(row) for row in found}) == 1
            assert not [cell for row in found for cell in row if cell.startswith(STARTS)]
            line = " ".join(payload.split())
            assert any(cell in ("'" + line, line) for row in found for cell in row)


def test_numbers_stay_numbers():
    assert [escape_formula(cell) for cell in NUMBERS] == NUMBERS
    assert [escape_formula(cell) for cell in (-1.5, -3, None, True)] == [-1.5, -3, None, True]
    assert escape_formula("+nan") == "'+nan"


@given(st.text(max_size=8) | st.text("=+-@;,\t' 1a＝", max_size=8))
@settings(max_examples=200, deadline=None)
@example(";=")
def test_escaping_adds_apostrophes_only_and_can_be_taken_back(text):
    assert escape_formula(text).replace("'", "") == text.replace("'", "")
    assert unescape_formula(escape_formula(text)) == text
    (row,) = rows_of("".join(to_csv([{"a": text}])))[1:] or [[""]]
    assert not row[0].startswith(("=", "@", "＝", "＋", "－", "＠"))


VALUES = {
    "text": st.sampled_from(ODD) | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    "integers": st.integers(-(2**63) + 1, 2**63 - 1),
    "numbers": st.floats(allow_nan=False, allow_infinity=False),
    "flags": st.booleans(),
}
COLUMN = st.sampled_from(sorted(VALUES)).flatmap(
    lambda kind: st.lists(st.none() | VALUES[kind], min_size=3, max_size=3)
)


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4), COLUMN, min_size=1, max_size=3
    )
)
@example({"a": ODD[:3], "b": ODD[-3:]})
def test_jsonl_and_parquet_are_lossless(columns):
    # Promise 25
    import pyarrow.parquet as pq

    rows = [{name: cells[k] for name, cells in columns.items()} for k in range(3)]
    assert [json.loads(line) for line in "".join(to_jsonl(rows)).removesuffix("\n").split("\n")] == rows
    assert json.loads("".join(to_json(rows))) == rows
    table = pq.read_table(io.BytesIO(to_parquet(rows)))
    assert table.to_pylist() == rows


def xml_of(path):
    """All parts of a spreadsheet, joined."""
    with zipfile.ZipFile(path) as file:
        return "".join(file.read(name).decode() for name in file.namelist())


@pytest.mark.parametrize("payload", [*PAYLOADS, "\t=1+1", "http://example.org", "{=1+1}", "007"])
def test_every_text_of_a_spreadsheet_is_text(tmp_path, payload):
    """Opened again by calamine and as XML: no formula, no link, in headers, ids, classes and cells."""
    # Promise 25
    from python_calamine import CalamineWorkbook

    path = project_of(tmp_path / "p.ask", [payload, "ham", "eggs"], [payload, "b"], payload)
    with Project.open(path, write=True) as project:
        project.say("ann", "i0", "label", payload)
        for rows in (prediction_rows, answer_rows):
            write_rows(tmp_path / "out.xlsx", rows(project))
            found = CalamineWorkbook.from_path(tmp_path / "out.xlsx").get_sheet_by_index(0).to_python()
            assert payload in [cell for row in found for cell in row]
            assert not re.search("<f[ >/]|hyperlink", xml_of(tmp_path / "out.xlsx"))


SHEET_TEXT = st.sampled_from(ODD) | st.text(st.characters(exclude_characters="\ufffe\uffff", exclude_categories=["Cs"]))


@settings(max_examples=40, deadline=None)
@given(st.lists(SHEET_TEXT, min_size=1, max_size=4), st.integers(-(10**15), 10**15), st.booleans())
def test_a_spreadsheet_reads_back_as_it_was(tmp_path_factory, texts, number, flag):
    # Promise 25
    path = tmp_path_factory.getbasetemp() / "back.xlsx"
    rows = [{"id": "007", "text": text, "n": number, "half": 0.5, "flag": flag, "x": "794.4"} for text in texts]
    write_rows(path, rows, numbers={"x"})
    table = read_columns(path)
    found = table.cells("text") if "text" in table.header else [None] * len(texts)
    assert found == [text.strip() or None for text in texts]
    assert {name: table.cells(name)[0] for name in ("id", "n", "half", "flag", "x")} == {
        "id": "007", "n": number, "half": 0.5, "flag": flag, "x": 794.4
    }  # fmt: skip


def test_columns_of_numbers_are_numbers_in_a_spreadsheet_and_ids_are_text(tmp_path):
    (tmp_path / "t.csv").write_text("id;size;code;label\n01;794,4;7;1\n02;3;x;2\n")
    Project.create(tmp_path / "p.ask", Source(tmp_path / "t.csv", id="id", features=["size"]))
    with Project.open(tmp_path / "p.ask") as project:
        write_rows(tmp_path / "out.xlsx", prediction_rows(project), numbers=number_columns(project))
    table = read_columns(tmp_path / "out.xlsx")
    assert [table.cells(name) for name in ("id", "size", "code", "label (table)")] == [
        ["01", "02"], [794.4, 3], ["7", "x"], [1, 2]
    ]  # fmt: skip


def test_what_a_sheet_cannot_hold_is_said_and_nothing_is_written(tmp_path, monkeypatch):
    path = tmp_path / "out.xlsx"
    with pytest.raises(FileError, match=r"row 2, column 'text': 32,768 characters, and a cell .* export csv"):
        write_rows(path, [{"text": "x" * 32_768}])
    with pytest.raises(FileError, match="16,385 columns, and a sheet holds 16,384; export csv"):
        write_rows(path, [{str(k): 1 for k in range(16_385)}])
    monkeypatch.setattr(spreadsheet, "MAX_ROWS", 3)
    with pytest.raises(FileError, match="more than 2 rows, which a sheet cannot hold; export csv"):
        write_rows(path, [{"a": 1}] * 3)
    assert not list(tmp_path.iterdir())
    write_rows(path, [{"a": 10**20, "b": float("nan")}])
    assert [read_columns(path).cells(name) for name in "ab"] == [[str(10**20)], ["nan"]]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([1, "a", None], ["1", "a", None]),
        ([1, 2.5, None], [1.0, 2.5, None]),
        ([True, 1, None], ["True", "1", None]),
        ([10**30, 1, None], [str(10**30), "1", None]),
        ([2**53 + 1, 0.5, None], [str(2**53 + 1), "0.5", None]),
        ([-(2**64), 2.5, "a"], [str(-(2**64)), "2.5", "a"]),
        ([None, None, None], [None, None, None]),
    ],
)
def test_columns_of_parquet_have_one_type(cells, expected):
    import pyarrow.parquet as pq

    table = pq.read_table(io.BytesIO(to_parquet({"x": cell} for cell in cells)))
    assert table.column("x").to_pylist() == expected


def strictly(text):
    """JSON as the standard has it: no NaN, no Infinity."""
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))


@pytest.mark.parametrize("answers", [0, 1, 6])
def test_every_export_of_a_project_reads_back(tmp_path, answers):
    # Promise 25
    import pyarrow.parquet as pq

    path = project_of(tmp_path / "p.ask", [*ODD, *PAYLOADS])
    with Project.open(path, write=True) as project:
        for k in range(answers):
            project.say("zoë", f"i{2 * k}", "label", f"{ODD[k % 3][0]}{k % 3}", seconds=k / 7)
        project.say("bob", "i1", "cannot")
        n = len(ODD) + len(PAYLOADS)
        for rows, count in ((prediction_rows, n), (answer_rows, answers + 1), (label_studio_tasks, n)):
            for kind in (".csv", ".jsonl", ".json", ".parquet"):
                if rows is label_studio_tasks and kind in (".csv", ".parquet"):
                    continue
                write_rows(tmp_path / f"out{kind}", rows(project))
            listed = list(rows(project))
            assert len(listed) == count
            assert [strictly(x) for x in (tmp_path / "out.jsonl").read_text("utf-8").split("\n") if x] == listed
            assert strictly((tmp_path / "out.json").read_text("utf-8")) == listed
            if rows is not label_studio_tasks:
                assert pq.read_table(tmp_path / "out.parquet").to_pylist() == listed
                with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
                    assert len(list(csv.reader(file))) == count + 1
        assert [row["text"] for row in answer_rows(project)][:answers] == [*ODD, *PAYLOADS][: 2 * answers : 2]
    assert not list(tmp_path.glob("*.part"))


def test_predictions_have_what_was_promised(tmp_path):
    with Project.open(make(tmp_path / "p.ask", 5), write=True) as project:
        project.say("ann", "i0", "label", "a")
        project.say("bob", "i0", "label", "a")
        project.say("bob", "i4", "label", "b")
        project.say("bob", "i2", "invalid")
        rows = list(prediction_rows(project))
    ours = ["label", "probability", "source", "who", "how", "aside", "variance", "p(a)", "p(b)"]
    assert list(rows[0]) == ["id", "text", *ours]
    assert [row["text"] for row in rows] == [f"item {k}" for k in range(5)]
    assert [rows[0][name] for name in ours[:7]] == ["a", rows[0]["p(a)"], "answered", "ann, bob", None, None, 0]
    assert [rows[1][name] for name in ("label", "source", "who")] == ["a", "predicted", None]
    no_item = rows.pop(2)
    assert [no_item[name] for name in ("aside", "label", "probability", "source")] == ["invalid", None, None, None]
    for row in rows:
        assert row["p(a)"] + row["p(b)"] == pytest.approx(1, abs=1e-3)
        assert row["probability"] == row[f"p({row['label']})"] == round(row["probability"], 4)


def test_columns_of_the_table_are_all_there_whatever_they_are_called(tmp_path):
    about = {
        "project": "p", "uid": "p", "classes": ["a", "b"], "images": None, "graph": [], "settings": Settings.of().to_json(),
        "seed": 0, "overlap": 1, "fields": {"label": "text", "label (table)": "text", "p(a)": "number"},
    }  # fmt: skip
    fields = {"label": ["x", "y"], "label (table)": ["u", "v"], "p(a)": [1, 2]}
    Store.create(tmp_path / "p.ask", Items(["1", "2"], fields, labels=["a", None]), ag.chain(2), about)
    with Project.open(tmp_path / "p.ask") as project:
        first, second = prediction_rows(project)
    assert (first["label"], first["source"], second["source"]) == ("a", "imported", "predicted")
    assert (first["label (table)"], first["label (table) (table)"], first["p(a) (table)"]) == ("u", "x", 1)
    assert isinstance(second["p(a)"], float)


def test_label_studio_imports_it(tmp_path):
    """Tasks as https://labelstud.io/guide/tasks describes them: data, annotations and predictions with results of choices."""
    with Project.open(make(tmp_path / "p.ask", 4, ["a", "b"]), write=True) as project:
        project.say("ann", "i0", "label", "b", 2.5)
        project.say("bob", "i0", "label", "a")
        tasks = list(label_studio_tasks(project))
    assert [task["id"] for task in tasks] == [1, 2, 3, 4]
    assert tasks[0]["data"] == {"id": "i0", "text": "item 0"}
    assert [one["completed_by"]["first_name"] for one in tasks[0]["annotations"]] == ["ann", "bob"]
    assert tasks[0]["annotations"][0]["lead_time"] == 2.5
    assert tasks[1]["annotations"] == []
    for task in tasks:
        for part in (*task["annotations"], *task["predictions"]):
            (result,) = part["result"]
            assert (result["type"], result["from_name"], result["to_name"]) == ("choices", "label", "item")
            assert result["value"]["choices"][0] in ("a", "b")
        assert 0 <= task["predictions"][0]["score"] <= 1


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("before")

    def rows():
        yield {"a": 1}
        raise FileError("in the middle")

    for target in (path, *(tmp_path / f"labels.{kind}" for kind in ("jsonl", "parquet", "xlsx"))):
        with pytest.raises(FileError, match="in the middle"):
            write_rows(target, rows())
    assert path.read_text() == "before"
    assert [p.name for p in tmp_path.iterdir()] == ["labels.csv"]
    with pytest.raises(FileError, match=r"\.csv, \.xlsx, \.jsonl, \.parquet or \.json"):
        write_rows(tmp_path / "labels.xls", [])
    with pytest.raises(FileError, match="cannot be written"):
        write_rows(tmp_path / "nowhere" / "labels.csv", [])
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FileError, match="cannot be written"):
        write_rows(tmp_path / "folder.csv", [{"a": 1}])


ODD_NAMES = ["id", "ID", "Id", "label", "Label", "label (table)", "label (table) (table)", "p(a)", "", "who", "WHO", "answer",
             "image", "at", "how", "source", "variance", "=1+1", "x", "two words", "ü"]  # fmt: skip
CELLS = st.one_of(
    st.none(), st.sampled_from(["a", "b", "=1", "5", "two words", "ü☃"]), st.integers(-9, 9), st.booleans()
)


def read_back(path):
    """The columns of an exported file, their cells as text; an empty cell is None."""
    if path.suffix == ".csv":
        with open(path, newline="") as file:
            header, *rows = [[unescape_formula(cell) for cell in row] for row in csv.reader(file)]
    elif path.suffix == ".jsonl":
        found = [json.loads(line) for line in path.read_text().splitlines()]
        header, rows = list(found[0]), [list(row.values()) for row in found]
    else:
        from pyarrow.parquet import read_table

        found = read_table(path)
        header, rows = found.column_names, list(zip(*(column.to_pylist() for column in found.columns), strict=True))
    assert len(set(header)) == len(header)
    return {
        name: [None if cell in ("", None) else str(cell) for cell in cells]
        for name, *cells in zip(header, *rows, strict=True)
    }


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_every_column_of_a_table_comes_back_by_its_name_with_its_cells(tmp_path_factory, data):
    folder, n = tmp_path_factory.mktemp("t"), 4
    names = data.draw(st.lists(st.sampled_from(ODD_NAMES), min_size=1, max_size=6, unique=True))
    table = {name: data.draw(st.lists(CELLS, min_size=n, max_size=n)) for name in names}
    key, label = (data.draw(st.sampled_from([None, *names])) for _ in range(2))
    if key is not None and key != label:
        table[key] = [f"k{k}" for k in range(n)]
    table["size"] = [0.5, 1.5, 2.5, 3.5]
    (folder / "t.jsonl").write_text("".join(json.dumps({c: table[c][k] for c in table}) + "\n" for k in range(n)))
    source = Source(folder / "t.jsonl", features=["size"], id=None if key == label else key, label=label, neighbors=1)
    try:
        Project.create(folder / "t.ask", source, ["a", "b"])
    except FileError:  # a column called id that has an empty cell, or the same one twice
        assume(False)
    with Project.open(folder / "t.ask", write=True) as project:
        project.say("ann", project.items.item(0).id, "label", "a")
        project.say("bob", project.items.item(3).id, "label", "b")
        for kind in ("csv", "jsonl", "parquet"):
            write_rows(folder / f"p.{kind}", prediction_rows(project))
            write_rows(folder / f"a.{kind}", answer_rows(project))
            ours = {"id", *OURS, *(f"p({name})" for name in project.answers.classes)}
            _check_own(read_back(folder / f"p.{kind}"), table, project, ours, range(n))
            standing = [a.item for a in project.answers.log.values()]
            _check_own(read_back(folder / f"a.{kind}"), table, project, set(ANSWER), standing)


def _check_own(found, table, project, ours, places):
    for name, cells in table.items():
        written = name
        while written in ours or (written != name and written in table):
            written = f"{written} (table)"
        written = "id" if name == "id" == project.items.columns["id"] else written
        assert found[written] == [None if cells[k] in ("", None) else str(cells[k]) for k in places], (name, written)


@pytest.mark.parametrize("vectors", ["e1:e3", "e"])
def test_columns_of_vectors_come_back_as_numbers_and_those_with_gaps_as_they_were(tmp_path, vectors):
    cells = [f'{k},{k}.5,{k * k},{"" if k == 2 else k},"[{k}, 0.5]"' for k in range(1, 7)]
    (tmp_path / "t.csv").write_text("id,e1,e2,e3,e\n" + "\n".join(cells) + "\n")
    Project.create(tmp_path / "t.ask", Source(tmp_path / "t.csv", vectors=vectors, neighbors=2))
    with Project.open(tmp_path / "t.ask") as project:
        write_rows(tmp_path / "p.csv", prediction_rows(project))
        assert "e3" in project.items.shown or vectors == "e1:e3"  # the numbers of vectors are not shown on the card
        assert lost_columns(project) == []
    with Project.open(tmp_path / "t.ask", write=True) as project:
        project.store.note("vectors", {"model": "m", "fields": None, "beside": True})
    with Project.open(tmp_path / "t.ask", write=True) as project:
        assert lost_columns(project) == []  # they are kept beside those of a model
        project.store.drop("vectors/")  # as an earlier version did
        assert lost_columns(project) == (["e"] if vectors == "e" else ["e1", "e2"])
        assert not set(lost_columns(project)) & set(next(prediction_rows(project)))
    found = read_back(tmp_path / "p.csv")
    assert found["e1"] == ["1.5", "2.5", "3.5", "4.5", "5.5", "6.5"]
    assert found["e2"] == ["1", "4", "9", "16", "25", "36"]
    assert found["e3"] == ["1", None, "3", "4", "5", "6"]
    assert [json.loads(cell)[0] for cell in found["e"]] == [1, 2, 3, 4, 5, 6]
