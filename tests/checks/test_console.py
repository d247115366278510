"""A check can be read on any console, and none makes it stop."""

import contextlib
import io

from autograder.checks.check import Check
from autograder.checks.console import replace_unprintable, showable
from transformer_course.solutions import attention

NAME = "attention/softmax"


def console():
    """Standard output with the code page of Windows in Western Europe."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    return contextlib.redirect_stdout(stream)


def read_stream(stream):
    stream.flush()
    return stream.buffer.getvalue().decode("cp1252")


def test_what_a_console_has_stays_and_the_rest_becomes_plain():
    with console():
        assert showable("Müller · 3 × 4") == "Müller · 3 × 4"
        assert showable("✓ a → b, 中") == "+ a -> b, ?"


def test_a_stream_without_an_encoding_of_its_own_shows_all():
    with contextlib.redirect_stdout(io.StringIO()):
        assert showable("✓ →") == "✓ →"


def test_verdicts_and_the_summary_are_told_on_a_windows_console():
    check = Check()
    with console() as stream:
        check(NAME, attention.stable_softmax)
        check(NAME, lambda n: None)
        print(check.summary())
    lines = read_stream(stream).splitlines()
    assert any(line.startswith("  + ") for line in lines)
    assert any(line.startswith("  x ") for line in lines)
    assert lines[-1].startswith("Grading also uses")


def test_what_the_students_code_prints_makes_no_right_answer_wrong():
    def loud(x):
        print("x →", x)
        return attention.stable_softmax(x)

    with console() as stream:
        assert Check()(NAME, loud).passed
    assert "x ->" in read_stream(stream)


def test_whoever_prints_on_a_windows_console_does_not_stop():
    """Also a cell of the course, or a demonstration: the checks are imported first."""
    with console() as stream:
        replace_unprintable()
        print("✓ 3 × 4")
    assert read_stream(stream) == "? 3 × 4\n"
