"""A right answer says where to go on, as text and with links."""

from autograder.checks.next_step import Link, NextStep

PLACE, OTHER = Link("Exercise 2.5", "a.ipynb#cell-id=b"), Link("Exercise 2.7")


def test_the_next_exercise_is_a_link_where_its_address_is_known():
    step = NextStep(PLACE)
    assert str(step) == "Next: Exercise 2.5."
    assert step.html.startswith('Next: <a href="a.ipynb#cell-id=b"')
    assert NextStep(OTHER).html == "Next: Exercise 2.7."


def test_the_short_path_has_its_own_way_and_an_end():
    beside = NextStep(PLACE, on_path=OTHER)
    assert str(beside) == "Next: Exercise 2.5; on the short path: Exercise 2.7."
    beyond = NextStep(PLACE, is_beyond=True)
    assert str(beyond) == "The short path is done. Beyond it: Exercise 2.5."


def test_an_address_is_escaped():
    assert "<b>" not in Link("a", '"><b>').html
