"""The command as a person uses it."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from typer.testing import CliRunner

import askgraph as ag
from askgraph.cli import app, main
from askgraph.simulate.records import Records
from tests.helpers.projects import log_of, make

pytestmark = pytest.mark.slow
ASK = [sys.executable, "-m", "askgraph"]


def run(*args, cwd=None, code=0):
    done = subprocess.run([*ASK, *map(str, args)], capture_output=True, text=True, cwd=cwd, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def files(tmp_path):
    graph, labels = ag.communities((40, 40, 20), mean_degree=6, rng=0)
    W = graph.weights.tocoo()
    edges = "".join(f"n{i},n{j}\n" for i, j in zip(W.row, W.col, strict=True) if i < j)
    (tmp_path / "edges.csv").write_text("source,target\n" + edges)
    (tmp_path / "labels.csv").write_text("node,label\n" + "".join(f"n{i},c{c}\n" for i, c in enumerate(labels)))
    rng = np.random.default_rng(0)
    rows = [(f"r{i}", *(rng.normal(size=3) + 4 * (i % 2)).round(3), "even" if i % 2 else "odd") for i in range(60)]
    (tmp_path / "table.csv").write_text("id,a,b,c,kind\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return tmp_path


def test_help_of_every_command_shows_an_example():
    assert "askgraph label --demo" in run("--help")
    for command in ("demo", "simulate", "plot"):
        assert f"askgraph {command}" in run(command, "--help").replace("Usage: askgraph", "")
    assert run("--version").strip() == ag.__version__


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("words", ["status", "history --json", "classes", "--version", "--help", "tell i1 a"])
def test_where_nothing_can_be_printed_a_sentence_says_so_and_no_traceback(tmp_path, words):
    make(tmp_path / "p.ask", classes=["a", "b"])

    def said(end):
        command = f"{shlex.join(ASK)} {words} {end}"
        done = subprocess.run(["bash", "-c", command], stderr=subprocess.PIPE, text=True, cwd=tmp_path, check=False)
        return done.returncode, done.stderr

    full = "askgraph: the output cannot be written (No space left on device); write it elsewhere\n"
    assert said("> /dev/full") == (1, full)
    assert said(">&-") == (0, "askgraph: the standard output is closed, so what this command prints is lost\n")
    assert said(">&- 2>&-") == (0, "")
    assert said("| true; exit ${PIPESTATUS[0]}") in (
        (1, ""),
        (0, ""),
    )  # 0 where all was written before the reader ended
    assert len(log_of(tmp_path / "p.ask")) == 4 * words.startswith("tell")


def test_demo_draws_a_curve_and_shows_what_asking_saves(tmp_path):
    out = run("demo", "--budget", 30, "--runs", 1, "-o", tmp_path / "curve.png")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert "tv" in out
    assert "random" in out


def test_simulate_plot_and_resume(files):
    args = ("simulate", "edges.csv", "--labels", "labels.csv", "--budget", 8, "--runs", 2, "--samplers", "tv,random")
    args += ("--workers", 1)
    out = run(*args, "-o", "runs.jsonl", cwd=files)
    assert "100 nodes" in out
    assert "engine: dense" in out
    first = Records(files / "runs.jsonl").read()
    assert len(first) == 4
    lines = (files / "runs.jsonl").read_bytes().splitlines(keepends=True)
    (files / "runs.jsonl").write_bytes(b"".join(lines[:2]) + lines[2][:40])  # killed in the middle of a line
    assert "2 of 4 runs" in run(*args, "-o", "runs.jsonl", cwd=files)
    again = Records(files / "runs.jsonl").read()
    assert sorted(map(timeless, first)) == sorted(map(timeless, again))
    run("plot", "runs.jsonl", "-o", "curve.svg", cwd=files)
    assert "<svg" in (files / "curve.svg").read_text()


def timeless(record):
    return json.dumps({key: value for key, value in record.items() if "seconds" not in key}, sort_keys=True)


def test_simulate_on_a_table(files):
    out = run("simulate", "table.csv", "--label", "kind", "--id", "id", "--budget", 6, "--runs", 1, cwd=files)
    assert "60 nodes" in out
    assert (files / "runs.jsonl").exists()


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("simulate", "nowhere.csv", "--labels", "labels.csv"), "nowhere.csv"),
        (("simulate", "edges.csv"), "--labels"),
        (("simulate", "edges.csv", "--labels", "labels.csv", "--samplers", "tv,best"), "best"),
        (("simulate", "edges.csv", "--labels", "labels.csv", "--doubt", "often"), "often"),
        (("simulate", "edges.csv", "--labels", "labels.csv", "--engine", "steam"), "steam"),
        (("plot", "edges.csv"), "line 1"),
    ],
)
def test_mistakes_are_one_plain_sentence(files, args, says, monkeypatch, capsys):
    monkeypatch.chdir(files)
    monkeypatch.setattr(sys, "argv", ["askgraph", *args])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    assert ended.value.code == 1
    assert (says in said.err, said.err.count("\n"), said.out) == (True, 1, ""), said


def test_a_process_ends_with_the_sentence_alone(files):
    out = run("plot", "nowhere.jsonl", cwd=files, code=1)
    assert out.startswith("askgraph: nowhere.jsonl")
    assert out.count("\n") == 1


def test_an_interrupted_simulation_goes_on(files):
    runs = 1000  # far more than are done when the interrupt comes
    args = f"simulate edges.csv --labels labels.csv --samplers eer --budget 60 --workers 1 --runs {runs}".split()
    process = subprocess.Popen(
        [*ASK, *args],
        cwd=files,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # what runs in the background may ignore it
    )
    try:
        while process.poll() is None and len(Records(files / "runs.jsonl").read()) < 2:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 130
    assert b"Traceback" not in said
    assert b"goes on from there" in said
    assert 2 <= len(Records(files / "runs.jsonl").read()) < runs


def test_another_graph_under_the_same_name_is_another_experiment(files, monkeypatch):
    monkeypatch.chdir(files)
    args = (
        "simulate",
        "table.csv",
        "--label",
        "kind",
        "--id",
        "id",
        "--budget",
        "5",
        "--runs",
        "1",
        "--samplers",
        "tv",
    )
    args += ("--workers", "1")
    for said, *more in (
        ("0 of 1 runs are there",),
        ("1 of 1 runs are there",),
        ("0 of 1 runs are there", "--neighbors", "3"),
        ("0 of 1 runs are there", "--features", "a"),
    ):
        assert said in output_of(*args, *more)
    assert "3 different experiments" in output_of("plot", "runs.jsonl")


def output_of(*args):
    done = CliRunner().invoke(app, args, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output
