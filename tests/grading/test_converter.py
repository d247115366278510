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
from autograder.grading.run import assignment
from tests import tiny_course as tiny
from tests.tiny_course import UNIT, RunHere, autograde, good, gradebook, hand_in, points

FULL, NONE, ZERO = [2.0, 4.0, None], [None, None, None], [0.0, 0.0, 0.0]
WRONG = "def double(x):\n    return x"


@pytest.fixture(scope="module")
def all_sorts(shared_course):
    """A course in which all sorts of hand-ins were graded at once, and that run."""
    root = shared_course
    with Gradebook(f"sqlite:///{root}/gradebook.db", "tiny") as book:
        book.update_or_create_assignment(UNIT, duedate="2020-01-01 00:00:00 UTC")
    folder = hand_in(root, "ada", good(root))
    (folder / "timestamp.txt").write_text("2019-12-31 23:00:00 UTC")
    folder = hand_in(root, "bob", good(root, double=WRONG))
    (folder / "timestamp.txt").write_text("9999-12-31 23:00:00 UTC")
    hand_in(root, "cut", good(root)[:100])
    hand_in(root, "empty", b"")
    hand_in(root, "huge", b"[" * 300_000)
    hand_in(root, "none", b"hello", "notes.txt")
    (root / "submitted" / "link").mkdir()
    (root / "submitted" / "link" / UNIT).symlink_to(root / "source")
    os.mkfifo(hand_in(root, "pipe", b"", "x.txt") / f"{UNIT}.ipynb")
    copied = tiny.solve_release(tiny.read(root, "release"))
    copied.cells.append(tiny.cell(copied, "numbers-double-answer"))
    hand_in(root, "copied", tiny.data(copied))
    hand_in(root, "renamed", good(root), f"Copy of {UNIT} (1).ipynb")
    old = tiny.solve_release(tiny.read(root, "release"))
    for cell in old.cells:
        cell.metadata.get("nbgrader", {}).update(schema_version=1)
    hand_in(root, "schema", tiny.data(old))
    hand_in(root, "zoe", good(root))
    return root, autograde(root, largest_notebook=200_000)


def test_answers_are_graded_words_wait_and_what_is_broken_stops_nobody(all_sorts):
    root, result = all_sorts
    assert not result["success"]  # somebody should look
    broken = ("cut", "empty", "huge", "none", "link", "pipe")
    assert points(root) == {
        "bob": [0.0, 4.0, None],
        **dict.fromkeys(("ada", "copied", "renamed", "schema", "zoe"), FULL),
        **dict.fromkeys(broken, ZERO),
    }
    assert result["log"].count("Needs a person:") == len(broken)


def test_what_is_broken_has_a_reason(all_sorts):
    root, result = all_sorts
    assert "Needs a person: cut: refused: the notebook cannot be read" in result["log"]
    metadata = tiny.read(root, "autograded", "none").metadata.autograder
    assert metadata.refused == "there is no notebook in the submission"
    assert "there is no notebook" in gradebook(root)["none"][2]["numbers-why"]


def test_what_was_put_right_is_told(all_sorts):
    log = all_sorts[1]["log"]
    assert "copied: graded; put right: Your copied cell" in log
    assert "was taken as" in log


def test_the_time_comes_from_the_collection(all_sorts):
    stamps = {student: entry[0] for student, entry in gradebook(all_sorts[0]).items()}
    assert stamps["ada"].year == 2019 and stamps["zoe"] is None
    assert abs(stamps["bob"].timestamp() - time.time()) < 3 * 24 * 3600


def test_who_was_being_collected_when_that_was_killed_is_graded(course):
    """Between its two renames, the earlier submission is aside."""
    submission = hand_in(course, "ada", good(course))
    aside = submission.rename(submission.with_name(f".{UNIT}.old"))
    hand_in(course, "bob", good(course))
    assert f"{submission}: restored" in autograde(course)["log"]
    assert points(course) == {"ada": FULL, "bob": FULL}
    submission.rename(aside)
    hand_in(course, "ada", good(course, double=WRONG))
    autograde(course)
    assert points(course)["ada"] == [0.0, 4.0, None], "a newer one lies there"


def test_a_fault_of_ours_keeps_the_old_result_and_is_tried_again(course, monkeypatch):
    for student in ("ada", "zoe"):
        hand_in(course, student, good(course))
    autograde(course)
    hand_in(course, "ada", good(course, double=WRONG))
    hand_in(course, "bob", good(course))
    (graded,) = (course / "autograded").glob("zoe/*/*.ipynb")
    graded.unlink()  # by hand, or it was never this converter's

    def fail(self, nb, resources):
        raise OSError("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(RunHere, "preprocess", fail)
        result = autograde(course)
    assert not result["success"] and "the same command tries again" in result["log"]
    assert "zoe: undecided: the old result stays" in result["log"]
    assert points(course) == {"ada": FULL, "bob": NONE, "zoe": FULL}
    assert autograde(course)["success"]
    assert points(course) == {"ada": [0.0, 4.0, None], "bob": FULL, "zoe": FULL}


def test_whatever_fails_stops_nobody_and_is_tried_again_behind_the_others(
    course, monkeypatch
):
    run, students_run = RunHere.preprocess, []

    def misbehave(self, nb, resources):
        student = resources["nbgrader"]["student"]
        students_run.append(student)
        if student == "once" and students_run.count("once") == 1:
            raise OSError("no space left on device")
        if student == "refused":
            raise RefusedError("it used up all memory")
        if student == "odd":  # it breaks the recording
            odd = nbformat.v4.new_output("execute_result", {"text/html": "x"})
            tiny.cell(nb, "numbers-double").outputs = [odd]
            return nb, resources
        return run(self, nb, resources)

    for student in ("closed", "odd", "once", "refused", "zoe"):
        hand_in(course, student, good(course))
    (course / "autograded").mkdir()
    (course / "autograded" / "closed").write_text("in the way")
    monkeypatch.setattr(RunHere, "preprocess", misbehave)
    log = autograde(course)["log"]
    assert "once: not decided (no space left on device); it is graded again" in log
    assert "Needs a person: odd: undecided" in log
    assert "refused: refused: it used up all memory" in log
    assert "closed: undecided: nothing new was recorded" in log
    assert students_run[-2:] == ["odd", "once"] and len(students_run) == 6
    assert points(course) == {"odd": NONE, "once": FULL, "refused": ZERO, "zoe": FULL}


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
    hand_in(course, "ada", tiny.data(tiny.source_notebook()))
    result = autograde(course)
    assert "NbGraderException" in result["error"]
    assert CourseError.__name__ not in result["log"]


def test_a_command_grades_in_as_many_processes_as_there_is_work_for(monkeypatch):
    monkeypatch.setattr(converter, "Pool", lambda slots, shared: slots)
    monkeypatch.setattr(converter, "InlineExecutor", lambda shared: "here")
    monkeypatch.setattr(converter, "usable_cores", lambda: 4)

    def slots(parent: LoggingConfigurable, students: int, jobs: int = 0) -> object:
        autograde_app = converter.CourseAutograde(CourseDirectory(), parent=parent)
        autograde_app.jobs = jobs
        autograde_app._folders = dict.fromkeys(map(str, range(students)))
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
    assert points(course) == {"bob": FULL}
    assert autograde(course)["success"]
    assert points(course)["ada"] == FULL


def test_nobody_is_graded_while_somebody_collects(course, monkeypatch):
    """Between its two renames there is nothing: that is no empty submission."""
    submission, waits = hand_in(course, "ada", good(course)), threading.Event()
    lock = files.locked
    monkeypatch.setattr(
        assignment, "locked", lambda folder: waits.set() or lock(folder)
    )
    with files.locked(submission):
        aside = submission.rename(submission.with_name("elsewhere"))
        thread = threading.Thread(target=autograde, args=[course])
        submission.mkdir()
        thread.start()
        assert waits.wait(60)
        submission.rmdir()
        aside.rename(submission)
    thread.join()
    assert points(course)["ada"] == FULL


def test_odd_names_of_a_course_and_of_students_are_graded_or_need_a_person(
    course, tmp_path
):
    """nbgrader's own option to leave students out splits names at commas."""
    root = course.rename(tmp_path / "my\u00a0\u202f\u200fcourse")
    long, odd = "ö" * 127, ("ada\u200f", "bo\nb", "b[o]b")
    for student in ("ada", "a", "b", "a,b", long, *odd):
        hand_in(root, student, good(root))
    result = autograde(root, waiting=["a,b"])
    assert not result["success"]
    for student in odd:
        needs = f"Needs a person: {student!a}: undecided: no name that"
        assert needs in result["log"]
    assert points(root) == dict.fromkeys(("ada", "a", "b", long), FULL)


def test_a_full_disk_is_one_line_and_one_that_becomes_full_is_one_for_each(
    course, monkeypatch
):
    hand_in(course, "ada", good(course))

    def full(path, data):
        raise OSError(28, "No space left on device", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(access, "_ROOM", 1 << 62)
        result = autograde(course)
    assert "make room, and run the same command again" in result["log"]
    assert "Traceback" not in result["log"] and points(course) == {}
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        result = autograde(course)
    assert "ipynb cannot be written: No space left" in result["log"]
    assert "Traceback" not in result["log"] and points(course) == {"ada": NONE}
    assert autograde(course)["success"] and points(course) == {"ada": FULL}


def test_a_path_that_is_too_long_for_a_gradebook_is_refused_in_a_line(course, tmp_path):
    folder = tmp_path / ("x" * 200) / ("y" * 200)
    folder.mkdir(parents=True)
    most = access._LONGEST - len(os.fsencode(folder)) - 1
    fits, long = folder / ("f" * most), folder / ("l" * (most + 1))
    for root in (fits, long):
        shutil.copytree(course, root)
        hand_in(root, "ada", good(root))
    assert autograde(fits)["success"]
    run = autograde(long)
    assert not run["success"] and "by 1 bytes; move the folder" in run["log"]


def test_a_path_that_nbgrader_reads_as_another_is_refused_in_a_line(
    course, tmp_path, monkeypatch
):
    monkeypatch.setattr(api, "GenerateAssignment", release.CourseGenerate)
    monkeypatch.setattr(api, "GenerateFeedback", release.CoursePages)
    hand_in(course, "ada", good(course))
    shutil.copytree(course / "submitted", course / "autograded")
    students, root = {"autograde": ["*"]}, course
    for letter in "*?[%":
        root = root.rename(tmp_path / f"a{letter}b")
        for method in ("autograde", "generate_assignment", "generate_feedback"):
            run = tiny.run_nbgrader(root, method, UNIT, *students.get(method, ()))
            assert not run["success"] and f"nbgrader misreads {letter} in" in run["log"]
        with pytest.raises(CourseError, match="rename the folder"):
            find_assignment("01", root)
    assert {path.name for path in tmp_path.iterdir()} == {root.name}
