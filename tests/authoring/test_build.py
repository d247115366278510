"""The build is strict, and what is committed is what it gives."""

from dataclasses import replace

import nbformat
import pytest
import torch

from autograder.authoring import notebook, references, release, solutions
from autograder.authoring.course import products, refuse_wrong_scores
from autograder.errors import CourseError
from autograder.oracle import cases
from autograder.oracle.specification import Specification
from autograder.oracle.variants import run_source
from autograder.student import references as store
from tests.authoring.tiny import GOOD, tiny
from tests.conftest import by_cost


def refused(tmp_path, old: str, new: str) -> str:
    assert GOOD.count(old) >= 1
    with pytest.raises(CourseError) as caught:
        notebook.read(tiny(tmp_path, GOOD.replace(old, new)))
    return str(caught.value)


def test_a_good_notebook_becomes_a_valid_source(tmp_path):
    unit = tiny(tmp_path)
    cells = notebook.read(unit)
    source = nbformat.reads(notebook.to_source(unit, cells), as_version=4)
    graded = [c.metadata.nbgrader for c in source.cells if "nbgrader" in c.metadata]
    ids = [c.grade_id for c in graded]
    assert ids == ["tiny-double-answer", "tiny-double", "tiny-why"]
    assert sum(c.get("points", 0) for c in graded) == 100
    assert not any("jupytext" in str(c.metadata) for c in source.cells)
    (check,) = (c for c in source.cells if c.source.startswith("check("))
    assert check.source.splitlines()[1:] == [
        "### BEGIN HIDDEN TESTS",
        'check.hidden("tiny/double", double)',
        "### END HIDDEN TESTS",
    ]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('exercise="tiny/double"', "exercise=tiny/double", ":9: cannot read"),
        ('exercise="tiny/double"', 'exercize="tiny/double"', ":9: cannot read"),
        ('exercise="tiny/double"', 'exercise="other/double"', ':9: "other/double"'),
        ("points=95", "points='many'", ":17: points must be a number"),
        ("points=95", "", ":17: points belong"),
        ("points=95", "points=90", ":1: points sum to 95"),
        ("    ### END SOLUTION\n", "", ":9: ### BEGIN SOLUTION"),
        ("    ### BEGIN SOLUTION\n", "", ":9: ### BEGIN SOLUTION"),
        ('check("tiny/double", double)', "assert double(1) == 2", ":17: a check"),
        ('check("tiny/double", double)', "check(double)", ":17: a check cell"),
        (
            'check("tiny/double", double)\n',
            'check("tiny/double", double)\nprint(double)\n',
            ":17: a check cell",
        ),
        (
            'check("tiny/double", double)\n',
            'check("tiny/double", double)\n### BEGIN HIDDEN TESTS\n',
            "the build adds the hidden part",
        ),
        ('written="tiny/why"', 'written="tiny/double"', "used twice"),
        ("# %% [markdown]\n", "lost = 1\n\n# %% [markdown]\n", ":1: text before"),
        ('check="tiny/double"', 'check="tiny/treble"', ":17: a check cell"),
    ],
)
def test_faults_are_refused_with_file_and_line(tmp_path, old, new, says):
    text = refused(tmp_path, old, new)
    assert text.startswith("99_tiny.py:") and says in text


def test_an_exercise_without_check_is_refused(tmp_path):
    with pytest.raises(CourseError, match="lacks its other half"):
        text = GOOD.replace("double", "lone")
        body = text[text.index("# %% exercise") : text.index("# %% check")]
        notebook.read(tiny(tmp_path, GOOD + body))


def test_an_exercise_without_cases_is_refused(tmp_path, monkeypatch):
    unit = tiny(tmp_path)
    monkeypatch.setattr(references, "specifications", lambda name: ())
    with pytest.raises(CourseError, match=r"99_tiny.py:17: tiny/double has no cases"):
        references.build(unit, notebook.read(unit))


def test_the_release_has_neither_solutions_nor_hidden_tests(tmp_path):
    unit = tiny(tmp_path)
    cells = notebook.read(unit)
    released = release.generate(unit, notebook.to_source(unit, cells))
    release.refuse_leaks(cells, released)
    assert "raise NotImplementedError" in released
    assert "hidden" not in released and "fsum" not in released


def test_a_solution_that_leaks_into_prose_is_refused(tmp_path):
    leak = "# # 9 · Tiny\n#\n# Try `doubled_number = math.fsum([x, x])`.\n"
    unit = tiny(tmp_path, GOOD.replace("# # 9 · Tiny\n", leak))
    cells = notebook.read(unit)
    released = release.generate(unit, notebook.to_source(unit, cells))
    with pytest.raises(CourseError, match=r"99_tiny.py:11: the release shows"):
        release.refuse_leaks(cells, released)


def test_the_module_of_solutions_keeps_needed_imports_only(tmp_path):
    code = solutions.module_text("99_tiny", notebook.read(tiny(tmp_path)))
    assert "import math" in code and "matplotlib" not in code and "###" not in code
    assert run_source(code, {}, "<tiny>")["double"](4) == 8


STUB = "def double(x):\n    raise NotImplementedError"


def drawn(specification: Specification) -> list:
    return [cases.exercise(specification, 10.0, "public", hidden=False)]


def test_a_blank_release_that_scores_is_refused(tiny_exercise):
    refuse_wrong_scores(tiny_exercise, drawn(tiny_exercise), STUB)
    with pytest.raises(CourseError, match="blank release scores 10 points"):
        refuse_wrong_scores(
            tiny_exercise, drawn(tiny_exercise), "def double(x):\n    return x+x"
        )


def test_a_solution_that_misses_a_point_is_refused(tiny_exercise):
    exercise = drawn(tiny_exercise)[0]
    spoilt = replace(exercise.cases[0], expected={"twice": torch.ones(3)})
    with pytest.raises(CourseError, match="does not score all points"):
        refuse_wrong_scores(tiny_exercise, [replace(exercise, cases=(spoilt,))], STUB)


@pytest.mark.parametrize("unit", by_cost())
def test_what_is_committed_is_what_the_build_gives(unit):
    for path, data in products(unit).items():
        data = data.encode() if isinstance(data, str) else data
        assert path.read_bytes() == data, f"{path.name} is stale; run `make build`"


def test_a_build_that_differs_in_last_digits_keeps_the_committed_file(tiny_exercise):
    exercise = drawn(tiny_exercise)[0]
    case = exercise.cases[0]
    nudged = {m: {n: v + 1e-7 for n, v in a.items()} for m, a in case.mistakes.items()}
    kept = {exercise.name: exercise}
    again = replace(exercise, cases=(replace(case, mistakes=nudged),))
    assert references.equivalent(kept, [again])
    changed = replace(case, expected={"twice": case.expected["twice"] + 1})
    assert not references.equivalent(kept, [replace(exercise, cases=(changed,))])
    assert not references.equivalent({}, [exercise])


def test_references_are_the_same_after_packing_and_reading(tiny_exercise, tmp_path):
    exercise = drawn(tiny_exercise)[0]
    path = tmp_path / "tiny.safetensors"
    path.write_bytes(store.pack([exercise]))
    assert references.equivalent(store.read(path), [exercise])
    assert store.pack(store.read(path).values()) == path.read_bytes()
    assert store.read(path, "tiny/other") == {}
