"""Solutions become a module of their own."""

from autograder.authoring import notebook, solutions
from autograder.authoring.variants import run_source
from tests.tiny_course import as_text


def test_the_module_of_solutions_keeps_needed_imports_only(tmp_path):
    code = solutions.module_text("99_tiny", notebook.read(as_text(tmp_path)))
    assert "import math" in code and "matplotlib" not in code and "###" not in code
    assert run_source(code, {}, "<tiny>")["double"](4) == 8


def test_the_module_has_what_solutions_use_of_plain_cells():
    given = (
        "def half(x):\n    return x / 2\n\n\n"
        "def quarter(x):\n    return half(half(x))\n\n\n"
        "def picture():\n    return None"
    )
    answer = (
        "def eighth(x):\n    ### BEGIN SOLUTION\n    picture = quarter(x)\n"
        "    return picture / 2\n    ### END SOLUTION"
    )
    plain = notebook.Cell("code", given, "here")
    exercise = notebook.Cell("code", answer, "there", "exercise", "tiny/eighth")
    code = solutions.module_text("99_tiny", [plain, exercise])
    assert run_source(code, {}, "<tiny>")["eighth"](16) == 2
    assert "def picture" not in code
