"""The training loop."""

from __future__ import annotations

import torch

from autograder.bank.sequence_reversal._inputs import (
    BOS,
    EOS,
    FIRST,
    padded,
    random_batches,
    random_tables,
)
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
    steps: int, warmup: int, rate: float, lengths: tuple[int, ...], **more: float
) -> Maker:
    """Tables and batches; ``weight`` is that of EOS in a loss function of its own.

    ``others`` is the rate of groups that come without one, which is none of these.
    """

    def inputs(draw: Draw) -> Inputs:
        count = min(steps, 16) + 3  # which come again in a long training
        made = random_tables(draw, 9, 1.0) | random_batches(draw, count, lengths, 9)
        numbers = {"steps": steps, "warmup": warmup, "rate": rate, **more}
        return made | {name: torch.tensor(number) for name, number in numbers.items()}

    return inputs


def _known_batches(draw: Draw) -> Inputs:
    """Sequences that the model can say by heart: the losses begin near zero."""
    order = torch.argsort(draw.tensor(5, scale=500.0))
    row = [BOS, *(FIRST + order[:4]).tolist(), EOS]
    made = random_tables(draw, 9, 0.25)
    made["table"][row[:-1], row[1:]] += 12.0
    batch = padded([row, row])
    made |= {"source": batch[:, 1:].repeat(9, 1, 1), "target": batch.repeat(9, 1, 1)}
    numbers = {"steps": 7, "warmup": 2, "rate": 0.5}
    return made | {name: torch.tensor(number) for name, number in numbers.items()}


_TAKE = """
losses.append(loss)
"""
_SET = """
for group in optimizer.param_groups:
    group["lr"] = peak * rate_factor(step, warmup, steps)
"""

EXERCISE = Specification(
    name="sequence_reversal/fit",
    title="The training loop",
    target="fit",
    aspects={"losses": 2.0},  # what is told of the loop
    cases=[
        CaseKind(
            name="twelve",
            title="12 steps, 4 of them warm-up",
            inputs=_training(12, 4, 0.5, (2, 4, 1)),
            hint="Write down the rates of the first six steps and compare.",
            picture="curves",
        ),
        CaseKind(
            name="seven",
            title="7 steps, 2 of them warm-up; groups with a rate of their own",
            inputs=_training(7, 2, 0.25, (3, 1), others=0.75),
            hint="The peak is the rate that stands in the optimizer's groups.",
            picture="curves",
        ),
        CaseKind(
            name="known",
            title="7 steps of a model that makes no mistakes, another peak",
            inputs=_known_batches,
            hint="However small the loss is, all steps are taken. The peak is that of "
            "this optimizer, not of the last one.",
            picture="curves",
        ),
        CaseKind(
            name="other_loss",
            title="5 steps, 4 of them warm-up, with another loss function",
            inputs=_training(5, 4, 0.5, (2, 3), weight=3.0),
            hint="Each step uses the loss function that was given.",
            picture="curves",
        ),
        CaseKind(
            name="more",
            title="120 steps, one of them warm-up",
            inputs=_training(120, 1, 0.75, (1, 5, 2, 3)),
            hint="As above.",
            picture="curves",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="one_batch",
            says="All steps use one and the same batch: it was drawn once, before the "
            "loop. The model would learn it by heart.",
            asks="How often is `next_batch()` called in your code?",
            ways=[Way(edits=[
                Edit(
                    "losses = []",
                    """
                    losses = []
                    batch = next_batch()
                    """,
                ),
                Edit("source, target = next_batch()", "source, target = batch"),
            ])],
        ),
        Mutant(
            name="two_draws",
            says="`next_batch` is called twice in each step: source and target come "
            "from different batches.",
            asks="What do two calls of `next_batch` have in common?",
            ways=[Way(edits=[
                Edit("source, target = next_batch()",
                     "source, target = next_batch()[0], next_batch()[1]"),
            ])],
        ),
        Mutant(
            name="one_draw_more",
            says="A batch is drawn that no step uses.",
            asks="How many batches do so many steps need?",
            ways=[Way(edits=[
                Edit(
                    "return losses",
                    """
                    next_batch()
                    return losses
                    """,
                ),
            ])],
        ),
        Mutant(
            name="constant_rate",
            says="The learning rate stays at its peak in every step.",
            asks="Where does the optimizer look up its rate, and what do you write "
            "there?",
            ways=[
                Way(edits=[Edit(_SET, "")]),
                Way(name="optimizer_attribute", edits=[
                    Edit(_SET,
                         "optimizer.lr = peak * rate_factor(step, warmup, steps)"),
                ]),
                Way(name="optimizer_defaults", edits=[
                    Edit(_SET,
                         'optimizer.defaults["lr"] = peak * rate_factor(step, warmup, steps)'),
                ]),
            ],
        ),
        Mutant(
            name="rate_too_late",
            says="The rate is set after the step, so each step uses the rate of the "
            "one before, and the first one the full peak.",
            asks="Which rate does the optimizer have when it takes step 0?",
            ways=[Way(edits=[
                Edit(_SET, ""),
                Edit(
                    _TAKE,
                    """
                    losses.append(loss)
                    for group in optimizer.param_groups:
                        group["lr"] = peak * rate_factor(step, warmup, steps)
                    """,
                ),
            ])],
        ),
        Mutant(
            name="rate_of_next_step",
            says="Your rates are one step ahead.",
            asks="Do your steps count from 0 or from 1?",
            ways=[
                Way(edits=[Edit("rate_factor(step,", "rate_factor(step + 1,")]),
                Way(name="scheduler_first", edits=[
                    Edit(_SET, "scheduler.step()"),
                    Edit(
                        "losses = []",
                        """
                        losses = []
                        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: rate_factor(s, warmup, steps))
                        """,
                    ),
                ]),
            ],
        ),
        Mutant(
            name="compounding",
            says="You multiply the rate that was left from the last step, so the "
            "factors pile up and the rate collapses.",
            asks="Where is the peak after you have overwritten it?",
            ways=[Way(edits=[
                Edit('group["lr"] = peak *', 'group["lr"] = group["lr"] *'),
            ])],
        ),
        Mutant(
            name="factor_as_rate",
            says="You use the factor itself as the learning rate; the peak is missing.",
            asks="What is the factor a share of?",
            ways=[Way(edits=[Edit("peak * rate_factor", "1.0 * rate_factor")])],
        ),
        Mutant(
            name="peak_of_the_defaults",
            says="You take the rate that the optimizer would give to groups without one; "
            "these groups came with another.",
            asks="Where does the optimizer look up its rate when it takes a step?",
            ways=[Way(edits=[
                Edit('peak = optimizer.param_groups[0]["lr"]',
                     'peak = optimizer.defaults["lr"]'),
            ])],
        ),
        Mutant(
            name="first_group_only",
            says="Only the first group of parameters gets the new rate.",
            asks="How many dictionaries can `optimizer.param_groups` hold?",
            ways=[Way(edits=[
                Edit(_SET,
                     'optimizer.param_groups[0]["lr"] = peak * rate_factor(step, warmup, steps)'),
            ])],
        ),
        Mutant(
            name="swapped_arguments",
            says="Warm-up and number of steps have changed places in the call of your "
            "schedule.",
            asks="In which order does `rate_factor` take its arguments?",
            ways=[Way(edits=[
                Edit("rate_factor(step, warmup, steps)",
                     "rate_factor(step, steps, steps + warmup)"),
            ])],
        ),
        Mutant(
            name="warmup_cut",
            says="A warm-up of more than half of the steps is cut short.",
            asks="How long may a warm-up be?",
            ways=[Way(edits=[
                Edit("rate_factor(step, warmup, steps)",
                     "rate_factor(step, min(warmup, steps // 2), steps)"),
            ])],
        ),
        Mutant(
            name="one_step_short",
            says="Your loop takes one step too few.",
            asks="How many numbers does `range(1, steps)` give?",
            ways=[Way(edits=[Edit("range(steps)", "range(steps - 1)")])],
        ),
        Mutant(
            name="one_step_more",
            says="Your loop takes one step too many.",
            asks="Where does `range(steps + 1)` end?",
            ways=[Way(edits=[Edit("range(steps)", "range(steps + 1)")])],
        ),
        Mutant(
            name="counts_from_one",
            says="Your loop counts from 1, so the rates are one step ahead and a step "
            "is missing.",
            asks="What is the number of the first step?",
            ways=[Way(edits=[Edit("range(steps)", "range(1, steps)")])],
        ),
        Mutant(
            name="last_loss_only",
            says="You return the last loss only; the curve needs all of them.",
            asks="What does a list of one number look like in a plot?",
            ways=[Way(edits=[Edit("return losses", "return losses[-1:]")])],
        ),
        Mutant(
            name="mean_loss",
            says="You return a single number; a list with the loss of each step is "
            "asked for.",
            asks="What does the docstring return?",
            ways=[Way(edits=[
                Edit("return losses", "return sum(losses) / len(losses)"),
            ])],
        ),
        Mutant(
            name="running_mean",
            says="Your list holds running means; the loss of each single step is asked "
            "for.",
            asks="Which number belongs to step 3: its own loss, or an average?",
            ways=[Way(edits=[
                Edit("return losses",
                     "return [sum(losses[:i + 1]) / (i + 1) for i in range(len(losses))]"),
            ])],
        ),
        Mutant(
            name="nothing_returned",
            says="Your function trains, but returns nothing.",
            asks="What should the caller get to draw a curve?",
            ways=[Way(edits=[Edit("return losses", "")])],
        ),
        Mutant(
            name="scheduler_never_steps",
            says="Your scheduler never steps, so all steps use the rate of step 0.",
            asks="Who tells the scheduler that a step is over?",
            ways=[Way(edits=[
                Edit(_SET, ""),
                Edit(
                    "losses = []",
                    """
                    losses = []
                    torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: rate_factor(s, warmup, steps))
                    """,
                ),
            ])],
        ),
        Mutant(
            name="loss_function_lost",
            says="`loss_function` is not handed on: every step uses `masked_loss`.",
            asks="Who computes the loss in your code, and how does it hear which one?",
            ways=[Way(edits=[
                Edit("model, optimizer, source, target, loss_function=loss_function",
                     "model, optimizer, source, target"),
            ])],
        ),
        Mutant(
            name="own_optimizer",
            says="You made an optimizer of your own. The one that was given never "
            "takes a step.",
            asks="Which optimizer does the caller expect to be used?",
            ways=[Way(edits=[
                Edit(
                    "losses = []",
                    """
                    losses = []
                    optimizer = torch.optim.SGD(model.parameters(), lr=peak)
                    """,
                ),
            ])],
        ),

        Mutant(
            name="drawn_before",
            says="All batches are drawn before the first step: thousands of them would "
            "lie in memory, and whoever looks at the model while a batch is drawn sees "
            "an untrained one.",
            asks="How many steps have been taken when the last batch is drawn?",
            ways=[Way(edits=[
                Edit(
                    "losses = []",
                    """
                    losses = []
                    batches = [next_batch() for _ in range(steps)]
                    """,
                ),
                Edit("source, target = next_batch()", "source, target = batches[step]"),
            ])],
        ),
        Mutant(
            name="early_stop",
            says="Your loop ends as soon as a loss is small. `steps` steps are asked "
            "for, and as many losses.",
            asks="What does the schedule do in the steps that you leave out?",
            ways=[Way(edits=[
                Edit(
                    _TAKE,
                    """
                    losses.append(loss)
                    if loss < 0.01:
                        break
                    """,
                ),
            ])],
        ),
        Mutant(
            name="peak_of_the_last_one",
            says="The peak is remembered from one training to the next.",
            asks="Which optimizer came with the rate that you use?",
            ways=[Way(edits=[
                Edit(
                    "losses = []",
                    """
                    losses = []
                    peak = fit.__dict__.setdefault(f"peak of {steps}", peak)
                    """,
                ),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="scheduler", source="""
            def fit(model, optimizer, next_batch, steps, warmup, loss_function=None):
                schedule = torch.optim.lr_scheduler.LambdaLR(
                    optimizer, lambda s: rate_factor(s, warmup, steps))
                losses = []
                for _ in tqdm(range(steps), disable=True):
                    source, target = next_batch()
                    losses.append(training_step(model, optimizer, source, target, loss_function=loss_function))
                    schedule.step()
                return losses
            """),
        Accepted(name="while_loop", source="""
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
            """),
        Accepted(name="factors_first", source="""
            def fit(model, optimizer, next_batch, steps, warmup, loss_function=None):
                peak = optimizer.param_groups[-1]['lr']
                rates = [peak * rate_factor(s, warmup, steps) for s in range(steps)]
                def one(rate):
                    for group in optimizer.param_groups:
                        group['lr'] = rate
                    return training_step(model, optimizer, *next_batch(), loss_function=loss_function)
                return [one(rate) for rate in rates]
            """),
        Accepted(name="hook_of_the_step", source="""
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
            """),
        Accepted(name="in_silence", edits=[
            Edit("tqdm(range(steps), disable=not watched(steps), delay=1, leave=False)",
                 "range(steps)"),
        ]),
    ],
)
