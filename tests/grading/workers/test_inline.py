"""What grades in this process waits for nobody, and says what went wrong."""

import threading
from types import SimpleNamespace

import pytest

from autograder.course.errors import CourseError
from autograder.grading.workers.inline import InlineExecutor
from tests.grading.eventful import task


def test_a_task_is_graded_at_once_and_what_it_raises_is_kept():
    executor = InlineExecutor([])
    future = executor.submit(task(files={}, source="no notebook"))
    assert future.done()
    with pytest.raises(ValueError, match="JSON"):
        future.result()
    executor.close()


def test_what_is_shared_is_waited_for_once_and_beside_the_first_task():
    waited, graded = [], threading.Event()

    def wait() -> None:
        assert graded.wait(60)
        waited.append("shared")
        raise CourseError("this machine gives no sandbox")  # who needs it says so

    executor = InlineExecutor([SimpleNamespace(wait=wait)])
    for _ in range(2):
        executor.submit(task(files={}, refused="no notebook"))
    assert not waited
    graded.set()
    executor.close()
    assert waited == ["shared"]
