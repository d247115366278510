"""Cases and mistakes for an exercise: rotary frequencies for a longer context."""

from __future__ import annotations

import math

import torch

from autograder.authoring.contract import Contract
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification


def _draw_frequencies(draw: Draw) -> torch.Tensor:
    """Draw seven frequencies, with which a pair turns between about 1/8 and 9 times over 64 positions."""
    turns = torch.tensor([9.0, 5.0, 3.0, 2.0, 1.5, 0.5, 0.125]) + draw.tensor(7, scale=0.0625)
    return 2 * math.pi * turns / 64


_TURNS = "turns = trained * frequencies / (2 * math.pi)"
_SHARE = "share = ((turns - low) / (high - low)).clamp(0, 1)"
_RETURN = "return frequencies * (share + (1 - share) / factor)"

CASES = [
    case("usual", "7 frequencies, a factor of 4", sizes(frequencies=_draw_frequencies, factor=4.0, trained=64),
         "A pair that turns often keeps its frequency, a slow one has it divided by the factor."),
    case("other_bounds", "bounds of 2 and 8", sizes(frequencies=_draw_frequencies, factor=4.0, trained=64, low=2.0,
                                                   high=8.0),
         "low and high are arguments.", tests="full turns"),
    case("other_length", "trained on 48 positions, a factor of 2.5",
         sizes(frequencies=_draw_frequencies, factor=2.5, trained=48), "Turns are counted over `trained` positions."),
    case("far", "trained on 160 positions, a factor of 8",
         sizes(frequencies=_draw_frequencies, factor=8.0, trained=160), "As above.", hidden_only=True),
]

MISTAKES = [
    wrong("all_divided",
          "Every frequency is divided by the factor: this is position interpolation, which blurs neighbours.",
          "Which pairs should keep their frequency?",
          edit(_RETURN, "return frequencies / factor + 0 * share")),
    wrong("upside_down", "The pairs that turn often are slowed down, and the slow ones are kept.",
          "Which pairs meet angles that they never met in training?",
          edit(_RETURN, "return frequencies * ((1 - share) + share / factor)")),
    wrong("multiplied", "Slow pairs become faster: their frequency is multiplied by the factor.",
          "Should a position far away have a larger or a smaller angle than before?",
          edit("(1 - share) / factor", "(1 - share) * factor")),
    wrong("not_clamped", "The share that is kept falls below 0 or rises above 1 for pairs outside the two bounds.",
          "What is `(turns - low) / (high - low)` for a pair that turns 20 times?",
          edit(".clamp(0, 1)", ""),
          edit(".clamp(0, 1)", ".clamp(min=0)", name="no_upper_end"),
          edit(".clamp(0, 1)", ".clamp(max=1)", name="no_lower_end")),
    wrong("no_ramp", "Between the two bounds, frequencies jump; they should change gradually.",
          "What share is kept by a pair halfway between `low` and `high`?",
          edit(_SHARE, "share = (turns > low).to(turns.dtype)"),
          edit(_SHARE, "share = (turns >= high).to(turns.dtype)", name="jumps_at_high"),
          edit(_SHARE, "share = (turns > (low + high) / 2).to(turns.dtype)", name="jumps_in_the_middle")),
    wrong("wavelengths_for_turns", "You compare wavelengths in positions with bounds that count turns.",
          "How many wavelengths fit into `trained` positions?",
          edit(_TURNS, "turns = 2 * math.pi / frequencies")),
    wrong("radians_for_turns", "You count radians, of which a full turn has 2π.",
          "How many radians does a pair rotate by when it turns once?",
          edit(_TURNS, "turns = trained * frequencies")),
    wrong("longer_text",
          "Turns are counted over the longer text; the pairs that matter are those that never turned in training.",
          "Over how many positions did the model see its pairs turn?",
          edit(_TURNS, "turns = factor * trained * frequencies / (2 * math.pi)")),
    wrong("by_index", "The share depends on the index of a pair; it should depend on how often the pair turns.",
          "Would your result change if the frequencies came in a different order?",
          edit(_SHARE, "share = torch.linspace(1, 0, len(frequencies))")),
    wrong("wavelengths_mixed", "Between the bounds you average wavelengths; the task averages frequencies.",
          "Is the mean of `1/f` and `factor/f` the inverse of the mean of `f` and `f/factor`?",
          edit(_RETURN, "return 1 / (share / frequencies + (1 - share) * factor / frequencies)")),
    wrong("bounds_ignored", "`low` or `high` has no effect.",
          "Which numbers does your code use in place of the arguments?",
          edit(_SHARE, "share = ((turns - 1) / 3).clamp(0, 1)"),
          edit("(high - low)", "high", name="low_in_the_width")),
    wrong("overwritten", "You modify the frequencies that you were given.",
          "Does `*=` make a new tensor?",
          edit(_RETURN, "frequencies *= share + (1 - share) / factor; return frequencies"), tests="modify"),
]

ACCEPTED = [
    right("as_in_llama", source("""
        def scale_frequencies(frequencies, factor, trained, low=1.0, high=4.0):
            wavelength = 2 * math.pi / frequencies
            smooth = (trained / wavelength - low) / (high - low)
            mixed = (1 - smooth) * frequencies / factor + smooth * frequencies
            result = torch.where(wavelength > trained / low, frequencies / factor, frequencies)
            between = (wavelength <= trained / low) & (wavelength >= trained / high)
            return torch.where(between, mixed, result)
        """)),
    right("lerp", edit(_RETURN, "return torch.lerp(frequencies / factor, frequencies, share)")),
    right("loop", source("""
        def scale_frequencies(frequencies, factor, trained, low=1.0, high=4.0):
            scaled = []
            for f in frequencies:
                share = (trained * f / (2 * torch.pi) - low) / (high - low)
                share = torch.clamp(share, 0, 1)
                scaled.append(share * f + (1 - share) * f / factor)
            return torch.stack(scaled)
        """)),
    right("from_a_list", edit(_RETURN, """
        scaled = [f * (s + (1 - s) / factor) for f, s in zip(frequencies.tolist(), share.tolist())]
        return torch.tensor(scaled, dtype=frequencies.dtype)
        """)),
]

EXERCISE = Specification(
    results="the frequencies", gradients=False, contract=Contract(ways=("steady", "spread")),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
