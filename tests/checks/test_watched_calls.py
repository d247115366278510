"""The calls that a probe makes are watched, and no more of it runs than is needed."""

import torch
from torch import nn

from autograder.checks.probes import Probe
from autograder.checks.watched_calls import CallWatch

X = torch.arange(12.0).view(1, 4, 3)


def probe_of(*calls) -> Probe:
    def near(function, inputs):
        return {str(i): call(function, inputs["x"]) for i, call in enumerate(calls)}

    return Probe(near)


def twice(function, x):
    return function(function(x))


def test_a_call_is_kept_as_it_was_though_the_code_writes_into_it():
    def change(x):
        result = x.clone()
        x.zero_()
        return result

    (call,) = CallWatch("", 1, False, 1.0).of(probe_of(twice), change, {"x": X})
    assert torch.equal(call.arguments["x"], X) and torch.equal(call.result, X)


def test_after_the_last_watched_call_the_probe_is_ended():
    later = []
    probe = probe_of(lambda f, x: f(x), lambda f, x: later.append(x))
    assert len(CallWatch("", 1, False, 1.0).of(probe, lambda x: 2 * x, {"x": X})) == 1
    assert later == []


def test_earlier_calls_run_the_usual_code():
    def usual(x):
        return 2 * x

    def triple(x):
        return 3 * x

    watch = CallWatch("", 2, False, 1.0, usual)
    *_, call = watch.of(probe_of(twice), triple, {"x": X})
    assert torch.equal(call.arguments["x"], 2 * X) and torch.equal(call.result, 6 * X)


def test_a_module_says_how_it_was_made():
    class Twice(nn.Module):
        def __init__(self, size, bias=True):
            super().__init__()

        def forward(self, x):
            return 2 * x

    watch = CallWatch("forward", 1, False, 1.0)
    (call,) = watch.of(probe_of(lambda m, x: m(3, bias=False)(x)), Twice, {"x": X})
    assert call.construction == "Twice(3, bias=False)"
    assert torch.equal(call.result, 2 * X)


def watch_call(function, moves: bool = False):
    once = probe_of(lambda f, x: f(x))
    (call,) = CallWatch("", 1, moves, 1.0).of(once, function, {"x": X})
    return call


def watch_moves(function) -> dict[str, bool]:
    return watch_call(function, moves=True).moved


def test_it_is_seen_whether_the_last_row_reaches_row_0():
    assert watch_moves(lambda x: x.softmax(-1)) == {"x": False}
    assert watch_moves(lambda x: x.cumsum(-2)) == {"x": False}
    assert watch_moves(lambda x: x.softmax(-2)) == {"x": True}
    # a change that is the same for all entries of the row would not be seen here
    moves = watch_moves(lambda x: x.softmax(-1) / x.softmax(-1).sum(-2, True))
    assert moves == {"x": True}


def test_an_error_and_an_endless_call_are_told():
    def failing(x):
        raise ValueError("no")

    def endless(x):
        while True:
            pass

    assert watch_call(failing).raised == "ValueError: no"
    watch = CallWatch("", 1, False, 0.05)
    watch.of(probe_of(lambda f, x: f(x)), endless, {"x": X})
    assert watch.endless
