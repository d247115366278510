"""An author in JupyterLab: a hand-written text is a notebook there, and stays text."""

import os
import shutil

import pytest

from autograder.course import find_unit
from tests.browser import desk
from tests.browser.conftest import jupyter

TEXT = find_unit("attention").text


@pytest.mark.slow
def test_a_text_is_opened_run_edited_and_saved_as_a_notebook(tmp_path, page):
    folder = tmp_path / "notebooks"
    folder.mkdir()
    copy = folder / TEXT.name
    for path in (TEXT, TEXT.with_name("jupytext.toml")):
        shutil.copy(path, folder)
    with jupyter(folder, dict(os.environ), tmp_path / "own") as address:
        desk.open_lab(page, address)
        desk.open_text_as_notebook(page, copy.name)
        desk.go_to(page, "2 · Attention")
        edited = 'print("six times seven is", 6 * 7)'
        desk.answer(page, "from collections.abc", f"import math\n{edited}")
        desk.cell(page, "Code", edited).get_by_text("seven is 42").wait_for()
        desk.save(page)
    before, after = TEXT.read_text(), copy.read_text()
    start = before.index("import math")
    end = before.index("\n\n\n# %% [markdown]", start)
    assert after == f"{before[:start]}import math\n{edited}{before[end:]}"
    assert not list(folder.glob("*.ipynb"))
