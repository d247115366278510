"""Of what a cell prints, its share is kept, and no message breaks the reader."""

import pytest
from nbclient.exceptions import CellExecutionComplete
from nbformat import validate
from nbformat.v4 import new_code_cell, new_notebook, new_output
from nbgrader.preprocessors import Execute

from autograder.grading.cells.outputs import CappedOutputs

KB = 1024


@pytest.fixture
def capped(monkeypatch):
    """Keeps 2 kB of each cell; what reaches nbgrader's own reader is listed."""
    outputs, passed = CappedOutputs(output_kb=2), []
    outputs._spent = {}

    def take(self, msg, cell, index):
        if msg["content"].get("execution_state") == "idle":
            raise CellExecutionComplete
        passed.append(msg["content"]["text"])

    monkeypatch.setattr(Execute, "process_message", take)
    outputs.passed = passed
    return outputs


def stream_message(text: object) -> dict:
    return {"msg_type": "stream", "content": {"name": "stdout", "text": text}}


def test_what_is_beyond_a_cells_share_is_cut_with_a_word(capped):
    cell = new_code_cell()
    for text in ("a" * KB, "b" * 2 * KB, "c"):
        capped.process_message(stream_message(text), cell, 0)
    assert capped.passed[0] == "a" * KB and len(capped.passed) == 2
    assert capped.passed[1].strip("b") == "\n[output cut after 2 kB]\n"
    assert KB - 300 < capped.passed[1].count("b") < KB


@pytest.fixture
def reader():
    """Has the outputs of a cell of 2 kB that these messages come from."""

    def process(*messages: tuple[str, str]) -> list[tuple[str, str]]:
        cell = new_code_cell()
        outputs = CappedOutputs(output_kb=2)
        outputs.reset_execution_trackers()
        outputs.clear_before_next_output = False
        outputs._spent, outputs.nb = {}, new_notebook(cells=[cell])
        for name, text in messages:
            header = {"msg_type": "stream"}
            content = {"name": name, "text": text}
            message = {**header, "header": header, "content": content}
            outputs.process_message({**message, "parent_header": {}}, cell, 0)
        reply = {"content": {"status": "ok"}}
        outputs.on_cell_executed(cell=cell, cell_index=0, execute_reply=reply)
        validate(outputs.nb)
        return [(o.name, o.text) for o in cell.outputs]

    return process


@pytest.mark.parametrize("length", [10, 1000, 5000])
def test_in_how_many_messages_a_text_comes_makes_no_difference(reader, length):
    text = "".join(f"line {number}\n" for number in range(length))[:length]
    halves = [text[: length // 3], text[length // 3 :]]
    text_at_once = reader(("stdout", text))
    assert len(text_at_once) == 1 and len(text_at_once[0][1]) < 2200
    assert reader(*[("stdout", half) for half in halves]) == text_at_once
    assert reader(*[("stdout", letter) for letter in text]) == text_at_once


def test_texts_of_two_streams_stay_in_their_order(reader):
    messages = [("stdout", "a"), ("stderr", "b"), ("stderr", "c"), ("stdout", "d")]
    assert reader(*messages) == [("stdout", "a"), ("stderr", "bc"), ("stdout", "d")]


def test_another_cell_has_its_own_share_until_the_notebooks_is_used_up(capped):
    for index in range(12):
        capped.process_message(
            stream_message("x" * (2 * KB - 100)), new_code_cell(), index
        )
    assert len(capped.passed) == 9
    assert sum(map(len, capped.passed)) < 16 * KB


def test_a_message_that_makes_no_sense_is_dropped(capped):
    cell = new_code_cell()
    nonsense = [{}, {"msg_type": "stream"}, {"msg_type": 3, "content": {}}]
    odd = [
        {"msg_type": "execute_input", "content": {"execution_count": count}}
        for count in ("one", -1, 10**4000, True)
    ]
    unknown = [
        {"msg_type": kind, "content": {"text": ""}}
        for kind in ("comm_open", "x\x1b[2J")
    ]
    for message in (*nonsense, *odd, *unknown):
        assert capped.process_message(message, cell, 0) is None
    assert capped.passed == [] and cell.outputs == []


def test_the_end_of_a_cell_is_heard(capped):
    idle = {"msg_type": "status", "content": {"execution_state": "idle"}}
    with pytest.raises(CellExecutionComplete):
        capped.process_message(idle, new_code_cell(), 0)


def test_what_shows_in_many_places_is_counted_in_each():
    cell = new_code_cell()
    capped_outputs = CappedOutputs(output_kb=8)
    capped_outputs.reset_execution_trackers()
    capped_outputs.clear_before_next_output = False
    capped_outputs._spent, capped_outputs.nb = {}, new_notebook(cells=[cell])
    content = {"data": {}, "metadata": {}, "transient": {"display_id": "same"}}
    for _ in range(200):
        header = {"msg_type": "display_data"}
        message = {**header, "header": header, "content": dict(content)}
        capped_outputs.process_message({**message, "parent_header": {}}, cell, 0)
    *displayed, cut = cell.outputs
    assert 5 < len(displayed) < 20 and cut.text == "[output cut after 8 kB]\n"


def test_an_empty_output_takes_room_too(capped):
    for _ in range(40):
        capped.process_message(stream_message(""), new_code_cell(), 0)
    assert 10 < len(capped.passed) < 40


@pytest.mark.parametrize(
    "content",
    [
        {"ename": "x" * 10**6, "evalue": "y" * 10**6, "traceback": ["z" * 10**6] * 9},
        {"ename": {"a": [1]}, "evalue": [None], "traceback": 5},
        {"ename": "NameError", "evalue": "x", "traceback": "<b>"},
        {},
    ],
)
def test_an_error_that_only_the_reply_tells_of_is_a_line(content):
    cell = new_code_cell()
    reply = {"content": {"status": "error", **content}}
    CappedOutputs().on_cell_executed(cell=cell, cell_index=0, execute_reply=reply)
    validate(new_notebook(cells=[cell]))
    (error,) = cell.outputs
    assert error.output_type == "error" and len(str(cell)) < 5000
    assert error.traceback == [f"{error.ename}: {error.evalue}"]


def test_an_error_that_was_shown_is_not_told_again():
    error = new_output("error", ename="KeyError", evalue="k", traceback=["one", "two"])
    cell = new_code_cell(outputs=[error])
    reply = {"content": {"status": "error", "ename": "KeyError", "evalue": "k"}}
    CappedOutputs().on_cell_executed(cell=cell, cell_index=0, execute_reply=reply)
    assert cell.outputs == [error]
