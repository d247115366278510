"""Cases and mistakes for an exercise: inputs and targets for the next token."""

from __future__ import annotations

import torch

from autograder.authoring.contract import Contract
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification
from transformer_course.encoder_decoder.exercises._inputs import draw_padding_mask


def _draw_sentences(draw: Draw, B: int, L: int, pad_id: int = 0, eos: int = 2, least: int = 10) -> torch.Tensor:
    """Rows (B, L) of BOS (1), words (ids from ``least`` on), EOS and padding."""
    keep = draw_padding_mask(draw, B, L)
    ids = torch.where(keep, least + draw.ids(0, 40, B, L), pad_id)
    ids[:, 0] = 1
    ids[torch.arange(B), keep.sum(1) - 1] = eos
    return ids


_FILL = "following.masked_fill(following == pad_id, ignore)"

CASES = [
    case("default", "padding 0, ignored -100", sizes(ids=_draw_sentences, B=3, L=7),
         "Write one row by hand, as in the picture."),
    case("other_pad", "a different pad_id", sizes(ids=_draw_sentences, B=4, L=6, pad_id=7, eos=8),
         "Is the padding id always 0?"),
    case("other_ignore", "a different ignored target", sizes(ids=_draw_sentences, B=2, L=5, pad_id=3, ignore=-1),
         "Does your code use all three arguments?"),
    case("ignore_zero", "0 as the ignored target", sizes(ids=_draw_sentences, B=3, L=6, pad_id=5, eos=3, ignore=0),
         "0 is a number like any other, even as an argument."),
    case("huge", "ids that float32 cannot hold",
         sizes(ids=_draw_sentences, B=3, L=5, pad_id=4, ignore=-100, least=2**40),
         "Ids stay integers from beginning to end.", hidden_only=True, aspect="limits"),
    case("long", "longer sentences", sizes(ids=_draw_sentences, B=5, L=12, pad_id=4, ignore=-7),
         "Does your code depend on the sizes?", hidden_only=True),
]

MISTAKES = [
    wrong("ignored_after_token_2", "You ignore what comes after token 2, instead of looking for padding.",
          "Which argument says what padding is, and does any argument say what EOS is?",
          edit(_FILL, "following.masked_fill((ids[:, :-1] == 2).cumsum(1) > 0, ignore)")),
    wrong("no_shift", "Inputs and targets are the same tokens: nothing is shifted, so the model would learn to copy.",
          "Which token should the model predict at BOS?",
          edit("ids[:, 1:]", "ids[:, :-1]"),
          edit("ids[:, 1:]", "ids", "ids[:, :-1]", "ids", name="no_shift_full")),
    wrong("wrong_way", "The shift goes the wrong way: the model would predict the *previous* token.",
          "Is the first token ever a target? Is the last one ever an input?",
          edit("ids[:, 1:]  #", "ids[:, :-1]  #", "return ids[:, :-1]", "return ids[:, 1:]")),
    wrong("swapped", "Inputs and targets are returned in the wrong order.",
          "Which of the two does the docstring name first?",
          edit("return ids[:, :-1], following.masked_fill(following == pad_id, ignore)",
               "return following.masked_fill(following == pad_id, ignore), ids[:, :-1]")),
    wrong("inputs_whole", "The inputs are one token too long.",
          "Is there a next token after the last one?",
          edit("return ids[:, :-1]", "return ids")),
    wrong("bos_dropped", "The inputs start after BOS, so the first word is never predicted.",
          "What does the model read before it predicts the first word?",
          edit("return ids[:, :-1]", "return ids[:, 1:-1]",
               _FILL, "following.masked_fill(following == pad_id, ignore)[:, 1:]")),
    wrong("eos_not_learnt", "EOS is not a target, at least in the longest rows, so the model does not learn to stop.",
          "What is the last target of the longest row, and which tokens should be ignored?",
          edit("ids[:, 1:]", "ids[:, 1:-1]", "return ids[:, :-1]", "return ids[:, :-2]"),
          edit("following == pad_id", "(following == pad_id) | (following == 2)", name="eos_ignored")),
    wrong("padding_asked", "Padding is still in your targets, so the model would have to predict it.",
          "Where does `ignore` go, and if you call `masked_fill` or `where`, do you keep the tensor that it returns?",
          edit(_FILL, "following"), tests="Padding"),
    wrong("ignored_by_input", "The first padding after EOS still counts as a target.",
          "Whose padding matters: that of the input, or that of the target?",
          edit("following == pad_id", "ids[:, :-1] == pad_id")),
    wrong("argument_unused",
          "An argument makes no difference: ignored targets are always -100, or token 0 is always padding.",
          "Which argument does your code never use?",
          edit("following == pad_id, ignore)", "following == pad_id, -100)"),
          edit("following == pad_id", "following == 0", name="pad_fixed")),
    wrong("ignore_in_inputs",
          "The inputs contain `ignore` as well, but it is not a token: an embedding has no row -100.",
          "In which of the two tensors is padding replaced?",
          edit("return ids[:, :-1]", "return ids[:, :-1].masked_fill(ids[:, :-1] == pad_id, ignore)")),
    wrong("batch_axis", "The shift runs along the batch, so whole sentences are cut off.",
          "Which dimension holds the positions?",
          edit("ids[:, 1:]", "ids[1:]", "ids[:, :-1]", "ids[:-1]")),
    wrong("rolled", "The targets are rolled, so BOS comes back as the last target.",
          "What does `roll` do with whatever falls off the edge?",
          edit("ids[:, 1:]", "ids.roll(-1, dims=1)", "return ids[:, :-1]", "return ids")),
    wrong("in_place", "Your code changed the given `ids`, and the inputs with them.",
          "A slice is a view. What does an assignment to the view, or a method with a trailing underscore, do to the "
          "original?",
          edit(_FILL, "following.masked_fill_(following == pad_id, ignore)"), tests="modified"),
    wrong("ignore_zero_lost", "With `ignore=0`, the ignored targets are not set to 0.",
          "Is `0` true or false in Python, and what follows for `ignore or -100`?",
          edit("following == pad_id, ignore", "following == pad_id, ignore or -100")),
    wrong("two_steps", "The targets are shifted by two positions.",
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
    results="inputs, targets", parts="targets", precise=False, fixed="L",
    contract=Contract(on=("other_pad",), sizes={"as many sentences as words": {"B": 5, "L": 5}}),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
