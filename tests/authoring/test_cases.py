"""Cases hold right and wrong answers; hidden ones know what no visible one can."""

from dataclasses import replace

import pytest

from autograder.authoring import cases
from autograder.authoring.catalogue import specification, specifications
from autograder.authoring.points_by_aspect import answer_aspects
from autograder.checks.probes import probe
from autograder.course.errors import CourseError


def test_a_drawing_holds_the_answers_of_solution_and_mutants(tiny_exercise):
    exercise = cases.exercise(tiny_exercise, 10.0, "public", hidden=False)
    (case,) = exercise.cases
    assert case.expected["twice"].equal(2 * case.inputs["x"])
    assert case.mistakes["tripled"]["twice"].equal(3 * case.inputs["x"])
    assert (
        exercise.mistakes["tripled"].says == "You tripled." and exercise.points == 10.0
    )


def test_a_hidden_drawing_leaves_mistakes_to_the_visible_cases(tiny_exercise):
    (case,) = cases.exercise(tiny_exercise, 10.0, "hidden", hidden=True).cases
    assert case.hidden and not case.mistakes


def test_fresh_cases_differ_by_seed(tiny_exercise):
    first, repeated, different = (
        cases.fresh_cases(tiny_exercise, seed) for seed in "aab"
    )
    assert first[0].inputs["x"].equal(repeated[0].inputs["x"])
    assert not first[0].inputs["x"].equal(different[0].inputs["x"])


def test_an_exercise_builds_on_those_whose_objects_its_solution_uses(tiny_exercise):
    assert cases.builds_on(tiny_exercise, [tiny_exercise]) == ()


def test_it_builds_on_them_through_code_that_the_notebook_gives():
    name = "since_2017/language_model"
    unit = specifications("since_2017")
    foundations = cases.builds_on(specification(name), unit)
    assert {"since_2017/attention_layer", "since_2017/swiglu"} <= set(foundations)
    assert name not in foundations


def _reporting(**declared):
    """Have the tiny exercise's probe report two more names, declared so."""

    @probe("tiny/double", **declared)
    def double(function, inputs):
        x = inputs["x"]
        return {"twice": function(x), "half": x / 2, "gradients are recorded": "False"}


DECLARED = {"results": "twice", "learning": "gradients are recorded"}


def test_answers_count_for_what_their_probe_declares(tiny_exercise):
    _reporting(**DECLARED, parts={"halves": "half"})
    task = replace(tiny_exercise, parts="halves")
    (case,) = cases.fresh_cases(task, "a")
    assert case.aspects == {"half": "halves", "gradients are recorded": "learning"}
    assert [case.aspect_of(n) for n in ("twice", "half")] == ["values", "halves"]


@pytest.mark.parametrize(
    ("changed", "aspects"),
    [
        ({"aspect": "mode"}, {}),
        ({"says": "Wrong {label}."}, {}),
        ({"undivided": True}, {"gradients are recorded": "learning"}),
        ({"aspect": "masks"}, {"gradients are recorded": "learning"}),
    ],
)
def test_some_cases_have_no_parts_or_count_as_a_whole(tiny_exercise, changed, aspects):
    _reporting(**DECLARED, parts={"halves": "half"})
    (kind,) = tiny_exercise.cases
    task = replace(tiny_exercise, parts="halves", cases=[replace(kind, **changed)])
    (case,) = cases.fresh_cases(task, "a")
    assert case.aspects == aspects


def test_a_result_with_a_weight_of_its_own_counts_for_itself():
    attention = specification("attention/scaled_dot_product")
    counted = answer_aspects(attention, attention.cases[0], ["output", "weights"])
    assert counted == {"weights": "weights"}


def test_an_answer_that_no_probe_declares_is_refused_by_its_name(tiny_exercise):
    _reporting(results="twice; half")
    message = "^tiny/double: 'gradients are recorded' is declared for no aspect"
    with pytest.raises(CourseError, match=message):
        cases.exercise(tiny_exercise, 10.0, "public", hidden=False)


def test_a_part_that_the_specification_does_not_name_is_refused(tiny_exercise):
    _reporting(**DECLARED, parts={"halves": "half"})
    with pytest.raises(CourseError, match="declares 'half' as part 'halves'; name"):
        cases.fresh_cases(tiny_exercise, "a")
