"""Mistakes with the two masks."""

from __future__ import annotations

from autograder.bank.encoder_decoder._decoder_layer.lines import LOOK_UP
from autograder.oracle.specification import Edit, Mutant, Way

MASKS = [
    Mutant(
        name="no_causal_mask",
        says="The target mask does not reach the self-attention: each position "
        "sees its future.",
        asks="Which argument of the self-attention is missing?",
        ways=[Way(edits=[Edit("(x, x, x, tgt_mask)", "(x, x, x)")])],
    ),
    Mutant(
        name="memory_mask_ignored",
        says="The mask of the memory is not used: source padding moves the output.",
        asks="Which argument of the cross-attention is missing?",
        ways=[Way(edits=[
            Edit(LOOK_UP, "self.cross_attention(x, memory, memory)"),
        ])],
    ),
    Mutant(
        name="masks_swapped",
        says="The two masks are exchanged.",
        asks="Which one has a column for each position of the *source*?",
        ways=[Way(edits=[
            Edit("(x, x, x, tgt_mask)", "(x, x, x, memory_mask)"),
            Edit("memory, memory, memory_mask)", "memory, memory, tgt_mask)"),
        ])],
    ),
    Mutant(
        name="causal_on_memory",
        says="The target mask is used on the memory, too. The source is known as a "
        "whole.",
        asks="May the first target word look at the last source word?",
        ways=[Way(edits=[
            Edit("memory, memory, memory_mask)", "memory, memory, tgt_mask)"),
        ])],
    ),
    Mutant(
        name="tgt_mask_from_memory",
        says="The self-attention gets the mask of the memory.",
        asks="Which of the two masks has a column for each position of the "
        "*target*?",
        ways=[Way(edits=[Edit("(x, x, x, tgt_mask)", "(x, x, x, memory_mask)")])],
    ),
    Mutant(
        name="tgt_mask_inverted",
        says="The target mask is turned round: exactly the forbidden positions are "
        "seen.",
        asks='In this course, does True mean "may" or "may not"?',
        ways=[Way(edits=[
            Edit("(x, x, x, tgt_mask)",
                 "(x, x, x, None if tgt_mask is None else ~tgt_mask)"),
        ])],
    ),
    Mutant(
        name="itself_always_open",
        says="Each position of the target sees itself, also where `tgt_mask` closes it.",
        asks="Who decides whether a position may look at itself, if a mask is given?",
        ways=[Way(edits=[
            Edit("(x, x, x, tgt_mask)",
                 "(x, x, x, None if tgt_mask is None else tgt_mask | torch.eye(x.size(1)).bool())"),
        ])],
    ),
    Mutant(
        name="own_causal_mask",
        says="Your layer masks the future although no mask was given.",
        asks="What does `tgt_mask=None` mean in the docstring?",
        ways=[Way(edits=[
            Edit("(x, x, x, tgt_mask)",
                 "(x, x, x, torch.ones(x.size(1), x.size(1), dtype=torch.bool).tril() if tgt_mask is None else tgt_mask)"),
            Edit("super().__init__()", "super().__init__()"),
        ])],
    ),
]
