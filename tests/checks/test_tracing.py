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

ANSWER = AnswerCode("attention/scores", "dot_product_scores", "", {})
CODE = "def dot_product_scores(q, k):\n    return {}"
RIGHT = CODE.format("q @ k.mT / q.size(-1) ** 0.5")


def test_a_report_has_the_call_the_notes_and_what_edits_come_to():
    noted = CODE.format(f"{NOTE}(0, q @ k.mT)")
    tried = [CODE.format(text) for text in ("2 * q @ k.mT", "k @ q.mT", "q @ k", "q+")]
    case, *_ = report(ANSWER, noted, tried)["cases"]
    assert [name for name, _ in case["call"]] == ["q", "k"]
    ((number, value),) = case["notes"]
    assert number == 0 and value["shape"] == case["result"]["shape"] == [2, 3, 4, 7]
    doubled, turned, failed, unread = case["edits"]
    assert doubled["factors"] == [2.0] and turned["turned"] == [True]
    assert failed["raised"].startswith("RuntimeError")
    assert unread["raised"].startswith("SyntaxError")


def test_an_edit_that_never_ends_is_not_waited_for():
    endless = "def dot_product_scores(q, k):\n    while True: pass"
    case, *_ = report(ANSWER, RIGHT, [endless, RIGHT])["cases"]
    assert case["edits"][0]["near"] and case["edits"][1]["same"]


@pytest.mark.parametrize(
    "code, why",
    [
        ("dot_product_scores = 3", "not a plain function"),
        ("raise ValueError('no')", "on its own it raises ValueError"),
        (CODE.format("1 / 0"), "nothing to ask about"),
        (CODE.format("None"), "nothing to ask about"),
    ],
)
def test_what_cannot_be_observed_is_said_in_a_line(code, why, capsys):
    with pytest.raises(CannotTraceError, match=why):
        report(ANSWER, code, [])
    show(ANSWER, code, [])
    last = capsys.readouterr().out.splitlines()[-1]
    assert json.loads(last.removeprefix(MARK)).keys() == {"refused"}
