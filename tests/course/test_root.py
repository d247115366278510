"""Which course the engine serves, and what its modules were called before."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.root import ENGINE, ROOT, VARIABLE

ASK = "from autograder import root; print(root.ROOT, root.PACKAGE, root.CONTENT)"


def ask(code: str, folder: Path, **variables: str) -> list[str]:
    """What a fresh interpreter prints in a folder, word by word."""
    environment = {
        name: value for name, value in os.environ.items() if name != VARIABLE
    }
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True,
        env={**environment, "PYTHONPATH": str(ENGINE.parent), **variables}, check=True,
    )  # fmt: skip
    return process.stdout.split()


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A folder with a course of one package."""
    (tmp_path / "course.toml").write_text('package = "numbers_course"\n')
    (tmp_path / "numbers_course").mkdir()
    (tmp_path / "numbers_course" / "__init__.py").write_text("")
    return tmp_path


def test_the_nearest_course_upward_is_the_one(course):
    (course / "notebooks" / "deep").mkdir(parents=True)
    paths = [str(course), "numbers_course", str(course / "numbers_course")]
    assert ask(ASK, course / "notebooks" / "deep") == paths


def test_the_environment_names_another_one(course, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    assert ask(ASK, elsewhere, **{VARIABLE: str(course)})[0] == str(course)


def test_elsewhere_it_is_the_course_that_the_engine_lies_beside(tmp_path):
    assert ask(ASK, tmp_path)[0] == str(ROOT)


def test_the_course_s_package_can_be_imported(course):
    code = "import autograder, numbers_course; print(numbers_course.__file__)"
    assert ask(code, course) == [str(course / "numbers_course" / "__init__.py")]


def test_old_names_are_the_modules_of_today(tmp_path):
    code = """
import autograder
from autograder.library import text as old
from autograder.units.attention.library import pictures
from transformer_course.library import text
import transformer_course.attention.library.pictures as new
print(old is text, pictures is new, text.__spec__.name, new.__name__)
"""
    assert ask(code, tmp_path) == [
        "True", "True", "transformer_course.library.text",
        "transformer_course.attention.library.pictures",
    ]  # fmt: skip


def test_a_course_toml_may_say_as_little_as_the_package(course):
    code = "from autograder.root import *; s = read_settings(ROOT)\n"
    code += "print(s['title'], s['course_id'], s['distribution'], *s['colab'].values())"
    words = ask(code, course)
    assert words[:3] == ["numbers_course", "numbers_course", "numbers_course-student"]
    assert words[3:] == ["True", "nobody", "student", "main"]


def test_a_damaged_course_toml_is_one_line_that_names_it(course):
    (course / "course.toml").write_text('title = "half\n')
    process = subprocess.run(
        [sys.executable, "-c", "import autograder"], cwd=course, text=True,
        stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ENGINE.parent)},
    )  # fmt: skip
    assert process.returncode == 1 and process.stderr.count("\n") == 1
    assert process.stderr.startswith(f"autograder: {course / 'course.toml'}: Illegal")


def test_what_no_alias_names_is_still_missing(tmp_path):
    code = "import importlib.util as u, autograder; print(u.find_spec('autograder.no'))"
    assert ask(code, tmp_path) == ["None"]
