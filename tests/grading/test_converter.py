"""``nbgrader autograde``: never stopped by a submission, and what it hands on."""

import os
import shutil
import threading
import time
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import api
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Application, LoggingConfigurable

from autograder.classroom.gradebook import find_assignment
from autograder.course import access, files
from autograder.course.errors import CourseError
from autograder.grading import converter, release
from autograder.grading.intake import RefusedError
from tests import tiny_course as tiny
from tests.tiny_course import UNIT, RunHere, autograde, good, gradebook, hand_in, points


def test_answers_are_graded_and_words_wait_for_a_teacher(course):
    hand_in(course, "ada", good(course))
    hand_in(course, "bob", good(course, double="def double(x):\n    return x"))
    assert autograde(course)["success"]
    assert points(course) == {"ada": [2.0, 4.0, None], "bob": [0.0, 4.0, None]}


def test_who_was_being_collected_when_that_was_killed_is_graded(course):
    """Between its two renames, the earlier submission is aside."""
    submission = hand_in(course, "ada", good(course))
    aside = submission.rename(submission.with_name(f".{UNIT}.old"))
    hand_in(course, "bob", good(course))
    assert f"{submission}: restored" in autograde(course)["log"]
    assert points(course) == {"ada": [2.0, 4.0, None], "bob": [2.0, 4.0, None]}
    submission.rename(aside)
    hand_in(course, "ada", good(course, double="def double(x):\n    return x"))
    autograde(course)
    assert points(course)["ada"] == [0.0, 4.0, None], "a newer one lies there"


def test_broken_submissions_end_in_zero_with_a_reason_and_stop_nobody(course):
    hand_in(course, "ada", good(course))
    hand_in(course, "cut", good(course)[:100])
    hand_in(course, "empty", b"")
    hand_in(course, "huge", b"[" * 3_000_000)
    hand_in(course, "none", b"hello", "notes.txt")
    (course / "submitted" / "link").mkdir()
    (course / "submitted" / "link" / UNIT).symlink_to(course / "source")
    os.mkfifo(hand_in(course, "pipe", b"", "x.txt") / f"{UNIT}.ipynb")
    hand_in(course, "zoe", good(course))
    result = autograde(course, largest_notebook=2_000_000)
    assert not result["success"]  # somebody should look
    zero = [0.0, 0.0, 0.0]
    assert points(course) == {
        "ada": [2.0, 4.0, None],
        "zoe": [2.0, 4.0, None],
        "cut": zero,
        "empty": zero,
        "huge": zero,
        "none": zero,
        "link": zero,
        "pipe": zero,
    }
    assert "Needs a person: cut: refused: the notebook cannot be read" in result["log"]
    metadata = tiny.read(course, "autograded", "none").metadata.autograder
    assert metadata.refused == "there is no notebook in the submission"
    comments = gradebook(course)["none"][2]
    assert "there is no notebook" in comments["numbers-why"]


def test_a_copied_cell_a_new_name_and_an_old_schema_cost_nothing(course):
    copied = tiny.solve_release(tiny.read(course, "release"))
    copied.cells.append(tiny.cell(copied, "numbers-double-answer"))
    hand_in(course, "ada", tiny.data(copied))
    hand_in(course, "bob", good(course), f"Copy of {UNIT} (1).ipynb")
    old = tiny.solve_release(tiny.read(course, "release"))
    for cell in old.cells:
        cell.metadata.get("nbgrader", {}).update(schema_version=1)
    hand_in(course, "cyd", tiny.data(old))
    result = autograde(course)
    assert result["success"]
    assert set(map(tuple, points(course).values())) == {(2.0, 4.0, None)}
    assert "ada: graded; put right: Your copied cell" in result["log"]
    assert "was taken as" in result["log"]


def test_a_fault_of_ours_keeps_the_old_result_and_is_tried_again(course, monkeypatch):
    hand_in(course, "ada", good(course))
    autograde(course)
    hand_in(course, "ada", good(course, double="def double(x):\n    return 0"))
    hand_in(course, "bob", good(course))
    run = RunHere.preprocess

    def fail(self, nb, resources):
        raise OSError("no space left on device")

    monkeypatch.setattr(RunHere, "preprocess", fail)
    result = autograde(course)
    assert not result["success"] and "the same command tries again" in result["log"]
    assert points(course) == {"ada": [2.0, 4.0, None], "bob": [None, None, None]}
    monkeypatch.setattr(RunHere, "preprocess", run)
    assert autograde(course)["success"]
    assert points(course) == {"ada": [0.0, 4.0, None], "bob": [2.0, 4.0, None]}


def test_what_cannot_be_decided_keeps_scores_of_another_grader(course, monkeypatch):
    hand_in(course, "ada", good(course))
    assert autograde(course)["success"]
    (graded,) = (course / "autograded").glob("*/*/*.ipynb")
    graded.unlink()  # by hand, or it was never this converter's

    def fail(self, nb, resources):
        raise OSError("no space left on device")

    monkeypatch.setattr(RunHere, "preprocess", fail)
    assert "the old result stays" in autograde(course)["log"]
    assert points(course) == {"ada": [2.0, 4.0, None]}


def test_what_fails_once_is_graded_again_when_the_others_are_done(course, monkeypatch):
    for student in ("ada", "bob"):
        hand_in(course, student, good(course))
    run, students_run = RunHere.preprocess, []

    def fail_once(self, nb, resources):
        students_run.append(resources["nbgrader"]["student"])
        if students_run == ["ada"]:
            raise OSError("no space left on device")
        return run(self, nb, resources)

    monkeypatch.setattr(RunHere, "preprocess", fail_once)
    result = autograde(course)
    assert result["success"] and "graded again" in result["log"]
    assert students_run == ["ada", "bob", "ada"]
    assert set(map(tuple, points(course).values())) == {(2.0, 4.0, None)}


def test_a_submission_that_breaks_the_recording_stops_nobody(course, monkeypatch):
    def odd(self, nb, resources):
        if resources["nbgrader"]["student"] == "bob":
            odd = nbformat.v4.new_output("execute_result", {"text/html": "x"})
            tiny.cell(nb, "numbers-double").outputs = [odd]
        return nb, resources

    for student in ("ada", "bob", "cyd"):
        hand_in(course, student, good(course))
    monkeypatch.setattr(RunHere, "preprocess", odd)
    result = autograde(course)
    assert "Needs a person: bob: undecided" in result["log"]
    full, none = [2.0, 4.0, None], [None, None, None]
    assert points(course) == {"ada": full, "bob": none, "cyd": full}


def test_a_folder_that_cannot_be_written_stops_nobody(course, monkeypatch):
    for student in ("ada", "bob"):
        hand_in(course, student, good(course))
    (course / "autograded").mkdir()
    (course / "autograded" / "ada").write_text("in the way")
    assert "ada: undecided: nothing new was recorded" in autograde(course)["log"]
    assert points(course) == {"bob": [2.0, 4.0, None]}


def test_a_preprocessor_can_refuse_a_submission(course, monkeypatch):
    def refuse(self, nb, resources):
        raise RefusedError("it used up all memory")

    hand_in(course, "ada", good(course))
    monkeypatch.setattr(RunHere, "preprocess", refuse)
    assert "refused: it used up all memory" in autograde(course)["log"]
    assert points(course) == {"ada": [0.0, 0.0, 0.0]}


def test_files_of_the_student_lie_beside_the_run_under_those_of_the_course(
    course, monkeypatch
):
    (course / "source" / UNIT / "data.csv").write_text("course")
    folder = hand_in(course, "ada", good(course))
    (folder / "data.csv").write_text("student")
    (folder / "sub").mkdir()
    (folder / "sub" / "helper.py").write_text("x = 1")
    texts = {}

    def look(self, nb, resources):
        folder = Path(resources["metadata"]["path"])
        texts.update({p.name: p.read_text() for p in folder.rglob("*.*")})
        return nb, resources

    monkeypatch.setattr(RunHere, "preprocess", look)
    autograde(course)
    assert texts["data.csv"] == "course" and texts["helper.py"] == "x = 1"
    assert [p.name for p in (course / "autograded/ada" / UNIT).iterdir()] == [
        f"{UNIT}.ipynb"
    ]


def test_the_time_comes_from_the_collection_and_lateness_from_it(course):
    with Gradebook(f"sqlite:///{course}/gradebook.db", "tiny") as book:
        book.update_or_create_assignment(UNIT, duedate="2020-01-01 00:00:00 UTC")
    folder = hand_in(course, "ada", good(course))
    (folder / "timestamp.txt").write_text("2019-12-31 23:00:00 UTC")
    folder = hand_in(course, "bob", good(course))
    (folder / "timestamp.txt").write_text("9999-12-31 23:00:00 UTC")
    hand_in(course, "cyd", good(course))
    autograde(course)
    stamps = {student: entry[0] for student, entry in gradebook(course).items()}
    assert stamps["ada"].year == 2019 and stamps["cyd"] is None
    assert abs(stamps["bob"].timestamp() - time.time()) < 3 * 24 * 3600


def test_installing_twice_leaves_one_converter_and_an_unknown_nbgrader_alone(
    monkeypatch, capsys
):
    from nbgrader.apps import autogradeapp

    converter.install()
    converter.install()
    assert autogradeapp.Autograde is converter.CourseAutograde
    assert converter.CourseAutograde.__mro__[1] is converter.Autograde
    monkeypatch.setattr(autogradeapp, "Autograde", converter.Autograde)
    monkeypatch.setattr(converter.importlib.metadata, "version", lambda _: "0.10.1")
    assert not converter.install()
    assert autogradeapp.Autograde is converter.Autograde
    assert "nbgrader 0.10.1 is not supported" in capsys.readouterr().err


def test_course_errors_are_nbgraders_errors(course):
    shutil.rmtree(course / "release")
    hand_in(course, "ada", good_without_release())
    result = autograde(course)
    assert "NbGraderException" in result["error"]
    assert CourseError.__name__ not in result["log"]


def good_without_release() -> bytes:
    return tiny.data(tiny.source_notebook())


def test_a_command_grades_in_as_many_processes_as_there_is_work_for(monkeypatch):
    monkeypatch.setattr(converter, "Pool", lambda slots, shared: slots)
    monkeypatch.setattr(converter, "InlineExecutor", lambda shared: "here")
    monkeypatch.setattr(converter, "usable_cores", lambda: 4)

    def slots(parent: LoggingConfigurable, students: int, jobs: int = 0) -> object:
        autograde_app = converter.CourseAutograde(CourseDirectory(), parent=parent)
        autograde_app.jobs, autograde_app._folders = (
            jobs,
            dict.fromkeys(map(str, range(students))),
        )
        return autograde_app._executor()

    command, server = Application(), LoggingConfigurable()
    assert [slots(command, n) for n in (1, 2, 9)] == ["here", 2, 4]
    assert [slots(command, n, jobs=3) for n in (1, 9)] == [3, 3]
    assert slots(server, 1) == 4  # it goes on, and would keep the judge


def test_a_submission_that_is_closed_to_us_has_no_score_and_no_zero(
    course, monkeypatch
):
    hand_in(course, "ada", good(course))
    hand_in(course, "bob", good(course))
    read = os.open

    def refuse_open(path, *arguments, **options):
        if str(path).endswith(f"ada/{UNIT}/{UNIT}.ipynb"):
            raise PermissionError(13, "Permission denied")
        return read(path, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse_open)
        result = autograde(course)
    assert "Permission denied; see to its owner and its mode" in result["log"]
    assert "Traceback" not in result["log"]
    assert points(course) == {"bob": [2.0, 4.0, None]}
    assert autograde(course)["success"]
    assert points(course)["ada"] == [2.0, 4.0, None]


def test_nobody_is_graded_while_somebody_collects(course):
    """Between its two renames there is nothing: that is no empty submission."""
    submission = hand_in(course, "ada", good(course))
    with files.locked(submission):
        aside = submission.rename(submission.with_name("elsewhere"))
        graded: list[dict] = []
        thread = threading.Thread(target=lambda: graded.append(autograde(course)))
        hand_in(course, "bob", good(course))
        submission.mkdir()
        thread.start()
        time.sleep(1.5)
        submission.rmdir()
        aside.rename(submission)
    thread.join()
    assert points(course)["ada"] == [2.0, 4.0, None]


@pytest.mark.parametrize("blank", ["\u00a0", "\u202f", "\u200f"])
def test_a_course_below_an_odd_name_is_graded(tmp_path, blank):
    root = tmp_path / f"my{blank}course"
    tiny.make_course(root)
    hand_in(root, "ada", good(root))
    assert autograde(root)["success"]
    assert points(root) == {"ada": [2.0, 4.0, None]}


def test_a_folder_that_no_student_can_have_needs_a_person(course):
    for student in ("ada", "ada\u200f", "bo\nb", "b[o]b"):
        hand_in(course, student, good(course))
    result = autograde(course)
    assert not result["success"]
    for odd in (r"'ada\u200f'", r"'bo\nb'", "'b[o]b'"):
        assert f"Needs a person: {odd}: undecided: no name that" in result["log"]
    assert points(course) == {"ada": [2.0, 4.0, None]}


def test_an_id_as_long_as_a_name_may_be_is_graded(course):
    long = "ö" * 127
    hand_in(course, long, good(course))
    assert autograde(course)["success"]
    assert points(course) == {long: [2.0, 4.0, None]}


def test_a_full_disk_is_one_line(course, monkeypatch):
    hand_in(course, "ada", good(course))
    with monkeypatch.context() as patch:
        patch.setattr(access, "_ROOM", 1 << 62)
        result = autograde(course)
    assert "make room, and run the same command again" in result["log"]
    assert "Traceback" not in result["log"] and points(course) == {}
    assert autograde(course)["success"]


def test_a_disk_that_becomes_full_is_a_line_for_each_and_no_more(course, monkeypatch):
    hand_in(course, "ada", good(course))

    def full(path, data):
        raise OSError(28, "No space left on device", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        result = autograde(course)
    assert "ipynb cannot be written: No space left" in result["log"]
    assert "Traceback" not in result["log"]
    assert points(course) == {"ada": [None, None, None]}
    assert autograde(course)["success"]
    assert points(course) == {"ada": [2.0, 4.0, None]}


def test_a_path_that_is_too_long_for_a_gradebook_is_refused_in_a_line(course, tmp_path):
    folder = tmp_path / ("x" * 200) / ("y" * 200)
    folder.mkdir(parents=True)
    most_characters = access._LONGEST - len(os.fsencode(folder)) - 1
    fits, long = (
        folder / ("f" * most_characters),
        folder / ("l" * (most_characters + 1)),
    )
    for root in (fits, long):
        shutil.copytree(course, root)
        hand_in(root, "ada", good(root))
    assert autograde(fits)["success"]
    run = autograde(long)
    assert not run["success"] and "by 1 characters; move the folder" in run["log"]


@pytest.mark.parametrize("letter", "*?[%")
def test_a_path_that_nbgrader_reads_as_another_is_refused_in_a_line(
    course, tmp_path, letter, monkeypatch
):
    monkeypatch.setattr(api, "GenerateAssignment", release.CourseGenerate)
    monkeypatch.setattr(api, "GenerateFeedback", release.CoursePages)
    hand_in(course, "ada", good(course))
    shutil.copytree(course / "submitted", course / "autograded")
    root = course.rename(tmp_path / f"a{letter}b")
    students = {"autograde": ["*"]}
    for method in ("autograde", "generate_assignment", "generate_feedback"):
        run = tiny.run_nbgrader(root, method, UNIT, *students.get(method, ()))
        assert not run["success"] and f"nbgrader misreads {letter} in" in run["log"]
    with pytest.raises(CourseError, match="rename the folder"):
        find_assignment("01", root)
    assert {path.name for path in tmp_path.iterdir()} == {root.name}


def test_who_is_left_out_of_a_run_may_have_a_comma_in_the_name(course):
    """nbgrader's own option splits at commas, and leaves out other students."""
    for student in ("a", "b", "a,b"):
        hand_in(course, student, good(course))
    assert autograde(course, waiting=["a,b"])["success"]
    assert sorted(points(course)) == ["a", "b"]
