"""What a run of grading does not load: before it, and for second tries."""

from __future__ import annotations

import subprocess
import sys

LOADS = """
import sys
from traitlets.config.loader import PyFileConfigLoader
from autograder.grading.checks import carrying
from autograder.grading.converter import CourseAutograde
from autograder.grading.settings import loaded

config = PyFileConfigLoader("nbgrader_config.py").load_config()
for name in config.Autograde.autograde_preprocessors:
    kind = loaded(name)
    if hasattr(kind, "depends_on"):
        assert len(kind.depends_on("02_attention")) == 64
failed = ["multi_head_attention/split_heads"]
assert carrying.missing("multi_head_attention/multi_head_attention", failed) == failed
print(sorted({"torch", "numpy", "pandas", "matplotlib", "lark"} & set(sys.modules)))
"""


def test_pytorch_is_imported_neither_before_grading_nor_for_a_second_try():
    found = subprocess.run(
        [sys.executable, "-c", LOADS], check=True, capture_output=True, text=True
    )
    assert found.stdout == "[]\n"
