"""Text that is not UTF-8 is read by its mark, or as Windows text, and says so; decimal commas where semicolons part the cells."""

from __future__ import annotations

import codecs
import json

import pytest

import askgraph as ag
from askgraph.errors import FileError, SettingError
from askgraph.io import edge_lists, encodings
from askgraph.io.decimals import is_decimal
from askgraph.io.tables import text_table
from askgraph.workbench.source import read_columns

GERMAN = "id;Größe (kB);Geschlecht\n1;794,4;männlich\n2;1.234,5;weiblich\n"
NOTE = "read as Windows text: Größe, männlich; --encoding names another"
COMMAS = "Größe (kB): decimal commas are read as points"
MARKED = "read as UTF-{}, by its mark; --encoding names another"


def write(path, content):
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("content", "encoding", "notes"),
    [
        (GERMAN.encode(), "utf-8", [COMMAS]),
        (GERMAN.encode("utf-8-sig"), "utf-8", [COMMAS]),
        (GERMAN.encode("utf-16"), "utf-16", [MARKED.format(16), COMMAS]),
        (codecs.BOM_UTF16_BE + GERMAN.encode("utf-16-be"), "utf-16", [MARKED.format(16), COMMAS]),
        (GERMAN.encode("utf-32"), "utf-32", [MARKED.format(32), COMMAS]),
        (GERMAN.encode("cp1252"), "windows-1252", [NOTE, COMMAS]),
        (GERMAN.replace("\n", "\r\n").encode("cp1252"), "windows-1252", [NOTE, COMMAS]),
    ],
)
def test_a_table_is_read_in_the_encoding_that_it_has(tmp_path, content, encoding, notes):
    table = read_columns(write(tmp_path / "t.csv", content))
    assert table.header == ["id", "Größe (kB)", "Geschlecht"]
    assert table.cells("Geschlecht") == ["männlich", "weiblich"]
    assert table.cells("Größe (kB)") == ["794.4", "1234.5"]
    assert (table.encoding, list(table.notes)) == (encoding, notes)
    assert table.floats("Größe (kB)").tolist() == [794.4, 1234.5]


def test_an_encoding_that_is_named_is_taken(tmp_path):
    path = write(tmp_path / "t.csv", "a\nŁódź\n".encode("iso-8859-2"))
    table = read_columns(path, encoding="ISO-8859-2")
    assert (table.cells("a"), table.encoding, table.notes) == (["Łódź"], "ISO-8859-2", ())
    with pytest.raises(FileError, match="line 2: byte 0xa3 is not UTF-8 text"):
        read_columns(path, encoding="utf-8")
    with pytest.raises(FileError, match="line 2: byte 0xa3 is not ascii text"):
        read_columns(path, encoding="us-ascii")
    escapes = ("unicode_escape", "raw_unicode_escape", "utf-7", "UTF7", "punycode", "idna")
    for name in ("klingon", "rot13", "undefined", "a\0b", "", *escapes):
        if name:
            with pytest.raises(SettingError, match="is not known; use utf-8, utf-16, windows-1252"):
                read_columns(path, encoding=name)


def test_utf_8_with_a_damaged_byte_is_not_taken_for_windows_text(tmp_path):
    path = write(tmp_path / "t.csv", "a,b\nGröße,1\nmännlich,2\n".encode().replace(b"l", b"\xe4"))
    with pytest.raises(
        FileError, match=r"line 3: byte 0xe4 is not UTF-8 text; save the file as UTF-8, or name .* --encoding"
    ):
        text_table(path)


def test_windows_text_may_look_like_utf_8_in_a_few_places(tmp_path):
    text = "a;b\n" + "".join(f"für {k};schön\n" for k in range(10)) + "„Spaß“;1\n"
    assert text_table(write(tmp_path / "t.csv", text.encode("cp1252"))).cells("a")[-1] == "„Spaß“"


@pytest.mark.parametrize("odd", [b"\x81", b"\x01", b"\x7f", b"\x00"])
def test_bytes_without_a_meaning_in_windows_text_stay_an_error(tmp_path, odd):
    with pytest.raises(FileError, match=r"line \d: (byte 0x.. is not UTF-8|binary data)"):
        text_table(write(tmp_path / "t.csv", b"a,b\n\xe4,1\n" + odd + b",2\n"))


def test_a_good_file_is_read_once(tmp_path, monkeypatch):
    path, opened = write(tmp_path / "t.csv", b"a,b\nx,1\ny,2\n"), []
    monkeypatch.setattr(encodings, "_words_of_windows_text", lambda *_: opened.append(1))
    text_table(path)
    assert opened == []


def test_edges_and_labels_are_read_alike(tmp_path, monkeypatch):
    edges = write(tmp_path / "e.csv", "source,target\nKöln,Bonn\nBonn,Mainz\n".encode("cp1252"))
    graph = ag.read_graph(edges)
    assert list(graph.names) == ["Köln", "Bonn", "Mainz"]
    assert "read as Windows text: Köln" in graph.notes
    labels = write(tmp_path / "l.csv", "Köln,groß\nBonn,klein\nMainz,klein\n".encode("utf-16"))
    assert ag.read_labels(labels, graph) == ["groß", "klein", "klein"]
    monkeypatch.setattr(edge_lists, "COMPILED_FILE_BYTES", 0)
    for encoding in ("cp1252", "utf-16"):
        again = ag.read_graph(write(edges, "source,target\nKöln,Bonn\nBonn,Mainz\n".encode(encoding)))
        assert list(again.names) == ["Köln", "Bonn", "Mainz"]


def test_json_lines_stay_utf_8(tmp_path):
    path = write(tmp_path / "t.jsonl", json.dumps({"a": "ö"}, ensure_ascii=False).encode("cp1252"))
    with pytest.raises(FileError, match=r"line 1: byte 0xf6 is not UTF-8 text; save the file as UTF-8$"):
        read_columns(path)


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (["794,4", "3", "-"], ["794.4", "3", "-"]),
        (["1.234,5", "", "1.000"], ["1234.5", None, "1000"]),
        (["-0,5", "+,5", "1,5e3"], ["-0.5", "+.5", "1.5e3"]),
        (["1.234.567", "8", "9"], ["1234567", "8", "9"]),
        (["1.234", "5.678", "9"], ["1.234", "5.678", "9"]),
        (["1.5", "2.5", "3"], ["1.5", "2.5", "3"]),
        (["1,5", "2.5", "3"], ["1,5", "2.5", "3"]),
        (["1,2,3", "4,5", "6"], ["1,2,3", "4,5", "6"]),
        (["1,5", "A1,5", "3"], ["1,5", "A1,5", "3"]),
        (["007", "008", "NA"], ["007", "008", "NA"]),
    ],
)
def test_decimal_commas_are_numbers_in_columns_that_hold_nothing_else(tmp_path, cells, found):
    rows = "".join(f"{k};{value}\n" for k, value in zip("abc", cells, strict=True))
    assert text_table(write(tmp_path / "t.csv", f"id;x\n{rows}".encode())).cells("x") == found


def test_commas_stay_where_semicolons_do_not_part_the_cells(tmp_path):
    assert text_table(write(tmp_path / "t.tsv", b"id\tx\na\t1,5\nb\t2,5\n")).cells("x") == ["1,5", "2,5"]
    assert text_table(write(tmp_path / "t.csv", b"a;1,5;b\nc;3,5;d\n")).cells("1") == ["1.5", "3.5"]
    assert not is_decimal("")
