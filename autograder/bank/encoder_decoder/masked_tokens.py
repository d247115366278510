"""Inputs and targets for hidden tokens."""

from __future__ import annotations

import torch

from autograder.bank.encoder_decoder._inputs import keep_mask
from autograder.oracle.draw import Draw
from autograder.oracle.promise import OF_TABLES, Promise
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


def _hidden(
    batch: int, length: int, *special: int, least: int = 30, nothing: bool = False,
    turned: bool = False,
) -> Maker:  # fmt: skip
    """``special``: mask_id, then pad_id and ignore if they are given.

    Among the chosen tokens are one that is the mask token itself, one below padding, and
    one with the id 0, unless that is padding; with ``nothing``, none is chosen. Padding
    stands at the end; ``turned``: at the beginning.
    """

    def inputs(draw: Draw) -> Inputs:
        pad_id = special[1] if len(special) > 1 else 0
        keep = keep_mask(draw, batch, length)
        ids = torch.where(keep, least + draw.ids(0, 40, batch, length), pad_id)
        chosen = draw.flags(batch, length, chance=0.4)
        # Each of the four kinds of places occurs, whatever is drawn.
        chosen[:, 0] = torch.arange(batch) % 2 == 0
        if batch > 2:  # one sentence of several is left as it is
            chosen[1] = False
        chosen[:, -1] |= ~keep[:, -1]
        if int((chosen & keep).sum()) < 3:  # which is rare, and has been drawn
            chosen[::2] |= keep[::2]
        first, second, *_, last = (chosen & keep).nonzero().tolist()
        ids[tuple(first)] = special[0]
        ids[tuple(second)] = 0 if pad_id else 1
        ids[tuple(last)] = pad_id - 1 if pad_id else 1
        chosen &= not nothing
        if turned:
            ids, chosen = ids.flip(-1), chosen.flip(-1)
        return {"ids": ids, "chosen": chosen, "special": torch.tensor(special)}

    return inputs


EXERCISE = Specification(
    name="encoder_decoder/masked_tokens",
    title="Inputs and targets for hidden tokens",
    target="masked_tokens",
    aspects={"targets": 6.0},  # one of two results
    precise=False,
    promise=Promise(
        arguments="ids: B L; chosen: B L; mask_id: _; pad_id: _; ignore: _",
        results="inputs: B L; targets: B L",
        on=("other_pad",),
        ways=OF_TABLES,
    ),
    cases=[
        CaseKind(
            name="default",
            title="padding 0, ignored -100",
            inputs=_hidden(3, 6, 4),
            hint="Three kinds of places: chosen and real, real only, padding.",
        ),
        CaseKind(
            name="other_pad",
            title="another pad_id",
            inputs=_hidden(4, 5, 4, 7),
            hint="Is the id of padding always 0?",
        ),
        CaseKind(
            name="other_ignore",
            title="another ignored target, and padding at the beginning",
            inputs=_hidden(2, 7, 9, 3, -1, turned=True),
            hint="Does your code use all five arguments?",
        ),
        CaseKind(
            name="ignore_zero",
            title="0 as the ignored target",
            inputs=_hidden(3, 5, 8, 2, 0),
            hint="0 is a number like any other, also as an argument.",
        ),
        CaseKind(
            name="nothing_chosen",
            title="nothing is chosen",
            inputs=_hidden(2, 4, 7, 3, nothing=True),
            hint="Somebody has drawn, and nothing was hit: then nothing is hidden.",
            hidden_only=True,
            open=True,
        ),
        CaseKind(
            name="huge",
            title="ids that float32 cannot hold",
            inputs=_hidden(3, 4, 6, 2, -100, least=2**40),
            hint="Ids are whole numbers from beginning to end.",
            hidden_only=True,
        ),
        CaseKind(
            name="long",
            title="longer sentences",
            inputs=_hidden(5, 11, 8, 1, -7),
            hint="Does it depend on the sizes?",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="id_0_lost",
            says="A hidden token with the id 0 is not asked for: you take the product 0 "
            "for a place that is not hidden.",
            asks="Is 0 always padding? What else could tell hidden places from others?",
            ways=[Way(edits=[
                Edit("ids.masked_fill(~hidden, ignore)",
                     "(ids * hidden).masked_fill(ids * hidden == 0, ignore)"),
            ])],
        ),
        Mutant(
            name="padding_by_length",
            says="You count the real tokens and take the last places for padding, "
            "wherever it stands.",
            asks="What tells padding from other tokens: its place, or its id?",
            ways=[Way(edits=[
                Edit("chosen & (ids != pad_id)",
                     "chosen & (torch.arange(ids.size(1)) < (ids != pad_id).sum(1, keepdim=True))"),
            ])],
        ),
        Mutant(
            name="padding_hidden",
            says="Padding is hidden and asked for where `chosen` falls on it.",
            asks="When is a token really hidden? There are two conditions.",
            ways=[Way(edits=[Edit("chosen & (ids != pad_id)", "chosen")])],
        ),
        Mutant(
            name="padding_asked",
            says="Padding is not hidden, but it is asked for.",
            asks="Do inputs and targets use the same condition?",
            ways=[Way(edits=[
                Edit("ids.masked_fill(~hidden, ignore)",
                     "ids.masked_fill(~chosen, ignore)"),
            ])],
        ),
        Mutant(
            name="padding_replaced",
            says="Padding is not asked for, but it is replaced by the mask token.",
            asks="Do inputs and targets use the same condition?",
            ways=[Way(edits=[
                Edit("ids.masked_fill(hidden, mask_id)",
                     "ids.masked_fill(chosen, mask_id)"),
            ])],
        ),
        Mutant(
            name="all_targets",
            says="Every place is asked for, also where the answer stands in the input.",
            asks="Which places should count in the loss?",
            ways=[Way(edits=[Edit("ids.masked_fill(~hidden, ignore)", "ids")])],
        ),
        Mutant(
            name="all_but_padding",
            says="All real tokens are asked for, also where the answer stands in the "
            "input.",
            asks="Which places should count in the loss?",
            ways=[Way(edits=[
                Edit("ids.masked_fill(~hidden, ignore)",
                     "ids.masked_fill(ids == pad_id, ignore)"),
            ])],
        ),
        Mutant(
            name="targets_inverted",
            says="The targets ask for exactly the tokens that were *not* hidden.",
            asks="Does `masked_fill` fill where its mask is True, or where it is "
            "False?",
            ways=[Way(edits=[Edit("~hidden", "hidden")])],
        ),
        Mutant(
            name="inputs_inverted",
            says="The inputs hide exactly the tokens that were not chosen.",
            asks="Does `masked_fill` fill where its mask is True, or where it is "
            "False?",
            ways=[Way(edits=[
                Edit("ids.masked_fill(hidden, mask_id)",
                     "ids.masked_fill(~hidden, mask_id)"),
            ])],
        ),
        Mutant(
            name="inputs_not_hidden",
            says="Nothing is hidden: the inputs are the ids, so the model can copy.",
            asks="What stands in the inputs where a token is asked for?",
            ways=[Way(edits=[Edit("ids.masked_fill(hidden, mask_id)", "ids")])],
        ),
        Mutant(
            name="targets_of_inputs",
            says="The targets ask for the mask token itself, not for what it hides.",
            asks="From which tensor do you take the targets?",
            ways=[Way(edits=[
                Edit(
                    "return ids.masked_fill(hidden, mask_id), ids.masked_fill(~hidden, ignore)",
                    """
                    inputs = ids.masked_fill(hidden, mask_id)
                    return inputs, inputs.masked_fill(~hidden, ignore)
                    """,
                ),
            ])],
        ),
        Mutant(
            name="ignore_is_pad",
            says="Places that do not count get the padding id as their target; "
            "`ignore` was asked for.",
            asks="Which target does `F.cross_entropy` leave out by default?",
            ways=[Way(edits=[
                Edit("ids.masked_fill(~hidden, ignore)",
                     "ids.masked_fill(~hidden, pad_id)"),
            ])],
        ),
        Mutant(
            name="ignore_fixed",
            says="Targets that do not count are -100, whatever `ignore` says.",
            asks="Which argument does not occur in your code?",
            ways=[Way(edits=[
                Edit("ids.masked_fill(~hidden, ignore)",
                     "ids.masked_fill(~hidden, -100)"),
            ])],
        ),
        Mutant(
            name="pad_fixed",
            says="You take 0 for padding, whatever `pad_id` says.",
            asks="Which argument does not occur in your code?",
            ways=[Way(edits=[Edit("(ids != pad_id)", "(ids != 0)")])],
        ),
        Mutant(
            name="swapped",
            says="Inputs and targets are returned in the other order.",
            asks="Which comes first, by the docstring?",
            ways=[Way(edits=[
                Edit("return ids.masked_fill(hidden, mask_id), ids.masked_fill(~hidden, ignore)",
                     "return ids.masked_fill(~hidden, ignore), ids.masked_fill(hidden, mask_id)"),
            ])],
        ),
        Mutant(
            name="in_place",
            says="`ids` are not what they were before, and the targets have lost the "
            "hidden tokens.",
            asks="Which operation ends with an underscore? What do your targets read?",
            ways=[Way(edits=[
                Edit("ids.masked_fill(hidden, mask_id)",
                     "ids.masked_fill_(hidden, mask_id)"),
            ])],
        ),
        Mutant(
            name="in_place_late",
            says="The results are right, but the given `ids` were changed.",
            asks="Did you work on a copy?",
            ways=[Way(edits=[
                Edit(
                    "return ids.masked_fill(hidden, mask_id), ids.masked_fill(~hidden, ignore)",
                    """
                    targets = ids.masked_fill(~hidden, ignore)
                    ids[hidden] = mask_id
                    return ids, targets
                    """,
                ),
            ])],
        ),
        Mutant(
            name="only_targets_asked",
            says="The targets are a list of the hidden tokens only; they must have the "
            "shape of the ids.",
            asks="How would the loss know to which place a target belongs?",
            ways=[Way(edits=[Edit("ids.masked_fill(~hidden, ignore)", "ids[hidden]")])],
        ),
        Mutant(
            name="ignore_zero_lost",
            says="An ignored target of 0 is taken for none at all.",
            asks="Is `0` true or false in Python, and what follows for `ignore or -100`?",
            ways=[Way(edits=[
                Edit("ids.masked_fill(~hidden, ignore)",
                     "ids.masked_fill(~hidden, ignore or -100)"),
            ])],
        ),
        Mutant(
            name="mask_token_not_asked",
            says="A chosen token that is the mask token already is not asked for.",
            asks="Does `chosen` leave anything but padding out?",
            ways=[
                Way(edits=[Edit("(ids != pad_id)", "(ids != pad_id) & (ids != mask_id)")]),
                Way(name="asked_by_the_inputs", edits=[
                    Edit("ids.masked_fill(~hidden, ignore)",
                         "torch.where(ids.masked_fill(hidden, mask_id) != ids, ids, ignore)"),
                ]),
            ],
        ),
        Mutant(
            name="below_padding_too",
            says="Tokens with ids below `pad_id` are treated like padding.",
            asks="Which ids are padding?",
            ways=[Way(edits=[Edit("ids != pad_id", "ids > pad_id")])],
        ),
        Mutant(
            name="always_something",
            says="Where nothing is chosen, you hide something all the same.",
            asks="Who decides what is hidden?",
            ways=[Way(edits=[
                Edit("hidden = chosen & (ids != pad_id)", """
                    hidden = chosen & (ids != pad_id)
                    if not hidden.any():
                        hidden[:, 0] = True
                    """),
            ])],
        ),
        Mutant(
            name="floats",
            says="The results are floating-point numbers; ids are whole numbers.",
            asks="Which operation turned them into floats?",
            ways=[Way(edits=[
                Edit("ids.masked_fill(hidden, mask_id), ids.masked_fill(~hidden, ignore)",
                     "ids.float().masked_fill(hidden, mask_id), ids.float().masked_fill(~hidden, ignore)"),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="where", source="""
            def masked_tokens(ids, chosen, mask_id, pad_id=0, ignore=-100):
                real = ids.ne(pad_id)
                hide = torch.logical_and(chosen, real)
                return torch.where(hide, mask_id, ids), torch.where(hide, ids, ignore)
            """),
        Accepted(name="index", source="""
            def masked_tokens(ids, chosen, mask_id, pad_id=0, ignore=-100):
                hide = chosen & ~(ids == pad_id)
                inputs = ids.clone()
                inputs[hide] = mask_id
                targets = torch.full_like(ids, ignore)
                targets[hide] = ids[hide]
                return inputs, targets
            """),
        Accepted(name="loops", source="""
            def masked_tokens(ids, chosen, mask_id, pad_id=0, ignore=-100):
                inputs, targets = ids.clone(), ids.clone()
                for b in range(ids.shape[0]):
                    for i in range(ids.shape[1]):
                        if chosen[b, i] and ids[b, i] != pad_id:
                            inputs[b, i] = mask_id
                        else:
                            targets[b, i] = ignore
                return inputs, targets
            """),
    ],
)
