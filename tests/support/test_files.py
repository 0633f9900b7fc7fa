"""What is written is there whole or not at all, and links that others have put in the way lead nowhere."""

from __future__ import annotations

import os

import numpy as np
import pytest

import askgraph as ag
from askgraph.errors import FileError, GraphError
from askgraph.paper.download import _write as download
from askgraph.paper.run import _save_facts as save_facts
from askgraph.support.files import check_unpacked_size, open_no_follow, reading, replacing
from askgraph.support.npz import load_arrays, save_arrays
from askgraph.workbench.export import write_rows
from askgraph.workbench.project import Project
from tests.helpers.projects import make

posix = pytest.mark.skipif(os.name != "posix", reason="links and pipes as POSIX has them")
ROWS = [{"id": "a", "label": "ä"}]
WRITERS = {
    "rows.csv": lambda path: write_rows(path, ROWS, "utf-8-sig"),
    "rows.jsonl": lambda path: write_rows(path, ROWS),
    "rows.json": lambda path: write_rows(path, ROWS),
    "rows.parquet": lambda path: write_rows(path, ROWS),
    "rows.xlsx": lambda path: write_rows(path, ROWS),
    "arrays.npz": lambda path: save_arrays(path, x=np.arange(3)),
    "graph.npz": lambda path: ag.chain(5).save(path),
    "project.ask": make,
    "facts/graphs.json": lambda path: save_facts(path.parent, {}),
    "data.txt": lambda path: download(path, b"downloaded"),
}


@posix
@pytest.mark.parametrize("name", WRITERS)
def test_a_link_in_the_place_of_what_is_being_written_is_refused_by_name(tmp_path, name):
    path, victim = tmp_path / name, tmp_path / "victim"
    path.parent.mkdir(exist_ok=True)
    victim.write_text("mine")
    victim.chmod(0o644)
    for linked in (os.symlink, os.link):
        parts = [path.with_name(path.name + ending) for ending in (".part", f".{os.getpid()}.part")]
        for part in parts:
            linked(victim, part)
        with pytest.raises(FileError, match=r"\.part: is .*link.*remove it"):
            WRITERS[name](path)
        for part in parts:
            part.unlink()
    for ending in (".new", ".part-journal", ".part-wal"):
        path.with_name(path.name + ending).symlink_to(victim)
    WRITERS[name](path)
    assert victim.read_text() == "mine"
    assert victim.stat().st_mode & 0o777 == 0o644
    assert path.is_file()
    assert not path.is_symlink()
    assert path.read_bytes()


def test_what_a_killed_program_left_is_written_anew(tmp_path):
    path = tmp_path / "rows.csv"
    (tmp_path / "rows.csv.part").write_bytes(b"half a file, and a long one at that, longer than what comes now")
    write_rows(path, ROWS, "utf-8-sig")
    assert path.read_bytes() == b"\xef\xbb\xbf" + "id,label\r\na,ä\r\n".encode()
    assert os.listdir(tmp_path) == ["rows.csv"]


def test_what_goes_wrong_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def write_half():
        with replacing(path) as file:
            file.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"old", ["file"])
    with replacing(path, mode=0o600) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"new", ["file"])
    assert os.name != "posix" or path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["rows.csv", "arrays.npz", "project.ask"])
def test_what_cannot_be_written_is_said_in_a_sentence(tmp_path, name):
    (tmp_path / f"{name}.part").mkdir()  # it cannot be removed as a file
    with pytest.raises(FileError, match=r"cannot be written .* choose another place"):
        WRITERS[name](tmp_path / name)
    assert os.listdir(tmp_path) == [f"{name}.part"]


def test_rows_that_fail_leave_the_file_as_it_was(tmp_path):
    path = tmp_path / "rows.jsonl"
    write_rows(path, ROWS)
    before = path.read_bytes()
    with pytest.raises(TypeError):
        write_rows(path, [*ROWS, {"id": object()}])
    assert path.read_bytes() == before
    save_arrays(tmp_path / "a.npz", x=np.arange(3))
    with pytest.raises(ValueError, match="Object arrays"):
        save_arrays(tmp_path / "a.npz", x=np.array([object()]))
    assert load_arrays(tmp_path / "a.npz")["x"].tolist() == [0, 1, 2]
    assert sorted(os.listdir(tmp_path)) == ["a.npz", "rows.jsonl"]


@posix
def test_a_project_is_what_it_was_beside_planted_journals(tmp_path):
    (tmp_path / "p.ask.part-journal").symlink_to(tmp_path / "elsewhere")
    with Project.open(make(tmp_path / "p.ask")) as project:
        assert project.items.n_items == 12
    assert sorted(os.listdir(tmp_path))[0] == "p.ask"
    assert not (tmp_path / "elsewhere").exists()


@posix
def test_nothing_is_opened_through_a_link(tmp_path):
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with open(tmp_path / "file", "rb", opener=open_no_follow) as file:
        assert file.read() == b"x"
    with pytest.raises(OSError, match="link"):
        open_no_follow(str(tmp_path / "link"), os.O_RDONLY)


def test_whatever_goes_wrong_while_a_file_is_read_names_the_file():
    with (
        pytest.raises(FileError, match=r"g\.npz: not readable as npz \('key'\); write it again"),
        reading("g.npz", "npz", "write it again"),
    ):
        raise KeyError("key")
    with pytest.raises(FileError, match="EOFError"), reading("g.npz", "npz", "write it again"):
        raise EOFError
    with pytest.raises(FileError, match="cannot be read"), reading("none", "npz", "write it again"):
        raise FileNotFoundError(2, "No such file")
    with pytest.raises(GraphError, match=r"^as it was$"), reading("g.npz", "npz", "write it again"):
        raise GraphError("as it was")


def test_a_small_file_that_unpacks_to_far_more_is_refused():
    check_unpacked_size("g.npz", 10**6, 10**8, "save it without compression")
    with pytest.raises(FileError, match="unpack to 1000000000"):
        check_unpacked_size("g.npz", 10**6, 10**9, "save it without compression")
