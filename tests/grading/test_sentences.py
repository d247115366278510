"""Groups of wrong answers without a name, and what teachers say about them."""

import pytest

from autograder.grading import sentences
from autograder.grading.judge.verdict import Verdict
from tests.classroom.unnamed_answers import failed


@pytest.mark.parametrize(
    "verdict",
    [
        failed("a1", mistake="halved"),
        failed("a1", points=2.0),
        Verdict("numbers/double", 0.0, 2.0, panel="nothing was tried"),
    ],
)
def test_what_is_named_correct_or_untried_is_in_no_group(verdict):
    assert sentences.group_of(verdict) == ""


def test_a_group_is_known_by_its_answers_to_visible_cases():
    assert sentences.group_of(failed("a1")) == sentences.group_of(failed("a1"))
    assert sentences.group_of(failed("a1")) != sentences.group_of(failed("b2"))


def test_sentences_are_kept_beside_those_of_other_groups(tmp_path):
    sentences.keep(tmp_path, "02_attention", {"aa": "=SUM(1) is no sum."})
    sentences.keep(tmp_path, "02_attention", {"bb": "Which axis?"})
    stored = {"aa": "=SUM(1) is no sum.", "bb": "Which axis?"}
    assert sentences.read(tmp_path, "02_attention") == stored
    assert sentences.read(tmp_path, "03_multi_head_attention") == {}
