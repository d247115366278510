"""Commands on the course print a row for each thing done; their status sums up."""

from __future__ import annotations

import pytest

from autograder import cli
from autograder.authoring.catalogue import specifications
from autograder.authoring.generated import Count
from autograder.authoring.verify import Validity
from autograder.course import find_unit

SOUND = Validity("u/a", mutants=40, caught=40, named=38, solutions=3, accepted=3)
BAD = [
    Validity("u/b", mutants=40, caught=39, named=39, solutions=3, accepted=3),
    Validity("u/b", mutants=40, caught=40, named=40, solutions=3, accepted=2),
    Validity("u/b", mutants=40, caught=40, named=20, solutions=3, accepted=3),
]


def validity(monkeypatch, *rows: Validity) -> int:
    monkeypatch.setattr("autograder.authoring.verify.measure", lambda *_: iter(rows))
    return cli.main(["validity", "attention"])


def test_checks_are_sound_if_nearly_all_mistakes_are_named(monkeypatch, capsys):
    assert validity(monkeypatch, SOUND) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [
        "u/a",
        "total",
    ]


@pytest.mark.parametrize(
    ("words", "tried"),
    [
        (["--exercise", "attention/softmax"], {"attention/softmax"}),
        (
            ["--exercise", "attention/masks", "--exercise", "text_recovery/segment"],
            {"attention/masks", "text_recovery/segment"},
        ),
        (["03", "--exercise", "multi_head_attention/merge_heads"],
         {"multi_head_attention/merge_heads"}),
    ],
)  # fmt: skip
def test_validity_tries_those_exercises_that_are_named(monkeypatch, words, tried):
    names: list[str] = []

    def measure(exercises, drawings):
        names.extend(exercise.name for exercise in exercises)
        assert all(set(names) & set(drawing) for drawing in drawings)
        return iter([SOUND])

    monkeypatch.setattr("autograder.authoring.verify.measure", measure)
    assert cli.main(["validity", *words]) == 0
    assert set(names) == tried


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--exercise", "attention/softmx"], "attention/softmax"),
        (["03", "--exercise", "attention/softmax"], "multi_head_attention/split_heads"),
    ],
)
def test_a_name_that_no_exercise_has_is_told_with_those_that_there_are(
    capsys, words, message
):
    assert cli.main(["validity", *words]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "no exercise" in error and message in error


@pytest.mark.parametrize("bad", BAD)
def test_what_is_missed_or_refused_or_hardly_named_is_a_failure(monkeypatch, bad):
    assert validity(monkeypatch, SOUND, bad) == 1


def test_what_failed_stands_below_its_row(monkeypatch, capsys):
    row = Validity("u/a", 1, 1, 1, failures=["mutant x is named y"])
    assert validity(monkeypatch, row) == 0
    assert capsys.readouterr().out.splitlines()[1] == "    mutant x is named y"


@pytest.mark.parametrize(("survivors", "status"), [([], 0), (["a -> b"], 1)])
def test_a_generated_mutant_that_survives_is_a_failure(
    monkeypatch, capsys, survivors, status
):
    count = Count("u/a", generated=2, caught=1, survivors=survivors)
    monkeypatch.setattr("autograder.authoring.generated.count", lambda exercise: count)
    assert cli.main(["validity", "attention", "--generated"]) == status
    assert capsys.readouterr().out.count("    a -> b\n") == len(survivors) * len(
        specifications("attention")
    )


def test_a_build_says_which_files_it_has_changed_and_why(monkeypatch, capsys):
    reason = "public: attention/softmax: title changed"
    changed = {"attention": ([find_unit("attention").source], reason)}
    monkeypatch.setattr(
        "autograder.authoring.course.build",
        lambda unit, given: changed.get(unit.name, ([], "")),
    )
    assert cli.main(["build", "02", "positional_encoding", "--jobs=1"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "02_attention: source/02_attention/02_attention.ipynb",
        f"    {reason}",
        "01_positional_encoding: up to date",
    ]


def test_an_edition_is_built_with_the_exercises_that_it_gives(monkeypatch, capsys):
    built = []
    monkeypatch.setattr(
        "autograder.authoring.course.build",
        lambda unit, given: built.append(given) or ([], ""),
    )
    monkeypatch.setattr(
        "autograder.authoring.edition.find_giveaways",
        lambda unit, given: [("attention/by_hand", "attention/scaled_dot_product")],
    )
    assert cli.main(["build", "02", "--given", "softmax, 2.1"]) == 0
    output = capsys.readouterr()
    assert "its solution also solves attention/scaled_dot_product" in output.err
    assert cli.main(["build", "02", "--edition", "full"]) == 0
    assert cli.main(["build", "02"]) == 0
    assert built == [("attention/by_hand", "attention/softmax"), (), None]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["build", "02", "--edition", "shrt"], 'no edition "shrt"; there are full, s'),
        (["build", "02", "--given", "sofmax"], 'no exercise "sofmax" in 02_attention'),
        (["build", "02", "--given", "9.1"], 'no exercise "9.1" in 02_attention'),
        (["kit", "--edition", "short"], "make kit UNIT=05 EDITION=short"),
        (["kit", "--given", "2.1"], "make kit UNIT=05 EDITION=short"),
    ],
)
def test_a_bad_name_of_an_edition_is_one_clear_line(
    arguments, message, monkeypatch, capsys
):
    monkeypatch.setattr("autograder.authoring.course.make_files", pytest.fail)
    assert cli.main(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


def test_a_unit_that_is_not_known_ends_the_command_in_a_line(capsys):
    assert cli.main(["build", "no_such_unit"]) == 2
    error = capsys.readouterr().err
    assert error.startswith('autograder: there is no unit "no_such_unit"')
    assert error.count("\n") == 1


def test_the_environment_of_another_course_changes_nothing(
    tmp_path, monkeypatch, capsys
):
    """A course that was copied with its environment runs the one it was copied from."""
    (tmp_path / "autograder").mkdir()
    (tmp_path / "autograder" / "root.py").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("autograder.authoring.term.renew", pytest.fail)
    for command in (["new-term"], ["build", "02"], ["report", "02"]):
        assert cli.main(command) == 1
        assert "this environment belongs to the course in" in capsys.readouterr().err


def test_a_kit_without_a_unit_says_what_it_holds_and_why(monkeypatch, capsys):
    monkeypatch.setattr("autograder.classroom.publishing.kit.build", lambda *a: None)
    assert cli.main(["kit"]) == 0
    output = capsys.readouterr().out
    assert "notebooks: 01_positional_encoding, 02_attention\n" in output
    assert "up to 02_attention, since 03_multi_head_attention and later" in output
    assert "once those are due: make kit UNIT=03" in output


def test_a_kit_of_nobody_s_says_what_to_say(monkeypatch, capsys):
    kits = []
    monkeypatch.setattr(
        "autograder.classroom.publishing.kit.build", lambda *a: kits.append(a)
    )
    assert cli.main(["kit", "02"]) == 0
    assert capsys.readouterr().err.endswith("make kit UNIT=02 OWNER=ada-l\n")
    assert cli.main(["kit", "02", "--owner", "ada-l"]) == 0
    assert capsys.readouterr().err == ""
    assert [kit_arguments.owner for _, _, kit_arguments in kits] == [
        "transformer-course",
        "ada-l",
    ]
    assert cli.main(["kit", "02", "--owner", "ada l"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert '"ada l" is not a GitHub account' in line and len(kits) == 2
