"""A unit may have limits of its own."""

import sys

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_notebook
from traitlets.config import Config

from autograder.course.errors import CourseError
from autograder.grading.execute import JudgedExecute
from autograder.sandbox import client
from autograder.sandbox.confine import ConfinementError
from autograder.sandbox.ending import EndReason
from autograder.sandbox.meter import Budget, Meter, Span
from autograder.sandbox.slot import NoRoomError


@pytest.mark.parametrize(("unit", "limits"), [("06", (240, 50.0)), ("02", (60, 20.0))])
def test_they_hold_while_the_notebook_runs_and_in_no_other_unit(unit, limits):
    config = Config()
    config.JudgedExecute.timeout = 60
    config.JudgedExecute.unit_limits = {"06": {"timeout": 240, "answer_seconds": 50.0}}
    executor = JudgedExecute(config=config)
    executor.apply_unit_limits(unit)
    # What nbconvert's preprocessor does when it begins to run a notebook.
    NotebookClient.__init__(executor, new_notebook(), None)
    assert (executor.timeout, executor.answer_seconds) == limits


def test_what_a_sandbox_takes_for_its_answers_counts_for_the_notebook():
    executor = JudgedExecute(notebook_seconds=10)
    executor.reset()
    span = Span(Meter(None), Budget(10.0, 20.0))
    executor.count(19.0)
    assert not executor._notebook_is_over(span)
    executor.count(2.0)
    assert executor._notebook_is_over(span) is EndReason.NOTEBOOK_TIME
    assert "used up its time" in executor.ended(0).explanation


@pytest.mark.skipif(sys.platform != "linux", reason="sandboxes are Linux's")
@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (client.NotStartedError, "No space left on device$"),
        (NoRoomError, "No space left on device$"),
        (ConfinementError, "allow_unconfined"),
    ],
)
def test_no_walls_are_given_up_for_a_server_that_does_not_start(
    monkeypatch, kind, message
):
    """A full /tmp, a machine that slept: no reason to grade without a sandbox."""

    def fail(level):
        raise kind("the warm server did not start: No space left on device")

    monkeypatch.setattr(client, "run_directory", fail)
    with pytest.raises(CourseError, match=message):
        JudgedExecute.warmable(Config()).wait()
