"""The judge believes tensors only, and ends in a verdict whatever the box does."""

import contextlib
import os
import signal
import socket
import threading
import time

import pytest
import torch

from autograder.grading import judging, naming, questioning
from autograder.grading.faults import Undecided
from autograder.grading.judge import Judge, Question
from autograder.grading.judging import decide, prepared, shown
from autograder.grading.line import Line
from autograder.grading.naming import named
from autograder.grading.questioning import Box
from autograder.kernel.meter import Meter
from autograder.oracle import answers
from autograder.solutions import attention
from autograder.student import agent, references
from autograder.student.check import NOT_SOLVED
from autograder.student.exercise import Other
from autograder.student.panel import as_text
from autograder.student.wire import WireError, receive, send, within

NAME = "attention/scores"
OTHER = "attention/scaled_dot_product"
TICKET = "t1"


@pytest.fixture
def ends():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


@pytest.fixture
def box(ends, monkeypatch):
    """Starts a box that serves the given object; returns the judge's end."""
    ours, theirs = ends
    monkeypatch.setenv(agent.CHANNEL, str(theirs.fileno()))

    def start(get, ticket=TICKET):
        def serve():
            with contextlib.suppress(WireError):  # the judge asks no more
                agent.serve(NAME, ticket, get)

        threading.Thread(target=serve, daemon=True).start()
        return ours

    return start


@pytest.fixture
def judge():
    process = Judge(b"secret", patience=120.0)
    yield process
    process.close()


def asked(channel, seconds=5.0, stop=None):
    """The box at the other end of a channel, and whether it has begun to answer."""
    found = Box(channel, TICKET, Meter(None), seconds, stop)
    found.await_ready()
    return found


def judged(channel, seed="abc", seconds=5.0):
    """The verdict as it is shown, on what answers there."""
    check = prepared(NAME, seed, seconds)
    verdict = decide(check, asked(channel, seconds))
    if not verdict.passed and verdict.results:
        verdict = named(check.exercise, check.task, verdict)
    return shown(check, verdict)


def hostile(theirs, behaviour):
    threading.Thread(target=behaviour, args=(theirs,), daemon=True).start()


def answering(reply):
    """A box that gives the same reply to every question."""

    def behave(channel):
        send(channel, f"ready {TICKET}")
        number = 0
        with contextlib.suppress(WireError, OSError):
            while receive(channel, wait=within(5))[0].startswith("ask"):
                reply(channel, f"answer {TICKET} {number}")
                number += 1

    return behave


# --- verdicts -------------------------------------------------------------------------


def test_all_answers_together_have_a_size_that_is_counted(box, monkeypatch):
    monkeypatch.setattr(questioning, "MOST_ANSWERED", 10_000)
    channel = box(lambda: lambda q, k: torch.zeros(40, 40))  # 6400 bytes
    findings = [f for r in judged(channel).results for f in r.findings]
    assert "no readable answer" not in findings[0].message
    assert any(questioning.NO_ANSWER in f.message for f in findings[1:])


def test_the_solution_is_worth_all_points(box):
    verdict = judged(box(lambda: attention.dot_product_scores))
    assert verdict.passed and verdict.points == verdict.max_points


def test_fresh_cases_are_asked_beside_the_visible_ones(box):
    verdict = judged(box(lambda: attention.dot_product_scores))
    visible = len(references.load("attention")[NAME].cases)
    hidden = [r.case for r in verdict.results if r.case.hidden]
    assert len(verdict.results) > len(hidden) >= visible
    stored = references.load("attention", "hidden")[NAME].cases
    assert not any(
        case.inputs[key].shape == other.inputs[key].shape
        and case.inputs[key].equal(other.inputs[key])
        for case in hidden
        for other in stored
        for key in ("q", "k")
        if key in case.inputs and key in other.inputs
    )


def test_nothing_is_drawn_for_a_stub(box, monkeypatch):
    def stub(q, k):
        raise NotImplementedError

    monkeypatch.setattr(judging, "fresh_cases", None)
    verdict = judged(box(lambda: stub))
    assert verdict.note.startswith(NOT_SOLVED) and verdict.points == 0


def test_what_the_box_is_asked_differs_by_submission():
    def drawing(seed):
        cases = prepared(NAME, seed, 5.0).cases
        return next(case.inputs["q"] for case in cases if case.hidden)

    assert not drawing("one").equal(drawing("two"))


def test_a_mistake_is_named(box):
    def swapped(q, k):
        return k @ q.transpose(-2, -1)

    verdict = judged(box(lambda: swapped))
    assert verdict.points < verdict.max_points and verdict.mistake


@pytest.mark.parametrize(
    ("answer", "most"),
    [
        (attention.dot_product_scores, 0),  # right
        (lambda q, k: k @ q.transpose(-2, -1), 3),  # one of the named mistakes
        (lambda q, k: q.no_such_method(), 0),  # an error that no mistake makes
    ],
)
def test_only_likely_mistakes_are_computed(box, monkeypatch, answer, most):
    computed = []
    given = answers.mistaken_answers
    monkeypatch.setattr(
        answers,
        "mistaken_answers",
        lambda task, objects, inputs: (
            computed.append(len(objects)) or given(task, objects, inputs)
        ),
    )
    judged(box(lambda: answer))
    assert (
        max(computed, default=0)
        <= most
        < len(references.load("attention")[NAME].mistakes)
    )


def test_who_fails_hidden_cases_only_is_compared_with_all_mistakes(box, monkeypatch):
    compared = []
    monkeypatch.setattr(
        answers,
        "mistaken_objects",
        lambda task, names: compared.append(set(names)) or {},
    )
    cases = references.load("attention")[NAME].cases
    seen = {
        tuple(value.flatten().tolist())
        for case in cases
        for name, value in case.inputs.items()
        if name.endswith("q")
    }

    def learnt_by_heart(q, k):
        scores = attention.dot_product_scores(q, k)
        return scores if tuple(q.flatten().tolist()) in seen else scores + 1

    verdict = judged(box(lambda: learnt_by_heart))
    assert verdict.points < verdict.max_points
    assert compared[-1] == set(references.load("attention")[NAME].mistakes)


def test_a_mistake_that_takes_too_long_to_find_is_not_named(box, monkeypatch):
    def endless(task, objects, inputs):
        while True:
            time.process_time()

    monkeypatch.setattr(naming, "NAMING_SECONDS", 0.2)
    monkeypatch.setattr(answers, "mistaken_answers", endless)
    verdict = judged(box(lambda: lambda q, k: k @ q.transpose(-2, -1)))
    assert 0 <= verdict.points < verdict.max_points


def test_an_undefined_name_is_reported(box):
    verdict = judged(box(lambda: undefined_name))  # noqa: F821
    assert verdict.points == 0 and "`undefined_name` is not defined" in as_text(verdict)


# --- what a box may do ----------------------------------------------------------------


def test_a_check_that_never_runs_earns_nothing(ends):
    ends[1].close()
    verdict = judged(ends[0])
    assert verdict.points == 0 and verdict.note == "The check did not run."


def test_the_rest_of_an_interrupted_exchange_does_not_disturb_the_next(box, ends):
    ours, theirs = ends
    send(theirs, "ready t0")
    send(theirs, "answer t0 0", {"scores": torch.ones(2, 2)})
    send(ours, "ask t0 1", {"q": torch.ones(2, 2), "k": torch.ones(2, 2)})
    send(ours, "done t0")
    assert judged(box(lambda: attention.dot_product_scores)).passed


@pytest.mark.parametrize(
    "reply",
    [
        lambda c, kind: send(c, kind, {}),
        lambda c, kind: send(c, kind, {"scores": "7"}),
        lambda c, kind: send(c, kind, {"scores": Other("Liar")}),
        lambda c, kind: send(c, kind, {"scores": torch.zeros(0)}),
        lambda c, kind: send(c, kind, {"scores": torch.full((4, 5), torch.nan)}),
        lambda c, kind: send(c, "verdict", {"points": torch.tensor(100.0)}),
        lambda c, kind: send(c, f"ready {TICKET}"),
        lambda c, kind: c.sendall(b"\xff" * 1000),
        lambda c, kind: c.sendall(b"\0\0\0\5hello"),
        lambda c, kind: c.shutdown(socket.SHUT_RDWR),
    ],
)
def test_no_reply_but_the_right_tensors_earns_points(ends, reply):
    hostile(ends[1], answering(reply))
    assert judged(ends[0], seconds=0.5).points == 0


def test_a_silent_box_costs_its_own_time_once(ends):
    asks = []
    hostile(ends[1], answering(lambda channel, kind: asks.append(kind)))
    check, found = prepared(NAME, "abc", 0.3), asked(ends[0], 0.3)
    assert decide(check, found).points == 0
    assert len(asks) <= 1 and not found.complete


def flood(channel):
    """Messages of no exchange, without end."""
    with contextlib.suppress(WireError, OSError):
        while True:
            send(channel, "answer x 0", {"scores": torch.zeros(100)})


def half_messages(channel):
    """A header that is said to come, and then a byte now and then."""
    with contextlib.suppress(OSError):
        channel.sendall(b"\0\2\0\0")
        while True:
            channel.sendall(b"x")
            time.sleep(0.01)


def noise(channel):
    with contextlib.suppress(OSError):
        while True:
            channel.sendall(os.urandom(1 << 16))


@pytest.mark.parametrize("junk", [flood, half_messages, noise])
def test_junk_without_end_ends_with_its_cell_and_earns_nothing(ends, junk):
    hostile(ends[1], junk)
    grader, stop = socket.socketpair()
    with grader, stop:
        end = threading.Timer(0.5, grader.send, [b"the cell has ended"])
        end.start()
        found = asked(ends[0], stop=Line(stop))
        end.join()
        assert not found.heard
        assert decide(prepared(NAME, "abc", 5.0), found).points == 0
    ends[0].shutdown(socket.SHUT_RDWR)


def test_the_box_waits_for_the_judge_as_long_as_its_cell_lives(box):
    channel = box(lambda: attention.dot_product_scores)
    check = prepared(NAME, "abc", 0.2)
    found = asked(channel, 0.2)
    time.sleep(1.0)  # longer than any answer may take
    assert decide(check, found).passed


# --- the process ----------------------------------------------------------------------


def exchange(process, channel, ticket=TICKET, submission="ada"):
    question = Question(NAME, submission, "key")
    with process.exchange(question) as found:
        found.ask(channel, None, ticket)
        while not found.decision:
            found.look()
            time.sleep(0.01)
        return found.named()


def test_the_judge_process_answers_and_outlives_requests(judge, ends, box):
    for ticket in ("t1", "t2"):
        channel = box(lambda: attention.dot_product_scores, ticket)
        decision = exchange(judge, channel, ticket)
        assert decision.record.points == decision.record.max_points
        assert decision.complete and "points" in decision.panel
        assert decision.record.submission == "ada"
    pid = judge._process.pid
    with judge.exchange(Question(NAME, "ada", "key")) as silent:
        silent.ask(ends[0], None, "t3")
        decision = silent.settle()
    assert decision.record.points == 0 and "did not run" in decision.record.note
    assert not decision.complete and judge._process.pid == pid


def test_a_judge_that_is_left_in_an_exchange_is_ended_and_replaced(judge, ends, box):
    judge.start()
    pid = judge._process.pid
    with (
        pytest.raises(KeyboardInterrupt),
        judge.exchange(Question(OTHER, "bob", "key")) as left,
    ):
        left.ask(ends[0], None, "t0")
        raise KeyboardInterrupt
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    channel = box(lambda: attention.dot_product_scores)
    decision = exchange(judge, channel)
    assert decision.record.exercise == NAME
    assert decision.record.points == decision.record.max_points


def test_a_judge_that_is_stopped_for_too_long_decides_nothing(judge, box):
    judge.start()
    stopped = judge._process.pid
    os.kill(stopped, signal.SIGSTOP)
    judge.patience = 0.3
    with pytest.raises(Undecided), judge.exchange(Question(OTHER, "bob", "key")):
        raise AssertionError("it was not prepared")
    judge.patience = 120.0
    channel = box(lambda: attention.dot_product_scores)
    assert exchange(judge, channel).record.exercise == NAME
    assert judge._process.pid != stopped


@pytest.mark.parametrize(
    "strange",
    [
        {"id": "of another exchange"},
        {"exercise": OTHER},
        {"submission": "bob"},
        {"state": "decided"},
        {},
    ],
)
def test_a_reply_that_does_not_match_is_not_taken(judge, monkeypatch, strange):
    ours, theirs = socket.socketpair()
    with theirs:
        judge._line, judge._process, judge._greeted = Line(ours), FakeProcess(), True
        monkeypatch.setattr("secrets.token_hex", lambda size: "the id")
        right = {"id": "the id", "exercise": NAME, "submission": "ada"}
        reply = {**right, "state": "prepared", **strange}
        Line(theirs).put(reply if strange else {}, 5.0)
        refused = pytest.raises(Undecided, match="another question")
        with refused, judge.exchange(Question(NAME, "ada", "key")):
            raise AssertionError("it was taken")
        assert judge._process is None


class FakeProcess:
    def kill(self):
        pass

    def wait(self):
        pass


def test_the_judge_process_does_not_survive_its_grader(judge):
    judge.start()
    process = judge._process
    judge._line.close()
    process.wait(60)
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
