"""Cases and mistakes for an exercise: round the rows of a matrix to integers."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification


def _draw_outlier(draw: Draw) -> torch.Tensor:
    """A matrix in which one row is fifty times as large as the others."""
    weight = draw.tensor(5, 7)
    weight[int(draw.ids(0, 5, 1))] *= 50
    return weight


def _draw_row_of_zeros(draw: Draw) -> torch.Tensor:
    """A matrix in which one row is zero, and so has no scale."""
    weight = draw.tensor(4, 6)
    weight[int(draw.ids(0, 4, 1))] = 0
    return weight


def _draw_negative_peaks(draw: Draw) -> torch.Tensor:
    """A matrix in which the entry with the largest absolute value of each row is negative."""
    weight = draw.tensor(6, 5)
    weight[:, 2] = -4 - draw.tensor(6).abs()
    return weight


_LARGEST = "largest = 2 ** (bits - 1) - 1"
_PEAKS = "peaks = weight.abs().amax(dim=1, keepdim=True)  # (d_out, 1)"
_SCALES = "scales = torch.where(peaks > 0, peaks / largest, 1.0)  # (d_out, 1)"
_CODES = "codes = (weight / scales).round().to(torch.int8)  # (d_out, d_in)"
_RESULT = "return codes, scales"

CASES = [
    case("eight", "4 rows of 6 weights, 8 bits", sizes(d_out=4, d_in=6),
         "Each row has its own scale: its largest absolute value, divided by 127."),
    case("outlier", "a row that is fifty times as large as the others", sizes(d_out=5, d_in=7, weight=_draw_outlier),
         "A large row must not cost the other rows their precision."),
    case("negative", "rows whose largest entry is negative", sizes(d_out=6, d_in=5, weight=_draw_negative_peaks),
         "The peak of a row is its largest *absolute* value."),
    case("four", "6 rows of 9 weights, 4 bits", sizes(d_out=6, d_in=9, bits=4),
         "With 4 bits, the largest integer is 7."),
    case("zeros", "a row of zeros", sizes(d_out=4, d_in=6, weight=_draw_row_of_zeros),
         "Which scale keeps 0 / scale from being NaN?", tests="A row of zeros", aspect="limits"),
    case("three", "3 rows of 11 weights, 3 bits", sizes(d_out=3, d_in=11, bits=3), "As above.", hidden_only=True),
    case("wide", "9 rows of 4 weights, 8 bits", sizes(d_out=9, d_in=4), "As above.", hidden_only=True),
]

MISTAKES = [
    wrong("per_tensor", "The whole matrix shares one scale, so a single large weight makes all rows coarse.",
          "How many scales does the docstring promise?",
          edit(_PEAKS, "peaks = weight.abs().amax().expand(len(weight), 1)")),
    wrong("per_column", "Your scales belong to the columns; the channels of a linear layer's output are its rows.",
          "Over which dimension does the maximum go, and which one remains?",
          edit(_PEAKS, "peaks = weight.abs().amax(dim=0, keepdim=True)"),
          edit(_PEAKS, "peaks = weight.abs().amax(dim=0, keepdim=True)",
               _RESULT, "return codes, scales.expand(len(weight), -1)[:, :1]", name="column_of_the_first")),
    wrong("without_sign",
          "You take the largest entry of a row instead of its largest *absolute* value, so that negative weights do "
          "not fit.",
          "Which integer does a weight of -3 get in a row whose largest entry is 1?",
          edit("weight.abs().amax", "weight.amax")),
    wrong("largest_integer",
          "You divide the peaks by something other than `2 ** (bits - 1) - 1`, the largest code.",
          "From which to which number does an int8 go, and which range is symmetric?",
          edit(_LARGEST, "largest = 2 ** (bits - 1)"),
          edit(_LARGEST, "largest = 2 ** (bits - 1)", ".round()", ".round().clamp(-largest, largest - 1)",
               name="codes_clamped"),
          edit(_LARGEST, "largest = 2**bits - 1", name="all_bits"),
          edit(_LARGEST, "largest = 2 ** (bits - 1) - 2", name="one_less")),
    wrong("always_eight", "You ignore `bits`: 127 is the largest integer of 8 bits only.",
          "What is the largest integer of 4 bits?",
          edit(_LARGEST, "largest = 127")),
    wrong("cut_off", "You cut the decimals off or round them down; round to the nearest integer.",
          "What does `.to(torch.int8)` make of 0.9?",
          edit(".round()", ""),
          edit(".round()", ".floor()", name="floor")),
    wrong("scale_inverted", "Your scales are inverted: codes are to be *multiplied* by them to get the weights back.",
          "How does a server restore the weights from your two results?",
          edit(_SCALES, "scales = torch.where(peaks > 0, largest / peaks, 1.0)",
               "weight / scales", "weight * scales")),
    wrong("between_extremes",
          "You spread the codes between a row's smallest and largest weight; here, zero stays zero.",
          "Which code does a weight of 0 get?",
          edit(_PEAKS, "low, high = weight.aminmax(dim=1, keepdim=True); peaks = (high - low) / 2",
               _CODES, "codes = ((weight - (low + high) / 2) / scales).round().to(torch.int8)")),
    wrong("zeros_divided", "The scale of a row of zeros is 0 or tiny; it should be 1.",
          "Which scale does the contract give to a row of zeros?",
          edit(_SCALES, "scales = peaks / largest"),
          edit(_SCALES, "scales = peaks.clamp(min=1e-8) / largest", name="tiny_scale"), tests="A row of zeros"),
    wrong("no_integers", "Your codes are not of type int8, and take as much memory as before.",
          "How many bytes does an entry of your first result take?",
          edit(".to(torch.int8)", ""),
          edit("torch.int8", "torch.int32", name="four_bytes"), tests="int8"),
    wrong("restored", "You return the rounded weights instead of the integers.",
          "What does the docstring list under Returns?",
          edit(_RESULT, "return codes * scales, scales")),
    wrong("scales_flat", "Your scales have no second dimension, so `codes * scales` fails or multiplies the columns.",
          "Which argument of `amax` keeps the dimension?",
          edit(_RESULT, "return codes, scales.squeeze(1)")),
    wrong("argument_changed", "Your function modifies `weight`.",
          "Which of your operations ends in an underscore or assigns to an index?",
          edit(_CODES, "codes = weight.div_(scales).round().to(torch.int8)"), tests="is not modified"),
    common("nothing_returned", edit(_RESULT, "pass")),
]

ACCEPTED = [
    right("fresh_peaks", source("""
        def quantize_per_channel(weight, bits=8):
            limit = (1 << bits - 1) - 1
            scale = weight.abs().max(dim=-1, keepdim=True).values / limit
            scale = scale.masked_fill(scale == 0, 1)
            return torch.clamp(torch.round(weight / scale), -limit, limit).to(torch.int8), scale
        """)),
    right("rows", source("""
        def quantize_per_channel(weight, bits=8):
            codes, scales = [], []
            for row in weight:
                scale = row.abs().max() / (2 ** (bits - 1) - 1)
                if scale == 0:
                    scale = torch.ones_like(scale)
                codes.append(torch.round(row / scale).char())
                scales.append(scale)
            return torch.stack(codes), torch.stack(scales)[:, None]
        """)),
    right("infinity_norm", edit(_PEAKS, 'peaks = torch.linalg.vector_norm(weight, torch.inf, 1, True)')),
]

EXERCISE = Specification(
    results="codes, scales", gradients=False, cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
