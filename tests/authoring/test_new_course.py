"""``autograder new-course``: chosen units, and nothing of the others."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from autograder.authoring import new_course
from autograder.course import ROOT, find_unit, units
from autograder.course.errors import CourseError
from tests.clone import run

FIRST = [find_unit(name) for name in ("01", "02", "03")]
OTHERS = [unit for unit in units() if unit not in FIRST]


@pytest.mark.slow
def test_a_course_of_three_units_holds_nothing_of_the_others(tmp_path):
    folder = tmp_path / "mine"
    left_out = new_course.create(FIRST, ROOT, folder)
    assert "tests/test_rooms.py" not in left_out
    assert "tests/test_readme.py" in left_out  # it imports what names later units
    for unit in OTHERS:
        assert not list(folder.rglob(f"*{unit.name}*/*")), unit.name
        for path in folder.glob("tests/**/*.py"):
            text = path.read_text(encoding="utf-8")
            assert not new_course.is_named(unit.name, text), path
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert "three units with" in readme
    assert not [unit for unit in OTHERS if unit.label in readme]
    reasons = json.loads((folder / new_course._REASONS).read_text(encoding="utf-8"))
    assert {name.partition("/")[0] for name in reasons} <= {u.name for u in FIRST}
    assert "up to date" in run(folder, "autograder", "build", "03")
    paths = (
        "tests/test_rooms.py",
        "tests/transformer_course/test_bank.py",
    )
    run(folder, "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", *paths)


@pytest.mark.parametrize("folder", [".github", "assets", "deploy"])
def test_what_every_course_takes_names_no_later_unit(folder):
    for path in (ROOT / folder).rglob("*"):
        if path.suffix in (".py", ".yml"):
            text = path.read_text(encoding="utf-8")
            named = [u.name for u in OTHERS if new_course.is_named(u.name, text)]
            assert not named, path


@pytest.mark.parametrize("mail", ["", "ada@uni.example"])
def test_the_first_commit_says_where_the_course_comes_from(tmp_path, monkeypatch, mail):
    """Also where nobody has told Git who they are."""

    def git(folder, *words):
        process = subprocess.run(
            ["git", *words], cwd=folder, capture_output=True, text=True, check=True
        )
        return process.stdout.strip()

    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    (tmp_path / "gitconfig").write_text(
        f"[user]\nname = Ada\nemail = {mail}\n" if mail else ""
    )
    old, new = tmp_path / "old", tmp_path / "new"
    for folder in (old, new):
        folder.mkdir()
        (folder / "a.txt").write_text("a")
    new_course.commit(old, "Old")
    assert new_course.origin(old) == (
        f"Copied from commit {git(old, 'rev-parse', 'HEAD')} of {old}"
    )
    (old / "a.txt").write_text("changed")
    git(old, "remote", "add", "origin", "https://example.org/course")
    assert new_course.origin(old).endswith("-dirty of https://example.org/course")
    new_course.commit(new, f"New\n\n{new_course.origin(old)}")
    assert git(new, "status", "--porcelain") == ""
    assert "Copied from commit" in git(new, "log", "-1", "--format=%b")
    assert git(new, "log", "-1", "--format=%ae") == (mail or "new-course@localhost")


def test_a_unit_without_what_it_builds_on_is_refused(tmp_path):
    with pytest.raises(CourseError, match="builds on 02_attention: add 02 to --units"):
        new_course.create([find_unit("03")], ROOT, tmp_path / "mine")
    assert not (tmp_path / "mine").exists()


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(CourseError, match="is not empty; name a new folder"):
        new_course.create(FIRST, ROOT, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("given.code('newer')", True),
        ("transformer_course/newer/library", True),
        ("from transformer_course.solutions import attention, newer", True),
        ("from transformer_course.solutions import (\n    newer,\n)", True),
        ("notebooks/10_newer.py", True),
        ("They do not touch a newer PyTorch.", False),
        ("'newer_one'", True),  # rather one example too few
    ],
)
def test_a_unit_is_named_in_code_not_in_prose(text, is_named):
    assert new_course.is_named("newer", text) is is_named
    assert not new_course.is_named("since_2017", text)


def test_what_imports_a_left_out_example_is_left_out(tmp_path):
    texts = {
        "tests/helper.py": "UNIT = 'since_2017'\n",
        "tests/test_one.py": "from tests import helper\n",
        "tests/test_two.py": "from tests.test_one import it\n",
        "tests/test_three.py": "from tests import (\n    helper,\n)\n",
        "tests/test_four.py": "import json, tests.test_three as three\n",
        "tests/test_five.py": "import json\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    affected = new_course.find_affected(tmp_path, texts, ["since_2017"])
    assert affected == set(texts) - {"tests/test_five.py"}
