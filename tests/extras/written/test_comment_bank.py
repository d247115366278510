"""Comments are kept for a line of the rubric, and said again by short keys."""

from __future__ import annotations

import pytest

from autograder.course.errors import CourseError
from autograder.extras.written.comment_bank import (
    KeptComment,
    expand_comment,
    place,
    read,
    write,
)

LINES = ("names the trap", "gives an example")
BANK = [
    KeptComment("a1", LINES[0], "Which trap?"),
    KeptComment("b1", LINES[1], "Such as?"),
]


def test_keys_say_what_was_kept_and_words_stay_words():
    assert expand_comment("b1 a1", BANK, LINES) == ("Such as? Which trap?", BANK)
    for text in ("", "A1 is right.", "a+b", "plain words"):
        assert expand_comment(text, BANK, LINES) == (text, BANK)


def test_what_is_kept_gets_the_next_key_of_its_line_once():
    text, bank = expand_comment("b+ For which q?", BANK, LINES)
    assert text == "For which q?" and bank[-1] == KeptComment("b2", LINES[1], text)
    assert expand_comment("b+ For which q?", bank, LINES) == (text, bank)
    assert expand_comment("a+ Why?", [], ())[1] == [KeptComment("a1", "", "Why?")], (
        "without a rubric"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a1 c9", 'no comment "c9" is kept; there are a1, b1'),
        ("c+ text", r"the rubric has 2 lines, from a on"),
    ],
)
def test_a_slip_is_said(text, message):
    with pytest.raises(CourseError, match=message):
        expand_comment(text, BANK, LINES)


def test_a_bank_is_a_table_that_anybody_may_edit(tmp_path):
    path = place(tmp_path, "02_attention", "attention-why")
    assert read(path) == []
    formula = [*BANK, KeptComment("a2", LINES[0], "=1+1")]
    write(path, formula)
    assert read(path) == formula and ",'=1+1" in path.read_text()
    path.write_text(path.read_text().replace("b1,", "a1,"))
    with pytest.raises(CourseError, match="two comments have the same key"):
        read(path)
