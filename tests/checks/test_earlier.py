"""What an earlier unit built: the reference's, or the student's own."""

import json

import pytest

from autograder.checks.earlier import earlier, own_answers
from autograder.checks.observe import describe_error
from transformer_course.solutions import attention

LABEL = "02_attention"


def notebook(**answers: str) -> str:
    """A student's notebook with the code of each answer."""
    cells = [
        {
            "cell_type": "code",
            "metadata": {"nbgrader": {"solution": True, "grade_id": name}},
            "source": [code],
        }
        for name, code in answers.items()
    ]
    loose = {"cell_type": "code", "metadata": {}, "source": ["1 / 0"]}
    return json.dumps({"cells": [*cells, loose]})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A student's folder of unit 3, where the notebook runs."""
    student_folder = tmp_path / "03_multi_head_attention"
    student_folder.mkdir()
    monkeypatch.chdir(student_folder)
    return tmp_path


def test_the_reference_is_what_comes_unless_asked(folder):
    (folder / f"{LABEL}.ipynb").write_text(notebook(mask="causal_mask = 3"))
    assert earlier(LABEL) is attention


@pytest.mark.parametrize(
    "place", [f"03_multi_head_attention/{LABEL}", f"{LABEL}/{LABEL}", LABEL]
)
def test_my_own_is_found_beside_this_notebook_or_its_folder(folder, place):
    path = folder / f"{place}.ipynb"
    path.parent.mkdir(exist_ok=True)
    path.write_text(notebook(mask="def causal_mask(n):\n    return 'mine'"))
    mine = earlier(LABEL, mine=True)
    assert mine.causal_mask(3) == "mine"
    assert mine.scaled_dot_product_attention is attention.scaled_dot_product_attention


def test_without_a_notebook_of_mine_the_reference_comes_and_says_so(folder, capsys):
    assert earlier(LABEL, mine=True) is attention
    assert "no 02_attention.ipynb of yours here" in capsys.readouterr().out


@pytest.mark.parametrize("broken", ["1 / 0", "raise SystemExit(3)", "def ("])
def test_an_answer_that_does_not_run_is_named_and_the_others_stay(
    folder, capsys, broken
):
    path = folder / f"{LABEL}.ipynb"
    path.write_text(notebook(scores=broken, mask="causal_mask = len"))
    mine = earlier(LABEL, mine=True)
    assert "your scores does not run" in capsys.readouterr().out
    assert mine.causal_mask is len and attention.causal_mask is not len


def test_an_error_in_my_own_earlier_answer_shows_its_line(folder):
    path = folder / f"{LABEL}.ipynb"
    path.write_text(notebook(mask="def causal_mask(n):\n    return n + None"))
    mine = earlier(LABEL, mine=True)
    with pytest.raises(TypeError) as raised:
        mine.causal_mask(3)
    assert "line 2 of `causal_mask`: return n + None" in describe_error(raised.value)


def test_my_own_answers_need_no_reference(folder):
    assert own_answers("09_unknown") is None
    text = notebook(log="def natural_log(x):\n    return math.log(x)")
    cells = json.loads(text)
    imports = {
        "cell_type": "code",
        "metadata": {},
        "source": ["import math\n", "1 / 0"],
    }
    cells["cells"].insert(0, imports)
    (folder / "09_unknown.ipynb").write_text(json.dumps(cells))
    assert own_answers("09_unknown").natural_log(1.0) == 0.0
