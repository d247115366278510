"""``nbgrader release_feedback``: everybody finds the page, and nobody stops it."""

import logging
import os
from pathlib import Path

import pytest
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeError
from nbgrader.exchange.default import ExchangeFetchFeedback
from traitlets.config import Config

from autograder.grading.feedback_release import CourseFeedback
from tests.tiny_course import UNIT


@pytest.fixture
def config(tmp_path) -> Config:
    settings = Config()
    settings.Exchange.root = str(tmp_path / "exchange")
    settings.Exchange.cache = str(tmp_path / "cache")
    settings.Exchange.assignment_dir = str(tmp_path / "desk")
    settings.CourseDirectory.course_id = "tiny"
    settings.CourseDirectory.assignment_id = UNIT
    (tmp_path / "exchange" / "tiny").mkdir(parents=True)
    return settings


def lay_out(root: Path, student: str, secret: bytes | None, *names: str) -> None:
    """A page that was made, and the notebooks that it was made of."""
    folder = root / "feedback" / student / UNIT
    folder.mkdir(parents=True)
    (folder / f"{UNIT}.html").write_text(student)
    (folder / "timestamp.txt").write_text("2026-11-30 23:59:00 UTC")
    if secret is not None:
        (folder / "submission_secret.txt").write_bytes(secret)
    (root / "submitted" / student / UNIT).mkdir(parents=True)
    for name in names:
        (root / "submitted" / student / UNIT / f"{name}.ipynb").write_text("{}")


def release(root: Path, config: Config) -> list[str]:
    """Release all pages; whose they are, by their names in the exchange."""
    releases = CourseFeedback(
        coursedir=CourseDirectory(root=str(root), config=config), config=config
    )
    releases.log = logging.getLogger(__name__)
    releases.start()
    pages = (root / "exchange" / "tiny" / "feedback").iterdir()
    return sorted(page.read_text() for page in pages)


def test_feedback_of_one_student_stops_nobody_else_s(tmp_path, config, caplog):
    """The file that says where a page goes was handed in by its student."""
    secrets = {"ada": b"hers", "eve": b"\xff\xfe", "mal": b"", "tom": None, "zoe": b"z"}
    for student, secret in secrets.items():
        lay_out(tmp_path, student, secret)
    assert release(tmp_path, config) == ["ada", "zoe"]
    (record,) = [
        candidate for candidate in caplog.records if candidate.levelno >= logging.ERROR
    ]
    assert record.getMessage().startswith("3 students get no feedback through the exch")
    assert record.getMessage().endswith(f"feedback {UNIT} packs them): eve, mal, tom")


def test_a_page_is_found_under_the_name_that_its_student_gave(
    tmp_path, config, monkeypatch, caplog
):
    lay_out(tmp_path, "ada", b"hers", f"{UNIT}-v2", "notes", "Übung (1)")
    handed_in = tmp_path / "cache" / "tiny" / f"ada+{UNIT}+2026-11-30 23:59:00 UTC"
    handed_in.mkdir(parents=True)
    (handed_in / "submission_secret.txt").write_text("hers")
    for path in (tmp_path / "submitted" / "ada" / UNIT).iterdir():
        (handed_in / path.name).write_text("{}")
    release(tmp_path, config)
    (tmp_path / "desk").mkdir()
    ExchangeFetchFeedback(
        coursedir=CourseDirectory(root=str(tmp_path / "desk"), config=config),
        config=config,
    ).start()
    fetched = {page.name for page in (tmp_path / "desk").rglob("*.html")}
    assert fetched == {f"{UNIT}-v2.html", "notes.html", "Übung (1).html"}
    assert "Could not find feedback" not in caplog.text


def test_what_cannot_be_a_name_costs_nothing_and_many_names_not_much(tmp_path, config):
    odd = os.fsdecode(b"\xe9")
    lay_out(tmp_path, "ada", b"hers", odd, *(f"copy {n}" for n in range(100)))
    assert release(tmp_path, config) == ["ada"] * 21


def test_a_student_who_is_left_out_has_no_page_under_any_name(tmp_path, config):
    lay_out(tmp_path, "ada", b"hers", "copy")
    config.CourseDirectory.student_id_exclude = "ada"
    assert release(tmp_path, config) == []


def test_where_there_is_no_feedback_it_is_said(tmp_path, config):
    with pytest.raises(ExchangeError, match="run: nbgrader generate_feedback"):
        release(tmp_path, config)
