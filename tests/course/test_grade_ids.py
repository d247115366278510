"""An exercise and its cells are known by each other's names."""

import nbformat

from autograder.course import grade_ids, units


def test_the_cells_of_an_exercise_lead_back_to_it():
    for exercise in ("attention/cross_attention", "encoder_decoder/bug_clinic"):
        check, answer = grade_ids.of_check(exercise), grade_ids.of_answer(exercise)
        assert check != answer
        for grade_id in (check, answer):
            assert grade_ids.check_of(grade_id) == check
        assert grade_ids.exercise_of(check) == exercise


def test_each_check_of_the_course_has_its_answer_above_it():
    for unit in units():
        notebook = nbformat.read(unit.source, as_version=4)
        marks = [
            c.metadata.nbgrader for c in notebook.cells if "nbgrader" in c.metadata
        ]
        above: set[str] = set()
        for mark in marks:
            if mark.locked:
                exercise = grade_ids.exercise_of(mark.grade_id)
                assert exercise.startswith(f"{unit.name}/")
                assert grade_ids.of_answer(exercise) in above
            above.add(mark.grade_id)
