"""What grading keeps in a notebook has one reader, whatever version wrote it."""

import json
from dataclasses import fields, replace

import nbformat
import pytest

from autograder.course.errors import CourseError
from autograder.grading.intake import Repair
from autograder.grading.judge.verdict import CaseVerdict, Verdict
from autograder.grading.metadata import GradingMetadata, read
from autograder.sandbox.ending import EndReason

RECORD = Verdict(
    "n/double", 1.0, 2.0, "tripled", cases=(CaseVerdict("a", "a vector", "", True),)
)

WHOLE = GradingMetadata(
    {"n-double": replace(RECORD, ended=EndReason.MEMORY)},
    {"level": "landlock", "grouped": False},
    2.5,
    "d1",
    {"n-double": 1.0, "n-why": None},
    "it is empty",
    (Repair("name", "It was renamed."),),
    "2026-11-01 12:00:00",
    "ada/01/numbers",
    {"time": "2026-11-01 12:05:00 UTC", "Python": "3.12.1"},
)


@pytest.fixture
def path(tmp_path):
    folder = tmp_path / "autograded" / "ada" / "01_numbers"
    folder.mkdir(parents=True)
    return folder / "01_numbers.ipynb"


def test_all_comes_back_as_it_was_put(path):
    notebook = nbformat.v4.new_notebook()
    WHOLE.store_in(notebook)
    path.write_text(nbformat.v4.writes(notebook))
    assert GradingMetadata.of(read(path)) == WHOLE == GradingMetadata.of(notebook)
    for field in fields(WHOLE):
        assert getattr(WHOLE, field.name) != getattr(GradingMetadata(), field.name)


def test_a_notebook_in_which_nothing_is_kept_is_known_as_that(path):
    path.write_text('{"metadata": {}}')
    assert GradingMetadata.of(read(path)) == GradingMetadata()


def test_what_an_earlier_version_wrote_is_read(path):
    """Without what came later: why answers are missing, identities, seconds."""
    old = {"exercise": "n/double", "points": 1.0, "max_points": 2.0, "cases": []}
    metadata = {"checks": {"n-double": old}, "repairs": [{"kind": "k", "says": "s"}]}
    path.write_text(json.dumps({"metadata": {"autograder": metadata}}))
    assert GradingMetadata.of(read(path)) == GradingMetadata(
        {"n-double": Verdict("n/double", 1.0, 2.0)}, repairs=(Repair("k", "s"),)
    )


def test_what_is_put_takes_the_place_of_what_was(path):
    notebook = nbformat.v4.new_notebook()
    WHOLE.store_in(notebook)
    replace(GradingMetadata.of(notebook), sandbox=None, checks={}).store_in(notebook)
    metadata = GradingMetadata.of(notebook)
    assert (
        metadata.sandbox is None
        and not metadata.checks
        and metadata.digest == WHOLE.digest
    )


@pytest.mark.parametrize("text", ["", "no JSON", "{}", None])
def test_what_cannot_be_read_says_how_to_grade_it_again(path, text):
    if text is not None:
        path.write_text(text)
    with pytest.raises(CourseError) as error:
        read(path)
    assert "nbgrader autograde 01_numbers --student=ada --force" in str(error.value)


@pytest.mark.parametrize(
    ("sandbox", "level"),
    [
        ({"level": "namespaces", "grouped": True}, "namespaces"),
        ({"level": "landlock"}, "landlock"),  # noted before groups were
        ({"level": "landlock", "grouped": False}, "landlock, no control group"),
        ({"level": "none", "grouped": False}, "none"),
    ],
)
def test_the_level_of_a_sandbox_says_whether_the_kernel_counted(sandbox, level):
    assert GradingMetadata(sandbox=sandbox).isolation == level
    assert GradingMetadata(sandbox=sandbox).is_grouped == (
        level != "landlock, no control group"
    )
    assert GradingMetadata().isolation == "" and GradingMetadata().is_grouped
