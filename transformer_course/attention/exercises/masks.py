"""Padding masks, causal masks, and both at once."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification

# A drawing of each kind is for one of the three functions: the names of its inputs tell which.


def _lengths(shifts: tuple[int, int, int], *always: int) -> Maker:
    """Some lengths, and three others from 24 to 104.

    There are three of them, so that learning the visible masks by heart hardly ever helps. The shifts make the lengths
    of the visible drawing short, because any shorter mask could be cut out of a longer one.
    """

    def make_inputs(draw: Draw) -> Inputs:
        thirds = (draw.ids(0, 27, 3) + torch.tensor(shifts)) % 27
        chosen = 24 + 3 * thirds + torch.arange(3)
        return {"lengths": torch.cat([torch.tensor(always), chosen])}

    return make_inputs


def _long_lengths(draw: Draw) -> Inputs:
    inputs = _lengths((0, 0, 0), 1, 2, 12)(draw)
    return {"lengths": torch.cat([inputs["lengths"], 513 + draw.ids(0, 40, 1)])}


Pads = tuple[tuple[int, int], ...]  # in front and at the end, a row each


def _ids(draw: Draw, pads: Pads, pad_id: int, length: int) -> torch.Tensor:
    """Ids (B, length); the rows have pads = (padding in front, padding at the end), in any order."""
    pads = tuple(pads[i] for i in torch.argsort(draw.tensor(len(pads), scale=500.0)))
    real = pad_id + 1 + draw.ids(0, 40, len(pads), length)
    # Below the padding id there are real tokens, too.
    below = draw.ids(0, max(pad_id, 1), len(pads), length)
    lower = draw.flags(len(pads), length, chance=0.3) & (pad_id > 0)
    ids = torch.where(lower, below, real)
    for row, (front, end) in zip(ids, pads, strict=True):
        row[:front] = pad_id
        row[length - end :] = pad_id
    return ids


def _other_pad(draw: Draw) -> Inputs:
    pad_id = int(draw.ids(2, 6))
    ids = _ids(draw, ((0, 1), (2, 0), (1, 2), (0, 3 + int(draw.ids(0, 3)))), pad_id, 7)
    places = (ids != pad_id).nonzero()
    for low, place in enumerate(torch.argsort(draw.tensor(len(places), scale=500.0))[:2]):
        ids[tuple(places[place])] = low  # both 0 and 1 are real tokens here
    return {"ids": ids, "pad_id": torch.tensor(pad_id)}


def _no_pad_given(draw: Draw) -> Inputs:
    return {"ids": _ids(draw, ((0, 1 + int(draw.ids(0, 3))), (1, 0), (0, 0)), 0, 5)}


def _negative_pad(draw: Draw) -> Inputs:
    """Ids with -1 as padding, as it often is in labels; 1 is a real token, and one sentence is empty."""
    ids = draw.ids(1, 40, 4, 5) * draw.flags(4, 5, chance=0.6)
    ids = torch.where(ids == 0, -1, ids)
    empty = int(draw.ids(0, 4))
    ids[empty], ids[empty - 1, :2] = -1, torch.tensor([1, -1])
    return {"ids": ids, "pad_id": torch.tensor(-1)}


def _large_ids(draw: Draw) -> Inputs:
    """A sentence of a large vocabulary, with ids whose last one or two bytes equal the padding's."""
    pad_id = int(draw.ids(2, 6))
    front, end = draw.ids(0, 4, 2).tolist()
    ids = _ids(draw, ((front, 1 + end),), pad_id, 13)
    ids = torch.where(ids < pad_id, ids + 100, ids)
    large = torch.where(draw.flags(1, 13), ids + 1000 * draw.ids(1, 100, 1, 13), ids)
    places = torch.argsort(draw.tensor(13, scale=500.0)).reshape(1, 13)
    large = torch.where(places % 5 == 0, pad_id + 2**8, large)
    large = torch.where(places % 5 == 1, pad_id + 2**16, large)
    return {"ids": torch.where(ids == pad_id, pad_id, large), "pad_id": torch.tensor(pad_id)}


def _two_masks(first: tuple[int, ...], second: tuple[int, ...], ask: str) -> Maker:
    def make_inputs(draw: Draw) -> Inputs:
        masks = [draw.flags(*shape) for shape in (first, second)]
        while any(mask.all() for mask in masks):  # that is a case of its own
            masks = [draw.flags(*shape) for shape in (first, second)]
        return {"first": masks[0], "second": masks[1], "ask": ask}

    return make_inputs


def _all_open(draw: Draw) -> Inputs:
    """Two masks that mask nothing at all."""
    inputs = _two_masks((2, 1, 3), (3, 3), "both")(draw)
    return inputs | {name: inputs[name] | True for name in ("first", "second")}


_ALL = "both, None and the second, the first and None, None and None"

CASES = [
    case("lengths", "causal masks of length 3, and of three lengths of 24 or more", _lengths((20, 3, 24), 3),
         "Row i says which positions position i may attend to: itself and all earlier ones."),
    case("other", "a padding mask: a pad_id that is not 0, and real tokens with id 0", _other_pad,
         "The mask is True where the id is not the padding id, which is an argument.", tests="anywhere"),
    case("padding_and_causal", "both at once: a padding mask and a square mask",
         _two_masks((3, 1, 5), (5, 5), "both, the other order"),
         "A pair is allowed only if both masks allow it, in whichever order they are given.", tests="broadcast"),
    case("default", "a padding mask: padding at either end, called without pad_id", _no_pad_given,
         "Padding can be anywhere: look at the ids, not at lengths. Without the argument, the padding id is 0."),
    case("negative", "a padding mask: a pad_id of -1, and a sentence of padding only", _negative_pad,
         "The mask is True where the id is not the padding id, without any exception."),
    case("none", "both at once: None for the first mask, the second, or both", _two_masks((17,), (17,), _ALL),
         "None restricts nothing: the other mask is the answer, in its own shape.", tests="result"),
    case("both_open", "both at once: two masks that forbid nothing", _all_open,
         "Two masks give a mask, even if it restricts nothing.", open=True),
    case("large", "a padding mask: a sentence from a large vocabulary", _large_ids,
         "Ids can be any integers that int64 can hold.", hidden_only=True),
    case("long", "causal masks of other lengths, also above 512", _long_lengths,
         "The mask has no maximum length.", hidden_only=True, tests="positive"),
]

_REAL = "(ids != pad_id)"
_PADDING = f"{_REAL}.unsqueeze(1)"
_SQUARE = "torch.ones(length, length, dtype=torch.bool)"
_CAUSAL = f"{_SQUARE}.tril()"

MISTAKES = [
    # Mistakes in the padding mask.
    wrong("empty_sentence_opened",
          "In a sentence that is all padding, your mask allows every key, although its tokens are still padding.",
          "Does the docstring mention an exception to the rule?",
          edit(f"return {_PADDING}", """
              real = (ids != pad_id).unsqueeze(1)
              return real | ~real.any(dim=-1, keepdim=True)
              """)),
    wrong("inverted",
          "Your padding mask is inverted: it is `True` where the padding is.",
          "What does `True` mean in this course? (In `nn.MultiheadAttention` it means the opposite.)",
          edit("ids != pad_id", "ids == pad_id")),
    wrong("zero_always",
          "Token 0 is treated as padding, whatever `pad_id` says.",
          "What happens with a tokenizer whose padding id is 2?",
          edit("ids != pad_id", "ids != 0")),
    wrong("greater",
          "You treat all ids up to `pad_id` as padding, but real tokens can have smaller ids.",
          "With `pad_id` = 3: is token 0 padding?",
          edit("ids != pad_id", "ids > pad_id")),
    wrong("cut_to_bytes",
          "The ids are cast to a smaller dtype, in which large ones change their value.",
          "Which integers can that dtype hold?",
          edit("ids != pad_id", "ids.to(torch.uint8) != pad_id")),
    wrong("query_axis",
          "Your padding mask has shape `(B, L, 1)`: it masks the rows of padding *queries*, while all others still "
          "attend to the padding.",
          "Scores are `(B, Lq, Lk)`. Which of the last two dimensions belongs to the keys?",
          edit("unsqueeze(1)", "unsqueeze(2)")),
    wrong("no_extra_dimension",
          "Your padding mask has shape `(B, L)`. Broadcast to scores `(B, Lq, Lk)`, its batch dimension would line up "
          "with the queries.",
          "Broadcasting aligns shapes from the right. Where is a dimension of size 1 missing?",
          edit(".unsqueeze(1)", "")),
    wrong("batch_moved",
          "Your padding mask has shape `(1, B, L)`: the batch is where the queries belong.",
          "Which dimension of the mask must line up with the batch of the scores?",
          edit("unsqueeze(1)", "unsqueeze(0)")),
    wrong("with_heads",
          "Your padding mask has shape `(B, 1, 1, L)`. That fits scores with heads, which come in the next unit.",
          "How many dimensions do the scores `(B, Lq, Lk)` have?",
          edit(".unsqueeze(1)", ".unsqueeze(1).unsqueeze(1)")),
    wrong("expanded",
          "You expanded the padding mask to `(B, L, L)`. Its entries are correct, but there may be more or fewer "
          "queries than keys; a dimension of size 1 leaves that open.",
          "Could this mask be used in cross-attention, with 3 queries and these keys?",
          edit(_PADDING, f"{_PADDING}.expand(-1, ids.size(1), -1)")),
    wrong("both_axes",
          "Your padding mask masks rows *and* columns. The row of a padding query then allows nothing at all, and its "
          "softmax is `nan`.",
          "Which should be masked: padding queries, or padding keys?",
          edit(_PADDING, f"{_PADDING} & {_REAL}.unsqueeze(2)")),
    wrong("padding_in_integers",
          "Your padding mask holds integers, while `~` and `masked_fill` need booleans: `~1` is -2, which counts as "
          "true.",
          "What is the dtype of a comparison before you convert it?",
          edit(_PADDING, f"{_PADDING}.long()"), tests="boolean"),
    common("additive",
           edit(_PADDING, "torch.zeros(ids.shape).masked_fill(ids == pad_id, -math.inf).unsqueeze(1)")),
    wrong("by_length",
          "You counted the real tokens and allowed that many positions from the left. This fails when padding comes "
          "first.",
          "Where is the padding in the sentence that failed?",
          edit(_PADDING, "(torch.arange(ids.size(1)) < (ids != pad_id).sum(1, keepdim=True)).unsqueeze(1)")),
    wrong("first_sentence",
          "All sentences get the padding mask of the first one.",
          "Is there an index `[0]` or `[:1]` somewhere in your code?",
          edit(_REAL, "(ids[:1] != pad_id).expand(len(ids), -1)")),
    wrong("other_default",
          "If `pad_id` is not given, your function does not use 0 for it.",
          "What default value does the stub give?",
          edit("pad_id: int = 0", "pad_id: int = 1")),
    # Mistakes in the causal mask.
    wrong("upper",
          "You kept the wrong triangle: each position attends to itself and the *future*.",
          "What should the first row look like? The first word has nothing before it.",
          edit(".tril()", ".triu()")),
    wrong("upper_strict",
          "Your causal mask is `True` for what is *forbidden*, the future.",
          "What does `True` mean in this course?",
          edit(".tril()", ".triu(diagonal=1)")),
    wrong("no_self",
          "No position may attend to itself, and the first row allows nothing: its softmax would be `nan`.",
          "May position `i` attend to position `i`?",
          edit(".tril()", ".tril(diagonal=-1)")),
    wrong("one_ahead",
          "Each position sees one step into the future: there is one diagonal too many.",
          "What must the first row look like for length 3?",
          edit(".tril()", ".tril(diagonal=1)")),
    wrong("everything",
          "In your causal mask, every position attends to every other: nothing is masked.",
          "Which part of the square should be `False`?",
          edit(".tril()", "")),
    wrong("last_two",
          "Each position attends to itself and its left neighbour, but to nothing earlier.",
          "How many keys should the last row allow?",
          edit(".tril()", ".tril().triu(-1)")),
    wrong("flipped",
          "Your triangle is mirrored: the allowed keys are counted from the right.",
          "The first row allows one key. Is it the first or the last?",
          edit(".tril()", ".tril().flip(1)")),
    wrong("triangle_in_floats",
          "Your triangle holds floats, while `~` and `masked_fill` need booleans.",
          "Which `dtype` did you ask for?",
          edit(", dtype=torch.bool", "")),
    wrong("additive_triangle",
          "You built an additive causal mask, with 0 and minus infinity, but this exercise asks for a boolean one.",
          "Which two values can a boolean have?",
          edit(_CAUSAL, "torch.full((length, length), -math.inf).triu(1)")),
    wrong("cut_from_512",
          "Your causal mask is cut out of a larger one, which has a fixed size.",
          "What do you return for a `length` above that size?",
          edit(_CAUSAL, "torch.ones(512, 512, dtype=torch.bool).tril()[:length, :length]")),
    wrong("last_row_empty",
          "The last row of your triangle was never filled in: your loop ends one step early.",
          "Where does `range(length - 1)` stop?",
          source("""
              def causal_mask(length):
                  mask = torch.zeros(length, length, dtype=torch.bool)
                  for i in range(length - 1):
                      mask[i, : i + 1] = True
                  return mask
              """)),
    wrong("shared",
          "You cache your masks and return the same tensor again, so modifying one changes it for every caller.",
          "Who owns a tensor once it has been returned?",
          source("""
              MASKS = {}

              def causal_mask(length):
                  if length not in MASKS:
                      MASKS[length] = torch.ones(length, length, dtype=torch.bool).tril()
                  return MASKS[length]
              """)),
    # Mistakes in the combination of two masks.
    wrong("either",
          "You combined the masks with *or*: a pair is allowed as soon as one mask allows it, even if the other "
          "forbids it.",
          "Two guards stand at the door. Is a yes from one of them enough?",
          edit("first & second", "first | second")),
    wrong("agree",
          "Your combined mask allows a pair where the two masks *agree*, even where both say no.",
          "What should come out where both say no?",
          edit("first & second", "first == second")),
    wrong("not_both",
          "The combined mask is inverted: it is `True` where it should be `False`.",
          "What should come out where both say yes?",
          edit("first & second", "~(first & second)")),
    wrong("only_first",
          "Only the first mask affects the combined one.",
          "Where does your code use the second mask?",
          edit("first & second", "first")),
    wrong("python_and",
          "Python's `and`, `not` and `if` need a single truth value, which a tensor with several entries does not "
          "have.",
          "Which operator combines tensors element by element, and how do you test whether something is `None`?",
          edit("first & second", "first and second")),
    wrong("combined_integers",
          "The combined mask holds integers instead of booleans.",
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
    wrong("open_is_none",
          "If neither mask forbids anything, you return `None`.",
          "According to the docstring, when is the result `None`?",
          edit("return first & second", """
              both = first & second
              return None if both.all() else both
              """)),
    wrong("in_place",
          "You modified one of the two masks itself, and the next layer gets the modified one.",
          "What is the difference between `a = a & b` and `a &= b`?",
          source("""
              def combine_masks(first, second):
                  if first is None or second is None:
                      return second if first is None else first
                  if first.numel() < second.numel():
                      first, second = second, first
                  first &= second if second.dim() <= first.dim() else second.any(0)
                  return first
              """), tests="modified"),
    wrong("stacked",
          "You stacked the masks, which requires equal shapes.",
          "What does `&` do with shapes `(3, 1, 5)` and `(5, 5)`?",
          edit("first & second", "torch.stack([first, second]).all(0)")),
    wrong("one_sentence",
          "All sentences share one combined mask in your result: the batch dimension is lost.",
          "What shape should the result have?",
          edit("first & second", "(first & second)[:1]")),
]

ACCEPTED = [
    right("none_index", edit(_PADDING, "(ids != pad_id)[:, None, :]")),
    right("inverted_twice", edit(_REAL, "(~(ids == pad_id))")),
    right("where", edit(_REAL, "torch.where(ids == pad_id, False, True)")),
    right("compare", edit(_CAUSAL, "torch.arange(length)[None, :] <= torch.arange(length)[:, None]")),
    right("not_triu", edit(".tril()", ".triu(diagonal=1).logical_not()")),
    right("tril_then_bool", edit(_CAUSAL, "torch.tril(torch.ones(length, length)).bool()")),
    right("pytorchs_own", edit(_CAUSAL, "nn.Transformer.generate_square_subsequent_mask(length) == 0")),
    right("logical_and", edit("first & second", "torch.logical_and(first, second)")),
    right("product", edit("first & second", "first * second")),
    right("de_morgan", edit("first & second", "~(~first | ~second)")),
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
    right("loops", source("""
        def padding_mask(ids, pad_id=0):
            rows = [[[int(token) != pad_id for token in row]] for row in ids]
            return torch.tensor(rows)

        def causal_mask(length):
            mask = torch.zeros(length, length, dtype=torch.bool)
            for i in range(length):
                for j in range(i + 1):
                    mask[i, j] = True
            return mask

        def combine_masks(first, second):
            result = None
            for mask in (first, second):
                if mask is not None:
                    result = mask if result is None else result & mask
            return result
        """)),
]

EXERCISE = Specification(
    target="padding_mask, causal_mask, combine_masks", precise=False,
    aspects={"padding mask": 3.0, "causal mask": 3.0, "combined masks": 3.0},  # a task each
    ready_made=("transformer_course.encoder_decoder.probes.bugs.triangle",),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
