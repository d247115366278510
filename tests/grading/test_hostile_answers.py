"""Whatever a sandbox answers, the judge ends soon, in a verdict that can be kept."""

import functools
import json
import time
from dataclasses import replace

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from autograder.authoring.catalogue import specification
from autograder.checks import references
from autograder.checks.compare import judge
from autograder.checks.exercise import RAISED, STUB, Answers, Other
from autograder.checks.interactor import concluded, reply
from autograder.grading.judge.preparing import PreparedCheck, find_exercise
from autograder.grading.judge.rendered import render_verdict, undecided_verdict
from autograder.grading.judge.verdict import Verdict
from tests.grading.answering import keep_verdict, run, values
from transformer_course.since_2017.exercises.trained_model import instructors_model
from transformer_course.text_recovery.exercises._handed_in import likeness

NAMES = (
    "attention/scaled_dot_product", "attention/masks", "positional_encoding/bug_clinic",
    "encoder_decoder/bug_clinic", "sequence_reversal/greedy_decode",
    "sequence_reversal/trained_model", "text_recovery/bleu", "text_recovery/model",
    "since_2017/trained_model",
)  # fmt: skip
OTHERS = {
    RAISED,
    STUB,
    "",
    "weights.x",
    "share",
    "texts",
    "recovery",
}  # names of answers
LONG = 200_000  # characters: about what a message's header may hold


@functools.cache
def prepared(name: str) -> PreparedCheck:
    """The check, of which the first visible cases are asked: to draw takes longer."""
    unit = name.split("/")[0]
    exercise = references.load(unit, "public", name)[name]
    exercise = replace(exercise, cases=exercise.cases[:2])
    return PreparedCheck(exercise, specification(name), "seed")


def verdict(name: str, answers: Answers) -> Verdict:
    """What is kept of a check that got these answers to every question."""
    check = prepared(name)
    return keep_verdict(check, lambda case: concluded(check.side(case), answers))


@st.composite
def answers(draw, name: str) -> Answers:
    """Answers with the right names or others, and any values."""
    check = prepared(name)
    case_keys = {key for case in check.exercise.cases for key in case.expected}
    indices = {str(n) for n in range(4)}
    names = st.sampled_from(sorted(case_keys | indices | OTHERS))
    return draw(st.dictionaries(names | st.text(max_size=4), values, max_size=8))


@st.composite
def exchanges(draw) -> tuple[str, Answers]:
    name = draw(st.sampled_from(NAMES))
    return name, draw(answers(name))


@run(100)  # the slow one tries ten thousand
@given(exchanges())
@example(("attention/scaled_dot_product", {RAISED: ""}))
@example(("text_recovery/model", {"texts": "[" * 100_000}))
@example(("text_recovery/model", {"texts": "[1e999]"}))
@example(("text_recovery/model", {"recovery": '{"recovery": 100}'}))
def test_any_answers_end_in_a_verdict(exchange):
    verdict(*exchange)


@pytest.mark.parametrize("factor", [1e3, 1e6, 1e38, float("inf")])
def test_a_model_that_diverged_ends_in_a_verdict(factor):
    model = instructors_model()
    with torch.no_grad():
        model.norm.weight.mul_(factor)
    weights = {f"weights.{n}": p.detach() for n, p in model.named_parameters()}
    assert verdict("since_2017/trained_model", weights).points == 0


@pytest.mark.long
@pytest.mark.slow
@run(10_000)
@given(exchanges())
def test_ten_thousand_answers_end_in_a_verdict(exchange):
    verdict(*exchange)


QUESTIONS = ("thing", "word", "x", "memory", "pull", "source", "tokens", "")


@run(100)
@given(
    st.sampled_from(("encoder_decoder/bug_clinic", "sequence_reversal/greedy_decode")),
    st.dictionaries(st.sampled_from(QUESTIONS), values, max_size=4),
)
def test_any_question_is_answered(name, question):
    check = prepared(name)
    reply(check.side(check.exercise.cases[0]), question)


@pytest.mark.parametrize("piece", ["a ", "a", "[", "é", "\n", "1.", "Aa, ", ". "])
@pytest.mark.parametrize("rows", [1, 100])
def test_the_longest_texts_are_compared_in_time(piece, rows):
    text = (piece * LONG)[: LONG // rows]
    check = prepared("text_recovery/model")
    wanted = json.loads(str(check.exercise.cases[0].inputs["originals"]))[:100]
    started = time.process_time()
    likeness([text] * rows + [""] * (len(wanted) - rows), wanted)
    assert time.process_time() - started < 20


@pytest.mark.parametrize("piece", ["\n", "<div>", "*a", "`", "[", "é", "\x1b["])
def test_the_longest_errors_are_shown_in_time(piece):
    started = time.process_time()
    verdict("attention/scaled_dot_product", {RAISED: (piece * LONG)[:LONG]})
    assert time.process_time() - started < 5


def test_a_fault_of_ours_is_left_to_a_person_and_costs_no_other_check():
    exercise = find_exercise("attention/scaled_dot_product")
    rendered = undecided_verdict(exercise, "me", "a.py:1: KeyError")
    assert rendered.verdict.decided == "person" and rendered.verdict.exercise in NAMES
    assert rendered.verdict.max_points == 28.0 and "KeyError" not in rendered.html
    assert "a person looks at it" in rendered.html


@pytest.mark.parametrize(
    "name", ["attention/scaled_dot_product", "text_recovery/learn_merges"]
)
def test_the_longest_names_of_types_make_a_panel_of_the_usual_size(name):
    check = prepared(name)
    vast = Other("<b>\u202e" * (LONG // 4))
    wrong = judge(
        check.exercise, check.cases, lambda case: dict.fromkeys(case.expected, vast)
    )
    rendered = render_verdict(wrong, "somebody")
    assert wrong.points == 0 and len(rendered.html) < 50_000
    assert len(json.dumps(rendered.verdict.to_json())) < 50_000
