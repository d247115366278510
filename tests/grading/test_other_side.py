"""The judge plays the interactor: what a probe would have to hide stays with it."""

import itertools
import random
import socket
import statistics
import sys
import threading

import pytest
import torch
from torch import nn

from autograder.authoring.catalogue import specification
from autograder.authoring.variants import build_object
from autograder.checks import agent, references
from autograder.checks.exercise import RAISED
from autograder.checks.interactor import concluded, reply
from autograder.checks.probes import find
from autograder.grading.judge.exchange import Seconds
from autograder.grading.judge.judging import decide, hide_stub
from autograder.grading.judge.preparing import prepare_check
from autograder.grading.judge.questioning import SandboxClient
from autograder.sandbox.meter import Meter
from transformer_course.sequence_reversal.library import measuring

TICKET = "t1"
TABLES = "positional_encoding/bug_clinic"
LAYERS = "encoder_decoder/bug_clinic"
GREEDY = "sequence_reversal/greedy_decode"
MODEL = "sequence_reversal/trained_model"
WRITER = "since_2017/trained_model"
RECOVERY = "text_recovery/model"


def target(name: str) -> object:
    """The course's own solution."""
    return build_object(specification(name))


def judged(name: str, answer: object, monkeypatch, seed: str = "abc"):
    """The verdict on an object in a sandbox at the other end of a socket."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        monkeypatch.setenv(agent.CHANNEL, str(theirs.fileno()))
        serve = threading.Thread(
            target=agent.serve, args=(name, TICKET, lambda: answer), daemon=True
        )
        serve.start()
        check = prepare_check(name, seed)
        sandbox = SandboxClient(ours, TICKET, Meter(None), Seconds(60.0))
        sandbox.await_ready()
        verdict = hide_stub(decide(check, sandbox))
        serve.join(60)
        return verdict


@pytest.mark.parametrize(
    "name", [TABLES, GREEDY, pytest.param(RECOVERY, marks=pytest.mark.slow)]
)
def test_a_solution_is_worth_all_points_with_the_judge_on_the_other_side(
    name, monkeypatch
):
    verdict = judged(name, target(name), monkeypatch)
    assert verdict.passed, [r.findings for r in verdict.results if not r.passed]


def test_the_judge_hears_of_a_ready_made_answer_and_gives_nothing_for_it(monkeypatch):
    verdict = judged(GREEDY, measuring.write, monkeypatch)
    assert verdict.points == 0
    assert verdict.mistake and "measuring.write` is what" in verdict.mistake.says


@pytest.mark.slow
def test_a_layers_test_is_worth_all_points_with_the_layers_elsewhere(monkeypatch):
    assert judged(LAYERS, target(LAYERS), monkeypatch).passed


# --- who reads the frames above -------------------------------------------------------


@pytest.fixture
def no_numbers(monkeypatch):
    """A tensor's text is its shape: words are looked for, and numbers take long."""
    monkeypatch.setattr(torch.Tensor, "__repr__", lambda own: f"tensor {[*own.shape]}")


def overheard() -> str:
    """All that the frames above hold, as text."""
    frame, texts = sys._getframe(1), []
    while frame:
        if "autograder" in frame.f_code.co_filename:
            for value in list(frame.f_locals.values()):
                texts.append(repr(vars(value)) if hasattr(value, "__dict__") else "")
                texts.append(repr(value))
        frame = frame.f_back
    return "\n".join(texts)


def test_no_frame_of_the_sandbox_knows_which_table_is_right(monkeypatch, no_numbers):
    heard = []

    def test(table):
        heard.append(overheard())
        raise AssertionError

    assert judged(TABLES, test, monkeypatch).points == 0
    declared = "the right table of *"  # beside the probe, the same for everybody
    heard = [text.replace(declared, "") for text in heard]
    assert heard and not any("wrong" in text or "right t" in text for text in heard)


def test_no_frame_of_the_sandbox_knows_the_illness_of_a_layer(monkeypatch, no_numbers):
    heard = []

    def test(layer, d_model, d_ff):
        heard.append(overheard() + repr(layer))
        assert not hasattr(layer, "bug")
        raise AssertionError

    assert judged(LAYERS, test, monkeypatch).points == 0
    for word in ("memory,", "relu", "gelu", "unpacks", "no mask", "Decoder"):
        assert not any(word in text for text in heard), word


def test_a_layer_of_the_same_parts_cannot_be_told_by_its_weights():
    exercise = references.load("encoder_decoder", "public", LAYERS)[LAYERS]
    for case in exercise.cases:
        revealed = (
            find(LAYERS).interactor(case.inputs, random.Random(1)).reveal_inputs()
        )
        assert not any(isinstance(v, torch.Tensor) and v.dim() > 1 for v in revealed)
        assert (
            len({revealed[f"shapes.{n}"] for n in range(int(revealed["sizes"][-1]))})
            == 1
        )


@pytest.mark.parametrize("name", [TABLES, LAYERS])
def test_who_guesses_a_clinic_by_order_or_number_is_caught(name, monkeypatch):
    shares = []
    for accepted, seed in itertools.product(({0}, {1}, {0, 2}), ("abc", "def")):
        count = iter(range(10_000))

        def test(*_, accepted=accepted, count=count):
            assert next(count) % 3 in accepted

        verdict = judged(name, test, monkeypatch, seed)
        shares.append(verdict.points / verdict.max_points)
    # A guess hits a case of a few questions now and then: never half of them, and
    # hardly anything on average.
    assert max(shares) < 0.5 and statistics.fmean(shares) <= 0.1


def test_a_layer_answers_alike_each_time_it_is_asked_alike():
    name = "encoder_decoder/bug_clinic"
    case = references.load("encoder_decoder")[name].cases[0]
    side = find(name).interactor(case.inputs, random.Random(1))
    width = int(case.inputs["sizes"][0])
    right = side.names.index("a right decoder layer")
    for before in range(right):
        reply(side, {"thing": torch.tensor(before), "word": "rejected"})
    question = {
        "thing": torch.tensor(right),
        "x": torch.randn(2, 3, width),
        "memory": torch.randn(2, 4, width),
    }
    first, second_answer = (reply(side, question)["output"] for _ in range(2))
    moved = reply(side, question | {"x": question["x"] + 1})["output"]
    exact = reply(side, {n: v.double() if v.dim() else v for n, v in question.items()})
    assert first.equal(second_answer) and not first.equal(moved)
    assert exact["output"].dtype == torch.float64


def test_a_model_has_no_lines_to_read(monkeypatch):
    names_seen = []

    def greedy_decode(model, source, max_len):
        names_seen.append(set(vars(model)) | set(dict(model.named_buffers())))
        assert "lines" not in overheard()
        return torch.zeros(len(source), max_len, dtype=torch.int64)

    assert judged(GREEDY, greedy_decode, monkeypatch).points == 0
    assert names_seen and not any({"lines", "noise"} & names for names in names_seen)


# --- who sends something else ---------------------------------------------------------


def reports(name: str, report) -> dict:
    """What the other side of the first case makes of a report."""
    case = prepare_check(name, "abc").cases[0]
    side = find(name).interactor(case.inputs, random.Random(1))
    return concluded(side, report(side))


@pytest.mark.parametrize("name", [TABLES, LAYERS, MODEL, WRITER])
def test_a_report_of_nonsense_is_an_answer_that_is_wrong(name):
    nonsense = [
        {},
        {"0": torch.zeros(3)},
        {"0": "accepted"},
        {"weights.x": torch.zeros(3)},
        {"weights.x": "y"},
        {"share": torch.tensor(1.0)},
    ]
    for report in nonsense:
        assert RAISED in reports(name, lambda side, report=report: report)


@pytest.mark.parametrize("name", [LAYERS, GREEDY])
def test_a_question_of_nonsense_is_answered_by_a_reason(name):
    case = prepare_check(name, "abc").cases[0]
    side = find(name).interactor(case.inputs, random.Random(1))
    vast = torch.zeros(1, 1, 1 << 20)
    questions = [
        {},
        {"thing": torch.tensor(99)},
        {"thing": "0"},
        {"source": torch.zeros(2, 2)},
        {"thing": torch.tensor(0), "x": vast, "memory": vast},
        {"thing": torch.tensor(0), "x": torch.zeros(1, 1, 1), "memory": "m"},
        {
            "source": torch.zeros(1, 0, dtype=torch.int64),
            "tokens": torch.zeros(9, 9, dtype=torch.int64),
        },
    ]
    for question in questions:
        assert RAISED in reply(side, question)


# --- a trained model is its weights ---------------------------------------------------


class Handmade(nn.Module):
    """Reverses by a rule; its weights have the names of a real one's."""

    def __init__(self):
        super().__init__()
        from transformer_course.solutions.sequence_reversal import new_model

        torch.manual_seed(0)
        self.inner = new_model()

    def forward(self, source, tokens):
        rows = []
        for row in source.tolist():
            line = [*row[: row.index(2)][::-1], 2]
            rows.append((line + [0] * tokens.size(1))[: tokens.size(1)])
        return nn.functional.one_hot(torch.tensor(rows), 14).float()


class Peeking(nn.Module):
    """Reads the byte that it should predict; its parts are those of a new model."""

    def __init__(self):
        super().__init__()
        from transformer_course.solutions.since_2017 import new_model

        torch.manual_seed(0)
        for name, part in new_model().named_children():
            self.add_module(name, part)

    def forward(self, ids):
        return 9.0 * nn.functional.one_hot(ids.roll(-1, 1), 128)


@pytest.mark.parametrize(("name", "handmade"), [(MODEL, Handmade), (WRITER, Peeking)])
def test_a_handmade_module_is_worth_what_its_weights_are(name, handmade, monkeypatch):
    assert judged(name, handmade, monkeypatch).points == 0


def test_trained_weights_count_whatever_the_module_around_them_says(monkeypatch):
    from transformer_course.since_2017.exercises.trained_model import instructors_model

    def of_ones_own():
        model = Peeking()
        model.load_state_dict(instructors_model().state_dict())
        return model

    assert judged(WRITER, of_ones_own, monkeypatch).passed


def test_a_report_of_the_share_is_not_taken(monkeypatch):
    honest = find(MODEL)
    forged = {"share": torch.tensor(1.0), "exact match": "reverses"}
    assert RAISED in reports(MODEL, lambda side: forged)
    assert (
        "source"
        not in honest.interactor(
            prepare_check(MODEL, "abc").cases[0].inputs, random.Random(1)
        ).reveal_inputs()
    )


@pytest.mark.slow
def test_a_trained_model_is_worth_all_points(monkeypatch):
    from transformer_course.solutions.sequence_reversal import trained_model

    assert judged(MODEL, trained_model, monkeypatch).passed
