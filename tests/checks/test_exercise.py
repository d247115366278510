"""What a probe reports is plain data; a verdict is worth its points."""

import pytest
import torch

from autograder.checks.exercise import CaseResult, CheckResult, Other, plain


def test_tensor_subclasses_arrive_as_plain_tensors():
    class Sly(torch.Tensor):
        pass

    assert type(plain(torch.ones(2).as_subclass(Sly))) is torch.Tensor
    assert type(plain(torch.nn.Parameter(torch.ones(2)))) is torch.Tensor


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "NoneType"),
        (torch.ones(2).to_sparse(), "torch.sparse_coo tensor"),
        (Other("list"), "list"),
    ],
)
def test_of_what_is_neither_tensor_nor_text_only_the_kind_is_kept(value, kind):
    assert plain(value) == Other(kind)


def test_a_plain_tensor_is_contiguous_and_without_a_graph():
    tensor = plain(torch.ones(2, 3, requires_grad=True).t())
    assert tensor.is_contiguous() and not tensor.requires_grad


def test_a_plain_tensor_shares_no_memory_with_what_it_was():
    original = torch.ones(2, 3)
    plain(original).zero_()
    assert original.sum() == 6


def test_a_bonus_is_in_the_points_and_not_in_what_nbgrader_reads():
    assert repr(CheckResult("u/e", "E", 5.0, 4.0)) == "4.0"
    assert repr(CheckResult("u/e", "E", 3.0, 4.0)) == "3.0"


def test_a_verdict_on_no_case_has_not_passed(doubling):
    right = CaseResult(doubling.cases[0], {}, (), 1.0)
    assert CheckResult("u/e", "E", 4.0, 4.0, (right,)).passed
    assert not CheckResult("u/e", "E", 4.0, 4.0).passed
    half = CaseResult(doubling.cases[1], {}, (), 0.5)
    assert not CheckResult("u/e", "E", 4.0, 4.0, (right, half)).passed
