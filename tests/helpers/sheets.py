"""Small spreadsheets made of XML, sound and hostile."""

from __future__ import annotations

import zipfile
from pathlib import Path

MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
ODS = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
)


def xlsx(path: Path, rows: str | bytes, texts: str | bytes = "", after: str = "", head: str = "", **more: str) -> Path:
    """Write a file whose first sheet has these rows, as XML; ``more`` are further sheets by their names."""
    sheets = {"Sheet1": rows, **more}
    listed = "".join(f'<sheet name="{name}" sheetId="{k}" r:id="s{k}"/>' for k, name in enumerate(sheets, 1))
    links = "".join(
        f'<Relationship Id="s{k}" Type="{LINKS}/worksheet" Target="worksheets/sheet{k}.xml"/>'
        for k in range(1, len(sheets) + 1)
    )
    links += f'<Relationship Id="t" Type="{LINKS}/sharedStrings" Target="sharedStrings.xml"/>'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        root = f'<Relationship Id="b" Type="{LINKS}/officeDocument" Target="xl/workbook.xml"/>'
        file.writestr("_rels/.rels", f"<Relationships {PACKAGE}>{root}</Relationships>")
        file.writestr("xl/workbook.xml", f'<workbook {MAIN} xmlns:r="{LINKS}"><sheets>{listed}</sheets></workbook>')
        file.writestr("xl/_rels/workbook.xml.rels", f"<Relationships {PACKAGE}>{links}</Relationships>")
        _write(file, "xl/sharedStrings.xml", f"{head}<sst {MAIN}>", texts, "</sst>")
        for k, cells in enumerate(sheets.values(), 1):
            start, end = f"{head}<worksheet {MAIN}><sheetData>", f"</sheetData>{after}</worksheet>"
            _write(file, f"xl/worksheets/sheet{k}.xml", start, cells, end)
    return path


def ods(path: Path, rows: str | bytes, head: str = "", **more: str) -> Path:
    """Write a file whose first sheet has these rows, as XML; ``more`` are further sheets by their names."""
    tables = [f'<table:table table:name="{name}">{cells}</table:table>' for name, cells in more.items()]
    start = f'{head}<office:document-content {ODS}><office:body><office:spreadsheet><table:table table:name="Sheet1">'
    end = f"</table:table>{''.join(tables)}</office:spreadsheet></office:body></office:document-content>"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        _write(file, "content.xml", start, rows, end)
    return path


def _write(file: zipfile.ZipFile, name: str, start: str, content: str | bytes, end: str) -> None:
    content = content if isinstance(content, bytes) else content.encode()
    with file.open(name, "w") as part:
        for some in (start.encode(), content, end.encode()):
            part.write(some)


def cell(place: str, value: object) -> str:
    """Return a cell of xlsx with a text or a number."""
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
    return f'<c r="{place}"><v>{value}</v></c>'


def xlsx_row(number: int, values: list[object]) -> str:
    """Return a row of xlsx with texts and numbers; None is an empty cell."""
    cells = (cell(f"{chr(65 + k)}{number}", value) for k, value in enumerate(values) if value is not None)
    return f'<row r="{number}">{"".join(cells)}</row>'


def ods_row(values: list[object]) -> str:
    """Return a row of ods with texts and numbers; None is an empty cell."""
    return _row("".join(_cell(value) if isinstance(value, str) else _number(value) for value in values))


def _number(value: object) -> str:
    kind = "" if value is None else f' office:value-type="float" office:value="{value}"'
    return f"<table:table-cell{kind}/>"


HEADER = f'<row r="1">{cell("A1", "a")}</row>'
MANY = 300_000
SPACES = b" " * 2**20 * 40
APART = " " * (2**20 + 10)  # more than is unpacked at a time
OVERLAPPING = '<mergeCell ref="A2:A1048576"/>'
REFERENCES = "".join(f'<row r="{k}"><c r="A{k}" t="s"><v>0</v></c></row>' for k in range(2, 5000))
ENTITIES = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'


def _row(cells: str, **said: int) -> str:
    return f"<table:table-row{_said(said)}>{cells}</table:table-row>"


def _cell(text: str = "", **said: int) -> str:
    inside = f"<text:p>{text}</text:p>" if text else ""
    kind = ' office:value-type="string"' if text else ""
    return f"<table:table-cell{kind}{_said(said)}>{inside}</table:table-cell>"


def _said(said: dict[str, int]) -> str:
    return "".join(f' table:number-{name.replace("_", "-")}="{count}"' for name, count in said.items())


XLSX_BOMBS = {  # rows, shared texts, what comes after the rows, what comes before the XML
    "far corner": (f'{HEADER}<row r="1048576">{cell("XFD1048576", 1)}</row>', "", "", ""),
    "far corner said late": (f"{HEADER}<row><c s='0' r = 'XFD1048576'><v>1</v></c></row>", "", "", ""),
    "far corner beside another": (f'{HEADER}<row r="2"><c r="A2" r="XFD1048576"><v>1</v></c></row>', "", "", ""),
    "far corner under a prefix": (
        f'<x:row xmlns:x={MAIN[6:]} r="1"><x:c r="XFD1048576"><x:v>1</x:v></x:c></x:row>{HEADER}',
        "",
        "",
        "",
    ),
    "far beyond any corner": (f"{HEADER}<row>{cell('ZZZZZZ99999999999', 1)}</row>", "", "", ""),
    "cells without a place": (
        f"<row>{'<c><v>1</v></c>' * 16_000}</row>" + "<row><c><v>1</v></c></row>" * 30_000,
        "",
        "",
        "",
    ),
    "far row of cells without a place": (
        f"<row>{'<c><v>1</v></c>' * 16_000}</row><row r='1048576'><c><v>1</v></c></row>",
        "",
        "",
        "",
    ),
    "far row said long before a cell without a place": (
        f'<row r="1">{cell("XFD1", 1)}</row><row r="1000000"/>{f"{APART}<row/>" * 3}<row><c><v>1</v></c></row>',
        "",
        "",
        "",
    ),
    "column of many letters": (f'{HEADER}<row r="2">{cell("A" * 2_000_000 + "2", 1)}</row>', "", "", ""),
    "row of many digits": (f'{HEADER}<row r="2">{cell("A" + "1" * 4000, 1)}</row>', "", "", ""),
    "merged cells in vain": (f'{HEADER}<row r="2">{cell("A2", 1)}{"mergeCell " * MANY}</row>', "", "", ""),
    "spaces": (HEADER.encode() + SPACES, "", "", ""),
    "nested": (HEADER + "<a>" * MANY, "", "", ""),
    "entities": (HEADER + '<row r="2"><c r="A2"><v>&b;</v></c></row>', "", "", ENTITIES),
    "many tags": (HEADER.encode() + b"<a/>" * 50 * MANY, "", "", ""),
    "nested texts": (HEADER, "<si>" + "<t>a" * MANY, "", ""),
    "many texts": (HEADER, "<si><t>a</t></si>" * 2 * MANY, "", ""),
    "long text in many cells": (HEADER + REFERENCES, f"<si><t>{'a' * 10_000_000}</t></si>", "", ""),
    "text in many cells": (HEADER + REFERENCES, f"<si><t>{'ab ' * MANY}</t></si>", "", ""),
    "text merged over many cells": (
        f'{HEADER}<row r="2">{cell("A2", "ab " * MANY)}</row>'
        + "".join(f'<row r="{k}">{cell(f"B{k}", k)}</row>' for k in range(3, 5000)),
        "",
        '<mergeCells><mergeCell ref="A2:A5000"/></mergeCells>',
        "",
    ),
    "merged cells that overlap": (
        HEADER + "".join(f'<row r="{k}">{cell(f"A{k}", k)}</row>' for k in range(2, 5000)),
        "",
        f"<mergeCells>{OVERLAPPING * 20_000}</mergeCells>",
        "",
    ),
}
LAST = _row(_cell(columns_repeated=16383) + _cell("z"))
ODS_BOMBS = {  # rows, what comes before the XML
    "repeated rows": (_row(_cell("a"), rows_repeated=2**31), ""),
    "repeated columns": (_row(_cell("a", columns_repeated=2**31)), ""),
    "repeated both": (_row(_cell("a", columns_repeated=16384), rows_repeated=1048576), ""),
    "far corner": (_row(_cell("a")) + _row(_cell(), rows_repeated=1048574) + LAST, ""),
    "far column": (_row(_cell(columns_repeated=10**12) + _cell("a")), ""),
    "long repeats": (_row(_cell("a"), rows_repeated=10**4000), ""),
    "wide rows": (_row(_cell("a")) + LAST * 20_000, ""),
    "spaces": (_row(_cell('<text:s text:c="2000000000"/>')), ""),
    "wide beside long": (_row(_cell("a", columns_repeated=30_000)) + _row(_cell("x"), rows_repeated=100_000), ""),
    "long text repeated": (_row(_cell("a")) + _row(_cell("ab " * MANY), rows_repeated=20_000), ""),
    "spanned": (_row(_cell("a")) + _row(_cell("b", rows_spanned=10**12)) * 5000, ""),
    "blank": (SPACES, ""),
    "nested": ("<a>" * MANY, ""),
    "many tags": ("<a/>" * 9 * MANY, ""),
    "entities": (_row(_cell("&b;")), ENTITIES),
}
