"""Cases and mistakes for an exercise: make a mask broadcast over the heads."""

from __future__ import annotations

import torch

from autograder.authoring.contract import Contract
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification, Variant

_IF = "if mask is None or mask.dim() == 4:"
_TWO = "mask = mask.unsqueeze(0)"
_THREE = "return mask.unsqueeze(1)"

CASES = [
    case("padding", "a padding mask (B, 1, Lk)", sizes(B=2, h=3, Lq=4, Lk=5, mask="B 1 Lk"),
         "Where does the dimension for the heads belong?"),
    case("flat", "a mask (Lq, Lk)", sizes(Lq=4, Lk=5, mask="Lq Lk"),
         "A 2-D mask lacks two dimensions, the batch and the heads."),
    case("full", "a mask (B, Lq, Lk)", sizes(B=2, Lq=5, Lk=3, mask="B Lq Lk"),
         "Three dimensions always mean sentences, queries, keys."),
    # Its answer is the argument itself, so that it counts only together with a different case.
    case("one_per_head", "a mask for each head", sizes(B=2, h=4, Lq=5, Lk=3, mask="B h Lq Lk"),
         "A 4-D mask is already what we want.", open=True),
    case("one_query", "a single query", sizes(B=4, Lk=6, mask="B 1 Lk"),
         "A dimension of size 1 is still a dimension.", hidden_only=True, tests="`B`, `h`"),
    case("no_mask", "no mask at all", sizes(mask=None),
         "What should you return if there is no mask?", aspect="calls", open=True),
]


def _three_dimensional(place: str, name: str) -> Variant:
    """Return a variant of the solution that gives a 3-D mask its new dimension at the wrong index.

    The code ``place`` is that index; other masks are treated correctly.
    """
    return edit(_IF, f"if mask is not None and mask.dim() == 3:\n    return mask.unsqueeze({place})\n{_IF}", name=name)


MISTAKES = [
    wrong("unchanged", "The mask comes back unchanged, so the batch of a 3-D mask lines up with the heads.",
          "What shape does a padding mask have after broadcasting adds ones on the left?",
          source("""
              def mask_for_heads(mask):
                  return mask
              """)),
    wrong("two_dimensional_forgotten", "A 2-D mask does not get its four dimensions.",
          "What does your function do with a causal mask `(L, L)`?",
          edit(_TWO, "return mask"),
          edit(_TWO, "pass", name="one_dimension_only")),
    wrong("two_dimensions_as_padding", "A 2-D mask is read as `(B, Lk)`, but in our contract it is `(Lq, Lk)`.",
          "What do the two dimensions of a causal mask mean?",
          edit(_TWO, "mask = mask.unsqueeze(1)")),
    wrong("batch_read_as_heads",
          "A 3-D mask gets its new dimension in front, so its batch is now where the heads belong.",
          "Which dimension is missing from `(B, Lq, Lk)`, and where?",
          edit(_THREE, "return mask.unsqueeze(0)"),
          _three_dimensional("0", "only_three_read_as_heads"), tests="equals"),
    wrong("heads_after_queries", "In a 3-D mask, the new dimension comes after the queries or the keys.",
          "In `(B, h, Lq, Lk)`, which dimension follows the batch?",
          edit(_THREE, "return mask.unsqueeze(2)"),
          _three_dimensional("2", "only_three_after_queries"),
          _three_dimensional("-1", "only_three_at_the_end"),
          edit(_THREE, "return mask.unsqueeze(-1)", name="heads_at_the_end")),
    wrong("five_dimensions", "A 4-D mask gets a fifth dimension.",
          "What should happen to a mask that already has its heads?",
          edit(" or mask.dim() == 4", "")),
    wrong("heads_lost", "A 4-D mask loses its heads: all of them get the same mask.",
          "What should happen to a mask that already has its heads?",
          edit(_IF, f"if mask is not None and mask.dim() == 4:\n    return mask[:, :1]\n{_IF}"),
          edit(_IF, f"if mask is not None and mask.dim() == 4:\n    return mask.any(1, keepdim=True)\n{_IF}",
               name="heads_joined_by_or")),
    wrong("none_not_treated", "`None` means that there is no mask, but your function asks for its dimensions.",
          "What should you return if there is no mask?",
          edit("mask is None or ", ""), tests="stays `None`"),
    wrong("none_gives_a_mask", "For `None` you return a tensor, but `None` should stay `None`.",
          "How would you know the shape of a mask that is not there?",
          edit(_IF, f"if mask is None:\n    return torch.ones(1, 1, 1, 1).bool()\n{_IF}")),
    wrong("open_mask_lost", "You return `None` for a mask that allows everything, or for one that masks everything.",
          "For which input does the docstring promise `None`?",
          edit(_IF, f"if mask is not None and mask.all():\n    return None\n{_IF}")),
    wrong("inverted", "The mask comes back inverted.",
          "Should this function change what `True` means?",
          edit(_IF, f"mask = None if mask is None else ~mask\n{_IF}")),
    wrong("first_for_all", "All sentences, or all queries, get the mask of the first one.",
          "Is there an index `0` or `[:1]` in your code that should not be there?",
          edit(_THREE, "return mask.unsqueeze(1)[:1]"),
          edit(_THREE, "return mask.unsqueeze(1)[:, :, :1]", name="first_query_for_all")),
    wrong("numbers", "The mask comes back as floats, but it should stay boolean.",
          "Which `dtype` did the mask have before?",
          edit(_IF, f"mask = None if mask is None else mask.float()\n{_IF}")),
    wrong("in_place", "The shape of the caller's own mask has changed.",
          "What does the underscore at the end of `unsqueeze_` mean?",
          edit(_TWO, "mask = mask.unsqueeze_(0)", _THREE, "return mask.unsqueeze_(1)"), tests="modified"),
    wrong("turned", "Queries and keys are swapped in the mask.",
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
    right("copy_and_match", source("""
        def mask_for_heads(mask):
            if mask is not None:
                mask = mask.clone()
            match getattr(mask, "shape", ()):
                case (lq, lk):
                    return mask.view(1, 1, lq, lk)
                case (b, lq, lk):
                    return mask.view(b, 1, lq, lk)
            return mask
        """)),
]

EXERCISE = Specification(
    results="the mask",
    contract=Contract(
        ways=(),
        sizes={
            "a mask of each head (1, h, 1, Lk)": {"mask": "1 h 1 Lk"},
            "a mask that masks nothing": {"mask": lambda draw: torch.ones(2, 1, 5, dtype=torch.bool)},
            "a mask that masks everything": {"mask": lambda draw: torch.zeros(4, 5, dtype=torch.bool)},
        },
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
