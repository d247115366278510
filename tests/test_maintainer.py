"""docs/maintainer.md, followed to the letter in a clean clone."""

import re
import textwrap

import pytest

from autograder.course import ROOT
from tests.clone import checkout, run

TEXT = (ROOT / "docs" / "maintainer.md").read_text(encoding="utf-8")


def blocks() -> list[str]:
    """The Python code of "Add an exercise in ten minutes", step by step."""
    part = TEXT.split("## Add an exercise")[1].split("\n## ")[0]
    found = re.findall(r"^   ```python\n(.*?)^   ```$", part, re.DOTALL | re.MULTILINE)
    return [textwrap.dedent(code) for code in found]


def change(path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, (path, old)
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.long
@pytest.mark.slow
def test_an_exercise_is_added_as_it_says(tmp_path):
    clone = checkout(tmp_path / "clone")
    cells, probe, exercise = blocks()
    notebook = clone / "notebooks" / "02_attention.py"
    mark = '\n# %% check="attention/scaled_dot_product" points='
    change(notebook, f"{mark}18", f"{mark}14")
    change(notebook, "difficulty 3/5 · 18 points*", "difficulty 3/5 · 14 points*")
    change(notebook, "11 exercises and one", "12 exercises and one")
    mark = "# %% [markdown]\n# ## 2. Why divide"
    change(notebook, mark, f"{cells}\n{mark}")
    with (clone / "autograder/units/attention/probes/__init__.py").open("a") as file:
        file.write(f"\n\n{probe}")
    file = (
        clone / "autograder" / "units" / "attention" / "exercises" / "favourite_key.py"
    )
    file.write_text(exercise, encoding="utf-8")

    assert "release/02_attention" in run(clone, "autograder", "build", "02")
    mine = ("--exercise", "attention/favourite_key")
    row, _ = run(clone, "autograder", "validity", *mine).splitlines()
    assert "caught   4/4" in row and "named   4/4" in row and "accepted   2/2" in row
    run(clone, "ruff", "check", "--no-cache", "autograder", "notebooks")


def test_the_glossary_is_short():
    rows = TEXT.split("## Words")[1].split("\n\nA file")[0].count("\n| ")
    assert 10 < rows - 1 <= 20  # without the heading
