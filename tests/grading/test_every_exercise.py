"""Of every exercise: whatever its cases are answered with ends in a verdict."""

import functools
import random
import socket
import threading
from collections.abc import Callable
from typing import NamedTuple

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from autograder.authoring.catalogue import specification, specifications
from autograder.checks import references
from autograder.checks.compare import judge
from autograder.checks.exercise import RAISED, Answers, Case, Value
from autograder.checks.interactor import concluded
from autograder.checks.wire import receive, send
from autograder.course import units
from autograder.grading.judge.naming import name_mistake
from autograder.grading.judge.preparing import PreparedCheck
from tests.conftest import mostly_slow
from tests.grading.answering import DTYPES, keep_verdict, run, values

NAMES = [e.name for unit in units() for e in specifications(unit.name)]
# What a right tensor may become on its way; some of it not every tensor can.
TWISTS: tuple[Callable[[torch.Tensor], Value], ...] = (
    *(lambda x, dtype=dtype: x.to(dtype) for dtype in DTYPES),
    lambda x: x.reshape(-1),
    lambda x: x[None],
    lambda x: x[:0],
    lambda x: x.flip(0),
    lambda x: x.expand(3, *x.shape),
    lambda x: x * float("nan"),
    lambda x: x * 1e38 * 10,
    lambda x: x.double() * 1e300,
    lambda x: x + 1,
    lambda x: x.where(x.cumsum(0) == x, torch.full_like(x, float("-inf"))),
    torch.zeros_like,
    lambda x: str(x.tolist()),
)


class Place(NamedTuple):
    """What is answered instead at one place of all; None: nothing."""

    number: int
    twist: int
    value: Value | None


places = st.builds(
    Place,
    st.integers(0, 100_000),
    st.integers(0, 2 * len(TWISTS)),  # half of them: the value
    st.none() | values,
)


@st.composite
def exchanges(draw, names: list[str]) -> tuple[str, bool, list[Place]]:
    """An exercise, whether its answers are right at first, and other answers."""
    name = draw(st.sampled_from(names))
    return name, draw(st.booleans()), draw(st.lists(places, max_size=12))


@functools.cache
def prepared(name: str) -> PreparedCheck:
    """The check with its visible cases."""
    visible = references.load(name.split("/")[0], "public", name)[name]
    return PreparedCheck(visible, specification(name), "seed")


def answers_to_cases(
    check: PreparedCheck, right: bool, changes: list[Place]
) -> list[Answers]:
    """What is answered to each case."""
    cases = check.exercise.cases
    answers_by_case: list[dict[str, Value]] = [
        dict(case.expected) if right else {} for case in cases
    ]
    keys = [
        (n, key) for n, case in enumerate(cases) for key in (*case.expected, RAISED)
    ]
    for place in changes:
        n, key = keys[place.number % len(keys)]
        expected = cases[n].expected.get(key)
        value = place.value
        if place.twist < len(TWISTS) and isinstance(expected, torch.Tensor):
            value = _twisted(expected, place.twist)
        answers_by_case[n].pop(key, None)
        if value is not None:
            answers_by_case[n][key] = value
    return answers_by_case


def _twisted(value: torch.Tensor, twist: int) -> Value:
    try:
        return TWISTS[twist](value)
    except (RuntimeError, TypeError, IndexError):
        return value


def concludes(name: str, right: bool, changes: list[Place]) -> None:
    """See that a verdict comes of these answers, and of what our side makes of them."""
    check = prepared(name)
    sent = answers_to_cases(check, right, changes)
    received = [
        concluded(check.side(case), answers)
        for case, answers in zip(check.exercise.cases, sent, strict=True)
    ]
    for answers in (sent, received):
        remaining = iter(answers)
        keep_verdict(check, lambda case, remaining=remaining: next(remaining))


@run(60)  # a slow one tries a hundred of each exercise
@given(exchanges(NAMES))
def test_answers_to_any_exercise_end_in_a_verdict(exchange):
    concludes(*exchange)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_hundred_answers_to_each_exercise_end_in_a_verdict(name):
    @run(100)
    @given(exchanges([name]))
    def conclude_exchange(exchange):
        concludes(*exchange)

    conclude_exchange()


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_search_for_a_mistake_survives_any_answers(name):
    check = prepared(name)

    @run(3)
    @given(exchanges([name]))
    def diagnose_exchange(exchange):
        _, right, changes = exchange
        remaining = iter(answers_to_cases(check, right, changes))

        def ask(case: Case) -> Answers:
            return next(remaining)

        name_mistake(
            check.exercise, check.task, judge(check.exercise, check.exercise.cases, ask)
        )

    diagnose_exchange()


# What messages hold is nothing that a unit decides: one tells.
@pytest.mark.parametrize("unit", mostly_slow(number="04"))
def test_what_is_asked_and_what_is_right_fit_into_messages(unit):
    """A sandbox that cannot read a question has no answer, however right it is."""
    for visibility in ("public", "hidden"):
        for exercise in references.load(unit.name, visibility).values():
            side = specification(exercise.name).interactor_class
            for case in exercise.cases:
                arrive(side(case.inputs, random.Random(0)).reveal_inputs())
                if not case.measure:
                    arrive(case.expected)


def arrive(values: Answers) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        sender = threading.Thread(target=send, args=(ours, "values", values))
        sender.start()
        assert receive(theirs)[1].keys() == values.keys()
        sender.join()
