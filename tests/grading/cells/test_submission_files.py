"""What lies beside a notebook while it is graded."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.grading.cells import submission_files
from autograder.grading.intake import RefusedError


def test_half_of_the_disk_is_for_what_the_submission_writes(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "model.bin").write_bytes(bytes(2 << 20))
    submission_files.refuse_large(tmp_path, 4)
    with pytest.raises(RefusedError, match="2 MB; at most 1 MB"):
        submission_files.refuse_large(tmp_path, 3)


def test_inputs_are_drawn_anew_for_other_code_and_other_files(tmp_path):
    notebook = new_notebook(cells=[new_code_cell("x = 1"), new_markdown_cell("One.")])
    keys = [submission_files.submission_key(notebook, tmp_path)]
    notebook.cells[1].source = "Another text."
    assert submission_files.submission_key(notebook, tmp_path) == keys[0]
    notebook.cells[0].source = "x = 2"
    keys.append(submission_files.submission_key(notebook, tmp_path))
    (tmp_path / "a").write_text("b")
    keys.append(submission_files.submission_key(notebook, tmp_path))
    (tmp_path / "a").rename(tmp_path / "b")
    keys.append(submission_files.submission_key(notebook, tmp_path))
    assert len(set(keys)) == 4


def test_a_notebook_may_read_the_solutions_of_the_units_before_and_no_other():
    paths = submission_files.earlier_solutions("03_multi_head_attention")
    names = [path.rpartition("/")[2] for path in paths]
    assert names == ["__init__.py", "positional_encoding.py", "attention.py"]
