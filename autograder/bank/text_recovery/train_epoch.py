"""One epoch of training."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from autograder.bank.text_recovery._inputs import random_batches
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


def _training(draw: Draw, sizes: Sequence[tuple[int, int]], clip: float = 0) -> Inputs:
    inputs = random_batches(draw, sizes, 9)
    return inputs | {"clip": torch.tensor(clip)} if clip else inputs


EXERCISE = Specification(
    name="text_recovery/train_epoch",
    title="One epoch of training",
    target="train_epoch",
    cases=[
        CaseKind(
            name="three",
            title="three batches of different sizes",
            inputs=lambda draw: _training(draw, [(4, 5), (1, 2), (3, 7)]),
            hint="Old gradients go first; the loss is averaged over tokens, not "
            "batches.",
        ),
        CaseKind(
            name="clip",
            title="gradients that have to be clipped",
            inputs=lambda draw: _training(draw, [(3, 6), (2, 3)], 0.125),
            hint="Clip the norm of the gradient of all parameters together, before the "
            "step.",
        ),
        CaseKind(
            name="roomy",
            title="a generous clip",
            inputs=lambda draw: _training(draw, [(2, 4), (5, 3), (1, 6), (2, 2)], 50.0),
            hint="A gradient shorter than `clip` stays as it is.",
        ),
        CaseKind(
            name="other",
            title="other batches",
            inputs=lambda draw: _training(draw, [(6, 4), (2, 8)], 0.5),
            hint="The same for other batches.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="no_zero_grad",
            says="Gradients of earlier batches are never forgotten: they add up.",
            asks="What does `backward` do with gradients that are there already?",
            ways=[Way(edits=[Edit("optimizer.zero_grad()", "")])],
        ),
        Mutant(
            name="zero_after_backward",
            says="The gradients are forgotten between `backward` and the step: nothing "
            "is learnt from them.",
            asks="Which gradients does `step` find?",
            ways=[Way(edits=[
                Edit("optimizer.zero_grad()", ""),
                Edit(
                    "loss.backward()",
                    """
                    loss.backward()
                    optimizer.zero_grad()
                    """,
                ),
            ])],
        ),
        Mutant(
            name="step_first",
            says="The optimizer steps before the gradients are computed.",
            asks="Which gradients does the first step use?",
            ways=[Way(edits=[
                Edit("optimizer.step()", ""),
                Edit(
                    "loss.backward()",
                    """
                    optimizer.step()
                    loss.backward()
                    """,
                ),
            ])],
        ),
        Mutant(
            name="zero_once",
            says="Gradients are forgotten once, before the first batch.",
            asks="What holds the gradient at the second batch?",
            ways=[Way(edits=[
                Edit("optimizer.zero_grad()", ""),
                Edit(
                    "model.train()",
                    """
                    model.train()
                    optimizer.zero_grad()
                    """,
                ),
            ])],
        ),
        Mutant(
            name="no_clip",
            says="The optimizer uses gradients that are not clipped.",
            asks="Who uses `clip`, and is it before the step?",
            ways=[
                Way(edits=[
                    Edit("nn.utils.clip_grad_norm_(model.parameters(), clip)", ""),
                ]),
                Way(name="clip_late", edits=[
                    Edit("nn.utils.clip_grad_norm_(model.parameters(), clip)", ""),
                    Edit(
                        "optimizer.step()",
                        """
                        optimizer.step()
                        nn.utils.clip_grad_norm_(model.parameters(), clip)
                        """,
                    ),
                ]),
            ],
        ),
        Mutant(
            name="clip_value",
            says="Every number of the gradient is clipped by itself: that changes its "
            "direction.",
            asks="What is the *norm* of a gradient?",
            ways=[Way(edits=[Edit("clip_grad_norm_", "clip_grad_value_")])],
        ),
        Mutant(
            name="clip_each",
            says="Each parameter's gradient is clipped by itself, not all together.",
            asks="Whose norm is at most `clip`?",
            ways=[Way(edits=[
                Edit(
                    "nn.utils.clip_grad_norm_(model.parameters(), clip)",
                    """
                    for parameter in model.parameters():
                        nn.utils.clip_grad_norm_(parameter, clip)
                    """,
                ),
            ])],
        ),
        Mutant(
            name="clip_fixed",
            says="Gradients are clipped to norm 1, whatever is asked for.",
            asks="Where is your argument used?",
            ways=[Way(edits=[
                Edit("(model.parameters(), clip)", "(model.parameters(), 1.0)"),
            ])],
        ),
        Mutant(
            name="no_scheduler",
            says="The scheduler never steps: the learning rate stays as it is.",
            asks="Who changes the learning rate?",
            ways=[Way(edits=[Edit("scheduler.step()", "")])],
        ),
        Mutant(
            name="scheduler_first",
            says="The scheduler steps before the optimizer: the first rate is skipped.",
            asks="In which order does PyTorch want the two?",
            ways=[Way(edits=[
                Edit(
                    """
                    optimizer.step()
                    scheduler.step()
                    """,
                    """
                    scheduler.step()
                    optimizer.step()
                    """,
                ),
            ])],
        ),
        Mutant(
            name="scheduler_per_epoch",
            says="The scheduler steps once an epoch, not once a batch.",
            asks="How many steps does the schedule have?",
            ways=[Way(edits=[
                Edit("scheduler.step()", ""),
                Edit(
                    "return total / count",
                    """
                    scheduler.step()
                    return total / count
                    """,
                ),
            ])],
        ),
        Mutant(
            name="no_step",
            says="The optimizer never steps: the weights stay as they are.",
            asks="Which line changes the weights?",
            ways=[Way(edits=[Edit("optimizer.step()", "")])],
        ),
        Mutant(
            name="in_eval_mode",
            says="The model is not put into training mode: no dropout.",
            asks="In which mode was the model after the last evaluation?",
            ways=[Way(edits=[Edit("model.train()", "")])],
        ),
        Mutant(
            name="mean_of_batches",
            says="The mean is taken over batches: a batch with two tokens counts as "
            "much as one with two hundred.",
            asks="What is the mean *per token*?",
            ways=[Way(edits=[
                Edit("total + loss.item() * tokens, count + tokens",
                     "total + loss.item(), count + 1"),
            ])],
        ),
        Mutant(
            name="sum_of_batches",
            says="The losses are added up, not averaged.",
            asks="By what is the sum to be divided?",
            ways=[Way(edits=[Edit("return total / count", "return total")])],
        ),
        Mutant(
            name="padding_in_mean",
            says="Padding counts in the mean: the weights of the batches are those of "
            "all places.",
            asks="Which places does the loss function average over?",
            ways=[Way(edits=[
                Edit("int((target_out != PAD).sum())", "target_out.numel()"),
            ])],
        ),
        Mutant(
            name="sentences_in_mean",
            says="Batches are weighted with their sentences, not their tokens.",
            asks="What does the loss function average over?",
            ways=[Way(edits=[
                Edit("int((target_out != PAD).sum())", "len(target_out)"),
            ])],
        ),
        Mutant(
            name="last_loss",
            says="The loss of the last batch comes back.",
            asks="What about all the batches before?",
            ways=[Way(edits=[Edit("return total / count", "return loss.item()")])],
        ),
        Mutant(
            name="reads_the_answer",
            says="The model is given `target_out`: it reads what it should say.",
            asks="What does the decoder read in teacher forcing?",
            ways=[Way(edits=[
                Edit("model(source, target_in), target_out)",
                     "model(source, target_out), target_out)"),
            ])],
        ),
        Mutant(
            name="swapped_arguments",
            says="Source and target are exchanged.",
            asks="In which order does the model take them?",
            ways=[Way(edits=[
                Edit("model(source, target_in), target_out)",
                     "model(target_in, source[:, :1].expand_as(target_in)), target_out)"),
            ])],
        ),
        Mutant(
            name="loss_on_input",
            says="The loss compares with `target_in`: the model learns to repeat what "
            "it reads.",
            asks="Which of the two targets should be said?",
            ways=[Way(edits=[
                Edit("target_in), target_out)", "target_in), target_in)"),
            ])],
        ),
        Mutant(
            name="one_batch",
            says="Only the first batch is used.",
            asks="Where does your loop end?",
            ways=[Way(edits=[
                Edit(
                    """
                        total, count = total + loss.item() * tokens, count + tokens
                    return total / count
                    """,
                    """
                        total, count = total + loss.item() * tokens, count + tokens
                        break
                    return total / count
                    """,
                ),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="set_to_none_by_hand", edits=[
            Edit("optimizer.zero_grad()", "optimizer.zero_grad(set_to_none=False)"),
        ]),
        Accepted(name="zero_at_the_end", source="""
            def train_epoch(model, batches, loss_function, optimizer, scheduler, clip=1.0):
                model.train(True)
                losses, tokens = [], []
                optimizer.zero_grad()
                for s, i, o in batches:
                    loss = loss_function(model(s, i), o)
                    loss.backward()
                    torch.nn.utils.clip_grad_norm_(list(model.parameters()), max_norm=clip)
                    optimizer.step()
                    scheduler.step()
                    optimizer.zero_grad()
                    losses.append(loss.detach()); tokens.append((o != PAD).sum())
                n = torch.stack(tokens)
                return float((torch.stack(losses) * n).sum() / n.sum())
            """),
        Accepted(name="clip_by_hand", edits=[
            Edit(
                "nn.utils.clip_grad_norm_(model.parameters(), clip)",
                """
                grads = [p.grad for p in model.parameters() if p.grad is not None]
                norm = torch.sqrt(sum((g**2).sum() for g in grads))
                if norm > clip:
                    for g in grads:
                        g.mul_(clip / (norm + 1e-6))
                """,
            ),
        ]),
    ],
)
