"""Scaled dot-product attention: masks."""

from __future__ import annotations

from autograder.authoring.notation import edit, source, wrong

FILL = "scores.masked_fill(~mask, -math.inf)"
SOFTMAX = "F.softmax(scores, dim=-1)"
RESULT = "return weights @ v, weights"

MASKS = [
    wrong("mask_ignored",
          "The mask has no effect.",
          "What do you do with the result of `masked_fill`? It leaves the original "
          "tensor unchanged.",
          edit("scores = scores.masked_fill(~mask, -math.inf)", "scores.masked_fill(~mask, -math.inf)")),
    wrong("inverted",
          "The mask is inverted: you masked what `True` allows.",
          "In this course `True` means *may attend*. Which entries must get minus infinity?",
          edit("~mask", "mask"), tests="everything"),
    wrong("after_softmax",
          "You masked entries *after* the softmax. They are zero now, but the rest no longer sums to one.",
          "Which keys should get the weight that the masked ones lost?",
          edit("scores = scores.masked_fill(~mask, -math.inf)", "pass",
               SOFTMAX, "F.softmax(scores, dim=-1) * (1 if mask is None else mask)")),
    wrong("fill_zero",
          "Masked entries get a score of 0, or nearly so, but that is an ordinary score: e^0 is 1, not 0.",
          "For which score is the exponential zero?",
          edit("-math.inf", "0.0")),
    wrong("fill_minus_ten",
          "Masked entries still get a little weight: the number you filled in is not small enough.",
          "What is e^-10, and what should it be?",
          edit("-math.inf", "-10.0")),
    wrong("fill_minus_one",
          "Masked entries still get weight: -1 is an ordinary score.",
          "For which score is the exponential zero?",
          edit("-math.inf", "-1.0")),
    wrong("fill_minus_hundred",
          "You filled in a number that is small among ordinary scores, but scores can "
          "be lower still, and then masked keys get all the weight.",
          "Which number is smaller than every score?",
          edit("-math.inf", "-100.0")),
    wrong("fill_minus_a_million",
          "The number you filled in is not below every score: next to extreme scores, "
          "masked keys still get weight.",
          "Which number is smaller than every possible score?",
          edit("-math.inf", "-1e6")),
    wrong("subtracted",
          "What you subtract from masked scores is large, but a score can be larger still, and then masked keys keep "
          "their weight.",
          "After your line, how large is a masked score that was 2,000,000 before?",
          edit(FILL, "scores + (1.0 - mask.to(scores.dtype)) * -10000.0")),
    wrong("fill_below_the_lowest",
          "The number that you filled in is only a little below the lowest score, so masked keys keep some weight.",
          "How much of a weight is left if its score falls by 1?",
          edit("-math.inf", "scores.min().item() - 1")),
    wrong("fill_plus_infinity",
          "You filled in *plus* infinity: masked keys get the largest score, and `inf "
          "- inf` is `nan`.",
          "Should a masked key have the largest or the smallest score?",
          edit("-math.inf", "math.inf")),
    wrong("mask_added",
          "You added the boolean mask to the scores, so `True` counts as 1: allowed keys get a small bonus, and none "
          "is masked.",
          "What must be added to a score so that its exponential is zero?",
          edit(FILL, "scores + mask")),
    wrong("infinity_times_zero",
          "You multiplied infinity by zero, which is `nan`.",
          "Which function fills in a value where a mask says so, without arithmetic?",
          edit(FILL, "scores * mask + (~mask) * -math.inf"),
          edit(FILL, "scores + (1.0 - mask.to(scores)) * -math.inf", name="infinity_times_mask")),
    wrong("output_unmasked",
          "The weights that you return are masked, but the output was computed with the unmasked ones.",
          "Which variable does the last product use?",
          source("""
              def scaled_dot_product_attention(q, k, v, mask=None):
                  scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
                  output = F.softmax(scores, dim=-1) @ v
                  if mask is not None:
                      scores = scores.masked_fill(~mask, -math.inf)
                  return output, F.softmax(scores, dim=-1)
              """)),
    wrong("weights_unmasked",
          "The output is masked, but the weights that you return are the unmasked ones.",
          "Was the mask applied to the scores that your weights come from?",
          source("""
              def scaled_dot_product_attention(q, k, v, mask=None):
                  scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
                  weights = F.softmax(scores, dim=-1)
                  if mask is not None:
                      scores = scores.masked_fill(~mask, -math.inf)
                  return F.softmax(scores, dim=-1) @ v, weights
              """)),
    wrong("renormalised_badly",
          "You renormalised the masked weights with a small constant in the denominator, so the rows sum to a little "
          "less than one.",
          "If you mask *before* the softmax, do you have to renormalise at all?",
          edit("scores = scores.masked_fill(~mask, -math.inf)", "pass",
               "weights = F.softmax(scores, dim=-1)", """
              weights = F.softmax(scores, dim=-1) * (1 if mask is None else mask)
              if mask is not None:
                  weights = weights / (weights.sum(-1, keepdim=True) + 0.01)
              """)),
    wrong("values_masked",
          "Masked keys add nothing to the output, but they still take part of the weight.",
          "Do the weights of the allowed keys sum to one?",
          edit("scores = scores.masked_fill(~mask, -math.inf)", "pass",
               RESULT, """
              if mask is not None:
                  return (weights * mask) @ v, weights
              return weights @ v, weights
              """)),
    wrong("unscaled_with_mask",
          "With a mask, the scaling is lost: your masked branch starts from unscaled scores.",
          "Which scores go into the branch with the mask?",
          edit(FILL, "(q @ k.transpose(-2, -1)).masked_fill(~mask, -math.inf)")),
    wrong("first_mask",
          "All sentences get the mask of the first one.",
          "Is there an index `[0]` or `[:1]` after the mask in your code?",
          edit(FILL, "scores.masked_fill(~(mask[:1] if mask.dim() > 2 else mask), -math.inf)")),
    wrong("mask_of_keys_only",
          "You reduced the mask to one row for all queries, so the same keys are masked for every query.",
          "Which shapes may a mask have besides `(B, 1, Lk)`?",
          edit(FILL, "scores.masked_fill(~mask.any(-2, keepdim=True), -math.inf)")),
    wrong("first_head",
          "The mask reaches the first head only.",
          "Is there an index `[:, 0]` in your code? What does broadcasting do by itself?",
          source("""
              def scaled_dot_product_attention(q, k, v, mask=None):
                  scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
                  if mask is not None:
                      masked = scores.masked_fill(~mask, -math.inf)
                      if scores.dim() == 4:
                          masked = torch.cat([masked[:, :1], scores[:, 1:]], dim=1)
                      scores = masked
                  weights = F.softmax(scores, dim=-1)
                  return weights @ v, weights
              """)),
    wrong("mask_unsqueezed",
          "You added a dimension to the mask, but it broadcasts as it is.",
          "What are the shapes of the scores and of your mask in that line?",
          edit("~mask", "~mask.unsqueeze(1)")),
    wrong("truth_of_tensor",
          "`if mask:` asks for the truth value of a whole tensor. The question is only whether there *is* a mask.",
          "How do you test whether something is not `None`?",
          edit("if mask is not None:", "if mask:")),
    wrong("mask_required",
          "Your code works with a mask, but without one it uses `None` as a tensor.",
          "What should happen if `mask` is `None`?",
          edit("if mask is not None:", "if True:")),
    wrong("always_causal",
          "You always apply a causal mask, whatever mask the caller passes.",
          "Who decides which mask is used?",
          edit("if mask is not None:", """
              mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
              if mask is not None:
              """)),
    wrong("mask_turned",
          "The mask is transposed: rows and columns are swapped.",
          "The mask has the shape of the scores. Which of its dimensions belongs to the queries?",
          edit("~mask", "~mask.transpose(-2, -1)")),
    wrong("mask_inverted_in_place",
          "The caller's mask was modified.",
          "What is the difference between `~mask` and `mask.logical_not_()`?",
          edit("~mask", "mask.logical_not_()")),
]
