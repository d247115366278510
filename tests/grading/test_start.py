"""How grading starts: what it does not load, and where nobody reads its log."""

import functools
import os
import subprocess
import sys

import pytest

from autograder.course import ROOT
from tests.tiny_course import UNIT, good, hand_in, points

LOADS = """
import sys
from traitlets.config.loader import PyFileConfigLoader
from autograder.grading.checks import error_carried_forward
from autograder.grading.converter import CourseAutograde
from autograder.grading.settings import load_class

config = PyFileConfigLoader("nbgrader_config.py").load_config()
stages = map(load_class, config.Autograde.autograde_preprocessors)
depends = [s.depends_on("02_attention") for s in stages if hasattr(s, "depends_on")]
assert 64 in map(len, depends)
failed = ["multi_head_attention/split_heads"]
built = "multi_head_attention/multi_head_attention"
builds = error_carried_forward.find_prerequisites(built, failed, {})
assert builds == failed
print(sorted({"torch", "numpy", "pandas", "matplotlib", "lark"} & set(sys.modules)))
"""


def test_pytorch_is_imported_neither_before_grading_nor_for_a_second_try():
    process = subprocess.run(
        [sys.executable, "-c", LOADS], check=True, capture_output=True, text=True
    )
    assert process.stdout == "[]\n"


SETTINGS = """
from autograder.course import terminal
terminal.settle()
from autograder.grading import converter
converter.install()
c = get_config()
c.CourseDirectory.course_id = "tiny"
c.Autograde.autograde_preprocessors = [
    "tests.tiny_course.RunHere", "nbgrader.preprocessors.SaveAutoGrades"
]
c.Autograde.jobs = {jobs}
"""


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_command_without_stderr_grades_and_says_so_on_stdout(course, jobs):
    (course / "nbgrader_config.py").write_text(SETTINGS.format(jobs=jobs))
    hand_in(course, "ada", good(course))
    process = subprocess.run(
        [sys.executable, "-m", "nbgrader", "autograde", UNIT],
        cwd=course,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        preexec_fn=functools.partial(os.close, 2),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert process.returncode == 0 and "1 graded" in process.stdout
    assert points(course) == {"ada": [2.0, 4.0, None]}
