"""Cases and mistakes for an exercise: learning-rate warm-up and cosine decay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification


def _draw_steps(warmup: int, steps: int) -> Callable[[Draw], torch.Tensor]:
    """Make a function that draws step numbers: the corners of the schedule, and random ones between them."""

    def draw_steps(draw: Draw) -> torch.Tensor:
        corners = torch.tensor([0, warmup - 1, warmup, steps - 1, steps, steps + 1, 3 * steps])
        return torch.cat([corners, draw.ids(0, warmup, 3), draw.ids(warmup, 2 * steps, 14)]).sort().values

    return draw_steps


def _is_possible(inputs: Mapping[str, Any]) -> bool:
    """Return whether inputs that the engine has made smaller have a valid warm-up."""
    return 1 <= int(inputs["warmup"]) < int(inputs["steps"])


CASES = [
    case("short", "4 of 20 steps are warm-up, floor 0.1",
         sizes(step=_draw_steps(4, 20), warmup=4, steps=20, floor=0.1),
         "Check the corners by hand: steps 0, w - 1, w and n.", picture="curves"),
    case("default_floor", "50 of 600 steps, the default floor",
         sizes(step=_draw_steps(50, 600), warmup=50, steps=600),
         "Without a fourth argument, the floor is 0.02.", picture="curves"),
    case("no_warmup", "a warm-up of a single step, floor 0",
         sizes(step=_draw_steps(1, 30), warmup=1, steps=30, floor=0.0),
         "With one step of warm-up, step 0 has the factor 1.", picture="curves", aspect="limits"),
    case("long_warmup", "a long warm-up, floor 0.3",
         sizes(step=_draw_steps(70, 100), warmup=70, steps=100, floor=0.3),
         "The cosine begins when the warm-up ends, not at step 0.", picture="curves", hidden_only=True),
]

_WAVE = "(1 + math.cos(math.pi * progress)) / 2"
_PROGRESS = "min(1.0, (step - warmup) / (steps - warmup))"
_ANGLE = "math.pi * progress"

MISTAKES = [
    wrong("starts_at_zero",
          "Each step of your warm-up gets the rate of the previous step: the first has a rate of zero and is wasted.",
          "Which factor does the formula give for step 0?",
          edit("(step + 1) / warmup", "step / warmup")),
    wrong("one_more_than_warmup",
          "Your warm-up is divided by one more than its number of steps, so it ends below the peak.",
          "What is the factor of the last warm-up step, and what should it be?",
          edit("(step + 1) / warmup", "(step + 1) / (warmup + 1)")),
    wrong("warmup_one_longer", "Your warm-up is one step too long, and its last factor is above 1.",
          "Steps count from 0. What are the numbers of the first `w` steps?",
          edit("if step < warmup", "if step <= warmup")),
    wrong("no_warmup", "There is no warm-up: the rate is at its peak from the start.",
          "What should the factor of the very first step be?",
          edit("return (step + 1) / warmup", "return 1.0")),
    wrong("floor_in_warmup", "Your warm-up starts at the floor instead of at 1/w.",
          "Does the floor occur in the first line of the formula?",
          edit("return (step + 1) / warmup", "return floor + (1 - floor) * (step + 1) / warmup")),
    wrong("cosine_from_zero",
          "Your cosine does not take exactly the steps that are left after the warm-up: it counts from step 0, or "
          "takes `steps` steps.",
          "At which step does the cosine begin, and how many steps does it have for its way down?",
          edit("(step - warmup) / (steps - warmup)", "step / steps"),
          edit("/ (steps - warmup)", "/ steps", name="cosine_too_slow")),
    wrong("off_by_one", "Your cosine reaches the floor one step early.",
          "At which step should the progress be 1?",
          edit("/ (steps - warmup)", "/ max(steps - warmup - 1, 1)")),
    wrong("whole_division", "You divide with `//`, so your progress is 0 until the very end.",
          "What is `3 // 4`?",
          edit("(step - warmup) / (steps - warmup)", "(step - warmup) // (steps - warmup)")),
    wrong("wrong_angle", "The angle of your cosine should grow from 0 to π, in radians: that is half a period.",
          "Between which two angles does the cosine fall from 1 to -1?",
          edit(_ANGLE, "2 * math.pi * progress"),
          edit(_ANGLE, "math.pi / 2 * progress", name="half_way"),
          edit(_WAVE, "math.cos(math.pi / 2 * progress)", name="quarter_wave"),
          edit(_ANGLE, "180 * progress", name="degrees")),
    wrong("rises_again", "Your schedule rises again after its last step.",
          "What keeps the progress from growing beyond 1?",
          edit(_PROGRESS, "(step - warmup) / (steps - warmup)"), tests="reaches"),
    wrong("zero_after_the_end", "After the last step your factor is 0; it should stay at the floor.",
          "What is the smallest value that the formula can give after the warm-up?",
          edit("progress = min", """
              if step > steps:
                  return 0.0
              progress = min
              """)),
    wrong("no_floor", "Your curve does not end at `floor`: that is ignored, or a fixed number takes its place.",
          "Where does your code use `floor`, and what should happen for `floor=0.3`?",
          edit("floor + (1 - floor) *", "1.0 *"),
          edit("return floor + (1 - floor)", "return 0.02 + (1 - 0.02)", name="floor_fixed")),
    wrong("above_one",
          "Just after the warm-up your factor is above 1: the wave is not scaled down to between 1 and the floor.",
          "Between which two values does 1 + cos run, and how much room is left above the floor?",
          edit("floor + (1 - floor) *", "floor +"),
          edit("math.cos(math.pi * progress)) / 2", "math.cos(math.pi * progress))", name="not_halved")),
    wrong("floor_cut", "You cut the curve off at the floor; it should be scaled so that it arrives there smoothly.",
          "What is the factor halfway down: 1/2, or the midpoint between 1 and the floor?",
          edit(f"return floor + (1 - floor) * {_WAVE}", f"return max(floor, {_WAVE})")),
    wrong("three_at_once",
          "Three things differ from the formula: step 0 gives 0, the cosine is cut off at the floor, and the curve "
          "rises again after the last step.",
          "What does the formula give for step 0, for a step halfway down, and for one beyond the last?",
          edit("(step + 1) / warmup", "step / warmup", _PROGRESS, "(step - warmup) / (steps - warmup)",
               f"return floor + (1 - floor) * {_WAVE}", f"return max(floor, {_WAVE})")),
    wrong("linear_decay", "Your rate falls in a straight line; the cosine is missing.",
          "What is the slope of the curve just after the warm-up?",
          edit(_WAVE, "(1 - progress)")),
    wrong("upside_down", "Your cosine rises where it should fall.",
          "What is cos(0), and what should the factor be right after the warm-up?",
          edit("1 + math.cos", "1 - math.cos")),
    wrong("inverse_root",
          "This is the schedule of Vaswani et al. (2017), which falls like one over the square root of the step; this "
          "exercise needs a cosine.",
          "When does each of the two schedules reach the floor?",
          edit(f"return floor + (1 - floor) * {_WAVE}", "return max(floor, ((warmup + 0) / (step + 1)) ** 0.5)")),
    wrong("constant", "After the warm-up your rate stays at its peak.",
          "What should the factor be at the last step?",
          edit(_PROGRESS, "0.0")),
    wrong("tensor", "The value is a tensor instead of a float.",
          "Which method turns a one-element tensor into a float?",
          edit("return (step", "return torch.tensor(step", "return floor", "return torch.tensor(floor)"),
          tests="tensor"),
]

ACCEPTED = [
    right("sine", source("""
        def rate_factor(step, warmup, steps, floor=0.02):
            if step + 1 <= warmup:
                return (1 + step) * (1 / warmup)
            p = min(step, steps) - warmup
            wave = math.cos(math.pi * p / (steps - warmup) / 2) ** 2
            return floor * (1 - wave) + wave
        """)),
    right("tensors", source("""
        def rate_factor(step, warmup, steps, floor=0.02):
            if step < warmup:
                return float(step + 1) / warmup
            p = torch.tensor((step - warmup) / (steps - warmup)).clamp(max=1)
            return floor + (1 - floor) * 0.5 * (1 + torch.cos(torch.pi * p)).item()
        """)),
    right("three_parts", source("""
        def rate_factor(step, warmup, steps, floor=0.02):
            if step < warmup:
                return (step + 1) / warmup
            elif step >= steps:
                return floor
            angle = math.pi * (step - warmup) / (steps - warmup)
            return (1 + floor) / 2 + (1 - floor) / 2 * math.cos(angle)
        """)),
]

EXERCISE = Specification(
    target="rate_factor", results="the factor", is_possible=_is_possible,
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
