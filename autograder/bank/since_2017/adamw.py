"""AdamW by hand."""

from __future__ import annotations

import torch

from autograder.bank.since_2017._adamw.borrowed import BORROWED
from autograder.bank.since_2017._inputs import options
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


def _training(
    steps: int, rows: int, columns: int, size: int, *,
    betas: tuple[float, float] | None = None, rates: bool = False, idle: bool = False,
    scale: float = 1.0, burst: int = 0, still: int = 0, **more: float,
) -> Maker:  # fmt: skip
    def inputs(draw: Draw) -> Inputs:
        made = options(**more) | {
            "matrix": draw.tensor(rows, columns),
            "vector": draw.tensor(size),
            "gradient of matrix": draw.tensor(steps, rows, columns) * scale,
            "gradient of vector": draw.tensor(steps, size, scale=16.0) * scale,
        }
        # One number whose gradient is zero at first and at last, and one with a small one.
        made["gradient of vector"][[0, -1], 0] = 0.0
        made["gradient of vector"][:, 1] = 1 / 64
        if still:  # a step in which nothing pulls: the memories fade all the same
            made["gradient of vector"][still] = 0.0
        if burst:
            made["gradient of matrix"][1] *= 2.0**burst
        if betas:
            made["betas"] = torch.tensor(betas, dtype=torch.float64)
        if rates:
            made["rates"] = torch.linspace(0.25, 0.0625, steps, dtype=torch.float64)
            made["rates"][steps // 2] = 0.0
        if idle:
            made["idle"] = draw.tensor(4)
            # The second pull is outweighed by what the first has left, if that has not faded.
            beta = betas[0] if betas else 0.9
            first = 1 + draw.tensor(5).abs()
            made["pulls of late"] = torch.stack([first, -first * beta**2])
        return made

    return inputs


_MEAN = "mean.mul_(beta1).add_(p.grad, alpha=1 - beta1)"
_SQUARE = "square.mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)"
_UNBIASED = "unbiased = mean / (1 - beta1**self.steps)"
_ROOT = "root = (square / (1 - beta2**self.steps)).sqrt()"
_DECAY = "p.mul_(1 - self.lr * self.weight_decay)"
_STEP = "p.sub_(self.lr * unbiased / (root + self.eps))"

EXERCISE = Specification(
    name="since_2017/adamw",
    title="AdamW",
    target="AdamW",
    aspects={"learning": 1.0},  # in place; the numbers are most of it
    cases=[
        CaseKind(
            name="defaults",
            title="4 steps with the defaults",
            inputs=_training(4, 3, 5, 6, lr=0.125),
            hint="In the first step, every number moves by about lr, however large its gradient is.",
        ),
        CaseKind(
            name="decay",
            title="a large weight decay and other betas",
            inputs=_training(5, 2, 4, 3, betas=(0.75, 0.875), lr=0.0625, weight_decay=0.5, still=2),
            hint="Decay shrinks the parameter itself; it is not part of the gradient. Where "
            "a gradient is zero, the memories still move the parameter.",
        ),
        CaseKind(
            name="large_eps",
            title="a large eps",
            inputs=_training(3, 4, 2, 5, lr=0.25, eps=0.125, weight_decay=0.0),
            hint="eps is added to the root.",
        ),
        CaseKind(
            name="schedule",
            title="a rate that falls and is once 0; a parameter without a gradient, and one "
            "that has one in two steps only",
            inputs=_training(6, 2, 3, 4, rates=True, idle=True, weight_decay=0.25),
            hint="`lr` is read in every step. Without a gradient nothing happens, no decay either.",
        ),
        CaseKind(
            name="long",
            title="20 steps, with a huge gradient in the second",
            inputs=_training(
                20, 3, 2, 7, betas=(0.875, 0.9375), lr=0.0625, weight_decay=0.125, idle=True,
                burst=24,
            ),
            hint="As above.",
            hidden_only=True, atol=5e-5,
        ),
    ],
    mutants=[
        Mutant(
            name="decay_in_the_gradient",
            says="The decay is added to the gradient: that is Adam with L2, not AdamW.",
            asks="What does $\\sqrt v$ do to a decay that is part of the gradient?",
            ways=[Way(edits=[
                Edit(_MEAN, "grad = p.grad + self.weight_decay * p; mean.mul_(beta1).add_(grad, alpha=1 - beta1)"),
                Edit(_SQUARE, "square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)"),
                Edit(_DECAY, "pass")])],
        ),
        Mutant(
            name="no_decay",
            says="There is no weight decay.",
            asks="Where does `weight_decay` stand in your code?",
            ways=[Way(edits=[Edit(_DECAY, "pass")])],
        ),
        Mutant(
            name="decay_without_rate",
            says="The decay is not multiplied by the learning rate.",
            asks="By which factor does a parameter shrink in one step?",
            ways=[Way(edits=[Edit(_DECAY, "p.mul_(1 - self.weight_decay)")])],
        ),
        Mutant(
            name="decay_grows",
            says="The parameters grow by the decay.",
            asks="Which sign has $\\eta\\lambda$?",
            ways=[Way(edits=[Edit(_DECAY, "p.mul_(1 + self.lr * self.weight_decay)")])],
        ),
        Mutant(
            name="no_correction",
            says="The two memories are not corrected: the first steps are wrong.",
            asks="What is $m$ after the first step, if $\\beta_1 = 0.9$: $g$ or $0.1 g$?",
            ways=[
                Way(edits=[Edit(_UNBIASED, "unbiased = mean"), Edit(_ROOT, "root = square.sqrt()")]),
            ],
        ),
        Mutant(
            name="mean_not_corrected",
            says="The running mean is not corrected.",
            asks="What is $m$ after the first step, if $\\beta_1 = 0.9$: $g$ or $0.1 g$?",
            ways=[Way(edits=[Edit(_UNBIASED, "unbiased = mean")])],
        ),
        Mutant(
            name="square_not_corrected",
            says="The running mean of the squares is not corrected.",
            asks="What is $v$ after the first step, if $\\beta_2 = 0.999$?",
            ways=[Way(edits=[Edit(_ROOT, "root = square.sqrt()")])],
        ),
        Mutant(
            name="corrected_for_good",
            says="The corrected memories are kept: they are corrected again in each step.",
            asks="What should stay in memory: $m$, or $m / (1 - \\beta_1^t)$?",
            ways=[Way(edits=[
                Edit(_UNBIASED, "unbiased = mean.div_(1 - beta1**self.steps)"),
                Edit(_ROOT, "root = square.div_(1 - beta2**self.steps).sqrt()")])],
        ),
        Mutant(
            name="correction_stands_still",
            says="The correction is the same in every step.",
            asks="What is $t$ in the second step?",
            ways=[
                Way(edits=[Edit("self.steps += 1", "self.steps = 1")]),
                Way(name="begins_anew", edits=[
                    Edit("parameter.grad = None", "parameter.grad, self.steps = None, 0"),
                ]),
            ],
        ),
        Mutant(
            name="counted_too_far",
            says="Your $t$ starts at 2, or grows with each parameter.",
            asks="How often is one added in one step?",
            ways=[
                Way(edits=[Edit("self.steps = 0", "self.steps = 1")]),
            ],
        ),
        Mutant(
            name="counted_by_parameter",
            says="Your $t$ grows with each parameter, not with each step.",
            asks="How often is one added in one step?",
            ways=[Way(edits=[Edit("self.steps += 1", "pass"), Edit(_MEAN, f"self.steps += 1; {_MEAN}")])],
        ),
        Mutant(
            name="betas_exchanged",
            says="The two betas have changed places.",
            asks="Which memory is the longer one?",
            ways=[Way(edits=[Edit("beta1, beta2 = self.betas", "beta2, beta1 = self.betas")])],
        ),
        Mutant(
            name="betas_ignored",
            says="The betas have no influence.",
            asks="What does your code do with `betas=(0.75, 0.875)`?",
            ways=[Way(edits=[Edit("beta1, beta2 = self.betas", "beta1, beta2 = 0.9, 0.999")])],
        ),
        Mutant(
            name="eps_in_the_root",
            says="eps is added under the root.",
            asks="Where does ε stand in the formula?",
            ways=[Way(edits=[
                Edit(_ROOT, "root = (square / (1 - beta2**self.steps) + self.eps).sqrt()"), Edit("(root + self.eps)", "root")])],
        ),
        Mutant(
            name="eps_ignored",
            says="eps has no influence.",
            asks="What does your code do with `eps=0.125`?",
            ways=[Way(edits=[Edit("(root + self.eps)", "(root + 1e-8)")])],
        ),
        Mutant(
            name="no_root",
            says="You divide by the mean square, not by its root.",
            asks="In which unit is a step, if the gradient is measured in metres?",
            ways=[Way(edits=[Edit("(square / (1 - beta2**self.steps)).sqrt()", "(square / (1 - beta2**self.steps))")])],
        ),
        Mutant(
            name="no_memory_of_the_mean",
            says="The step goes in the direction of the newest gradient: the running mean has no influence.",
            asks="Where is $m$ used?",
            ways=[Way(edits=[Edit(_UNBIASED, "unbiased = p.grad")])],
        ),
        Mutant(
            name="not_squared",
            says="The second memory holds absolute gradients or gradients, not squares.",
            asks="Of what is $v$ the running mean?",
            ways=[Way(edits=[
                Edit(_SQUARE, "square.mul_(beta2).add_(p.grad.abs(), alpha=1 - beta2)"), Edit(").sqrt()", ")")])],
        ),
        Mutant(
            name="sums_instead_of_means",
            says="New gradients enter the memories with their full weight.",
            asks="Which factor stands before $g$ in the formula?",
            ways=[Way(edits=[
                Edit("alpha=1 - beta1", "alpha=1.0"), Edit("value=1 - beta2", "value=1.0")])],
        ),
        Mutant(
            name="upwards",
            says="The parameters move up the slope.",
            asks="Which sign has the step?",
            ways=[Way(edits=[Edit("p.sub_(", "p.add_(")])],
        ),
        Mutant(
            name="rate_kept",
            says="The rate of the beginning is used in all steps.",
            asks="Who reads `self.lr`, and when?",
            ways=[Way(edits=[
                Edit("self.steps = 0", "self.steps, self.first_rate = 0, lr"),
                Edit(_STEP, "p.sub_(self.first_rate * unbiased / (root + self.eps))"),
                Edit(_DECAY, "p.mul_(1 - self.first_rate * self.weight_decay)")])],
        ),
        Mutant(
            name="idle_decays",
            says="A parameter without a gradient changes, or stops everything.",
            asks="What is asked for if the gradient is `None`?",
            ways=[Way(edits=[
                Edit("continue", "p.mul_(1 - self.lr * self.weight_decay); continue")])],
        ),
        Mutant(
            name="late_for_ever",
            says="A parameter that has no gradient in the first step is left alone for good.",
            asks="When is it known which parameters have a gradient: once, or in each step?",
            ways=[Way(edits=[
                Edit("for p, mean, square in zip(", """
                if self.steps == 1:
                    self.chosen = {p for p in self.parameters if p.grad is not None}
                for p, mean, square in zip("""),
                Edit("if p.grad is None:", "if p.grad is None or p not in self.chosen:"),
            ])],
        ),
        Mutant(
            name="idle_memories_fade",
            says="The memories of a parameter fade in steps in which it has no gradient.",
            asks="What is asked for if the gradient is `None`?",
            ways=[Way(edits=[Edit("continue", "mean.mul_(beta1); square.mul_(beta2); continue")])],
        ),
        Mutant(
            name="new_data",
            says="Your parameters hold new tensors after a step: whoever has a view of the old "
            "ones, as a layer with tied weights may, sees nothing of it.",
            asks="Which operations of PyTorch write into the tensor that is there?",
            ways=[
                Way(edits=[Edit(_STEP, "p.data = p - self.lr * unbiased / (root + self.eps)")]),
                Way(name="new_data_by_decay", edits=[
                    Edit(_DECAY, "p.data = p * (1 - self.lr * self.weight_decay)"),
                ]),
            ],
        ),
        Mutant(
            name="one_memory_for_all",
            says="All parameters share their memories, or a memory is one number.",
            asks="Of which shape are $m$ and $v$?",
            ways=[Way(edits=[
                Edit(_SQUARE, "square.mul_(beta2).add_(p.grad.square().mean(), alpha=1 - beta2)")])],
        ),
        Mutant(
            name="memories_lost",
            says="The memories start at zero in every step.",
            asks="Where do they live between two steps?",
            ways=[Way(edits=[
                Edit(_MEAN, "mean.zero_(); square.zero_(); mean.add_(p.grad, alpha=1 - beta1)")])],
        ),
        Mutant(
            name="zeros_stay",
            says="A number whose gradient is zero stays where it is, though its mean is not zero.",
            asks="What does $m$ still know of the steps before?",
            ways=[Way(edits=[
                Edit(_STEP, "p.sub_(self.lr * unbiased / (root + self.eps) * (p.grad != 0))"),
            ])],
        ),
        Mutant(
            name="parameters_used_up",
            says="Nothing changes: the parameters were used up before `step`.",
            asks="How often can one run through a generator?",
            ways=[Way(source="""
                class AdamW:
                    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
                        self.means = [torch.zeros_like(p) for p in parameters]
                        self.parameters = list(parameters)

                    def zero_grad(self):
                        pass

                    def step(self):
                        for p in self.parameters:
                            p.data -= p.grad
                """)],
        ),
        *BORROWED,
        Mutant(
            name="zero_is_default",
            says="A rate of 0 counts as the default rate.",
            asks="What is `0.0 or 0.001`?",
            ways=[Way(edits=[
                Edit(_DECAY, "p.mul_(1 - (self.lr or 1e-3) * self.weight_decay)"),
                Edit(_STEP, "p.sub_((self.lr or 1e-3) * unbiased / (root + self.eps))"),
            ])],
        ),
        Mutant(
            name="clipped",
            says="Huge gradients are cut before they are used.",
            asks="Whose work is it to clip gradients?",
            ways=[Way(edits=[
                Edit("self.steps += 1", "self.steps += 1; nn.utils.clip_grad_norm_(self.parameters, 1e6)"),
            ])],
        ),

        Mutant(
            name="gradients_kept",
            says="`zero_grad()` leaves gradients where they are, all of them or some.",
            asks="What does `backward()` do with a gradient that is already there?",
            ways=[
                Way(edits=[Edit("parameter.grad = None", "pass")]),
                Way(name="first_cleared", edits=[
                    Edit("for parameter in self.parameters:",
                         "for parameter in self.parameters[:1]:"),
                ]),
            ],
        ),
        Mutant(
            name="zero_skipped",
            says="A gradient of zeros counts as none: the memories stay as they are, and so "
            "does the parameter.",
            asks="What do $m$ and $v$ become if $g = 0$?",
            ways=[Way(edits=[
                Edit("if p.grad is None:", "if p.grad is None or not p.grad.any():"),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="by_dictionary", source="""
            class AdamW:
                def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
                    self.parameters = list(parameters)
                    self.lr, self.betas, self.eps, self.weight_decay = lr, betas, eps, weight_decay
                    self.state, self.t = {}, 0

                def zero_grad(self):
                    for p in self.parameters:
                        p.grad = None

                def step(self):
                    self.t += 1
                    b1, b2 = self.betas
                    for p in self.parameters:
                        if p.grad is None:
                            continue
                        m, v = self.state.get(p, (0.0, 0.0))
                        m = b1 * m + (1 - b1) * p.grad
                        v = b2 * v + (1 - b2) * p.grad ** 2
                        self.state[p] = m, v
                        m_hat, v_hat = m / (1 - b1 ** self.t), v / (1 - b2 ** self.t)
                        decay = self.lr * self.weight_decay * p.data
                        p.data -= decay + self.lr * m_hat / (v_hat ** 0.5 + self.eps)
            """),
        Accepted(name="corrected_rate", edits=[
            Edit(_UNBIASED, "rate = self.lr / (1 - beta1**self.steps)"),
            Edit(_ROOT, "root = square.sqrt() / math.sqrt(1 - beta2**self.steps)"),
            Edit(_STEP, "p.addcdiv_(mean, root + self.eps, value=-rate)")]),
        Accepted(name="lerp", edits=[
            Edit(_MEAN, "mean.lerp_(p.grad, 1 - beta1)"),
            Edit(_SQUARE, "square.copy_(beta2 * square + (1 - beta2) * p.grad.square())")]),
    ],
)
