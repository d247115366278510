"""What questions leave out: what a teacher would call trivia, or unclear."""

import ast
import random

import pytest

from autograder.authoring.catalogue import specification
from autograder.extras.questions.asking import questions
from autograder.extras.questions.calls import call_of, find_untellable
from autograder.extras.questions.edits import edits
from autograder.extras.questions.listing import listing
from autograder.extras.questions.observations import (
    EditOutcome,
    NothingObservedError,
    Observation,
    Seen,
)
from autograder.extras.questions.question import chosen
from autograder.extras.questions.sensible import is_sensible
from autograder.extras.questions.statements import of_value, positions
from tests.extras.questions.questioned import SOFTMAX, Questioned, ask, choice


@pytest.fixture(scope="module")
def softmax() -> Questioned:
    return ask(specification("attention/softmax"), SOFTMAX)


def _instructions_of(code: str) -> list[str]:
    return [edit.instruction for edit in edits(listing(code, "f"))]


@pytest.mark.parametrize(
    "code, silly",
    [
        ("def f(x):\n    return x.transpose(1, 2)", "transpose(1, 1)"),
        ("def f(x):\n    return x.transpose(1, 2)", "transpose(2, 2)"),
        ("def f(x):\n    return x.flatten(0, 1)", "flatten(1, 1)"),
        ("def f(q, k):\n    return q * k ** -0.5", "q * q ** -0.5"),
        ("def f(x, y):\n    return x == y", "x == x"),
        ("def f(x, y):\n    return [*zip(x, y, strict=True)]", "zip(x, y)"),
        ("def f(x):\n    return x.softmax(dim=-1)", "dim=1"),
    ],
)
def test_nobody_is_asked_about_a_change_that_nobody_would_make(code, silly):
    instructions = _instructions_of(code)
    assert instructions and not any(
        silly in instruction for instruction in instructions
    )


@pytest.mark.parametrize("right, is_asked", [("masks", False), ("mask", True)])
def test_a_name_assigned_to_itself_is_silly_but_not_one_that_begins_alike(
    right, is_asked
):
    old, new = (ast.parse(f"masks = {v}").body[0] for v in ("masks & mask", right))
    assert is_sensible(old, new, ast.unparse(new)) is is_asked


def test_a_branch_is_forgotten_as_a_whole():
    code = "def f(x, m=None):\n    if m is not None:\n        x = x * m\n    return x"
    instructions = _instructions_of(code)
    assert "delete lines 2 and 3" in instructions
    assert "delete line 3" not in instructions


def test_a_change_is_written_in_the_student_s_numbers_and_in_one_of_the_lines():
    code = (
        "def f(x, e=0.0):\n    return (x + 1e-6) * (\n        x.sum(dim=-1) + 2\n    )"
    )
    instructions = _instructions_of(code)
    assert "1e-6" in str(instructions) and "1e-06" not in str(instructions)
    assert "change line 3 to `x.sum(dim=-2) + 2`" in instructions


@pytest.mark.parametrize(
    "line, changed", [("x - y, 1  # 1", "x + y, 1"), ('x - y, "  # 1"', "")]
)
def test_a_line_is_cut_at_a_comment_but_not_inside_a_text(line, changed):
    code = f"def f(x, y):\n    return g(\n        {line}\n    )"
    instructions = _instructions_of(code)
    assert bool(changed) is (f"change line 3 to `{changed}`" in instructions)
    assert all(text.count('"') % 2 == 0 for text in instructions)


def test_another_way_to_write_the_same_is_noquestion():
    code = "def f(q, k):\n    p = q.transpose(1, 2) * 2\n    return p.contiguous()"
    ideas = {
        edit.instruction: edit.is_telling_if_unchanged
        for edit in edits(listing(code, "f"))
    }
    assert not ideas["change line 2 to `p = q.transpose(2, 1) * 2`"]
    assert "change line 3 to `return p`" not in ideas, "nobody forgets it"
    assert ideas["change line 2 to `p = k.transpose(1, 2) * 2`"]


def _observe(argument: Seen, result: Seen, moved: bool = False) -> Observation:
    call, reached = (("x", argument),), {"x": moved}
    return Observation("a case", "", call, (), frozenset(), result, reached, ())


def _tensor(*shape: int, dtype: str = "float32", text: str = "") -> Seen:
    return Seen("tensor", text, shape, dtype)


@pytest.mark.parametrize(
    "argument, result, last",
    [
        ((3, 5), (3, 5), "row 2 of `x`"),
        ((2, 5, 6), (2, 5, 4), "position 4 of `x`"),
        ((2, 5, 12), (2, 3, 5, 4), None),  # split heads
        ((2, 3, 5, 4), (2, 5, 12), None),  # merged heads
        ((2, 5, 6), (2, 6, 5), None),
    ],
)
def test_a_position_is_named_only_where_its_axis_stays(argument, result, last):
    reaches = positions(_observe(_tensor(*argument), _tensor(*result)))
    assert [reach[1] for reach in reaches.values()] == ([last] if last else [])


def test_a_call_is_asked_about_only_if_all_it_is_given_can_be_told():
    code_listing, result = listing("def f(x):\n    return x", "f"), _tensor(2, 2)
    mask = _tensor(1, 3, dtype="bool", text="[[1, 0, 1]]")
    call = call_of(code_listing, _observe(mask, result))
    assert call.count("`[[1, 0, 1]]`") == 1 and not find_untellable(
        _observe(mask, result)
    )
    sizes = Seen("tuple", "(2, 3)", length=2)
    assert (
        call_of(code_listing, _observe(sizes, result)) == "`f(x)` with `x` = `(2, 3)`"
    )
    for argument in (
        _tensor(5, 7, dtype="bool"),
        Seen("function"),
        Seen("list", length=4),
    ):
        assert find_untellable(_observe(argument, result)) == ["x"]
        with pytest.raises(NothingObservedError, match="cannot be told"):
            questions(
                code_listing, [], [], [_observe(argument, result)], random.Random(0)
            )


def test_limits_of_a_library_and_nan_are_not_asked_about():
    assert EditOutcome(raised="IndexError: Dimension out of range").is_unclear
    assert EditOutcome(raised="ValueError: zip() argument 2").is_unclear
    nan = Seen("tensor", "", (2, 2), "float32", frozenset({"nan"}))
    assert EditOutcome(result=nan).is_unclear
    assert not EditOutcome(raised="RuntimeError: shapes cannot be mul").is_unclear


def test_no_option_of_a_change_implies_another(softmax):
    for question in softmax.found:
        options = " ".join(question.options)
        assert not ("no longer sum to 1" in options and "columns of" in options)
        assert not ("now has the shape" in options and "are swapped" in options)


def test_a_matrix_of_one_column_has_nothing_above_its_diagonal_to_ask_about():
    facts = frozenset({"nothing above", "rows sum to one"})
    statements = of_value(Seen("tensor", "", (3, 1), "float32", facts))
    assert not {"triangle", "rows"} & {statement.kind for statement in statements}


def test_nothing_is_asked_twice_on_a_sheet():
    candidates = [choice("change", "softmax"), choice("shape", "y")]
    assert [question.about for question in chosen(candidates, 3, ["softmax"])] == [
        ("y",)
    ]
