"""Secrets are read from a private file or the environment, and never shown."""

import pytest

from autograder.course.errors import CourseError
from autograder.extras.lti import settings
from tests.extras.lti.conftest import configure

TOKEN = "7~do-not-show-me"
TEXT = f'url = "https://canvas.example/"\ncourse = 7\ntoken = "{TOKEN}"\n'


def test_values_are_read_as_text(tmp_path):
    configure(tmp_path, "canvas", f"{TEXT}assignments.01_numbers = 44\n")
    canvas = settings.read(tmp_path, "canvas")
    assert canvas.address("url") == "https://canvas.example"
    assert (canvas.text("course"), canvas.secret("token")) == ("7", TOKEN)
    assert canvas.of_unit("assignments", "01_numbers") == "44"


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o660, 0o604, 0o700])
def test_a_file_that_others_may_read_is_refused(tmp_path, mode):
    configure(tmp_path, "canvas", TEXT, mode)
    with pytest.raises(CourseError, match=r"chmod 600 .*lms\.toml") as refusal:
        settings.read(tmp_path, "canvas")
    assert TOKEN not in str(refusal.value)


def test_the_environment_comes_before_the_file(tmp_path, monkeypatch):
    configure(tmp_path, "canvas", TEXT)
    monkeypatch.setenv("AUTOGRADER_CANVAS_TOKEN", " other ")
    assert settings.read(tmp_path, "canvas").secret("token") == "other"


def test_a_missing_secret_names_the_variable(tmp_path):
    configure(tmp_path, "canvas", 'url = "https://canvas.example"\n')
    with pytest.raises(CourseError, match="AUTOGRADER_CANVAS_TOKEN"):
        settings.read(tmp_path, "canvas").secret("token")


def test_a_damaged_file_is_not_quoted(tmp_path):
    configure(tmp_path, "canvas", f"token = {TOKEN}\n")
    with pytest.raises(CourseError, match="is no TOML") as refusal:
        settings.read(tmp_path, "canvas")
    assert TOKEN not in str(refusal.value)


@pytest.mark.parametrize(
    "url", ["http://canvas.example", "canvas.example", "ftp://x", "http://localhost.x"]
)
def test_an_address_without_encryption_is_refused(tmp_path, url):
    configure(tmp_path, "canvas", f'url = "{url}"\n')
    with pytest.raises(CourseError, match="must start with https://"):
        settings.read(tmp_path, "canvas").address("url")


def test_a_number_in_place_of_a_table_is_said(tmp_path):
    configure(tmp_path, "canvas", f"{TEXT}assignments = 5\n")
    for default in (None, "01_numbers"):
        with pytest.raises(CourseError, match=r"of \[canvas\] must be a table"):
            canvas = settings.read(tmp_path, "canvas")
            canvas.of_unit("assignments", "01_numbers", default)


def test_what_is_missing_is_said_with_the_page_that_explains_it(tmp_path):
    with pytest.raises(CourseError, match=r"there is no .*lms\.toml yet; docs/lms\.md"):
        settings.read(tmp_path, "canvas")
    configure(tmp_path, "canvas", TEXT)
    with pytest.raises(CourseError, match=r"no table \[moodle\]"):
        settings.read(tmp_path, "moodle")
    with pytest.raises(
        CourseError, match=r"\[canvas.assignments\] has no 02_attention"
    ):
        settings.read(tmp_path, "canvas").of_unit("assignments", "02_attention")
