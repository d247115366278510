"""Both masks at once."""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


def _nothing_closed(draw: Draw) -> Inputs:
    """The larger of two masks is open everywhere."""
    made = _two_masks((3, 1, 4), (4, 4), "both")(draw)
    return made | {"first": made["first"] | True}


def _two_masks(first: tuple[int, ...], second: tuple[int, ...], ask: str) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        masks = [draw.flags(*shape) for shape in (first, second)]
        while any(mask.all() for mask in masks):  # that is a case of its own
            masks = [draw.flags(*shape) for shape in (first, second)]
        return {"first": masks[0], "second": masks[1], "ask": ask}

    return inputs


def _two_padding_masks(draw: Draw) -> Inputs:
    """Each closes what the other one opens, besides what is drawn."""
    made = _two_masks((2, 1, 5), (2, 1, 5), "both")(draw)
    made["first"][..., :2] = torch.tensor([True, False])
    made["second"][..., :2] = torch.tensor([False, True])
    return made


def _all_open(draw: Draw) -> Inputs:
    """Two masks that close nothing at all."""
    made = _two_masks((2, 1, 3), (3, 3), "both")(draw)
    return made | {name: made[name] | True for name in ("first", "second")}


def _one_closed(draw: Draw) -> Inputs:
    """What one word of padding looks like; the other one is drawn."""
    first, second = torch.zeros(1, 1, 1, dtype=torch.bool), draw.flags(3, 3)
    return {"first": first, "second": second, "ask": _ALL + ", the other order"}


_ALL = "both, None and the second, the first and None, None and None"

CASES = [
    case("padding_and_causal", "a padding mask and a square mask", _two_masks((3, 1, 5), (5, 5), "both"),
         "A pair is allowed only if both masks allow it."),
    case("other_order", "the opposite order: the square mask first", _two_masks((4, 4), (2, 1, 4), "both"),
         "The order of the arguments must not matter."),
    case("alike", "two masks of the same shape", _two_masks((2, 3, 4), (2, 3, 4), "both"),
         "A pair is allowed only if both masks allow it; neither mask changes."),
    case("flat", "a square mask and a single row, without a batch", _two_masks((6, 6), (1, 6), "both"),
         "The result has as many dimensions as the larger of the two."),
    case("none", "None for the first mask, the second, or both", _two_masks((2, 1, 6), (6, 6), _ALL),
         "None restricts nothing: the other mask is the answer."),
    case("rows", "None and a single row, without queries or a batch", _two_masks((17,), (17,), _ALL),
         "None restricts nothing: the other mask is the answer, in its own shape."),
    case("open", "a mask that forbids nothing", _nothing_closed,
         "A mask that allows everything still has a shape."),
    case("both_open", "two masks that forbid nothing", _all_open,
         "Two masks give a mask, even if it restricts nothing.", open=True),
    case("equal_sizes", "as many sentences as queries and keys", _two_masks((4, 1, 4), (4, 4), "both, the other order"),
         "Shapes are aligned from the right, even when all sizes are equal."),
    case("views", "masks that are transposed views",
         lambda draw: {**_two_masks((2, 5, 5), (5, 5), "both")(draw), "turned": "yes"},
         "The entries of a tensor are not always in memory order.", hidden_only=True),
    case("sizes_of_one", "two padding masks (B, 1, L) of the same batch", _two_padding_masks,
         "A dimension of size 1 is a dimension."),
    case("one_number", "a mask with a single entry, False, as the second and as the first", _one_closed,
         "A mask that forbids everything is still a mask: only None restricts nothing.", open=True),
    case("heads", "masks with heads", _two_masks((2, 1, 1, 7), (3, 5, 7), _ALL),
         "The shapes broadcast as usual.", hidden_only=True),
]

MISTAKES = [
    wrong("none_with_dimensions",
          "You replace `None` by an all-True mask of your own, which can add dimensions to the other mask.",
          "What shape should the result have if there is only one mask?",
          source("""
              def combine_masks(first, second):
                  if first is None:
                      return second
                  if second is None:
                      second = torch.ones(1, 1, dtype=torch.bool)
                  return first & second
              """)),
    wrong("either",
          "You combined the masks with *or*: a pair is allowed as soon as one mask allows it, even if the other "
          "forbids it.",
          "Two guards stand at the door. Is a yes from one of them enough?",
          edit("first & second", "first | second")),
    wrong("open_is_none",
          "If neither mask forbids anything, you return `None`.",
          "According to the docstring, when is the result `None`?",
          edit("return first & second", """
              both = first & second
              return None if both.all() else both
              """)),
    wrong("differ",
          "Your mask allows a pair where the two masks *differ* (an exclusive or).",
          "What should come out where both say yes?",
          edit("first & second", "first ^ second")),
    wrong("agree",
          "Your mask allows a pair where the two masks *agree*, even where both say no.",
          "What should come out where both say no?",
          edit("first & second", "first == second")),
    wrong("neither",
          "Your mask allows a pair exactly where *neither* of the two masks does.",
          "What should come out where both say yes?",
          edit("first & second", "~(first | second)")),
    wrong("not_both",
          "The result is inverted: it is `True` where it should be `False`.",
          "What should come out where both say yes?",
          edit("first & second", "~(first & second)")),
    wrong("only_first",
          "Only the first mask affects the result.",
          "Where does your code use the second mask?",
          edit("first & second", "first")),
    wrong("only_second",
          "Only the second mask affects the result.",
          "Where does your code use the first mask?",
          edit("first & second", "second")),
    wrong("python_and",
          "Python's `and`, `not` and `if` need a single truth value, which a tensor with several entries does not "
          "have.",
          "Which operator combines tensors element by element, and how do you test whether something is `None`?",
          edit("first & second", "first and second")),
    wrong("numbers",
          "The result holds floats instead of booleans.",
          "What is the dtype of a product of floats?",
          edit("first & second", "first.float() * second.float()")),
    wrong("whole_numbers",
          "The result holds integers instead of booleans.",
          "What is the dtype of a product of integers?",
          edit("first & second", "first.int() * second.int()")),
    wrong("no_none",
          "Two masks work, but `None` is not handled.",
          "What should come out if one of the two is `None`?",
          source("""
              def combine_masks(first, second):
                  return first & second
              """)),
    wrong("none_closes",
          "If one mask is `None`, you return `None` and lose the other mask.",
          "If one side restricts nothing, what does the other side still forbid?",
          source("""
              def combine_masks(first, second):
                  if first is None or second is None:
                      return None
                  return first & second
              """)),
    wrong("second_none",
          "Your code handles `None` for one of the two masks, but not for the other.",
          "Which of the arguments can be `None`, and did you try each?",
          edit("""
              if second is None:
                  return first
              """, "")),
    wrong("in_place",
          "You modified one of the masks itself, and the next layer gets the modified one.",
          "What is the difference between `a = a & b` and `a &= b`?",
          source("""
              def combine_masks(first, second):
                  if first is None or second is None:
                      return second if first is None else first
                  if first.numel() < second.numel():
                      first, second = second, first
                  first &= second if second.dim() <= first.dim() else second.any(0)
                  return first
              """)),
    wrong("in_place_small",
          "You combined in place, with `&=`. The first mask cannot grow to the full shape, and every other user of it "
          "would see the change.",
          "What is the shape of the result, and what is the shape of the first mask?",
          edit("return first & second", """
              first &= second
              return first
              """)),
    wrong("batch_added",
          "The result has a batch dimension, although neither mask has one.",
          "Which dimensions come out when two matrices broadcast?",
          edit("return first & second", """
              both = first & second
              return both if both.dim() > 2 else both.unsqueeze(0)
              """)),
    wrong("stacked",
          "You stacked the masks, which requires equal shapes.",
          "What does `&` do with shapes `(3, 1, 5)` and `(5, 5)`?",
          edit("first & second", "torch.stack([first, second]).all(0)")),
    wrong("one_sentence",
          "All sentences share one mask in your result: the batch dimension is lost.",
          "What shape should the result have?",
          edit("first & second", "(first & second)[:1]")),
    wrong("open_mask_left_out",
          "A mask that forbids nothing is ignored, and so is its shape: the result is smaller than the two masks "
          "broadcast together.",
          "To which shape do masks of shapes `(B, 1, L)` and `(L, L)` broadcast?",
          source("""
              def combine_masks(first, second):
                  if first is None or first.all():
                      return second
                  if second is None or second.all():
                      return first
                  return first & second
              """)),
]

ACCEPTED = [
    right("logical_and", edit("first & second", "torch.logical_and(first, second)")),
    right("product", edit("first & second", "first * second")),
    right("de_morgan", edit("first & second", "~(~first | ~second)")),
    right("where", edit("first & second", "torch.where(first, second, torch.tensor(False))")),
    right("minimum", edit("first & second", "torch.minimum(first.int(), second.int()) == 1")),
    right("masked_fill",
          edit("first & second", "torch.broadcast_tensors(first, second)[0].masked_fill(~second, False)")),
    right("list_of_masks", source("""
        def combine_masks(first, second):
            result = None
            for mask in (first, second):
                if mask is not None:
                    result = mask if result is None else result & mask
            return result
        """)),
    right("always_new", source("""
        def combine_masks(first, second):
            masks = [mask for mask in (first, second) if mask is not None]
            if not masks:
                return None
            total = torch.tensor(True)
            for mask in masks:
                total = total & mask
            return total
        """)),
]

EXERCISE = Specification(
    name="attention/combine_masks", title="Both masks at once", target="combine_masks", precise=False,
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
