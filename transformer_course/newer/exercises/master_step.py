"""Cases and mistakes for an exercise: an optimizer step on float32 copies.

The parameters are in bfloat16, in which small steps would be lost.
"""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


def _draw_steps(count: int, *shapes: tuple[int, ...], rate: float, momentum: float = 0.0, missing: int = -1) -> Maker:
    """Make a function that draws parameters of these shapes, and their gradients in ``count`` steps.

    In step ``missing``, the first parameter has no gradient.
    """

    def make_inputs(draw: Draw) -> Inputs:
        inputs: Inputs = {"rate": torch.tensor(rate), "momentum": torch.tensor(momentum),
                          "missing": torch.tensor(missing)}
        for number, shape in enumerate(shapes):
            start = 1.5 + draw.tensor(*shape, scale=0.4)
            inputs[f"start {number}"] = start * (1 - 2.0 * draw.flags(*shape, chance=0.5))
            inputs[f"gradients {number}"] = draw.tensor(count, *shape, scale=1.0)
        return inputs

    return make_inputs


_GRAD = "master.grad = None if parameter.grad is None else parameter.grad.float()"
_STEP = "optimizer.step()"
_COPY = "parameter.copy_(master)"

CASES = [
    case("small", "20 steps that are too small for bfloat16", _draw_steps(20, (3, 4), (5,), rate=2.0**-8),
         "Each step changes the float32 copy; the rounded parameter moves now and then."),
    case("large", "4 steps that are large", _draw_steps(4, (2, 3), (4,), rate=0.25),
         "After each step, a parameter is its master copy, rounded."),
    case("momentum", "12 steps with momentum", _draw_steps(12, (4,), (2, 5), rate=2.0**-8, momentum=0.75),
         "The optimizer keeps its own state; call its `step` once."),
    case("missing", "a step in which one parameter has no gradient",
         _draw_steps(3, (3,), (2, 2), rate=0.125, momentum=0.5, missing=1),
         "Without a gradient, nothing moves: neither the parameter nor its copy.", tests="without", aspect="limits"),
    case("many", "40 steps of three parameters", _draw_steps(40, (2, 2), (3,), (4, 2), rate=2.0**-9), "As above.",
         hidden_only=True),
]

MISTAKES = [
    wrong("clipped", "The gradients are clipped before the step, which this task does not ask for.",
          "What does the contract do to a gradient before `step`, apart from its dtype?",
          edit(_STEP, "nn.utils.clip_grad_norm_(masters, 1.0); optimizer.step()")),
    wrong("copies_rounded",
          "The master copies are set to the rounded parameters in each step, so small steps are lost all the same.",
          "Which of the two has to remember a change of a thousandth?",
          edit(_GRAD, f"master.data.copy_(parameter.float()); {_GRAD}"),
          edit(_COPY, "parameter.copy_(master); master.data.copy_(parameter)", name="rounded_afterwards"),
          tests="never rounded"),
    wrong("not_copied_back",
          "The parameters of the model do not change: the result is not copied back, or only a name is rebound.",
          "With which numbers does the model compute its next forward pass?",
          edit(_COPY, "pass"),
          edit(_COPY, "parameter = master.bfloat16()", name="rebound")),
    wrong("change_in_half", "The change is added to the bfloat16 parameter, where it is rounded away.",
          "What is 1 + 2**-9 in bfloat16?",
          edit(_GRAD, f"{_GRAD}; master.before = master.detach().clone()",
               _COPY, "parameter.add_((master - master.before).bfloat16())")),
    wrong("copied_before_the_step", "The parameters are one step behind their master copies.",
          "In which order do the step and the copy have to happen?",
          edit(_STEP, "[p.data.copy_(m) for p, m in zip(parameters, masters)]; optimizer.step()", _COPY, "pass")),
    wrong("becomes_wide", "The parameters become float32, or share the memory of their copies: nothing is saved.",
          "Which dtype do the parameters need for the fast forward pass?",
          edit(_COPY, "parameter.data = master.data"),
          edit(_COPY, "parameter.data = master.data.clone()", name="a_wide_copy"), tests="bfloat16"),
    wrong("gradients_add_up", "Gradients of earlier steps are added to the new ones.",
          "What is in `master.grad` when your function is called again?",
          edit(_GRAD, "master.grad = parameter.grad.float() + (0 if master.grad is None else master.grad) "
                      "if parameter.grad is not None else None")),
    wrong("old_gradient", "A parameter without a gradient is moved by its gradient of an earlier step.",
          "What is in `master.grad` if you skip a parameter?",
          edit(_GRAD, "master.grad = master.grad if parameter.grad is None else parameter.grad.float()")),
    wrong("no_step", "The optimizer makes no step.",
          "Who changes the master copies?",
          edit(_STEP, "pass")),
    wrong("two_steps", "The optimizer makes more than one step: one for each parameter.",
          "How many parameters does one call of `optimizer.step` change?",
          edit(_STEP, "[optimizer.step() for _ in parameters]"),
          edit(_STEP, "pass", _GRAD, f"{_GRAD}; optimizer.step()", name="step_in_the_loop")),
    wrong("zeros_for_none", "A parameter without a gradient gets zeros instead, so momentum or weight decay moves it.",
          "What does the optimizer do with a copy whose `grad` is None?",
          edit(_GRAD, "master.grad = torch.zeros_like(master) if parameter.grad is None else parameter.grad.float()"),
          tests="without"),
    wrong("by_hand", "You subtract the gradient yourself; the optimizer's momentum has no influence.",
          "What does the optimizer know that your line does not?",
          edit(_STEP, "[m.data.sub_(optimizer.param_groups[0]['lr'] * m.grad) for m in masters if m.grad is not None]")),
    wrong("first_only", "Only the first parameter is treated.",
          "How often does your loop run?",
          edit(_COPY, "parameter.copy_(master); break")),
    wrong("halved", "The step is not that of the optimizer: gradients are scaled.",
          "Does bfloat16 need the loss scaling of float16?",
          edit("parameter.grad.float()", "(parameter.grad.float() / 2)"),
          edit("parameter.grad.float()", "parameter.grad.float() / parameter.grad.float().norm()", name="normalised")),
]

ACCEPTED = [
    right("by_data", source("""
        def master_step(parameters, masters, optimizer):
            pairs = list(zip(parameters, masters))
            for p, m in pairs:
                if p.grad is None:
                    m.grad = None
                else:
                    m.grad = p.grad.detach().to(torch.float32)
            optimizer.step()
            for p, m in pairs:
                p.data.copy_(m.data)
        """)),
    right("in_place_gradient", source("""
        def master_step(parameters, masters, optimizer):
            optimizer.zero_grad(set_to_none=True)
            for p, m in zip(parameters, masters):
                if p.grad is not None:
                    m.grad = torch.zeros_like(m).copy_(p.grad)
            optimizer.step()
            with torch.no_grad():
                torch._foreach_copy_(list(parameters), list(masters))
        """)),
    right("through_bfloat", edit(_COPY, "parameter.data = master.data.bfloat16()")),
]

EXERCISE = Specification(precise=False, cases=CASES, mutants=MISTAKES, accepted=ACCEPTED)
