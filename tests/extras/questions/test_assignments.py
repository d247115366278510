"""A quiz is graded by its letters alone, and by the key of the quiz that it names."""

import pytest

from autograder.course.errors import CourseError
from autograder.extras.questions import assignments

KEYS = {"1a2b": "BDA", "old0": "CCC"}
RIGHT = 'quiz = "1a2b"  # leave this line\nanswers = {1: "B", 2: " d", 3: "A"}'


def test_each_quiz_that_was_made_for_a_student_counts_by_its_own_key():
    assert assignments.verdict_on(RIGHT, KEYS, 6.0).points == 6.0
    older = RIGHT.replace("1a2b", "old0").replace('"B"', '"C"')
    assert assignments.verdict_on(older, KEYS, 6.0).points == 2.0


def test_a_wrong_letter_and_what_is_none_are_told_with_the_correct_one():
    answer = RIGHT.replace('"B"', '"C"').replace('" d"', '"BC"')
    verdict = assignments.verdict_on(answer, KEYS, 6.0)
    assert verdict.points == 2.0
    assert [case.title for case in verdict.cases] == [
        "Question 1: C; B is correct",
        "Question 2: no letter from A to D; D is correct",
        "Question 3: A",
    ]


def test_letters_may_be_written_one_by_one():
    answer = 'quiz = "1a2b"\nanswers = {}\nanswers[1] = "B"\nanswers[3] = "b"'
    assert assignments.verdict_on(answer, KEYS, 3.0).points == 1.0


def test_a_quiz_of_another_student_is_a_line():
    verdict = assignments.verdict_on(RIGHT, {"ffff": "BDA"}, 6.0)
    assert verdict.points == 0.0 and '"1a2b" was made for you' in verdict.note


@pytest.mark.parametrize(
    "answer",
    [
        "", "raise NotImplementedError  # your code here", "quiz = open('key')",
        'answers = {1: "B"}', "(" * 5000, "quiz = '1a2b", "x = 1\n" * 9000, "\x00",
        "quiz = answers = 3", "while True: pass",
    ],
)  # fmt: skip
def test_what_is_no_quiz_is_a_line_and_never_run(answer):
    verdict = assignments.verdict_on(answer, KEYS, 6.0)
    assert verdict.points == 0.0 and verdict.note.startswith("No quiz was found")


@pytest.mark.parametrize(
    "entries", ['**{1: "B"}', '1: ["B"]', 'f(): "B"', '1: f"B"', "1: 2", '"1": "B"']
)
def test_only_a_plain_number_and_a_plain_letter_count(entries):
    assert assignments.read(f'quiz = "1a2b"\nanswers = {{{entries}}}') == ("1a2b", {})


def test_keys_are_added_and_none_is_lost(tmp_path):
    with pytest.raises(CourseError, match="no quiz has a key"):
        assignments.read_keys(tmp_path, "quiz-02")
    assignments.keep(tmp_path, "quiz-02", {"ada": {"1a2b": "BDA"}})
    assignments.keep(tmp_path, "quiz-02", {"ada": {"3c": "A"}, "bob": {"4d": "B"}})
    assignments.keep(tmp_path, "quiz-03", {"ada": {"5e": "C"}})
    ada = {"1a2b": "BDA", "3c": "A"}
    assert assignments.read_keys(tmp_path, "quiz-02") == {
        "ada": ada,
        "bob": {"4d": "B"},
    }


def test_a_damaged_file_of_keys_is_a_line(tmp_path):
    path = tmp_path / ".autograder" / "quizzes.json"
    path.parent.mkdir()
    path.write_text("{broken")
    with pytest.raises(CourseError, match="damaged"):
        assignments.keep(tmp_path, "quiz-02", {"ada": {"1a2b": "BDA"}})
    assert path.read_text() == "{broken"
