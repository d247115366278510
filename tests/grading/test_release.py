"""A clone can be graded as it is, and no release goes before the new one is whole."""

import os
import shutil
import sys
from pathlib import Path

import nbformat
import pytest
from nbconvert.writers import FilesWriter
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from traitlets.config import Config

from autograder.course import access, files
from autograder.course.errors import CourseError
from autograder.grading import release
from tests import tiny_course as tiny
from tests.grading.releases import find_leftovers, in_book, release_text
from tests.tiny_course import UNIT, run_nbgrader


def test_generating_what_is_there_already_only_enters_it(clone):
    before = release_text(clone)
    assert run_nbgrader(clone, "generate_assignment", UNIT, force=False)["success"]
    assert release_text(clone) == before and len(in_book(clone)) == 3
    assert not find_leftovers(clone)


def test_a_release_that_cannot_be_made_leaves_the_old_one(clone):
    before = release_text(clone)
    path = clone / "source" / UNIT / f"{UNIT}.ipynb"
    source = nbformat.read(path, as_version=4)
    del tiny.cell(source, "numbers-triple").metadata["nbgrader"]["points"]
    nbformat.write(source, path)
    assert not run_nbgrader(clone, "generate_assignment", UNIT, force=True)["success"]
    assert release_text(clone) == before and not find_leftovers(clone)


def test_without_a_gradebook_that_can_be_made_the_release_stays(clone, monkeypatch):
    before = release_text(clone)
    with monkeypatch.context() as patch:
        patch.setattr("nbgrader.api.get_alembic_version", _full)
        run = run_nbgrader(clone, "generate_assignment", UNIT, force=True)
    assert not run["success"] and release_text(clone) == before
    (clone / "gradebook.db").unlink(missing_ok=True)
    assert run_nbgrader(clone, "generate_assignment", UNIT, force=True)["success"]


def test_programs_of_the_environment_are_found_whoever_calls(monkeypatch):
    monkeypatch.setenv("PATH", "")
    release.install()
    assert os.environ["PATH"] == str(Path(sys.executable).parent)


def test_a_release_in_the_exchange_stays_until_the_new_one_is_copied(
    clone, tmp_path, monkeypatch
):
    config = Config()
    config.CourseDirectory.root = str(clone)
    config.CourseDirectory.course_id = "tiny"
    config.Exchange.root = str(tmp_path / "exchange")
    ours = "autograder.grading.release.CourseRelease"
    config.ExchangeFactory.release_assignment = ours
    config.CourseRelease.force = True
    api = NbGraderAPI(config=config)
    assert api.release_assignment(UNIT)["success"]
    out = tmp_path / "exchange" / "tiny" / "outbound"
    shutil.rmtree(out / UNIT)
    with monkeypatch.context() as patch:  # of a first one nothing is there, or all
        patch.setattr(release.CourseRelease, "set_perms", _full)
        assert not api.release_assignment(UNIT)["success"]
    assert list(out.iterdir()) == []
    assert api.release_assignment(UNIT)["success"]
    released = out / UNIT / f"{UNIT}.ipynb"
    text, new = released.read_text(), release_text(clone).replace("double", "twice")
    (clone / "release" / UNIT / f"{UNIT}.ipynb").write_text(new)
    with monkeypatch.context() as patch:
        for name in ("copy2", "copy", "copytree"):
            patch.setattr(shutil, name, _full)
        assert not api.release_assignment(UNIT)["success"]
    assert released.read_text() == text
    assert api.release_assignment(UNIT)["success"]
    assert released.read_text() == new and [p.name for p in out.iterdir()] == [UNIT]
    with Gradebook(f"sqlite:///{clone}/gradebook.db", "tiny") as book:
        book.update_or_create_assignment(UNIT, duedate="2026-11-30 22:59 UTC")
    assert api.release_assignment(UNIT)["success"]
    assert nbformat.read(released, 4).cells[0].source.startswith("# Numbers\n\n**Due ")
    assert release_text(clone) == new


def _full(*_, **__):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("method", ["generate_assignment", "generate_feedback"])
def test_a_full_disk_is_told_before_anything_old_is_removed(clone, monkeypatch, method):
    pages = clone / "autograded" / "ada" / UNIT
    shutil.copytree(clone / "release" / UNIT, pages)
    page = clone / "feedback" / "ada" / UNIT / f"{UNIT}.html"
    page.parent.mkdir(parents=True)
    page.write_text("old")
    monkeypatch.setattr(access, "_ROOM", 1 << 62)
    run = run_nbgrader(clone, method, UNIT, force=True)
    assert not run["success"] and "make room" in run["log"]
    assert "Traceback" not in run["log"]
    assert page.read_text() == "old" and release_text(clone)


def test_a_page_that_cannot_be_written_is_a_line_and_nobody_else_s(course, monkeypatch):
    release.install()
    for student in ("ada", "bob"):
        tiny.hand_in(course, student, tiny.good(course))
    tiny.autograde(course)
    write = FilesWriter.write

    def full(self, output, resources, **options):
        if resources["nbgrader"]["student"] == "ada":
            raise OSError(28, "No space left on device")
        return write(self, output, resources, **options)

    monkeypatch.setattr(FilesWriter, "write", full)
    run = run_nbgrader(course, "generate_feedback", UNIT, force=True)
    assert not run["success"] and "Traceback" not in run["log"]
    assert "ada: no new page" in run["log"] and "No space left" in run["log"]
    pages = [path.parts[-3] for path in (course / "feedback").rglob("*.html")]
    assert pages == ["bob"]


def test_a_release_that_cannot_take_its_place_leaves_the_old_one(clone, monkeypatch):
    """nbgrader removes what a step that failed was making."""
    before = release_text(clone)
    monkeypatch.setattr(files, "replace_folder", _full)
    assert not run_nbgrader(clone, "generate_assignment", UNIT, force=True)["success"]
    assert release_text(clone) == before and not find_leftovers(clone)


def test_a_release_on_another_disk_is_copied_there(clone, tmp_path, monkeypatch):
    rename = os.rename

    def across(source, target, **options):
        if Path(source).parent != Path(target).parent:
            raise OSError(18, "Invalid cross-device link")
        rename(source, target, **options)

    monkeypatch.setattr(os, "rename", across)
    assert run_nbgrader(clone, "generate_assignment", UNIT, force=True)["success"]
    assert release_text(clone) and not find_leftovers(clone)


def test_a_release_that_is_read_only_is_entered_and_not_made_anew(clone, monkeypatch):
    before, copytree = release_text(clone), shutil.copytree

    def refuse(*folders):
        raise CourseError("the disk of release is read-only")

    monkeypatch.setattr(shutil, "copytree", _full)
    assert run_nbgrader(clone, "generate_assignment", UNIT, force=False)["success"]
    assert len(in_book(clone)) == 3
    monkeypatch.setattr(shutil, "copytree", copytree)
    monkeypatch.setattr(access, "require_access", refuse)
    run = run_nbgrader(clone, "generate_assignment", UNIT, force=True)
    assert not run["success"] and "release is read-only" in run["log"]
    assert "Traceback" not in run["log"] and release_text(clone) == before
