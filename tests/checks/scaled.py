"""An exercise of unit 2, and the mistake that everybody makes in it."""

NAME = "attention/scaled_dot_product"


def unscaled(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = scores.softmax(-1)
    return weights @ v, weights
