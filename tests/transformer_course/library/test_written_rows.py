"""What rows of ids say is one thing, the form in which they come another."""

import pytest
import torch

from transformer_course.library.written_rows import drop_padding, trim_at_eos

SAID = torch.tensor([[5, 6, 7], [8, 0, 0]])  # PAD is 0, BOS 1, EOS 2


@pytest.mark.parametrize(
    "ids",
    [
        [[5, 6, 7, 2], [8, 2, 0, 0]],
        [[1, 5, 6, 7, 2], [1, 8, 2, 0, 0]],  # BOS in front
        [[5, 6, 7], [8, 0, 0]],  # EOS forgotten
        [[5, 6, 7, 2, 9], [8, 2, 4, 2, 9]],  # going on after EOS
        [[5, 6, 7, 2, 2], [8, 2, 2, 2, 2]],
        [[5, 6, 7, 2, 0, 0], [8, 2, 0, 0, 0, 0]],
    ],
)
def test_the_form_makes_no_difference_to_what_is_said(ids):
    assert torch.equal(trim_at_eos(torch.tensor(ids)), SAID)


def test_a_bos_that_one_row_says_is_a_token():
    ids = torch.tensor([[1, 6, 2], [8, 1, 2]])
    assert torch.equal(trim_at_eos(ids), ids[:, :2])


@pytest.mark.parametrize(
    "answer", [torch.tensor([1, 2]), torch.ones(2, 3), SAID[:, :0]]
)
def test_what_is_no_rows_of_ids_is_left_as_it_is(answer):
    assert trim_at_eos(answer) is answer


def test_only_columns_of_padding_at_the_end_are_cut():
    ids = torch.tensor([[5, 0, 2, 0], [0, 0, 0, 0]])
    assert torch.equal(drop_padding(ids), ids[:, :3])
    assert torch.equal(drop_padding(torch.zeros(2, 4).long()), torch.zeros(2, 1).long())
