"""Two masks for three attentions."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from autograder.units.encoder_decoder.exercises._inputs import scattered_ids, token_ids


def _two_languages(batch: int, ls: int, lt: int, pad_id: int | None) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        made: Inputs = {
            "src": token_ids(draw, batch, ls, 19, pad_id or 0),
            "tgt": token_ids(draw, batch, lt, 17, pad_id or 0),
        }
        return made | ({} if pad_id is None else {"pad_id": torch.tensor(pad_id)})

    return inputs


def _padding_anywhere(batch: int, pad_id: int | None) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        made: Inputs = {
            "src": scattered_ids(draw, batch, 5, 19, pad_id or 0, first=False),
            "tgt": scattered_ids(draw, batch, 7, 17, pad_id or 0, first=True),
        }
        return made | ({} if pad_id is None else {"pad_id": torch.tensor(pad_id)})

    return inputs


def _no_padding(draw: Draw) -> Inputs:
    """Ids without padding."""
    return {"src": draw.ids(1, 19, 2, 5), "tgt": draw.ids(1, 17, 2, 4)}


_SRC = "attention.padding_mask(src, pad_id),  # (B, 1, Ls)"
_TGT = "attention.combine_masks(padding, causal),  # (B, Lt, Lt)"

CASES = [
    case("longer_source", "a source that is longer than the target", _two_languages(3, 6, 4, 0),
         "Draw both masks for one sentence on paper."),
    case("longer_target", "a target that is longer than the source, a different pad_id", _two_languages(2, 3, 5, 7),
         "Is the padding id always 0?"),
    case("default", "pad_id left out, equal lengths", _two_languages(4, 5, 5, None),
         "With equal lengths, even swapped masks raise no error."),
    case("no_padding", "no padding at all", _no_padding,
         "Even without padding, both masks are tensors of the usual shape.", open=True),
    case("one_sentence", "one sentence", _padding_anywhere(1, 4),
         "A batch of one is still a batch.", whole=True, tells=("first_always_open",)),
    case("anywhere", "padding anywhere in the source, and between words of the target; pad_id left out",
         _padding_anywhere(3, None),
         "A mask says where padding *is*, not how many real tokens there are."),
    case("large", "longer sentences", _two_languages(5, 9, 12, 3),
         "Does your code depend on the sizes?", hidden_only=True),
]

MISTAKES = [
    wrong("none_without_padding",
          "If the source has no padding, you return None instead of a mask.",
          "What does the docstring promise for both masks?",
          edit(_SRC, "attention.padding_mask(src, pad_id) if bool((src == pad_id).any()) else None,")),
    wrong("two_dimensions_without_padding",
          "If the target has no padding, its mask has only two dimensions.",
          "How many dimensions does the text promise?",
          edit(_TGT, "attention.combine_masks(padding, causal) if bool((tgt == pad_id).any()) else causal,")),
    wrong("swapped",
          "The two masks are returned in the wrong order.",
          "Which one does the docstring name first?",
          edit(_SRC, "attention.combine_masks(padding, causal),", _TGT, "attention.padding_mask(src, pad_id),")),
    wrong("target_padding_of_queries",
          "The target's padding masks whole rows, the queries, so words still attend to padding.",
          "Which of the last two dimensions of a mask belongs to the keys?",
          edit("padding = attention.padding_mask(tgt, pad_id)", "padding = attention.padding_mask(tgt, pad_id).mT")),
    wrong("no_causal",
          "The target mask hides padding but not the future.",
          "Which words may target position 2 see?",
          edit("attention.combine_masks(padding, causal)", "padding.expand(-1, tgt.size(1), -1)")),
    wrong("no_target_padding",
          "The target mask hides the future but not padding.",
          "What is `combine_masks` for?",
          edit("attention.combine_masks(padding, causal)", "causal.expand(len(tgt), -1, -1)")),
    wrong("pad_id_ignored",
          "Your masks treat 0 as padding, whatever `pad_id` says.",
          "Where does `pad_id` occur in your code?",
          edit("attention.padding_mask(tgt, pad_id)", "attention.padding_mask(tgt)",
               "attention.padding_mask(src, pad_id)", "attention.padding_mask(src)")),
    wrong("pad_id_src_only",
          "`pad_id` is used for the source, but not for the target.",
          "How many calls need it?",
          edit("attention.padding_mask(tgt, pad_id)", "attention.padding_mask(tgt)")),
    wrong("pad_id_tgt_only",
          "`pad_id` is used for the target, but not for the source.",
          "How many calls need it?",
          edit("attention.padding_mask(src, pad_id)", "attention.padding_mask(src)")),
    wrong("source_of_both",
          "Your source mask is a square of source positions. The decoder has rows for the target, and the row of a "
          "padding token allows nothing.",
          "How many rows do the scores have when the target looks at the source?",
          edit("attention.padding_mask(src, pad_id),  #",
               "attention.padding_mask(src, pad_id) & attention.padding_mask(src, pad_id).mT,  #")),
    wrong("inverted",
          "Both masks are inverted: True marks what may *not* be attended to.",
          "In this course, what does True mean?",
          edit(_SRC, "~attention.padding_mask(src, pad_id),", _TGT, "~attention.combine_masks(padding, causal),")),
    common("or_for_and", edit("attention.combine_masks(padding, causal)", "padding | causal")),
    wrong("source_causal",
          "The source mask is causal as well, but the source is known as a whole.",
          "May the first source word look at the last one?",
          edit("attention.padding_mask(src, pad_id),  #",
               "attention.padding_mask(src, pad_id) & attention.causal_mask(src.size(1)),  #")),
    wrong("padding_of_queries",
          "The padding masks hide *rows* (the queries) instead of columns (the keys).",
          "Which dimension belongs to the keys?",
          edit("attention.padding_mask(tgt, pad_id)", "attention.padding_mask(tgt, pad_id).transpose(1, 2)",
               _SRC, "attention.padding_mask(src, pad_id).transpose(1, 2).expand(-1, -1, src.size(1)),")),
    wrong("source_without_padding",
          "The source mask hides nothing.",
          "What should hide the source's padding from the decoder?",
          edit(_SRC, "torch.ones_like(src, dtype=torch.bool).unsqueeze(1),")),
    wrong("target_for_both",
          "The source mask is built from the target's padding.",
          "When the decoder looks at the memory, whose padding must it not see?",
          edit(_SRC, "padding,")),
    wrong("source_padding_in_target",
          "The target mask is built from the source's padding.",
          "Whose words are the keys of the decoder's self-attention?",
          edit("padding = attention.padding_mask(tgt, pad_id)", "padding = attention.padding_mask(src, pad_id)")),
    wrong("causal_of_source_length",
          "The causal mask has the length of the source.",
          "How many rows and columns does the target mask have?",
          edit("attention.causal_mask(tgt.size(1))", "attention.causal_mask(src.size(1))")),
    wrong("two_dimensions",
          "The source mask has two dimensions. Against scores `(B, h, Lq, Lk)`, the first one would be mistaken for "
          "the queries.",
          "Where does the dimension of size 1 belong?",
          edit(_SRC, "src != pad_id,")),
    wrong("batch_of_one_lost",
          "For a batch of one, the batch dimension is gone: it was squeezed away.",
          "Which shapes does the docstring promise if `B` is 1?",
          edit(_SRC, "attention.padding_mask(src, pad_id).squeeze(0),",
               _TGT, "attention.combine_masks(padding, causal).squeeze(0),")),
    wrong("integers",
          "Your masks hold integers instead of booleans: `~1` is not `0`.",
          "Which dtype does a comparison return?",
          edit(_SRC, "attention.padding_mask(src, pad_id).long(),",
               _TGT, "attention.combine_masks(padding, causal).long(),")),
    wrong("additive",
          "Your masks hold 0 and minus infinity, PyTorch's additive form; boolean masks are asked for.",
          "What does `MultiHeadAttention` of unit 3 expect?",
          edit(_SRC, "torch.zeros(1).where(attention.padding_mask(src, pad_id), -float('inf')),",
               _TGT, "torch.zeros(1).where(attention.combine_masks(padding, causal), -float('inf')),")),
    wrong("strict",
          "The target mask also hides the diagonal, so no position sees itself.",
          "What does the first row of your target mask look like?",
          edit("attention.causal_mask(tgt.size(1))", "attention.causal_mask(tgt.size(1)).tril(-1)")),
    wrong("upper",
          "The target mask is the wrong triangle: it shows the future and hides the past.",
          "What does the last row of your target mask look like?",
          edit("attention.causal_mask(tgt.size(1))", "attention.causal_mask(tgt.size(1)).T")),
    wrong("by_lengths",
          "Your masks count the real tokens and allow that many positions from the left.",
          "Which positions would that allow in a row that begins with padding?",
          edit(_SRC, "(torch.arange(src.size(1)) < (src != pad_id).sum(1, keepdim=True))[:, None],",
               "padding = attention.padding_mask(tgt, pad_id)",
               "padding = (torch.arange(tgt.size(1)) < (tgt != pad_id).sum(1, keepdim=True))[:, None]")),
    wrong("source_by_lengths",
          "Your source mask counts the real tokens and allows that many positions from the left.",
          "Which positions would that allow in a row that begins with padding?",
          edit(_SRC, "(torch.arange(src.size(1)) < (src != pad_id).sum(1, keepdim=True))[:, None],")),
    wrong("target_by_lengths",
          "Your target mask counts the real tokens and allows that many positions from the left.",
          "Which positions would that allow in a row with padding between two words?",
          edit("padding = attention.padding_mask(tgt, pad_id)",
               "padding = (torch.arange(tgt.size(1)) < (tgt != pad_id).sum(1, keepdim=True))[:, None]")),
    wrong("first_always_open",
          "The first source position is allowed even if it is padding.",
          "Which rows of the source begin with padding, and what would attend to it?",
          edit(_SRC, "attention.padding_mask(src, pad_id) | (torch.arange(src.size(1)) == 0),")),
    wrong("one_only",
          "Only one mask is returned.",
          "Two are asked for. In which order?",
          edit(_SRC, "")),
    wrong("first_sentence",
          "The padding of the first sentence is used for the whole batch.",
          "Where does the batch dimension of your masks come from?",
          edit(_SRC, "attention.padding_mask(src, pad_id)[:1].expand(len(src), -1, -1),",
               "attention.padding_mask(tgt, pad_id)", "attention.padding_mask(tgt, pad_id)[:1]",
               _TGT, "attention.combine_masks(padding, causal).expand(len(tgt), -1, -1),")),
]

ACCEPTED = [
    right("by_hand", source("""
        def make_masks(src, tgt, pad_id=0):
            length = tgt.shape[1]
            i = torch.arange(length)
            return (src != pad_id)[:, None], (tgt != pad_id)[:, None] & (i[:, None] >= i)
        """)),
    right("four_dimensions", source("""
        def make_masks(src, tgt, pad_id=0):
            src_mask = (src != pad_id).unsqueeze(1).unsqueeze(2)
            future = torch.triu(torch.ones(tgt.size(1), tgt.size(1)), diagonal=1)
            return src_mask, (tgt != pad_id)[:, None, None, :] & (future == 0)
        """)),
    right("full_size", source("""
        def make_masks(src, tgt, pad_id=0):
            causal = torch.tril(torch.ones(1, 1, tgt.size(1), tgt.size(1))).bool()
            tgt_mask = torch.logical_and(tgt.ne(pad_id)[:, None, None], causal)
            return src.ne(pad_id)[:, None, None], tgt_mask
        """)),
    right("a_list", edit("return (", "return [",
                         """
            attention.combine_masks(padding, causal),  # (B, Lt, Lt)
        )
        """, """
            attention.combine_masks(padding, causal),  # (B, Lt, Lt)
        ]
        """)),
]

EXERCISE = Specification(
    name="encoder_decoder/make_masks", title="Two masks for three attentions", target="make_masks",
    aspects={"target attends to target": 6.0},  # one of two masks
    precise=False,
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
