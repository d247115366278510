"""The parts of a panel, and how much of one is to be read at first sight."""

from autograder.checks.boxes import visible_words


def test_what_is_folded_or_drawn_is_not_to_be_read_at_first_sight():
    panel = (
        "<details open><summary>one two</summary>three <details><summary>four</summary>"
        "five <details open><summary>six</summary>seven</details></details></details>"
        "<svg><text>eight</text></svg> nine"
    )
    assert visible_words(panel) == 5
