"""Cases hold right and wrong answers; hidden ones know what no visible one can."""

from autograder.oracle import cases


def test_a_drawing_holds_the_answers_of_solution_and_mutants(tiny_exercise):
    made = cases.exercise(tiny_exercise, 10.0, "public", hidden=False)
    (case,) = made.cases
    assert case.expected["twice"].equal(2 * case.inputs["x"])
    assert case.mistakes["tripled"]["twice"].equal(3 * case.inputs["x"])
    assert made.mistakes["tripled"].says == "You tripled." and made.points == 10.0


def test_a_hidden_drawing_leaves_mistakes_to_the_visible_cases(tiny_exercise):
    (case,) = cases.exercise(tiny_exercise, 10.0, "hidden", hidden=True).cases
    assert case.hidden and not case.mistakes


def test_fresh_cases_differ_by_seed(tiny_exercise):
    first, again, other = (cases.fresh_cases(tiny_exercise, seed) for seed in "aab")
    assert first[0].inputs["x"].equal(again[0].inputs["x"])
    assert not first[0].inputs["x"].equal(other[0].inputs["x"])


def test_an_exercise_builds_on_those_whose_objects_its_solution_uses(tiny_exercise):
    assert cases.builds_on(tiny_exercise, [tiny_exercise]) == ()
