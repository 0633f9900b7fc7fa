"""Spreadsheets are read as people see them, and hostile ones are refused soon and in little memory."""

from __future__ import annotations

import re
import subprocess
import sys
import tracemalloc
import zipfile
from datetime import date, datetime, time

import pytest

import askgraph as ag
from askgraph.errors import FileError, MissingExtraError, SettingError
from askgraph.io.sheets import plain
from askgraph.io.spreadsheets import SPREADSHEETS, sheet_table
from askgraph.io.text import plain_numbers
from askgraph.workbench.source import read_columns
from tests.helpers.sheets import HEADER, ODS_BOMBS, XLSX_BOMBS, cell, ods, ods_row, xlsx, xlsx_row

ROWS = [[None, None], ["id", "size", None], ["a", 3.0, None], [None, None, None], ["b", 2.5, "x"]]
MAKERS = {
    ".xlsx": lambda path, rows, **more: xlsx(
        path, _xlsx_rows(rows), **{name: _xlsx_rows(other) for name, other in more.items()}
    ),
    ".ods": lambda path, rows, **more: ods(
        path, _ods_rows(rows), **{name: _ods_rows(other) for name, other in more.items()}
    ),
}


def _xlsx_rows(rows):
    return "".join(xlsx_row(k, row) for k, row in enumerate(rows, 1))


def _ods_rows(rows):
    return "".join(map(ods_row, rows))


def cells(table):
    return {name: table.cells(name) for name in table.header}


@pytest.fixture(params=MAKERS)
def make(request, tmp_path):
    return lambda rows, **more: MAKERS[request.param](tmp_path / f"t{request.param}", rows, **more)


def test_a_sheet_is_a_table_without_its_empty_rows_and_columns(make):
    table = read_columns(make([["", None], [None, None], *([None, *row] for row in ROWS)]))
    assert cells(table) == {"id": ["a", "b"], "size": [3, 2.5], "column D": [None, "x"]}
    assert type(table.cells("size")[0]) is int
    assert (table.sheets, table.sheet, table.encoding) == (("Sheet1",), "Sheet1", None)
    assert [table.where(k) for k in range(2)] == ["row 5 of sheet 'Sheet1'", "row 7 of sheet 'Sheet1'"]
    assert table.numbers("size").tolist() == [3, 2.5]
    assert table.values("id") == ["a", "b"]
    with pytest.raises(FileError, match="row 5 of sheet 'Sheet1', column 'id': 'a' is not a finite number"):
        table.numbers("id")
    with pytest.raises(FileError, match="row 5 of sheet 'Sheet1': column 'column D' is empty"):
        table.values("column D")


def test_a_title_above_the_table_is_left_out_and_said(make):
    table = sheet_table(make([["Clinic report 2024"], [], ["id", "weight", "note"], [1, 70.5, "a"], [2, 81, "b"]]))
    assert table.header == ["id", "weight", "note"]
    assert table.cells("weight") == [70.5, 81]
    assert table.notes == ("row 3 names the columns: above it stands a title",)
    assert table.where(0).startswith("row 4")
    assert sheet_table(make([["name"], ["a"], ["b"]])).header == ["name"]


def test_a_sheet_is_found_by_its_name_and_the_first_is_the_default(make):
    path = make([["a"], [1]], Second=[["b"], [2]], Empty=[])
    assert read_columns(path).header == ["a"]
    table = read_columns(path, sheet="Second")
    assert (table.header, table.sheet, table.sheets) == (["b"], "Second", ("Sheet1", "Second", "Empty"))
    with pytest.raises(SettingError, match="no sheet 'Third'; its sheets are 'Sheet1', 'Second', 'Empty'"):
        read_columns(path, sheet="Third")
    with pytest.raises(FileError, match="'Empty' is empty; name another with --sheet: 'Sheet1', 'Second'"):
        read_columns(path, sheet="Empty")


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([], "'Sheet1' is empty; it is the only one"),
        ([["a", "b"]], "a header and no rows"),
        ([["a", "a"], [1, 2]], "sheet 'Sheet1', row 1: two columns are called 'a'"),
    ],
)
def test_a_sheet_without_a_table_says_what_is_missing(make, rows, says):
    with pytest.raises(FileError, match=says):
        read_columns(make(rows))


def test_every_reader_of_tables_takes_spreadsheets(make):
    path = make([["id", "x", "y"], ["a", 1, 2], ["b", 3, 5]])
    X, labels, names = ag.read_table(path, label="id", id="id")
    assert (X.tolist(), labels, names) == ([[1, 2], [3, 5]], ["a", "b"], ["a", "b"])
    path = make([["node", "label"], ["b", 1], ["a", 2]])
    assert ag.read_labels(path, ag.Graph.from_edges([("a", "b")])) == [2, 1]


def test_sheets_and_encodings_are_refused_where_they_mean_nothing(make, tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n")
    with pytest.raises(SettingError, match="only a spreadsheet has sheets"):
        read_columns(tmp_path / "t.csv", sheet="Sheet1")
    with pytest.raises(SettingError, match="only text"):
        read_columns(make([["a"], [1]]), encoding="utf-8")
    with pytest.raises(SettingError, match="give a table"):
        ag.Project.create(tmp_path / "p.ask", ag.workbench.source.Source(graph=tmp_path / "t.csv", sheet="x"))


def test_cells_are_plain_values():
    found = [
        plain(x) for x in (True, 3.0, 1e300, "  ", float("inf"), date(2024, 3, 1), datetime(2024, 3, 1), time(9, 5))
    ]
    assert found == [True, 3, 1e300, None, None, "2024-03-01", "2024-03-01", "09:05:00"]
    assert plain(datetime(2024, 3, 1, 12, 29, 59, 999_999)) == "2024-03-01 12:30:00"


def test_a_workbook_of_a_writer_comes_back_with_dates_merged_cells_and_values_of_formulas(tmp_path):
    import xlsxwriter

    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as book:
        hidden, sheet = book.add_worksheet("lists"), book.add_worksheet("data")
        sheet.activate()
        sheet.set_first_sheet()
        hidden.hide()
        hidden.write("A1", "never first")
        day, shown = (book.add_format({"num_format": form}) for form in ("dd.mm.yyyy", "dd.mm.yyyy hh:mm"))
        sheet.write_row(0, 0, ["group", "day", "when", "sum", "bad", "ok"])
        for k in range(1, 4):
            sheet.write_datetime(k, 1, datetime(2024, 3, k), day)
            sheet.write_datetime(k, 2, datetime(2024, 3, k, 12, 30), shown)
            sheet.write_formula(k, 3, "=1+1", None, "" if k == 2 else 2)
            sheet.write_formula(k, 4, "=NA()", None, "#N/A")
            sheet.write_boolean(k, 5, k > 1)
        sheet.merge_range(1, 0, 3, 0, "same <b>Größe</b>")
    table = read_columns(tmp_path / "t.xlsx")
    assert cells(table) == {
        "group": ["same <b>Größe</b>"] * 3,
        "day": ["2024-03-01", "2024-03-02", "2024-03-03"],
        "when": ["2024-03-01 12:30:00", "2024-03-02 12:30:00", "2024-03-03 12:30:00"],
        "sum": [2, None, 2],
        "bad": [None, None, None],
        "ok": [False, True, True],
    }
    assert (table.sheets, table.sheet) == (("data", "lists"), "data")
    assert table.notes == ("3 cells with an error such as #N/A are empty",)


def test_shared_texts_keep_their_runs_and_lose_how_they_are_pronounced(tmp_path):
    texts = "<si><r><t>one </t></r><r><t>two</t></r><rPh><t>no</t></rPh></si><si><t>_x0041_ _x005F_x0041_</t></si>"
    rows = '<row r="1"><c r="A1" t="s"><v>0</v></c></row><row r="2"><c r="A2" t="s"><v>1</v></c></row>'
    assert cells(read_columns(xlsx(tmp_path / "t.xlsx", rows, texts))) == {"one two": ["A _x0041_"]}


def test_half_a_character_in_a_shared_text_is_replaced_and_two_halves_are_one(tmp_path):
    texts = "<si><t>a_xDC00_</t></si><si><t>b_xD800_x</t></si><si><t>_xD83D__xDE00_</t></si>"
    rows = "".join(f'<row r="{k + 1}"><c r="A{k + 1}" t="s"><v>{k}</v></c></row>' for k in range(3))
    assert cells(read_columns(xlsx(tmp_path / "t.xlsx", rows, texts))) == {"a\ufffd": ["b\ufffdx", "\U0001f600"]}


@pytest.mark.parametrize(("texts", "says"), [("<si><t>a" * 100, "more than 50 tags"), ("<!-- ", "unclosed token")])
def test_shared_texts_that_nest_or_do_not_end_are_damage(tmp_path, texts, says):
    with pytest.raises(FileError, match=f"not readable as a spreadsheet .*{says}"):
        sheet_table(xlsx(tmp_path / "t.xlsx", HEADER, texts))


def test_cells_of_ods_have_types_spans_and_notes_that_are_left_out(tmp_path):
    typed = {
        "date": 'date" office:date-value="2024-03-01T00:00:00',
        "time": 'time" office:time-value="PT12H30M00S',
        "ok": 'boolean" office:boolean-value="true',
        "share": 'percentage" office:value="0.5',
    }
    values = "".join(f'<table:table-cell office:value-type="{said}"/>' for said in typed.values())
    text = '<table:table-cell office:value-type="string" table:number-rows-spanned="2"><office:annotation><text:p>no</text:p>'
    text += '</office:annotation><text:p>a<text:s text:c="2"/>b</text:p><text:p>c</text:p></table:table-cell>'
    wrong = (
        '<table:table-cell table:formula="of:=NA()" office:value-type="string"><text:p>#N/A</text:p></table:table-cell>'
    )
    below = "<table:covered-table-cell/>" + values + "<table:table-cell/>"
    rows = ods_row(["text", *typed, "bad"]) + "".join(
        f"<table:table-row>{row}</table:table-row>" for row in (text + values + wrong, below)
    )
    table = read_columns(ods(tmp_path / "t.ods", rows))
    twice = {"date": "2024-03-01", "time": "12:30:00", "ok": True, "share": 0.5}
    same = {name: [value] * 2 for name, value in twice.items()}
    assert cells(table) == {"text": ["a  b\nc"] * 2, **same, "bad": [None] * 2}
    assert table.notes == ("1 cell with an error such as #N/A is empty",)


def test_text_of_a_formula_that_begins_like_an_error_is_kept(tmp_path):
    shown = ["text", "#1 of 3", "#blue", "Err: none", "#NAME?", "#WERT!", "Err:502"]
    made = 'table:formula="of:=A1" office:value-type="string"'
    rows = (
        f"<table:table-cell {made}><text:p>{text}</text:p></table:table-cell>{ods_row(['x'])[17:-18]}" for text in shown
    )
    table = read_columns(ods(tmp_path / "t.ods", "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)))
    assert table.cells("text") == [*shown[1:4], None, None, None]
    assert table.notes == ("3 cells with an error such as #N/A are empty",)


def test_a_missing_reader_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(MissingExtraError, match=r'pip install "askgraph\[tables\]"'):
        sheet_table(xlsx(tmp_path / "t.xlsx", ""))


def test_a_panic_of_the_reader_is_an_error_of_ours(tmp_path, monkeypatch):
    import python_calamine

    class PanicException(BaseException):
        pass

    class Panics:
        @staticmethod
        def from_filelike(file):
            raise PanicException("index out of bounds")

    monkeypatch.setattr(python_calamine, "CalamineWorkbook", Panics)
    with pytest.raises(FileError, match="index out of bounds"):
        sheet_table(xlsx(tmp_path / "t.xlsx", ""))


def test_a_protected_file_says_so(tmp_path):
    (tmp_path / "t.xlsx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1000))
    with pytest.raises(FileError, match="protected by a password, or an old xls"):
        sheet_table(tmp_path / "t.xlsx")
    path = ods(tmp_path / "t.ods", ods_row(["a"]))
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("META-INF/manifest.xml", "<manifest:manifest><manifest:encryption-data/></manifest:manifest>")
    with pytest.raises(FileError, match="protected by a password"):
        sheet_table(path)


READER = """
import re, sys
import askgraph as ag
from askgraph.io.spreadsheets import sheet_table
for path in sys.argv[1:]:
    try:
        sheet_table(path)
        print("read")
    except ag.AskgraphError as error:
        print(error)
print(int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) // 1024)
"""
SAYS = r"would unpack to|not XML that is read here|declares a DOCTYPE|a header and no rows|mismatched|are the most|than 50 tags"
READ = {"merged cells that overlap", "merged cells in vain", "far corner of ods", "spanned of ods"}  # which do no harm


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_promise_24_spreadsheets_of_few_bytes_take_little_memory(tmp_path):
    paths = {name: xlsx(tmp_path / f"{k}.xlsx", *bomb) for k, (name, bomb) in enumerate(XLSX_BOMBS.items())}
    paths |= {f"{name} of ods": ods(tmp_path / f"{k}.ods", *bomb) for k, (name, bomb) in enumerate(ODS_BOMBS.items())}
    assert max(path.stat().st_size for path in paths.values()) < 2**20
    command = [sys.executable, "-c", READER, *map(str, paths.values())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    *said, taken = done.stdout.strip().split("\n")
    found = dict(zip(paths, said, strict=True))
    assert {name for name, line in found.items() if line == "read"} == READ
    assert [name for name, line in found.items() if name not in READ and not re.search(SAYS, line)] == []
    assert int(taken) < 512


def test_promise_24_a_part_that_unpacks_to_more_than_its_archive_says_is_refused(tmp_path):
    path = xlsx(tmp_path / "t.xlsx", b"<a/>" * 2**20)
    content = bytearray(path.read_bytes())
    at = content.rfind(b"PK\x01\x02")
    content[at + 24 : at + 28] = (1000).to_bytes(4, "little")
    path.write_bytes(content)
    with pytest.raises(FileError, match=r"damaged at xl/worksheets/sheet1\.xml"):
        sheet_table(path)


@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_a_damaged_part_is_noticed(make, damage):
    path = make([["a", "b"], *([k, f"text {k}"] for k in range(300))])
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as file:
        entry = max(file.infolist(), key=lambda entry: entry.compress_size)
    at = entry.header_offset + 30 + len(entry.filename) + entry.compress_size // 2
    if damage == "cut":
        del content[at:]
    else:
        content[at] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(FileError, match=r"not readable|damaged|not XML"):
        read_columns(path)


def test_a_stray_cell_far_away_says_what_to_do(tmp_path):
    rows = f'{HEADER}<row r="2">{cell("A2", 1)}</row><row r="900000">{cell("ZZ900000", 1)}</row>'
    with pytest.raises(FileError, match="delete empty rows and columns that are formatted, or save it as csv"):
        read_columns(xlsx(tmp_path / "t.xlsx", rows))


@pytest.mark.parametrize("name", ["far row said long before a cell without a place", "column of many letters"])
def test_a_place_beyond_any_sheet_is_refused_before_its_cells_are_made(tmp_path, monkeypatch, name):
    import python_calamine

    monkeypatch.setattr(python_calamine, "CalamineWorkbook", None)
    with pytest.raises(FileError, match=r"would unpack to|a column with 2,000,000 letters, where 3 are the most"):
        sheet_table(xlsx(tmp_path / "t.xlsx", *XLSX_BOMBS[name]))


@pytest.mark.parametrize(
    ("write", "bomb"),
    [
        (xlsx, XLSX_BOMBS["text in many cells"]),
        (xlsx, XLSX_BOMBS["text merged over many cells"]),
        (ods, ODS_BOMBS["wide beside long"]),
        (ods, ODS_BOMBS["long text repeated"]),
    ],
)
def test_a_table_is_paid_for_by_its_places_and_the_texts_that_its_cells_show(tmp_path, write, bomb):
    with pytest.raises(FileError, match="would unpack to more than"):
        sheet_table(write(tmp_path / f"t.{write.__name__}", *bomb))


def test_a_column_of_text_is_no_numbers_from_its_first_cell_on():
    shared = ["1", *["ab " * 10**5] * 100]
    tracemalloc.start()
    assert plain_numbers(shared) is None
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken < 2**21
    assert [plain_numbers(cells) for cells in (["1_0"], [1, "1_0"], [True], [None], ["nan"], [b"1"])] == [None] * 6
    assert plain_numbers([1, "2.5", 3.0]).tolist() == [1, 2.5, 3]


def test_empty_rows_below_that_are_formatted_do_not_count(tmp_path):
    rows = f'{HEADER}<row r="2">{cell("A2", 1)}</row><row r="1048576" s="1"/><row r="3">{cell("P3", 1)}</row>'
    assert cells(read_columns(xlsx(tmp_path / "t.xlsx", rows))) == {"a": [1, None], "column P": [None, 1]}


def test_the_suffixes_are_known():
    assert set(SPREADSHEETS) == {".xlsx", ".xlsm", ".ods"}
