"""A cell is over when its reply and the end of its output have come, or it is ended."""

import itertools

import pytest
from nbclient.exceptions import CellExecutionComplete, DeadKernelError
from nbformat.v4 import new_code_cell

from autograder.grading.cells import one_cell
from autograder.grading.cells.one_cell import OneCell
from autograder.sandbox.ending import EndReason

ASKED = "request"
REPLY = ({"parent_header": {"msg_id": ASKED}, "content": {"status": "ok"}}, True)


def output_message(text: str, request: str = ASKED):
    return {"parent_header": {"msg_id": request}, "text": text}, False


IDLE = output_message("idle")


class Kernel:
    """Client, kernel and manager in one: says batch after batch, then it is silent."""

    iopub_timeout = 30.0

    def __init__(self, *batches, alive: bool = True):
        self.batches, self.alive = list(batches), alive
        self.kc = self.km = self
        self.seen: list[str] = []
        self.executed = None

    def execute(self, source, **options):
        assert options == {"store_history": True, "stop_on_error": False}
        return ASKED

    def messages(self, seconds):
        return self.batches.pop(0) if self.batches else []

    async def is_alive(self):
        return self.alive

    def process_message(self, message, cell, index):
        if message["text"] == "idle":
            raise CellExecutionComplete
        self.seen.append(message["text"])

    def on_cell_executed(self, **fields):
        self.executed = fields


def never() -> str:
    return ""


@pytest.fixture(autouse=True)
def hasty(monkeypatch):
    """Each look is due at once."""
    monkeypatch.setattr(one_cell, "LOOK_SECONDS", 1e-3)


def test_it_takes_in_what_is_its_own_and_nothing_after_its_end():
    foreign = output_message("another cell's", "other")
    kernel = Kernel(
        [output_message("a")],
        [foreign],
        [output_message("b")],
        [IDLE],
        [output_message("c")],
        [REPLY],
    )
    cell = new_code_cell("x")
    cell.outputs = ["of an earlier run"]
    one_cell = OneCell(kernel, cell, 3)
    assert one_cell.await_end(never) is None
    one_cell.close()
    assert kernel.seen == ["a", "b"] and cell.outputs == []
    assert kernel.executed == {
        "cell": cell, "cell_index": 3, "execute_reply": REPLY[0]
    }  # fmt: skip
    assert "shell.execute_reply" in cell.metadata["execution"]


@pytest.mark.parametrize(
    ("number", "expected"),
    [(7, 7), ("7", None), ({}, None), (-7, None), (10**4000, None), (True, None)],
)
def test_its_number_is_in_the_reply(number, expected):
    reply = {**REPLY[0], "content": {"execution_count": number}}, True
    cell = new_code_cell("x")
    OneCell(Kernel([reply], [IDLE]), cell, 0).await_end(never)
    assert cell.execution_count == expected


def test_a_reply_waits_for_the_output_but_not_for_ever():
    kernel = Kernel([REPLY], [output_message("late")], [IDLE])
    assert OneCell(kernel, new_code_cell("x"), 0).await_end(never) is None
    assert kernel.seen == ["late"]
    kernel = Kernel([REPLY])  # whose output never ends
    kernel.iopub_timeout = 0.01
    one_cell = OneCell(kernel, new_code_cell("x"), 0)
    assert one_cell.await_end(never) is None and one_cell.lacks_output


def test_output_that_is_there_is_taken_in_however_late_that_is():
    kernel = Kernel([REPLY], [output_message("a")], [output_message("b")], [IDLE])
    kernel.iopub_timeout = -1.0  # we were stopped meanwhile
    one_cell = OneCell(kernel, new_code_cell("x"), 0)
    assert one_cell.await_end(never) is None and not one_cell.lacks_output
    assert kernel.seen == ["a", "b"]


def test_it_is_asked_now_and_again_whether_it_is_over():
    reasons = itertools.chain([None, None], itertools.repeat(EndReason.TIME))
    kernel = Kernel([output_message("a")])
    one_cell = OneCell(kernel, new_code_cell("x"), 0)
    assert one_cell.await_end(lambda: next(reasons)) is EndReason.TIME
    kernel.batches = [[REPLY, output_message("interrupted")], [IDLE]]
    assert one_cell.await_end(never) is None
    assert kernel.seen == ["a", "interrupted"]


def test_a_cell_that_has_ended_meanwhile_is_not_interrupted():
    kernel = Kernel([REPLY, IDLE])
    one_cell = OneCell(kernel, new_code_cell("x"), 0)
    assert (
        one_cell.await_end(never) is None
        and one_cell.await_end(lambda: EndReason.TIME) is None
    )


def test_what_a_kernel_has_said_before_its_death_is_heard():
    kernel = Kernel([], [], [output_message("last words")], alive=False)
    with pytest.raises(DeadKernelError):
        OneCell(kernel, new_code_cell("x"), 0).await_end(never)
    assert kernel.seen == ["last words"]


def test_a_kernel_that_dies_after_its_cell_has_ended_the_cell():
    kernel = Kernel([], [], [REPLY], [IDLE], alive=False)
    assert OneCell(kernel, new_code_cell("x"), 0).await_end(never) is None
