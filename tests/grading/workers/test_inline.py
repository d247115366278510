"""What grades in this process waits for nobody, and says what went wrong."""

import pytest

from autograder.grading.workers.inline import InlineExecutor
from tests.grading.eventful import task


def test_a_task_is_graded_at_once_and_what_it_raises_is_kept():
    executor = InlineExecutor([])
    future = executor.submit(task(files={}, source="no notebook"))
    assert future.done()
    with pytest.raises(ValueError, match="JSON"):
        future.result()
    executor.close()
