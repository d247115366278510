"""It is seen whose code runs."""

import functools
import sys

from autograder.checks.calls import code_of, running


def inner(x: int) -> int:
    return x + 1


@functools.wraps(inner)
def wrapped(x: int) -> int:
    return inner(x)


class Thing:
    size = 3

    def grown(self) -> int:
        return inner(self.size)


def test_a_function_that_is_called_by_another_one_is_seen():
    with running() as codes:
        Thing().grown()
    assert code_of(inner) <= codes and code_of(Thing) <= codes
    with running() as codes:
        Thing()
    assert not code_of(inner) & codes and not code_of(Thing) & codes


def test_code_is_that_of_functions_and_methods_and_of_what_is_wrapped():
    assert code_of(wrapped) == code_of(inner) == {inner.__code__}
    assert code_of(Thing) == {Thing.grown.__code__}
    assert code_of(3) == code_of(len) == set()


def test_a_profiler_of_somebody_else_is_put_back():
    def ignore_event(*_: object) -> None: ...

    before = sys.getprofile()
    sys.setprofile(ignore_event)
    try:
        with running():
            inner(1)
        assert sys.getprofile() is ignore_event
    finally:
        sys.setprofile(before)
