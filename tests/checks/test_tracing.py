"""An answer is observed on the visible cases, and each edit beside it."""

import json

import pytest

from autograder.checks.tracing import (
    MARK,
    NOTE,
    AnswerCode,
    CannotTraceError,
    report,
    show,
)

ANSWER = AnswerCode("attention/softmax", "stable_softmax", "", {})
CODE = (
    "def stable_softmax(x):\n"
    "    powers = (x - x.amax(-1, keepdim=True)).exp()\n"
    "    return {}"
)
WEIGHTS = "powers / powers.sum(-1, keepdim=True)"
RIGHT = CODE.format(WEIGHTS)


def test_a_report_has_the_call_the_notes_and_what_edits_come_to():
    noted = CODE.format(f"{NOTE}(0, {WEIGHTS})")
    texts = f"2 * {WEIGHTS}", f"({WEIGHTS}).mT", "powers @ powers", "powers+"
    tried = [CODE.format(text) for text in texts]
    case, *_ = report(ANSWER, noted, tried)["cases"]
    assert [name for name, _ in case["call"]] == ["x"]
    ((number, value),) = case["notes"]
    assert number == 0 and value["shape"] == case["result"]["shape"] == [3, 5]
    doubled, turned, failed, unread = case["edits"]
    assert doubled["factors"] == [2.0] and turned["turned"] == [True]
    assert failed["raised"].startswith("RuntimeError")
    assert unread["raised"].startswith("SyntaxError")


def test_an_edit_that_never_ends_is_not_waited_for():
    endless = "def stable_softmax(x):\n    while True: pass"
    case, *_ = report(ANSWER, RIGHT, [endless, RIGHT])["cases"]
    assert case["edits"][0]["near"] and case["edits"][1]["same"]


@pytest.mark.parametrize(
    "code, reason",
    [
        ("stable_softmax = 3", "not a plain function"),
        ("raise ValueError('no')", "on its own it raises ValueError"),
        (CODE.format("1 / 0"), "nothing to ask about"),
        (CODE.format("None"), "nothing to ask about"),
    ],
)
def test_what_cannot_be_observed_is_said_in_a_line(code, reason, capsys):
    with pytest.raises(CannotTraceError, match=reason):
        report(ANSWER, code, [])
    show(ANSWER, code, [])
    last = capsys.readouterr().out.splitlines()[-1]
    assert json.loads(last.removeprefix(MARK)).keys() == {"refused"}
