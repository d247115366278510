"""Mistakes in how the model is called, and in the loss."""

from __future__ import annotations

from autograder.bank.sequence_reversal._training_step.lines import FORWARD
from autograder.oracle.specification import Edit, Mutant, Way

FORWARDS = [
    Mutant(
        name="whole_target",
        says="The decoder is shown the whole target instead of the shifted input.",
        asks="How many columns should the decoder's input have?",
        ways=[Way(edits=[
            Edit(FORWARD,
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
        name="padding_counts",
        says="Your loss counts padding.",
        asks="Which of your own functions knows how to leave it out?",
        ways=[Way(edits=[
            Edit(FORWARD,
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
        name="none_is_called",
        says="You call `None` where somebody says `loss_function=None`.",
        asks="What does the docstring say that `None` stands for?",
        ways=[Way(edits=[
            Edit("loss_function: Callable[[Tensor, Tensor], Tensor] | None = None",
                 "loss_function=masked_loss"),
            Edit("(loss_function or masked_loss)", "loss_function"),
        ])],
    ),
    Mutant(
        name="loss_of_exchanged",
        says="The labels come first in your call of `loss_function`.",
        asks="In which order does `masked_loss` take its two arguments?",
        ways=[Way(edits=[
            Edit(FORWARD,
                 "loss = loss_function(labels, model(source, decoder_input)) if loss_function else masked_loss(model(source, decoder_input), labels)"),
        ])],
    ),
    Mutant(
        name="loss_of_flat",
        says="Your `loss_function` gets flat rows of logits and labels; it wants "
        "`(B, L - 1, V)` and `(B, L - 1)`.",
        asks="Could a loss function still tell columns apart?",
        ways=[Way(edits=[
            Edit(FORWARD,
                 "loss = (loss_function or (lambda l, w: masked_loss(l[None], w[None])))(model(source, decoder_input).flatten(0, 1), labels.flatten())"),
        ])],
    ),
    Mutant(
        name="summed_loss",
        says="Your loss is multiplied by the number of rows: the gradients grow "
        "with the batch.",
        asks="Should the size of the batch change the size of a step?",
        ways=[Way(edits=[
            Edit(FORWARD,
                 "loss = (loss_function or masked_loss)(model(source, decoder_input), labels) * len(source)"),
        ])],
    ),

    Mutant(
        name="parts_in_eval",
        says="Only the flag of the model itself says training: its parts, a dropout "
        "inside for example, may still be in evaluation mode.",
        asks="What does `model.train()` do with the parts of a model?",
        ways=[
            Way(edits=[Edit("model.train()", "model.training = True")]),
            Way(name="asked_before", edits=[
                Edit(
                    "model.train()",
                    """
                    if not model.training:
                        model.train()
                    """,
                ),
            ]),
        ],
    ),
]
