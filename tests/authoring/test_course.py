"""What is built scores as it should, and is what is committed."""

import shutil
from dataclasses import replace

import pytest
import torch

from autograder.authoring import references
from autograder.authoring.course import is_built, products, refuse_wrong_scores
from autograder.course import units
from autograder.course.errors import CourseError
from autograder.oracle import cases
from autograder.oracle.specification import Specification
from autograder.student.exercise import Exercise
from tests.conftest import by_cost

STUB = "def double(x):\n    raise NotImplementedError"


def drawn(specification: Specification) -> list[Exercise]:
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


def test_a_unit_is_built_once_its_products_say_what_its_notebook_says(
    tmp_path, monkeypatch
):
    unit = units()[0]
    assert is_built(unit)
    with monkeypatch.context() as patch:
        patch.setattr(references, "path", lambda unit, kind: tmp_path / kind)
        assert not is_built(unit)
    for folder in ("notebooks", "source", "release"):
        shutil.copytree(unit.root / folder, tmp_path / folder)
    shutil.copy(unit.root / "pyproject.toml", tmp_path)
    other = replace(unit, root=tmp_path)
    assert is_built(other)
    other.text.write_text(other.text.read_text() + "\n# %% [markdown]\n# More.\n")
    assert not is_built(other)
