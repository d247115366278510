"""Warm-up and cosine."""

from __future__ import annotations

import torch

from autograder.oracle.draw import Draw
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Inputs,
    Maker,
    Mutant,
    Specification,
    Way,
)


def _asked(warmup: int, steps: int, floor: float | None = None) -> Maker:
    """Some steps of each part of the schedule, the corners always."""

    def inputs(draw: Draw) -> Inputs:
        middle = draw.ids(warmup + 1, steps, 12).sort().values.tolist()
        early = draw.ids(0, warmup, 3).sort().values.tolist()
        corners = [warmup - 1, warmup, *middle, steps - 1, steps, steps + 1]
        made: Inputs = {
            "warmup": torch.tensor(warmup),
            "steps": torch.tensor(steps),
            "asked": torch.tensor([0, *early, *corners, steps + steps // 2, 3 * steps]),
        }
        return made | ({} if floor is None else {"floor": torch.tensor(floor)})

    return inputs


_WAVE = "(1 + math.cos(math.pi * progress)) / 2"

EXERCISE = Specification(
    name="sequence_reversal/learning_rate",
    title="Warm-up and cosine",
    target="rate_factor",
    cases=[
        CaseKind(
            name="short",
            title="4 of 20 steps are warm-up, floor 0.1",
            inputs=_asked(4, 20, 0.1),
            hint="Check the corners by hand: steps 0, w - 1, w and n.",
            picture="curves",
        ),
        CaseKind(
            name="default_floor",
            title="50 of 600 steps, the default floor",
            inputs=_asked(50, 600),
            hint="Without a fourth argument the floor is 0.02.",
            picture="curves",
        ),
        CaseKind(
            name="no_warmup",
            title="a warm-up of a single step, floor 0",
            inputs=_asked(1, 30, 0.0),
            hint="With one step of warm-up, step 0 has the factor 1.",
            picture="curves",
        ),
        CaseKind(
            name="long_warmup",
            title="a long warm-up, floor 0.3",
            inputs=_asked(70, 100, 0.3),
            hint="The cosine begins when the warm-up ends, not at step 0.",
            picture="curves",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="starts_at_zero",
            says="Your first step has the rate zero: it would be lost.",
            asks="Which factor does the formula give for step 0?",
            ways=[Way(edits=[Edit("(step + 1) / warmup", "step / warmup")])],
        ),
        Mutant(
            name="no_warmup",
            says="There is no warm-up: the rate is at its peak from the start.",
            asks="What should the factor of the very first step be?",
            ways=[Way(edits=[
                Edit(
                    """
                    if step < warmup:
                        return (step + 1) / warmup
                    """,
                    "",
                ),
                Edit("min(1.0, (step - warmup)", "min(1.0, max(step - warmup, 0)"),
            ])],
        ),
        Mutant(
            name="cosine_from_zero",
            says="Your cosine starts at step 0 instead of at the end of the warm-up, "
            "so the curve jumps there.",
            asks="How many steps has the cosine for its way down?",
            ways=[Way(edits=[
                Edit("(step - warmup) / (steps - warmup)", "step / steps"),
            ])],
        ),
        Mutant(
            name="cosine_too_slow",
            says="Your cosine takes `steps` steps after the warm-up, so it has not "
            "arrived when the training ends.",
            asks="How many steps are left when the warm-up is over?",
            ways=[Way(edits=[Edit("/ (steps - warmup)", "/ steps")])],
        ),
        Mutant(
            name="full_wave",
            says="Your curve goes down and comes up again: a whole wave, where half a "
            "wave is wanted.",
            asks="Between which two angles does the cosine fall from 1 to -1?",
            ways=[Way(edits=[Edit("math.pi * progress", "2 * math.pi * progress")])],
        ),
        Mutant(
            name="half_way",
            says="Your cosine stops at a right angle, where it is 0, not at -1.",
            asks="Which angle should belong to progress 1?",
            ways=[Way(edits=[Edit("math.pi * progress", "math.pi / 2 * progress")])],
        ),
        Mutant(
            name="quarter_wave",
            says="You took a quarter of a cosine: it falls steeply at the end, where "
            "it should level out.",
            asks="What is the slope of your curve at the last step?",
            ways=[Way(edits=[Edit(_WAVE, "math.cos(math.pi / 2 * progress)")])],
        ),
        Mutant(
            name="rises_again",
            says="After its last step your schedule rises again.",
            asks="What keeps the progress from growing beyond 1?",
            ways=[Way(edits=[
                Edit("min(1.0, (step - warmup) / (steps - warmup))",
                     "(step - warmup) / (steps - warmup)"),
            ])],
        ),
        Mutant(
            name="no_floor",
            says="Your curve ends at 0 instead of at the floor.",
            asks="Where does your code use `floor`?",
            ways=[Way(edits=[Edit("floor + (1 - floor) *", "1.0 *")])],
        ),
        Mutant(
            name="floor_added",
            says="The floor is added on top: at the peak your factor is above 1.",
            asks="By how much must the wave be squeezed to make room for the floor?",
            ways=[Way(edits=[Edit("floor + (1 - floor) *", "floor +")])],
        ),
        Mutant(
            name="floor_cut",
            says="You cut the curve off at the floor. It is to be squeezed, so that it "
            "arrives there smoothly.",
            asks="What is the factor halfway down: 1/2, or the middle between 1 and "
            "the floor?",
            ways=[Way(edits=[
                Edit("return floor + (1 - floor) * (1 + math.cos(math.pi * progress)) / 2",
                     "return max(floor, (1 + math.cos(math.pi * progress)) / 2)"),
            ])],
        ),
        Mutant(
            name="floor_in_warmup",
            says="Your warm-up starts at the floor instead of at 1/w.",
            asks="Does the floor occur in the first line of the formula?",
            ways=[Way(edits=[
                Edit("return (step + 1) / warmup",
                     "return floor + (1 - floor) * (step + 1) / warmup"),
            ])],
        ),
        Mutant(
            name="linear_decay",
            says="Your rate falls in a straight line: the cosine is missing.",
            asks="What is the slope of the curve just after the warm-up?",
            ways=[Way(edits=[
                Edit("(1 - floor) * (1 + math.cos(math.pi * progress)) / 2",
                     "(1 - floor) * (1 - progress)"),
            ])],
        ),
        Mutant(
            name="upside_down",
            says="Your cosine rises where it should fall.",
            asks="What is cos(0), and what should the factor be right after the "
            "warm-up?",
            ways=[Way(edits=[Edit("1 + math.cos", "1 - math.cos")])],
        ),
        Mutant(
            name="degrees",
            says="Your angle is in degrees. `math.cos` wants radians.",
            asks="What is `math.cos(180)`?",
            ways=[Way(edits=[Edit("math.pi * progress", "180 * progress")])],
        ),
        Mutant(
            name="not_halved",
            says="Your wave is twice as high as it should be.",
            asks="Between which two numbers does 1 + cos run?",
            ways=[Way(edits=[
                Edit("math.cos(math.pi * progress)) / 2",
                     "math.cos(math.pi * progress))"),
            ])],
        ),
        Mutant(
            name="inverse_root",
            says="That is the schedule of Vaswani et al. 2017, which falls like one "
            "over the root of the step. Here a cosine is asked for.",
            asks="When does each of the two schedules reach the floor?",
            ways=[Way(edits=[
                Edit("return floor + (1 - floor) * (1 + math.cos(math.pi * progress)) / 2",
                     "return max(floor, ((warmup + 0) / (step + 1)) ** 0.5)"),
            ])],
        ),
        Mutant(
            name="constant",
            says="After the warm-up your rate stays at its peak.",
            asks="What should the factor be at the last step?",
            ways=[Way(edits=[
                Edit("progress = min(1.0, (step - warmup) / (steps - warmup))",
                     "progress = 0.0"),
            ])],
        ),
        Mutant(
            name="whole_division",
            says="You divided with `//`: your progress is 0 until the very end.",
            asks="What is `3 // 4`?",
            ways=[Way(edits=[
                Edit("(step - warmup) / (steps - warmup)",
                     "(step - warmup) // (steps - warmup)"),
            ])],
        ),
        Mutant(
            name="warmup_one_longer",
            says="Your warm-up is one step too long, and its last factor is above 1.",
            asks="Steps count from 0. Which numbers have the first `w` steps?",
            ways=[Way(edits=[Edit("if step < warmup", "if step <= warmup")])],
        ),
        Mutant(
            name="off_by_one",
            says="Your cosine arrives one step early.",
            asks="At which step is the progress to be 1?",
            ways=[Way(edits=[
                Edit("/ (steps - warmup)", "/ max(steps - warmup - 1, 1)"),
            ])],
        ),
        Mutant(
            name="zero_after_the_end",
            says="After the last step your factor is 0; it should stay at the floor.",
            asks="What is the smallest value that the formula can give after the "
            "warm-up?",
            ways=[Way(edits=[
                Edit(
                    "progress = min",
                    """
                    if step > steps:
                        return 0.0
                    progress = min
                    """,
                ),
            ])],
        ),
        Mutant(
            name="floor_fixed",
            says="You wrote the number 0.02 into the formula, whatever `floor` is.",
            asks="What should happen for `floor=0.3`?",
            ways=[Way(edits=[
                Edit("return floor + (1 - floor)", "return 0.02 + (1 - 0.02)"),
            ])],
        ),
        Mutant(
            name="tensor",
            says="The number is right, but it comes as a tensor.",
            asks="Which method of a tensor with one number gives that number?",
            ways=[Way(source="""
                def rate_factor(step, warmup, steps, floor=0.02):
                    p = torch.tensor((step - warmup) / (steps - warmup)).clamp(0, 1)
                    wave = floor + (1 - floor) * 0.5 * (1 + torch.cos(torch.pi * p))
                    return torch.tensor((step + 1) / warmup) if step < warmup else wave
                """)],
        ),
    ],
    accepted=[
        Accepted(name="sine", source="""
            def rate_factor(step, warmup, steps, floor=0.02):
                if step + 1 <= warmup:
                    return (1 + step) * (1 / warmup)
                p = min(step, steps) - warmup
                wave = math.cos(math.pi * p / (steps - warmup) / 2) ** 2
                return floor * (1 - wave) + wave
            """),
        Accepted(name="tensors", source="""
            def rate_factor(step, warmup, steps, floor=0.02):
                if step < warmup:
                    return float(step + 1) / warmup
                p = torch.tensor((step - warmup) / (steps - warmup)).clamp(max=1)
                return floor + (1 - floor) * 0.5 * (1 + torch.cos(torch.pi * p)).item()
            """),
        Accepted(name="three_parts", source="""
            def rate_factor(step, warmup, steps, floor=0.02):
                if step < warmup:
                    return (step + 1) / warmup
                elif step >= steps:
                    return floor
                angle = math.pi * (step - warmup) / (steps - warmup)
                return (1 + floor) / 2 + (1 - floor) / 2 * math.cos(angle)
            """),
    ],
)
