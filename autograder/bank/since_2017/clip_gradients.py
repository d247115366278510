"""Shorten all gradients together."""

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


def _gradients(max_norm: float, *shapes: tuple[int, ...], scale: float = 2.0, each_short: bool = False) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        names = ("first", "second", "third")
        while True:
            made = {n: draw.tensor(*s, scale=scale) for n, s in zip(names, shapes, strict=False)}
            lengths = torch.stack([gradient.norm() for gradient in made.values()])
            if not each_short or lengths.max() < max_norm < 0.9 * lengths.norm():
                return made | {"max_norm": torch.tensor(max_norm)}

    return inputs


def _barely(share: float) -> Maker:
    """Gradients whose length is a share of max_norm, a little more or less than one."""

    def inputs(draw: Draw) -> Inputs:
        made = _gradients(1.0, (4, 3), (6,))(draw)
        length = torch.stack([made["first"].norm(), made["second"].norm()]).norm()
        return made | {"max_norm": length / share}

    return inputs


def _forms(draw: Draw) -> Inputs:
    """One long number without a dimension; a matrix that lies column by column."""
    made = _gradients(1.0, (), (4, 3))(draw)
    long = made["first"].abs() + 2.0
    return made | {"first": long, "turned": torch.tensor(True)}


def _zeros(draw: Draw) -> Inputs:
    """Gradients of nothing but zeros: their length is no divisor."""
    made = _gradients(1.0, (3, 2), (4,))(draw)
    return made | {name: torch.zeros_like(made[name]) for name in ("first", "second")}


_NORM = "norm = torch.tensor([gradient.norm() for gradient in gradients]).norm().item()"
_CLIPPED = "gradient.mul_(max_norm / norm)"

EXERCISE = Specification(
    name="since_2017/clip_gradients",
    title="Clip",
    target="clip_gradients",
    cases=[
        CaseKind(
            name="long",
            title="three gradients that are too long together",
            inputs=_gradients(1.0, (3, 4), (5,), (2, 3, 2)),
            hint="All gradients together have the length max_norm afterwards.",
        ),
        CaseKind(
            name="short",
            title="two gradients that are short enough",
            inputs=_gradients(8.0, (4, 2), (3,)),
            hint="Short gradients stay as they are.",
            tells=("square_compared",),
        ),
        CaseKind(
            name="each_short",
            title="each short enough, but not together",
            inputs=_gradients(4.0, (2, 5), (7,), (3, 3), scale=1.75, each_short=True),
            hint="The length of all of them together counts.",
        ),
        CaseKind(
            name="barely",
            title="too long by three hundredths",
            inputs=_barely(1.03),
            hint="A gradient that is a little too long is too long.",
        ),
        CaseKind(
            name="barely_short",
            title="short enough by three hundredths",
            inputs=_barely(0.97),
            hint="A gradient that is a little shorter than max_norm stays as it is.",
        ),
        CaseKind(
            name="very_short",
            title="gradients that are much shorter than max_norm",
            inputs=_gradients(1.0, (3, 4), (2,), scale=0.125),
            hint="Short gradients stay as they are.",
            tells=("always_scaled",),
        ),
        CaseKind(
            name="small_bound",
            title="gradients that are shorter than 1, and too long",
            inputs=_gradients(0.0625, (3, 4), (2,), scale=0.125),
            hint="The bound is `max_norm`, and nothing else.",
            tells=("longer_than_one",),
        ),
        CaseKind(
            name="other_forms",
            title="a gradient of one number, and one that is turned",
            inputs=_forms,
            hint="All gradients, of any form, and each where it lies.",
        ),
        CaseKind(
            name="zeros",
            title="gradients of zeros",
            inputs=_zeros,
            hint="Zeros are short enough, and nothing can be divided by their length.",
            open=True,
        ),
        CaseKind(
            name="one",
            title="one gradient, much too long",
            inputs=_gradients(0.25, (6, 3), scale=50.0),
            hint="As above.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="each_alone",
            says="Each gradient is shortened on its own: the direction of the whole changes.",
            asks="How many lengths are there to compare with `max_norm`?",
            ways=[Way(edits=[Edit(_CLIPPED, "gradient.mul_(min(1.0, max_norm / gradient.norm().item()))")])],
        ),
        Mutant(
            name="clamped",
            says="You cut off single numbers: the direction of the gradient changes.",
            asks="Does a vector keep its direction if only its largest number shrinks?",
            ways=[
                Way(edits=[Edit("if norm > max_norm:", "if True:"), Edit(_CLIPPED, "gradient.clamp_(-max_norm, max_norm)")]),
                Way(name="clamped_if_long", edits=[Edit(_CLIPPED, "gradient.clamp_(-max_norm, max_norm)")]),
            ],
        ),
        Mutant(
            name="always_scaled",
            says="Short gradients are made longer.",
            asks="What should happen to a gradient that is shorter than `max_norm`?",
            ways=[Way(edits=[Edit("if norm > max_norm:", "if True:")])],
        ),
        Mutant(
            name="longer_than_one",
            says="Gradients that are shorter than 1 are never shortened.",
            asks="With what is the length to be compared?",
            ways=[Way(edits=[Edit("if norm > max_norm:", "if norm > max(1.0, max_norm):")])],
        ),
        Mutant(
            name="never_scaled",
            says="Nothing is shortened.",
            asks="Which line of yours changes a gradient, and is it reached? What is left "
            "of an iterator after a first loop over it?",
            ways=[
                Way(edits=[Edit("if norm > max_norm:", "if False:")]),
                Way(name="copies_scaled", edits=[Edit(_CLIPPED, "gradient = gradient * (max_norm / norm)")]),
            ],
        ),
        Mutant(
            name="only_the_long_way",
            says="You shorten if the gradient is *short*, and leave long ones as they are.",
            asks="Which way does your comparison point?",
            ways=[Way(edits=[Edit("norm > max_norm", "norm < max_norm")])],
        ),
        Mutant(
            name="lengths_added",
            says="You add the lengths of the gradients.",
            asks="Two gradients of lengths 3 and 4 at a right angle: how long are they together?",
            ways=[Way(edits=[Edit("]).norm().item()", "]).sum().item()")])],
        ),
        Mutant(
            name="longest_only",
            says="You take the longest gradient's length for the length of all.",
            asks="Two gradients of lengths 3 and 4 at a right angle: how long are they together?",
            ways=[Way(edits=[Edit("]).norm().item()", "]).max().item()")])],
        ),
        Mutant(
            name="squares_without_root",
            says="The root is missing: you compare the square of the length.",
            asks="What is $3^2 + 4^2$, and how long is the vector?",
            ways=[Way(edits=[Edit("]).norm().item()", "]).square().sum().item()")])],
        ),
        Mutant(
            name="square_compared",
            says="You compare the square of the length with `max_norm`: gradients that are "
            "short enough change.",
            asks="A gradient has the length 3. Is it longer than 5, and is its square?",
            ways=[Way(edits=[Edit("if norm > max_norm:", "if norm**2 > max_norm:")])],
        ),
        Mutant(
            name="zeros_become_nan",
            says="Gradients of zeros become NaN.",
            asks="By what do you divide if all gradients are zero?",
            ways=[Way(source="""
                def clip_gradients(parameters, max_norm):
                    kept = [p.grad for p in parameters if p.grad is not None]
                    norm = torch.stack([gradient.norm() for gradient in kept]).norm()
                    for gradient in kept:
                        gradient.copy_(gradient / norm * norm.clamp(max=max_norm))
                    return norm.item()
                """)],
        ),
        Mutant(
            name="divided_by_zero",
            says="Gradients of zeros stop your function.",
            asks="By what do you divide if all gradients are zero?",
            ways=[Way(source="""
                def clip_gradients(parameters, max_norm):
                    kept = [p.grad for p in parameters if p.grad is not None]
                    norm = math.sqrt(sum(gradient.square().sum().item() for gradient in kept))
                    factor = min(1.0, max_norm / norm)
                    for gradient in kept:
                        gradient.mul_(factor)
                    return norm
                """)],
        ),
        Mutant(
            name="parameters_too",
            says="The parameters are shortened as their gradients are.",
            asks="Whose work is it to change the parameters?",
            ways=[Way(source="""
                def clip_gradients(parameters, max_norm):
                    kept = [p for p in parameters if p.grad is not None]
                    norm = torch.stack([p.grad.norm() for p in kept]).norm().item()
                    if norm > max_norm:
                        for p in kept:
                            p.grad.mul_(max_norm / norm)
                            p.data.mul_(max_norm / norm)
                    return norm
                """)],
        ),
        Mutant(
            name="largest_number",
            says="You measure the largest number of the gradient, not its length.",
            asks="Which norm is meant: the Euclidean one, or the largest number?",
            ways=[Way(edits=[Edit(_NORM, "norm = max(gradient.abs().max().item() for gradient in gradients)")])],
        ),
        Mutant(
            name="sum_of_absolutes",
            says="You add absolute values; squares are to be added.",
            asks="Which norm is meant?",
            ways=[Way(edits=[Edit(_NORM, "norm = sum(gradient.abs().sum().item() for gradient in gradients)")])],
        ),
        Mutant(
            name="mean_square",
            says="You take a mean of the squares; they are to be added.",
            asks="Does a larger model have a longer gradient?",
            ways=[Way(edits=[Edit(_NORM, "norm = (sum(g.square().sum().item() for g in gradients) / sum(g.numel() for g in gradients)) ** 0.5")])],
        ),
        Mutant(
            name="of_parameters",
            says="You measure or change the parameters, not their gradients.",
            asks="What is to be shortened?",
            ways=[Way(edits=[
                Edit("gradients = [p.grad for p in parameters if p.grad is not None]", "gradients = [p.data for p in parameters if p.grad is not None]")])],
        ),
        Mutant(
            name="length_afterwards",
            says="You return the length after shortening.",
            asks="Which of the two lengths tells whether training is in danger?",
            ways=[Way(edits=[Edit("return norm", "return min(norm, max_norm)")])],
        ),
        Mutant(
            name="nothing_returned",
            says="Your function returns nothing.",
            asks="What does the docstring promise?",
            ways=[Way(edits=[Edit("return norm", "pass")])],
        ),
        Mutant(
            name="a_tensor",
            says="You return a tensor, not a Python float.",
            asks="What does `.item()` do?",
            ways=[Way(edits=[Edit("return norm", "return torch.tensor(norm)")])],
        ),
        Mutant(
            name="factor_returned",
            says="You return the factor, not the length.",
            asks="What does the docstring promise?",
            ways=[Way(edits=[Edit("return norm", "return min(1.0, max_norm / norm)")])],
        ),
        Mutant(
            name="missing_gradient",
            says="A parameter without a gradient stops your function.",
            asks="What is `p.grad` of a parameter that the loss does not depend on?",
            ways=[Way(edits=[Edit(" if p.grad is not None", "")])],
        ),
        Mutant(
            name="new_gradients",
            says="You put new gradients in place of the old ones: who holds the old ones sees no change.",
            asks="What does *in place* mean?",
            ways=[Way(source="""
                def clip_gradients(parameters, max_norm):
                    kept = [p for p in parameters if p.grad is not None]
                    norm = math.sqrt(sum(p.grad.square().sum().item() for p in kept))
                    for p in kept:
                        p.grad = p.grad * min(1.0, max_norm / norm)
                    return norm
                """)],
        ),
        Mutant(
            name="multiplied_by_max_norm",
            says="You forgot to divide by the length.",
            asks="By which factor does a gradient of length 10 have to shrink to length 2?",
            ways=[Way(edits=[Edit("max_norm / norm)", "max_norm / (norm * norm))")])],
        ),
        Mutant(
            name="first_only",
            says="Only the first gradient is shortened.",
            asks="Which gradients does your loop see?",
            ways=[Way(edits=[Edit("for gradient in gradients:", "for gradient in gradients[:1]:")])],
        ),
        Mutant(
            name="frozen_left_out",
            says="The gradient of a parameter that is frozen is left out.",
            asks="Which gradients does the text mean: those of all parameters, or of some?",
            ways=[Way(edits=[
                Edit("if p.grad is not None", "if p.grad is not None and p.requires_grad"),
            ])],
        ),
        Mutant(
            name="single_numbers_left_out",
            says="A gradient that is a single number is left out.",
            asks="How many dimensions may a parameter have?",
            ways=[Way(edits=[
                Edit("if p.grad is not None", "if p.grad is not None and p.grad.dim()"),
            ])],
        ),
        Mutant(
            name="flattened_copies",
            says="You shorten a copy of a gradient whose numbers do not lie in a row.",
            asks="When does `flatten` or `reshape` give a view, and when a copy?",
            ways=[Way(edits=[
                Edit("[p.grad for p in parameters", "[p.grad.reshape(-1) for p in parameters"),
            ])],
        ),
        Mutant(
            name="tolerant",
            says="What is a little too long stays as it is.",
            asks="From which length on is a gradient to be shortened?",
            ways=[Way(edits=[Edit("if norm > max_norm:", "if norm > 1.1 * max_norm:")])],
        ),
    ],
    accepted=[
        Accepted(name="as_in_pytorch", source="""
            def clip_gradients(parameters, max_norm):
                grads = [p.grad for p in parameters if p.grad is not None]
                total = torch.cat([g.flatten() for g in grads]).norm(2)
                factor = torch.clamp(max_norm / (total + 1e-6), max=1.0)
                for g in grads:
                    g *= factor
                return float(total)
            """),
        Accepted(name="sum_of_squares", source="""
            def clip_gradients(parameters, max_norm):
                parameters = [p for p in parameters if p.grad is not None]
                norm = sum((p.grad ** 2).sum() for p in parameters) ** 0.5
                if norm > max_norm:
                    with torch.no_grad():
                        for p in parameters:
                            p.grad.copy_(p.grad / norm * max_norm)
                return norm.item()
            """),
        Accepted(name="pytorchs", edits=[
            Edit("if norm > max_norm:", "if norm > max_norm and (factor := max_norm / norm):"),
            Edit(_CLIPPED, "gradient.copy_(gradient * factor)")]),
    ],
)
