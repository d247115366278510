"""A student's words are words, wherever they are printed."""

import pytest

from autograder.course.printable import printable


@pytest.mark.parametrize(
    "end", ["\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029"]
)
def test_what_ends_a_line_somewhere_ends_none(end):
    text = printable(f"ValueError: one{end}two")
    assert text.splitlines() == [text]
    assert text.split() == ["ValueError:", "one", "two"]


@pytest.mark.parametrize("sign", ["\x00", "\x07", "\x1b", "\x9b", "\x7f", "\u202e"])
def test_what_a_terminal_obeys_is_shown_as_a_question_mark(sign):
    assert printable(f"{sign}[31m red") == "?[31m red"


def test_letters_of_all_kinds_and_blanks_stay():
    assert printable("Óðinsson, 李, ∑ ✗\u00a0|\t|") == "Óðinsson, 李, ∑ ✗ | |"
