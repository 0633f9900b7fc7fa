"""From a search to a certificate by commands alone: the numbers first, then the sample, then the sentence."""

from __future__ import annotations

import json
import re

import pytest

from askgraph.workbench.project import Project
from tests.helpers.processes import run
from tests.helpers.serving import make_project, truth

pytestmark = pytest.mark.slow


def say(path, *words, fails=False):
    """What a command prints."""
    done = run(*words, "-p", path)
    assert (done.returncode != 0) == fails, done.stderr
    return done.stderr if fails else done.stdout


def test_a_search_is_certified_by_commands(tmp_path):
    path = make_project(tmp_path, n=90)
    assert "nothing is sought" in say(path, "find", "--certify", "0.9", fails=True)
    assert "no class 'up'" in say(path, "find", "up", "--certify", "0.9", fails=True)
    say(path, "find", "west")
    with Project.open(path, write=True) as project:
        project.say_all("ann", [(f"n{k}", "label", truth(f"n{k}")) for k in range(30)])
        project.say_all("ann", [(f"n{k}", "label", "west") for k in range(32, 75, 3)])
    told = say(path, "find")
    assert re.search(
        r"to certify with 95% confidence how much is found, read a random sample of the 45 items left: \d+ for 80%, \d+ for 90%, "
        r"\d+ for 95%; from \d+% on that is most of what is left: rather read all of it; with one or three of them in the class, "
        r"that proves \d+% or \d+%.*; askgraph find --certify 0.95 draws it",
        told,
    ), told
    for wrong in ("2", "0.3", "nan"):
        assert "give one from 0.5 to 0.99" in say(path, "find", "--certify", wrong, fails=True)
    assert "leave --like and --stop out" in say(path, "find", "--stop", "--certify", "0.9", fails=True)

    drawn = say(path, "find", "west", "--certify", "0.8")
    assert drawn.startswith("to certify with 95% confidence")
    size = int(re.search(r"0 of (\d+) items of the random sample are read; no certificate before all are", drawn)[1])
    assert f"{size:,} for 80%" in drawn
    with Project.open(path) as project:
        sampled = [question.node for question in project.questions(size)]
    read = [f"n{place}" for place in sampled]
    assert [one["id"] for one in json.loads(say(path, "ask", "-n", str(size), "--json"))["items"]] == read
    assert "is being read, 0 so far" in say(path, "find", "--certify", "0.9", fails=True)
    (tmp_path / "read.csv").write_text("id,label\n" + "".join(f"{id},{truth(id)}\n" for id in read))
    say(path, "tell", "--file", str(tmp_path / "read.csv"))
    hits = sum(truth(id) == "west" for id in read)
    sentence = (
        rf"at least \d+% found, with 95% confidence \({25 + hits} found; {size} items drawn at random of the 45 left"
    )
    for words in (["find"], ["status"]):
        assert re.search(sentence, say(path, *words)), words
    certificate = json.loads(say(path, "find", "--json"))["certificate"]
    assert (certificate["read"], certificate["hits"]) == (size, hits)
    say(path, "undo", "--who", "nobody")
    assert re.search(sentence, say(path, "find"))
    say(path, "classes", "undo")
    assert "at least" not in say(path, "find")
