"""Cases, mutants and accepted solutions of unit 02, attention.

All sizes in one case differ, and no query equals a key or a value: equal sizes let
wrong axes and wrong scalings pass.
"""

EXERCISES = (
    "scores",
    "scaled_scores",
    "softmax",
    "padding_mask",
    "causal_mask",
    "combine_masks",
    "scaled_dot_product",
    "self_attention",
    "cross_attention",
    "who_sees_whom",
    "equivariance_gap",
)
