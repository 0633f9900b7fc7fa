"""RIS files of reference managers and lists of JSON objects, as tables."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askgraph.errors import AskgraphError, FileError
from askgraph.io.annotations import json_table
from askgraph.io.ris import ris_table

RIS = """TY  - JOUR
TI  - First title
  that goes on
AU  - Doe, A.
AU  - Roe, B.
PY  - 2001
N1  - ASReview_relevant
ER  -

TY  - JOUR
T1  - Second title
AB  - An abstract.
N1  - ASReview_irrelevant
ER  - \r
"""


def test_ris_is_a_table(tmp_path):
    path = tmp_path / "r.ris"
    path.write_text(RIS)
    table = ris_table(path)
    assert table.cells("title") == ["First title that goes on", "Second title"]
    assert table.cells("authors") == ["Doe, A.; Roe, B.", None]
    assert table.cells("abstract") == [None, "An abstract."]
    assert table.cells("included") == ["relevant", "irrelevant"]
    assert table.where(1) == "line 10"
    with pytest.raises(FileError, match=r"r\.ris, line 10: no 'year'"):
        table.values("year")
    assert table.values("title")[1] == "Second title"


@pytest.mark.parametrize(("content", "said"), [("", "no records"), ("words\n", "line 1"), ("TY  - JOUR\n", "no end")])
def test_other_text_is_refused_by_name(tmp_path, content, said):
    path = tmp_path / "r.ris"
    path.write_text(content)
    with pytest.raises(FileError, match=said):
        ris_table(path)


@settings(max_examples=60, deadline=None)
@given(st.text(st.sampled_from('TYERAB  -\n\r[]{}":,1a\0é'), max_size=60), st.sampled_from([ris_table, json_table]))
def test_promise_12_fuzzed_references_and_json(tmp_path_factory, text, reader):
    path = tmp_path_factory.mktemp("fuzz") / "file"
    path.write_bytes(text.encode())
    try:
        table = reader(path)
        assert len({len(table.cells(name)) for name in table.header}) <= 1
    except AskgraphError as error:
        assert "file" in str(error)  # noqa: PT017 -- most files are refused, some are read


def test_json_objects_are_rows(tmp_path):
    path = tmp_path / "t.json"
    path.write_text('[{"a": 1, "b": "x"}, {"a": 2.5}]')
    table = json_table(path)
    assert (table.header, table.cells("b")) == (["a", "b"], ["x", None])
    assert table.numbers("a").tolist() == [1.0, 2.5]
    with pytest.raises(FileError, match="object 2"):
        table.values("b")
