"""A launch that the hub has verified tells whose gradebook it is, and who is who."""

import subprocess
import sys
from pathlib import Path

import pytest

from autograder.course.errors import CourseError
from autograder.extras.lti import launches, settings
from tests.extras.lti.conftest import configure

SPEC = "https://purl.imsglobal.org/spec"


def launch(user: str, name: str, course: str = "7") -> dict:
    """What LTI13Authenticator hands on: the claims of a launch."""
    return {
        "name": name,
        "auth_state": {
            "sub": user,
            f"{SPEC}/lti/claim/context": {"id": course, "title": f"Course {course}"},
            f"{SPEC}/lti-ags/claim/endpoint": {
                "scope": [f"{SPEC}/lti-ags/scope/score"],
                "lineitems": f"https://lms.example/{course}/lineitems",
            },
            f"{SPEC}/lti-nrps/claim/namesroleservice": {
                "context_memberships_url": f"https://lms.example/{course}/members"
            },
        },
    }


def find(root, text: str = ""):
    configure(root, "lti", text)
    return launches.find(root, settings.read(root, "lti"))


def test_launches_add_up(tmp_path):
    launches.note_launch(tmp_path, launch("u-1", "ada"))
    launches.note_launch(tmp_path, launch("u-2", "bob"))
    course = find(tmp_path)
    assert course.lineitems == "https://lms.example/7/lineitems"
    assert course.memberships == "https://lms.example/7/members"
    assert course.scopes == (f"{SPEC}/lti-ags/scope/score",)
    assert course.users == {"u-1": "ada", "u-2": "bob"}


def test_a_launch_without_grades_is_not_noted(tmp_path):
    launches.note_launch(tmp_path, {"name": "ada", "auth_state": {"sub": "u-1"}})
    launches.note_launch(tmp_path, {"name": "ada", "auth_state": None})
    with pytest.raises(CourseError, match="open the hub once from the LMS"):
        find(tmp_path)


@pytest.mark.parametrize("damaged", ["{", "[]", '{"7": []}'])
def test_nobody_is_locked_out_by_a_note_that_fails(tmp_path, caplog, damaged):
    (tmp_path / ".autograder").mkdir()
    (tmp_path / launches.FILE).write_text(damaged)
    launches.note_launch(tmp_path, launch("u-1", "ada"))
    assert "a launch was not noted" in caplog.text
    assert (tmp_path / launches.FILE).read_text() == damaged


def test_of_several_courses_the_settings_choose(tmp_path):
    for course in "78":
        launches.note_launch(tmp_path, launch("u-1", "ada", course))
    with pytest.raises(CourseError, match=r"7 \(Course 7\), 8 \(Course 8\)"):
        find(tmp_path)
    for wanted in ("8", "Course 8"):
        course = find(tmp_path, f'context = "{wanted}"')
        assert course.lineitems == "https://lms.example/8/lineitems"


def test_addresses_in_the_settings_come_first(tmp_path):
    launches.note_launch(tmp_path, launch("u-1", "ada"))
    course = find(
        tmp_path, 'lineitems = "https://other/l"\nmemberships = "https://other/m"'
    )
    assert (course.lineitems, course.memberships) == (
        "https://other/l",
        "https://other/m",
    )
    assert course.users == {"u-1": "ada"}


def test_a_hub_imports_it_without_the_course(tmp_path):
    """Its environment has no autograder."""
    (tmp_path / "launches.py").write_bytes(Path(launches.__file__).read_bytes())
    script = "import sys, launches; assert 'autograder' not in sys.modules"
    command = [sys.executable, "-S", "-c", script]
    subprocess.run(command, cwd=tmp_path, check=True)
