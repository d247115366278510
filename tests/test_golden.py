"""What the golden file's rows tell apart, and what they do not."""

from dataclasses import replace

import torch

from autograder.authoring.notation import edit, wrong
from tests.golden import differences, digest, text, variants


def test_a_row_changes_with_the_text_of_what_is_run_or_said(tiny_exercise):
    before = dict(variants(tiny_exercise))
    mistake = wrong("tripled", "You tripled.", "How many?", edit("2 *", "3.0 *"))
    after = dict(variants(replace(tiny_exercise, mutants=[mistake])))
    assert differences(before, after) == ["changed  way tiny/double/tripled/tripled"]
    mistake = wrong("tripled", "You tripled it.", "How many?", edit("2 *", "3 *"))
    after = dict(variants(replace(tiny_exercise, mutants=[mistake])))
    assert differences(before, after) == ["changed  mutant tiny/double/tripled"]


def test_what_came_and_went_is_named_and_so_is_another_order():
    assert differences({"a": "1", "b": "2"}, {"b": "2", "c": "3"}) == [
        "gone     a",
        "new      c",
    ]
    assert differences({"a": "1", "b": "2"}, {"b": "2", "a": "1"}) == ["moved    b"]


def test_a_module_that_moves_changes_no_row():
    code = "from autograder.{} import shipped\n"
    assert text(code.format("library")) == text(code.format("checks.words"))


def test_equal_numbers_have_one_digest_however_they_are_stored():
    numbers = torch.tensor([[1, 2], [3, 4]])
    assert digest(numbers.T.contiguous().T) == digest(numbers) != digest(numbers.T)
    assert digest(torch.tensor(5).expand(1)) == digest(torch.tensor([5]))
    assert digest(numbers.float()) != digest(numbers)
