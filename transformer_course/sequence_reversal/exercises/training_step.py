"""One training step."""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.sequence_reversal.exercises._inputs import (
    BOS,
    EOS,
    FIRST,
    padded,
    random_batches,
    random_tables,
)


def _steps(
    count: int,
    lengths: tuple[int, ...],
    rate: float,
    scale: float,
    max_norm: float | None = None,
    weight: float | None = None,
) -> Maker:
    """Batches and tables; ``weight`` is the weight of EOS in a custom loss function."""
    options = {"max_norm": max_norm, "weight": weight}

    def make_inputs(draw: Draw) -> Inputs:
        inputs = random_tables(draw, 9, scale) | random_batches(draw, count, lengths, 9)
        inputs["rate"] = torch.tensor(rate)
        settings = {n: torch.tensor(v) for n, v in options.items() if v is not None}
        return inputs | settings

    return make_inputs


def _one_token(draw: Draw) -> Inputs:
    """One token repeated, and large scores, so that the gradient is longer than 1."""
    token = FIRST + int(draw.ids(0, 4))
    other_token = token + 1
    tables = random_tables(draw, 9, 1.0)
    tables["table"][[BOS, token], -1] = 8.0  # sure of the last one
    source = padded([[token] * 3 + [EOS], [token] * 5 + [EOS]])
    target = padded([[BOS] + [token] * 6 + [EOS], [BOS] + [token] * 3 + [other_token, EOS]])
    return tables | {
        "source": torch.stack([source] * 2),
        "target": torch.stack([target] * 2),
        "rate": torch.tensor(1.0),
    }


CASES = [
    case("three_steps", "three steps with small gradients", _steps(3, (3, 1, 4), rate=0.9, scale=1.0),
         "Follow the tables through the steps: new gradients, clipped, one update each."),
    case("clipped", "gradients longer than the bound", _steps(2, (2, 5), rate=24.0, scale=2.0, max_norm=1 / 256),
         "The total norm of all gradients may be at most `max_norm` when the optimizer takes its step."),
    case("default_bound", "a gradient longer than 1, with the default bound", _one_token,
         "Without a fifth argument, `max_norm` is 1."),
    case("other_loss", "a different loss function", _steps(2, (4, 1, 3), rate=0.8, scale=1.0, weight=3.0),
         "If a loss function is given, both the loss and the gradients come from it."),
    case("spare", "a parameter that the batch does not use",
         lambda draw: {**_steps(2, (2, 4, 3), rate=0.7, scale=1.0)(draw), "spare": "yes"},
         "Whatever was left in `grad` is not the gradient of this batch."),
    case("more_rows", "more rows and four steps", _steps(4, (1, 6, 2, 4, 3), rate=0.5, scale=1.5, max_norm=0.1),
         "Does your code depend on the sizes?", hidden_only=True),
]

CLEAR = "optimizer.zero_grad()"
BACK = "loss.backward()"
CLIP = "nn.utils.clip_grad_norm_(model.parameters(), max_norm)"
STEP = "optimizer.step()"
FORWARD = "loss = (loss_function or masked_loss)(model(source, decoder_input), labels)"

MISTAKES = [
    # Mistakes in the gradients, and in the step that they lead to.
    wrong("no_zero_grad",
          "Old gradients are never cleared, so each step uses the sum of all gradients since the beginning.",
          "What does `backward` do with a gradient that is already there?",
          edit(CLEAR, "")),
    wrong("cleared_last",
          "You clear the gradients after the step, so whatever was there before goes into your first step.",
          "Before which line must the old gradients be gone?",
          edit(CLEAR, "",
               STEP, """
              optimizer.step()
              optimizer.zero_grad()
              """)),
    wrong("nothing_changes",
          "The weights do not change at all. Either the optimizer never steps, or it has no gradients when it does: "
          "never computed, or cleared too early.",
          "Which gradients does your optimizer find at the moment of its step?",
          edit(STEP, "")),
    wrong("step_before_backward",
          "The optimizer steps before `backward`, so it uses the gradients of the previous batch.",
          "Where do the gradients of your very first step come from?",
          edit(CLEAR, "",
               STEP, "",
               BACK, """
              optimizer.step()
              optimizer.zero_grad()
              loss.backward()
              """)),
    wrong("clipped_before_backward",
          "You clip before `backward`, when there are no gradients of this batch yet.",
          "Which line computes the gradients that are to be clipped?",
          edit(CLIP, "pass", BACK, f"{CLIP}; {BACK}")),
    wrong("not_clipped",
          "The gradients are not clipped.",
          "What happens to the weights if one batch gives a gradient of norm 100?",
          edit(CLIP, "")),
    wrong("bound_fixed",
          "You clip at 1, whatever `max_norm` is.",
          "Where does your code use the argument `max_norm`?",
          edit("model.parameters(), max_norm)", "model.parameters(), 1.0)")),
    wrong("clipped_by_value",
          "You clip each entry on its own, which changes the direction of the gradient.",
          "A gradient is (3, 0.1) and the bound is 1. What does it become, by value and by norm?",
          edit("clip_grad_norm_", "clip_grad_value_")),
    wrong("clipped_one_by_one",
          "You clip parameters separately, one by one or group by group; the bound is for the norm of all of them "
          "together.",
          "Two tables have gradients of norm 1 each. What is their total norm?",
          edit(CLIP, """
              for p in model.parameters():
                  nn.utils.clip_grad_norm_([p], max_norm)
              """)),
    wrong("always_norm",
          "You always scale the gradients to a total norm of `max_norm`, even when their norm is smaller.",
          "What should happen if the total norm is already below the bound?",
          edit(CLIP, """
              norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
              for p in model.parameters():
                  p.grad *= max_norm / norm
              """)),
    wrong("two_steps",
          "Each call takes two steps.",
          "How often does your function call `optimizer.step()`?",
          edit(STEP, """
              optimizer.step()
              optimizer.step()
              """)),
    wrong("own_optimizer",
          "The step is plain gradient descent, whatever the optimizer does.",
          "Which object knows how a step is taken?",
          edit(STEP, 'torch.optim.SGD(model.parameters(), optimizer.param_groups[0]["lr"]).step()')),
    wrong("first_group_cleared",
          "Only the parameters in the optimizer's first group lose their old gradients.",
          "How many groups can `optimizer.param_groups` hold?",
          edit(CLEAR, """
              for p in optimizer.param_groups[0]["params"]:
                  p.grad = None
              """)),
    wrong("first_group_clipped",
          "Only the gradients of the optimizer's first group are measured and clipped.",
          "Whose total norm may be at most `max_norm`?",
          edit("(model.parameters(), max_norm)", '(optimizer.param_groups[0]["params"], max_norm)')),
    wrong("matrices_clipped",
          "Only matrices are measured and clipped, but a bias is a parameter as well.",
          "Whose total norm may be at most `max_norm`?",
          edit("(model.parameters(), max_norm)", "([p for p in model.parameters() if p.dim() > 1], max_norm)")),
    wrong("long_ones_left_out",
          "You skip batches whose gradient is far too long; clip the gradient and use it instead.",
          "What should happen to a gradient that is longer than `max_norm`?",
          edit(CLIP, f"norm = {CLIP}",
               STEP, """
              if norm < 100 * max_norm:
                  optimizer.step()
              """)),
    # Mistakes in how the model is called, and in the loss.
    wrong("whole_target",
          "The decoder is shown the whole target instead of the shifted input.",
          "How many columns should the decoder's input have?",
          edit(FORWARD, "loss = (loss_function or masked_loss)(model(source, target)[:, :-1], labels)")),
    wrong("whole_target_twice",
          "The decoder is shown the whole target, and the loss asks for that very target: nothing is shifted.",
          "At which position does the decoder see the token that it should predict there?",
          edit(FORWARD, "loss = (loss_function or masked_loss)(model(source, target), target)")),
    wrong("shows_labels",
          "The decoder is shown the labels, so the answers are in its input.",
          "What does the decoder see at its first position: BOS, or the token that it should predict?",
          edit("(model(source, decoder_input)", "(model(source, labels)")),
    wrong("asks_for_input",
          "The loss compares the logits with the decoder's own input, so the model learns to repeat, not to predict.",
          "Which token should be the label at the position of BOS?",
          edit("decoder_input), labels)", "decoder_input), decoder_input)")),
    wrong("eval_mode",
          "The model is not in training mode, so dropout would be off.",
          "Suppose that `model.eval()` was called before your step. Which of your lines undoes that?",
          edit("model.train()", ""), tests="training"),
    wrong("swapped",
          "Source and decoder input are swapped in the call to the model.",
          "In which order does the model take its two inputs?",
          edit("(model(source, decoder_input)", "(model(decoder_input, source[:, : labels.size(1)])")),
    wrong("tensor_returned",
          "You return the loss as a tensor, not as a plain number.",
          "What turns a one-element tensor into a plain number?",
          edit("loss.item()", "loss")),
    wrong("nothing_returned",
          "Your function trains but returns nothing.",
          "What does the caller need to draw a curve?",
          edit("return loss.item()", "")),
    wrong("loss_after",
          "You return the loss after the step instead of the one before it.",
          "How many times does your function call the model?",
          edit("return loss.item()",
               "return (loss_function or masked_loss)(model(source, decoder_input), labels).item()")),
    wrong("padding_counts",
          "Your loss counts padding.",
          "Which of your own functions knows how to leave it out?",
          edit(FORWARD,
               "loss = (loss_function or (lambda l, w: F.cross_entropy(l.flatten(0, 1), w.flatten())))(model(source, decoder_input), labels)")),
    wrong("own_loss_only",
          "You always use `masked_loss`, even if a `loss_function` is given.",
          "Where does your code use its last argument?",
          edit("(loss_function or masked_loss)", "masked_loss"), tests="`masked_loss`"),
    wrong("none_is_called",
          "You call `None` if `loss_function=None` is passed.",
          "What does `None` stand for, according to the docstring?",
          edit("loss_function: Callable[[Tensor, Tensor], Tensor] | None = None", "loss_function=masked_loss",
               "(loss_function or masked_loss)", "loss_function")),
    wrong("loss_of_exchanged",
          "The labels come first in your call to `loss_function`.",
          "In which order does `masked_loss` take its two arguments?",
          edit(FORWARD,
               "loss = loss_function(labels, model(source, decoder_input)) if loss_function else masked_loss(model(source, decoder_input), labels)")),
    wrong("loss_of_flat",
          "Your `loss_function` gets flattened logits and labels; it expects `(B, L - 1, V)` and `(B, L - 1)`.",
          "Could a loss function still tell the columns apart?",
          edit(FORWARD,
               "loss = (loss_function or (lambda l, w: masked_loss(l[None], w[None])))(model(source, decoder_input).flatten(0, 1), labels.flatten())")),
    wrong("summed_loss",
          "Your loss is multiplied by the number of rows, so the gradients grow with the batch.",
          "Should the size of the batch change the size of a step?",
          edit(FORWARD, "loss = (loss_function or masked_loss)(model(source, decoder_input), labels) * len(source)")),
    wrong("parts_in_eval",
          "Only the model's own flag is set to training; its submodules, such as dropout, may still be in evaluation mode.",
          "What does `model.train()` do to the submodules of a model?",
          edit("model.train()", "model.training = True")),
]

ACCEPTED = [
    right("cleared_first", edit(CLEAR, "",
                                "model.train()", """
        model.train()
        optimizer.zero_grad()
        """)),
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
    right("model_zero_grad", edit(CLEAR, "model.zero_grad()")),
    right("without_eos_in_input", edit("(model(source, decoder_input)",
                                       "(model(source, decoder_input.masked_fill(decoder_input == EOS, PAD))")),
    right("mode_given_back", edit("model.train()", """
        before = model.training
        model.train()
        """,
                                  STEP, """
        optimizer.step()
        model.train(before)
        """)),
]

EXERCISE = Specification(
    aspects={"decoder input": 2.0, "first loss": 2.0, "losses": 1.0},  # steps of a step
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
