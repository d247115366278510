"""Cases and mistakes for an exercise: the training loop."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.sequence_reversal.exercises._inputs import (
    BOS,
    EOS,
    FIRST,
    draw_batches,
    draw_tables,
)


def _draw_training(*lengths: int, steps: int, **settings: float) -> Maker:
    """Make a function that draws the parameters of the probe's model, and batches.

    Args:
        lengths: the lengths of the rows in each batch.
        settings: further inputs: ``warmup`` steps, the peak ``rate``, ``others`` (a
            rate that `fit` must not use), and the ``weight`` of EOS in the loss.
    """

    def make_inputs(draw: Draw) -> Inputs:
        batches = draw_batches(draw, min(steps, 16) + 3, lengths)  # repeated in a long training run
        numbers = {"steps": steps, **settings}
        tensors = {name: torch.tensor(number) for name, number in numbers.items()}
        return draw_tables(draw, 1.0) | batches | tensors

    return make_inputs


def _draw_expert(draw: Draw) -> Inputs:
    """Draw a training run whose targets are one sequence, which the model already knows: losses are near zero."""
    inputs = _draw_training(4, 4, steps=7, warmup=2, rate=0.5)(draw)
    row = [BOS, *range(FIRST, FIRST + 4), EOS]
    inputs["target"][:] = torch.tensor(row)
    inputs["table"][row[:-1], row[1:]] += 16.0
    return inputs


_FACTOR = "rate_factor(step, warmup, steps)"
_TAKE = "losses.append(loss)"
_SET = """
for group in optimizer.param_groups:
    group["lr"] = peak * rate_factor(step, warmup, steps)
"""
_START = "losses = []"
_NEXT = "source, target = next_batch()"

CASES = [
    case("twelve", "12 steps, 4 of them warm-up", _draw_training(2, 4, 1, steps=12, warmup=4, rate=0.5),
         "Write down the rates of the first six steps and compare.", picture="curves"),
    case("seven", "7 steps, 2 of them warm-up; the groups' rate is not the optimizer's default",
         _draw_training(3, 1, steps=7, warmup=2, rate=0.25, others=0.75),
         "The peak is the rate stored in the optimizer's groups.", picture="curves"),
    case("known", "7 steps of a model that makes no mistakes, a different peak", _draw_expert,
         "Take all steps, however small the loss is. The peak is this optimizer's, not that of the previous one.",
         picture="curves"),
    case("other_loss", "5 steps, 4 of them warm-up, with a different loss function",
         _draw_training(2, 3, steps=5, warmup=4, rate=0.5, weight=3.0),
         "Each step uses the loss function that was given.", picture="curves"),
    case("more", "120 steps, one of them warm-up", _draw_training(1, 5, 2, 3, steps=120, warmup=1, rate=0.75),
         "Does your code depend on the number of steps?", picture="curves", hidden_only=True),
]

MISTAKES = [
    wrong("one_batch",
          "All steps use the same batch: it was drawn once, before the loop, so the model would memorise it.",
          "How often is `next_batch()` called in your code?",
          edit(_START, "losses = []; batch = next_batch()", _NEXT, "source, target = batch"), tests="`next_batch()`"),
    wrong("too_many_batches",
          "You draw more batches than there are steps: one for the source and one for the target, or one that no step "
          "uses.",
          "How many batches do `steps` steps need, and do two calls of `next_batch` return the same batch?",
          edit(_NEXT, "source, target = next_batch()[0], next_batch()[1]", name="two_draws"),
          edit("return losses", "next_batch(); return losses", name="one_draw_more")),
    wrong("drawn_before",
          "All batches are drawn before the first step, so thousands of them would be in memory at once.",
          "How many steps have been taken when the last batch is drawn?",
          edit(_START, "losses = []; batches = [next_batch() for _ in range(steps)]",
               _NEXT, "source, target = batches[step]")),
    wrong("constant_rate", "The learning rate is the same in every step.",
          "Where does the optimizer look up its rate, and what changes the number there from step to step?",
          edit(_SET, ""),
          edit(_SET, "optimizer.lr = peak * rate_factor(step, warmup, steps)", name="optimizer_attribute"),
          edit(_SET, "", _START, """
              losses = []
              torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: rate_factor(s, warmup, steps))
              """, name="scheduler_never_steps")),
    wrong("rate_too_late",
          "The rate is set after the step, so each step uses the previous step's rate, and the first one the full "
          "peak.",
          "Which rate does the optimizer have when it takes step 0?",
          edit(_SET, "",
               _TAKE, """
              losses.append(loss)
              for group in optimizer.param_groups:
                  group["lr"] = peak * rate_factor(step, warmup, steps)
              """)),
    wrong("rate_of_next_step", "Your rates are one step ahead.",
          "Do your steps count from 0 or from 1?",
          edit("rate_factor(step,", "rate_factor(step + 1,"),
          edit(_SET, "scheduler.step()",
               _START, """
              losses = []
              scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: rate_factor(s, warmup, steps))
              """, name="scheduler_first"),
          edit("range(steps)", "range(1, steps)", name="counts_from_one")),
    wrong("compounding",
          "You multiply the rate left over from the last step, so the factors compound and the rate collapses.",
          "Where is the peak once you have overwritten it?",
          edit('group["lr"] = peak *', 'group["lr"] = group["lr"] *')),
    wrong("factor_as_rate", "You use the factor itself as the learning rate, without the peak.",
          "What is the factor a fraction of?",
          edit("peak * rate_factor", "1.0 * rate_factor"), tests="`optimizer.param_groups`"),
    wrong("other_peak",
          "Your peak is not the rate in the groups of this optimizer: it is the optimizer's default, or carried over "
          "from another training run.",
          "Where does the optimizer look up its rate when it takes a step?",
          edit('optimizer.param_groups[0]["lr"]', 'optimizer.defaults["lr"]', name="peak_of_the_defaults"),
          edit(_START, 'losses = []; peak = fit.__dict__.setdefault(f"peak of {steps}", peak)',
               name="peak_of_the_last_one")),
    wrong("first_group_only", "Only the first parameter group gets the new rate.",
          "How many dictionaries can `optimizer.param_groups` hold?",
          edit(_SET, 'optimizer.param_groups[0]["lr"] = peak * rate_factor(step, warmup, steps)')),
    wrong("other_schedule",
          "Your schedule gets other numbers than `warmup` and `steps`: they are swapped, or a long warm-up is cut.",
          "In which order does `rate_factor` take its arguments, and how long may a warm-up be?",
          edit(_FACTOR, "rate_factor(step, steps, steps + warmup)", name="swapped_arguments"),
          edit(_FACTOR, "rate_factor(step, min(warmup, steps // 2), steps)", name="warmup_cut")),
    wrong("one_step_short", "Your loop takes one step too few, or one too many.",
          "How many times does your loop run for `steps = 3`?",
          edit("range(steps)", "range(steps - 1)"),
          edit("range(steps)", "range(steps + 1)", name="one_step_more")),
    wrong("early_stop",
          "Your loop stops as soon as the loss is small; it should run for `steps` steps and return that many losses.",
          "What does the schedule do in the steps that you skip?",
          edit(_TAKE, """
              losses.append(loss)
              if loss < 0.01:
                  break
              """)),
    wrong("not_each_loss", "You do not return the loss of each step: only the last one, or means of several.",
          "Which number belongs to step 3, and what does the docstring list under Returns?",
          edit("return losses", "return losses[-1:]", name="last_loss_only"),
          edit("return losses", "return sum(losses) / len(losses)", name="mean_loss"),
          edit("return losses", "return [sum(losses[: i + 1]) / (i + 1) for i in range(len(losses))]",
               name="running_mean")),
    common("nothing_returned", edit("return losses", "")),
    wrong("loss_function_lost", "`loss_function` is not passed on, so every step uses `masked_loss`.",
          "Which function computes the loss, and how does it know which loss you want?",
          edit("target, loss_function=loss_function", "target"), tests="`training_step`"),
    wrong("own_optimizer", "You created your own optimizer, so the one that you were given never takes a step.",
          "Which optimizer does the caller expect to be used?",
          edit(_START, "losses = []; optimizer = torch.optim.SGD(model.parameters(), lr=peak)")),
]

ACCEPTED = [
    right("scheduler", source("""
        def fit(model, optimizer, next_batch, steps, warmup, loss_function=None):
            schedule = torch.optim.lr_scheduler.LambdaLR(
                optimizer, lambda s: rate_factor(s, warmup, steps))
            losses = []
            for _ in tqdm(range(steps), disable=True):
                source, target = next_batch()
                losses.append(training_step(model, optimizer, source, target, loss_function=loss_function))
                schedule.step()
            return losses
        """), tests="`torch.optim.lr_scheduler.LambdaLR`"),
    right("while_loop", source("""
        def fit(model, optimizer, next_batch, steps, warmup, loss_function=None):
            peaks = [g['lr'] for g in optimizer.param_groups]
            bar, losses = tqdm(total=steps, disable=not watched(steps)), []
            while len(losses) < steps:
                share = rate_factor(len(losses), warmup, steps)
                for g, peak in zip(optimizer.param_groups, peaks):
                    g.update(lr=share * peak)
                batch = next_batch()
                losses += [training_step(model, optimizer, batch[0], batch[1], 1.0, loss_function)]
                bar.update()
            bar.close()
            return losses
        """)),
    right("hook_of_the_step", edit(_SET, "", _START, """
        losses, counted = [], iter(range(steps))
        def set_rate(optimizer, given, named):
            step = next(counted)
            for group in optimizer.param_groups:
                group["lr"] = peak * rate_factor(step, warmup, steps)
        hook = optimizer.register_step_pre_hook(set_rate)
        """, "return losses", "hook.remove(); return losses")),
]

EXERCISE = Specification(
    parts="losses",
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
