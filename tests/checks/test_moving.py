"""Who moves, where one push alone says nothing."""

import pytest
import torch

from autograder.checks.probes import moving

TABLE = torch.tensor([[0.5, 0.0], [0.0, 0.25]])  # (Lq, positions)


@pytest.mark.parametrize("by_chance", [0.9e-6, 1.1e-6])
def test_an_influence_near_the_limit_is_seen_whatever_rounding_makes_of_it(by_chance):
    pushes = []

    def influence(j, push):
        pushes.append((j, push))
        amounts = TABLE[:, j] * (1.0 if push is moving.zigzag or j else 2 * by_chance)
        return amounts[None, :, None].expand(3, 2, 4)

    moved_by = moving.who_moves(influence, 2)
    assert torch.equal(moved_by, (TABLE > 0).expand(3, 2, 2))
    # The other one if in doubt.
    assert pushes == [(0, moving.uneven), (0, moving.zigzag), (1, moving.uneven)]


def test_what_is_closed_or_moves_below_the_limit_is_not_seen():
    moved_by = moving.who_moves(lambda j, push: torch.full((1, 3, 2), 5e-7 * j), 2)
    assert not moved_by.any() and moved_by.shape == (1, 3, 2)


def test_the_other_push_is_another_direction():
    x = torch.zeros(2, 6, dtype=torch.float64)
    for push in (moving.uniform, moving.uneven):
        cosine = torch.cosine_similarity(push(x), moving.zigzag(x), dim=0)
        assert cosine.abs() < 0.5 and moving.zigzag(x).dtype == x.dtype
