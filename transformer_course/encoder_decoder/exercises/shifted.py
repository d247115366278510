"""Inputs and targets for the next token."""

from __future__ import annotations

import torch

from autograder.authoring.contract import OF_TABLES, Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.encoder_decoder.exercises._inputs import keep_mask


def _sentences(batch: int, length: int, *special: int, least: int = 10, eos: int = 2) -> Maker:
    """Rows of BOS (1), words, EOS and padding; ``special``: pad_id and ignore."""

    def make_inputs(draw: Draw) -> Inputs:
        pad_id = special[0] if special else 0
        keep = keep_mask(draw, batch, length)
        ids = torch.where(keep, least + draw.ids(0, 40, batch, length), pad_id)
        ids[:, 0] = 1
        ids[torch.arange(batch), keep.sum(1) - 1] = eos
        return {"ids": ids, "special": torch.tensor(special, dtype=torch.int64)}

    return make_inputs


_FILL = "following.masked_fill(following == pad_id, ignore)"

CASES = [
    case("default", "padding 0, ignored -100", _sentences(3, 7),
         "Write one row by hand, as in the picture."),
    case("other_pad", "a different pad_id", _sentences(4, 6, 7, eos=8),
         "Is the padding id always 0?"),
    case("other_ignore", "a different ignored target", _sentences(2, 5, 3, -1),
         "Does your code use all three arguments?"),
    case("ignore_zero", "0 as the ignored target", _sentences(3, 6, 5, 0, eos=3),
         "0 is a number like any other, even as an argument."),
    case("huge", "ids that float32 cannot hold", _sentences(3, 5, 4, -100, least=2**40),
         "Ids stay integers from beginning to end.", hidden_only=True),
    case("long", "longer sentences", _sentences(5, 12, 4, -7),
         "Does your code depend on the sizes?", hidden_only=True),
]

MISTAKES = [
    wrong("ignored_after_token_2",
          "You ignore what comes after token 2, instead of looking for padding.",
          "Which argument says what padding is, and does any argument say what EOS is?",
          edit(_FILL, "following.masked_fill((ids[:, :-1] == 2).cumsum(1) > 0, ignore)")),
    wrong("no_shift",
          "Inputs and targets are the same tokens, so the model would learn to copy.",
          "Which token should the model predict at BOS?",
          edit("ids[:, 1:]", "ids[:, :-1]")),
    wrong("no_shift_full",
          "Inputs and targets are the whole rows: nothing is shifted, so the model would learn to copy.",
          "How many pairs (token, next token) are there in a row of L tokens?",
          edit("ids[:, 1:]", "ids", "ids[:, :-1]", "ids")),
    wrong("wrong_way",
          "The shift goes the wrong way: the model would predict the *previous* token.",
          "Is the first token ever a target? Is the last one ever an input?",
          edit("ids[:, 1:]  #", "ids[:, :-1]  #", "return ids[:, :-1]", "return ids[:, 1:]")),
    wrong("swapped",
          "Inputs and targets are returned in the wrong order.",
          "Which of the two does the docstring name first?",
          edit("return ids[:, :-1], following.masked_fill(following == pad_id, ignore)",
               "return following.masked_fill(following == pad_id, ignore), ids[:, :-1]")),
    wrong("inputs_whole",
          "The inputs are one token too long.",
          "Is there a next token after the last one?",
          edit("return ids[:, :-1]", "return ids")),
    wrong("bos_dropped",
          "The inputs start after BOS, so the first word is never predicted.",
          "What does the model read before it predicts the first word?",
          edit("return ids[:, :-1]", "return ids[:, 1:-1]",
               _FILL, "following.masked_fill(following == pad_id, ignore)[:, 1:]")),
    wrong("eos_dropped",
          "The last column is missing: in the longest rows EOS is never a target, so the model does not learn to stop.",
          "What is the last target of the longest row?",
          edit("ids[:, 1:]", "ids[:, 1:-1]", "return ids[:, :-1]", "return ids[:, :-2]")),
    wrong("eos_ignored",
          "EOS is never a target, so the model does not learn to stop.",
          "Which tokens should be ignored: padding only, or EOS as well?",
          edit("following == pad_id", "(following == pad_id) | (following == 2)")),
    wrong("padding_asked",
          "Padding is a target: the model would have to predict it.",
          "What is `ignore` for?",
          edit(_FILL, "following"), tests="Padding"),
    wrong("ignored_by_input",
          "The first padding after EOS still counts as a target.",
          "Whose padding matters: that of the input, or that of the target?",
          edit("following == pad_id", "ids[:, :-1] == pad_id")),
    wrong("ignore_fixed",
          "Ignored targets are always -100, whatever `ignore` says.",
          "Which argument does your code never use?",
          edit("following == pad_id, ignore)", "following == pad_id, -100)")),
    wrong("pad_fixed",
          "Token 0 is treated as padding, whatever `pad_id` says.",
          "Which argument does your code never use?",
          edit("following == pad_id", "following == 0")),
    wrong("ignore_in_inputs",
          "The inputs contain `ignore` as well, but it is not a token: an embedding has no row -100.",
          "In which of the two tensors is padding replaced?",
          edit("return ids[:, :-1]", "return ids[:, :-1].masked_fill(ids[:, :-1] == pad_id, ignore)")),
    wrong("batch_axis",
          "The shift runs along the batch, so whole sentences are cut off.",
          "Which dimension holds the positions?",
          edit("ids[:, 1:]", "ids[1:]", "ids[:, :-1]", "ids[:-1]")),
    wrong("rolled",
          "The targets are rolled, so BOS comes back as the last target.",
          "What does `roll` do with whatever falls off the edge?",
          edit("ids[:, 1:]", "ids.roll(-1, dims=1)", "return ids[:, :-1]", "return ids")),
    wrong("in_place",
          "Your code changed the given `ids`, and the inputs with them.",
          "A slice is a view. What does an assignment to the view, or a method with a trailing underscore, do to the "
          "original?",
          edit(_FILL, "following.masked_fill_(following == pad_id, ignore)"), tests="modified"),
    wrong("ignore_zero_lost",
          "With `ignore=0`, the ignored targets are not set to 0.",
          "Is `0` true or false in Python, and what follows for `ignore or -100`?",
          edit("following == pad_id, ignore", "following == pad_id, ignore or -100")),
    wrong("two_steps",
          "The targets are shifted by two positions.",
          "How far away is the next token?",
          edit("ids[:, 1:]", "ids[:, 2:]", "return ids[:, :-1]", "return ids[:, :-2]")),
]

ACCEPTED = [
    right("where", source("""
        def shifted(ids, pad_id=0, ignore=-100):
            inputs = ids[..., :-1].clone()
            targets = torch.where(ids[..., 1:] == pad_id, ignore, ids[..., 1:])
            return inputs, targets
        """)),
    right("narrow", source("""
        def shifted(ids, pad_id=0, ignore=-100):
            length = ids.size(1)
            targets = ids.narrow(1, 1, length - 1).clone()
            targets[targets == pad_id] = ignore
            return ids.narrow(1, 0, length - 1), targets
        """)),
    right("by_rows", source("""
        def shifted(ids, pad_id=0, ignore=-100):
            inputs = [row[:-1] for row in ids.tolist()]
            targets = [[ignore if t == pad_id else t for t in row[1:]] for row in ids.tolist()]
            return torch.tensor(inputs), torch.tensor(targets)
        """)),
]

EXERCISE = Specification(
    aspects={"targets": 6.0},  # one of two results
    precise=False,
    contract=Contract(
        arguments="ids: B L; pad_id: _; ignore: _", results="inputs: B M; targets: B M", on=("other_pad",),
        ways=OF_TABLES, sizes=special(as_many_sentences_as_words=_sentences(5, 5)),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
