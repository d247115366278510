"""Two masks for three attentions."""

from __future__ import annotations

import torch

from autograder.bank.encoder_decoder._inputs import scattered_ids, token_ids
from autograder.oracle.draw import Draw
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Inputs,
    Maker,
    Mutant,
    Specification,
    Way,
)


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
    """Another padding id than any token's."""
    return {"src": draw.ids(1, 19, 2, 5), "tgt": draw.ids(1, 17, 2, 4)}


_SRC = "attention.padding_mask(src, pad_id),  # (B, 1, Ls)"
_TGT = "attention.combine_masks(padding, causal),  # (B, Lt, Lt)"

EXERCISE = Specification(
    name="encoder_decoder/make_masks",
    title="Two masks for three attentions",
    target="make_masks",
    aspects={"target attends to target": 6.0},  # one of two masks
    precise=False,
    cases=[
        CaseKind(
            name="longer_source",
            title="a source that is longer than the target",
            inputs=_two_languages(3, 6, 4, 0),
            hint="Draw both masks for one sentence on paper.",
        ),
        CaseKind(
            name="longer_target",
            title="a target that is longer than the source, another pad_id",
            inputs=_two_languages(2, 3, 5, 7),
            hint="Is the id of padding always 0?",
        ),
        CaseKind(
            name="default",
            title="pad_id left out, equal lengths",
            inputs=_two_languages(4, 5, 5, None),
            hint="With equal lengths, exchanged masks do not even raise an error.",
        ),
        CaseKind(
            name="no_padding",
            title="no padding at all",
            inputs=_no_padding,
            hint="Where nothing is padding, a mask is a mask, of the same shape.",
            open=True,
        ),
        CaseKind(
            name="one_sentence",
            title="one sentence",
            inputs=_padding_anywhere(1, 4),
            hint="A batch of one is a batch.",
            whole=True,
            tells=("first_always_open",),
        ),
        CaseKind(
            name="anywhere",
            title="padding in any place of the source, and between words of the target, "
            "pad_id left out",
            inputs=_padding_anywhere(3, None),
            hint="A mask says where padding *is*, not how many real tokens there are.",
        ),
        CaseKind(
            name="large",
            title="longer sentences",
            inputs=_two_languages(5, 9, 12, 3),
            hint="Does it depend on the sizes?",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="none_without_padding",
            says="Where the source has no padding, you return None for a mask.",
            asks="What does the docstring promise of both masks?",
            ways=[Way(edits=[
                Edit(_SRC, "attention.padding_mask(src, pad_id) if bool((src == pad_id).any()) else None,"),
            ])],
        ),
        Mutant(
            name="two_dimensions_without_padding",
            says="Where the target has no padding, its mask has two dimensions.",
            asks="How many dimensions does the text promise?",
            ways=[Way(edits=[
                Edit(_TGT, "attention.combine_masks(padding, causal) if bool((tgt == pad_id).any()) else causal,"),
            ])],
        ),
        Mutant(
            name="swapped",
            says="The two masks are returned in the other order.",
            asks="Which one comes first, by the docstring?",
            ways=[Way(edits=[
                Edit(_SRC, "attention.combine_masks(padding, causal),"),
                Edit(_TGT, "attention.padding_mask(src, pad_id),"),
            ])],
        ),
        Mutant(
            name="no_causal",
            says="The target mask hides padding but not the future.",
            asks="Which words may position 2 of the target see?",
            ways=[Way(edits=[
                Edit("attention.combine_masks(padding, causal)",
                     "padding.expand(-1, tgt.size(1), -1)"),
            ])],
        ),
        Mutant(
            name="no_target_padding",
            says="The target mask hides the future but not padding.",
            asks="What is `combine_masks` for?",
            ways=[Way(edits=[
                Edit("attention.combine_masks(padding, causal)",
                     "causal.expand(len(tgt), -1, -1)"),
            ])],
        ),
        Mutant(
            name="pad_id_ignored",
            says="Your masks take 0 for padding, whatever `pad_id` says.",
            asks="Where does `pad_id` occur in your code?",
            ways=[Way(edits=[
                Edit("attention.padding_mask(tgt, pad_id)",
                     "attention.padding_mask(tgt)"),
                Edit("attention.padding_mask(src, pad_id)",
                     "attention.padding_mask(src)"),
            ])],
        ),
        Mutant(
            name="pad_id_src_only",
            says="`pad_id` is used for the source, but not for the target.",
            asks="How many calls need it?",
            ways=[Way(edits=[
                Edit("attention.padding_mask(tgt, pad_id)",
                     "attention.padding_mask(tgt)"),
            ])],
        ),
        Mutant(
            name="inverted",
            says="Both masks are turned round: True stands where one may *not* attend.",
            asks="In this course, what does True mean?",
            ways=[Way(edits=[
                Edit(_SRC, "~attention.padding_mask(src, pad_id),"),
                Edit(_TGT, "~attention.combine_masks(padding, causal),"),
            ])],
        ),
        Mutant(
            name="or_for_and",
            says='Padding and causal mask are joined by "or": each opens what the '
            "other had closed.",
            asks="Two guards must both say yes. Which logical word is that?",
            ways=[Way(edits=[
                Edit("attention.combine_masks(padding, causal)", "padding | causal"),
            ])],
        ),
        Mutant(
            name="source_causal",
            says="The source mask is causal, too. The source is known as a whole.",
            asks="May the first source word look at the last one?",
            ways=[Way(edits=[
                Edit("attention.padding_mask(src, pad_id),  #",
                     "attention.padding_mask(src, pad_id) & attention.causal_mask(src.size(1)),  #"),
            ])],
        ),
        Mutant(
            name="padding_of_queries",
            says="The padding masks close *rows* (those who ask) instead of columns "
            "(those who are asked).",
            asks="Which dimension belongs to the keys?",
            ways=[Way(edits=[
                Edit("attention.padding_mask(tgt, pad_id)",
                     "attention.padding_mask(tgt, pad_id).transpose(1, 2)"),
                Edit(_SRC,
                     "attention.padding_mask(src, pad_id).transpose(1, 2).expand(-1, -1, src.size(1)),"),
            ])],
        ),
        Mutant(
            name="source_without_padding",
            says="The source mask hides nothing.",
            asks="Who hides the source's padding from the decoder?",
            ways=[Way(edits=[
                Edit(_SRC, "torch.ones_like(src, dtype=torch.bool).unsqueeze(1),"),
            ])],
        ),
        Mutant(
            name="target_for_both",
            says="The source mask is made from the target's padding.",
            asks="When the decoder looks at the memory, whose padding must it not see?",
            ways=[Way(edits=[Edit(_SRC, "padding,")])],
        ),
        Mutant(
            name="source_padding_in_target",
            says="The target mask is made from the source's padding.",
            asks="Whose words are the keys of the decoder's self-attention?",
            ways=[Way(edits=[
                Edit("padding = attention.padding_mask(tgt, pad_id)",
                     "padding = attention.padding_mask(src, pad_id)"),
            ])],
        ),
        Mutant(
            name="causal_of_source_length",
            says="The causal mask has the length of the source.",
            asks="How many rows and columns does the target mask have?",
            ways=[Way(edits=[
                Edit("attention.causal_mask(tgt.size(1))",
                     "attention.causal_mask(src.size(1))"),
            ])],
        ),
        Mutant(
            name="two_dimensions",
            says="The source mask has two dimensions. Against scores (B, h, Lq, Lk), "
            "its first one would be taken for the queries.",
            asks="Where does the dimension of size 1 belong?",
            ways=[Way(edits=[Edit(_SRC, "src != pad_id,")])],
        ),
        Mutant(
            name="batch_of_one_lost",
            says="Of a batch of one, the batch is gone: a dimension of size 1 was "
            "squeezed away.",
            asks="Which shapes does the docstring promise if `B` is 1?",
            ways=[Way(edits=[
                Edit(_SRC, "attention.padding_mask(src, pad_id).squeeze(0),"),
                Edit(_TGT, "attention.combine_masks(padding, causal).squeeze(0),"),
            ])],
        ),
        Mutant(
            name="integers",
            says="The masks are numbers. `~1` is not `0`, so they must be boolean.",
            asks="Which dtype do comparisons have?",
            ways=[Way(edits=[
                Edit(_SRC, "attention.padding_mask(src, pad_id).long(),"),
                Edit(_TGT, "attention.combine_masks(padding, causal).long(),"),
            ])],
        ),
        Mutant(
            name="additive",
            says="Your masks hold 0 and minus infinity: PyTorch's additive form. Here "
            "a mask is boolean.",
            asks="What does `MultiHeadAttention` of unit 3 expect?",
            ways=[Way(edits=[
                Edit(_SRC,
                     "torch.zeros(1).where(attention.padding_mask(src, pad_id), -float('inf')),"),
                Edit(_TGT,
                     "torch.zeros(1).where(attention.combine_masks(padding, causal), -float('inf')),"),
            ])],
        ),
        Mutant(
            name="strict",
            says="The target mask hides the diagonal: a position may not see itself.",
            asks="What does the first row of your target mask look like?",
            ways=[Way(edits=[
                Edit("attention.causal_mask(tgt.size(1))",
                     "attention.causal_mask(tgt.size(1)).tril(-1)"),
            ])],
        ),
        Mutant(
            name="upper",
            says="The target mask is the wrong triangle: it shows the future and hides "
            "the past.",
            asks="What does the last row of your target mask look like?",
            ways=[Way(edits=[
                Edit("attention.causal_mask(tgt.size(1))",
                     "attention.causal_mask(tgt.size(1)).T"),
            ])],
        ),
        Mutant(
            name="by_lengths",
            says="Your masks count the real tokens and open as many places from the left.",
            asks="Which places would that open in a row that begins with padding?",
            ways=[Way(edits=[
                Edit(_SRC,
                     "(torch.arange(src.size(1)) < (src != pad_id).sum(1, keepdim=True))[:, None],"),
                Edit("padding = attention.padding_mask(tgt, pad_id)",
                     "padding = (torch.arange(tgt.size(1)) < (tgt != pad_id).sum(1, keepdim=True))[:, None]"),
            ])],
        ),
        Mutant(
            name="source_by_lengths",
            says="Your source mask counts the real tokens and opens as many places from "
            "the left.",
            asks="Which places would that open in a row that begins with padding?",
            ways=[Way(edits=[
                Edit(_SRC,
                     "(torch.arange(src.size(1)) < (src != pad_id).sum(1, keepdim=True))[:, None],"),
            ])],
        ),
        Mutant(
            name="target_by_lengths",
            says="Your target mask counts the real tokens and opens as many places from "
            "the left.",
            asks="Which places would that open in a row with padding between two words?",
            ways=[Way(edits=[
                Edit("padding = attention.padding_mask(tgt, pad_id)",
                     "padding = (torch.arange(tgt.size(1)) < (tgt != pad_id).sum(1, keepdim=True))[:, None]"),
            ])],
        ),
        Mutant(
            name="first_always_open",
            says="The first place of the source is open even if it is padding.",
            asks="Which rows of the source begin with padding, and who may look there?",
            ways=[Way(edits=[
                Edit(_SRC,
                     "attention.padding_mask(src, pad_id) | (torch.arange(src.size(1)) == 0),"),
            ])],
        ),
        Mutant(
            name="one_only",
            says="Only one mask is returned.",
            asks="Two are asked for. In which order?",
            ways=[Way(edits=[Edit(_SRC, "")])],
        ),
        Mutant(
            name="first_sentence",
            says="The padding of the first sentence is used for all.",
            asks="Where does the batch dimension of your masks come from?",
            ways=[Way(edits=[
                Edit(_SRC,
                     "attention.padding_mask(src, pad_id)[:1].expand(len(src), -1, -1),"),
                Edit("attention.padding_mask(tgt, pad_id)",
                     "attention.padding_mask(tgt, pad_id)[:1]"),
                Edit(_TGT,
                     "attention.combine_masks(padding, causal).expand(len(tgt), -1, -1),"),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="by_hand", source="""
            def make_masks(src, tgt, pad_id=0):
                length = tgt.shape[1]
                i = torch.arange(length)
                return (src != pad_id)[:, None], (tgt != pad_id)[:, None] & (i[:, None] >= i)
            """),
        Accepted(name="four_dimensions", source="""
            def make_masks(src, tgt, pad_id=0):
                src_mask = (src != pad_id).unsqueeze(1).unsqueeze(2)
                future = torch.triu(torch.ones(tgt.size(1), tgt.size(1)), diagonal=1)
                return src_mask, (tgt != pad_id)[:, None, None, :] & (future == 0)
            """),
        Accepted(name="full_size", source="""
            def make_masks(src, tgt, pad_id=0):
                causal = torch.tril(torch.ones(1, 1, tgt.size(1), tgt.size(1))).bool()
                tgt_mask = torch.logical_and(tgt.ne(pad_id)[:, None, None], causal)
                return src.ne(pad_id)[:, None, None], tgt_mask
            """),
        Accepted(name="a_list", edits=[
            Edit("return (", "return ["),
            Edit(
                """
                    attention.combine_masks(padding, causal),  # (B, Lt, Lt)
                )
                """,
                """
                    attention.combine_masks(padding, causal),  # (B, Lt, Lt)
                ]
                """,
            ),
        ]),
    ],
)
