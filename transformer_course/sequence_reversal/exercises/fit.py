"""The training loop."""

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


def _training(steps: int, warmup: int, rate: float, lengths: tuple[int, ...], **settings: float) -> Maker:
    """Tables and batches for a model; ``weight`` is the weight of EOS in a custom loss function.

    ``others`` is the learning rate of parameter groups that have none of their own; it differs from all others.
    """

    def make_inputs(draw: Draw) -> Inputs:
        count = min(steps, 16) + 3  # which come again in a long training
        inputs = random_tables(draw, 9, 1.0) | random_batches(draw, count, lengths, 9)
        numbers = {"steps": steps, "warmup": warmup, "rate": rate, **settings}
        return inputs | {name: torch.tensor(number) for name, number in numbers.items()}

    return make_inputs


def _batches_by_heart(draw: Draw) -> Inputs:
    """Sequences that the model already knows, so that the losses begin near zero."""
    order = torch.argsort(draw.tensor(5, scale=500.0))
    row = [BOS, *(FIRST + order[:4]).tolist(), EOS]
    inputs = random_tables(draw, 9, 0.25)
    inputs["table"][row[:-1], row[1:]] += 12.0
    batch = padded([row, row])
    inputs |= {"source": batch[:, 1:].repeat(9, 1, 1), "target": batch.repeat(9, 1, 1)}
    numbers = {"steps": 7, "warmup": 2, "rate": 0.5}
    return inputs | {name: torch.tensor(number) for name, number in numbers.items()}


_TAKE = """
losses.append(loss)
"""
_SET = """
for group in optimizer.param_groups:
    group["lr"] = peak * rate_factor(step, warmup, steps)
"""

CASES = [
    case("twelve", "12 steps, 4 of them warm-up", _training(12, 4, 0.5, (2, 4, 1)),
         "Write down the rates of the first six steps and compare.", picture="curves"),
    case("seven", "7 steps, 2 of them warm-up; parameter groups with their own rates",
         _training(7, 2, 0.25, (3, 1), others=0.75),
         "The peak is the rate stored in the optimizer's groups.", picture="curves"),
    case("known", "7 steps of a model that makes no mistakes, a different peak", _batches_by_heart,
         "Take all steps, however small the loss is. The peak is this optimizer's, not that of the previous one.",
         picture="curves"),
    case("other_loss", "5 steps, 4 of them warm-up, with a different loss function",
         _training(5, 4, 0.5, (2, 3), weight=3.0),
         "Each step uses the loss function that was given.", picture="curves"),
    case("more", "120 steps, one of them warm-up", _training(120, 1, 0.75, (1, 5, 2, 3)),
         "Does your code depend on the number of steps?", picture="curves", hidden_only=True),
]

MISTAKES = [
    wrong("one_batch",
          "All steps use the same batch: it was drawn once, before the loop, so the model would memorise it.",
          "How often is `next_batch()` called in your code?",
          edit("losses = []", """
              losses = []
              batch = next_batch()
              """,
               "source, target = next_batch()", "source, target = batch"), tests="`next_batch()`"),
    wrong("two_draws",
          "`next_batch` is called twice in each step, so source and target come from different batches.",
          "Do two calls of `next_batch` return the same batch?",
          edit("source, target = next_batch()", "source, target = next_batch()[0], next_batch()[1]")),
    wrong("one_draw_more",
          "You draw a batch that no step uses.",
          "How many batches do `steps` steps need?",
          edit("return losses", """
              next_batch()
              return losses
              """)),
    wrong("constant_rate",
          "The learning rate stays at its peak in every step.",
          "Where does the optimizer look up its rate, and what do you write there?",
          edit(_SET, ""),
          edit(_SET, "optimizer.lr = peak * rate_factor(step, warmup, steps)", name="optimizer_attribute")),
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
    wrong("rate_of_next_step",
          "Your rates are one step ahead.",
          "Do your steps count from 0 or from 1?",
          edit("rate_factor(step,", "rate_factor(step + 1,"),
          edit(_SET, "scheduler.step()",
               "losses = []", """
              losses = []
              scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: rate_factor(s, warmup, steps))
              """, name="scheduler_first")),
    wrong("compounding",
          "You multiply the rate left over from the last step, so the factors compound and the rate collapses.",
          "Where is the peak once you have overwritten it?",
          edit('group["lr"] = peak *', 'group["lr"] = group["lr"] *')),
    wrong("factor_as_rate",
          "You use the factor itself as the learning rate, without the peak.",
          "What is the factor a fraction of?",
          edit("peak * rate_factor", "1.0 * rate_factor"), tests="`optimizer.param_groups`"),
    wrong("peak_of_the_defaults",
          "You take the optimizer's default rate, but these groups have rates of their own.",
          "Where does the optimizer look up its rate when it takes a step?",
          edit('peak = optimizer.param_groups[0]["lr"]', 'peak = optimizer.defaults["lr"]')),
    wrong("first_group_only",
          "Only the first parameter group gets the new rate.",
          "How many dictionaries can `optimizer.param_groups` hold?",
          edit(_SET, 'optimizer.param_groups[0]["lr"] = peak * rate_factor(step, warmup, steps)'),
          edit("in optimizer.param_groups:", "in optimizer.param_groups[:1]:", name="first_of_the_groups")),
    wrong("swapped_arguments",
          "Warm-up and number of steps are swapped in the call to your schedule.",
          "In which order does `rate_factor` take its arguments?",
          edit("rate_factor(step, warmup, steps)", "rate_factor(step, steps, steps + warmup)")),
    wrong("warmup_cut",
          "A warm-up longer than half of the steps is cut short.",
          "How long may a warm-up be?",
          edit("rate_factor(step, warmup, steps)", "rate_factor(step, min(warmup, steps // 2), steps)")),
    wrong("one_step_short",
          "Your loop takes one step too few.",
          "How many times does your loop run for `steps = 3`?",
          edit("range(steps)", "range(steps - 1)")),
    wrong("one_step_more",
          "Your loop takes one step too many.",
          "How many times does your loop run for `steps = 3`?",
          edit("range(steps)", "range(steps + 1)")),
    wrong("counts_from_one",
          "Your loop counts from 1, so the rates are one step ahead and one step is missing.",
          "What is the number of the first step?",
          edit("range(steps)", "range(1, steps)")),
    wrong("last_loss_only",
          "You return only the last loss; the curve needs all of them.",
          "What does a list with a single entry look like in a plot?",
          edit("return losses", "return losses[-1:]")),
    wrong("mean_loss",
          "You return a single number instead of a list with the loss of each step.",
          "What does the docstring list under Returns?",
          edit("return losses", "return sum(losses) / len(losses)")),
    wrong("running_mean",
          "Your list holds running means instead of the loss of each step.",
          "Which number belongs to step 3: its own loss or an average?",
          edit("return losses", "return [sum(losses[:i + 1]) / (i + 1) for i in range(len(losses))]")),
    wrong("nothing_returned",
          "Your function trains but returns nothing.",
          "What does the caller need to draw a curve?",
          edit("return losses", "")),
    wrong("scheduler_never_steps",
          "Your scheduler never steps, so every step uses the rate of step 0.",
          "What tells the scheduler that a step is over?",
          edit(_SET, "",
               "losses = []", """
              losses = []
              torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: rate_factor(s, warmup, steps))
              """)),
    wrong("loss_function_lost",
          "`loss_function` is not passed on, so every step uses `masked_loss`.",
          "Which function computes the loss, and how does it know which loss you want?",
          edit("model, optimizer, source, target, loss_function=loss_function", "model, optimizer, source, target"),
          tests="`training_step`"),
    wrong("own_optimizer",
          "You created your own optimizer, so the one that you were given never takes a step.",
          "Which optimizer does the caller expect to be used?",
          edit("losses = []", """
              losses = []
              optimizer = torch.optim.SGD(model.parameters(), lr=peak)
              """)),
    wrong("drawn_before",
          "All batches are drawn before the first step, so thousands of them would be in memory at once.",
          "How many steps have been taken when the last batch is drawn?",
          edit("losses = []", """
              losses = []
              batches = [next_batch() for _ in range(steps)]
              """,
               "source, target = next_batch()", "source, target = batches[step]")),
    wrong("early_stop",
          "Your loop stops as soon as the loss is small; it should run for `steps` steps and return that many losses.",
          "What does the schedule do in the steps that you skip?",
          edit(_TAKE, """
              losses.append(loss)
              if loss < 0.01:
                  break
              """)),
    wrong("peak_of_the_last_one",
          "The peak is carried over from one training run to the next.",
          "Which optimizer does your peak come from?",
          edit("losses = []", """
              losses = []
              peak = fit.__dict__.setdefault(f"peak of {steps}", peak)
              """)),
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
    right("factors_first", source("""
        def fit(model, optimizer, next_batch, steps, warmup, loss_function=None):
            peak = optimizer.param_groups[-1]['lr']
            rates = [peak * rate_factor(s, warmup, steps) for s in range(steps)]
            def one(rate):
                for group in optimizer.param_groups:
                    group['lr'] = rate
                return training_step(model, optimizer, *next_batch(), loss_function=loss_function)
            return [one(rate) for rate in rates]
        """)),
    right("hook_of_the_step", source("""
        def fit(model, optimizer, next_batch, steps, warmup, loss_function=None):
            peak, taken = optimizer.param_groups[0]["lr"], 0
            def set_rate(optimizer, given, named):
                nonlocal taken
                for group in optimizer.param_groups:
                    group["lr"] = peak * rate_factor(taken, warmup, steps)
                taken += 1
            hook = optimizer.register_step_pre_hook(set_rate)
            losses = [
                training_step(model, optimizer, *next_batch(), loss_function=loss_function)
                for _ in range(steps)
            ]
            hook.remove()
            return losses
        """)),
    right("in_silence", edit("tqdm(range(steps), disable=not watched(steps), delay=1, leave=False)", "range(steps)")),
]

EXERCISE = Specification(
    aspects={"losses": 2.0},  # what is told of the loop
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
