"""Cases, mutants and accepted solutions of unit 03, multi-head attention.

All sizes in one case differ, but for one setting in which there are as many sentences
as heads: there, and only there, a mask without heads is misread in silence.
"""

EXERCISES = (
    "list_of_heads",
    "split_heads",
    "merge_heads",
    "pack_heads",
    "mask_for_heads",
    "multi_head_attention",
    "parameter_count",
    "to_pytorch",
    "from_pytorch",
    "pytorch_mask",
)
