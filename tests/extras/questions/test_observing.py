"""Answers are observed in a sandbox, whatever else the notebook does there."""

import pytest

from autograder.extras.questions.edits import edits
from autograder.extras.questions.listing import listing
from autograder.extras.questions.notes import insert_notes
from autograder.extras.questions.observations import NothingObservedError, read
from autograder.extras.questions.observing import ObservationRequest, observe_answers

UNIT = "02_attention"
IMPORTS = "import math\nimport torch"
ANSWER = (
    "def stable_softmax(x):\n    powers = (x - x.amax(-1, keepdim=True)).exp()\n"
    "    return powers / powers.sum(-1, keepdim=True)"
)


def request_observation(source: str = ANSWER) -> ObservationRequest:
    code_listing = listing(source, "stable_softmax")
    codes = tuple(edit.code for edit in edits(code_listing))
    return ObservationRequest(
        "attention/softmax",
        code_listing.target,
        code_listing.method,
        insert_notes(code_listing)[0],
        codes,
    )


def test_an_answer_is_observed_with_its_edits():
    (printed,) = observe_answers(UNIT, [IMPORTS, ANSWER], [request_observation()])
    observations = read(printed)
    assert [value.shape for _, value in observations[0].call] == [(3, 5)]
    assert observations[0].result.shape == (3, 5)
    assert len(observations[0].edits) == len(request_observation().edits) > 2


def test_a_cell_that_ends_its_process_costs_only_itself(monkeypatch):
    monkeypatch.setattr("autograder.extras.questions.observing._CELL_SECONDS", 2)
    ending = ("import os\nos._exit(1)", "raise SystemExit", "while True: pass")
    cells = [*ending, "1 / 0", "print('autograder-trace {}')"]
    (printed,) = observe_answers(
        UNIT, [IMPORTS, *cells, ANSWER], [request_observation()]
    )
    assert read(printed)[0].result.shape == (3, 5)


def test_hostile_answers_stay_in_the_sandbox(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("canary")
    target = tmp_path / "written.txt"
    source = (
        "def stable_softmax(x):\n"
        f"    open({str(target)!r}, 'w').write('out')\n"
        "    return x"
    )
    reading = f"print(open({str(secret)!r}).read())\n{ANSWER}"
    first, second = observe_answers(
        UNIT, [IMPORTS], [request_observation(source), request_observation(reading)]
    )
    assert not target.exists() and "canary" not in first + second
    for printed in (first, second):
        with pytest.raises(NothingObservedError):
            read(printed)


def test_an_answer_that_never_ends_costs_only_itself(monkeypatch):
    monkeypatch.setattr("autograder.extras.questions.observing._CELL_SECONDS", 2)
    source = (
        "def stable_softmax(x):\n"
        "    try:\n        while True: pass\n"
        "    except BaseException:\n        while True: pass\n    return x"
    )
    first, second = observe_answers(
        UNIT, [IMPORTS], [request_observation(source), request_observation()]
    )
    with pytest.raises(NothingObservedError):
        read(first)
    assert read(second)[0].result.shape == (3, 5)
