"""Solutions become a module of their own."""

import pytest

from autograder.authoring import notebook, solutions
from autograder.authoring.variants import run_source
from autograder.course import Unit
from autograder.course.errors import CourseError
from tests.tiny_course import as_text


def test_the_module_of_solutions_keeps_needed_imports_only(tmp_path):
    code = solutions.module_text("99_tiny", notebook.read(as_text(tmp_path)))
    assert "import math" in code and "matplotlib" not in code and "###" not in code
    assert run_source(code, {}, "<tiny>")["double"](4) == 8


def test_the_module_has_what_solutions_use_of_plain_cells():
    plain_code = (
        "def half(x):\n    return x / 2\n\n\n"
        "def quarter(x):\n    return half(half(x))\n\n\n"
        "def picture():\n    return None"
    )
    answer = (
        "def eighth(x):\n    ### BEGIN SOLUTION\n    picture = quarter(x)\n"
        "    return picture / 2\n    ### END SOLUTION"
    )
    plain = notebook.Cell("code", plain_code, "here")
    exercise = notebook.Cell("code", answer, "there", "exercise", "tiny/eighth")
    code = solutions.module_text("99_tiny", [plain, exercise])
    assert run_source(code, {}, "<tiny>")["eighth"](16) == 2
    assert "def picture" not in code


def test_the_module_has_what_later_units_use_of_plain_cells():
    plain_code = "class Twice(Once):\n    pass\n\n\ndef picture():\n    return None"
    answer = "### BEGIN SOLUTION\nclass Once:\n    pass\n### END SOLUTION"
    exercise = notebook.Cell("code", answer, "here", "exercise", "tiny/once")
    plain = notebook.Cell("code", plain_code, "there")
    code = solutions.module_text("99_tiny", [exercise, plain], {"Once", "Twice"})
    assert run_source(code, {}, "<tiny>")["Twice"].__name__ == "Twice"
    assert "def picture" not in code


def test_a_later_unit_uses_names_of_the_one_it_builds_on(tmp_path):
    (tmp_path / "notebooks").mkdir()
    texts = {
        "02_two": "two.own()",
        "03_three": 'two = earlier("02_two")\ntwo.Layer(two.size)',
        "04_four": "two.other()",
    }
    for label, text in texts.items():
        (tmp_path / "notebooks" / f"{label}.py").write_text(text, encoding="utf-8")
    assert solutions.names_used_later(Unit("02", "two", tmp_path)) == {"Layer", "size"}


def test_a_unit_whose_earlier_ones_are_not_all_here_is_refused(tmp_path):
    (tmp_path / "notebooks").mkdir()
    texts = {"02_two": "", "03_three": 'two = earlier("02_two")', "04_four": ""}
    texts["04_four"] = 'three = earlier(\n    "03_three", mine=False)'
    for label, text in texts.items():
        (tmp_path / "notebooks" / f"{label}.py").write_text(text, encoding="utf-8")
    four = Unit("04", "four", tmp_path)
    assert solutions.builds_on(four) == ["03_three"]
    solutions.refuse_gaps(four)
    (tmp_path / "notebooks" / "02_two.py").unlink()
    with pytest.raises(CourseError, match=r"03_three builds on 02_two, which is not"):
        solutions.refuse_gaps(four)
