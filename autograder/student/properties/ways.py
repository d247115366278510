"""The ways in which a call is made again."""

from __future__ import annotations

from autograder.student.properties.arguments import alone, closed, plain, spread, steady
from autograder.student.properties.call import WayToCall
from autograder.student.properties.learning import dropout, gradient, training
from autograder.student.properties.modules import loaded, start

WAYS: dict[str, WayToCall] = {
    way.__name__: way
    for way in (
        plain,
        steady,
        alone,
        spread,
        training,
        dropout,
        gradient,
        loaded,
        start,
        closed,
    )
}
