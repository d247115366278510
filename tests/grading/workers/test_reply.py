"""A reply is bytes, of one task, and opens to what grading made or raised."""

import json
import logging
from dataclasses import replace

import pytest

from autograder.course.errors import CourseError
from autograder.grading.faults import GradingInfrastructureError
from autograder.grading.grade import grade
from autograder.grading.workers import reply
from autograder.grading.workers.reply import answer, read_reply
from tests.grading.eventful import task


def test_a_reply_is_json_and_opens_to_what_was_graded(tmp_path):
    sent = task(folder=str(tmp_path / "work"), files={}, submission=None)
    data = answer(sent.to_bytes())
    assert set(json.loads(data)) == {"notebook", "metadata", "log", "id"}
    graded = read_reply(data, sent, logging.getLogger())
    graded_here = grade(sent)
    graded_here.metadata.seconds = graded.metadata.seconds
    graded_here.metadata.provenance = graded.metadata.provenance
    assert graded == graded_here


def test_a_worker_without_the_settings_classes_says_so():
    class_ = type("Gone", (), {"__module__": __name__, "__qualname__": "Gone"})
    globals()["Gone"] = class_
    sent = task(preprocessors=(class_,))
    data = sent.to_bytes()
    del globals()["Gone"]
    with pytest.raises(CourseError, match="which is unknown"):
        read_reply(answer(data), sent, logging.getLogger())


def test_a_fault_of_the_machine_is_still_one_in_the_reply(monkeypatch):
    def fail(task):
        raise GradingInfrastructureError("a cell was cut off on a busy machine")

    monkeypatch.setattr(reply, "grade", fail)
    sent = task()
    with pytest.raises(GradingInfrastructureError, match="a busy machine"):
        read_reply(answer(sent.to_bytes()), sent, logging.getLogger())


def test_a_reply_to_another_task_is_not_taken(tmp_path):
    sent = task(folder=str(tmp_path / "work"), files={}, submission=None, id="ada's")
    with pytest.raises(GradingInfrastructureError, match="another submission"):
        data = answer(sent.to_bytes())
        read_reply(data, replace(sent, id="bob's"), logging.getLogger())


def test_a_warning_cannot_forge_lines_or_fill_the_log(caplog):
    sent = task()
    line = "ada\x1b[2J\nbob: refused" + "!" * 5000
    log = [(logging.WARNING, line)]
    data = json.dumps({"id": sent.id, "log": log, "course": "ends"}).encode()
    with pytest.raises(CourseError, match="ends"):
        read_reply(data, sent, logging.getLogger())
    (message,) = caplog.messages
    assert message.startswith("ada?[2J bob: refused!") and len(message) == 1000
