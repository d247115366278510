"""Cases and mistakes for an exercise: padding, causal and combined masks."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification

# The inputs of each kind are for one of the three functions, which the probe selects by their names.


def _draw_lengths(*always: int, long: int = 0) -> Maker:
    """Make a function that draws lengths of causal masks, three of them random.

    It adds the lengths ``always``, and ``long`` random lengths of at least 513.
    """

    def make_inputs(draw: Draw) -> Inputs:
        return {"lengths": torch.cat([torch.tensor(always), draw.ids(24, 105, 3), draw.ids(513, 553, long)])}

    return make_inputs


def _draw_ids(*shape: int, pad_id: int, steps: tuple[int, ...] = (-2, -1, 1, 2)) -> Maker:
    """Make a function that draws ids: 30% are `pad_id`, the others `pad_id` plus one of `steps`."""

    def make_inputs(draw: Draw) -> Inputs:
        tokens = pad_id + torch.tensor(steps)[draw.ids(0, len(steps), *shape)]
        ids = tokens.masked_fill(draw.flags(*shape, chance=0.3), pad_id)
        return {"ids": ids, "pad_id": torch.tensor(pad_id)}

    return make_inputs


def _draw_without_pad_id(draw: Draw) -> Inputs:
    """Inputs that contain only ids, so that the function is called with its default `pad_id`."""
    return {"ids": draw.ids(0, 3, 3, 5)}


def _draw_negative_pad(draw: Draw) -> Inputs:
    """Ids with padding -1, as is common for labels; one sentence is empty."""
    inputs = _draw_ids(4, 5, pad_id=-1, steps=(1, 2, 40))(draw)
    inputs["ids"][int(draw.ids(0, 4))] = -1
    return inputs


def _draw_two_masks(first: tuple[int, ...], second: tuple[int, ...], ask: str, chance: float = 0.6) -> Maker:
    """Make a function that draws two masks of these shapes.

    ``chance`` is the probability of True. ``ask`` lists the probe's calls: "both,
    None and None" is one with both masks, and one with None for each.
    """
    return lambda draw: {
        "first": draw.flags(*first, chance=chance), "second": draw.flags(*second, chance=chance), "ask": ask
    }


_ALL = "both, None and the second, the first and None, None and None"

CASES = [
    case("lengths", "causal masks of length 3, and of three lengths of 24 or more", _draw_lengths(3),
         "Row i says which positions position i may attend to: itself and all earlier ones."),
    case("other", "a padding mask: a pad_id that is not 0, and real tokens with id 0", _draw_ids(4, 7, pad_id=2),
         "The mask is True where the id is not the padding id, which is an argument.", tests="anywhere"),
    case("padding_and_causal", "both at once: a padding mask and a square mask",
         _draw_two_masks((3, 1, 5), (5, 5), "both, the other order"),
         "A pair is allowed only if both masks allow it, in whichever order they are given.", tests="broadcast"),
    case("default", "a padding mask: padding at either end, called without pad_id", _draw_without_pad_id,
         "Padding can be anywhere: look at the ids, not at lengths. Without the argument, the padding id is 0."),
    case("negative", "a padding mask: a pad_id of -1, and a sentence of padding only", _draw_negative_pad,
         "The mask is True where the id is not the padding id, without any exception."),
    case("none", "both at once: None for the first mask, the second, or both", _draw_two_masks((17,), (17,), _ALL),
         "None restricts nothing: the other mask is the answer, in its own shape.", tests="result"),
    case("both_open", "both at once: two masks that forbid nothing",
         _draw_two_masks((2, 1, 3), (3, 3), "both", chance=1.0),
         "Two masks give a mask, even if it restricts nothing.", open=True),
    # The last bytes of these ids are those of the padding.
    case("large", "a padding mask: ids from a large vocabulary",
         _draw_ids(2, 13, pad_id=3, steps=(1, 2**8, 2**16, 2**24, 2**32)),
         "Ids can be any integers that int64 can hold.", hidden_only=True),
    case("long", "causal masks of other lengths, also above 512", _draw_lengths(1, 2, 12, long=1),
         "The mask has no maximum length.", hidden_only=True, tests="positive"),
]

_REAL = "(ids != pad_id)"
_PADDING = f"{_REAL}.unsqueeze(1)"
_SQUARE = "torch.ones(length, length, dtype=torch.bool)"
_CAUSAL = f"{_SQUARE}.tril()"
_BOTH = "first & second"
_ONE_NONE = """
    if first is None:
        return second
    if second is None:
        return first
    """

_MEANING = "What does `True` mean in this course? (In `nn.MultiheadAttention` it means the opposite.)"

MISTAKES = [
    # Mistakes in several of the masks.
    wrong("inverted", "Your padding mask is inverted: it is `True` for padding.",
          _MEANING, edit("ids != pad_id", "ids == pad_id")),
    wrong("causal_inverted", "Your causal mask is inverted: it is `True` for the future, which is forbidden.",
          _MEANING, edit(".tril()", ".triu(diagonal=1)", name="upper_strict")),
    wrong("two_inverted",
          "Your padding mask and your causal mask are inverted: they are `True` for what is forbidden.",
          _MEANING, edit("ids != pad_id", "ids == pad_id", ".tril()", ".triu(diagonal=1)")),
    wrong("combined_inverted", "Your combined mask is inverted: it is `True` for what is forbidden.",
          "What does `True` mean in the masks that you get, and in the one that you return?",
          edit(_BOTH, f"~({_BOTH})", name="not_both")),
    wrong("padding_in_integers",
          "Your mask holds numbers, while `~` and `masked_fill` need booleans: `~1` is -2, which counts as true.",
          "What is the dtype of a comparison, and of what you return?",
          edit(_PADDING, f"{_PADDING}.long()"),
          edit(", dtype=torch.bool", "", name="triangle_in_floats"),
          edit(_BOTH, "first.int() * second.int()", name="combined_integers"), tests="boolean"),
    common("additive",
           edit(_PADDING, "torch.zeros(ids.shape).masked_fill(ids == pad_id, -math.inf).unsqueeze(1)"),
           edit(_CAUSAL, "torch.full((length, length), -math.inf).triu(1)", name="additive_triangle")),
    wrong("first_sentence", "All sentences share the mask of the first one.",
          "Is there an index `[0]` or `[:1]` somewhere in your code?",
          edit(_REAL, "(ids[:1] != pad_id).expand(len(ids), -1)"),
          edit(_BOTH, f"({_BOTH})[:1]", name="one_sentence")),
    # Mistakes in the padding mask.
    wrong("empty_sentence_opened",
          "In a sentence that is all padding, your mask allows every key, although its tokens are still padding.",
          "Does the docstring mention an exception to the rule?",
          edit(f"return {_PADDING}", f"""
              real = {_PADDING}
              return real | ~real.any(dim=-1, keepdim=True)
              """)),
    wrong("zero_always", "Token 0 is treated as padding, whatever `pad_id` says.",
          "What happens with a tokenizer whose padding id is 2?",
          edit("ids != pad_id", "ids != 0")),
    wrong("greater", "You treat all ids up to `pad_id` as padding, but real tokens can have smaller ids.",
          "With `pad_id` = 3: is token 0 padding?",
          edit("ids != pad_id", "ids > pad_id")),
    wrong("cut_to_bytes", "The ids are cast to a smaller dtype, in which large ones change their value.",
          "Which integers can that dtype hold?",
          edit("ids != pad_id", "ids.to(torch.uint8) != pad_id")),
    wrong("query_axis",
          "Your padding mask has shape `(B, L, 1)`: it masks the rows of padding *queries*, while all others still "
          "attend to the padding.",
          "Scores are `(B, Lq, Lk)`. Which of the last two dimensions belongs to the keys?",
          edit("unsqueeze(1)", "unsqueeze(2)")),
    wrong("no_extra_dimension",
          "Broadcast to scores `(B, Lq, Lk)`, the batch dimension of your padding mask lines up with the queries.",
          "Broadcasting aligns shapes from the right. Where does a dimension of size 1 belong?",
          edit(".unsqueeze(1)", ""),
          edit("unsqueeze(1)", "unsqueeze(0)", name="batch_moved")),
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
    wrong("by_length",
          "You counted the real tokens and allowed that many positions from the left. This fails when padding comes "
          "first.",
          "Where is the padding in the sentence that failed?",
          edit(_PADDING, "(torch.arange(ids.size(1)) < (ids != pad_id).sum(1, keepdim=True)).unsqueeze(1)")),
    wrong("from_the_first_pad", "Real tokens after a padding token are masked as well.",
          "Must padding come at the end of a sentence?",
          edit(_PADDING, "(ids != pad_id).cumprod(1).bool().unsqueeze(1)"), tests="anywhere"),
    wrong("other_default", "If `pad_id` is not given, your function does not use 0 for it.",
          "What default value does the stub give?",
          edit("pad_id: int = 0", "pad_id: int = 1")),
    # Mistakes in the causal mask.
    wrong("upper", "You kept the wrong triangle: each position attends to itself and the *future*.",
          "What should the first row look like? The first word has nothing before it.",
          edit(".tril()", ".triu()")),
    wrong("no_self", "No position may attend to itself, and the first row allows nothing: its softmax would be `nan`.",
          "May position `i` attend to position `i`?",
          edit(".tril()", ".tril(diagonal=-1)")),
    wrong("one_ahead", "Each position sees one step into the future: there is one diagonal too many.",
          "What must the first row look like for length 3?",
          edit(".tril()", ".tril(diagonal=1)")),
    wrong("everything", "In your causal mask, every position attends to every other: nothing is masked.",
          "Which part of the square should be `False`?",
          edit(".tril()", "")),
    wrong("flipped", "Your triangle is mirrored: the allowed keys are counted from the right.",
          "The first row allows one key. Is it the first or the last?",
          edit(".tril()", ".tril().flip(1)")),
    wrong("cut_from_512", "Your causal mask is cut out of a larger one, which has a fixed size.",
          "What do you return for a `length` above that size?",
          edit(_CAUSAL, "torch.ones(512, 512, dtype=torch.bool).tril()[:length, :length]")),
    wrong("last_row_empty", "The last row of your triangle was never filled in: your loop ends one step early.",
          "Where does `range(length - 1)` stop?",
          edit(f"return {_CAUSAL}", """
              mask = torch.zeros(length, length, dtype=torch.bool)
              for i in range(length - 1):
                  mask[i, : i + 1] = True
              return mask
              """)),
    wrong("shared",
          "You cache your masks and return the same tensor again, so modifying one changes it for every caller.",
          "Who owns a tensor once it has been returned?",
          edit("def causal_mask(length: int)", "def causal_mask(length: int, masks={})", f"return {_CAUSAL}", f"""
              if length not in masks:
                  masks[length] = {_CAUSAL}
              return masks[length]
              """)),
    # Mistakes in the combination of two masks.
    wrong("either",
          "You combined the masks with *or*: a pair is allowed as soon as one mask allows it, even if the other "
          "forbids it.",
          "Two guards stand at the door. Is a yes from one of them enough?",
          edit(_BOTH, "first | second")),
    wrong("agree", "Your combined mask allows a pair where the two masks *agree*, even where both say no.",
          "What should come out where both say no?",
          edit(_BOTH, "first == second")),
    wrong("only_first", "Only the first mask affects the combined one.",
          "Where does your code use the second mask?",
          edit(_BOTH, "first")),
    wrong("python_and",
          "Python's `and`, `not` and `if` need a single truth value, which a tensor with several entries does not "
          "have.",
          "Which operator combines tensors element by element, and how do you test whether something is `None`?",
          edit(_BOTH, "first and second")),
    wrong("no_none", "Two masks work, but `None` is not handled for each of the two.",
          "What should come out if one of the two is `None`, and did you try both?",
          edit(_ONE_NONE, ""),
          edit("if second is None:\n    return first\n", "", name="second_none")),
    wrong("none_closes", "If one mask is `None`, you return `None` and lose the other mask.",
          "If one side restricts nothing, what does the other side still forbid?",
          edit(_ONE_NONE, "if first is None or second is None: return None\n")),
    wrong("none_with_dimensions",
          "You replace `None` by an all-True mask of your own, which can add dimensions to the other mask.",
          "What shape should the result have if there is only one mask?",
          edit("if second is None:\n    return first",
               "if second is None:\n    second = torch.ones(1, 1, dtype=torch.bool)")),
    wrong("open_is_none", "If neither mask forbids anything, you return `None`.",
          "According to the docstring, when is the result `None`?",
          edit(f"return {_BOTH}", f"return None if ({_BOTH}).all() else {_BOTH}")),
    wrong("in_place", "You modified one of the two masks itself, and the next layer gets the modified one.",
          "What is the difference between `a = a & b` and `a &= b`?",
          edit(f"return {_BOTH}", """
              if first.numel() < second.numel():
                  first, second = second, first
              first &= second if second.dim() <= first.dim() else second.any(0)
              return first
              """), tests="modified"),
    wrong("stacked", "You stacked the masks, which requires equal shapes.",
          "What does `&` do with shapes `(3, 1, 5)` and `(5, 5)`?",
          edit(_BOTH, "torch.stack([first, second]).all(0)")),
]

ACCEPTED = [
    right("compare", edit(_CAUSAL, "torch.arange(length)[None, :] <= torch.arange(length)[:, None]")),
    right("pytorchs_own", edit(_CAUSAL, "nn.Transformer.generate_square_subsequent_mask(length) == 0")),
    right("where_and_de_morgan",
          edit(_REAL, "torch.where(ids == pad_id, False, True)", _BOTH, "~(~first | ~second)")),
    right("always_new", edit(f"return {_BOTH}", "return torch.tensor(True) & first * second")),
    right("loops", source("""
        def padding_mask(ids, pad_id=0):
            return torch.tensor([[[int(token) != pad_id for token in row]] for row in ids])

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
    parts="padding mask, causal mask, combined masks", separate="three functions are asked for",
    ready_made=("transformer_course.encoder_decoder.probes.bugs.make_triangle",),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
