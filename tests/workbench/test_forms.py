"""Answers of every kind are read as they were written, checked by the library's rules, and decided among several people."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import askgraph as ag
from askgraph.errors import LabelError, SettingError
from askgraph.workbench.forms import as_json, form_of, from_row, in_words, renamed, to_row

CLASSES = ["bad", "fair", "good", "Ärger", "a b", "=1"]
ONE_OF = st.lists(st.sampled_from(CLASSES), min_size=2, unique=True).map(lambda names: ag.one_of(*names))
SETS = st.lists(st.sampled_from(CLASSES), unique=True).map(lambda names: tuple(sorted(names)))
NUMBERS = st.floats(-1e100, 1e100, allow_nan=False)
ANSWERS = {
    "classes": st.sampled_from(CLASSES) | ONE_OF,
    "ordered": st.sampled_from(CLASSES) | ONE_OF,
    "several": SETS,
    "numbers": NUMBERS,
}
KINDS = st.sampled_from(list(ANSWERS)).flatmap(lambda name: st.tuples(st.just(name), ANSWERS[name]))


@given(KINDS)
def test_a_cell_json_and_a_line_of_the_log_say_the_answer_that_was_written(both):
    name, answer = both
    form = form_of(name)
    assert form.read(form.write(answer), CLASSES) == answer
    assert form.check(json.loads(json.dumps(as_json(answer))), CLASSES) == answer
    assert form.check(answer, CLASSES) == answer
    assert from_row(*to_row(answer)) == answer


@given(KINDS)
def test_an_empty_cell_is_no_answer_and_none_of_the_classes_is_one(both):
    form = form_of(both[0])
    assert [form.read(cell, CLASSES) for cell in (None, "", "  ")] == [None, None, None]
    assert form_of("several").read("(none)", CLASSES) == ()
    assert form_of("several").read([], CLASSES) == ()


@pytest.mark.parametrize(
    ("kind", "said", "sentence"),
    [
        ("classes", 3.5, "is not a class"),
        ("classes", ["bad"], "is not a class"),
        ("classes", {"bad": 0.5, "good": 0.5}, "no shares"),
        ("classes", {"one of": ["bad"]}, "two or more"),
        ("classes", {"one of": ["bad", "worse"]}, "no class 'worse' yet"),
        ("classes", {"one of": "bad"}, "two or more"),
        ("classes", "", "1 to 200"),
        ("ordered", "great", "'great' is no step"),
        ("ordered", {"one of": ["bad", "great"]}, "'great' is no step"),
        ("ordered", 2.0, "is not a class"),
        ("several", "bad|good", "no '|'"),
        ("several", ["[x"], "begin with '['"),
        ("several", ["(none)"], "is not"),
        ("several", [3], "give its name"),
        ("several", 3.0, "no list of classes"),
        ("several", {"one of": ["bad", "good"]}, "those of the classes"),
        ("several", math.nan, "not an answer"),
        ("numbers", "3.5 apples", "such as 3.5"),
        ("numbers", True, "not a number"),
        ("numbers", "NaN", "such as 3.5"),
        ("numbers", math.nan, "not a number"),
        ("numbers", math.inf, "too large"),
        ("numbers", [1.0], "not a number"),
    ],
)
def test_what_is_no_answer_of_a_kind_is_refused_in_a_sentence(kind, said, sentence):
    with pytest.raises(LabelError, match=sentence.replace("|", r"\|").replace("[", r"\[").replace("(", r"\(")):
        form_of(kind).check(said, CLASSES)


def test_numbers_read_by_logarithms_are_above_0():
    with pytest.raises(LabelError, match="not above 0"):
        form_of(ag.Numbers(link="log")).check(-1.0, [])


@pytest.mark.parametrize("unit", ["5", ".", ",5", "e5", "a\nb", " EUR", "x" * 41])
def test_a_unit_is_a_short_line_that_no_number_ends_with(unit):
    with pytest.raises(SettingError, match="unit="):
        form_of(ag.Numbers(unit=unit)).declare([])


@pytest.mark.parametrize("unit", ["EUR", "%", "m2", "€ / m²", "E", "-"])
def test_a_unit_may_be_any_other_text(unit):
    form = form_of(ag.Numbers(unit=unit))
    assert form.declare([]) == []
    assert form.read(f"15 {unit}", ()) == form.read("15", ()) == 15.0


def test_a_unit_may_stand_behind_a_number():
    form = form_of(ag.Numbers(unit="EUR"))
    assert form.read("310 EUR", ()) == form.read(" 310", ()) == 310.0
    assert form.text(310.0) == "310 EUR"
    with pytest.raises(LabelError, match=r"such as 12\.5"):
        form.read("12,5", ())


@pytest.mark.parametrize(
    ("kind", "newest_first", "decided"),
    [
        ("classes", ["good", "bad", "bad"], "bad"),
        ("classes", ["good", "bad"], "good"),
        ("classes", [ag.one_of("bad", "good"), ag.one_of("bad", "good"), "fair"], "fair"),
        ("classes", [ag.one_of("bad", "good")], ag.one_of("bad", "good")),
        ("ordered", ["good", "good", "bad", "bad", "fair"], "fair"),
        ("ordered", ["good", "bad"], "good"),
        ("ordered", ["bad", "good", ag.one_of("fair", "good")], "bad"),
        ("several", [("bad", "fair"), ("fair",), ("fair", "good")], ("fair",)),
        ("several", [("bad",), ("good",)], ("bad",)),
        ("several", [(), ("good",), ()], ()),
        ("numbers", [1.0, 100.0, 2.0], 2.0),
        ("numbers", [1.0, 2.0], 1.5),
    ],
)
def test_answers_of_several_people_make_one(kind, newest_first, decided):
    assert form_of(kind).decide(newest_first, CLASSES) == decided


def test_how_far_people_differ_by_the_distance_of_the_kind():
    unsure = [ag.one_of("bad", "good"), "bad"]
    said, scale = {1: ["bad", "good"], 2: ["bad", "bad", "good"], 3: ["bad", "bad"], 4: unsure}, CLASSES[:3]
    assert form_of("classes").splits(said, CLASSES) == {1: 1.0, 2: pytest.approx(2 / 3)}
    steps = {1: ["bad", "good"], 2: ["bad", "fair"], 3: ["bad", "bad", "good"], 4: unsure}
    assert form_of("ordered").splits(steps, scale) == {1: 1.0, 2: 0.5, 3: pytest.approx(2 / 3)}
    sets = {1: [("bad",), ()], 2: [("bad", "good"), ("bad",), ("bad",)], 3: [(), ()]}
    assert form_of("several").splits(sets, CLASSES) == {1: 1.0, 2: pytest.approx(1 / 3)}
    near = {k: [10.0 * k, 10.0 * k + 1] for k in range(9)}
    numbers = form_of("numbers").splits({**near, 9: [5.0, 50.0], 10: [5.0, 5.0, 95.0]}, ())
    assert numbers == {9: 0.5, 10: 1.0}
    assert form_of("numbers").splits({}, ()) == {}


def test_classes_that_come_to_be_one_are_named_once():
    merged = {"bad": "poor", "fair": "poor", "good": "good"}.get
    assert renamed(("bad", "fair"), merged) == ("poor",)
    assert renamed(ag.one_of("bad", "fair"), merged) == "poor"
    assert renamed(ag.one_of("bad", "good"), merged) == ag.one_of("poor", "good")
    assert renamed(2.5, merged) == 2.5


def test_what_a_project_is_made_with_is_checked_by_its_kind():
    with pytest.raises(SettingError, match="lowest first"):
        form_of("ordered").declare(["only"])
    with pytest.raises(SettingError, match="have no classes"):
        form_of("numbers").declare(["a"])
    with pytest.raises(LabelError, match=r"no '\|'"):
        form_of("several").declare(["a|b"])
    assert form_of(ag.Ordered(["low", "high"])).declare([]) == ["low", "high"]


@given(KINDS)
def test_every_answer_has_words(both):
    name, answer = both
    assert form_of(name).text(answer)
    assert in_words(as_json(answer))
