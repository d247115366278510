"""Three policies, one setting: the notebook's head and the assistants say the same."""

import pytest

from autograder.authoring import assistants, colab
from autograder.course import Unit, find_unit
from autograder.course.errors import CourseError


def course(tmp_path, setting: str) -> Unit:
    text = f"{setting}\n[colab]\n"
    place = 'owner = "a"\nrepository = "b"\nbranch = "c"\n'
    (tmp_path / "course.toml").write_text(text + place)
    return Unit("01", "numbers", tmp_path)


@pytest.mark.parametrize("name", assistants.POLICIES)
def test_one_setting_is_said_in_the_notebook_s_head_and_to_assistants(tmp_path, name):
    unit = course(tmp_path, f'assistants = "{name}"')
    head, code = colab.published(tmp_path).generated_cells(unit).values()
    chosen = assistants.POLICIES[name]
    assert f") {chosen.notice} [Details](" in head and code
    assert assistants.policy(tmp_path) is chosen
    alternatives = [
        policy for policy in assistants.POLICIES.values() if policy is not chosen
    ]
    assert all(
        policy.notice not in head and policy.rules != chosen.rules
        for policy in alternatives
    )


def test_without_the_setting_assistants_are_tutors(tmp_path):
    course(tmp_path, "")
    assert assistants.policy(tmp_path) is assistants.POLICIES["tutor"]


def test_an_unknown_policy_says_which_there_are(tmp_path):
    course(tmp_path, 'assistants = "maybe"')
    with pytest.raises(
        CourseError, match=r"'maybe'; choose one of \"open\", \"tutor\""
    ):
        assistants.policy(tmp_path)


def test_a_tutor_is_told_never_to_write_a_stub_s_body_and_to_point_to_hints():
    rules = assistants.POLICIES["tutor"].rules
    assert "Never write, complete or repair the body of an exercise" in rules
    assert "next hint" in rules and "Ask back" in rules
    stub = "raise NotImplementedError  # your code here"
    released = find_unit("attention").release.read_text(encoding="utf-8")
    assert stub in rules and stub in released
