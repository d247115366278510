"""The docs for authors, followed to the letter in a clean clone."""

import re
import shlex
import subprocess
import textwrap
import zipfile
from pathlib import Path

import pytest

from autograder.authoring.solutions import builds_on
from autograder.course import ROOT, units
from tests.clone import checkout, run

FIRST_CHANGE, EXERCISES, UNITS = (
    (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    for page in ("first_change", "exercises", "units")
)


def blocks(text: str) -> list[str]:
    """The code of a page, step by step."""
    fenced = r"^( *)```(?:python|toml)?\n(.*?)^\1```$"
    steps = re.findall(fenced, text, re.DOTALL | re.MULTILINE)
    return [textwrap.dedent(code) if indent else code for indent, code in steps]


def committed(folder: Path) -> Path:
    """A clone in which Git tells what has changed since."""
    clone = checkout(folder)
    commit = "git -c user.name=us -c user.email=us@here commit -qm all"
    script = f"git init -q . && git add -A && {commit}"
    subprocess.run(script, cwd=clone, shell=True, check=True)
    return clone


def change(path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, (path, old)
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.slow
def test_a_mistake_gets_a_name_as_it_says(tmp_path):
    clone = checkout(tmp_path / "clone")
    program, before, mistake, after = blocks(FIRST_CHANGE)
    (clone / "mistake.py").write_text(program, encoding="utf-8")
    assert run(clone, "mistake").startswith(before)
    exercises = clone / "transformer_course" / "attention" / "exercises"
    below = '          edit(".exp()", ".exp2()")),\n'
    change(exercises / "softmax.py", below, below + mistake)
    run(clone, "autograder", "build", "02")
    assert run(clone, "mistake").startswith(after)
    row = run(clone, "autograder", "validity", "--exercise", "attention/softmax")
    assert re.search(r"caught +(\d+)/\1 .* accepted +(\d+)/\2\n", row)


@pytest.mark.long
@pytest.mark.slow
def test_an_exercise_is_added_as_it_says(tmp_path):
    clone = committed(tmp_path / "clone")
    _, steps = EXERCISES.split("## Add an exercise")
    cells, exercise = blocks(steps)
    run(clone, "autograder", "new-exercise", "02", "favourite_key")
    notebook = clone / "notebooks" / "02_attention.py"
    mark = '\n# %% check="attention/scaled_dot_product" points='
    change(notebook, f"{mark}28", f"{mark}24")
    change(notebook, "difficulty 3/5 · 28 points*", "difficulty 3/5 · 24 points*")
    change(notebook, "# *About 2½ hours ·", "# *About 3 hours ·")
    change(notebook, "# *6 exercises and", "# *7 exercises and")
    text = notebook.read_text(encoding="utf-8")
    start = text.index("# %% [markdown]\n# ### Exercise 2.7")
    check = text.index('\ncheck("attention/favourite_key"', start)
    end = text.index("# %% [markdown]\n", check)
    notebook.write_text(f"{text[:start]}{cells}\n{text[end:]}", encoding="utf-8")
    unit = clone / "transformer_course" / "attention"
    (unit / "exercises" / "favourite_key.py").write_text(exercise, encoding="utf-8")

    assert "release/02_attention" in run(clone, "autograder", "build", "02")
    mine = ("--exercise", "attention/favourite_key")
    row, _ = run(clone, "autograder", "validity", *mine).splitlines()
    assert "caught   4/4" in row and "named   4/4" in row and "accepted   2/2" in row
    assert run(clone, "tests.derived") == "README.md, outside.md\n"
    readme = (clone / "README.md").read_text("utf-8")
    assert re.search(r"\| 2 · \[Attention\]\(\S+\) \| 7 \|", readme)
    run(clone, "ruff", "check", "--no-cache", "autograder", "notebooks", "tests")
    asked = (
        "tests/test_readme.py",
        "tests/authoring/test_contract_lines.py",
        "tests/transformer_course/test_bank.py",
        "tests/test_notebooks.py::test_every_exercise_has_three_hints_and_a_budget",
        "tests/authoring/test_outside.py::"
        "test_what_a_change_touches_can_be_answered_by_solving_it_only"
        "[attention/favourite_key]",
    )
    run(clone, "pytest", "-p", "no:xdist", "-p", "no:cacheprovider", *asked)


def test_the_units_that_one_builds_on_are_those_that_it_names():
    part = UNITS.split("| unit | builds on |")[1].split("\n\n")[0]
    told = dict(re.findall(r"^\| (\d+) \| (.+) \|$", part, re.MULTILINE))
    found = {
        str(int(unit.number)): ", ".join(
            str(int(label[:2])) for label in builds_on(unit)
        )
        for unit in units()
        if builds_on(unit)
    }
    assert told == found


@pytest.mark.long
@pytest.mark.slow
def test_a_unit_is_left_out_as_it_says(tmp_path):
    """With nothing of it in what is built, published or listed."""
    clone = committed(tmp_path / "clone")
    part = UNITS.split("## Leave a unit out")[1].split("```")[1]
    *removed, docs, listed = part.strip().splitlines()
    assert docs == "make docs" and listed.startswith("git grep -lE '10_newer|")
    subprocess.run(["bash", "-ec", "\n".join(removed)], cwd=clone, check=True)
    assert run(clone, "tests.derived") == "README.md, outside.md\n"
    readme = (clone / "README.md").read_text(encoding="utf-8")
    assert "nine units with" in readme and "10_newer.ipynb" not in readme
    assert "| newer/" not in (clone / "docs" / "outside.md").read_text("utf-8")
    assert run(clone, "autograder", "build", "06") == "06_text_recovery: up to date\n"
    run(clone, "autograder", "kit", "06")
    [wheel] = (clone / "dist" / "student").rglob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert any("/text_recovery/" in name for name in names)
    assert not [name for name in names if "newer" in name]
    left = subprocess.run(
        shlex.split(listed), cwd=clone, capture_output=True, text=True, check=True
    )
    homes = {name.split("/")[0] for name in left.stdout.splitlines()}
    assert "notebooks" not in homes and "tests" in homes
