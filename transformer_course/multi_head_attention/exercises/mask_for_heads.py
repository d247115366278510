"""A mask for all heads."""

from __future__ import annotations

import torch

from autograder.authoring.contract import Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.inputs import open_mask
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


def _masks(batch: int, h: int, lq: int, lk: int, **shapes: tuple[int, ...]) -> Maker:
    """Masks of the given shapes, named ``two``, ``three`` and ``four`` by their rank."""

    def make_inputs(draw: Draw) -> Inputs:
        names = {"two": "2-D", "three": "3-D", "four": "4-D"}
        inputs: Inputs = {names[name]: open_mask(draw, *shape) for name, shape in shapes.items()}
        while "4-D" in inputs and (inputs["4-D"][:, :1] == inputs["4-D"][:, 1:]).all(-1).any():
            inputs["4-D"] = open_mask(draw, *shapes["four"])  # no head is like the first
        return inputs | {"shape": torch.tensor([batch, h, lq, lk])}

    return make_inputs


def _open_all(draw: Draw) -> Inputs:
    """Masks that mask no position."""
    inputs = _masks(2, 3, 4, 5, two=(4, 5), three=(2, 1, 5))(draw)
    return inputs | {name: torch.ones_like(inputs[name]) for name in ("2-D", "3-D")}


def _close_all(draw: Draw) -> Inputs:
    """Masks that mask every position."""
    inputs = _masks(3, 2, 4, 5, two=(4, 5), three=(3, 1, 5), four=(3, 2, 4, 5))(draw)
    return inputs | {n: ~torch.ones_like(v) for n, v in inputs.items() if n != "shape"}


_THREE = "return mask.unsqueeze(1)"

CASES = [
    case("padding", "a padding mask (B, 1, Lk), and a mask (Lq, Lk)", _masks(2, 3, 4, 5, two=(4, 5), three=(2, 1, 5)),
         "Where does the dimension for the heads belong?"),
    case("full", "a mask (B, Lq, Lk), and one for each head", _masks(2, 4, 5, 3, three=(2, 5, 3), four=(2, 4, 5, 3)),
         "A 4-D mask is already what we want.", undivided=True),
    case("as_many_sentences_as_heads", "as many sentences as heads",
         _masks(3, 3, 4, 5, two=(4, 5), three=(3, 4, 5), four=(3, 1, 1, 5)),
         "Three dimensions always mean sentences, queries, keys."),
    case("one_query", "a single query", _masks(4, 2, 1, 6, two=(1, 6), three=(4, 1, 6), four=(1, 2, 1, 6)),
         "A dimension of size 1 is still a dimension.", hidden_only=True, tests="`B`, `h`"),
]

MISTAKES = [
    wrong("unchanged",
          "The mask comes back unchanged, so the batch of a 3-D mask lines up with the heads.",
          "What shape does a padding mask have after broadcasting adds ones on the left?",
          source("""
              def mask_for_heads(mask):
                  return mask
              """)),
    wrong("two_dimensional_forgotten",
          "A 2-D mask does not get its four dimensions.",
          "What does your function do with a causal mask `(L, L)`?",
          edit("""
              if mask.dim() == 2:
                  mask = mask.unsqueeze(0)  # (1, Lq, Lk)
              """, """
              if mask.dim() == 2:
                  return mask
              """)),
    wrong("one_dimension_only",
          "Every mask gets one extra dimension, after its first. That suits only 3-D masks.",
          "What does your function do with a causal mask `(L, L)`?",
          edit("""
              if mask.dim() == 2:
                  mask = mask.unsqueeze(0)  # (1, Lq, Lk)
              """, "")),
    wrong("two_dimensions_as_padding",
          "A 2-D mask is read as `(B, Lk)`, but in our contract it is `(Lq, Lk)`.",
          "What do the two dimensions of a causal mask mean?",
          edit("""
              if mask.dim() == 2:
                  mask = mask.unsqueeze(0)  # (1, Lq, Lk)
              """, """
              if mask.dim() == 2:
                  mask = mask.unsqueeze(1)
              """)),
    wrong("batch_read_as_heads",
          "A 3-D mask gets its new dimension in front, so its batch is now where the heads belong.",
          "Which dimension is missing from `(B, Lq, Lk)`, and where?",
          edit(_THREE, "return mask.unsqueeze(0)"), tests="equals"),
    wrong("heads_after_queries",
          "The new dimension is between queries and keys.",
          "In `(B, h, Lq, Lk)`, which dimension follows the batch?",
          edit(_THREE, "return mask.unsqueeze(2)")),
    wrong("heads_at_the_end",
          "The new dimension is at the end, after the keys.",
          "In `(B, h, Lq, Lk)`, which dimension follows the batch?",
          edit(_THREE, "return mask.unsqueeze(-1)")),
    wrong("five_dimensions",
          "A 4-D mask gets a fifth dimension.",
          "What should happen to a mask that already has its heads?",
          edit("""
              if mask is None or mask.dim() == 4:
                  return mask
              """, """
              if mask is None:
                  return None
              """)),
    wrong("none_not_treated",
          "`None` means that there is no mask, but your function asks for its dimensions.",
          "What should you return if there is no mask?",
          edit("""
              if mask is None or mask.dim() == 4:
                  return mask
              """, """
              if mask.dim() == 4:
                  return mask
              """), tests="stays `None`"),
    wrong("open_mask_lost",
          "You return `None` for a mask that allows everything, or for one that masks everything.",
          "For which input does the docstring promise `None`?",
          edit("""
              if mask is None or mask.dim() == 4:
                  return mask
              """, """
              if mask is None or mask.all():
                  return None
              if mask.dim() == 4:
                  return mask
              """)),
    wrong("none_gives_a_mask",
          "For `None` you return a tensor, but `None` should stay `None`.",
          "How would you know the shape of a mask that is not there?",
          edit("""
              if mask is None or mask.dim() == 4:
                  return mask
              """, """
              if mask is None:
                  return torch.ones(1, 1, 1, 1).bool()
              if mask.dim() == 4:
                  return mask
              """)),
    wrong("inverted",
          "The mask comes back inverted.",
          "Should this function change what `True` means?",
          edit("""
              if mask is None or mask.dim() == 4:
                  return mask
              """, """
              if mask is None:
                  return mask
              mask = ~mask
              if mask.dim() == 4:
                  return mask
              """)),
    wrong("first_query_only",
          "All queries get the mask of the first one.",
          "Which masks have more than one row?",
          edit(_THREE, "return mask.unsqueeze(1)[:, :, :1]")),
    wrong("first_sentence_only",
          "All sentences get the mask of the first one.",
          "Is there an index `0` or `[:1]` in your code that should not be there?",
          edit(_THREE, "return mask.unsqueeze(1)[:1]")),
    wrong("heads_made_alike",
          "A 4-D mask loses its heads: all of them get the same mask.",
          "What should happen to a mask that already has its heads?",
          edit("""
              if mask is None or mask.dim() == 4:
                  return mask
              """, """
              if mask is None:
                  return mask
              if mask.dim() == 4:
                  return mask[:, :1]
              """)),
    wrong("heads_joined_by_or",
          "A 4-D mask loses its heads: they are combined by `any`.",
          "What should happen to a mask that already has its heads?",
          edit("""
              if mask is None or mask.dim() == 4:
                  return mask
              """, """
              if mask is None:
                  return mask
              if mask.dim() == 4:
                  return mask.any(1, keepdim=True)
              """)),
    wrong("numbers",
          "The mask comes back as floats, but it should stay boolean.",
          "Which `dtype` did the mask have before?",
          edit("""
              if mask is None or mask.dim() == 4:
                  return mask
              """, """
              if mask is None:
                  return mask
              mask = mask.float()
              if mask.dim() == 4:
                  return mask
              """)),
    wrong("in_place",
          "The shape of the caller's own mask has changed.",
          "What does the underscore at the end of `unsqueeze_` mean?",
          source("""
              def mask_for_heads(mask):
                  if mask is not None and mask.dim() == 2:
                      mask.unsqueeze_(0)
                  if mask is not None and mask.dim() == 3:
                      mask.unsqueeze_(1)
                  return mask
              """), tests="modified"),
    wrong("turned",
          "Queries and keys are swapped in the mask.",
          "What are the rows of a mask, and what are its columns?",
          edit(_THREE, "return mask.unsqueeze(1).transpose(-2, -1)")),
]

ACCEPTED = [
    right("while_loop", source("""
        def mask_for_heads(mask):
            if mask is None:
                return None
            while mask.dim() < 4:
                mask = mask.unsqueeze(-3)
            return mask
        """)),
    right("indexing", source("""
        def mask_for_heads(mask):
            if mask is None:
                return None
            if mask.ndim == 2:
                return mask[None, None]
            return mask[:, None] if mask.ndim == 3 else mask
        """)),
    right("reshape_and_copy", source("""
        def mask_for_heads(mask):
            if mask is not None:
                *lead, lq, lk = mask.shape
                if len(lead) == 0:
                    lead = [1, 1]
                elif len(lead) == 1:
                    lead = [lead[0], 1]
                mask = mask.clone().reshape(*lead, lq, lk)
            return mask
        """)),
    right("match_statement", source("""
        def mask_for_heads(mask):
            match getattr(mask, "shape", ()):
                case (lq, lk):
                    return mask.view(1, 1, lq, lk)
                case (b, lq, lk):
                    return mask.view(b, 1, lq, lk)
            return mask
        """)),
]

EXERCISE = Specification(
    aspects={"3-D": 3.0},  # one of three forms
    contract=Contract(
        ways=(),
        sizes=special(
            masks_of_one_sentence=_masks(1, 2, 3, 4, three=(1, 3, 4), four=(1, 2, 1, 4)),
            masks_of_one_query=_masks(2, 3, 1, 4, two=(1, 4), three=(2, 1, 4)),
            masks_that_broadcast=_masks(2, 3, 5, 4, three=(1, 5, 4), four=(1, 3, 1, 4)), masks_that_close_nothing=_open_all,
            masks_that_close_everything=_close_all,
            equal_sizes=_masks(3, 3, 3, 3, two=(3, 3), three=(3, 3, 3), four=(3,) * 4),
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
