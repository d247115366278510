"""Cases and mistakes for an exercise: one training step."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.sequence_reversal.exercises._inputs import (
    draw_batches,
    draw_tables,
)


def _draw_steps(count: int, *lengths: int, scale: float = 1.0, **options: float) -> Maker:
    """Make a function that draws the probe's small model, and batches to train it on.

    Args:
        count: the number of batches, with one step each.
        lengths: the lengths of the rows of a batch, without EOS.
        options: further inputs: ``rate``, ``max_norm``, ``weight`` (of EOS).
    """

    def make_inputs(draw: Draw) -> Inputs:
        numbers = {name: torch.tensor(value) for name, value in options.items()}
        return draw_tables(draw, scale) | draw_batches(draw, count, lengths) | numbers

    return make_inputs


CASES = [
    case("three_steps", "three steps with small gradients", _draw_steps(3, 3, 1, 4, rate=0.9),
         "Follow the tables through the steps: new gradients, clipped, one update each."),
    case("clipped", "gradients longer than the bound", _draw_steps(2, 2, 5, scale=2.0, rate=24.0, max_norm=1 / 256),
         "The total norm of all gradients may be at most `max_norm` when the optimizer takes its step."),
    case("other_loss", "a different loss function, whose gradients are longer than the default bound",
         _draw_steps(2, 4, 1, 3, rate=0.8, weight=3.0),
         "If a loss function is given, both the loss and the gradients come from it; without a fifth argument, "
         "`max_norm` is 1."),
    case("spare", "a parameter that the batch does not use",
         lambda draw: {**_draw_steps(2, 2, 4, 3, rate=0.7)(draw), "spare": "yes"},
         "Whatever was left in `grad` is not the gradient of this batch.", aspect="limits"),
    case("more_rows", "more rows and four steps", _draw_steps(4, 1, 6, 2, 4, 3, scale=1.5, rate=0.5, max_norm=0.1),
         "Does your code depend on the sizes?", hidden_only=True),
]

_CLEAR = "optimizer.zero_grad()"
_BACK = "loss.backward()"
_CLIP = "nn.utils.clip_grad_norm_(model.parameters(), max_norm)"
_STEP = "optimizer.step()"
_FORWARD = "loss = (loss_function or masked_loss)(model(source, decoder_input), labels)"

MISTAKES = [
    # Mistakes in the gradients, and in the step that they lead to.
    wrong("no_zero_grad",
          "Old gradients are not cleared, or only those of the optimizer's first group, so steps use the sum of all "
          "gradients since the beginning.",
          "What does `backward` do with a gradient that is already there?",
          edit(_CLEAR, ""),
          edit(_CLEAR, 'for p in optimizer.param_groups[0]["params"]: p.grad = None', name="first_group_cleared")),
    wrong("cleared_last",
          "You clear the gradients after the step, so whatever was there before goes into your first step.",
          "Before which line must the old gradients be gone?",
          edit(_CLEAR, "", _STEP, f"{_STEP}; {_CLEAR}")),
    wrong("nothing_changes",
          "The weights do not change at all. Either the optimizer never steps, or it has no gradients when it does: "
          "never computed, or cleared too early.",
          "Which gradients does your optimizer find at the moment of its step?",
          edit(_STEP, "")),
    wrong("step_before_backward",
          "The optimizer steps before `backward`, so it uses the gradients of the previous batch.",
          "Where do the gradients of your very first step come from?",
          edit(_CLEAR, "", _STEP, "", _BACK, f"{_STEP}; {_CLEAR}; {_BACK}")),
    wrong("not_clipped",
          "The gradients are not clipped when the optimizer uses them: the clipping is missing, or is not between "
          "`backward` and `step`.",
          "What happens to the weights if one batch gives a gradient of norm 100, and which line computes it?",
          edit(_CLIP, ""),
          edit(_CLIP, "pass", _BACK, f"{_CLIP}; {_BACK}", name="clipped_before_backward")),
    wrong("bound_fixed", "You clip at 1, whatever `max_norm` is.",
          "Where does your code use the argument `max_norm`?",
          edit("model.parameters(), max_norm)", "model.parameters(), 1.0)")),
    wrong("clipped_by_value", "You clip each entry on its own, which changes the direction of the gradient.",
          "A gradient is (3, 0.1) and the bound is 1. What does it become, by value and by norm?",
          edit("clip_grad_norm_", "clip_grad_value_")),
    wrong("always_norm",
          "You always scale the gradients to a total norm of `max_norm`, even when their norm is smaller.",
          "What should happen if the total norm is already below the bound?",
          edit(_CLIP, """
              norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
              for p in model.parameters():
                  p.grad *= max_norm / norm
              """)),
    wrong("two_steps", "Each call takes two steps.",
          "How often does your function call `optimizer.step()`?",
          edit(_STEP, f"{_STEP}; {_STEP}")),
    wrong("own_optimizer", "The step is plain gradient descent, whatever the optimizer does.",
          "Which object knows how a step is taken?",
          edit(_STEP, 'torch.optim.SGD(model.parameters(), optimizer.param_groups[0]["lr"]).step()')),
    wrong("not_together",
          "The bound is for the norm of all gradients together, but you clip them one by one, or only some of them: "
          "those of one group, or of matrices without biases.",
          "Two tables have gradients of norm 1 each. What is their total norm, and how large may it be?",
          edit(_CLIP, "for p in model.parameters(): nn.utils.clip_grad_norm_([p], max_norm)",
               name="clipped_one_by_one"),
          edit("(model.parameters(), max_norm)", '(optimizer.param_groups[0]["params"], max_norm)',
               name="first_group_clipped"),
          edit("(model.parameters(), max_norm)", "([p for p in model.parameters() if p.dim() > 1], max_norm)",
               name="matrices_clipped")),
    wrong("long_ones_left_out",
          "You skip batches whose gradient is far too long; clip the gradient and use it instead.",
          "What should happen to a gradient that is longer than `max_norm`?",
          edit(_CLIP, f"norm = {_CLIP}",
               _STEP, """
              if norm < 100 * max_norm:
                  optimizer.step()
              """)),
    # Mistakes in how the model is called, and in the loss.
    wrong("whole_target", "The decoder is shown the whole target instead of the shifted input.",
          "How many columns should the decoder's input have, and does it hold the token that is to be predicted?",
          edit(_FORWARD, "loss = (loss_function or masked_loss)(model(source, target)[:, :-1], labels)"),
          edit(_FORWARD, "loss = (loss_function or masked_loss)(model(source, target), target)",
               name="whole_target_twice")),
    wrong("shows_labels", "The decoder is shown the labels, so the answers are in its input.",
          "What does the decoder see at its first position: BOS, or the token that it should predict?",
          edit("(model(source, decoder_input)", "(model(source, labels)")),
    wrong("asks_for_input",
          "The loss compares the logits with the decoder's own input, so the model learns to repeat, not to predict.",
          "Which token should be the label at the position of BOS?",
          edit("decoder_input), labels)", "decoder_input), decoder_input)")),
    wrong("eval_mode", "The model, or a part of it, is not in training mode, so dropout would be off.",
          "Suppose that `model.eval()` was called before your step. What undoes that in all submodules?",
          edit("model.train()", ""),
          edit("model.train()", "model.training = True", name="parts_in_eval"), tests="training"),
    wrong("swapped", "Source and decoder input are swapped in the call to the model.",
          "In which order does the model take its two inputs?",
          edit("(model(source, decoder_input)", "(model(decoder_input, source[:, : labels.size(1)])")),
    wrong("tensor_returned", "You return the loss as a tensor, not as a plain number.",
          "What turns a one-element tensor into a plain number?",
          edit("loss.item()", "loss")),
    common("nothing_returned", edit("return loss.item()", "")),
    wrong("loss_after", "You return the loss after the step instead of the one before it.",
          "How many times does your function call the model?",
          edit("return loss.item()",
               "return (loss_function or masked_loss)(model(source, decoder_input), labels).item()")),
    wrong("padding_counts", "Your loss counts padding.",
          "Which of your own functions knows how to leave it out?",
          edit("masked_loss)(model", "(lambda x, y: F.cross_entropy(x.flatten(0, 1), y.flatten())))(model")),
    wrong("own_loss_only", "You always use `masked_loss`, even if a `loss_function` is given.",
          "Where does your code use its last argument?",
          edit("(loss_function or masked_loss)", "masked_loss"), tests="`masked_loss`"),
    wrong("none_is_called", "You call `None` if `loss_function=None` is passed.",
          "What does `None` stand for, according to the docstring?",
          edit("loss_function: Callable[[Tensor, Tensor], Tensor] | None = None", "loss_function=masked_loss",
               "(loss_function or masked_loss)", "loss_function")),
    wrong("loss_of_others",
          "Your `loss_function` does not get logits `(B, L - 1, V)` and then labels `(B, L - 1)`: they are exchanged, "
          "or flattened.",
          "In which order does `masked_loss` take them, and could a loss function tell columns apart in flat ones?",
          edit(_FORWARD, """
              logits = model(source, decoder_input)
              loss = loss_function(labels, logits) if loss_function else masked_loss(logits, labels)
              """, name="loss_of_exchanged"),
          edit(_FORWARD, """
              logits = model(source, decoder_input)
              loss = masked_loss(logits, labels)
              if loss_function:
                  loss = loss_function(logits.flatten(0, 1), labels.flatten())
              """, name="loss_of_flat")),
    wrong("summed_loss", "Your loss is multiplied by the number of rows, so the gradients grow with the batch.",
          "Should the size of the batch change the size of a step?",
          edit("decoder_input), labels)", "decoder_input), labels) * len(source)")),
]

ACCEPTED = [
    right("cleared_first", edit(_CLEAR, "", "model.train()", "model.train(); optimizer.zero_grad()")),
    right("everything_by_hand", source("""
        def training_step(model, optimizer, source, target, max_norm=1.0, loss_function=None):
            model.train(True)
            for p in model.parameters():
                p.grad = None
            labels = target[:, 1:]
            logits = model(source, target[:, :-1])
            if loss_function is None:
                loss = F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=0)
            else:
                loss = loss_function(logits, labels)
            loss.backward()
            norm = sum((p.grad ** 2).sum() for p in model.parameters()) ** 0.5
            if norm > max_norm:
                for p in model.parameters():
                    p.grad.mul_(max_norm / norm)
            optimizer.step()
            return float(loss)
        """)),
    right("closure", source("""
        def training_step(model, optimizer, source, target, max_norm=1.0, loss_function=None):
            model.train()
            def closure():
                optimizer.zero_grad(set_to_none=False)
                given, labels = target[:, :-1], target[:, 1:]
                loss = (loss_function or masked_loss)(model(source, given), labels)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(list(model.parameters()), max_norm)
                return loss
            return optimizer.step(closure).item()
        """)),
    right("without_eos_in_input",
          edit("target[:, :-1], target", "target[:, :-1].masked_fill(target[:, :-1] == EOS, PAD), target")),
    right("mode_given_back",
          edit("model.train()", "before = model.training; model.train()",
               _STEP, "optimizer.step(); model.train(before)")),
]

EXERCISE = Specification(
    tells={"more_rows": "first_group_cleared first_group_cleared/losses"},
    parts="decoder input, first loss, losses",
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
