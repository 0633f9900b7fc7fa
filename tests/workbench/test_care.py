"""How often people err: estimated from overlaps and spot checks, counted as label noise, shown by a command; and what to review."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import askgraph as ag
from askgraph.cli.app import app
from askgraph.workbench import report
from askgraph.workbench.care import MODEL, NumberRaters, Raters, SetRaters
from askgraph.workbench.export import prediction_rows
from askgraph.workbench.project import Project
from tests.helpers.projects import make, say

CLASSES = ["a", "b", "c"]


def judged(errors, n, seed=0, checked=0.0):
    """What people who err so often say of n items, two of them of each, and what was predicted for some."""
    rng, said = np.random.default_rng(seed), []
    for truth in rng.integers(0, 3, n).tolist():
        some = rng.choice(len(errors), 2, replace=False).tolist()
        one = {f"p{w}": CLASSES[(truth + (rng.random() < errors[w]) * rng.integers(1, 3)) % 3] for w in some}
        if rng.random() < checked:
            one[MODEL] = CLASSES[(truth + (rng.random() < 0.2) * rng.integers(1, 3)) % 3]
        said.append(one)
    return said


def test_people_of_different_care_are_told_apart():
    errors = (0.02, 0.1, 0.4)
    known = Raters(judged(errors, 600, checked=0.2), CLASSES)
    assert [known.care(f"p{w}").errs for w in range(3)] == pytest.approx(errors, abs=0.05)
    assert known.care("p0").compared == pytest.approx(400, abs=40)
    assert known.wrongness({"p0": "a"}, "a") == 0
    assert known.wrongness({"p2": "a"}, "a") >= 0.3
    assert known.wrongness({"p2": "a", "p0": "b"}, "a") >= 0.8
    assert known.wrongness({"p2": "a", "p0": "a"}, "a") == 0


def test_errors_in_one_class_are_seen_there():
    said = judged((0.02, 0.02, 0.02), 400)
    for one in said:
        if one.get("p1") == "b":
            one["p1"] = "c"  # what others call b, this person calls c
    care = Raters(said, CLASSES).care("p1")
    assert care.classes["b"] > 0.8
    assert max(care.classes["a"], care.classes["c"]) < 0.15


def test_nobody_is_blamed_before_there_is_evidence():
    for said in ([], [{"ann": "a"}], [{"ann": "a", "bob": "b"}]):
        known = Raters(said, CLASSES)
        assert max(known.care("ann").errs, known.care("new").errs) < 0.2
        assert known.wrongness({"new": "a"}, "a") == 0


@pytest.mark.parametrize("shares", [(0.5, 0.46, 0.04), (0.9, 0.09, 0.01)])
def test_careful_people_are_not_accused_in_a_rare_class(shares):
    rng, said = np.random.default_rng(0), []
    for truth in rng.choice(3, 600, p=shares).tolist():
        pair = rng.choice(3, 2, replace=False).tolist()
        said.append({f"p{w}": CLASSES[(truth + (rng.random() < 0.02) * rng.integers(1, 3)) % 3] for w in pair})
    known = Raters(said, CLASSES)
    for who in ("p0", "p1", "p2"):
        assert max(known.care(who).classes.values()) < 0.2
        assert known.wrongness({who: "c"}, "c") == 0


def test_people_who_say_a_step_too_many_have_a_bias_and_the_others_none():
    steps, said = list("abcdefg"), []
    rng, biases = np.random.default_rng(0), (0, 0, 0.5)
    for truth in rng.integers(1, 6, 500).tolist():
        pair = rng.choice(3, 2, replace=False).tolist()
        said.append({f"p{w}": steps[truth + int(rng.random() < biases[w])] for w in pair})
    known = Raters(said, steps, ranked=True)
    assert [known.care(f"p{w}").bias for w in range(3)] == pytest.approx(biases, abs=0.1)
    assert Raters(said, steps).care("p2").bias is None


def test_who_says_one_of_two_classes_is_right_if_one_of_them_is_and_is_not_judged_by_it():
    unsure = ag.one_of("a", "b")
    said = judged((0.02, 0.02, 0.4), 600)
    known, more = Raters(said, CLASSES), Raters([*said, {"p0": unsure, "p1": "c"}, {"new": unsure}], CLASSES)
    assert more.care("p1") == known.care("p1")
    assert more.care("new").compared == 0
    assert known.wrongness({"p0": unsure}, unsure) == 0
    assert known.wrongness({"p0": unsure, "p2": "c"}, unsure) == 0
    assert known.wrongness({"p0": "c", "p2": unsure}, unsure) >= 0.8
    assert known.wrongness({"p2": "c", "p1": unsure}, "c") >= 0.8


def sets_of(misses, alarms, n, seed=0):
    """What two of three people say of n items; each misses classes, and says some of items that have them not, so often."""
    rng, said, shares = np.random.default_rng(seed), [], {"common": 0.5, "some": 0.2, "rare": 0.04}
    for _ in range(n):
        truth = {name: rng.random() < share for name, share in shares.items()}
        one = {}
        for w in rng.choice(3, 2, replace=False).tolist():
            wrong = {name: rng.random() < (misses if has else alarms)[w][name] for name, has in truth.items()}
            one[f"p{w}"] = tuple(name for name, has in truth.items() if has != wrong[name])
        said.append(one)
    return said


CAREFUL = {"common": 0.02, "some": 0.02, "rare": 0.01}
SETS = list(CAREFUL)


def test_people_who_miss_a_class_and_people_who_see_it_everywhere_are_told_apart():
    misses, alarms = [CAREFUL, CAREFUL | {"some": 0.5}, CAREFUL], [CAREFUL, CAREFUL, CAREFUL | {"common": 0.4}]
    found = [SetRaters(sets_of(misses, alarms, 1500), SETS).care(f"p{w}") for w in range(3)]
    assert found[1].classes["some"].misses == pytest.approx(0.5, abs=0.12)
    assert found[2].classes["common"].false_alarms == pytest.approx(0.4, abs=0.08)
    assert max(found[1].classes["some"].false_alarms, found[2].classes["common"].misses) < 0.06
    assert found[0].errs < 0.03 < 0.05 < found[2].errs
    assert found[0].low < found[0].errs < found[0].high
    assert found[0].compared == pytest.approx(1000, abs=60)


def test_careful_people_are_not_accused_of_missing_classes_or_seeing_them_everywhere():
    for seed in range(5):
        raters = SetRaters(sets_of([CAREFUL] * 3, [CAREFUL] * 3, 400, seed), SETS)
        for who in ("p0", "p1", "p2", "somebody new"):
            care = raters.care(who)
            assert care.errs < 0.06
            assert max(max(slips) for slips in care.classes.values()) < 0.25
    assert SetRaters([], []).care("ann").errs == pytest.approx(0.05)
    assert SetRaters([{"ann": (), "bob": ()}], ["a"]).care("ann").errs < 0.06


def numbers_of(biases, spreads, n, seed=0, slips=0.05):
    """What two of some people say of n items: a true number and an error, now and then a slip of the keys."""
    rng, said = np.random.default_rng(seed), []
    for truth in (50 * rng.normal(size=n)).tolist():
        pair = rng.choice(len(biases), 2, replace=False).tolist()
        error = {w: biases[w] + spreads[w] * rng.normal() * (100 if rng.random() < slips else 1) for w in pair}
        said.append({f"p{w}": truth + error[w] for w in pair})
    return said


def test_biases_and_spreads_of_people_are_recovered_though_keys_slip():
    biases, spreads = (0, 0, 10, -4, 0), (1, 2, 4, 1, 8)
    for seed in range(3):
        raters = NumberRaters(numbers_of(biases, spreads, 1000, seed))
        found = [raters.care(f"p{w}") for w in range(5)]
        assert [one.bias for one in found] == pytest.approx(biases, abs=1.5)
        np.testing.assert_allclose([one.spread for one in found], spreads, rtol=0.25, atol=1)
        assert [one.compared for one in found] == pytest.approx([400] * 5, abs=60)


def test_ranges_of_biases_of_people_without_one_hold_0():
    raters = [NumberRaters(numbers_of((0, 0, 0), (2, 2, 2), 60, seed)) for seed in range(60)]
    found = [one.care(f"p{w}") for one in raters for w in range(3)]
    held = np.mean([one.low <= 0 <= one.high for one in found])
    assert 0.85 < held < 0.995
    assert max(one.spread for one in found) < 5


@pytest.mark.parametrize("shared", [2, 3, 5, 20])
def test_the_range_of_a_bias_holds_it_also_where_few_items_were_compared(shared):
    held, rng = [], np.random.default_rng(shared)
    for _ in range(100):
        said = [{who: k + rng.normal(0, 2) for who in ("ann", "bob")} for k in range(20)]
        for k in range(shared):
            said[k]["cy"] = k + 10 + rng.normal(0, 4)
        care = NumberRaters(said).care("cy")
        held.append(care.low <= 10 <= care.high)
    assert np.mean(held) > 0.8


def test_a_single_item_tells_a_bias_and_no_range_or_spread():
    said = [{"ann": float(k), "bob": k + 0.5} for k in range(8)]
    found = NumberRaters([*said, {"ann": 9.0, "cy": 300.0}]).care("cy")
    assert found.bias > 250
    assert (found.compared, found.low, found.high, found.spread) == (1, None, None, None)


def test_two_people_share_the_blame_and_one_alone_has_none():
    raters = NumberRaters([{"ann": float(k), "bob": k + 2.0} for k in range(30)] + [{"cy": 5.0}])
    assert [raters.care(who).bias for who in ("ann", "bob")] == pytest.approx([-1, 1])
    assert [raters.care(who).spread for who in ("ann", "bob")] == pytest.approx([0, 0], abs=1e-9)
    assert raters.care("cy")[1:] == NumberRaters([]).care("ann")[1:] == (0, None, None, None, None)


@pytest.mark.parametrize("times", [1e149, 1e-250, 0.0])
def test_huge_and_tiny_numbers_have_a_bias_and_a_spread(times):
    said = [{"ann": times * k, "bob": times * (k + (k % 3) / 9)} for k in range(1, 9)]
    usual = NumberRaters([{"ann": 1.0 * k, "bob": k + (k % 3) / 9} for k in range(1, 9)]).care("bob")
    found = NumberRaters(said).care("bob")
    assert [found.bias, found.spread] == pytest.approx([times * usual.bias, times * usual.spread])


def make_crowd(path, careless=0.5):
    """Two people who agree, and one who errs, on two groups of items; each item is labeled by two of them."""
    graph, truth = ag.communities((40, 40), rng=0)
    make(path, 80, classes=["a", "b"], graph=graph)
    rng = np.random.default_rng(0)
    with Project.open(path, write=True) as project:
        for k in range(60):
            right = "ab"[int(truth[k + 10])]
            wrong = "ba"["ab".index(right)]
            project.say("ann", f"i{k + 10}", "label", right)
            second = "bob" if k % 2 else "eve"
            project.say(second, f"i{k + 10}", "label", wrong if k % 2 == 0 and rng.random() < careless else right)
    return truth


def test_a_careless_person_counts_for_less_and_a_restart_changes_nothing(tmp_path):
    path = tmp_path / "p.ask"
    make_crowd(path)
    with Project.open(path, write=True) as project:
        people = {row["who"]: row["errs"] for row in report.care(project)}
        assert people["eve"] > 0.3 > 0.1 > max(people["ann"], people["bob"])
        _ = project.learner
        project.say("eve", "i1", "label", "a")
        project.say("ann", "i2", "label", "a")
        noise = {x.node: x.noise for x in project.learner.field.observations}
        assert noise[1] > 0 == noise[2]
        agreed = [k for k, given in project.answers.given().items() if len(given) > 1 and len(set(given.values())) == 1]
        assert {noise[k] for k in agreed} == {0.0}
        before = project.predictions().probabilities
    with Project.open(path) as project:
        np.testing.assert_allclose(project.predictions().probabilities, before, atol=1e-9)


def test_one_person_alone_has_no_label_noise(tmp_path):
    path = make(tmp_path / "p.ask", classes=["a", "b"])
    say(path, ("i0", "a"), ("i1", "b"), ("i9", "b"))
    with Project.open(path) as project:
        assert {x.noise for x in project.learner.field.observations} == {0.0}


def test_a_person_alone_who_errs_shows_in_what_labels_say_of_each_other(tmp_path):
    graph, truth = ag.communities((50,) * 6, mean_degree=8, rng=1)
    path, rng = make(tmp_path / "p.ask", 300, classes=list("abcdef"), graph=graph), np.random.default_rng(1)
    with Project.open(path, write=True) as project:
        for k in range(0, 300, 3):
            off = rng.integers(1, 6) if rng.random() < 0.3 else 0
            project.say("ann", f"i{k}", "label", "abcdef"[int(truth[k] + off) % 6])
        assert project.learner.field.noise > 0
        assert any("of the answers look wrong" in sentence for sentence in project.learner.judge.advice())
        before = project.predictions().probabilities
    with Project.open(path) as project:
        np.testing.assert_allclose(project.predictions().probabilities, before, atol=1e-9)


def test_one_queue_of_what_is_worth_a_second_look(tmp_path):
    path = make(tmp_path / "p.ask", 30, classes=["a", "b"], graph=ag.communities((15, 15), rng=0)[0])
    say(path, *((f"i{k}", "a") for k in range(6)), *((f"i{k}", "b") for k in range(15, 21)))
    say(path, ("i3", "b"), ("i7", "b"), who="bob")
    with Project.open(path, write=True) as project:
        project.say("ann", "i8", "cannot")

        def queue():
            suspects = [{"item": "i7", "instead": "a"}]
            return {one["item"]: one["why"] for one in report.review(project, suspects, [8, 25, 3])["queue"]}

        assert queue() == {"i3": "disagree", "i7": "suspect", "i8": "cannot", "i25": "unsure"}
        project.say("cy", "i3", "label", "a", how="review")
        project.say("bob", "i7", "label", "b", how="review")  # seen again, and kept
        project.say("cy", "i8", "cannot", how="review")
        project.say("cy", "i25", "label", "b")
        assert queue() == {}
        project.undo("cy")
        project.undo("cy")
        assert queue() == {"i8": "cannot", "i25": "unsure"}


@pytest.mark.slow
def test_the_commands_people_and_review(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*words):
        done = CliRunner().invoke(app, list(words), catch_exceptions=False, env={"COLUMNS": "200"})
        assert done.exit_code == 0, done.output
        return done.stdout

    make("p.ask", classes=["a", "b"])
    assert "nobody has answered yet" in run("people")
    say("p.ask", ("i0", "a"))
    assert "no item was labeled by two people" in run("people")
    (tmp_path / "p.ask").unlink()
    make_crowd(tmp_path / "p.ask")
    told = run("people")
    assert "Krippendorff's alpha 0." in told
    assert "ann and eve" in told
    found = json.loads(run("people", "--json"))
    kappas = {tuple(one["people"]): one["kappa"]["value"] for one in found["agreement"]["pairs"]}
    assert kappas["ann", "bob"] == 1 > kappas["ann", "eve"]
    assert "people disagree" in run("review", "-n", "3")
    assert json.loads(run("review", "--json"))["items"][0]["why"] == "disagree"


def test_a_given_label_stays_where_the_model_thinks_another_one_likelier(tmp_path):
    path = tmp_path / "p.ask"
    make_crowd(path)
    with Project.open(path) as project:
        found, labels = project.predictions(), project.answers.labels
        likeliest = found.probabilities.argmax(axis=1)
        doubted = [item for item, label in labels.items() if found.classes[likeliest[item]] != label]
        assert doubted
        assert all(found.labels[item] == label for item, label in labels.items())
        rows = {row["id"]: row for row in prediction_rows(project)}
        for item in doubted[:3]:
            (center,) = [node for node in report.explain(project, item)["nodes"] if node["center"]]
            assert center["predicted"] == rows[f"i{item}"]["label"] == labels[item]
            assert rows[f"i{item}"]["probability"] == pytest.approx(center["p"], abs=1e-4)
