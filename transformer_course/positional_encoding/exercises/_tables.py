"""Sinusoid tables, both right and wrong, for the test that students write."""

from __future__ import annotations

from collections.abc import Callable

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.specification import Inputs, Maker

RANDOM_ANGLES = "table of pairs that point anywhere"


def compute_angles(max_len: int, d_model: int) -> torch.Tensor:
    """Return the angle of each position and pair of columns, (max_len, d_model/2); row 1 contains the frequencies."""
    return torch.arange(max_len).unsqueeze(1) / 10000 ** (torch.arange(0, d_model, 2).double() / d_model)


def make_table(angles: torch.Tensor, of_cosines: torch.Tensor | None = None) -> torch.Tensor:
    """Return the table (max_len, d_model) of the sines and cosines of ``angles``, in alternating columns.

    With ``of_cosines``, the cosines are those of these angles instead.
    """
    cosines = (angles if of_cosines is None else of_cosines).cos()
    return torch.stack((angles.sin(), cosines), dim=-1).flatten(1)


def draw_tables(
    make_wrong: Callable[[Draw, torch.Tensor], Inputs], lengths: tuple[int, int] = (17, 32),
    pairs: tuple[int, int] = (3, 6),
) -> Maker:
    """Make a function that draws a correct table, wrong ones and one of random angles.

    A test that checks only that pairs have length 1 accepts the last. Entries are
    rounded to be equal on every platform.

    Args:
        make_wrong: makes the wrong tables, by name, from the correct one's angles.
        lengths, pairs: bounds, as for `range`, of the rows and of pairs of columns.
    """

    def make_inputs(draw: Draw) -> Inputs:
        angles = compute_angles(int(draw.ids(*lengths)), 2 * int(draw.ids(*pairs)))
        turns = draw.tensor(*angles.shape, scale=torch.pi).double()
        tables = {"right table": make_table(angles), **make_wrong(draw, angles), RANDOM_ANGLES: make_table(turns)}
        return {name: ((table * 2**14).round() / 2**14).float() for name, table in tables.items()}

    return make_inputs


def disturb(draw: Draw, table: torch.Tensor, places: torch.Tensor, change: float) -> torch.Tensor:
    """A copy of the table in which ``change`` is added to a random one of the entries that ``places`` marks."""
    candidates = places.expand_as(table).nonzero()
    row, column = candidates[int(draw.ids(0, len(candidates)))]
    disturbed = table.clone()
    disturbed[row, column] += change
    return disturbed
