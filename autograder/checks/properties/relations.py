"""The ways in which a call is made again."""

from __future__ import annotations

from autograder.checks.properties.arguments import alone, closed, plain, spread, steady
from autograder.checks.properties.call import WayToCall
from autograder.checks.properties.learning import dropout, gradient, training
from autograder.checks.properties.modules import loaded, start

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
