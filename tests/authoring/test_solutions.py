"""Solutions become a module of their own."""

from autograder.authoring import notebook, solutions
from autograder.oracle.variants import run_source
from tests.tiny_course import as_text


def test_the_module_of_solutions_keeps_needed_imports_only(tmp_path):
    code = solutions.module_text("99_tiny", notebook.read(as_text(tmp_path)))
    assert "import math" in code and "matplotlib" not in code and "###" not in code
    assert run_source(code, {}, "<tiny>")["double"](4) == 8
