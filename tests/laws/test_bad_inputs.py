"""What people and files may hold: good data of every type works, anything else is a sentence, and nothing crashes or grows.

Promise 32: values and files; promise 33: matrices and bombs; promise 34: scale.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

import askgraph as ag
from askgraph.cli import app
from askgraph.errors import MAX_CHARACTERS, FileError, LabelError, SettingError
from askgraph.utilities import SAMPLERS
from askgraph.workbench import client
from askgraph.workbench.export import to_csv
from askgraph.workbench.formulas import escape_formula, unescape_formula
from tests.helpers.bad_inputs import VALUES, bad_inputs, tried
from tests.helpers.mutated import mutated_files, seeds
from tests.helpers.projects import make

posix = pytest.mark.skipif(os.name != "posix", reason="timers and limits of memory as POSIX has them")
MEGABYTE = 2**20


@posix
@pytest.mark.slow
def test_every_bad_value_is_a_sentence(tmp_path):
    every = bad_inputs(tmp_path)
    assert len(every) > 5000
    drawn = np.random.default_rng(0).choice(len(every), 1100, replace=False)
    found = [tried(*every[k]) for k in sorted(drawn.tolist())]
    assert [one for one in found if one.outcome not in ("result", "refused")] == []
    assert len(VALUES) == 41
    print(Counter(one.outcome for one in found))


@posix
@pytest.mark.slow
def test_every_damaged_file_is_read_or_refused_in_a_sentence(tmp_path):
    whole = tmp_path / "whole"
    whole.mkdir()
    for name, read in seeds(whole).items():
        assert tried(name, lambda read=read, name=name: read(whole / name)).outcome == "result"  # before any damage
    found = list(mutated_files(tmp_path, 500, np.random.default_rng(7)))
    assert [one for one in found if one.outcome not in ("result", "refused")] == []
    assert sum(one.outcome == "refused" for one in found) > 100


@posix
@pytest.mark.slow
def test_no_sparse_matrix_crashes_the_process():
    command = [sys.executable, "-m", "tests.helpers.mutated", "matrices", "11", "400"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "escaped" not in done.stdout
    assert "wrong" not in done.stdout


def test_pointers_that_fall_to_zero_are_refused_before_anything_is_read():
    W = sp.csr_array((2, 2))
    W.indptr = np.array([0, 400_000, 0], dtype=np.int32)
    with pytest.raises(ag.GraphError, match="pointers"):
        ag.Graph(W)


# Good data of every type


@pytest.mark.parametrize("kind", [">f8", ">f4", ">i4", "float16", "longdouble", "uint8", "bool"])
@pytest.mark.parametrize("form", ["dense", "csr", "coo"])
def test_matrices_of_every_type_of_number_work(kind, form):
    plain = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    if form == "dense":
        given = plain.astype(kind)
        given.flags.writeable = False
    else:
        given = getattr(sp, f"{form}_array")(plain.astype(float))
        given.data = given.data.astype(kind)
        given.data.flags.writeable = False
    assert (ag.Graph(given).weights.toarray() == plain).all()


@pytest.mark.parametrize("kind", [">f8", "float16", "longdouble"])
def test_tables_of_every_type_of_number_work(kind):
    X = np.arange(12.0).reshape(6, 2).astype(kind)
    X.flags.writeable = False
    made = ag.nearest_neighbors(X, k=2)
    assert (made.weights != ag.nearest_neighbors(np.arange(12.0).reshape(6, 2), k=2).weights).nnz == 0


# Messages


def test_no_message_is_long_or_holds_commands_for_a_terminal():
    with pytest.raises(LabelError) as found:
        ag.Learner(ag.chain(3), classes=[*range(70_000), 5])
    assert len(str(found.value)) < 200
    said = str(FileError("\x1b]52;c;aGk=\x07" + "x" * 10_000 + "\n  do this"))
    assert len(said) <= MAX_CHARACTERS
    assert said.isprintable()
    assert said.endswith("do this")


def test_scores_that_are_nan_name_the_function():
    def broken(field, rows, p):
        return np.full(len(rows), np.nan)

    learner = ag.Learner(ag.chain(5), sampler=broken, rng=0)
    learner.tell(0, "a")
    with pytest.raises(SettingError, match="broken: 4 scores are NaN"):
        learner.ask()


def test_items_write_no_commands_to_a_terminal(tmp_path):
    (tmp_path / "t.csv").write_text("id,text,x\n" + "".join(f"{k}\x1b]0;own\x07,word \x9b31m,{k}\n" for k in range(5)))
    path = str(tmp_path / "p.ask")
    CliRunner().invoke(app, ["init", str(tmp_path / "t.csv"), "-o", path], catch_exceptions=False)
    for command in (["ask"], ["ask", "--json"], ["status"], ["history"]):
        said = CliRunner().invoke(app, [*command, "-p", path], catch_exceptions=False).output
        assert not any(character in said for character in "\x1b\x07\x9b")
    assert (
        json.loads(CliRunner().invoke(app, ["ask", "--json", "-p", path]).output)["items"][0]["id"].count("\x1b") == 1
    )


@pytest.mark.parametrize(
    "cell", ["=1+1", "b;=1+1", "x\t=1+1", "evil;=1;+2", "@ann", "'=x", "''@y", "a;b", "a\r\n=1", ";-5", "-5", "ham"]
)
def test_no_part_of_a_csv_cell_starts_a_formula_and_it_reads_back(cell):
    (line,) = to_csv([{"id": cell}])
    written = line.split("\r\n", 1)[1].strip().strip('"')
    for part in written.replace("\t", ";").replace("\r\n", ";").split(";"):
        assert part[:1] not in tuple("=@") or part == ""
    assert unescape_formula(escape_formula(cell)) == cell


def test_a_label_comes_back_from_a_csv_as_it_was(tmp_path):
    path, table = make(tmp_path / "p.ask"), tmp_path / "labels.csv"
    table.write_text("id,label\ni0,'@ann\ni1,'tis\n")
    CliRunner().invoke(app, ["tell", "--file", str(table), "-p", str(path)], catch_exceptions=False)
    with ag.Project.open(path) as project:
        assert project.answers.labels == {0: "@ann", 1: "'tis"}


def test_many_answers_go_to_a_server_in_parts(tmp_path, monkeypatch):
    path, sent = make(tmp_path / "p.ask"), []
    writer = client.RemoteWriter("http://127.0.0.1:1", "t" * 43, path)
    monkeypatch.setattr(
        writer, "_post", lambda _, body: sent.append(body["answers"]) or {"saved": len(body["answers"])}
    )
    assert writer.say("ann", [("i0", "label", "x" * 100)] * 25_000) == 25_000
    assert sum(map(len, sent)) == 25_000
    assert max(map(len, sent)) <= client.ANSWERS_PER_REQUEST
    assert max(len(json.dumps(part)) for part in sent) < MEGABYTE
    sent.clear()
    with pytest.raises(LabelError, match="no item"):
        writer.say("ann", [*[("i0", "label", "x")] * 5000, ("nobody", "label", "x")])
    assert sent == []


# Bombs

READER = """
import re, sys
import askgraph as ag
try:
    if sys.argv[2] == "parquet_cells":
        from askgraph.io.parquet import parquet_table
        parquet_table(sys.argv[1]).cells("target")
    else:
        getattr(ag, sys.argv[2])(sys.argv[1])
    print("read")
except ag.AskgraphError as error:
    print(error)
print(int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) // 1024)
"""


def refused(path, reader):
    """What a process of its own says of a file, and the megabytes that it took."""
    done = subprocess.run(
        [sys.executable, "-c", READER, str(path), reader], capture_output=True, text=True, timeout=300, check=True
    )
    said, taken = done.stdout.strip().rsplit("\n", 1)
    return said, int(taken)


@posix
@pytest.mark.slow
def test_an_archive_that_overstates_its_packed_size_is_refused_in_little_memory(tmp_path):
    path = tmp_path / "g.npz"
    np.savez_compressed(path, edges=np.zeros((10_000_000, 2)))
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as packed:
        entry = packed.infolist()[0]
    at = content.rfind(b"PK\x01\x02")
    content[at + 20 : at + 24] = (160_000_000).to_bytes(4, "little")
    path.write_bytes(content)
    said, taken = refused(path, "read_graph")
    assert f"would unpack to {entry.file_size}" in said
    assert taken < 512


@posix
@pytest.mark.slow
@pytest.mark.parametrize("reader", ["read_graph", "read_table"])
def test_a_parquet_file_of_one_long_repeated_text_is_refused_in_little_memory(tmp_path, reader):
    import pyarrow
    from pyarrow.parquet import write_table

    path, n = tmp_path / "t.parquet", 3000
    text = pyarrow.DictionaryArray.from_arrays(
        pyarrow.array([0] * n, pyarrow.int32()), pyarrow.array(["x" * 1_200_000])
    )
    write_table(pyarrow.table({"source": text, "target": text}), path)
    said, taken = refused(path, reader)
    assert "would unpack to" in said or "give numbers" in said
    assert taken < 512


TEXT = "x" * 1_000_000
DELTA = {"use_dictionary": False, "compression": "zstd", "write_statistics": False}


def footer_that_lies(folder, parquet):
    """Pages that unpack to 600 MB, of which the footer says a few bytes."""
    path, n = folder / "t.parquet", 60
    parquet.write_table(
        pyarrow_table(source=list(range(n)), target=[10 * TEXT] * n), path, use_dictionary=False, compression="zstd",
        data_page_size=2**30, write_statistics=False
    )  # fmt: skip
    group, content = parquet.ParquetFile(path).metadata.row_group(0), bytearray(path.read_bytes())
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    for size in (group.total_byte_size, group.column(1).total_uncompressed_size):
        said = varint(2 * size)  # numbers with a sign are doubled
        while (at := content.find(said, footer)) >= 0:
            content[at : at + len(said)] = varint(2 * 1000, len(said))
    path.write_bytes(content)
    assert parquet.ParquetFile(path).metadata.row_group(0).total_byte_size == 1000
    return path


def texts_that_share_their_beginning(folder, parquet):
    path, n = folder / "t.parquet", 600
    table = pyarrow_table(source=list(range(n)), target=[f"{TEXT}{k}" for k in range(n)])
    parquet.write_table(table, path, column_encoding={"source": "PLAIN", "target": "DELTA_BYTE_ARRAY"}, **DELTA)
    return path


def lists_of_texts_that_share_their_beginning(folder, parquet):
    path, n = folder / "t.parquet", 600
    table = pyarrow_table(source=list(range(n)), target=[[f"{TEXT}{k}"] for k in range(n)])
    encoded = {"source": "PLAIN", "target.list.element": "DELTA_BYTE_ARRAY"}
    parquet.write_table(table, path, column_encoding=encoded, **DELTA)
    return path


def pyarrow_table(**columns):
    import pyarrow

    return pyarrow.table(columns)


def varint(number, length=0):
    """Return a number in seven bits per byte, the lowest first, in at least the given number of bytes."""
    parts = [number >> shift & 127 for shift in range(0, max(7 * length, number.bit_length()), 7)]
    return bytes([*(part | 128 for part in parts[:-1]), parts[-1]])


@pytest.mark.long
@posix
@pytest.mark.slow
@pytest.mark.parametrize(
    "bomb", [footer_that_lies, texts_that_share_their_beginning, lists_of_texts_that_share_their_beginning]
)
def test_parquet_pages_that_unpack_to_far_more_than_the_footer_says_are_refused_in_little_memory(tmp_path, bomb):
    from pyarrow import parquet

    path = bomb(tmp_path, parquet)
    assert path.stat().st_size < MEGABYTE
    said, taken = refused(path, "parquet_cells")
    assert "would unpack to" in said
    assert taken < 512


def test_a_sound_parquet_file_of_texts_that_share_their_beginning_is_read(tmp_path):
    from pyarrow import parquet

    path, words = tmp_path / "t.parquet", [f"one beginning, {k}" for k in range(1000)]
    encoded = {"column_encoding": {"source": "DELTA_BYTE_ARRAY", "target": "DELTA_BYTE_ARRAY"}, "use_dictionary": False}
    parquet.write_table(pyarrow_table(source=words, target=words[1:] + words[:1]), path, **encoded)
    graph = ag.read_graph(path)
    assert (graph.n_nodes, list(graph.names)) == (1000, words)


@pytest.mark.parametrize("length", [7, 60, 200])
def test_the_header_of_a_page_that_does_not_end_is_an_error_of_ours(tmp_path, length):
    from pyarrow import parquet

    path = tmp_path / "t.parquet"
    parquet.write_table(pyarrow_table(source=["a", "b"], target=["b", "c"]), path)
    content = bytearray(path.read_bytes())
    content[4 : 4 + length] = bytes([0xFC]) * length  # structures in structures, or numbers without end
    path.write_bytes(content)
    with pytest.raises(FileError, match="not readable as parquet"):
        ag.read_graph(path)


# Scale

# by their definitions tsa (logistic marginals of μ/g) and pwll (a fixed τ) depend on the unit of weights, and so do tv and msd as
# far as doubt goes in their printed form (35)
SCALED = sorted(set(SAMPLERS) - {"tsa", "pwll"})
UNSCALED_DOUBT = ("tv", "msd")


def asked(factor, engine, sampler):
    graph = ag.communities((12, 12), mean_degree=4, rng=1)[0]
    how = {"sampler": sampler, "engine": engine, "doubt": None if sampler in UNSCALED_DOUBT else "sqrt"}
    learner = ag.Learner(ag.Graph(graph.weights * factor), delta=0.01 * factor, rng=0, **how)
    learner.tell_all({0: "a", 20: "b", 7: "a"})
    questions = []
    for _ in range(3):
        questions.append(learner.ask())
        learner.tell(questions[-1], "ab"[questions[-1] % 2])
    return questions, learner.probabilities()


@pytest.mark.slow
@pytest.mark.parametrize("sampler", SCALED)
@pytest.mark.parametrize("engine", ["dense", "direct"])
def test_weights_of_any_scale_give_the_same_questions_and_predictions(engine, sampler):
    questions, p = asked(1.0, engine, sampler)
    for power in (-1010, -340, 40, 990):
        same, q = asked(2.0**power, engine, sampler)
        assert same == questions
        np.testing.assert_allclose(q, p, atol=1e-12)


def test_weights_beyond_the_range_name_it():
    with pytest.raises(ag.GraphError, match=r"at most 1e\+300"):
        ag.Graph(np.array([[0, 1e301], [1e301, 0]]))
