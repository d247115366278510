"""References are drawn for every check, and kept while they say the same."""

from dataclasses import replace

import pytest

from autograder.authoring import notebook, references
from autograder.course.errors import CourseError
from autograder.oracle import cases
from tests.tiny_course import as_text


def test_an_exercise_without_cases_is_refused(tmp_path, monkeypatch):
    unit = as_text(tmp_path)
    monkeypatch.setattr(references, "specifications", lambda name: ())
    with pytest.raises(CourseError, match=r"99_tiny.py:17: tiny/double has no cases"):
        references.build(unit, notebook.read(unit))


def test_a_build_that_differs_in_last_digits_keeps_the_committed_file(tiny_exercise):
    exercise = cases.exercise(tiny_exercise, 10.0, "public", hidden=False)
    case = exercise.cases[0]
    nudged = {m: {n: v + 1e-7 for n, v in a.items()} for m, a in case.mistakes.items()}
    kept = {exercise.name: exercise}
    again = replace(exercise, cases=(replace(case, mistakes=nudged),))
    assert references.equivalent(kept, [again])
    changed = replace(case, expected={"twice": case.expected["twice"] + 1})
    assert not references.equivalent(kept, [replace(exercise, cases=(changed,))])
    assert not references.equivalent({}, [exercise])
