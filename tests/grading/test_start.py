"""What a run of grading loads before it knows whether there is anything to grade."""

from __future__ import annotations

import subprocess
import sys

LOADS = """
import sys
from traitlets.config.loader import PyFileConfigLoader
from autograder.grading.converter import CourseAutograde
from autograder.grading.settings import loaded

config = PyFileConfigLoader("nbgrader_config.py").load_config()
for name in config.Autograde.autograde_preprocessors:
    kind = loaded(name)
    if hasattr(kind, "depends_on"):
        assert len(kind.depends_on("02_attention")) == 64
print(sorted({"torch", "pandas", "matplotlib", "lark"} & set(sys.modules)))
"""


def test_pytorch_is_not_imported_before_something_is_graded():
    found = subprocess.run(
        [sys.executable, "-c", LOADS], check=True, capture_output=True, text=True
    )
    assert found.stdout == "[]\n"
