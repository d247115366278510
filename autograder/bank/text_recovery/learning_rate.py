"""Warm-up and cosine decay."""

from __future__ import annotations

from autograder.oracle.draw import Draw
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Inputs,
    Mutant,
    Specification,
    Way,
)


def _schedule(draw: Draw, warmup: tuple[int, int], total: tuple[int, int]) -> Inputs:
    return {
        "warmup": draw.ids(*warmup, 1)[0],
        "total": draw.ids(*total, 1)[0],
        "peak": draw.ids(1, 40, 1)[0] / 64,
    }


EXERCISE = Specification(
    name="text_recovery/learning_rate",
    title="Warm-up and cosine decay",
    target="learning_rate",
    cases=[
        CaseKind(
            name="usual",
            title="a tenth of the steps warms up",
            inputs=lambda draw: _schedule(draw, (4, 9), (50, 70)),
            hint="A straight line up to the peak, then half a cosine down to 0.",
            picture="curves",
        ),
        CaseKind(
            name="no_warmup",
            title="no warm-up",
            inputs=lambda draw: _schedule(draw, (0, 1), (20, 30)),
            hint="Without warm-up the rate falls from the first step on.",
            picture="curves",
        ),
        CaseKind(
            name="long_warmup",
            title="most steps warm up",
            inputs=lambda draw: _schedule(draw, (25, 30), (35, 40)),
            hint="The decay takes the steps that are left.",
            picture="curves",
        ),
        CaseKind(
            name="other",
            title="other numbers",
            inputs=lambda draw: _schedule(draw, (10, 14), (90, 99)),
            hint="The same for other numbers.",
            hidden_only=True,
            picture="curves",
        ),
    ],
    mutants=[
        Mutant(
            name="no_peak",
            says="The rate rises to 1, not to `peak`.",
            asks="Where do you use `peak`?",
            ways=[Way(source="""
                def learning_rate(step, warmup, total, peak):
                    if step <= warmup:
                        return step / warmup
                    progress = min(1.0, (step - warmup) / (total - warmup))
                    return 0.5 * (1 + math.cos(math.pi * progress))
                """)],
        ),
        Mutant(
            name="cosine_over_all",
            says="The cosine runs over all steps, not over those that are left after "
            "the warm-up: the rate jumps.",
            asks="Which step has progress 0?",
            ways=[Way(edits=[
                Edit("(step - warmup) / (total - warmup)", "step / total"),
            ])],
        ),
        Mutant(
            name="divided_by_total",
            says="The falling part is divided by `total`: the rate does not reach 0.",
            asks="How many steps does the falling part have?",
            ways=[Way(edits=[Edit("/ (total - warmup)", "/ total")])],
        ),
        Mutant(
            name="rises_again",
            says="After the last step the rate rises again.",
            asks="What is the cosine beyond pi?",
            ways=[Way(edits=[
                Edit("min(1.0, (step - warmup) / (total - warmup))",
                     "(step - warmup) / (total - warmup)"),
            ])],
        ),
        Mutant(
            name="linear",
            says="The rate falls in a straight line.",
            asks="Where is the cosine?",
            ways=[Way(edits=[
                Edit("peak * 0.5 * (1 + math.cos(math.pi * progress))",
                     "peak * (1 - progress)"),
            ])],
        ),
        Mutant(
            name="quarter_cosine",
            says="The cosine is not moved to between 0 and 1: the rate falls as a "
            "quarter of a wave.",
            asks="At which angle is the cosine 0, and at which is it -1?",
            ways=[Way(edits=[
                Edit("peak * 0.5 * (1 + math.cos(math.pi * progress))",
                     "peak * math.cos(math.pi / 2 * progress)"),
            ])],
        ),
        Mutant(
            name="negative",
            says="The cosine itself is used: in the second half the rate is negative.",
            asks="Between which two numbers does a cosine swing?",
            ways=[Way(edits=[
                Edit("0.5 * (1 + math.cos(math.pi * progress))",
                     "math.cos(math.pi * progress)"),
            ])],
        ),
        Mutant(
            name="twice_the_peak",
            says="The decay starts at twice the peak.",
            asks="What is 1 + cos 0?",
            ways=[Way(edits=[Edit("peak * 0.5 * (1", "peak * (1")])],
        ),
        Mutant(
            name="degrees",
            says="The angle is taken in degrees.",
            asks="What does `math.cos` expect?",
            ways=[Way(edits=[Edit("math.pi * progress", "180 * progress")])],
        ),
        Mutant(
            name="no_warmup",
            says="There is no warm-up.",
            asks="What should the first rate be?",
            ways=[Way(edits=[Edit("if step <= warmup:", "if False:")])],
        ),
        Mutant(
            name="constant_warmup",
            says="During the warm-up the rate is already at its peak.",
            asks="In proportion to what does it rise?",
            ways=[Way(edits=[Edit("return peak * step / warmup", "return peak")])],
        ),
        Mutant(
            name="from_zero",
            says="Steps are counted from 0: the first step has rate 0 and learns "
            "nothing.",
            asks="Which number has the first step?",
            ways=[Way(edits=[
                Edit(
                    "if step <= warmup:",
                    """
                    step = step - 1
                    if step < warmup:
                    """,
                ),
            ])],
        ),
        Mutant(
            name="off_by_one",
            says="The step after the warm-up has the wrong rate: the decay begins one "
            "step too late.",
            asks="At which step is the progress exactly 0?",
            ways=[Way(edits=[
                Edit("(step - warmup) / (total - warmup)",
                     "(step - warmup - 1) / (total - warmup - 1)"),
            ])],
        ),
        Mutant(
            name="integer",
            says="The rate is rounded down to whole numbers.",
            asks="What does `//` do?",
            ways=[Way(edits=[Edit("peak * step / warmup", "peak * (step // warmup)")])],
        ),
    ],
    accepted=[
        Accepted(name="torch", source="""
            def learning_rate(step, warmup, total, peak):
                if warmup > 0 and step < warmup:
                    return peak * (step / warmup)
                if step >= total:
                    return 0.0
                angle = torch.tensor(math.pi * (step - warmup) / (total - warmup))
                return peak * (1 + torch.cos(angle)) / 2
            """),
        Accepted(name="half_angle", source="""
            def learning_rate(step, warmup, total, peak):
                if step <= warmup:
                    return step * peak / warmup
                if step > total:
                    return 0
                return peak * math.cos(math.pi / 2 * (step - warmup) / (total - warmup)) ** 2
            """),
    ],
)
