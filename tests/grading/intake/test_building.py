"""The notebook that is made of an honest submission."""

import copy
import json

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell

from autograder.authoring.colab import published
from autograder.course import find_unit, notebooks
from autograder.grading import intake
from autograder.grading.intake import rebuild
from autograder.grading.run.outcome import Outcome
from tests.grading.intake.released import RELEASE, SOURCE, graded, is_solved, sources
from tests.tiny_course import DOUBLE, STUB, TRIPLE, WORDS, cell, solve_release


def test_an_untouched_solved_notebook_needs_no_repair_and_gets_the_hidden_tests():
    notebook, kinds = graded(solve_release(RELEASE))
    assert is_solved(notebook) and kinds == []
    assert [c.id for c in notebook.cells] == [c.id for c in SOURCE.cells]
    assert "HIDDEN" in cell(SOURCE, "numbers-double").source


def test_an_empty_submission_holds_stubs_and_never_a_solution():
    notebook, _ = rebuild(SOURCE, RELEASE, None)
    assert STUB in cell(notebook, "numbers-double-answer").source
    assert "2 * x" not in "".join(sources(notebook))


def test_an_unchanged_written_answer_has_the_checksum_by_which_nbgrader_tells_it():
    from nbgrader.utils import determine_grade

    untouched, _ = graded(RELEASE)
    answered, _ = graded(solve_release(RELEASE))
    assert determine_grade(cell(untouched, "numbers-why"))[0] == 0
    assert determine_grade(cell(answered, "numbers-why"))[0] is None


def test_the_last_filled_copy_of_an_answer_wins_and_the_other_is_ignored():
    submission = solve_release(RELEASE, double="def double(x):\n    return 17")
    good = copy.deepcopy(cell(submission, "numbers-double-answer"))
    good.id, good.source = "copy", DOUBLE
    submission.cells.insert(4, good)
    notebook, kinds = graded(submission)
    assert is_solved(notebook) and kinds == ["copy ignored"]
    assert "17" not in "".join(sources(notebook))


def test_an_unfilled_copy_behind_the_answer_does_not_replace_it():
    submission = solve_release(RELEASE)
    submission.cells.append(copy.deepcopy(cell(RELEASE, "numbers-double-answer")))
    notebook, kinds = graded(submission)
    assert is_solved(notebook) and kinds == ["copy ignored"]


def test_a_copied_answer_cell_used_as_scratch_paper_is_kept_as_an_own_cell():
    submission = solve_release(RELEASE)
    scratch = copy.deepcopy(cell(submission, "numbers-double-answer"))
    scratch.source = "print(double(4))"
    submission.cells.insert(3, scratch)
    notebook, kinds = graded(submission)
    assert is_solved(notebook) and kinds == ["copy kept"]
    assert sources(notebook)[3] == "print(double(4))"


@pytest.mark.parametrize(
    ("added", "kinds", "kept"),
    [("", ["copy ignored"], 0), ("\nprint(double(4))", ["copy kept"], 1)],
)
def test_a_copied_check_is_kept_as_an_own_cell_only_if_it_was_changed(
    added, kinds, kept
):
    submission = solve_release(RELEASE)
    second = copy.deepcopy(cell(submission, "numbers-double"))
    second.id, second.source = "copy", second.source + added
    submission.cells.append(second)
    notebook, repairs = graded(submission)
    assert repairs == kinds and len(notebook.cells) == len(SOURCE.cells) + kept


def test_deleted_tests_return_and_edited_tests_are_undone():
    submission = solve_release(RELEASE)
    submission.cells = [c for c in submission.cells if c.id != "numbers-double"]
    cell(submission, "numbers-triple").source = "assert True"
    notebook, kinds = graded(submission)
    assert is_solved(notebook) and kinds == ["test returned", "test restored"]


def test_lost_nbgrader_metadata_is_restored_by_cell_ids_wherever_they_are():
    submission = solve_release(RELEASE)
    for c in submission.cells:
        c.metadata = {}
    notebook, kinds = graded(submission)
    assert is_solved(notebook) and kinds == ["metadata restored"]
    submission.nbformat_minor = 0
    for c in submission.cells:
        c.metadata = {"id": c.pop("id")}  # as Colab saves them
    assert is_solved(graded(submission)[0])


def test_without_ids_and_metadata_answers_are_found_by_what_they_define():
    submission = solve_release(RELEASE)
    for c in submission.cells:
        c.metadata = {}
        c.pop("id")
    notebook, kinds = graded(submission)
    assert is_solved(notebook) and "answer found" in kinds
    assert cell(notebook, "numbers-why").source == WORDS  # by its place


def test_an_answer_below_its_untouched_stub_is_found():
    submission = solve_release(
        RELEASE, double=cell(RELEASE, "numbers-double-answer").source
    )
    submission.cells.insert(3, new_code_cell(DOUBLE))
    notebook, kinds = graded(submission)
    assert is_solved(notebook) and kinds == ["answer found"]


def test_own_cells_stay_behind_their_neighbour():
    submission = solve_release(RELEASE, double="def double(x):\n    return helper(x)")
    submission.cells.insert(2, new_code_cell("def helper(x):\n    return x + x"))
    submission.cells.insert(0, new_markdown_cell("My notes"))
    notebook, kinds = graded(submission)
    assert is_solved(notebook) and kinds == []
    assert sources(notebook)[0] == "My notes"
    assert sources(notebook)[3].startswith("def helper")


def test_a_moved_answer_returns_to_its_place_without_dragging_others_along():
    submission = solve_release(RELEASE, triple="def triple(x):\n    return helper(x)")
    moved = submission.cells.pop(2)
    submission.cells.insert(3, new_code_cell("def helper(x):\n    return 3 * x"))
    submission.cells.append(moved)
    notebook, _ = graded(submission)
    assert is_solved(notebook)


def test_an_answer_that_became_markdown_is_code_again():
    submission = solve_release(RELEASE)
    answer = cell(submission, "numbers-double-answer")
    answer.cell_type = "markdown"
    notebook, kinds = graded(submission)
    assert is_solved(notebook) and kinds == ["cell type"]


def test_an_added_import_in_a_cell_of_the_course_is_not_lost():
    submission = solve_release(
        RELEASE, double="def double(x):\n    return int(np.add(x, x))"
    )
    submission.cells[1].source = "import math\nimport numpy as np"
    notebook, kinds = graded(submission)
    assert is_solved(notebook) and kinds == ["course cell"]
    assert sources(notebook)[1] == "import math"


@pytest.mark.parametrize(
    "line",
    [
        "!pip install einops",
        "%pip install -q einops",
        "!{sys.executable} -m pip install x",
        "from google.colab import drive",
        "drive.mount('/content/drive')",
        "drive.mount(\n    '/content/drive',\n    force_remount=True)",
        "!pip install \\\n    einops",
    ],
)
def test_installs_and_drives_are_made_harmless_and_told(line):
    submission = solve_release(RELEASE, double=f"{line}\n{DOUBLE}")
    notebook, kinds = graded(submission)
    assert is_solved(notebook) and kinds == ["install"]


def test_of_many_repairs_of_a_kind_the_first_are_told_and_the_rest_are_counted():
    submission = solve_release(RELEASE)
    submission.cells += [new_code_cell(f"!pip install p{n}") for n in range(1900)]
    written = nbformat.writes(submission).encode()
    _, repairs = rebuild(SOURCE, RELEASE, written)
    assert len(repairs) == 4
    assert repairs[-1] == intake.Repair("install", "And 1,897 more like this.")
    assert len(str(Outcome("ada", "graded", repairs=repairs))) < 400


def test_an_install_inside_a_block_leaves_the_block_whole():
    code = "try:\n    from google.colab import drive\nexcept ImportError:\n    pass"
    changed, removed = intake.without_installs(code)
    compile(changed, "", "exec")
    assert removed == ["from google.colab import drive"]


def test_what_colab_adds_is_gone_and_another_kernel_is_set_back():
    submission = solve_release(RELEASE)
    submission.metadata = {"colab": {"provenance": []}, "widgets": {"state": {}}}
    answer = cell(submission, "numbers-double-answer")
    answer.metadata["executionInfo"] = {"user": {"displayName": "Ada L", "userId": "7"}}
    answer.outputs = [nbformat.v4.new_output("stream", text="secret")]
    submission.metadata["kernelspec"] = {"name": "ir", "language": "R"}
    badge = new_markdown_cell("<a href=...>", metadata={"id": "view-in-github"})
    submission.cells.insert(0, badge)
    notebook, kinds = graded(submission)
    text = nbformat.writes(notebook)
    assert kinds == ["kernel", "personal data"]
    assert notebook.metadata.kernelspec.name == "python3"
    assert len(notebook.cells) == len(SOURCE.cells)
    assert not any(word in text for word in ("Ada L", "colab", "secret", "widgets"))


def test_a_notebook_of_format_3_is_read():
    worksheet = [
        {"cell_type": "heading", "level": 1, "source": ["Numbers"]},
        {"cell_type": "code", "input": [DOUBLE], "language": "python", "metadata": {}},
        {"cell_type": "code", "input": [TRIPLE], "language": "python", "metadata": {}},
    ]
    old = {"nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": worksheet}]}
    notebook, _ = graded(json.dumps(old).encode())
    assert is_solved(notebook)


@pytest.mark.parametrize("level", [2.0, 1e999, -1, True, None, [], "2"])
def test_a_heading_of_an_odd_level_is_no_obstacle(level):
    odd = {"cell_type": "heading", "level": level, "source": "Numbers"}
    submission = json.loads(nbformat.writes(solve_release(RELEASE)))
    submission["cells"].insert(0, odd)
    assert is_solved(graded(json.dumps(submission).encode())[0])


def test_nbgrader_metadata_without_a_version_is_no_obstacle():
    submission = solve_release(RELEASE)
    for c in submission.cells:
        c.metadata.get("nbgrader", {}).pop("schema_version", None)
    assert is_solved(graded(submission)[0])


def test_raw_cells_become_plain_text_since_pages_would_show_them_unescaped():
    submission = solve_release(RELEASE)
    submission.cells.append(new_raw_cell("<script>alert(1)</script>"))
    last = graded(submission)[0].cells[-1]
    assert last.cell_type == "markdown" and last.source.startswith("    <script>")


def test_pictures_in_written_answers_are_kept_and_other_attachments_are_not():
    submission = solve_release(RELEASE)
    cell(submission, "numbers-why").attachments = {
        "a.png": {"image/png": "AAAA"},
        "b.svg": {"image/svg+xml": "<svg/>"},
    }
    attachments = cell(graded(submission)[0], "numbers-why").attachments
    assert attachments == {"a.png": {"image/png": "AAAA"}}


@pytest.mark.parametrize("ids", [True, False])
@pytest.mark.parametrize("kit", [("ada-l", "2.261128.930"), ("ada-l", "")])
def test_a_notebook_of_a_published_kit_needs_no_repair(ids, kit):
    """Whoever published it, and also where Colab has taken the cells' ids away."""
    unit = find_unit("attention")
    source, release = map(notebooks.read, (unit.source, unit.release))
    submission = json.loads(unit.release.read_text(encoding="utf-8"))
    owner, version = kit
    published_cells = published(owner=owner).generated_cells(unit, version)
    for submitted in submission["cells"]:
        if submitted["id"] in published_cells:
            assert "".join(submitted["source"]) != published_cells[submitted["id"]]
            published_cell = published_cells[submitted["id"]]
            submitted["source"] = published_cell.splitlines(keepends=True)
    if not ids:
        submission["nbformat_minor"] = 0
        for submitted in submission["cells"]:
            del submitted["id"]
    rebuilt, repairs = rebuild(source, release, json.dumps(submission).encode())
    assert repairs == () and len(rebuilt.cells) == len(source.cells)
