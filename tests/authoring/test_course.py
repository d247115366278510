"""What is built scores as it should, and is what is committed."""

import shutil
from dataclasses import replace

import pytest
import torch

from autograder.authoring import (
    cases,
    catalogue,
    course,
    last_build,
    notebook,
    redrawing,
    reference_files,
)
from autograder.authoring.catalogue import naming_file, specifications
from autograder.authoring.contract import Contract
from autograder.authoring.course import build, is_built, make_files
from autograder.authoring.references import difference
from autograder.authoring.specification import Specification
from autograder.authoring.variants import argument_names
from autograder.authoring.verify import refuse_wrong_scores
from autograder.checks.exercise import Exercise
from autograder.checks.references import TEXT, load, pack
from autograder.course import Unit, units
from autograder.course.errors import CourseError
from tests.authoring import touched
from tests.conftest import mostly_slow

STUB = "def double(x):\n    raise NotImplementedError"


def draw_exercise(specification: Specification) -> list[Exercise]:
    return [cases.exercise(specification, 10.0, "public", hidden=False)]


def test_a_blank_release_that_scores_is_refused(tiny_exercise):
    refuse_wrong_scores(tiny_exercise, draw_exercise(tiny_exercise), STUB)
    with pytest.raises(CourseError, match="blank release scores 10 points"):
        refuse_wrong_scores(
            tiny_exercise,
            draw_exercise(tiny_exercise),
            "def double(x):\n    return x+x",
        )


def test_a_solution_that_misses_a_point_is_refused(tiny_exercise):
    exercise = draw_exercise(tiny_exercise)[0]
    spoilt = replace(exercise.cases[0], expected={"twice": torch.ones(3)})
    with pytest.raises(CourseError, match="does not score all points"):
        refuse_wrong_scores(tiny_exercise, [replace(exercise, cases=(spoilt,))], STUB)


def test_a_contract_that_names_no_case_is_said_with_the_exercises_file(tiny_exercise):
    contract = Contract(arguments="x: B", results="twice: B", on=("heads",))
    broken = replace(tiny_exercise, contract=contract)
    with pytest.raises(CourseError) as refusal, naming_file(broken.name):
        draw_exercise(broken)
    assert str(refusal.value).startswith(
        f"transformer_course/{broken.name.replace('/', '/exercises/')}.py:1: the "
        'contract names the case "heads", which is not there; add it, or name another '
        "one ("
    )


def test_what_an_exercise_raises_is_one_line_with_its_file():
    with pytest.raises(CourseError) as refusal, naming_file("attention/softmax"):
        {}["heads"]
    assert str(refusal.value) == (
        "transformer_course/attention/exercises/softmax.py: KeyError: 'heads' "
        "(exercise attention/softmax)"
    )
    with pytest.raises(CourseError, match="plain"), naming_file("attention/softmax"):
        raise CourseError("plain")


def test_all_files_of_exercises_that_cannot_be_read_are_named(monkeypatch):
    monkeypatch.setattr(catalogue, "specification", refuse_exercise)
    with pytest.raises(CourseError) as refusal:
        specifications("assistant")
    assert str(refusal.value).splitlines() == [
        f"transformer_course/assistant/exercises/{name}.py:1: an exercise: broken"
        for name in (
            "accept_rule", "bug_clinic", "chat_example", "choice_scores", "dpo_loss",
            "group_advantages", "grpo_loss", "judge_guesses", "lora_linear",
            "quantize_per_channel", "top_passages",
        )
    ]  # fmt: skip


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_the_products_of_a_unit_say_what_its_notebook_says(unit):
    assert is_built(unit), "run `make build`"


# Any unit tells whether the engine draws and answers as it did: the others are slow,
# but for those of which a change touches an exercise.
OFTEN = mostly_slow([unit for unit in units() if touched.names(unit)], "02")


@pytest.mark.parametrize("unit", OFTEN)
def test_texts_and_right_answers_are_what_the_build_gives(unit):
    """All but what mutants answer, which takes long: the slow step builds it."""
    exercises = specifications(unit.name)
    for kind, seed in (("public", "public"), ("hidden", seed_of_hidden(unit))):
        stored = load(unit.name, kind)
        new = [right(e, stored[e.name], seed, kind == "hidden") for e in exercises]
        assert not difference(stored, new), f"{kind}; run `make build`"
        text = reference_files.path(unit, kind).with_suffix(TEXT).read_bytes()
        assert pack(new)[TEXT] == text, f"{kind}; run `make build`"


def right(task: Specification, stored: Exercise, seed: str, hidden: bool) -> Exercise:
    """An exercise as a seed draws it, with the mutants' answers that are stored."""
    stored_cases = {case.name: case for case in stored.cases}
    kinds = [k.name for k in cases.all_kinds(task) if hidden or not k.hidden_only]
    fresh = [case for case in cases.fresh_cases(task, seed) if case.name in kinds]
    answered_cases = []
    for case in fresh:
        answered = stored_cases.get(case.name, case)
        answered_cases.append(
            replace(
                case,
                hidden=hidden,
                mistakes=answered.mistakes,
                doubles=answered.doubles,
                tells=answered.tells,
            )
        )
    return replace(
        stored,
        cases=tuple(answered_cases),
        mistakes=cases.describe_mistakes(task),
        separate=task.separate,
        arguments=argument_names(task),
    )


def seed_of_hidden(unit: Unit) -> str:
    return reference_files.seeds().get(unit.name, "hidden")


@pytest.mark.parametrize("unit", mostly_slow())
def test_what_is_committed_is_what_the_build_gives(unit):
    assert is_built(unit), "run `make build`"
    files, reason = make_files(unit)
    assert not reason
    record = files.pop(last_build.record(unit))  # an edit of the engine changes it, too
    assert str(record).startswith(last_build.read(unit).source)
    for path, data in files.items():
        data = data.encode() if isinstance(data, str) else data
        # Compared first: pytest shows how megabytes differ for many minutes.
        is_fresh = path.read_bytes() == data
        assert is_fresh, f"{path.name} is stale; run `make build`"


def test_a_unit_is_built_once_its_products_say_what_its_notebook_says(
    tmp_path, monkeypatch
):
    unit = units()[0]
    assert is_built(unit)
    with monkeypatch.context() as patch:
        patch.setattr(reference_files, "path", lambda unit, kind: tmp_path / kind)
        assert not is_built(unit)
    for folder in ("notebooks", "source", "release"):
        shutil.copytree(unit.root / folder, tmp_path / folder)
    shutil.copy(unit.root / "course.toml", tmp_path)
    copied_unit = replace(unit, root=tmp_path)
    assert is_built(copied_unit)
    copied_unit.text.write_text(
        copied_unit.text.read_text() + "\n# %% [markdown]\n# More.\n"
    )
    assert not is_built(copied_unit)


def test_a_refused_build_names_all_faults_and_writes_nothing(monkeypatch):
    unit = units()[1]
    cells = notebook.read(unit)
    index = next(i for i, cell in enumerate(cells) if cell.role == "check")
    cells[index] = replace(cells[index], points=cells[index].points + 1)
    monkeypatch.setattr(notebook, "parse_leniently", lambda *arguments: cells)
    monkeypatch.setattr(redrawing, "redraw", refuse_exercise)
    source_before = unit.source.read_bytes()
    last = last_build.Build()
    monkeypatch.setattr(last_build, "read", lambda unit: last)
    with pytest.raises(CourseError) as refusal:
        build(unit)
    text = str(refusal.value)
    assert "points sum to 101" in text and cells[index].name in text
    assert text.endswith("an exercise: broken")
    assert unit.source.read_bytes() == source_before


def test_a_name_that_solutions_do_not_see_is_refused_with_its_line(monkeypatch):
    unit = units()[1]
    cells = notebook.read(unit)
    index = next(i for i, cell in enumerate(cells) if cell.role == "exercise")
    text = f"{cells[index].text}\nLIMIT = missing_import\n"
    cells[index] = replace(cells[index], text=text)
    monkeypatch.setattr(notebook, "parse_leniently", lambda *arguments: cells)
    with pytest.raises(CourseError) as refusal:
        make_files(unit)
    place = cells[index].locate(text.index("LIMIT"))
    assert f"{place}: NameError: name 'missing_import'" in str(refusal.value)


@pytest.mark.parametrize("before", [None, "OLD = 1"])
@pytest.mark.parametrize("error", [CourseError, KeyboardInterrupt])
def test_a_build_that_fails_leaves_the_solutions_as_they_were(
    tmp_path, monkeypatch, before, error
):
    def stop(*arguments):
        raise error("broken")

    module = tmp_path / "numbers.py"
    if before:
        module.write_text(before)
    monkeypatch.setattr(course, "_solutions", lambda *_: (module, "NEW = 1"))
    monkeypatch.setattr(course, "_reload_refused", stop)
    monkeypatch.setattr(course, "_reload", lambda unit: None)
    with pytest.raises(error):
        make_files(units()[0])
    assert (module.read_text() if module.is_file() else None) == before


def refuse_exercise(*arguments):
    raise CourseError("an exercise: broken")
