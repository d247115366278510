"""The gradebook: waited for, never half written, the same for two runs at once."""

import contextlib
import logging
import os
import shutil
import sqlite3
import subprocess
import sys
import threading

import nbformat
import pytest
from nbgrader import dbutil
from nbgrader.api import Gradebook, InvalidEntry
from nbgrader.preprocessors import SaveAutoGrades
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from autograder.grading.gradebook.book import Gradebook as OurGradebook
from autograder.grading.gradebook.book import GradebookError, GradebookHandle, Session
from autograder.grading.run.assignment import SOLUTION
from autograder.grading.run.graded_folder import GradedFolder
from autograder.grading.run.running import Run
from autograder.grading.scores import SaveVerdicts
from autograder.grading.warmable import Stage
from tests import tiny_course as tiny
from tests.tiny_course import (
    UNIT,
    RunHere,
    autograde,
    good,
    gradebook,
    graded_students,
    hand_in,
    points,
)


@pytest.mark.slow
def test_a_locked_gradebook_is_waited_for(course):
    hand_in(course, "ada", good(course))
    connection = sqlite3.connect(
        course / "gradebook.db", isolation_level=None, check_same_thread=False
    )
    connection.execute("BEGIN EXCLUSIVE")
    threading.Timer(7, connection.execute, ["ROLLBACK"]).start()
    result = autograde(course)
    assert result["success"] and "waiting for it" in result["log"]
    assert points(course) == {"ada": [2.0, 4.0, None]}


@pytest.mark.slow
def test_a_gradebook_locked_for_too_long_ends_in_a_plain_message(course):
    hand_in(course, "ada", good(course))
    connection = sqlite3.connect(course / "gradebook.db", isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    result = autograde(course, patience=1.0)
    connection.execute("ROLLBACK")
    assert not result["success"] and "close what else uses it" in result["log"]
    assert "Traceback" not in result["log"]


def test_a_gradebook_that_cannot_be_opened_is_not_waited_for(tmp_path):
    log = logging.getLogger("test")
    book = GradebookHandle(f"sqlite:///{tmp_path}/not/there.db", "tiny", 3600.0, log)
    with pytest.raises(GradebookError, match="unable to open database file"):
        book.use(lambda book: book.finish())


def test_a_unit_that_the_gradebook_does_not_know_is_told_at_once(course):
    path = course / "source" / UNIT / f"{UNIT}.ipynb"
    source = nbformat.read(path, as_version=4)
    tiny.cell(source, "numbers-double").metadata.nbgrader.points = 3
    nbformat.write(source, path)
    hand_in(course, "ada", good(course))
    assert "run: nbgrader generate_assignment" in autograde(course)["log"]
    assert graded_students() == []
    shutil.rmtree(course / "submitted")
    assert "no submission matches" in autograde(course)["log"]


def test_nothing_of_a_submission_is_written_before_all_of_it(course, monkeypatch):
    hand_in(course, "ada", good(course))
    finish = Session.finish

    def look_first(session):
        assert points(course) == {}
        finish(session)

    monkeypatch.setattr(Session, "finish", look_first)
    assert autograde(course)["success"]


def test_two_runs_at_once_grade_each_submission_once_more_at_most(course):
    for student in ("ada", "bob", "cyd"):
        hand_in(course, student, good(course))
    children = []
    for _ in range(2):
        child = os.fork()
        if child == 0:
            os._exit(0 if autograde(course)["success"] else 1)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
    assert set(map(tuple, points(course).values())) == {(2.0, 4.0, None)}


def test_who_waits_for_another_run_says_for_whom(course, monkeypatch):
    hand_in(course, "ada", good(course))
    blocking, say = contextlib.ExitStack(), Run._wait
    blocking.enter_context(GradedFolder(course / "autograded" / "ada" / UNIT).locked())

    def wait(self, student):
        say(self, student)
        blocking.close()  # it goes on, and ends

    monkeypatch.setattr(Run, "_wait", wait)
    run = autograde(course)
    assert run["success"]
    assert "ada is being graded by another command" in run["log"]


class _OnSet(RunHere, Stage):
    """Grades by a set of tests, whose version counts."""

    version = "1"

    @classmethod
    def depends_on(cls, assignment):
        assert assignment == UNIT
        return cls.version


def test_after_a_changed_test_all_are_judged_again_and_changes_are_shown(
    course, monkeypatch
):
    for student in ("ada", "bob"):
        hand_in(course, student, good(course, double="def double(x):\n    return x"))
    stages = [_OnSet, SaveAutoGrades]
    assert "Scores" not in autograde(course, autograde_preprocessors=stages)["log"]
    assert autograde(course, autograde_preprocessors=stages)["success"]
    assert graded_students() == []  # nothing has changed

    hand_in(course, "bob", good(course))
    monkeypatch.setattr(_OnSet, "version", "2")
    log = autograde(course, autograde_preprocessors=stages)["log"]
    assert graded_students() == [SOLUTION, "ada", "bob"]
    table = [line.split() for line in log.splitlines()]
    at = table.index(["student", "graded", "cell", "before", "after", "why"])
    assert table[at + 1] == ["bob", "numbers-double", "0", "2", "new", "submission"]
    assert not any("ada" in line for line in table)


def test_a_new_gradebook_is_of_the_version_that_alembic_would_say(tmp_path):
    with Gradebook(f"sqlite:///{tmp_path}/new.db", "tiny") as book:
        rows = book.db.connection().exec_driver_sql("SELECT * FROM alembic_version")
        (version,) = rows.scalars()
    with dbutil._temp_alembic_ini("sqlite://") as settings:
        process = subprocess.run(
            [sys.executable, "-m", "alembic.config", "-c", settings, "heads"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    assert process.stdout.split() == [version, "(head)"]


class _WithoutChecks(RunHere):
    """As it runs notebooks that have no judged check."""

    def preprocess(self, nb, resources):
        nb.metadata["autograder"] = {"checks": {}}
        return super().preprocess(nb, resources)


def test_scores_are_those_that_nbgrader_would_write_in_few_statements(
    course, monkeypatch
):
    hand_in(course, "ada", good(course))
    statements: list[str] = []
    preprocess, begin = SaveVerdicts.preprocess, OurGradebook.__init__

    def preprocess_counting(self, nb, resources):
        statements.clear()
        return preprocess(self, nb, resources)

    def note_statement(*arguments):
        statements.append(str(arguments[2]))

    def open_listening(self, *place):
        begin(self, *place)
        event.listen(self.engine, "before_cursor_execute", note_statement)

    monkeypatch.setattr(OurGradebook, "__init__", open_listening)
    monkeypatch.setattr(SaveVerdicts, "preprocess", preprocess_counting)
    stages = [_WithoutChecks, SaveVerdicts]
    assert autograde(course, autograde_preprocessors=stages)["success"]
    # Three for the submission, and one for what has changed in the whole class.
    assert sum("JOIN submitted_notebook" in text for text in statements) == 4
    assert sum(text.startswith("UPDATE grade") for text in statements) == 1
    hand_in(course, "bob", tiny.data(tiny.read(course, "release")))  # as released
    books = []
    for writer in (SaveAutoGrades, SaveVerdicts):
        stages = [_WithoutChecks, writer]
        assert autograde(course, force=True, autograde_preprocessors=stages)["success"]
        books.append(gradebook(course))
    assert books[0] == books[1]
    assert "No response." in books[1]["bob"][2].values()
    with sqlite3.connect(course / "gradebook.db") as book:
        book.execute("DELETE FROM comment")
    result = autograde(course, force=True, autograde_preprocessors=stages)
    assert not result["success"]
    assert "the gradebook has no row for" in result["log"]


@pytest.mark.parametrize("kind", [InvalidEntry, OperationalError])
def test_a_full_disk_is_not_waited_for(course, kind):
    """nbgrader says of a row that cannot be written that it is invalid."""
    full = sqlite3.OperationalError("database or disk is full")
    errors = {
        InvalidEntry: InvalidEntry(str(full)),
        OperationalError: OperationalError("", {}, full),
    }
    url = f"sqlite:///{course}/gradebook.db"
    book = GradebookHandle(url, "tiny", 60.0, logging.getLogger(__name__))
    kinds = []

    def write(_):
        kinds.append(kind)
        raise errors[kind]

    with pytest.raises(GradebookError, match="disk is full"):
        book.use(write)
    assert kinds == [kind]


def test_a_disk_that_fills_in_the_middle_of_a_row_ends_in_one_line(course, caplog):
    """nbgrader logs ninety lines of traceback before it raises what it means."""
    url = f"sqlite:///{course}/gradebook.db"
    book = GradebookHandle(url, "tiny", 60.0, logging.getLogger(__name__))
    book.use(lambda one: event.listen(one.engine, "connect", _no_more_pages))

    def write(book):
        book.engine.dispose()
        for number in range(500):
            book.add_student(f"student-{number}", first_name="x" * 500)

    with pytest.raises(GradebookError, match=r"full.*; make room on its disk"):
        book.use(write)
    assert not caplog.records


def _no_more_pages(connection, _):
    connection.execute("PRAGMA max_page_count = 1")  # it takes the pages that are there
