"""Warm-up and cosine."""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


def _schedule_steps(warmup: int, steps: int, floor: float | None = None) -> Maker:
    """Some steps of each part of the schedule, the corners always."""

    def make_inputs(draw: Draw) -> Inputs:
        middle = draw.ids(warmup + 1, steps, 12).sort().values.tolist()
        early = draw.ids(0, warmup, 3).sort().values.tolist()
        corners = [warmup - 1, warmup, *middle, steps - 1, steps, steps + 1]
        inputs: Inputs = {
            "warmup": torch.tensor(warmup),
            "steps": torch.tensor(steps),
            "asked": torch.tensor([0, *early, *corners, steps + steps // 2, 3 * steps]),
        }
        return inputs | ({} if floor is None else {"floor": torch.tensor(floor)})

    return make_inputs


_WAVE = "(1 + math.cos(math.pi * progress)) / 2"

CASES = [
    case("short", "4 of 20 steps are warm-up, floor 0.1", _schedule_steps(4, 20, 0.1),
         "Check the corners by hand: steps 0, w - 1, w and n.", picture="curves"),
    case("default_floor", "50 of 600 steps, the default floor", _schedule_steps(50, 600),
         "Without a fourth argument, the floor is 0.02.", picture="curves"),
    case("no_warmup", "a warm-up of a single step, floor 0", _schedule_steps(1, 30, 0.0),
         "With one step of warm-up, step 0 has the factor 1.", picture="curves"),
    case("long_warmup", "a long warm-up, floor 0.3", _schedule_steps(70, 100, 0.3),
         "The cosine begins when the warm-up ends, not at step 0.", picture="curves", hidden_only=True),
]

MISTAKES = [
    wrong("starts_at_zero",
          "Your first step has a rate of zero, so it is wasted.",
          "Which factor does the formula give for step 0?",
          edit("(step + 1) / warmup", "step / warmup")),
    wrong("one_more_than_warmup",
          "Your warm-up is divided by one more than its number of steps, so it ends below the peak.",
          "What is the factor of the last warm-up step, and what should it be?",
          edit("(step + 1) / warmup", "(step + 1) / (warmup + 1)")),
    wrong("no_warmup",
          "There is no warm-up: the rate is at its peak from the start.",
          "What should the factor of the very first step be?",
          edit("""
              if step < warmup:
                  return (step + 1) / warmup
              """, "",
               "min(1.0, (step - warmup)", "min(1.0, max(step - warmup, 0)")),
    wrong("cosine_from_zero",
          "Your cosine starts at step 0 instead of at the end of the warm-up, so the curve jumps there.",
          "How many steps does the cosine have for its way down?",
          edit("(step - warmup) / (steps - warmup)", "step / steps")),
    wrong("cosine_too_slow",
          "Your cosine takes `steps` steps after the warm-up, so it has not reached the floor when training ends.",
          "How many steps are left when the warm-up is over?",
          edit("/ (steps - warmup)", "/ steps")),
    wrong("full_wave",
          "Your curve goes down and comes up again: it covers a whole period instead of half of one.",
          "Between which two angles does the cosine fall from 1 to -1?",
          edit("math.pi * progress", "2 * math.pi * progress")),
    wrong("half_way",
          "Your cosine stops at a right angle, where it is 0, not at -1.",
          "Which angle should correspond to progress 1?",
          edit("math.pi * progress", "math.pi / 2 * progress")),
    wrong("quarter_wave",
          "You took a quarter period of a cosine: it falls steeply at the end, where it should level out.",
          "What is the slope of your curve at the last step?",
          edit(_WAVE, "math.cos(math.pi / 2 * progress)")),
    wrong("rises_again",
          "Your schedule rises again after its last step.",
          "What keeps the progress from growing beyond 1?",
          edit("min(1.0, (step - warmup) / (steps - warmup))", "(step - warmup) / (steps - warmup)"),
          tests="reaches"),
    wrong("no_floor",
          "Your curve ends at 0 instead of at the floor.",
          "Where does your code use `floor`?",
          edit("floor + (1 - floor) *", "1.0 *")),
    wrong("floor_added",
          "The floor is added on top, so at the peak your factor is above 1.",
          "By how much must the cosine be scaled down to make room for the floor?",
          edit("floor + (1 - floor) *", "floor +")),
    wrong("floor_cut",
          "You cut the curve off at the floor; it should be scaled so that it arrives there smoothly.",
          "What is the factor halfway down: 1/2, or the midpoint between 1 and the floor?",
          edit("return floor + (1 - floor) * (1 + math.cos(math.pi * progress)) / 2",
               "return max(floor, (1 + math.cos(math.pi * progress)) / 2)")),
    wrong("floor_in_warmup",
          "Your warm-up starts at the floor instead of at 1/w.",
          "Does the floor occur in the first line of the formula?",
          edit("return (step + 1) / warmup", "return floor + (1 - floor) * (step + 1) / warmup")),
    wrong("linear_decay",
          "Your rate falls in a straight line; the cosine is missing.",
          "What is the slope of the curve just after the warm-up?",
          edit("(1 - floor) * (1 + math.cos(math.pi * progress)) / 2", "(1 - floor) * (1 - progress)")),
    wrong("upside_down",
          "Your cosine rises where it should fall.",
          "What is cos(0), and what should the factor be right after the warm-up?",
          edit("1 + math.cos", "1 - math.cos")),
    wrong("degrees",
          "Your angle is in degrees, but `math.cos` expects radians.",
          "What is `math.cos(180)`?",
          edit("math.pi * progress", "180 * progress")),
    wrong("not_halved",
          "Your cosine part is twice as high as it should be.",
          "Between which two values does 1 + cos run?",
          edit("math.cos(math.pi * progress)) / 2", "math.cos(math.pi * progress))")),
    wrong("inverse_root",
          "This is the schedule of Vaswani et al. (2017), which falls like one over the square root of the step; this "
          "exercise needs a cosine.",
          "When does each of the two schedules reach the floor?",
          edit("return floor + (1 - floor) * (1 + math.cos(math.pi * progress)) / 2",
               "return max(floor, ((warmup + 0) / (step + 1)) ** 0.5)")),
    wrong("constant",
          "After the warm-up your rate stays at its peak.",
          "What should the factor be at the last step?",
          edit("progress = min(1.0, (step - warmup) / (steps - warmup))", "progress = 0.0")),
    wrong("whole_division",
          "You divide with `//`, so your progress is 0 until the very end.",
          "What is `3 // 4`?",
          edit("(step - warmup) / (steps - warmup)", "(step - warmup) // (steps - warmup)")),
    wrong("warmup_one_longer",
          "Your warm-up is one step too long, and its last factor is above 1.",
          "Steps count from 0. What are the numbers of the first `w` steps?",
          edit("if step < warmup", "if step <= warmup")),
    wrong("off_by_one",
          "Your cosine reaches the floor one step early.",
          "At which step should the progress be 1?",
          edit("/ (steps - warmup)", "/ max(steps - warmup - 1, 1)")),
    wrong("zero_after_the_end",
          "After the last step your factor is 0; it should stay at the floor.",
          "What is the smallest value that the formula can give after the warm-up?",
          edit("progress = min", """
              if step > steps:
                  return 0.0
              progress = min
              """)),
    wrong("floor_fixed",
          "You hard-coded 0.02 in the formula, whatever `floor` is.",
          "What should happen for `floor=0.3`?",
          edit("return floor + (1 - floor)", "return 0.02 + (1 - 0.02)")),
    wrong("tensor",
          "The value is a tensor instead of a float.",
          "Which method turns a one-element tensor into a float?",
          source("""
              def rate_factor(step, warmup, steps, floor=0.02):
                  p = torch.tensor((step - warmup) / (steps - warmup)).clamp(0, 1)
                  wave = floor + (1 - floor) * 0.5 * (1 + torch.cos(torch.pi * p))
                  return torch.tensor((step + 1) / warmup) if step < warmup else wave
              """), tests="tensor"),
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
    target="rate_factor",
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
