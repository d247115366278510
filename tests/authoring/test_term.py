"""A new term: other hidden references, the same course, the old results kept."""

import datetime

import pytest

from autograder.authoring import reference_files, references, term
from autograder.authoring.cases import drawings
from autograder.authoring.catalogue import specification, specifications
from autograder.authoring.notebook import read
from autograder.authoring.specification import Specification
from autograder.authoring.verify import Validity
from autograder.checks import references as store
from autograder.course import find_unit, units
from autograder.course.errors import CourseError
from tests.clone import checkout, run

TODAY = datetime.date(2027, 4, 1)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where hidden references are written; empty at first."""
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    monkeypatch.setattr(reference_files, "REFERENCES", tmp_path)
    monkeypatch.setattr(reference_files, "SEEDS", tmp_path / "hidden" / "seeds.json")
    return tmp_path


@pytest.fixture
def one_exercise(monkeypatch):
    """A unit of one: how it is drawn again and again, more would only repeat."""
    exercises = [specification("attention/by_hand")]
    names = {exercise.name for exercise in exercises}

    def cells(unit):
        return [c for c in read(unit) if c.role != "check" or c.name in names]

    monkeypatch.setattr(references, "specifications", lambda unit: exercises)
    monkeypatch.setattr(term, "read", cells)


@pytest.fixture
def verdicts(monkeypatch):
    """What is found of one drawing after the other, instead of running mutants."""
    validities: list[list[Validity]] = []
    monkeypatch.setattr(
        term,
        "measure",
        lambda exercises, drawings: validities.pop(0) if validities else [],
    )
    return validities


def test_new_seeds_change_the_hidden_inputs_and_nothing_else(
    folder, verdicts, one_exercise
):
    unit = find_unit("attention")
    before = references.build(unit, term.read(unit))
    file = reference_files.path(unit, "hidden")
    assert term.renew([unit]) == [file, file.with_suffix(".json")]
    after = references.build(unit, term.read(unit))
    assert not references.difference(
        {e.name: e for e in before["public"]}, after["public"]
    )
    stored = store.read(reference_files.path(unit, "hidden"))
    assert not references.difference(stored, after["hidden"]), "a build draws the same"
    for old, new in zip(before["hidden"], after["hidden"], strict=True):
        assert [c.name for c in old.cases] == [c.name for c in new.cases]
        assert references.difference({old.name: old}, [new]), old.name


def test_each_exercise_has_other_inputs_by_another_seed():
    for exercise in specifications("attention"):
        first, repeated, different = (inputs_of(exercise, seed) for seed in "aab")
        assert first == repeated != different, exercise.name


def inputs_of(exercise: Specification, seed: str) -> str:
    return str([inputs for _, inputs in drawings(exercise, seed, hidden=True)])


BLIND = Validity("attention/softmax", 3, 2, failures=["wrong x gets full points\n..."])
UNNAMED = Validity("attention/softmax", 3, 3, 2, failures=["wrong x is named None"])


@pytest.mark.slow
def test_a_drawing_that_lets_a_mistake_pass_is_drawn_again(
    folder, verdicts, one_exercise
):
    verdicts += [[BLIND], [UNNAMED]]
    term.renew([find_unit("attention")])
    assert not verdicts and len(reference_files.seeds()["attention"]) == 32
    old = reference_files.seeds()
    term.renew([find_unit("attention")])
    assert (
        reference_files.seeds() != old and reference_files.seeds().keys() == old.keys()
    )


def test_if_none_convinces_nothing_is_changed(folder, verdicts, one_exercise):
    verdicts += [[BLIND]] * term.TRIES
    with pytest.raises(CourseError, match=r"softmax: wrong x gets full points, in"):
        term.renew([find_unit("attention")])
    assert not list(folder.iterdir())


def test_results_are_moved_never_over_others(tmp_path):
    assert term.put_away(tmp_path, TODAY) is None
    for turn in ("", "-2"):
        (tmp_path / "submitted" / "ada").mkdir(parents=True)
        (tmp_path / "gradebook.db").write_text(turn)
        assert (
            term.put_away(tmp_path, TODAY) == tmp_path / "terms" / f"2027-04-01{turn}"
        )
        assert [p.name for p in tmp_path.iterdir()] == ["terms"]
    archive = tmp_path / "terms" / "2027-04-01"
    assert (archive / "gradebook.db").read_text() == "" and (
        archive / "submitted/ada"
    ).is_dir()


@pytest.mark.long
@pytest.mark.slow
def test_the_command_on_a_clean_clone(tmp_path):
    clone = checkout(tmp_path / "clone")
    (clone / "gradebook.db").write_text("grades")

    def files(kind: str) -> dict[str, bytes]:
        folder = clone / "transformer_course" / "references" / kind
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    for text in (clone / "notebooks").glob("0[3-9]_*.py"):
        text.unlink()  # a course of two units, to save minutes
    public, hidden = files("public"), files("hidden")
    out = run(clone, "autograder", "new-term")
    new = files("hidden")
    for unit in units()[:2]:
        assert f"new: transformer_course/references/hidden/{unit.name}" in out
        name = f"{unit.name}.safetensors"
        assert new[name] != hidden[name]
    assert files("public") == public
    assert next((clone / "terms").glob("*/gradebook.db")).read_text() == "grades"
    # new-term has tried all mutants of both units: here, what it has written is read.
    run(clone, "autograder", "validity", "--exercise", "attention/softmax")
    tests = "tests/authoring/test_course.py -k what_is_committed"
    run(clone, *f"pytest -q -p no:cacheprovider {tests}".split())
