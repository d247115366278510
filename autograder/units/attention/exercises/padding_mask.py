"""The padding mask."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.contract import OF_TABLES, Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification

Pads = tuple[tuple[int, int], ...]  # in front and at the end, a row each


def _ids(draw: Draw, pads: Pads, pad_id: int, length: int) -> torch.Tensor:
    """Ids (B, length); row b has pads[b] = (padding in front, padding at the end)."""
    real = pad_id + 1 + draw.ids(0, 40, len(pads), length)
    # Below the padding id there are real tokens, too.
    below = draw.ids(0, max(pad_id, 1), len(pads), length)
    lower = draw.flags(len(pads), length, chance=0.3) & (pad_id > 0)
    ids = torch.where(lower, below, real)
    for row, (front, end) in zip(ids, pads, strict=True):
        row[:front] = pad_id
        row[length - end :] = pad_id
    return ids


def _any_order(draw: Draw, pads: Pads) -> Pads:
    """The same paddings in an order that is drawn, so that no mask can be known."""
    return tuple(pads[i] for i in torch.argsort(draw.tensor(len(pads), scale=500.0)))


def _right_padded(draw: Draw) -> Inputs:
    ends = draw.ids(1, 3, 3).tolist()
    pads = ((0, 0), (0, ends[0]), (0, 2 + ends[1]))
    return {"ids": _ids(draw, pads, 0, 6), "pad_id": torch.tensor(0)}


def _left_padded(draw: Draw) -> Inputs:
    pads = ((int(draw.ids(1, 3)), 0), (3 + int(draw.ids(0, 2)), 0), (0, 0))
    return {"ids": _ids(draw, _any_order(draw, pads), 0, 5), "pad_id": torch.tensor(0)}


def _other_pad(draw: Draw) -> Inputs:
    pad_id = int(draw.ids(2, 6))
    pads = ((0, 1), (2, 0), (1, 2), (0, 3 + int(draw.ids(0, 3))))
    ids = _ids(draw, _any_order(draw, pads), pad_id, 7)
    places = (ids != pad_id).nonzero()
    for low, place in enumerate(torch.argsort(draw.tensor(len(places), scale=500.0))[:2]):
        ids[tuple(places[place])] = low  # both 0 and 1 are real tokens here
    return {"ids": ids, "pad_id": torch.tensor(pad_id)}


def _large_ids(draw: Draw) -> Inputs:
    """Ids of a large vocabulary: some end in the same one or two bytes as the padding."""
    pad_id = int(draw.ids(2, 6))
    ids = _ids(draw, _any_order(draw, ((0, 2), (1, 0), (0, 1))), pad_id, 6)
    ids = torch.where(ids < pad_id, ids + 100, ids)
    large = torch.where(draw.flags(3, 6), ids + 1000 * draw.ids(1, 100, 3, 6), ids)
    places = torch.argsort(draw.tensor(18, scale=500.0)).reshape(3, 6)
    large = torch.where(places % 5 == 0, pad_id + 2**8, large)
    large = torch.where(places % 5 == 1, pad_id + 2**16, large)
    return {"ids": torch.where(ids == pad_id, pad_id, large), "pad_id": torch.tensor(pad_id)}


def _no_pad_given(draw: Draw) -> Inputs:
    pads = ((0, 1 + int(draw.ids(0, 3))), (1, 0), (0, 0))
    return {"ids": _ids(draw, _any_order(draw, pads), 0, 5)}


def _padded(batch: int, length: int) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        ids = draw.ids(1, 40, batch, length)
        ids *= draw.flags(batch, length, chance=0.6)
        return {"ids": ids, "pad_id": torch.tensor(0)}

    return inputs


def _negative_pad(draw: Draw) -> Inputs:
    """Padding is -1, as it often is in labels; 1 is a real token."""
    made = _padded(3, 5)(draw)
    made["ids"] = torch.where(made["ids"] == 0, -1, made["ids"])
    made["ids"][int(draw.ids(0, 3)), :2] = torch.tensor([1, -1])
    return made | {"pad_id": torch.tensor(-1)}


def _padding_only(draw: Draw) -> Inputs:
    """One sentence is empty: its mask is closed, whoever may have to live with that."""
    made = _padded(3, 4)(draw)
    made["ids"][int(draw.ids(0, 3))] = 0
    return made


_REAL = "(ids != pad_id)"

CASES = [
    case("other", "a pad_id that is not 0, and real tokens with id 0", _other_pad,
         "The padding id is an argument."),
    case("right", "padding at the end, with a different length in each sentence", _right_padded,
         "The mask is True where the id is not the padding id."),
    case("left", "padding at the beginning", _left_padded,
         "Padding can be anywhere: look at the ids, not at lengths."),
    case("large", "ids of a large vocabulary", _large_ids,
         "Ids can be any integers that int64 can hold.", hidden_only=True),
    case("default", "called without pad_id", _no_pad_given,
         "Without the argument, the padding id is 0."),
]

MISTAKES = [
    wrong("other_name",
          "Calling your function with `pad_id=3` fails, because your second argument has a different name.",
          "What is the argument called in the signature that you were given?",
          source("""
              def padding_mask(ids, pad=0):
                  return (ids != pad).unsqueeze(1)
              """)),
    wrong("empty_sentence_opened",
          "In a sentence that is all padding, your mask allows every key, although its tokens are still padding.",
          "Does the docstring mention an exception to the rule?",
          edit("return (ids != pad_id).unsqueeze(1)", """
              real = (ids != pad_id).unsqueeze(1)
              return real | ~real.any(dim=-1, keepdim=True)
              """)),
    wrong("inverted",
          "Your mask is inverted: it is `True` where the padding is.",
          "What does `True` mean in this course? (In `nn.MultiheadAttention` it means the opposite.)",
          edit("ids != pad_id", "ids == pad_id")),
    wrong("zero_always",
          "Token 0 is treated as padding, whatever `pad_id` says.",
          "What happens with a tokenizer whose padding id is 2?",
          edit("ids != pad_id", "ids != 0"),
          edit("ids != pad_id", "ids > 0", name="positive_ids")),
    wrong("zero_too",
          "Besides `pad_id`, your mask also treats token 0 as padding, but it may be a real token.",
          "Which id is padding if `pad_id` is 5?",
          edit("ids != pad_id", "(ids != pad_id) & (ids != 0)")),
    wrong("cut_to_bytes",
          "The ids are cast to a smaller dtype, in which large ones change their value.",
          "Which integers can that dtype hold?",
          edit("ids != pad_id", "ids.to(torch.uint8) != pad_id")),
    wrong("without_signs",
          "You compare absolute values: with `pad_id = -1`, token 1 is masked as well.",
          "Which ids are equal to `pad_id`?",
          edit("ids != pad_id", "ids.abs() != abs(pad_id)")),
    wrong("greater",
          "You treat all ids up to `pad_id` as padding, but real tokens can have smaller ids.",
          "With `pad_id` = 3: is token 0 padding?",
          edit("ids != pad_id", "ids > pad_id")),
    wrong("query_axis",
          "Your mask has shape `(B, L, 1)`: it masks the rows of padding *queries*, while all others still attend to "
          "the padding.",
          "Scores are `(B, Lq, Lk)`. Which of the last two dimensions belongs to the keys?",
          edit("unsqueeze(1)", "unsqueeze(2)")),
    wrong("no_extra_dimension",
          "Your mask has shape `(B, L)`. Broadcast to scores `(B, Lq, Lk)`, its batch dimension would line up with "
          "the queries.",
          "Broadcasting aligns shapes from the right. Where is a dimension of size 1 missing?",
          edit(".unsqueeze(1)", "")),
    wrong("batch_moved",
          "Your mask has shape `(1, B, L)`: the batch is where the queries belong.",
          "Which dimension of the mask must line up with the batch of the scores?",
          edit("unsqueeze(1)", "unsqueeze(0)")),
    wrong("with_heads",
          "Your mask has shape `(B, 1, 1, L)`. That fits scores with heads, which come in the next unit.",
          "How many dimensions do the scores `(B, Lq, Lk)` have?",
          edit(".unsqueeze(1)", ".unsqueeze(1).unsqueeze(1)")),
    wrong("expanded",
          "You expanded the mask to `(B, L, L)`. Its entries are correct, but there may be more or fewer queries than "
          "keys; a dimension of size 1 leaves that open.",
          "Could this mask be used in cross-attention, with 3 queries and these keys?",
          edit("(ids != pad_id).unsqueeze(1)", "(ids != pad_id).unsqueeze(1).expand(-1, ids.size(1), -1)")),
    wrong("both_axes",
          "You masked rows *and* columns. The row of a padding query then allows nothing at all, and its softmax is "
          "`nan`.",
          "Which should be masked: padding queries, or padding keys?",
          edit("(ids != pad_id).unsqueeze(1)", "(ids != pad_id).unsqueeze(1) & (ids != pad_id).unsqueeze(2)")),
    wrong("floats",
          "The mask holds floats, while `~` and `masked_fill` need booleans.",
          "What is the dtype of a comparison before you convert it?",
          edit("(ids != pad_id).unsqueeze(1)", "(ids != pad_id).unsqueeze(1).float()")),
    wrong("integers",
          "The mask holds integers. Then `~1` is -2, which counts as true.",
          "What is the dtype of a comparison before you convert it?",
          edit("(ids != pad_id).unsqueeze(1)", "(ids != pad_id).unsqueeze(1).long()")),
    common("additive",
           edit("(ids != pad_id).unsqueeze(1)",
                "torch.zeros(ids.shape).masked_fill(ids == pad_id, -math.inf).unsqueeze(1)")),
    wrong("additive_by_the_lowest",
          "You built an additive mask, with 0 and the lowest float, but this exercise asks for a boolean one.",
          "Which two values can a boolean have?",
          edit(_REAL, "((ids == pad_id) * torch.finfo(torch.float32).min)")),
    wrong("by_length",
          "You counted the real tokens and allowed that many positions from the left. This fails when padding comes "
          "first.",
          "Where is the padding in the sentence that failed?",
          edit("(ids != pad_id).unsqueeze(1)",
               "(torch.arange(ids.size(1)) < (ids != pad_id).sum(1, keepdim=True)).unsqueeze(1)")),
    wrong("first_sentence",
          "All sentences get the mask of the first one.",
          "Is there an index `[0]` or `[:1]` somewhere in your code?",
          edit(_REAL, "(ids[:1] != pad_id).expand(len(ids), -1)")),
    wrong("anywhere",
          "A key is masked as soon as *some* sentence has padding there, but each sentence has its own padding.",
          "Is there an `any` or `all` over the batch in your code?",
          edit(_REAL, "(ids != pad_id).all(0).expand(len(ids), -1)")),
    wrong("other_default",
          "If `pad_id` is not given, your function does not use 0 for it.",
          "What default value does the stub give?",
          edit("pad_id: int = 0", "pad_id: int = 1")),
    wrong("ids_kept",
          "You returned ids instead of booleans.",
          "What does a mask say about each key: which word it is, or whether it may be attended to?",
          edit(_REAL, "(ids * (ids != pad_id))")),
]

ACCEPTED = [
    right("none_index", edit("(ids != pad_id).unsqueeze(1)", "(ids != pad_id)[:, None, :]")),
    right("not_equal", edit(_REAL, "ids.ne(pad_id)")),
    right("inverted_twice", edit(_REAL, "(~(ids == pad_id))")),
    right("view", edit("(ids != pad_id).unsqueeze(1)", "(ids != pad_id).view(ids.size(0), 1, ids.size(1))")),
    right("where", edit(_REAL, "torch.where(ids == pad_id, False, True)")),
    right("loop", source("""
        def padding_mask(ids, pad_id=0):
            rows = [[[int(token) != pad_id for token in row]] for row in ids]
            return torch.tensor(rows)
        """)),
]

EXERCISE = Specification(
    name="attention/padding_mask", title="The padding mask", target="padding_mask", precise=False,
    contract=Contract(
        arguments="ids: B L; pad_id: _", results="mask: B 1 L", on=("right",), ways=OF_TABLES,
        sizes=special(
            one_sentence=_padded(1, 5), a_sentence_of_padding_only=_padding_only, a_pad_id_below_zero=_negative_pad
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
