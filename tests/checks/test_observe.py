"""A probe looks at whatever a student's cell made, and never raises."""

import linecache
import sys
import warnings

import pytest
import torch
import torch.nn.functional as F

from autograder.checks.exercise import RAISED, STUB, Other, WrongAnswerError
from autograder.checks.observe import (
    UNSOLVED,
    brief,
    describe_error,
    from_stub,
    is_library,
    observe,
    quiet,
)
from transformer_course.solutions import attention

OWN_STUB = {RAISED: UNSOLVED, STUB: ""}


def in_a_cell(code) -> bool:
    return code.co_filename != __file__ and not is_library(code.co_filename)


def test_inputs_are_copies():
    x = torch.ones(3)
    observe(lambda answer, inputs: {"x": inputs["x"].mul_(9)}, None, {"x": x})
    assert x.sum() == 3


def raising(error):
    def answer():
        raise error

    return answer


def reported(answer):
    """What is reported of a function that takes nothing."""
    return observe(lambda own, inputs: {"x": own()}, answer, {})


def drop_by_hand(x, p):
    torch.manual_seed(3)
    return x * ((torch.rand(x.shape) >= p).to(x.dtype) / (1 - p))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
def test_dropout_draws_from_rand_which_is_the_same_in_each_pytorch(dtype):
    x = torch.arange(1, 61, dtype=dtype).reshape(3, 4, 5)

    def drop_seeded(drop):
        torch.manual_seed(3)
        return drop(x.clone())

    def drop_in_place(x):
        dropped = F.dropout(x, 0.25, inplace=True)
        assert dropped is x
        return x

    drops = {
        "module": torch.nn.Dropout(0.25),
        "function": lambda x: F.dropout(x, 0.25),
        "in place": drop_in_place,
        "direct": lambda x: torch.dropout(x, 0.25, train=True),
    }

    def probe(functions, _):
        return {name: drop_seeded(drop) for name, drop in functions.items()}

    library_functions = (torch.dropout, F.dropout)
    outputs = observe(probe, drops, {})
    expected = drop_by_hand(x, 0.25)
    assert 0 < (expected == 0).sum() < 60
    for name in drops:
        assert torch.equal(outputs[name], expected), name
    assert (torch.dropout, F.dropout) == library_functions, "and is itself again"


def test_dropout_that_leaves_nothing_to_chance_draws_nothing():
    x = torch.arange(1.0, 8)
    drops = {
        "p=0": torch.nn.Dropout(0.0),
        "p=1": torch.nn.Dropout(1.0),
        "eval": torch.nn.Dropout(0.5).eval(),
    }

    def probe(functions, inputs):
        before = torch.get_rng_state()
        dropped = {name: drop(x) for name, drop in functions.items()}
        assert torch.equal(torch.get_rng_state(), before)
        return dropped

    outputs = observe(probe, drops, {})
    assert torch.equal(outputs["p=0"], x) and torch.equal(outputs["eval"], x)
    assert torch.equal(outputs["p=1"], torch.zeros(7))


def test_a_wrong_call_of_dropout_is_told_in_pytorchs_words():
    for wrong in (lambda: F.dropout((1.0, 2.0)), lambda: F.dropout(torch.ones(2), 2)):
        with pytest.raises((TypeError, ValueError)) as error:
            wrong()
        assert reported(wrong)[RAISED].startswith(describe_error(error.value)[:40])


def test_what_a_probe_reports_is_plain():
    assert reported(lambda: 7) == {"x": Other("int")}
    assert reported(lambda: "a text") == {"x": "a text"}


def test_a_stub_is_told_from_a_library_that_lacks_something():
    assert reported(raising(NotImplementedError())) == OWN_STUB
    module = torch.nn.Module()
    answers = reported(lambda: module(torch.ones(1)))  # torch's own NotImplementedError
    assert answers[RAISED].startswith("NotImplementedError: Module [Module] is missing")


def test_an_operation_that_torch_has_for_other_types_only_is_no_stub():
    answers = reported(lambda: torch.ones(2, dtype=torch.bool).softmax(0))
    assert answers[RAISED].startswith("NotImplementedError: ")
    assert "in your line" in answers[RAISED]


def test_the_stub_of_another_cell_is_called_by_its_name():
    names: dict = {}
    for number, code in enumerate(
        (
            "class Part:\n    def __init__(self):\n        raise NotImplementedError",
            "def whole():\n    return Part()",
            "def helper():\n    raise NotImplementedError\ndef other():\n    helper()",
            "def left():\n    raise NotImplementedError\ndef third():\n    whole()",
        )
    ):
        exec(compile(code, f"<cell {number}>", "exec"), names)
    assert reported(names["whole"]) == {RAISED: f"`Part` is {UNSOLVED}"}
    assert reported(names["other"]) == OWN_STUB  # a stub of its own cell
    assert reported(names["third"]) == OWN_STUB  # which is still to come


def test_an_error_is_told_in_its_first_line_with_its_notes_and_ones_own_line():
    error = ValueError("no\nsecond line")
    error.add_note("after a call with a mask")
    message, line = reported(raising(error))[RAISED].splitlines()
    assert message == "ValueError: no (after a call with a mask)"
    assert line.startswith("in your line ") and line.endswith("raise error")


def test_an_error_in_another_cell_is_told_with_who_called_it():
    names: dict = {"relu": attention.combine_masks}
    for file, code in {
        "<first>": "class Part:\n  def half(self):\n    return self / 2",
        "<second>": "def whole():\n  part = Part()\n  return part.half()",
        "<third>": "def masks():\n  return relu(1, [])",
    }.items():
        linecache.cache[file] = (len(code), None, code.splitlines(True), file)
        exec(compile(code, file, "exec"), names)

    def describe_call(name: str) -> list[str]:
        try:
            names[name]()
        except TypeError as error:
            return describe_error(error, is_own=in_a_cell).splitlines()[1:]

    assert describe_call("whole") == [
        "in your line 3: return part.half()",
        "and there line 3 of `Part.half`: return self / 2",
    ]
    # Where the course's own code stops, the line that called it is the student's.
    assert describe_call("masks") == ["in your line 2: return relu(1, [])"]


def test_an_end_of_the_program_and_a_wrong_answer_are_reports_too():
    assert reported(raising(SystemExit(3)))[RAISED].startswith("SystemExit: 3")
    answers = reported(raising(WrongAnswerError("expected a tensor")))
    assert answers == {RAISED: "expected a tensor"}


def test_stderr_goes_to_stdout_and_warnings_nowhere(capsys):
    with quiet():
        warnings.warn("deprecated", stacklevel=1)
        print("50%", file=sys.stderr)
    assert capsys.readouterr() == ("50%\n", "")


def test_what_is_printed_again_and_again_is_shortened(capsys):
    with brief(most=10):
        print("a" * 8)
        print("b" * 1000)
    assert capsys.readouterr().out == (
        "aaaaaaaa\nb\n(your code prints 1,000 characters more: left out)\n"
    )
    with brief():
        print("as it is")
    assert capsys.readouterr().out == "as it is\n"


def raised_by(code, file):
    """The error that ends a cell."""
    linecache.cache[file] = (len(code), None, code.splitlines(True), file)
    with pytest.raises(Exception) as caught:
        exec(compile(code, file, "exec"), {})
    return caught.value


@pytest.mark.parametrize("call", ["os.path.join(None)", "json.loads('{')"])
def test_an_error_inside_of_pythons_own_modules_is_told_with_the_students_line(call):
    """Some of them are frozen; on Windows, none lies in `lib/python`."""
    error = raised_by(f"import json, os\n{call}", "<a cell>")
    description = describe_error(error, is_own=in_a_cell)
    assert description.splitlines()[1:] == [f"in your line 2: {call}"]


@pytest.mark.parametrize(
    ("file", "is_students"),
    [
        ("/home/ada/lib/python/course.py", True),
        ("D:\\my site-packages\\course.py", True),
        ("C:\\venv\\Lib\\site-packages\\part.py", False),
        ("/usr/dist-packages/part.py", False),
    ],
)
def test_a_students_folder_is_told_from_that_of_an_installed_package(file, is_students):
    assert from_stub(raised_by("raise NotImplementedError", file)) == is_students
