"""A student's evening in JupyterLab: a mistake, its name, the cure, and handing in."""

import nbformat
import pytest

from autograder.authoring.catalogue import specification
from autograder.authoring.notebook import read, without_markers
from autograder.authoring.variants import apply_edit
from autograder.classroom import lab
from autograder.course import find_unit
from tests.browser import desk
from tests.browser.conftest import jupyter

UNIT = find_unit("attention")
EXERCISE, STUB = "attention/scaled_dot_product", "def scaled_dot_product_attention"
WORDS = "With -inf the row is nan. With -1e9 all keys share equally, which is a lie."


@pytest.fixture
def answers() -> dict[str, str]:
    """The right code of each exercise, by its cell's grade id."""
    cells = [cell for cell in read(UNIT) if cell.role == "exercise"]
    return {cell.grade_id: without_markers(cell.text) for cell in cells}


@pytest.fixture
def root(tmp_path, answers):
    """What `autograder lab` lays out; every exercise but one is already solved."""
    path = lab.prepare([UNIT], tmp_path) / UNIT.label / UNIT.release.name
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        if grade_id in answers and not cell.source.startswith(STUB):
            cell.source = answers[grade_id]
    nbformat.write(notebook, path)
    return tmp_path


def unscaled(answer: str) -> str:
    """The answer with the mistake that the bank calls "unscaled"."""
    mutants = {mutant.name: mutant for mutant in specification(EXERCISE).mutants}
    (edit,) = mutants["unscaled"].variants[0].edits
    return apply_edit(answer, edit)


@pytest.mark.long
@pytest.mark.slow
def test_a_mistake_is_named_mended_and_the_work_handed_in(root, answers, page, picture):
    right = answers["attention-scaled_dot_product-answer"]
    with jupyter(root / "student", lab.environment(root), root / "own") as address:
        desk.open_lab(page, address)
        assert desk.menu(page, "Nbgrader") == ["Assignment List"]
        page.keyboard.press("Escape")
        desk.open_assignment(page, UNIT.label)

        desk.go_to(page, "Exercise 2.4")
        desk.answer(page, STUB, unscaled(right))
        desk.run_all_above(page)
        desk.go_to(page, "Exercise 2.4")
        check = desk.cell(page, "Code", f'"{EXERCISE}"')
        check.click()
        desk.run(page)
        check.get_by_text("The scaling is missing").wait_for()
        assert "0 of 28 points" in check.inner_text()
        desk.show(desk.cell(page, "Code", STUB))
        picture(page, "student_mistake")
        message = desk.validate(page)
        assert EXERCISE in message and "You did not provide a response" in message
        desk.close_dialog(page)

        desk.answer(page, STUB, right)
        desk.run(page)
        check.get_by_text("28 of 28 points").wait_for()
        desk.go_to(page, "A row with no key left")
        desk.answer_in_words(page, "YOUR ANSWER HERE", WORDS)
        desk.run_all(page, "points by checks")
        assert "Success! Your notebook passes all the tests." in desk.validate(page)
        desk.close_dialog(page)

        desk.save(page)
        page.click('.lm-TabBar-tabLabel:text("Assignments")')
        page.click('#fetched_assignments_list button:has-text("Submit")')
        page.wait_for_selector(
            f'#submitted_assignments_list .list_item:has-text("{UNIT.label}")'
        )
        picture(page, "student_submit", height=350)

    (handed_in,) = root.glob(f"exchange/*/inbound/*/{UNIT.release.name}")
    texts = {cell.source for cell in nbformat.read(handed_in, as_version=4).cells}
    assert {right, WORDS} <= texts
