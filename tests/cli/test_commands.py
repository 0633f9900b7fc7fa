"""The commands of a project as a person uses them: from a table to labels, for people and for machines."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
import xlsxwriter
from PIL import Image
from typer.testing import CliRunner

from askgraph.cli import app, results, upkeep
from askgraph.cli import project as labeling
from askgraph.errors import AskgraphError
from askgraph.workbench.project import Project
from askgraph.workbench.writer_lock import WriterLock

pytestmark = pytest.mark.slow

TABLE = "id,width,height,kind\n" + "".join(
    f"f{k},{k % 2 * 5 + k % 3},{k % 2 * 7 + k % 5},{'' if k > 3 else 'tall' if k % 2 else 'wide'}\n" for k in range(30)
)
TOKEN = "secret" * 7
TEXTS = "id,abstract\n" + "".join(
    f"{k},{'cats and dogs are animals with fur' if k % 2 else 'ships and boats cross the wide sea'} {k % 7}\n"
    for k in range(30)
)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ASKGRAPH_PROJECT", raising=False)
    monkeypatch.setenv("ASKGRAPH_WHO", "ann")
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "items.csv").write_text(TABLE)
    (tmp_path / "papers.csv").write_text(TEXTS)
    (tmp_path / "citations.csv").write_text("source,target\n" + "".join(f"{k},{k + 2}\n" for k in range(28)))
    return tmp_path


def run(*args):
    """What a command prints; its errors are raised."""
    found = CliRunner().invoke(app, [str(arg) for arg in args], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found.output


def json_of(*args):
    found = CliRunner().invoke(app, [*map(str, args), "--json"], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))


def error_of(*args):
    with pytest.raises(AskgraphError) as raised:
        run(*args)
    assert "\n" not in str(raised.value)
    return str(raised.value)


@pytest.fixture
def project(here):
    run("init", "items.csv", "--features", "width,height", "--classes", "tall,wide")
    return here


@pytest.mark.slow
def test_from_a_table_to_labels(here):
    out = run("init", "items.csv", "-o", "items.ask")
    assert "items.ask: 30 items" in out
    assert "askgraph label items.ask" in out
    first = json_of("ask")["items"][0]
    assert {"id", "width", "height"} <= set(first)
    assert run("tell", first["id"], "tall") == "saved: 1 answer\n"
    run("classes", "add", "wide")
    for _ in range(9):
        item = json_of("ask")["items"][0]
        run("tell", item["id"], "tall" if int(item["id"][1:]) % 2 else "wide")
    status = json_of("status")
    assert (status["items"], status["labels"], status["aside"], status["serving"]) == (30, 10, 0, False)
    assert sum(c["count"] for c in status["classes"]) == 10
    assert 0 <= status["error"]["low"] <= status["error"]["value"] <= status["error"]["high"] <= 1
    out = run("status")
    assert "10 of 30 items labeled" in out
    assert "expected error" in out
    assert "engine" not in out  # doctor says it
    out = run("predict", "-o", "labels.csv")
    assert out.startswith("30 items in labels.csv: 10 labels given, 20 predicted or set aside\n")
    assert "Of 30 items, 10 have a label" in (here / "labels-how-labeled.md").read_text()
    with open("labels.csv", newline="") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    right = [rows[f"f{k}"]["label"] == ("tall" if k % 2 else "wide") for k in range(30) if f"f{k}" != first["id"]]
    assert sum(right) >= 27


def test_questions_are_a_table_for_people(project):
    out = run("ask", "-n", 5)
    ids = [item["id"] for item in json_of("ask", "-n", 5)["items"]]
    assert len(ids) == 5
    assert all(f" {id} " in out for id in ids)
    assert "width" in out


def test_status_asks_for_no_more_labels_than_items_are_left(project):
    for k in range(8):
        run("tell", f"f{k}", ["tall", "wide"][k // 2 % 2])  # labels that say nothing: many would be needed
    run("skip", "f8", "--why", "invalid")
    run("skip", "f9")
    said = json_of("status")
    assert said["left"] == 21
    assert said["needed"]["low"] <= said["needed"]["high"] == 21
    assert "label all 21 that are left" in run("status")


@pytest.mark.parametrize(
    ("low", "high", "left", "said"),
    [
        (64, 160, 1000, "about 64 to 160 more labels"),
        (64, 125, 125, "about 64 more labels, or label all 125 that are left,"),
        (125, 125, 125, "label all 125 that are left"),
        (1, 1, 1, "label the one that is left"),
    ],
)
def test_how_many_labels_are_needed_is_said_beside_how_many_items_are_left(low, high, left, said):
    assert labeling._in_words({"low": low, "high": high}, left) == said


def test_skip_undo_relabel_and_history(project):
    run("tell", "f0", "wide")
    run("relabel", "f0", "tall")
    run("skip", "f1")
    run("skip", "f2", "--why", "cannot")
    run("skip", "f3", "--why", "invalid", "--who", "bob")
    assert json_of("status")["aside"] == 3
    assert run("undo") == "taken back: f2 cannot\n"
    assert run("undo", "--who", "bob") == "taken back: f3 invalid\n"
    assert run("undo", "--who", "bob") == "there is nothing to take back\n"
    lines = json_of("history")
    assert [line["kind"] for line in lines] == ["undo", "undo", "invalid", "cannot", "later", "label", "label"]
    assert [line["undone"] for line in lines] == [False, False, True, True, False, False, False]
    assert [line["current"] for line in lines][-2:] == [True, False]
    assert len(json_of("history", "-n", 2)) == 2
    out = run("history")
    assert "ann" in out
    assert "bob" in out
    assert "tall" in out


def test_add_says_how_many_rows_were_there_already(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("x,y\n1,2\n3,4\n5,6\n")
    run("init", "t.csv")
    (tmp_path / "more.csv").write_text("x,y\n1,2\n3,4\n7,8\n")
    said = run("add", "more.csv").splitlines()
    assert said[:2] == ["t.ask: 1 item more", "  2 of 3 rows were there already and are left out; --all takes them"]
    assert "all 3 rows are in t.ask already; nothing to add; --all takes them" in error_of("add", "more.csv")
    assert run("add", "more.csv", "--all").splitlines()[0] == "t.ask: 3 items more"


def answers_by_person():
    return {one["who"]: one["answers"] for one in json_of("people")["people"]}


def test_answers_in_a_table_are_of_the_people_it_names(project):
    (project / "said.csv").write_text("id,label,who\nf0,wide,ann\nf0,tall,bob\nf1,tall,\nf2,tall,ann\n")
    assert run("tell", "--file", "said.csv", "--who", "cy") == "saved: 2 of ann, 1 of bob, 1 of cy\n"
    assert answers_by_person() == {"ann": 2, "bob": 1, "cy": 1}
    (project / "wrong.csv").write_text("id,label,who\nf3,wide,ann\nnobody,tall,bob\n")
    assert "no item 'nobody'" in error_of("tell", "--file", "wrong.csv")
    (project / "odd.csv").write_text(f"id,label,who\nf3,wide,ann\nf4,tall,{'x' * 201}\n")
    assert "a person called" in error_of("tell", "--file", "odd.csv")
    (project / "predicted.csv").write_text('id,label,source,who\nf3,wide,answered,"ann, bob"\n')
    assert run("tell", "--file", "predicted.csv", "--who", "cy") == "saved: 1 answer\n"
    assert answers_by_person() == {"ann": 2, "bob": 1, "cy": 2}


def test_results_come_back_in_batches(project):
    (project / "results.csv").write_text("id,label,by\nf0,wide,lab\nf1,tall,lab\nf2,,lab\n")
    assert run("tell", "--file", "results.csv") == "saved: 2 answers\n"
    (project / "results.jsonl").write_text('{"id": "f5", "label": "tall"}\n{"id": "f6", "label": null}\n')
    assert run("tell", "--file", "results.jsonl") == "saved: 1 answer\n"
    (project / "wrong.csv").write_text("id,label\nf8,wide\nnobody,tall\n")
    assert "no item 'nobody'" in error_of("tell", "--file", "wrong.csv")
    (project / "other.csv").write_text("flower,label\nf8,wide\n")
    assert "no column called id or item or node" in error_of("tell", "--file", "other.csv")
    assert "nowhere.csv" in error_of("tell", "--file", "nowhere.csv")
    assert json_of("status")["labels"] == 3


def test_text_by_its_words(here):
    out = run("init", "papers.csv", "--text", "abstract", "--classes", "relevant, not relevant")
    assert "by the words, word fragments and meaning" in out
    assert [c["name"] for c in json_of("status")["classes"]] == ["relevant", "not relevant"]
    run("tell", 0, "relevant")
    run("tell", 1, "not relevant")
    run("predict", "-o", "labels.jsonl")
    rows = [json.loads(line) for line in (here / "labels.jsonl").read_text().splitlines()]
    assert [row["label"] for row in rows] == ["relevant", "not relevant"] * 15


def test_a_graph_alone_with_a_table_and_with_text(here):
    assert "items are the nodes of citations.csv" in run("init", "--graph", "citations.csv", "-o", "a.ask")
    assert "30 items, 28 edges" in run("init", "papers.csv", "--graph", "citations.csv", "-o", "b.ask")
    out = run("init", "papers.csv", "--graph", "citations.csv", "--text", "abstract", "-o", "c.ask")
    assert "together with the edges of citations.csv" in out
    for project in ("a.ask", "b.ask", "c.ask"):
        assert json_of("ask", "-p", project)["items"]
        assert "sound" in run("doctor", "-p", project)


def test_labels_that_exist_are_imported(here):
    run("init", "items.csv", "--label", "kind", "--show", "width")
    status = json_of("status")
    assert {c["name"]: c["count"] for c in status["classes"]} == {"wide": 2, "tall": 2}
    assert {line["who"] for line in json_of("history")} == {"import"}
    assert set(json_of("ask")["items"][0]) == {"id", "width"}
    run("export", "-o", "answers.csv")
    assert len((here / "answers.csv").read_text().splitlines()) == 5


def test_exports(project):
    run("tell", "f0", "wide")
    for name in ("answers.csv", "answers.jsonl", "answers.parquet", "answers.xlsx", "tasks.json"):
        what = "1 answer" if name != "tasks.json" else "30 items, 1 of them with answers,"
        assert run("export", "-o", name) == f"{what} in {name}\n"
        assert (project / name).stat().st_size
    tasks = json.loads((project / "tasks.json").read_text())
    assert len(tasks) == 30
    assert tasks[0]["annotations"][0]["result"][0]["value"] == {"choices": ["wide"]}
    assert "use .csv" in error_of("export", "-o", "answers.docx")
    assert "use .csv" in error_of("predict", "-o", "answers")


def test_the_doctor_says_what_to_improve(here):
    (here / "two.csv").write_text("source,target\na,b\nc,d\n")
    run("init", "--graph", "two.csv")
    out = run("doctor")
    assert "file: sound" in out
    plain, experts = (re.findall(f"^{begin}.*$", out, re.MULTILINE) for begin in ("(?!for experts)", "for experts: "))
    assert not re.search("engine|SQLite|degree|hub", "".join(plain))
    assert out.rstrip().splitlines()[-len(experts) :] == experts
    assert any("engine dense" in line for line in experts)
    assert "to do: 2 parts not joined" in out
    assert "to do: no class is declared yet" in out
    assert json_of("doctor")["damage"] is None


def test_the_doctor_says_whether_a_table_or_a_graph_suits(here):
    assert "only labels tell" in run("doctor", "items.csv", "--features", "width,height", "--label", "kind")
    said = json_of("doctor", "citations.csv")
    assert said["trial"] is None
    assert any("30 items" in line for line in said["found"])
    (here / "topics.csv").write_text("node,label\n" + "".join(f"{k},{'odd' if k % 2 else 'even'}\n" for k in range(30)))
    assert "does it suit? Yes" in run("doctor", "--graph", "citations.csv", "--labels", "topics.csv")


def test_the_doctor_of_a_project_says_how_items_were_joined(project):
    run("tell", "f0", "wide")
    out = run("doctor", "items.ask")
    assert "joined: 10 nearest neighbors of each item by 'width', 'height', scaled" in out
    assert "labels: 1 label: 'wide (1)'" in out


def test_the_doctor_finds_damage(project):
    run("tell", "f0", "wide")
    path = project / "items.ask"
    content = bytearray(path.read_bytes())
    at = content.find(b"f29{")  # before its fields; random names of commits may hold f29 too
    content[at : at + 3] = b"f00"  # an id that its index does not have
    path.write_bytes(content)
    said = error_of("doctor")
    assert "restore it from a copy with askgraph restore items.ask." in said
    assert "items.ask" in said


def test_when_everything_is_labeled(here):
    (here / "few.csv").write_text("id,x\na,1\nb,2\n")
    run("init", "few.csv")
    run("tell", "a", "yes")
    run("skip", "b", "--why", "cannot")
    assert run("ask") == "finished: every item is labeled or set aside (1 of them)\n"
    assert json_of("ask") == {"items": [], "finished": "finished: every item is labeled or set aside (1 of them)"}
    assert "finished" in run("status")
    assert json_of("status")["stop"]


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("init",), "give a table"),
        (("init", "nowhere.csv"), "nowhere.csv"),
        (("init", "double.csv"), "double.csv, line 3: the id 'a' is on line 2 already"),
        (("init", "items.csv", "--features", "width,depth"), "no column 'depth'"),
        (("init", "items.csv", "--text", "kind", "--features", "kind"), "named twice"),
        (("init", "items.csv", "--weights", "width"), "such as price=2"),
        (("init", "items.csv", "--features", "width", "--weights", "kind=2"), "not compared by it"),
        (("init", "items.csv", "--image", "kind"), "--images"),
        (("init", "items.csv", "--sampler", "best"), "no sampler called 'best'"),
        (("init", "items.csv", "--answers", "numbers", "--unit", "5"), "could be the end of a number"),
        (("init", "items.csv", "--answers", "numbers", "--find", "at least"), "'' cannot be sought"),
        (("init", "items.csv", "--answers", "ordered", "--classes", "a,b", "--find", "at least c"), "'c' is no step"),
        (("init", "items.csv", "--classes", "a,a"), "twice"),
        (("init", "items.csv", "--label", "species"), "no column 'species'"),
        (("init", "items.csv", "-o", "nowhere/items.ask"), "nowhere"),
        (("status",), "askgraph init"),
        (("status", "-p", "nowhere.ask"), "no such project; make one with askgraph init"),
        (("tell", "1", "a", "-p", "nowhere.ask"), "no such project"),
        (("tell", "1", "a", "-p", "items.csv"), "cannot be read as an askgraph project"),
        (("undo",), "which project? name it with -p"),
    ],
)
def test_mistakes_say_what_to_do(here, args, says):
    (here / "double.csv").write_text("id,x\na,1\na,2\n")
    before = sorted(here.iterdir())
    assert says in error_of(*args)
    assert sorted(here.iterdir()) == before


def test_mistakes_in_a_project_say_what_to_do(project):
    assert "is there already" in error_of("init", "items.csv")
    assert "no item 'nobody'" in error_of("tell", "nobody", "tall")
    assert "askgraph tell 17 setosa" in error_of("tell", "f0")
    assert "askgraph tell 17 setosa" in error_of("tell", "f0", "tall", "--file", "x.csv")
    assert "choose later, cannot or invalid" in error_of("skip", "f0", "--why", "bored")
    assert "says nothing: name a class" in error_of("tell", "f0", " ")
    assert "person" in error_of("tell", "f0", "tall", "--who", "x" * 300)
    (project / "other.ask").write_bytes(b"")
    assert "2 .ask files here: which project?" in error_of("status")
    assert "not an askgraph project" in error_of("status", "-p", "other.ask")


def test_a_program_beside_ours_is_waited_for(project):
    lock = WriterLock(project / "items.ask")
    lock.take()
    assert json_of("status")["serving"] is False  # readers read
    threading.Timer(0.2, lock.release).start()
    assert "saved" in run("tell", "f0", "wide")


class Server(BaseHTTPRequestHandler):
    """A stand-in for the server of a project."""

    def do_POST(self):
        heard = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.heard.append((self.path, self.headers["Authorization"], heard))
        code, said = self.server.answer
        self.send_response(code)
        self.end_headers()
        self.wfile.write(json.dumps(said).encode())

    def log_message(self, *args):
        pass


@contextmanager
def serving(path):
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        server.heard, lock = [], WriterLock(path)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        lock.take()
        lock.tell(url=f"http://127.0.0.1:{server.server_port}", token=TOKEN)
        try:
            yield server
        finally:
            lock.release()
            server.shutdown()
            thread.join()


def test_while_a_server_runs_writes_go_to_it(project):
    with serving(project / "items.ask") as server:
        server.answer = (200, {"saved": 1})
        assert run("tell", "f0", "wide") == "saved: 1 answer\n"
        server.answer = (200, {"undone": {"seq": 1, "item": "f0", "kind": "label", "label": "wide", "together": 3}})
        assert run("undo") == "taken back: f0 wide, and 2 others of the same step\n"
        server.answer = (200, {"undone": None})
        assert run("undo") == "there is nothing to take back\n"
        server.answer = (404, {"error": "no item 'f99'"})
        assert error_of("tell", "f99", "wide") == "no item 'f99'"
        server.answer = (507, {"error": "the disk is full"})
        assert error_of("tell", "f1", "wide") == "the disk is full"
        assert json_of("status")["serving"] is True
        assert "a server has it open" in run("status")
    (told, *_) = server.heard
    assert told[:2] == ("/api/answers", f"Bearer {TOKEN}")
    assert told[2]["answers"] == [{"item": "f0", "kind": "label", "label": "wide"}]
    assert (told[2]["who"], len(told[2]["key"])) == ("ann", 36)
    assert json_of("history") == []


@pytest.mark.parametrize("command", ["tell", "relabel"])
def test_a_label_that_is_not_a_class_names_the_nearest_and_saves_nothing(project, command):
    run("tell", "f0", "tall")
    assert error_of(command, "f0", "Tal") == "no class 'Tal'; did you mean 'tall'? --new makes it a class"
    assert error_of(command, "f0", "zzz") == "no class 'zzz' among 'tall', 'wide'; --new makes it a class"
    assert len(json_of("history")) == 1
    assert run(command, "f0", "Tal", "--new") == "saved: 1 answer\n"
    assert [c["name"] for c in json_of("classes")] == ["tall", "wide", "Tal"]
    run("undo")
    assert "did you mean 'tall'?" in error_of(command, "f0", "Tal")  # nobody's label anymore


def test_all_labels_of_a_file_that_are_not_classes_are_named_before_any_is_saved(project):
    (project / "results.csv").write_text("id,label\nf0,wide\nf1,tal\nf2,wiede\nf3,tal\nf4,zzz\n")
    assert error_of("tell", "--file", "results.csv") == (
        "no classes 'tal' (tall?), 'wiede' (wide?), 'zzz'; nothing is saved: correct them, or --new makes them classes"
    )
    (project / "many.csv").write_text("id,label\n" + "".join(f"f{k},x{k}\n" for k in range(25)))
    assert "'x19' and 5 more;" in error_of("tell", "--file", "many.csv")
    (project / "long.csv").write_text("id,label\n" + "".join(f"f{k},{'x' * 180}{k}\n" for k in range(25)))
    assert len(error_of("tell", "--file", "long.csv")) <= 500
    assert json_of("history") == []
    assert run("tell", "--file", "results.csv", "--new") == "saved: 5 answers\n"
    assert len(json_of("classes")) == 5


def test_an_annotation_that_is_not_a_class_names_the_nearest_and_saves_nothing(project):
    def task(item, name, label):
        chosen = {"type": "choices", "value": {"choices": [label]}}
        return {"data": {"id": item}, "annotations": [{"completed_by": {"first_name": name}, "result": [chosen]}]}

    (project / "tasks.json").write_text(json.dumps([task("f0", "bob", "tall"), task("f1", "cy", "wiede")]))
    assert error_of("tell", "--file", "tasks.json").startswith("no class 'wiede'; did you mean 'wide'?")
    assert json_of("history") == []
    assert run("tell", "--file", "tasks.json", "--new") == "saved: 1 of bob, 1 of cy\n"


def test_any_label_makes_the_first_class_and_a_former_name_still_means_its_class(here):
    run("init", "items.csv", "--features", "width,height")
    run("tell", "f0", "brief")
    run("classes", "rename", "brief", "short")
    run("classes", "add", "small")
    run("classes", "merge", "small", "short")
    for item, name in (("f1", "brief"), ("f2", "small"), ("f3", "short")):
        run("tell", item, name)
    assert [c["name"] for c in json_of("classes")] == ["short"]
    assert json_of("status")["labels"] == 4


def test_beside_a_server_a_label_that_is_not_a_class_is_refused_before_it_is_sent(project):
    with serving(project / "items.ask") as server:
        server.answer = (200, {"saved": 1})
        assert "did you mean 'wide'?" in error_of("tell", "f0", "wid")
        assert server.heard == []
        assert run("tell", "f0", "wid", "--new") == "saved: 1 answer\n"
    assert len(server.heard) == 1


def test_no_proxy_hears_what_is_sent_to_the_server(project, monkeypatch):
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as proxy:
        proxy.heard, proxy.answer = [], (502, {"error": "this is the proxy"})
        thread = threading.Thread(target=proxy.serve_forever)
        thread.start()
        for variable in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(variable, f"http://127.0.0.1:{proxy.server_port}")
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        with serving(project / "items.ask") as server:
            server.answer = (200, {"saved": 1})
            try:
                assert run("tell", "f0", "wide") == "saved: 1 answer\n"
            finally:
                proxy.shutdown()
                thread.join()
    assert (len(server.heard), proxy.heard) == (1, [])


def test_a_server_that_does_not_answer_is_named(project):
    lock = WriterLock(project / "items.ask")
    lock.take()
    lock.tell(url="http://127.0.0.1:9", token=TOKEN)
    assert "does not answer" in error_of("tell", "f0", "wide")
    lock.release()


def examples(name):
    """The lines of a command's help that can be typed."""
    text = run(name, "--help").split("Options:")[0]
    return [line.strip() for line in re.findall(r"^\s*(?:Example: )?(askgraph \S.*)$", text, re.M)]


NAMES = [one.callback.__name__ for part in (labeling, results, upkeep) for one in part.app.registered_commands]


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("serve", "label", "embed")])
def test_every_example_of_the_help_runs(here, name):
    """On files of the names that the help has."""
    papers = "".join(
        f"{k},{'cats have fur' if k % 2 else 'ships have sails'},{'' if k > 3 else 'ab'[k % 2]}\n" for k in range(30)
    )
    (here / "papers.csv").write_text("id,abstract,topic\n" + papers)
    (here / "news.csv").write_text("id,title,description\n" + papers.replace(",a\n", ",one\n"))
    (here / "photos.csv").write_text("id,file\n" + "".join(f"{k},{k}.png\n" for k in range(30)))
    (here / "guesses.csv").write_text("item,label,score\n1,one,0.9\n2,two,0.4\n")
    said = {"choices": [{"message": {"content": "one"}}]}
    (here / "replies.jsonl").write_text(json.dumps({"custom_id": "1", "response": {"body": said}}))
    (here / "authors.csv").write_text("source,target\n1,3\n2,4\n")
    (here / "topics.csv").write_text("id,label\n1,a\n2,b\n")
    (here / "flats.csv").write_text(
        "id,description,price,rooms\n"
        + "".join(f"{k},a flat of {k} square meters,{k % 5 + 1},{k % 3}\n" for k in range(20))
    )
    for table in ("tickets", "reviews"):
        (here / f"{table}.csv").write_text("id,a,b\n" + "".join(f"{k},{k % 5},{k % 3}\n" for k in range(20)))
    (here / "flowers.csv").write_text(
        "width,height,species\n" + "".join(f"{k},{k % 3},{'ab'[k % 2]}\n" for k in range(30))
    )
    (here / "photos" / "cats").mkdir(parents=True)
    for k in range(6):
        gray = Image.fromarray(np.random.default_rng(k).integers(0, 256, (9, 9), dtype=np.uint8))
        gray.save(here / "photos" / ("cats" if k < 2 else "") / f"{k}.png")
    np.save(here / "embeddings.npy", np.random.default_rng(0).normal(size=(30, 4)))
    with xlsxwriter.Workbook(here / "survey.xlsx") as book:
        book.add_worksheet("Wave 1")
        wave = book.add_worksheet("Wave 2")
        for k, row in enumerate(["id,comment", *papers.splitlines()]):
            wave.write_row(k, 0, row.split(",")[:2])
    found = examples(name)
    assert found, f"no example in the help of {name}"
    (here / "results.csv").write_text("id,label\n17,setosa\n")
    rows = "".join(f"{k},{k % 5},{k % 3}\n" for k in range(20))
    (here / "more.csv").write_text("id,a,b\n20,1,2\n21,3,1\n")
    (here / "items.csv").write_text("id,a,b\n" + rows)
    for line in found:
        for old in here.glob("*.ask*"):
            old.unlink()
        if name == "find":  # by words, too
            (here / "items.csv").write_text(
                "id,note\n" + "".join(f"{k},the {k}th trial of a new drug in {k % 7} towns\n" for k in range(20))
            )
        if name == "rule":
            (here / "items.csv").write_text(
                "id,price,note\n" + "".join(f"{k},{9 * k},a prize of {k}\n" for k in range(20))
            )
        if name != "init":
            run("init", "items.csv")
            if name in ("undo", "relabel"):
                run("tell", "17", "setosa")
            if name == "relabel":
                run("classes", "add", "virginica")
            if name == "rule" or "prompts" in line:
                run("classes", "add", "spam")
                run("classes", "add", "expensive")
            if "replies" in line:
                run("classes", "add", "one")
            if "--remove" in line and name == "rule":
                run("rule", "price > 3", "spam")
            if "|" in line:
                run("classes", "add", "billing")
                run("classes", "add", "login")
            if name == "find":
                run("classes", "add", "relevant")
            if "--certify" in line:
                run("find", "relevant")
                run("tell", "17", "relevant")
            if name == "restore":
                shutil.copy("items.ask", "backup.ask")
        words = [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', line)]
        assert words[0] == "askgraph"
        assert run(*words[1:])


def test_an_error_is_one_line_on_standard_error(here):
    done = subprocess.run(
        [sys.executable, "-m", "askgraph", "status"], capture_output=True, text=True, cwd=here, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("askgraph: no .ask file here")
    assert done.stderr.count("\n") == 1


def test_markup_and_controls_in_data_are_text(here):
    (here / "odd.csv").write_text("id,x,t\n[red]a[/red],1,[bold]\n[/],2,ok\n")
    run("init", "odd.csv", "--features", "x")
    assert "[red]a[/red]" in run("ask", "-n", 2)
    run("tell", "[/]", "[link=http://x]y")
    assert "[link=http://x]y" in run("history")
    with Project.open("odd.ask") as project:
        assert project.answers.labels == {1: "[link=http://x]y"}
