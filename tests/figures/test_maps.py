"""Heat maps: what is written into cells, and what is struck out."""

import matplotlib

matplotlib.use("agg")
import pytest
import torch

from autograder.figures import maps, style

WEIGHTS = torch.tensor([[0.861, 0.139, 0.0], [0.0004, 0.5, 0.4996]])


@pytest.fixture
def axes():
    import matplotlib.pyplot as plt

    figure, empty_axes = style.subplots()
    yield empty_axes
    plt.close(figure)


def texts(axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_few_cells_have_their_values_in_them(axes):
    maps.heat_map(axes, WEIGHTS)
    assert texts(axes) == [".86", ".14", "0", "0", ".50", ".50"]


class OnGpu(torch.Tensor):
    """A tensor that acts like one on a GPU, as most test machines have none."""

    def cpu(self) -> torch.Tensor:
        return self.as_subclass(torch.Tensor)

    def numpy(self) -> None:
        raise TypeError("can't convert cuda:0 device type tensor to numpy")


def test_a_tensor_on_a_gpu_is_drawn(axes):
    maps.heat_map(axes, WEIGHTS.as_subclass(OnGpu))
    assert texts(axes) == [".86", ".14", "0", "0", ".50", ".50"]


def test_zeros_do_not_crowd_a_map_with_many_cells(axes):
    maps.heat_map(axes, torch.eye(8))
    assert texts(axes) == ["1.00"] * 8


def test_many_cells_have_none(axes):
    maps.heat_map(axes, torch.rand(11, 10))
    assert texts(axes) == []


def test_what_is_masked_is_struck_out_and_has_no_value(axes):
    maps.heat_map(axes, WEIGHTS, allowed=WEIGHTS > 0)
    assert len(texts(axes)) == 5
    unfilled = [p for p in axes.patches if p.get_facecolor()[3] == 0]
    assert len(unfilled) == 1


def test_cells_of_one_colour_are_one_path(axes):
    maps.heat_map(axes, torch.ones(6, 6), values=None)
    assert len(axes.patches) == 1


def test_zero_of_signed_values_shows_the_page_and_signs_have_two_colours(axes):
    cells = style.diverging()
    assert cells(0.5)[3] < 0.01
    assert cells(0.0)[:3] != cells(1.0)[:3] and cells(0.0)[3] == cells(1.0)[3]


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [(0.864, ".2f", ".86"), (-0.4, ".2f", "−.40"), (1.0, ".2f", "1.00"),
     (-0.001, ".2f", "0"), (3, "d", "3"), (0, "d", "0"), (10.5, ".1f", "10.5")],
)  # fmt: skip
def test_a_value_is_written_without_what_a_cell_has_no_room_for(value, form, text):
    assert maps.format_value(value, form) == text
