"""A mask for PyTorch."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.contract import Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.inputs import open_mask
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


def _mask_for_pytorch(batch: int, h: int, lq: int, lk: int, mask: tuple[int, ...]) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        return {
            "mask": open_mask(draw, *mask),
            "size": torch.tensor([batch, h, lq, lk]),
            "query": draw.tensor(batch, lq, 2 * h, scale=1.0),
            "key": draw.tensor(batch, lk, 2 * h, scale=1.0),
        }

    return inputs


def _for_all_keys(draw: Draw) -> Inputs:
    """Half of the queries may look at nothing; PyTorch then gives no number."""
    inputs = _mask_for_pytorch(2, 3, 4, 5, mask=(2, 3, 4, 2))(draw)
    return inputs | {"mask": inputs["mask"][..., :1]}


def _closed(draw: Draw) -> Inputs:
    """A mask that closes everything."""
    made = _mask_for_pytorch(2, 3, 4, 5, mask=(2, 1, 4, 5))(draw)
    return made | {"mask": ~torch.ones_like(made["mask"])}


def _open(draw: Draw) -> Inputs:
    """A mask that closes nothing."""
    made = _mask_for_pytorch(2, 3, 4, 5, mask=(2, 1, 1, 5))(draw)
    return made | {"mask": torch.ones_like(made["mask"])}


_TURN = "return (~mask).expand(size).flatten(0, 1)"

CASES = [
    case("padding", "a padding mask (B, 1, 1, Lk)", _mask_for_pytorch(2, 3, 4, 5, mask=(2, 1, 1, 5)),
         "Which mask is entry 1: that of head 1 in sentence 0, or of head 0 in "
         "sentence 1?"),
    case("full", "a mask for each head (B, h, Lq, Lk)", _mask_for_pytorch(3, 2, 5, 4, mask=(3, 2, 5, 4)),
         "Which mask is entry 1: that of head 1 in sentence 0, or of head 0 in "
         "sentence 1?"),
    case("queries_and_keys", "a mask (1, 1, Lq, Lk)", _mask_for_pytorch(2, 4, 3, 6, mask=(1, 1, 3, 6)),
         "What does True mean for PyTorch's layer?"),
    case("for_all_keys", "a mask (B, h, Lq, 1): the same for all keys, even where it forbids them", _for_all_keys,
         "The mask is repeated along every dimension of size 1, and it allows the same as before."),
    case("as_many_sentences_as_heads", "as many sentences as heads", _mask_for_pytorch(3, 3, 2, 5, mask=(3, 1, 2, 5)),
         "Which mask is entry 1: that of head 1 in sentence 0, or "
         "of head 0 in sentence 1?", hidden_only=True),
]

MISTAKES = [
    wrong("squeezed",
          "A single sentence with a single head loses its first dimension.",
          "How many dimensions does `attn_mask` need if each sentence has its own mask?",
          edit(_TURN, f"{_TURN}.squeeze(0)")),
    wrong("nothing_to_close",
          "A mask that forbids nothing does not get its full size.",
          "Should the shape of the result depend on the contents of the mask?",
          edit(_TURN, """
              turned = ~mask
              if mask.all():
                  return turned.new_zeros(size[0] * size[1], 1, size[3])
              return turned.expand(size).flatten(0, 1)
              """)),
    wrong("closed_rows_opened",
          "Rows in which every key is forbidden come back with every key allowed.",
          "Should inverting a mask change what it allows?",
          edit(_TURN, """
              turned = (~mask).expand(size).flatten(0, 1)
              return turned & ~turned.all(dim=-1, keepdim=True)
              """)),
    wrong("keys_not_repeated",
          "The mask is not expanded over the keys.",
          "Which of the four dimensions of a mask may have size 1?",
          edit(_TURN, "return (~mask).expand(*size[:3], -1).flatten(0, 1)")),
    wrong("not_turned",
          "The mask still has our polarity, so PyTorch's layer will attend to exactly "
          "what it should not.",
          "What does `True` mean for `nn.MultiheadAttention`?",
          edit(_TURN, "return mask.expand(size).flatten(0, 1)")),
    wrong("heads_slow",
          "The head index varies slowly and the sentence index quickly, but PyTorch expects the opposite.",
          "Which mask is entry 1: that of head 1 in sentence 0, or of head 0 in "
          "sentence 1?",
          edit(_TURN, "return (~mask).expand(size).transpose(0, 1).flatten(0, 1)")),
    wrong("heads_slow_not_turned",
          "The mask still has our polarity, and its head index varies slowly where it should vary quickly.",
          "What does `True` mean for `nn.MultiheadAttention`, and which mask is entry "
          "1?",
          edit(_TURN, "return mask.expand(size).transpose(0, 1).flatten(0, 1)")),
    wrong("additive",
          "You made an additive mask. PyTorch accepts one, but this exercise asks for a boolean mask.",
          "What does `True` mean in PyTorch's boolean mask, and which values does your mask hold instead?",
          edit(_TURN, "return torch.zeros(size).masked_fill(~mask, float('-inf')).flatten(0, 1)")),
    wrong("additive_large",
          "You made an additive mask of large negative numbers, but this exercise asks for a boolean mask.",
          "What does `True` mean in PyTorch's boolean mask, and which values does your mask hold instead?",
          edit(_TURN, "return torch.zeros(size).masked_fill(~mask, -1e9).flatten(0, 1)")),
    wrong("zeros_and_ones",
          "The mask holds integers, but PyTorch's layer needs booleans.",
          "Which operator inverts a boolean tensor and keeps it boolean?",
          edit(_TURN, "return (1 - mask.int()).expand(size).flatten(0, 1)")),
    wrong("zeros_and_ones_as_floats",
          "The mask holds the floats 0 and 1. PyTorch's layer would *add* them to the "
          "scores: it runs, and masks nothing.",
          "What does PyTorch do with a floating-point mask?",
          edit(_TURN, "return (1 - mask.float()).expand(size).flatten(0, 1)")),
    wrong("minus_a_boolean",
          "PyTorch refuses to subtract booleans.",
          "Which operator inverts a boolean tensor?",
          edit(_TURN, "return (1 - mask).expand(size).flatten(0, 1)")),
    wrong("four_dimensions",
          "The mask still has four dimensions.",
          "How many entries does PyTorch expect along the first dimension, for `B` sentences and `h` heads?",
          edit(_TURN, "return (~mask).expand(size)")),
    wrong("not_expanded",
          "The mask still has dimensions of size 1, but `attn_mask` is not broadcast over sentences and heads.",
          "How many entries must the first dimension have?",
          edit(_TURN, "return (~mask).flatten(0, 1)")),
    wrong("batch_only",
          "There is one mask per sentence, but PyTorch expects one per head of each sentence.",
          "How many entries must the first dimension have?",
          edit(_TURN, "return (~mask).expand(size)[:, 0]")),
    common("first_sentence_only", edit(_TURN, "return (~mask)[:1].expand(size).flatten(0, 1)")),
    wrong("first_head_only",
          "All heads get the mask of head 0.",
          "What if each head has a different mask?",
          edit(_TURN, "return (~mask)[:, :1].expand(size).flatten(0, 1)")),
    wrong("first_query_only",
          "All queries get the mask of the first one.",
          "What if each query has a different mask?",
          edit(_TURN, "return (~mask)[:, :, :1].expand(size).flatten(0, 1)")),
    wrong("heads_joined",
          "The masks of the heads were combined into one.",
          "What if each head has a different mask?",
          edit(_TURN, "return (~mask).any(1, keepdim=True).expand(size).flatten(0, 1)")),
    wrong("queries_and_keys_swapped",
          "Queries and keys are swapped.",
          "What are the rows of a mask, and what are its columns?",
          edit(_TURN, "return (~mask).expand(size).flatten(0, 1).transpose(1, 2)")),
    wrong("turned_in_place",
          "The caller's own mask was inverted as well.",
          "What does the underscore at the end of a method's name mean?",
          edit(_TURN, "return mask.logical_not_().expand(size).flatten(0, 1)")),
    wrong("nothing_hidden",
          "The new mask masks nothing at all.",
          "Where does your result use the given mask?",
          edit(_TURN, "return torch.zeros(size, dtype=torch.bool).flatten(0, 1)")),
]

ACCEPTED = [
    right("expand_first", edit(_TURN, "return ~mask.expand(*size).flatten(0, 1)")),
    right("repeat_interleave", source("""
        def pytorch_mask(mask, size):
            b, h, lq, lk = size
            if mask.size(1) == 1:
                m = mask[:, 0].expand(b, lq, lk).repeat_interleave(h, dim=0)
            else:
                m = mask.expand(b, h, lq, lk).reshape(b * h, lq, lk)
            return m.logical_not()
        """)),
    right("loops", source("""
        def pytorch_mask(mask, size):
            full = torch.broadcast_to(mask, size)
            rows = []
            for sentence in full:
                for head in sentence:
                    rows.append(head == False)
            return torch.stack(rows)
        """)),
    right("or_with_zeros", source("""
        def pytorch_mask(mask, size):
            blocked = torch.zeros(size, dtype=torch.bool) | ~mask
            return blocked.view(-1, *size[2:])
        """)),
    right("xor_and_filled", source("""
        def pytorch_mask(mask, size):
            b, h, lq, lk = size
            out = torch.ones(b * h, lq, lk).bool()
            full = mask.expand(size)
            for i in range(b):
                for j in range(h):
                    out[i * h + j] = out[i * h + j] ^ full[i, j]
            return out
        """)),
]

EXERCISE = Specification(
    name="multi_head_attention/pytorch_mask", title="A mask for PyTorch", target="pytorch_mask",
    aspects={"weights": 3.0},  # what a mask does, whatever it holds
    contract=Contract(
        ways=(),
        sizes=special(
            one_sentence_and_one_head=_mask_for_pytorch(1, 1, 3, 4, mask=(1, 1, 3, 4)),
            a_mask_for_each_of_as_many_heads_as_sentences=_mask_for_pytorch(3, 3, 2, 4, mask=(3, 3, 2, 4)),
            a_mask_that_closes_everything=_closed, a_mask_that_closes_nothing=_open,
            equal_sizes=_mask_for_pytorch(4, 4, 4, 4, mask=(4, 4, 4, 4)),
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
