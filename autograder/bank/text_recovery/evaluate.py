"""The loss on dev."""

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


def _evaluation(
    draw: Draw, sizes: Sequence[tuple[int, int]], training: bool, smoothed: bool = False
) -> Inputs:
    """Batches, and the mode; ``smoothed``: the loss function is another one."""
    another = {"smoothed": torch.tensor(True)} if smoothed else {}
    return random_batches(draw, sizes, 8) | {"training": torch.tensor(training)} | another


EXERCISE = Specification(
    name="text_recovery/evaluate",
    title="The loss on dev",
    target="evaluate",
    cases=[
        CaseKind(
            name="training",
            title="a model in training mode",
            inputs=lambda draw: _evaluation(draw, [(3, 5), (1, 2), (4, 3)], True),
            hint="Evaluate without dropout, and give the model back in training mode.",
        ),
        CaseKind(
            name="evaluation",
            title="a model in evaluation mode",
            inputs=lambda draw: _evaluation(draw, [(2, 6), (5, 2)], False, True),
            hint="A model that came in evaluation mode stays in it.",
        ),
        CaseKind(
            name="unequal",
            title="batches of very different sizes",
            inputs=lambda draw: _evaluation(
                draw, [(7, 6), (1, 1), (1, 2), (2, 9)], True
            ),
            hint="The mean is over tokens: it does not depend on how batches are cut.",
        ),
        CaseKind(
            name="many",
            title="36 small batches",
            inputs=lambda draw: _evaluation(
                draw, [(1 + i % 2, 1 + i % 3) for i in range(36)], True
            ),
            hint="The mean is over all batches, however many there are.",
        ),
        CaseKind(
            name="other",
            title="other batches",
            inputs=lambda draw: _evaluation(draw, [(2, 3), (4, 8), (1, 5)], False),
            tells=("padding_in_mean", "sentences_in_mean", "mean_of_batches"),
            hint="The same for other batches.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="in_training_mode",
            says="The model is asked in training mode: dropout blurs what you measure.",
            asks="Which method switches dropout off?",
            ways=[Way(edits=[Edit("model.eval()", "")])],
        ),
        Mutant(
            name="left_in_eval",
            says="The model stays in evaluation mode: from here on it trains without "
            "dropout.",
            asks="In which mode did it come?",
            ways=[Way(edits=[Edit("model.train(before)", "")])],
        ),
        Mutant(
            name="always_training",
            says="The model always goes back to training mode, also when it came in "
            "evaluation mode.",
            asks="How could you know how it came?",
            ways=[Way(edits=[Edit("model.train(before)", "model.train()")])],
        ),
        Mutant(
            name="with_gradients",
            says="Gradients are recorded: it costs memory and time for nothing.",
            asks="What does `torch.no_grad()` do?",
            ways=[Way(edits=[Edit("with torch.no_grad():", "if True:")])],
        ),
        Mutant(
            name="mean_of_batches",
            says="The mean is taken over batches, not over tokens.",
            asks="Would the same sentences in other batches give the same number?",
            ways=[Way(edits=[
                Edit("total + loss.item() * tokens, count + tokens",
                     "total + loss.item(), count + 1"),
            ])],
        ),
        Mutant(
            name="padding_in_mean",
            says="Padding counts in the mean.",
            asks="Which places does the loss function average over?",
            ways=[Way(edits=[
                Edit("int((target_out != PAD).sum())", "target_out.numel()"),
            ])],
        ),
        Mutant(
            name="flat_rows",
            says="Your `loss_function` gets flat rows of logits and ids, not those of a batch.",
            asks="Which shape has what the model gives?",
            ways=[Way(edits=[
                Edit("loss_function(model(source, target_in), target_out)",
                     "loss_function(model(source, target_in).flatten(0, 1), target_out.flatten())"),
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
            name="sum",
            says="The sum comes back, not the mean.",
            asks="By what is it to be divided?",
            ways=[Way(edits=[Edit("return total / count", "return total")])],
        ),
        Mutant(
            name="last_batch",
            says="The loss of the last batch comes back.",
            asks="What about all the others?",
            ways=[Way(edits=[Edit("return total / count", "return loss.item()")])],
        ),
        Mutant(
            name="learns",
            says="The model learns while it is evaluated: its weights have changed.",
            asks="What is dev for?",
            ways=[Way(edits=[
                Edit("with torch.no_grad():", "if True:"),
                Edit(
                    "tokens = int(",
                    """
                    loss.backward()
                    for p in model.parameters():
                        p.data -= 0.1 * p.grad
                    tokens = int(
                    """,
                ),
            ])],
        ),
        Mutant(
            name="reads_the_answer",
            says="The model is given `target_out`: it reads what it should say.",
            asks="What does the decoder read in teacher forcing?",
            ways=[Way(edits=[
                Edit("(model(source, target_in)", "(model(source, target_out)"),
            ])],
        ),
        Mutant(
            name="asks_for_input",
            says="The model is asked to say what it reads: nothing is shifted.",
            asks="Which token should be said at the place of BOS?",
            ways=[Way(edits=[
                Edit("(model(source, target_in), target_out)",
                     "(model(source, target_in), target_in)"),
            ])],
        ),
        Mutant(
            name="best_batch",
            says="The smallest loss of all batches comes back.",
            asks="What about all the others?",
            ways=[Way(edits=[
                Edit("total, count = 0.0, 0", "total, count = math.inf, 1"),
                Edit("total + loss.item() * tokens, count + tokens",
                     "min(total, loss.item()), 1"),
            ])],
        ),
        Mutant(
            name="perplexity",
            says="The exponential of the mean comes back: the perplexity, not the loss.",
            asks="In which unit is a mean loss?",
            ways=[Way(edits=[
                Edit("return total / count", "return math.exp(total / count)"),
            ])],
        ),
        Mutant(
            name="one_batch",
            says="Only the first batch is used.",
            asks="Where does your loop end?",
            ways=[Way(edits=[
                Edit(
                    "total, count = total + loss.item() * tokens, count + tokens",
                    """
                    total, count = total + loss.item() * tokens, count + tokens
                    break
                    """,
                ),
            ])],
        ),
        Mutant(
            name="first_ten",
            says="Only the first ten batches are used.",
            asks="How many batches may there be?",
            ways=[Way(edits=[
                Edit("for source, target_in, target_out in batches:",
                     "for source, target_in, target_out in [*batches][:10]:"),
            ])],
        ),
        Mutant(
            name="tensor",
            says="The number is right, but it comes as a tensor; a float is asked for.",
            asks="Which method of a tensor with one number gives that number?",
            ways=[Way(edits=[Edit("loss.item()", "loss")])],
        ),

        Mutant(
            name="all_unfrozen",
            says="Afterwards all parameters learn, those as well that were frozen.",
            asks="Which parameters learnt before your function was called?",
            ways=[Way(edits=[
                Edit(
                    "model.train(before)",
                    """
                    model.train(before)
                    model.requires_grad_(True)
                    """,
                ),
            ])],
        ),

        Mutant(
            name="recording_switched_on",
            says="Afterwards gradients are recorded, also where they were not before.",
            asks="Who else may have switched the recording of gradients off?",
            ways=[Way(edits=[
                Edit("with torch.no_grad():", "torch.set_grad_enabled(False)\nif True:"),
                Edit(
                    "model.train(before)",
                    """
                    model.train(before)
                    torch.set_grad_enabled(True)
                    """,
                ),
            ])],
        ),

        Mutant(
            name="own_loss",
            says="You call `smoothed_loss`, whatever `loss_function` is given.",
            asks="What does your function do with its third argument?",
            ways=[Way(edits=[Edit("loss_function(model(", "smoothed_loss(model(")])],
        ),
        Mutant(
            name="read_twice",
            says="The batches are gone through twice: an iterator is empty the second "
            "time.",
            asks="What is left of an iterator after a `for` loop?",
            ways=[Way(edits=[
                Edit(
                    "total, count = 0.0, 0",
                    "total, count = 0.0, sum(int((b[2] != PAD).sum()) for b in batches)",
                ),
                Edit("total + loss.item() * tokens, count + tokens",
                     "total + loss.item() * tokens, count"),
            ])],
        ),
        Mutant(
            name="until_padding",
            says="Tokens behind a PAD do not count, though they are no PAD.",
            asks="What makes a place real: what stands there, or what stands before it?",
            ways=[Way(edits=[
                Edit("int((target_out != PAD).sum())", "int((target_out != PAD).cumprod(1).sum())"),
            ])],
        ),
        Mutant(
            name="until_the_end",
            says="Tokens behind the first EOS do not count, though they are no PAD.",
            asks="Which ids does the text leave out of the mean?",
            ways=[Way(source="""
                def evaluate(model, batches, loss_function):
                    before = model.training
                    model.eval()
                    total, count = 0.0, 0
                    with torch.no_grad():
                        for source, target_in, target_out in batches:
                            loss = loss_function(model(source, target_in), target_out).item()
                            after = (target_out == EOS).cumsum(1) - (target_out == EOS).int()
                            tokens = int(((after == 0) & (target_out != PAD)).sum())
                            total, count = total + loss * tokens, count + tokens
                    model.train(before)
                    return total / count
                """)],
        ),
    ],
    accepted=[
        Accepted(name="decorated", source="""
            @torch.no_grad()
            def evaluate(model, batches, loss_function):
                mode = model.training
                model.train(False)
                pairs = [(loss_function(model(s, i), o), (o != PAD).sum()) for s, i, o in batches]
                if mode:
                    model.train()
                return float(sum(l * n for l, n in pairs) / sum(n for _, n in pairs))
            """),
        Accepted(name="deep_copy", source="""
            import copy

            def evaluate(model, batches, loss_function):
                twin = copy.deepcopy(model).eval()
                total = count = 0
                with torch.no_grad():
                    for source, target_in, target_out in batches:
                        real = (target_out != PAD).sum().item()
                        total += loss_function(twin(source, target_in), target_out).item() * real
                        count += real
                return total / count
            """),
        Accepted(name="inference_mode", edits=[
            Edit("with torch.no_grad():", "with torch.inference_mode():"),
        ]),
        Accepted(name="try_finally", source="""
            def evaluate(model, batches, loss_function):
                was_training = model.training
                model.eval()
                total = n = 0
                try:
                    for source, a, b in batches:
                        with torch.no_grad():
                            k = (b != 0).sum().item()
                            total += k * loss_function(model(source, a), b).item()
                            n += k
                finally:
                    model.train(was_training)
                return total / n
            """),
    ],
)
