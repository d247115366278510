"""Inputs and targets for masked tokens."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.contract import OF_TABLES, Contract
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from autograder.units.encoder_decoder.exercises._inputs import keep_mask


def _masked(
    batch: int, length: int, *special: int, least: int = 30, nothing: bool = False,
    turned: bool = False,
) -> Maker:  # fmt: skip
    """``special``: mask_id, then pad_id and ignore if they are given.

    Among the chosen tokens are one that is the mask token itself, one below padding, and
    one with the id 0, unless that is padding; with ``nothing``, none is chosen. Padding
    is at the end or, if ``turned``, at the beginning.
    """

    def inputs(draw: Draw) -> Inputs:
        pad_id = special[1] if len(special) > 1 else 0
        keep = keep_mask(draw, batch, length)
        ids = torch.where(keep, least + draw.ids(0, 40, batch, length), pad_id)
        chosen = draw.flags(batch, length, chance=0.4)
        # Each of the four kinds of positions occurs in every draw.
        chosen[:, 0] = torch.arange(batch) % 2 == 0
        if batch > 2:  # one of several sentences has nothing to mask
            chosen[1] = False
        chosen[:, -1] |= ~keep[:, -1]
        if int((chosen & keep).sum()) < 3:  # rare, but some draws do this
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


CASES = [
    case("default", "padding 0, ignored -100", _masked(3, 6, 4),
         "There are three kinds of positions: chosen and real, real but not chosen, and padding."),
    case("other_pad", "a different pad_id", _masked(4, 5, 4, 7),
         "Is the padding id always 0?"),
    case("other_ignore", "a different ignored target, and padding at the beginning", _masked(2, 7, 9, 3, -1, turned=True),
         "Does your code use all five arguments?"),
    case("ignore_zero", "0 as the ignored target", _masked(3, 5, 8, 2, 0),
         "0 is a number like any other, even as an argument."),
    case("nothing_chosen", "nothing is chosen", _masked(2, 4, 7, 3, nothing=True),
         "If no token is chosen, no token is masked.", hidden_only=True, open=True),
    case("huge", "ids that float32 cannot hold", _masked(3, 4, 6, 2, -100, least=2**40),
         "Ids stay integers from beginning to end.", hidden_only=True),
    case("long", "longer sentences", _masked(5, 11, 8, 1, -7),
         "Does your code depend on the sizes?", hidden_only=True),
]

MISTAKES = [
    wrong("id_0_lost",
          'A masked token with id 0 gets no target: your code takes a 0 to mean "not masked".',
          "Is 0 always padding? What else tells masked positions from the others?",
          edit("ids.masked_fill(~masked, ignore)", "(ids * masked).masked_fill(ids * masked == 0, ignore)")),
    wrong("padding_by_length",
          "You count the real tokens and treat the last positions as padding, wherever the padding is.",
          "What tells padding from other tokens: its position, or its id?",
          edit("chosen & (ids != pad_id)",
               "chosen & (torch.arange(ids.size(1)) < (ids != pad_id).sum(1, keepdim=True))")),
    wrong("padding_masked",
          "Wherever `chosen` includes padding, the padding is masked and becomes a target.",
          "When is a token really masked? There are two conditions.",
          edit("chosen & (ids != pad_id)", "chosen")),
    wrong("padding_asked",
          "Padding is not masked, but it is a target.",
          "Do inputs and targets use the same condition?",
          edit("ids.masked_fill(~masked, ignore)", "ids.masked_fill(~chosen, ignore)")),
    wrong("padding_replaced",
          "Padding is not a target, but it is replaced by the mask token.",
          "Do inputs and targets use the same condition?",
          edit("ids.masked_fill(masked, mask_id)", "ids.masked_fill(chosen, mask_id)")),
    wrong("all_targets",
          "Every position is a target, even where the input shows the answer.",
          "Which positions should count in the loss?",
          edit("ids.masked_fill(~masked, ignore)", "ids")),
    wrong("all_but_padding",
          "All real tokens are targets, even where the input shows the answer.",
          "Which positions should count in the loss?",
          edit("ids.masked_fill(~masked, ignore)", "ids.masked_fill(ids == pad_id, ignore)")),
    wrong("targets_inverted",
          "The targets are exactly the tokens that were *not* masked.",
          "At which positions can the model read the answer off its input?",
          edit("~masked", "masked")),
    wrong("inputs_inverted",
          "The inputs mask exactly the tokens that were not chosen.",
          "What should the input show at a position that is not chosen?",
          edit("ids.masked_fill(masked, mask_id)", "ids.masked_fill(~masked, mask_id)")),
    wrong("inputs_not_masked",
          "Nothing is masked: the inputs are the original ids, so the model can copy.",
          "What should the input show where a token is to be predicted?",
          edit("ids.masked_fill(masked, mask_id)", "ids")),
    wrong("targets_of_inputs",
          "The targets are the mask token itself, not the tokens that it replaces.",
          "From which tensor do you take the targets?",
          edit("return ids.masked_fill(masked, mask_id), ids.masked_fill(~masked, ignore)", """
              inputs = ids.masked_fill(masked, mask_id)
              return inputs, inputs.masked_fill(~masked, ignore)
              """)),
    wrong("ignore_is_pad",
          "Positions that do not count get the padding id as their target instead of `ignore`.",
          "Which target does `F.cross_entropy` ignore by default?",
          edit("ids.masked_fill(~masked, ignore)", "ids.masked_fill(~masked, pad_id)")),
    common("ignore_fixed", edit("ids.masked_fill(~masked, ignore)", "ids.masked_fill(~masked, -100)")),
    common("pad_fixed", edit("(ids != pad_id)", "(ids != 0)")),
    wrong("swapped",
          "Inputs and targets are returned in the wrong order.",
          "Which of the two does the docstring name first?",
          edit("return ids.masked_fill(masked, mask_id), ids.masked_fill(~masked, ignore)",
               "return ids.masked_fill(~masked, ignore), ids.masked_fill(masked, mask_id)")),
    wrong("in_place",
          "Your code changes `ids` in place, so the targets lose the masked tokens.",
          "Which operation ends with an underscore, and which tensor do your targets read?",
          edit("ids.masked_fill(masked, mask_id)", "ids.masked_fill_(masked, mask_id)")),
    wrong("in_place_late",
          "Your code changed the given `ids`.",
          "Did you work on a copy?",
          edit("return ids.masked_fill(masked, mask_id), ids.masked_fill(~masked, ignore)", """
              targets = ids.masked_fill(~masked, ignore)
              ids[masked] = mask_id
              return ids, targets
              """)),
    wrong("only_targets_asked",
          "The targets hold only the masked tokens; they must have the shape of the ids.",
          "How would the loss know which position each target belongs to?",
          edit("ids.masked_fill(~masked, ignore)", "ids[masked]")),
    common("ignore_zero_lost", edit("ids.masked_fill(~masked, ignore)", "ids.masked_fill(~masked, ignore or -100)")),
    wrong("mask_token_not_asked",
          "A chosen token that is already the mask token gets no target.",
          "Which chosen tokens are exempt, according to the text?",
          edit("(ids != pad_id)", "(ids != pad_id) & (ids != mask_id)")),
    wrong("below_padding_too",
          "Tokens with ids below `pad_id` are treated as padding.",
          "Which ids are padding?",
          edit("ids != pad_id", "ids > pad_id")),
    wrong("always_something",
          "If nothing is chosen, your code still masks something.",
          "What decides which tokens are masked?",
          edit("masked = chosen & (ids != pad_id)", """
              masked = chosen & (ids != pad_id)
              if not masked.any():
                  masked[:, 0] = True
              """)),
    wrong("floats",
          "The results are floating-point numbers; ids are integers.",
          "Which operation turned them into floats?",
          edit("ids.masked_fill(masked, mask_id), ids.masked_fill(~masked, ignore)",
               "ids.float().masked_fill(masked, mask_id), ids.float().masked_fill(~masked, ignore)")),
]

ACCEPTED = [
    right("where", source("""
        def masked_tokens(ids, chosen, mask_id, pad_id=0, ignore=-100):
            real = ids.ne(pad_id)
            hide = torch.logical_and(chosen, real)
            return torch.where(hide, mask_id, ids), torch.where(hide, ids, ignore)
        """)),
    right("index", source("""
        def masked_tokens(ids, chosen, mask_id, pad_id=0, ignore=-100):
            hide = chosen & ~(ids == pad_id)
            inputs = ids.clone()
            inputs[hide] = mask_id
            targets = torch.full_like(ids, ignore)
            targets[hide] = ids[hide]
            return inputs, targets
        """)),
    right("loops", source("""
        def masked_tokens(ids, chosen, mask_id, pad_id=0, ignore=-100):
            inputs, targets = ids.clone(), ids.clone()
            for b in range(ids.shape[0]):
                for i in range(ids.shape[1]):
                    if chosen[b, i] and ids[b, i] != pad_id:
                        inputs[b, i] = mask_id
                    else:
                        targets[b, i] = ignore
            return inputs, targets
        """)),
]

EXERCISE = Specification(
    name="encoder_decoder/masked_tokens", title="Inputs and targets for masked tokens", target="masked_tokens",
    aspects={"targets": 6.0},  # one of two results
    precise=False,
    contract=Contract(
        arguments="ids: B L; chosen: B L; mask_id: _; pad_id: _; ignore: _", results="inputs: B L; targets: B L",
        on=("other_pad",), ways=OF_TABLES,
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
