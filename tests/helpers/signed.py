"""A project with all that a report tells of: two people, undo, many answers at once, copies, guidelines, a renamed class."""

from __future__ import annotations

import numpy as np

import askgraph as ag
from askgraph.kinds.one_class import OneClass
from askgraph.kinds.several import Several
from askgraph.workbench.project import Project
from askgraph.workbench.source import Source

N, COPIES = 90, 3
STEPS = ["bad", "fair", "good"]
KINDS = {
    "classes": (OneClass(), STEPS),
    "ordered": (ag.Ordered(), STEPS),
    "several": (Several(), STEPS),
    "numbers": (ag.Numbers(unit="EUR"), []),
}
RULES = "# What is what\n\n- bad: below\n- fair: between\n- good: above\n"


def truth_of(name, row):
    x, y = row
    if name == "numbers":
        return round(float(100 * x + 20 * y + 1), 1)
    if name == "several":
        return tuple(sorted(c for c, has in (("bad", x < 0.4), ("fair", y < 0.5), ("good", x > 0.6)) if has))
    return STEPS[min(int(3 * x), 2)]


def make_signed(folder, name, answers=24):
    """Make such a project of a kind of answers; return its path."""
    rows = np.random.default_rng(0).random((N, 2)).round(4)
    rows = np.vstack([rows, rows[:COPIES]])
    lines = [f"i{k},{x},{y}" for k, (x, y) in enumerate(rows)]
    (folder / "t.csv").write_text("\n".join(["id,x,y", *lines]) + "\n")
    (kind, classes), path = KINDS[name], folder / "notes.ask"
    Project.create(path, Source(folder / "t.csv", features=["x", "y"]), classes, answers=kind)
    truth = [truth_of(name, row) for row in rows]
    with Project.open(path, write=True) as project:
        for k in range(answers):
            (question,) = project.questions()
            project.say("ann", question, "label", truth[question.node], seconds=2.0)
            if k == answers // 3:
                project.log.write_guidelines("ann", "first thoughts")
            if k == answers // 2:
                project.log.write_guidelines("bob", RULES)
        for place in [*project.answers.labels][:12]:
            said = truth[(place + place % 4 // 3) % N]  # three of four agree
            project.say("bob", f"i{place}", "label", said)
        open_ = [k for k in range(3, N) if project.log.open_at(k)]
        project.say_all(
            "bob", [(f"i{k}", "label", truth[open_[0]]) for k in open_[:6]], key="a step on the map", how="map"
        )
        project.say_all("ann", [(f"i{k}", "label", truth[k]) for k in open_[6:13]], key="a group of items", how="group")
        project.say_all("ann", [(f"i{k}", "label", truth[k]) for k in open_[13:18]], key="a table undone", how="table")
        project.undo("ann")
        project.say("bob", f"i{open_[20]}", "label", truth[open_[20]])
        project.undo("bob")
        project.say("ann", "i0", "label", truth[0])  # its copies take it
        for k, why in zip(open_[-4:], ("later", "cannot", "cannot", "invalid"), strict=True):
            project.say("ann", f"i{k}", why)
        if kind.by_class:
            project.log.change("ann", "rename", "fair", "so <b>&amp;</b> so")
        if name in ("classes", "several"):
            project.log.change("ann", "add", "never seen")
    return path
