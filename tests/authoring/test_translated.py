"""A notebook in a further language is built, if its exercises are the original's."""

import pytest

from autograder.authoring import notebook
from autograder.authoring.translated import refuse_different
from autograder.course import units
from autograder.course.errors import CourseError
from tests.tiny_course import TEXT, as_text

GERMAN = (
    TEXT.replace("# # 9 · Tiny", "# # 9 · Winzig")
    .replace("Twice x.", "Das Doppelte von x.")
    .replace("    doubled_number", "    # genau gerechnet\n    doubled_number")
    .replace("import math", "import math  # rechnet")
    .replace('check("', '# Führe diese Zelle aus.\ncheck("')
    .replace("Your answer here", "Deine Antwort")
)
ABOVE = "notebooks/de/99_tiny.py:1: "


def translated(root, text: str):
    """The unit of a course in German, with this text as its translation."""
    unit = as_text(root)
    settings = root / "course.toml"
    english = settings.read_text().replace('language = "en"', "")
    settings.write_text(f'language = "de"\n{english}')
    path = root / "notebooks" / "de" / unit.original.name
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    return unit


def refused(root, *edits: tuple[str, str]) -> str:
    text = GERMAN
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    unit = translated(root, text)
    with pytest.raises(CourseError) as caught:
        refuse_different(unit, notebook.read(unit))
    return str(caught.value)


def test_texts_comments_and_docstrings_are_its_own(tmp_path):
    unit = translated(tmp_path, GERMAN)
    cells = notebook.read(unit)
    refuse_different(unit, cells)
    assert "# 9 · Winzig" in notebook.to_source(unit, cells)
    assert [unit.label for unit in units(tmp_path)] == ["99_tiny"]


def test_a_unit_without_one_is_built_from_the_original(tmp_path):
    unit = translated(tmp_path, GERMAN)
    unit.text.unlink()
    assert unit.text == unit.original
    refuse_different(unit, notebook.read(unit))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("math.fsum([x, x])", "2 * x"),
        ("def double(x):", "def double(x, y=0):"),
        ("    ### END SOLUTION\n", "    ### END SOLUTION\n    print(x)\n"),
        ("return doubled_number\n    ### END SOLUTION",
         "### END SOLUTION\n    return doubled_number"),
        ("def double(x):", "def double(x)"),
    ],
)  # fmt: skip
def test_other_code_is_refused_in_one_line(tmp_path, old, new):
    assert refused(tmp_path, (old, new)) == (
        'notebooks/de/99_tiny.py:9: "tiny/double" differs from the original '
        "(notebooks/99_tiny.py:9)"
    )


def test_other_points_are_refused_in_a_line_each(tmp_path):
    lines = refused(tmp_path, ("points=95", "points=90"), ("points=5", "points=10"))
    assert lines.splitlines() == [
        'notebooks/de/99_tiny.py:18: "tiny/double" has 90 points, and 95 in the '
        "original (notebooks/99_tiny.py:17)",
        'notebooks/de/99_tiny.py:22: "tiny/why" has 10 points, and 5 in the '
        "original (notebooks/99_tiny.py:20)",
    ]


def test_another_grade_id_is_refused(tmp_path):
    assert refused(tmp_path, ("tiny/why", "tiny/warum")).splitlines() == [
        f'{ABOVE}lacks the written "tiny/why" (notebooks/99_tiny.py:20)',
        'notebooks/de/99_tiny.py:22: the original has no written "tiny/warum"',
    ]


def test_another_order_is_refused(tmp_path):
    question = GERMAN[GERMAN.index("# %% [markdown] written") :]
    without_question = GERMAN.removesuffix(question)
    swapped = without_question.replace("# %% exercise", f"{question}\n# %% exercise")
    unit = translated(tmp_path, swapped)
    with pytest.raises(CourseError) as caught:
        refuse_different(unit, notebook.read(unit))
    assert str(caught.value) == (
        f"{ABOVE}its exercises are not in the original's order"
    )
