"""``nbgrader list --inbound``: nobody's hand-in hides the others'."""

import datetime
import logging
import os
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from autograder.grading.dates import add_due_line
from autograder.grading.listing import CourseList

UNIT = "01_numbers"
TIME = "2026-11-20 14:00:00.000000 UTC"


@pytest.fixture
def inbound(tmp_path) -> Path:
    folder = tmp_path / "exchange" / "tiny" / "inbound"
    folder.mkdir(parents=True)
    submit(folder, f"ada+{UNIT}+{TIME}")
    submit(folder, f"zoe+{UNIT}+{TIME}+r1")
    return folder


def submit(inbound: Path, name: str) -> Path:
    folder = inbound / name
    folder.mkdir()
    (folder / f"{UNIT}.ipynb").write_text("{}")
    (folder / "submission_secret.txt").write_text("s3cret")
    return folder


def list_students(inbound: Path) -> list[str]:
    config = Config()
    config.Exchange.root = str(inbound.parents[1])
    coursedir = CourseDirectory(
        root=str(inbound.parents[2]), course_id="tiny", assignment_id=UNIT
    )
    lists = CourseList(
        coursedir=coursedir,
        authenticator=Authenticator(config=config),
        config=config,
        inbound=True,
    )
    lists.log = logging.getLogger(__name__)
    return [row["student_id"] for row in lists.start()]


def _without_a_time(inbound: Path) -> None:
    (inbound / f"eve+{UNIT}+x+y").rename(inbound / f"e\nve+{UNIT}+x")


def _pipes(inbound: Path) -> None:
    folder = inbound / f"eve+{UNIT}+x+y"
    (folder / "submission_secret.txt").unlink()
    os.mkfifo(folder / "a.ipynb")


def _a_secret_that_is_no_text(inbound: Path) -> None:
    (inbound / f"eve+{UNIT}+x+y" / "submission_secret.txt").write_bytes(b"\xff\xfe")


def _no_secret_at_all(inbound: Path) -> None:
    (inbound / f"eve+{UNIT}+x+y" / "submission_secret.txt").write_text("")


def _a_vast_notebook(inbound: Path) -> None:
    with (inbound / f"eve+{UNIT}+x+y" / "a.ipynb").open("wb") as file:
        file.truncate(1 << 40)


def _a_link(inbound: Path) -> None:
    (inbound / f"eve+{UNIT}+x+y").rename(inbound / "kept")
    (inbound / f"eve+{UNIT}+x+y").symlink_to("kept")


def _colours(inbound: Path) -> None:
    (inbound / f"eve+{UNIT}+x+y").rename(inbound / f"\x1b[2Jeve+{UNIT}+x")


HOSTILE = (
    _without_a_time, _pipes, _a_secret_that_is_no_text, _no_secret_at_all,
    _a_vast_notebook, _a_link, _colours,
)  # fmt: skip


@pytest.mark.parametrize("make", HOSTILE)
def test_what_cannot_be_listed_hides_nobody_else(inbound, make, caplog):
    submit(inbound, f"eve+{UNIT}+x+y")
    make(inbound)
    assert list_students(inbound) == ["ada", "zoe"]
    (line,) = [r.getMessage() for r in caplog.records if r.levelname == "ERROR"]
    assert line.startswith("Not listed") and line.isprintable()


def test_an_ordinary_one_without_a_secret_is_listed(inbound):
    (submit(inbound, f"eve+{UNIT}+{TIME}") / "submission_secret.txt").unlink()
    assert list_students(inbound) == ["ada", "eve", "zoe"]


def test_a_released_assignment_is_listed_with_its_due_date(tmp_path, caplog):
    released = tmp_path / "exchange" / "tiny" / "outbound" / UNIT
    released.mkdir(parents=True)
    notebook = new_notebook(cells=[new_markdown_cell("# 1 · Numbers")])
    add_due_line(notebook, datetime.datetime(2026, 12, 3, 22, 59))
    nbformat.write(notebook, released / f"{UNIT}.ipynb")
    config = Config()
    config.Exchange.root = str(tmp_path / "exchange")
    lists = CourseList(
        coursedir=CourseDirectory(root=str(tmp_path), course_id="tiny"),
        authenticator=Authenticator(config=config),
        config=config,
    )
    lists.log = logging.getLogger(__name__)
    with caplog.at_level(logging.INFO):
        lists.start()
    assert f"tiny {UNIT}, due " in caplog.text and "December 2026" in caplog.text
