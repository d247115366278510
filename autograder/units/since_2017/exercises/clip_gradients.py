"""Shorten all gradients together."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


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

CASES = [
    case("long", "three gradients that are too long together", _gradients(1.0, (3, 4), (5,), (2, 3, 2)),
         "All gradients together have the length max_norm afterwards."),
    case("short", "two gradients that are short enough", _gradients(8.0, (4, 2), (3,)),
         "Short gradients stay as they are.", tells=("square_compared",)),
    case("each_short", "each short enough, but not together",
         _gradients(4.0, (2, 5), (7,), (3, 3), scale=1.75, each_short=True),
         "The length of all of them together counts."),
    case("barely", "too long by three hundredths", _barely(1.03),
         "A gradient that is a little too long is too long."),
    case("barely_short", "short enough by three hundredths", _barely(0.97),
         "A gradient that is a little shorter than max_norm stays as it is."),
    case("very_short", "gradients that are much shorter than max_norm", _gradients(1.0, (3, 4), (2,), scale=0.125),
         "Short gradients stay as they are.", tells=("always_scaled",)),
    case("small_bound", "gradients that are shorter than 1, and too long",
         _gradients(0.0625, (3, 4), (2,), scale=0.125),
         "The bound is `max_norm`, and nothing else.", tells=("longer_than_one",)),
    case("other_forms", "a gradient of one number, and one that is turned", _forms,
         "All gradients, of any form, and each where it lies."),
    case("zeros", "gradients of zeros", _zeros,
         "Zeros are short enough, and nothing can be divided by their length.", open=True),
    case("one", "one gradient, much too long", _gradients(0.25, (6, 3), scale=50.0),
         "As above.", hidden_only=True),
]

MISTAKES = [
    wrong("each_alone",
          "Each gradient is shortened on its own: the direction of the whole changes.",
          "How many lengths are there to compare with `max_norm`?",
          edit(_CLIPPED, "gradient.mul_(min(1.0, max_norm / gradient.norm().item()))")),
    wrong("clamped",
          "You cut off single numbers: the direction of the gradient changes.",
          "Does a vector keep its direction if only its largest number shrinks?",
          edit("if norm > max_norm:", "if True:", _CLIPPED, "gradient.clamp_(-max_norm, max_norm)")),
    wrong("always_scaled",
          "Short gradients are made longer.",
          "What should happen to a gradient that is shorter than `max_norm`?",
          edit("if norm > max_norm:", "if True:")),
    wrong("longer_than_one",
          "Gradients that are shorter than 1 are never shortened.",
          "With what is the length to be compared?",
          edit("if norm > max_norm:", "if norm > max(1.0, max_norm):")),
    wrong("never_scaled",
          "Nothing is shortened.",
          "Which line of yours changes a gradient, and is it reached? What is left of an iterator after a first loop "
          "over it?",
          edit("if norm > max_norm:", "if False:"),
          edit(_CLIPPED, "gradient = gradient * (max_norm / norm)", name="copies_scaled")),
    wrong("only_the_long_way",
          "You shorten if the gradient is *short*, and leave long ones as they are.",
          "Which way does your comparison point?",
          edit("norm > max_norm", "norm < max_norm")),
    wrong("lengths_added",
          "You add the lengths of the gradients.",
          "Two gradients of lengths 3 and 4 at a right angle: how long are they together?",
          edit("]).norm().item()", "]).sum().item()")),
    wrong("longest_only",
          "You take the longest gradient's length for the length of all.",
          "Two gradients of lengths 3 and 4 at a right angle: how long are they together?",
          edit("]).norm().item()", "]).max().item()")),
    wrong("squares_without_root",
          "The root is missing: you compare the square of the length.",
          "What is $3^2 + 4^2$, and how long is the vector?",
          edit("]).norm().item()", "]).square().sum().item()")),
    wrong("square_compared",
          "You compare the square of the length with `max_norm`: gradients that are short enough change.",
          "A gradient has the length 3. Is it longer than 5, and is its square?",
          edit("if norm > max_norm:", "if norm**2 > max_norm:")),
    wrong("zeros_become_nan",
          "Gradients of zeros become NaN.",
          "By what do you divide if all gradients are zero?",
          source("""
              def clip_gradients(parameters, max_norm):
                  kept = [p.grad for p in parameters if p.grad is not None]
                  norm = torch.stack([gradient.norm() for gradient in kept]).norm()
                  for gradient in kept:
                      gradient.copy_(gradient / norm * norm.clamp(max=max_norm))
                  return norm.item()
              """)),
    wrong("divided_by_zero",
          "Gradients of zeros stop your function.",
          "By what do you divide if all gradients are zero?",
          source("""
              def clip_gradients(parameters, max_norm):
                  kept = [p.grad for p in parameters if p.grad is not None]
                  norm = math.sqrt(sum(gradient.square().sum().item() for gradient in kept))
                  factor = min(1.0, max_norm / norm)
                  for gradient in kept:
                      gradient.mul_(factor)
                  return norm
              """)),
    wrong("parameters_too",
          "The parameters are shortened as their gradients are.",
          "Whose work is it to change the parameters?",
          source("""
              def clip_gradients(parameters, max_norm):
                  kept = [p for p in parameters if p.grad is not None]
                  norm = torch.stack([p.grad.norm() for p in kept]).norm().item()
                  if norm > max_norm:
                      for p in kept:
                          p.grad.mul_(max_norm / norm)
                          p.data.mul_(max_norm / norm)
                  return norm
              """)),
    wrong("largest_number",
          "You measure the largest number of the gradient, not its length.",
          "Which norm is meant: the Euclidean one, or the largest number?",
          edit(_NORM, "norm = max(gradient.abs().max().item() for gradient in gradients)")),
    wrong("sum_of_absolutes",
          "You add absolute values; squares are to be added.",
          "Which norm is meant?",
          edit(_NORM, "norm = sum(gradient.abs().sum().item() for gradient in gradients)")),
    wrong("mean_square",
          "You take a mean of the squares; they are to be added.",
          "Does a larger model have a longer gradient?",
          edit(_NORM,
               "norm = (sum(g.square().sum().item() for g in gradients) / sum(g.numel() for g in gradients)) ** 0.5")),
    wrong("of_parameters",
          "You measure or change the parameters, not their gradients.",
          "What is to be shortened?",
          edit("gradients = [p.grad for p in parameters if p.grad is not None]",
               "gradients = [p.data for p in parameters if p.grad is not None]")),
    wrong("length_afterwards",
          "You return the length after shortening.",
          "Which of the two lengths tells whether training is in danger?",
          edit("return norm", "return min(norm, max_norm)")),
    wrong("nothing_returned",
          "Your function returns nothing.",
          "What does the docstring promise?",
          edit("return norm", "pass")),
    common("a_tensor", edit("return norm", "return torch.tensor(norm)")),
    wrong("factor_returned",
          "You return the factor, not the length.",
          "What does the docstring promise?",
          edit("return norm", "return min(1.0, max_norm / norm)")),
    wrong("missing_gradient",
          "A parameter without a gradient stops your function.",
          "What is `p.grad` of a parameter that the loss does not depend on?",
          edit(" if p.grad is not None", "")),
    wrong("new_gradients",
          "You put new gradients in place of the old ones: who holds the old ones sees no change.",
          "What does *in place* mean?",
          source("""
              def clip_gradients(parameters, max_norm):
                  kept = [p for p in parameters if p.grad is not None]
                  norm = math.sqrt(sum(p.grad.square().sum().item() for p in kept))
                  for p in kept:
                      p.grad = p.grad * min(1.0, max_norm / norm)
                  return norm
              """)),
    wrong("multiplied_by_max_norm",
          "You forgot to divide by the length.",
          "By which factor does a gradient of length 10 have to shrink to length 2?",
          edit("max_norm / norm)", "max_norm / (norm * norm))")),
    wrong("first_only",
          "Only the first gradient is shortened.",
          "Which gradients does your loop see?",
          edit("for gradient in gradients:", "for gradient in gradients[:1]:")),
    wrong("frozen_left_out",
          "The gradient of a parameter that is frozen is left out.",
          "Which gradients does the text mean: those of all parameters, or of some?",
          edit("if p.grad is not None", "if p.grad is not None and p.requires_grad")),
    wrong("flattened_copies",
          "You shorten a copy of a gradient whose numbers do not lie in a row.",
          "When does `flatten` or `reshape` give a view, and when a copy?",
          edit("[p.grad for p in parameters", "[p.grad.reshape(-1) for p in parameters")),
    wrong("tolerant",
          "What is a little too long stays as it is.",
          "From which length on is a gradient to be shortened?",
          edit("if norm > max_norm:", "if norm > 1.1 * max_norm:")),
]

ACCEPTED = [
    right("as_in_pytorch", source("""
        def clip_gradients(parameters, max_norm):
            grads = [p.grad for p in parameters if p.grad is not None]
            total = torch.cat([g.flatten() for g in grads]).norm(2)
            factor = torch.clamp(max_norm / (total + 1e-6), max=1.0)
            for g in grads:
                g *= factor
            return float(total)
        """)),
    right("sum_of_squares", source("""
        def clip_gradients(parameters, max_norm):
            parameters = [p for p in parameters if p.grad is not None]
            norm = sum((p.grad ** 2).sum() for p in parameters) ** 0.5
            if norm > max_norm:
                with torch.no_grad():
                    for p in parameters:
                        p.grad.copy_(p.grad / norm * max_norm)
            return norm.item()
        """)),
    right("pytorchs", edit("if norm > max_norm:", "if norm > max_norm and (factor := max_norm / norm):",
                           _CLIPPED, "gradient.copy_(gradient * factor)")),
]

EXERCISE = Specification(
    name="since_2017/clip_gradients", title="Clip", target="clip_gradients",
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
