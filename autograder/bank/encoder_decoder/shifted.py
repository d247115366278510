"""Inputs and targets for the next token."""

from __future__ import annotations

import torch

from autograder.bank.encoder_decoder._inputs import keep_mask
from autograder.oracle.draw import Draw
from autograder.oracle.promise import OF_TABLES, Promise, special
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


def _sentences(
    batch: int, length: int, *special: int, least: int = 10, eos: int = 2
) -> Maker:
    """Rows of BOS (1), words, EOS and padding; ``special``: pad_id and ignore."""

    def inputs(draw: Draw) -> Inputs:
        pad_id = special[0] if special else 0
        keep = keep_mask(draw, batch, length)
        ids = torch.where(keep, least + draw.ids(0, 40, batch, length), pad_id)
        ids[:, 0] = 1
        ids[torch.arange(batch), keep.sum(1) - 1] = eos
        return {"ids": ids, "special": torch.tensor(special, dtype=torch.int64)}

    return inputs


_FILL = "following.masked_fill(following == pad_id, ignore)"

EXERCISE = Specification(
    name="encoder_decoder/shifted",
    title="Inputs and targets for the next token",
    target="shifted",
    aspects={"targets": 6.0},  # one of two results
    precise=False,
    promise=Promise(
        arguments="ids: B L; pad_id: _; ignore: _",
        results="inputs: B M; targets: B M",
        on=("other_pad",),
        ways=OF_TABLES,
        sizes=special(as_many_sentences_as_words=_sentences(5, 5)),
    ),
    cases=[
        CaseKind(
            name="default",
            title="padding 0, ignored -100",
            inputs=_sentences(3, 7),
            hint="Write one row by hand, as in the picture.",
        ),
        CaseKind(
            name="other_pad",
            title="another pad_id",
            inputs=_sentences(4, 6, 7, eos=8),
            hint="Is the id of padding always 0?",
        ),
        CaseKind(
            name="other_ignore",
            title="another ignored target",
            inputs=_sentences(2, 5, 3, -1),
            hint="Does your code use all three arguments?",
        ),
        CaseKind(
            name="ignore_zero",
            title="0 as the ignored target",
            inputs=_sentences(3, 6, 5, 0, eos=3),
            hint="0 is a number like any other, also as an argument.",
        ),
        CaseKind(
            name="huge",
            title="ids that float32 cannot hold",
            inputs=_sentences(3, 5, 4, -100, least=2**40),
            hint="Ids are whole numbers from beginning to end.",
            hidden_only=True,
        ),
        CaseKind(
            name="long",
            title="longer sentences",
            inputs=_sentences(5, 12, 4, -7),
            hint="Does it depend on the sizes?",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="ignored_after_token_2",
            says="You take token 2 for the end of a sentence, whatever it is.",
            asks="Which argument says what is padding, and which one what is the end?",
            ways=[Way(edits=[
                Edit(_FILL, "following.masked_fill((ids[:, :-1] == 2).cumsum(1) > 0, ignore)"),
            ])],
        ),
        Mutant(
            name="no_shift",
            says="Inputs and targets stand at the same places: the model would learn "
            "to copy.",
            asks="At BOS, which token should be named?",
            ways=[Way(edits=[Edit("ids[:, 1:]", "ids[:, :-1]")])],
        ),
        Mutant(
            name="no_shift_full",
            says="Inputs and targets are the whole rows: nothing is shifted, and the "
            "model would learn to copy.",
            asks="How many pairs (token, next token) are there in a row of L tokens?",
            ways=[Way(edits=[Edit("ids[:, 1:]", "ids"), Edit("ids[:, :-1]", "ids")])],
        ),
        Mutant(
            name="wrong_way",
            says="The shift goes the wrong way: the model would name the *previous* "
            "token.",
            asks="Is the first token ever a target? Is the last one ever an input?",
            ways=[Way(edits=[
                Edit("ids[:, 1:]  #", "ids[:, :-1]  #"),
                Edit("return ids[:, :-1]", "return ids[:, 1:]"),
            ])],
        ),
        Mutant(
            name="swapped",
            says="Inputs and targets are returned in the other order.",
            asks="Which comes first, by the docstring?",
            ways=[Way(edits=[
                Edit("return ids[:, :-1], following.masked_fill(following == pad_id, ignore)",
                     "return following.masked_fill(following == pad_id, ignore), ids[:, :-1]"),
            ])],
        ),
        Mutant(
            name="inputs_whole",
            says="The inputs are one token too long.",
            asks="Is there a next token after the last one?",
            ways=[Way(edits=[Edit("return ids[:, :-1]", "return ids")])],
        ),
        Mutant(
            name="bos_dropped",
            says="The inputs start after BOS, so nothing is asked about the first "
            "word.",
            asks="What does the model read before it names the first word?",
            ways=[Way(edits=[
                Edit("return ids[:, :-1]", "return ids[:, 1:-1]"),
                Edit(_FILL,
                     "following.masked_fill(following == pad_id, ignore)[:, 1:]"),
            ])],
        ),
        Mutant(
            name="eos_dropped",
            says="The last column is missing: in the longest rows the model is never "
            "asked for EOS, so it does not learn to stop.",
            asks="What is the last target of the longest row?",
            ways=[Way(edits=[
                Edit("ids[:, 1:]", "ids[:, 1:-1]"),
                Edit("return ids[:, :-1]", "return ids[:, :-2]"),
            ])],
        ),
        Mutant(
            name="eos_ignored",
            says="EOS is never a target, so the model does not learn to stop.",
            asks="Which tokens are to be ignored: padding, or also EOS?",
            ways=[Way(edits=[
                Edit("following == pad_id", "(following == pad_id) | (following == 2)"),
            ])],
        ),
        Mutant(
            name="padding_asked",
            says="Padding is a target: the model would be asked to name it.",
            asks="What is `ignore` for?",
            ways=[Way(edits=[Edit(_FILL, "following")])],
        ),
        Mutant(
            name="ignored_by_input",
            says="The target is ignored where the *input* is padding. So the first "
            "padding after EOS still counts.",
            asks="Whose padding matters: that of the input, or that of the target?",
            ways=[Way(edits=[Edit("following == pad_id", "ids[:, :-1] == pad_id")])],
        ),
        Mutant(
            name="ignore_fixed",
            says="Targets that do not count are -100, whatever `ignore` says.",
            asks="Which argument does not occur in your code?",
            ways=[Way(edits=[
                Edit("following == pad_id, ignore)", "following == pad_id, -100)"),
            ])],
        ),
        Mutant(
            name="pad_fixed",
            says="You take 0 for padding, whatever `pad_id` says.",
            asks="Which argument does not occur in your code?",
            ways=[Way(edits=[Edit("following == pad_id", "following == 0")])],
        ),
        Mutant(
            name="ignore_in_inputs",
            says="`ignore` stands in the inputs, too. It is no token: an embedding has "
            "no row -100.",
            asks="In which of the two tensors is padding replaced?",
            ways=[Way(edits=[
                Edit("return ids[:, :-1]",
                     "return ids[:, :-1].masked_fill(ids[:, :-1] == pad_id, ignore)"),
            ])],
        ),
        Mutant(
            name="batch_axis",
            says="The shift goes along the batch: whole sentences are cut off.",
            asks="Which dimension holds the positions?",
            ways=[Way(edits=[
                Edit("ids[:, 1:]", "ids[1:]"),
                Edit("ids[:, :-1]", "ids[:-1]"),
            ])],
        ),
        Mutant(
            name="rolled",
            says="The targets are rolled, so BOS comes back as the target of the last "
            "place.",
            asks="What does `roll` do with what falls off the edge?",
            ways=[Way(edits=[
                Edit("ids[:, 1:]", "ids.roll(-1, dims=1)"),
                Edit("return ids[:, :-1]", "return ids"),
            ])],
        ),
        Mutant(
            name="in_place",
            says="The given `ids` were changed, and with them the inputs.",
            asks="A slice is a view. What does an operation with an underscore do to "
            "it?",
            ways=[Way(edits=[
                Edit(_FILL, "following.masked_fill_(following == pad_id, ignore)"),
            ])],
        ),
        Mutant(
            name="ignore_zero_lost",
            says="An ignored target of 0 is taken for none at all.",
            asks="Is `0` true or false in Python, and what follows for `ignore or -100`?",
            ways=[Way(edits=[
                Edit("following == pad_id, ignore", "following == pad_id, ignore or -100"),
            ])],
        ),
        Mutant(
            name="two_steps",
            says="The targets are shifted by two.",
            asks="How far is the next token away?",
            ways=[Way(edits=[
                Edit("ids[:, 1:]", "ids[:, 2:]"),
                Edit("return ids[:, :-1]", "return ids[:, :-2]"),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="where", source="""
            def shifted(ids, pad_id=0, ignore=-100):
                inputs = ids[..., :-1].clone()
                targets = torch.where(ids[..., 1:] == pad_id, ignore, ids[..., 1:])
                return inputs, targets
            """),
        Accepted(name="narrow", source="""
            def shifted(ids, pad_id=0, ignore=-100):
                length = ids.size(1)
                targets = ids.narrow(1, 1, length - 1).clone()
                targets[targets == pad_id] = ignore
                return ids.narrow(1, 0, length - 1), targets
            """),
        Accepted(name="by_rows", source="""
            def shifted(ids, pad_id=0, ignore=-100):
                inputs = [row[:-1] for row in ids.tolist()]
                targets = [[ignore if t == pad_id else t for t in row[1:]] for row in ids.tolist()]
                return torch.tensor(inputs), torch.tensor(targets)
            """),
    ],
)
