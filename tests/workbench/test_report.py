"""The report that one signs: its figures are those of a plain count of the log and of the commands, and nothing in it runs."""

from __future__ import annotations

import json
import re
import sqlite3
import string
from collections import Counter
from contextlib import closing
from hashlib import sha256
from html.parser import HTMLParser
from itertools import combinations
from statistics import median

import pytest
from typer.testing import CliRunner

import askgraph as ag
from askgraph.cli.app import app
from askgraph.errors import FileError, SettingError
from askgraph.workbench.agreement import alpha
from askgraph.workbench.datasheet import how_labeled
from askgraph.workbench.project import Project
from askgraph.workbench.report import to_sign
from askgraph.workbench.report_page import MAX_CLASSES, MAX_PEOPLE, STYLE, page, sheets, summary
from askgraph.workbench.report_words import ENGLISH, GERMAN, LANGUAGES
from askgraph.workbench.source import Source
from tests.helpers.projects import make, make_of, say
from tests.helpers.signed import COPIES, KINDS, RULES, N, make_signed

EVIL = """"'><img src=x onerror="alert(1)"><script>alert(1)</script>{n}&amp;"""
every_kind = pytest.mark.parametrize("name", list(KINDS))
both = pytest.mark.parametrize("code", list(LANGUAGES))


def run(path, *words):
    done = CliRunner(env={"COLUMNS": "250"}).invoke(app, [*words, "-p", str(path)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def signed(path):
    with Project.open(path) as project:
        return to_sign(project)


class Seen(HTMLParser):
    """What a browser would make of a page: its elements, their attributes, and its text."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.texts = Counter(), set(), []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.texts.append(data)


class Replayed:
    """A plain reading of a log: no code of the workbench, a line after the other."""

    def __init__(self, path, name):
        with closing(sqlite3.connect(path)) as db:
            db.row_factory = sqlite3.Row
            self.rows = [dict(row) for row in db.execute("SELECT * FROM answers ORDER BY seq")]
            self.changes = [dict(row) for row in db.execute("SELECT * FROM changes ORDER BY seq")]
            self.ids = [id for (id,) in db.execute("SELECT id FROM items ORDER BY place")]
        self.name, gone = name, {row["undoes"] for row in self.rows}
        self.stands = [row for row in self.rows if row["kind"] != "undo" and row["seq"] not in gone]
        self.undone = sum(row["kind"] == "undo" for row in self.rows)
        self.renamed = {row["name"]: row["value"] for row in self.changes if row["kind"] == "rename"}
        self.last = {}  # item -> who -> the last line
        for row in self.stands:
            self.last.setdefault(row["item"], {}).pop(row["who"], None)
            self.last[row["item"]][row["who"]] = row
        self.said = {
            item: {who: self.read(row["label"]) for who, row in lines.items() if row["label"] is not None}
            for item, lines in self.last.items()
        }
        self.labels = {item: self.decide([*said.values()][::-1]) for item, said in self.said.items() if said}

    def read(self, text):
        if self.name == "numbers":
            return float(text)
        if self.name == "several":
            return tuple(sorted(self.renamed.get(one, one) for one in json.loads(text)))
        return self.renamed.get(text, text)

    def decide(self, newest_first):
        """Of at most two people: the number between theirs, else what both say, else what was said last."""
        return median(newest_first) if self.name == "numbers" else newest_first[0]

    def given(self):
        return Counter(one for label in self.labels.values() for one in (label if self.name == "several" else [label]))

    def checked(self):
        """What was predicted before the first answer to each item drawn at random that has a label."""
        drawn = {row["item"]: self.read(row["predicted"]) for row in reversed(self.stands) if row["predicted"]}
        return {item: before for item, before in drawn.items() if item in self.labels}

    def in_both(self):
        lines = {item: [row for row in of.values() if row["how"] != "copy"] for item, of in self.last.items()}
        pairs = [[self.read(row["label"]) for row in of if row["label"] is not None] for of in lines.values()]
        return [labels for labels in pairs if len(labels) == 2]

    def version(self, row):
        return sum(one["kind"] == "guidelines" and one["answers"] < row["seq"] for one in self.changes)


@every_kind
def test_each_figure_is_that_of_a_plain_count_of_the_log(tmp_path, name):
    path = make_signed(tmp_path, name)
    said, log = signed(path), Replayed(path, name)
    assert (said["items"], said["labels"]) == (N + COPIES, len(log.labels))
    assert (said["lines"], said["undone"], said["changes"]) == (len(log.rows), log.undone, len(log.changes))
    assert log.undone == 6
    assert said["aside"] == {"later": 1, "cannot": 2, "invalid": 1}
    assert said["left"] == N + COPIES - len(log.labels) - 3

    whole = Counter()
    for who, of in said["people"].items():
        mine = [row for row in log.stands if row["who"] == who]
        hows = Counter(row["how"] for row in mine)
        assert (of["answers"], of["copies"]) == (len(mine), hows["copy"])
        assert (of["single"], of["many"]) == (hows[None], hows["map"] + hows["group"])
        assert of["checks"] == sum(row["predicted"] is not None for row in mine)
        assert (of["first"], of["last"]) == (min(row["at"] for row in mine)[:10], max(row["at"] for row in mine)[:10])
        whole += hows
    assert list(said["people"]) == ["ann", "bob"]
    assert said["ways"]["single"] == whole[None]
    counts = {how: (one["answers"], one["steps"]) for how, one in said["ways"]["many"].items()}
    assert counts == {"map": (6, 1), "table": (0, 0), "group": (7, 1)} == {
        how: (whole[how], len({row["key"].split(":")[0] for row in log.stands if row["how"] == how})) for how in counts
    }  # fmt: skip
    assert said["ways"]["copies"] == whole["copy"] > 0

    under = Counter(map(log.version, log.stands))
    assert {one["version"]: one["answers"] for one in said["guidelines"]} == under
    assert (said["guidelines"][-1]["text"], said["unseen"]["outdated"]) == (RULES, under[0] + under[1])
    together = [item for item in log.labels if None not in {row["how"] for row in log.last[item].values()}]
    assert said["unseen"]["together"] == len(together)

    drawn = log.checked()
    assert said["checks"]["count"] == len(drawn) > 0
    if name == "numbers":
        squares = [(before - log.labels[item]) ** 2 for item, before in drawn.items()]
        assert said["checks"]["off"] == pytest.approx((sum(squares) / len(squares)) ** 0.5)
        least, middle, largest = min(log.labels.values()), median(log.labels.values()), max(log.labels.values())
        assert said["numbers"] == {"least": least, "median": middle, "largest": largest}
        assert said["classes"] == []
    else:
        assert said["checks"]["before"] == sum(before == log.labels[item] for item, before in drawn.items())
        given = log.given()
        assert {one["name"]: one["count"] for one in said["classes"] if one["count"]} == given
        assert "so <b>&amp;</b> so" in given
        assert said["unseen"]["classes"] == ([] if name == "ordered" else ["never seen"])
        _check_classes(said, log, drawn)

    both = log.in_both()
    distance = KINDS[name][0].name.replace("classes", "nominal").replace("ordered", "ordinal")
    distance = {"several": "sets", "numbers": "interval"}.get(distance, distance)
    steps = ["bad", "so <b>&amp;</b> so", "good"]
    coded = [[steps.index(one) for one in labels] for labels in both] if name == "ordered" else both
    assert said["agreement"]["alpha"] == alpha(coded, distance)._asdict()
    agreed = said["agreement"]["agreed"]
    assert agreed["items"] == len(both) == 12
    if name != "numbers":
        assert agreed["share"] == sum(one == other for one, other in both) / len(both)

    lines = [sha256("\n".join(log.ids).encode()).hexdigest()]
    order = ("seq", "key", "who", "at", "kind", "item", "label", "seconds", "undoes", "predicted", "how")
    lines += [json.dumps([row[c] for c in order]) + "\n" for row in log.rows]
    order = ("seq", "key", "who", "at", "answers", "kind", "name", "value", "undoes", "like")
    lines += [json.dumps([row[c] for c in order]) + "\n" for row in log.changes]
    assert said["sha256"] == sha256("".join(lines).encode()).hexdigest()


def _check_classes(said, log, drawn):
    for one in said["classes"]:
        of_class = [item for item in drawn if one["name"] in named(log, item)]
        assert (one["checks"] or {"count": 0})["count"] == len(of_class)
        if log.name == "several" and of_class:  # there, what was predicted before counts
            assert one["checks"]["right"] == sum(one["name"] in drawn[item] for item in of_class)
    if log.name != "several":
        assert sum(one["checks"]["right"] for one in said["classes"] if one["checks"]) == said["checks"]["right"]
    for one in said["classes"]:
        if found := one["checks"]:
            assert 0 <= found["low"] <= found["right"] / found["count"] <= found["high"] <= 1


def named(log, item):
    return log.labels[item] if log.name == "several" else (log.labels[item],)


@pytest.mark.slow
@every_kind
def test_each_figure_is_what_its_command_says(tmp_path, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = make_signed(tmp_path, name)
    printed, said = run(path, "report"), signed(path)
    assert "The report is report.html" in printed
    assert json.loads(run(path, "report", "--json")) == json.loads(json.dumps(said))
    status = json.loads(run(path, "status", "--json"))
    for figure in ("items", "labels", "left", "error", "checks", "find", "classes"):
        assert status[figure] == said[figure], figure
    assert status["together"] == said["unseen"]["together"]
    people = json.loads(run(path, "people", "--json"))
    assert people["agreement"] == said["agreement"]
    assert {one["who"]: {name: one[name] for name in said["people"]["ann"]} for one in people["people"]} == said[
        "people"
    ]
    history = run(path, "guidelines", "--history")
    assert all(re.search(rf"{one['version']} .* {one['answers']} ", history) for one in said["guidelines"])
    doctor = run(path, "doctor")
    assert f"{said['lines']} lines, {said['undone']} undone ones" in doctor
    assert f"{said['changes']} changes of classes and guidelines, sha256 {said['sha256']}" in doctor
    with Project.open(path) as project:
        paragraph = how_labeled(project)
    assert "6 given to items selected on the map (in 1 step)" in paragraph
    assert "2 that people could not tell" in paragraph
    commands = set(re.findall(r"askgraph [a-z]+", (tmp_path / "report.html").read_text()))
    assert {command.split()[1] for command in commands} <= {
        "status", "people", "export", "predict", "guidelines", "doctor",
    }  # fmt: skip


@both
@every_kind
def test_the_page_and_the_summary_say_every_figure_in_both_languages(tmp_path, name, code):
    said, language = signed(make_signed(tmp_path, name, answers=16)), LANGUAGES[code]
    text = "".join(Seen(page(said, language)).texts)
    for part in [one for sheet in sheets(said, language) for one in sheet]:
        assert part.title in text
        for figure in part.figures:
            assert {figure.name, figure.said, figure.command} <= set(Seen(page(said, language)).texts)
            assert f"  {figure.name}: {figure.said}" in summary(said, language).splitlines()
        for row in part.table.rows if part.table else ():
            assert all(cell in text for cell in row)
    assert said["sha256"] in text
    assert "What is what" in text


def test_both_languages_have_the_same_words():
    assert ENGLISH.keys() == GERMAN.keys()
    for key in ENGLISH:
        assert fields(ENGLISH[key]) == fields(GERMAN[key]), key


def fields(text):
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_nothing_that_people_wrote_is_more_than_text(tmp_path):
    # Promise 22
    path = make(tmp_path / "p.ask", 12, [EVIL, "b"])
    with Project.open(path, write=True) as project:
        project.about["project"], project.about["graph"] = EVIL, [EVIL]
        for k in range(6):
            project.say(EVIL, f"i{k}", "label", [EVIL, "b"][k % 2])
            project.say("bob", f"i{k}", "label", [EVIL, "b"][k % 2])
        project.log.write_guidelines(EVIL, f"{EVIL}\n</blockquote><style>*{{}}</style>\u202e\x07")
        said = to_sign(project)
    plain = make(tmp_path / "q.ask", 12, ["a", "b"])
    say(plain, *[(f"i{k}", "ab"[k % 2]) for k in range(6)])
    say(plain, *[(f"i{k}", "ab"[k % 2]) for k in range(6)], who="bob")
    with Project.open(plain, write=True) as project:
        project.log.write_guidelines("ann", "be kind")
    hostile, tame = (Seen(page(one, LANGUAGES["en"])) for one in (said, signed(plain)))
    assert hostile.tags == tame.tags
    assert hostile.attributes == tame.attributes
    assert "script" not in hostile.tags
    assert not {"src", "href", "style", "onerror"} & hostile.attributes
    assert sum(EVIL in text for text in hostile.texts) >= 5
    assert not {"\u202e", "\x07"} & set("".join(hostile.texts))
    assert "url(" not in STYLE
    assert "@import" not in STYLE


@both
@every_kind
def test_a_project_without_labels_has_a_report(tmp_path, name, code):
    path = make_of(tmp_path / "p.ask", KINDS[name][0].name, classes=("bad", "good"))
    said, language = signed(path), LANGUAGES[code]
    assert (said["labels"], said["people"], said["checks"]) == (0, {}, None)
    text = "".join(Seen(page(said, language)).texts)
    for word in ("nobody", "early", "no overlap", "no guidelines"):
        assert language.words[word] in text
    assert language.words["early"] in summary(said, language)
    assert said["unseen"]["classes"] == ([] if name == "numbers" else ["bad", "good"])


def test_one_person_has_a_report_without_agreement_and_without_a_sum(tmp_path):
    path = make(tmp_path / "p.ask", 12, ["a", "b"], labels=["a", "b", *[None] * 10])
    say(path, ("i2", "a"), ("i5", "b"))
    said = signed(path)
    text = "".join(Seen(page(said, LANGUAGES["en"])).texts)
    assert list(said["people"]) == ["ann"]
    assert (said["unseen"]["imported"], said["people"]["ann"]["answers"]) == (2, 2)
    assert ENGLISH["no overlap"] in text
    assert "Alpha" not in text.partition("What was not seen")[0].partition("By class")[2].replace("Alpha: on", "")


def test_items_that_nothing_is_like_are_counted(tmp_path):
    path = make(tmp_path / "p.ask", 12, ["a", "b"], graph=ag.Graph.from_edges([(0, 1), (1, 2), (2, 3)], nodes=12))
    say(path, ("i0", "a"), ("i3", "b"))
    assert signed(path)["unseen"]["alone"] == 8
    assert "8 items without a neighbor" in run(path, "doctor")


def test_many_people_and_classes_are_summed_up_so_that_two_sheets_are_enough(tmp_path):
    names = [f"class {k}" for k in range(MAX_CLASSES + 5)]
    path = make(tmp_path / "p.ask", 60, names)
    for k in range(MAX_PEOPLE + 3):
        say(path, (f"i{k}", names[k]), (f"i{k + 20}", names[k + 1]), who=f"person {k}")
    said = signed(path)
    first, second = sheets(said, LANGUAGES["en"])
    people = next(one.table.rows for one in first if one.title == ENGLISH["who"])
    assert [row[:2] for row in people[-2:]] == [["3 others", "6"], ["All", str(2 * (MAX_PEOPLE + 3))]]
    classes = next(one for one in second if one.title == ENGLISH["classes"])
    assert len(classes.table.rows) == MAX_CLASSES
    assert "5 more classes" in classes.note


def test_what_is_signed_changes_with_every_line_and_with_the_items(tmp_path):
    path, pins = make(tmp_path / "p.ask", 12, ["a", "b"]), set()
    for said in (("label", "a"), ("label", "b"), ("later", None)):
        with Project.open(path, write=True) as project:
            project.say("ann", "i0", *said)
            pins.add(to_sign(project)["sha256"])
    with Project.open(path, write=True) as project:
        project.undo("ann")
        pins.add(to_sign(project)["sha256"])
        project.log.write_guidelines("ann", "be kind")
        pins.add(to_sign(project)["sha256"])
    assert len(pins) == 5
    assert signed(path)["sha256"] in pins
    other = make(tmp_path / "q.ask", 13, ["a", "b"])
    assert signed(other)["sha256"] != signed(make(tmp_path / "r.ask", 12, ["a", "b"]))["sha256"]


def test_a_long_text_of_guidelines_is_begun_and_its_length_said(tmp_path):
    path = make(tmp_path / "p.ask", 12, ["a", "b"])
    with Project.open(path, write=True) as project:
        project.log.write_guidelines("ann", "a rule\twith words\n" * 400)
        first, _ = sheets(to_sign(project), LANGUAGES["en"])
    rules = first[-1]
    assert len(rules.text[1]) < 1000
    assert rules.note == "The text goes on: 7,200 characters in all. askgraph guidelines"


def test_the_command_says_what_is_wrong(tmp_path):
    path = make(tmp_path / "p.ask", 12, ["a", "b"])
    for words, error in ((["--language", "fr"], SettingError), (["-o", str(tmp_path / "no" / "r.html")], FileError)):
        with pytest.raises(error, match="choose"):
            CliRunner().invoke(app, ["report", "-p", str(path), *words], catch_exceptions=False)


def test_texts_without_words_are_not_compared_and_the_report_says_so(tmp_path):
    texts = [f"{'ships cross the sea' if k % 2 else 'cats have warm fur'} {'abcdefgh'[k % 8]}" for k in range(30)]
    (tmp_path / "t.csv").write_text("\n".join(["text", *texts, '""', "...", ""]))
    Project.create(tmp_path / "p.ask", Source(tmp_path / "t.csv", text=["text"]), ["a", "b"])
    assert signed(tmp_path / "p.ask")["unseen"]["alone"] >= 1


def test_the_share_of_pairs_is_that_of_all_pairs_of_people(tmp_path):
    path = make(tmp_path / "p.ask", 12, ["a", "b"])
    labels = {"ann": "aabb", "bob": "aaba", "cy": "abba"}
    for who, said in labels.items():
        say(path, *[(f"i{k}", one) for k, one in enumerate(said)], who=who)
    pairs = [pair for k in range(4) for pair in combinations([said[k] for said in labels.values()], 2)]
    assert signed(path)["agreement"]["agreed"]["share"] == sum(one == other for one, other in pairs) / len(pairs)
