"""One training step."""

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


def _steps(
    count: int,
    lengths: tuple[int, ...],
    rate: float,
    scale: float,
    max_norm: float | None = None,
    weight: float | None = None,
) -> Maker:
    """Batches and tables; ``weight`` is that of EOS in a loss function of its own."""
    options = {"max_norm": max_norm, "weight": weight}

    def inputs(draw: Draw) -> Inputs:
        made = random_tables(draw, 9, scale) | random_batches(draw, count, lengths, 9)
        made["rate"] = torch.tensor(rate)
        given = {n: torch.tensor(v) for n, v in options.items() if v is not None}
        return made | given

    return inputs


def _one_token(draw: Draw) -> Inputs:
    """One token again and again, and large scores: a gradient longer than 1."""
    token = FIRST + int(draw.ids(0, 4))
    other = token + 1
    tables = random_tables(draw, 9, 1.0)
    tables["table"][[BOS, token], -1] = 8.0  # sure of the last one
    source = padded([[token] * 3 + [EOS], [token] * 5 + [EOS]])
    target = padded([[BOS] + [token] * 6 + [EOS], [BOS] + [token] * 3 + [other, EOS]])
    return tables | {
        "source": torch.stack([source] * 2),
        "target": torch.stack([target] * 2),
        "rate": torch.tensor(1.0),
    }


_CLEAR = "optimizer.zero_grad()"
_BACK = "loss.backward()"
_CLIP = "nn.utils.clip_grad_norm_(model.parameters(), max_norm)"
_STEP = "optimizer.step()"
_FORWARD = "loss = (loss_function or masked_loss)(model(source, decoder_input), labels)"

EXERCISE = Specification(
    name="sequence_reversal/training_step",
    title="One training step",
    target="training_step",
    cases=[
        CaseKind(
            name="three_steps",
            title="three steps with small gradients",
            inputs=_steps(3, (3, 1, 4), rate=0.9, scale=1.0),
            hint="Follow the tables through the steps: new gradients, clipped, one "
            "update each.",
        ),
        CaseKind(
            name="clipped",
            title="gradients longer than the bound",
            inputs=_steps(2, (2, 5), rate=1.5, scale=2.0, max_norm=0.0625),
            hint="The common norm of all gradients may be at most `max_norm` when the "
            "optimizer takes its step.",
        ),
        CaseKind(
            name="default_bound",
            title="a gradient longer than 1, with the default bound",
            inputs=_one_token,
            hint="Without a fifth argument, `max_norm` is 1.",
        ),
        CaseKind(
            name="other_loss",
            title="another loss function",
            inputs=_steps(2, (4, 1, 3), rate=0.8, scale=1.0, weight=3.0),
            hint="If a loss function is given, the loss and its gradients are its own.",
        ),
        CaseKind(
            name="more_rows",
            title="more rows and four steps",
            inputs=_steps(4, (1, 6, 2, 4, 3), rate=0.5, scale=1.5, max_norm=0.1),
            hint="As above.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="no_zero_grad",
            says="Old gradients are never cleared, so each step uses the sum of all "
            "gradients since the beginning.",
            asks="What does `backward` do with a gradient that is already there?",
            ways=[Way(edits=[Edit(_CLEAR, "")])],
        ),
        Mutant(
            name="cleared_last",
            says="You clear gradients after the step. What somebody else left there "
            "goes into your first step.",
            asks="At which moment must the old gradients be gone: before what?",
            ways=[
                Way(edits=[
                    Edit(_CLEAR, ""),
                    Edit(
                        _STEP,
                        """
                        optimizer.step()
                        optimizer.zero_grad()
                        """,
                    ),
                ]),
            ],
        ),
        Mutant(
            name="nothing_changes",
            says="The weights do not change at all. Either nobody tells the optimizer "
            "to step, or there are no gradients when it does: never computed, or "
            "cleared too early.",
            asks="Which gradients does your optimizer find at the moment of its step?",
            ways=[
                Way(edits=[Edit(_STEP, "")]),
                Way(name="cleared_too_late", edits=[
                    Edit(_CLEAR, ""),
                    Edit(
                        _BACK,
                        """
                        loss.backward()
                        optimizer.zero_grad()
                        """,
                    ),
                ]),
                Way(name="cleared_before_step", edits=[
                    Edit(_CLEAR, ""),
                    Edit(
                        _CLIP,
                        """
                        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
                        optimizer.zero_grad()
                        """,
                    ),
                ]),
                Way(name="no_backward", edits=[Edit(_BACK, "")]),
            ],
        ),
        Mutant(
            name="step_before_backward",
            says="The optimizer steps before `backward`: it uses the gradients of the "
            "batch before.",
            asks="Where do the gradients come from that your step uses the very first "
            "time?",
            ways=[Way(edits=[
                Edit(_CLEAR, ""),
                Edit(_STEP, ""),
                Edit(
                    _BACK,
                    """
                    optimizer.step()
                    optimizer.zero_grad()
                    loss.backward()
                    """,
                ),
            ])],
        ),
        Mutant(
            name="not_clipped",
            says="Gradients are not clipped.",
            asks="What happens to the weights if one batch gives a gradient of norm "
            "100?",
            ways=[
                Way(edits=[Edit(_CLIP, "")]),
                Way(name="clipped_after_step", edits=[
                    Edit(_CLIP, ""),
                    Edit(
                        _STEP,
                        """
                        optimizer.step()
                        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
                        """,
                    ),
                ]),
                Way(name="clipped_before_backward", edits=[
                    Edit(_CLIP, ""),
                    Edit(
                        _CLEAR,
                        """
                        optimizer.zero_grad()
                        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
                        """,
                    ),
                ]),
            ],
        ),
        Mutant(
            name="bound_fixed",
            says="You clip at 1, whatever `max_norm` is.",
            asks="Where does your code use the argument `max_norm`?",
            ways=[Way(edits=[
                Edit("model.parameters(), max_norm)", "model.parameters(), 1.0)"),
            ])],
        ),
        Mutant(
            name="clipped_by_value",
            says="You clip each number by itself. That bends the direction of the "
            "gradient.",
            asks="A gradient is (3, 0.1) and the bound is 1. What becomes of it, by "
            "value and by norm?",
            ways=[Way(edits=[Edit("clip_grad_norm_", "clip_grad_value_")])],
        ),
        Mutant(
            name="clipped_one_by_one",
            says="You clip each parameter by itself; the bound is for the norm of all "
            "of them together.",
            asks="Two tables have gradients of norm 1 each. What is their common norm?",
            ways=[Way(edits=[
                Edit(
                    _CLIP,
                    """
                    for p in model.parameters():
                        nn.utils.clip_grad_norm_([p], max_norm)
                    """,
                ),
            ])],
        ),
        Mutant(
            name="always_norm",
            says="You scale every gradient to the norm `max_norm`, short ones too. "
            "Clipping only shortens.",
            asks="What should happen to a gradient that is shorter than the bound?",
            ways=[Way(edits=[
                Edit(
                    _CLIP,
                    """
                    norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
                    for p in model.parameters():
                        p.grad *= max_norm / norm
                    """,
                ),
            ])],
        ),
        Mutant(
            name="whole_target",
            says="The decoder is shown the whole target instead of the shifted input.",
            asks="How many columns should the decoder's input have?",
            ways=[Way(edits=[
                Edit(_FORWARD,
                     "loss = (loss_function or masked_loss)(model(source, target)[:, :-1], labels)"),
            ])],
        ),
        Mutant(
            name="shows_labels",
            says="The decoder is shown the labels: the answers stand in its input.",
            asks="What does the decoder see at its first position: BOS, or the token "
            "that it should say?",
            ways=[Way(edits=[
                Edit("(model(source, decoder_input)", "(model(source, labels)"),
            ])],
        ),
        Mutant(
            name="asks_for_input",
            says="The loss compares with the decoder's own input: the model learns to "
            "repeat, not to predict.",
            asks="Which token should be the label at the position of BOS?",
            ways=[Way(edits=[
                Edit("decoder_input), labels)", "decoder_input), decoder_input)"),
            ])],
        ),
        Mutant(
            name="eval_mode",
            says="The model is not in training mode. Dropout would be off.",
            asks="In which mode does a model come out of decoding?",
            ways=[
                Way(edits=[Edit("model.train()", "")]),
                Way(name="eval_mode_asked", edits=[
                    Edit("model.train()", "model.eval()"),
                ]),
            ],
        ),
        Mutant(
            name="swapped",
            says="Source and decoder input have changed places in the model's call.",
            asks="In which order does `model(source, decoder_input)` want them?",
            ways=[Way(edits=[
                Edit("(model(source, decoder_input)",
                     "(model(decoder_input, source[:, : labels.size(1)])"),
            ])],
        ),
        Mutant(
            name="tensor_returned",
            says="You return the loss as a tensor. It may keep the whole graph of its "
            "batch in memory.",
            asks="What makes a plain number of a tensor with one entry?",
            ways=[
                Way(edits=[Edit("loss.item()", "loss")]),
                Way(name="detached_returned", edits=[
                    Edit("loss.item()", "loss.detach()"),
                ]),
            ],
        ),
        Mutant(
            name="nothing_returned",
            says="Your function trains, but returns nothing.",
            asks="What should the caller get to draw a curve?",
            ways=[Way(edits=[Edit("return loss.item()", "")])],
        ),
        Mutant(
            name="loss_after",
            says="You return the loss after the step; the one before it is asked for.",
            asks="How many times does your function call the model?",
            ways=[Way(edits=[
                Edit("return loss.item()",
                     "return (loss_function or masked_loss)(model(source, decoder_input), labels).item()"),
            ])],
        ),
        Mutant(
            name="two_steps",
            says="Each call takes two steps.",
            asks="How often does your function call `optimizer.step()`?",
            ways=[Way(edits=[
                Edit(
                    _STEP,
                    """
                    optimizer.step()
                    optimizer.step()
                    """,
                ),
            ])],
        ),
        Mutant(
            name="padding_counts",
            says="Your loss counts padding.",
            asks="Which of your own functions knows how to leave it out?",
            ways=[Way(edits=[
                Edit(_FORWARD,
                     "loss = (loss_function or (lambda l, w: F.cross_entropy(l.flatten(0, 1), w.flatten())))(model(source, decoder_input), labels)"),
            ])],
        ),
        Mutant(
            name="own_loss_only",
            says="You always use `masked_loss`, whatever `loss_function` is given.",
            asks="Where does your code use its last argument?",
            ways=[Way(edits=[Edit("(loss_function or masked_loss)", "masked_loss")])],
        ),
        Mutant(
            name="loss_of_exchanged",
            says="The labels come first in your call of `loss_function`.",
            asks="In which order does `masked_loss` take its two arguments?",
            ways=[Way(edits=[
                Edit(_FORWARD,
                     "loss = loss_function(labels, model(source, decoder_input)) if loss_function else masked_loss(model(source, decoder_input), labels)"),
            ])],
        ),
        Mutant(
            name="summed_loss",
            says="Your loss is multiplied by the number of rows: the gradients grow "
            "with the batch.",
            asks="Should the size of the batch change the size of a step?",
            ways=[Way(edits=[
                Edit(_FORWARD,
                     "loss = (loss_function or masked_loss)(model(source, decoder_input), labels) * len(source)"),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="cleared_first", edits=[
            Edit(_CLEAR, ""),
            Edit(
                "model.train()",
                """
                model.train()
                optimizer.zero_grad()
                """,
            ),
        ]),
        Accepted(name="everything_by_hand", source="""
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
            """),
        Accepted(name="closure", source="""
            def training_step(model, optimizer, source, target, max_norm=1.0, loss_function=None):
                model.train()
                def closure():
                    optimizer.zero_grad(set_to_none=False)
                    given, labels = shift(target)
                    loss = (loss_function or masked_loss)(model(source, given), labels)
                    loss.backward()
                    torch.nn.utils.clip_grad_norm_(list(model.parameters()), max_norm)
                    return loss
                return optimizer.step(closure).item()
            """),
        Accepted(name="loss_bound_early", edits=[
            Edit("loss_function: Callable[[Tensor, Tensor], Tensor] | None = None",
                 "loss_function=masked_loss"),
            Edit("(loss_function or masked_loss)", "loss_function"),
        ]),
        Accepted(name="model_zero_grad", edits=[Edit(_CLEAR, "model.zero_grad()")]),
        Accepted(name="without_eos_in_input", edits=[
            Edit("(model(source, decoder_input)",
                 "(model(source, decoder_input.masked_fill(decoder_input == EOS, PAD))"),
        ]),
    ],
)
