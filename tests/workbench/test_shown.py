"""What people are shown: the name of an item, not dozens of numbers, what to look at again, and when they can stop."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import askgraph.web
from askgraph.errors import SettingError
from askgraph.kinds.stopping import ErrorEstimate, enough, labels_until_enough
from askgraph.workbench import report
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source


def project_of(folder, header, rows, **source):
    table = folder / "items.csv"
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    Project.create(folder / "items.ask", Source(table, **source), ["a", "b"])
    return Project.open(folder / "items.ask", write=True)


PROSE = "A sentence that is long enough to be read as the text of an item, and number "


@pytest.mark.parametrize(
    ("header", "row", "naming"),
    [
        (("id", "abstract", "Title"), lambda k: (f"i{k}", f"{PROSE}{k}", f"Title {k}"), "Title"),
        (("id", "abstract", "short"), lambda k: (f"i{k}", f"{PROSE * 2}{k}", f"thing {k}"), "short"),
        (("id", "abstract", "home"), lambda k: (f"i{k}", f"{PROSE * 2}{k}", f"https://example.org/{k}"), None),
        (("id", "abstract", "kind"), lambda k: (f"i{k}", f"{PROSE * 2}{k}", f"kind {k % 3}"), None),
    ],
    ids=["called title", "short and distinct", "an address", "not distinct"],
)
def test_the_column_that_names_the_items(tmp_path, header, row, naming):
    with project_of(tmp_path, header, [row(k) for k in range(12)], text="abstract") as project:
        assert project.items.naming_field == naming
        if naming:
            assert project.items.title(project.items.item(3)) == row(3)[2]


@pytest.mark.parametrize(("columns", "shown"), [(12, 12), (13, 0)])
def test_more_than_a_dozen_columns_that_are_compared_are_kept_and_not_shown(tmp_path, columns, shown):
    """T3."""
    header = ("id", *(f"p{k}" for k in range(columns)), "year")
    rows = [(f"i{k}", *np.arange(k, k + columns), 1990 + k) for k in range(15)]
    with project_of(tmp_path, header, rows, features=header[1:-1]) as project:
        assert len(project.items.shown) == shown + 1
        assert len(project.items.item(0).fields) == columns + 1
        assert any("not shown on the card" in line for line in report.checkup(project)["improve"]) == (shown == 0)
        del project.about["hidden"]  # a project of an earlier version
        del project.items.__dict__["shown"]
        assert len(project.items.shown) == 0  # thirteen numbers, whatever they are for


def test_doctor_names_text_that_is_not_compared_and_leftovers_of_html(tmp_path):
    """T17, T18."""
    rows = [(f"i{k}", f"{PROSE}{k}", f"{PROSE}{k} AT&amp;T #39;s") for k in range(12)]
    with project_of(tmp_path, ("id", "title", "body"), rows, text="title") as project:
        said = report.checkup(project)
    assert any("'body' holds text that items are not compared by" in line for line in said["improve"])
    assert any("'body' holds leftovers of HTML" in line for line in said["improve"])
    assert any(line.startswith("joined: ") and "'title'" in line for line in said["checked"])


def test_a_label_given_again_is_not_doubted_again(tmp_path, monkeypatch):
    """T5: to keep a label is to give it again: a line of the log, for all who open the project."""
    rows = [(f"i{k}", k // 10 * 50 + k % 10) for k in range(20)]
    with project_of(tmp_path, ("id", "x"), rows, features=["x"]) as project:
        for k in (0, 2, 4, 6, 8):
            project.say("ann", f"i{k}", "label", "a")
        for k in (10, 12, 14, 16, 5):
            project.say("ann", f"i{k}", "label", "b")
        doubted = project.learner.judge.suspects(every=True)
        monkeypatch.setattr(type(project.learner.judge), "suspects", lambda self: doubted)
        assert "i5" in [one["item"] for one in report.suspects(project)]
        project.say("ann", "i5", "label", "b")
        assert "i5" not in [one["item"] for one in report.suspects(project)]


class TestTheTarget:
    def test_it_is_kept_in_the_project(self, tmp_path):
        rows = [(f"i{k}", k) for k in range(20)]
        with project_of(tmp_path, ("id", "x"), rows, features=["x"]) as project:
            assert project.target == 0.05
            project.target = 0.2
            with pytest.raises(SettingError, match="give a share"):
                project.target = 0.9
        with Project.open(tmp_path / "items.ask") as project:
            assert project.target == 0.2
            said = {"error": ErrorEstimate(0.1, 0.01, 0.3, 0)._asdict(), "labels": 10, "left": 10}
            assert report.goal(project, said) == {"target": 0.2, "reached": True, "until": {"low": 0, "high": 0}}
            project.about["target"] = "broken"
            assert project.target == 0.05
            goal = report.goal(project, said)
            assert not goal["reached"]
            assert 0 < goal["until"]["low"] <= goal["until"]["high"] <= 10  # no more than items are left

    @pytest.mark.parametrize(
        "error", [ErrorEstimate(0.2, 0.05, 0.5, 0), ErrorEstimate(0.04, 0.0, 0.3, 0), ErrorEstimate(0.2, 0.1, 0.3, 20)]
    )
    @pytest.mark.parametrize("target", [0.2, 0.1, 0.02])
    def test_with_the_labels_forecast_there_are_enough_and_not_before(self, error, target):
        held = 30
        for labels, power in zip(labels_until_enough(error, held, target, 10**9), (1, 0.5), strict=True):

            def after(more, power=power):
                times = (held + more) / held
                value = error.value * times**-power
                return enough(
                    error._replace(value=value, high=value + (error.high - error.value) * times**-0.5), target
                )

            assert after(labels + 1)
            assert labels == 0 or not after(0.98 * labels - 1)

    def test_no_forecast_without_end(self):
        assert labels_until_enough(ErrorEstimate(0.9, 0.5, 1.0, 0), 10, 0.001, 10**9) is None


def test_the_page_says_what_an_error_rests_on_in_the_words_of_the_commands():
    words = (Path(askgraph.web.__file__).parent / "page" / "words" / "en.js").read_text(encoding="utf-8")
    modelled, measured = (ErrorEstimate(0.1, 0.0, 0.3, 0, items).kind for items in (0, 1234))
    assert f'"{modelled}"' in words
    assert "`" + measured.replace("1,234", "${count(n)}") + "`" in words
