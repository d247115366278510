"""A task is the same after its journey as bytes."""

from traitlets.config import Config

from autograder.grading.task import Task
from tests.grading.eventful import task


def test_a_task_is_the_same_after_its_journey_as_bytes():
    config = Config()
    config.Eventful.enabled = True
    config.Execute.timeout = 3
    sent = task(config=config)
    assert Task.from_bytes(sent.to_bytes()) == sent
