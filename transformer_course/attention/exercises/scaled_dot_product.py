"""Cases and mistakes for an exercise: scaled dot-product attention."""

from __future__ import annotations

from typing import Any

import torch

from autograder.authoring.common import common
from autograder.authoring.contract import Contract, special_sizes
from autograder.authoring.draw import Draw
from autograder.authoring.inputs import causal_mask
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification


def _draw_huge_queries(draw: Draw) -> torch.Tensor:
    """Draw queries (2, 5, 4), which are large integers in the first sentence.

    Their dot products with the keys of `_draw_huge_keys` are exact in float32.
    """
    signs = torch.tensor([1.0, -1.0, 1.0, -1.0, 1.0])
    return torch.stack([draw.ids(500, 2001, 5, 4) * signs[:, None], draw.tensor(5, 4)])


def _draw_huge_keys(draw: Draw) -> torch.Tensor:
    """Draw keys (2, 5, 4): integers from -1899 to 0 in the first sentence.

    With a huge query, scores get so large that adding a number such as -10000 to masked
    ones no longer hides them, while rounding cannot change their order.
    """
    steps = 400 * torch.arange(5).roll(int(draw.ids(0, 5)))
    return torch.stack([-1.0 * (steps[:, None] + draw.ids(0, 300, 5, 4)), draw.tensor(5, 4)])


_BATCH: dict[str, Any] = {"batch": (2,), "B": 2, "Lq": 3, "Lk": 5, "d_k": 4, "d_v": 6}
_HEADS: dict[str, Any] = {"batch": (2, 3), "B": 2, "Lq": 4, "Lk": 5, "d_k": 6, "d_v": 7}

CASES = [
    case("matrix", "4 queries and 5 keys with d_k = 8, no batch, no mask", sizes(Lq=4, Lk=5, d_k=8, d_v=3),
         "Compare with the steps: scores, scaling, softmax, weighted sum."),
    case("batch", "a batch of 2, and the gradient", sizes(batch=(2,), Lq=3, Lk=7, d_k=6, d_v=4),
         "Each sentence of the batch is independent, and gradients must flow."),
    case("heads", "a batch of 2 with 3 heads, and a mask for each sentence", sizes(**_HEADS, mask="B 1 1 Lk"),
         "The mask (B, 1, 1, Lk) broadcasts: it is the same for all heads and queries.", aspect="masks"),
    case("huge", "scores near 2,000,000 and near -2,000,000, and a mask",
         sizes(batch=(2,), Lq=5, Lk=5, d_v=6, q=_draw_huge_queries, k=_draw_huge_keys,
               mask="2 Lq Lk"),
         "Large scores must give weights, not nan. A masked key gets weight 0, however large its score and however "
         "small the allowed ones. Which number is below all others?", aspect="limits"),
    case("causal", "a causal mask", sizes(batch=(2,), Lq=5, Lk=5, d_k=6, d_v=3, mask=lambda draw: causal_mask(5)),
         "The mask (L, L) says which keys each query may attend to.", aspect="masks"),
    case("full_mask", "a different mask for each sentence and query",
         sizes(batch=(3,), Lq=5, Lk=6, d_k=2, d_v=4, mask="3 Lq Lk"),
         "The mask (B, Lq, Lk) is different for each sentence.", aspect="masks"),
    case("many", "five dimensions and a mask", sizes(batch=(2, 1, 3), Lq=4, Lk=6, d_k=7, d_v=5, mask="Lq Lk"),
         "Any number of leading dimensions is a batch.", hidden_only=True, aspect="masks", tests="dimensions"),
]

_ROOT = "math.sqrt(q.size(-1))"
_PRODUCTS = "q @ k.transpose(-2, -1)"
_SCORES = f"{_PRODUCTS} / {_ROOT}"
_IF = "if mask is not None:"
_FILL = "scores.masked_fill(~mask, -math.inf)"
_SOFTMAX = "F.softmax(scores, dim=-1)"
_RESULT = "return weights @ v, weights"

MISTAKES = [
    # Mistakes in the scaling.
    wrong("unscaled", "The scaling is missing, at least where there is a mask: your weights are too sharp.",
          "What is the standard deviation of the scores without it?",
          edit(f" / {_ROOT}", ""),
          edit(_FILL, f"({_PRODUCTS}).masked_fill(~mask, -math.inf)", name="unscaled_with_mask")),
    wrong("by_size", "You scaled by a wrong power of `d_k`: the scores must be divided by its square root.",
          "The variance of a score is `d_k`. What is its standard deviation, and how many times is each score scaled?",
          edit(_ROOT, "q.size(-1)"),
          edit(" / math.sqrt", " * math.sqrt", name="multiplied")),
    wrong("root_of_keys",
          "You took the square root of the wrong size: the number of keys or queries, or the dimension of the values.",
          "Which dimension does a dot product sum over?",
          edit(_ROOT, "math.sqrt(k.size(-2))"),
          edit(_ROOT, "math.sqrt(q.size(-2))", name="root_of_queries"),
          edit(_ROOT, "math.sqrt(v.size(-1))", name="root_of_value_size")),
    wrong("fixed_eight",
          "Your divisor is the square root of `d_k` for some inputs only: it is fixed (8, as in the paper), truncated, "
          "or read from dimension 1.",
          "Which index refers to the last dimension, however many there are?",
          edit(_ROOT, "8.0"),
          edit(_ROOT, f"int({_ROOT})", name="whole_root"),
          edit(_ROOT, "math.sqrt(q.size(1))", name="second_size")),
    wrong("scaled_after", "You divided the *weights*, after the softmax, so they no longer sum to one.",
          "Which should have a standard deviation of 1: the scores, or the weights?",
          edit(f" / {_ROOT}", "", _SOFTMAX, f"{_SOFTMAX} / {_ROOT}")),
    # Mistakes in the softmax: its dimension, and what stands in for it.
    wrong("over_queries",
          "Your *columns* sum to one: the softmax runs over the queries (dimension -2) instead of the keys.",
          "One query divides its attention among all keys. Which dimension holds these weights?",
          edit(_SOFTMAX, "F.softmax(scores, dim=-2)")),
    wrong("over_second", "The softmax runs over dimension 0, 1 or 2, which is the last one for some inputs only.",
          "Which index refers to the last dimension of any tensor?",
          edit(_SOFTMAX, "F.softmax(scores, dim=1)"),
          edit(_SOFTMAX, "F.softmax(scores, dim=0)", name="over_first"),
          edit(_SOFTMAX, "F.softmax(scores, dim=2)", name="over_second_of_batch")),
    common("twice", edit(_SOFTMAX, "F.softmax(scores, dim=-1).softmax(-1)")),
    wrong("no_softmax",
          "There is no softmax: your weights are the scores, their logarithms (`log_softmax`), sigmoids or quotients.",
          "What must the weights of one query sum to, and which function makes any number positive?",
          edit(_SOFTMAX, "scores"),
          edit(_SOFTMAX, "F.log_softmax(scores, dim=-1)", name="logarithms"),
          edit(_SOFTMAX, "torch.sigmoid(scores)", name="sigmoids"),
          edit(_SOFTMAX, "scores / scores.sum(-1, keepdim=True)", name="plain_normalised")),
    wrong("overflow",
          "Large scores overflow in `exp`, and `inf / inf` is `nan`. Zeros in its place leave rows without weights.",
          "What did Exercise 2.2 do about that? Every row here allows at least one key.",
          edit(_SOFTMAX, "scores.exp() / scores.exp().sum(-1, keepdim=True)"),
          edit(_SOFTMAX, "(scores.exp() / scores.exp().sum(-1, keepdim=True)).nan_to_num(0.0)", name="hidden_nan"),
          tests="mask allows"),
    wrong("largest_only",
          "Each query takes only the best key, as a dictionary does. There is no mixture and no gradient.",
          "What is the difference between a *hard* and a *soft* maximum?",
          edit(_SOFTMAX, "F.one_hot(scores.argmax(-1), scores.size(-1)).to(scores.dtype)")),
    # Mistakes in the two products: queries and keys, weights and values.
    wrong("cosine", "Your scores are cosines or distances. Both are reasonable similarities, but not dot products.",
          "Which operation does the formula apply to `q` and `k`, and does the length of a key count?",
          edit(_PRODUCTS, "F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)"),
          edit(_PRODUCTS, "-torch.cdist(q, k)", name="distance")),
    wrong("queries_only", "You compared the queries with each other; the keys are never used.",
          "Which two matrices give the scores? Does your code use both?",
          edit(_PRODUCTS, "q @ q.transpose(-2, -1)")),
    wrong("no_transpose",
          "Rows of `q` have to meet rows of `k`: `q @ k` lets them meet columns, and `q * k` compares query 0 with key "
          "0 only.",
          "How many dot products are there, and what turns the rows of `k` into columns?",
          edit(_PRODUCTS, "q @ k"),
          edit(_PRODUCTS, "q * k", name="elementwise")),
    wrong("keys_ask", "Queries and keys are swapped: your rows belong to keys.",
          "There is one output per *query*. Which matrix belongs on the left of the product?",
          edit(_PRODUCTS, "k @ q.transpose(-2, -1)")),
    wrong("reshaped",
          "You reshaped the keys to make the shapes fit. That rearranges their entries; it does not transpose them.",
          "Try reshaping and transposing a 2 x 3 matrix with the entries 1 to 6. Where does the 2 go?",
          edit("k.transpose(-2, -1)", "k.reshape(*k.shape[:-2], k.size(-1), -1)")),
    wrong("capital_t",
          "Your product of `q` and `k` works for some numbers of dimensions only: `k.T` reverses all of them, dimensions "
          "counted from the front are the last two of some tensors only, and `bmm` takes exactly three.",
          "Which two dimensions should swap, counted from the end, and which product takes any leading dimensions?",
          edit("k.transpose(-2, -1)", "k.T"),
          edit("k.transpose(-2, -1)", "k.transpose(1, 2)", name="one_and_two"),
          edit("k.transpose(-2, -1)", "k.transpose(0, 1)", name="zero_and_one"),
          edit(_PRODUCTS, "torch.bmm(q, k.transpose(-2, -1))", name="bmm_only")),
    wrong("first_sentence", "Every sentence of the batch gets the keys, the values or the mask of the first one.",
          "Is there an index `[0]` or `[:1]` somewhere in your code?",
          edit(_RESULT, "return weights @ (v[:1] if v.dim() > 2 else v), weights"),
          edit(_PRODUCTS, "q @ (k[:1] if k.dim() > 2 else k).transpose(-2, -1)", name="first_keys"),
          edit("~mask", "~(mask[:1] if mask.dim() > 2 else mask)", name="first_mask")),
    wrong("weights_turned", "You mixed the values with the transposed weights.",
          "Row `i` of the output belongs to query `i`. Which row of the weights belongs to it?",
          edit(_RESULT, "return weights.transpose(-2, -1) @ v, weights")),
    wrong("mixes_keys", "You mixed the *keys* instead of the values.",
          "Keys are only compared with the query. What is returned once a key fits?",
          edit(_RESULT, "return weights @ k, weights")),
    wrong("mixes_plainly", "The output is the plain mean of the values; the weights are never used.",
          "Where do the weights enter the output?",
          edit(_RESULT, "return v.mean(-2, keepdim=True).expand(*weights.shape[:-1], -1), weights")),
    # Mistakes in what comes back: order, gradients, types.
    common("only_output", edit(_RESULT, "return weights @ v")),
    common("weights_first", edit(_RESULT, "return weights, weights @ v")),
    wrong("scores_returned", "You returned the scores instead of the weights.",
          "Do the rows of your second result sum to one?",
          edit(_RESULT, "return weights @ v, scores")),
    wrong("no_gradient", "No gradient flows back: something cuts the graph (`detach`, `no_grad`, NumPy).",
          "`q` will come from a layer with weights. Could they learn through your function?",
          edit(_SOFTMAX, "F.softmax(scores.detach(), dim=-1)"),
          edit(_RESULT, "return (weights @ v).detach(), weights", name="no_gradient_at_all"),
          edit(_RESULT, "return torch.from_numpy(weights.detach().numpy() @ v.detach().numpy()), weights", name="numpy")),
    common("weights_detached", on=_RESULT),
    wrong("in_place", "Your function modified its arguments, `q` or the mask, even if it undoes that later.",
          "What is the difference between `q = q / n` and `q /= n`, or between `~mask` and `mask.logical_not_()`?",
          edit(_SCORES, f"q.div_({_ROOT}) @ k.transpose(-2, -1)"),
          edit(_SCORES, f"q.data.div_({_ROOT}) @ k.transpose(-2, -1); q.data.mul_({_ROOT})", name="scaled_and_back"),
          edit("~mask", "mask.logical_not_()", name="mask_inverted_in_place"), tests="modified"),
    wrong("dropout", "Some weights are randomly zeroed: there is a dropout that the exercise does not ask for.",
          "Why do two calls with the same input differ?",
          edit(_SOFTMAX, "F.dropout(F.softmax(scores, dim=-1), 0.1)")),
    wrong("in_float32", "Inputs of a different dtype, such as bfloat16, come back as float32.",
          "Which of your calls sets a dtype, and where do you convert back to that of `q`?",
          edit(_SOFTMAX, "F.softmax(scores, dim=-1, dtype=torch.float32)", "@ v,", "@ v.to(weights.dtype),"),
          edit(_SOFTMAX, "F.softmax(scores, dim=-1, dtype=torch.float32 if mask is None else None)",
               "@ v,", "@ v.to(weights.dtype),", name="in_float32_without_a_mask")),
    wrong("half_precision",
          "The results are close but imprecise: they were rounded, or went through a 16-bit dtype on the way.",
          "Is there a `round` left over from printing, or a call that changes the dtype?",
          edit(_SOFTMAX, "F.softmax(scores.bfloat16(), dim=-1).to(q.dtype)"),
          edit(_SOFTMAX, "F.softmax(scores, dim=-1).round(decimals=2)", name="rounded")),
    wrong("mask_ignored", "The mask has no effect.",
          "What do you do with the result of `masked_fill`? It leaves the original tensor unchanged.",
          edit(f"scores = {_FILL}", _FILL)),
    wrong("inverted", "The mask is inverted: you masked what `True` allows.",
          "In this course `True` means *may attend*. Which entries must get minus infinity?",
          edit("~mask", "mask"), tests="everything"),
    wrong("after_softmax", "You masked entries *after* the softmax, so what the allowed keys get does not sum to one.",
          "If you mask *before* the softmax, do you have to renormalise at all?",
          edit(f"scores = {_FILL}", "pass", _SOFTMAX, f"{_SOFTMAX} * (1 if mask is None else mask)"),
          edit(f"scores = {_FILL}", "pass",
               _RESULT, "return (weights if mask is None else weights * mask) @ v, weights", name="values_masked"),
          edit(f"{_IF}\n    scores = {_FILL}\nweights = {_SOFTMAX}", f"""
              weights = {_SOFTMAX}
              {_IF}
                  weights = weights * mask
                  weights = weights / (weights.sum(-1, keepdim=True) + 0.01)
              """, name="renormalised_badly")),
    wrong("fill_zero",
          "Masked keys keep an ordinary score, so they still get weight: e^0 is 1, and e^-10 is not 0 either.",
          "For which score is the exponential zero?",
          edit("-math.inf", "0.0"),
          edit("-math.inf", "-1.0", name="fill_minus_one"),
          edit("-math.inf", "-10.0", name="fill_minus_ten"),
          edit(_FILL, "scores + mask", name="mask_added")),
    wrong("fill_minus_hundred",
          "What you fill in or subtract does not push masked scores far below every other, so masked keys can get "
          "weight.",
          "Which number is smaller than every possible score?",
          edit("-math.inf", "-100.0"),
          edit("-math.inf", "-1e6", name="fill_minus_a_million"),
          edit("-math.inf", "scores.min().item() - 1", name="fill_below_the_lowest"),
          edit(_FILL, "scores + (1.0 - mask.to(scores.dtype)) * -10000.0", name="subtracted")),
    wrong("fill_plus_infinity",
          "Your weights are `nan`: neither `inf - inf` (after *plus* infinity) nor `inf * 0` is a number.",
          "Which function fills in *minus* infinity where a mask says so, without arithmetic?",
          edit("-math.inf", "math.inf"),
          edit(_FILL, "scores * mask + (~mask) * -math.inf", name="infinity_times_zero"),
          edit(_FILL, "scores + (1.0 - mask.to(scores)) * -math.inf", name="infinity_times_mask")),
    wrong("output_unmasked", "Only one of your two results is masked: output and weights come from different scores.",
          "Which variable does the last product use, and which one do you return?",
          edit(_IF, f"plain = {_SOFTMAX}\n{_IF}", _RESULT, "return plain @ v, weights"),
          edit(_IF, f"plain = {_SOFTMAX}\n{_IF}", _RESULT, "return weights @ v, plain", name="weights_unmasked")),
    wrong("mask_turned",
          "The mask broadcasts to the scores as it is, but you swapped, added or reduced one of its dimensions.",
          "What are the shapes of the scores and of your mask in that line?",
          edit("~mask", "~mask.transpose(-2, -1)"),
          edit("~mask", "~mask.unsqueeze(1)", name="mask_unsqueezed"),
          edit("~mask", "~mask.any(-2, keepdim=True)", name="mask_of_keys_only")),
    wrong("truth_of_tensor",
          "You do not ask whether there *is* a mask: a whole tensor has no truth value, and `None` is no tensor.",
          "How do you test whether something is not `None`?",
          edit(_IF, "if mask:"),
          edit(_IF, "if True:", name="mask_required")),
    wrong("always_causal", "You always apply a causal mask, whatever mask the caller passes.",
          "Who decides which mask is used?",
          edit(_IF, f"mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()\n{_IF}")),
]

ACCEPTED = [
    right("einsum", source("""
        def scaled_dot_product_attention(q, k, v, mask=None):
            scores = torch.einsum("...id,...jd->...ij", q, k) * q.shape[-1] ** -0.5
            if mask is not None:
                scores = torch.where(mask, scores, float("-inf"))
            weights = stable_softmax(scores)
            return torch.einsum("...ij,...jd->...id", weights, v), weights
        """)),
    right("large_number", edit("-math.inf", "-1e9", _SCORES, f"(q / {_ROOT}) @ k.mT")),
    right("fused_output", edit(_RESULT, "return F.scaled_dot_product_attention(q, k, v, attn_mask=mask), weights"),
          tests="`F.scaled_dot_product_attention`"),
    right("loops", source("""
        def scaled_dot_product_attention(q, k, v, mask=None):
            keys = range(k.shape[-2])
            scores = torch.stack([(q * k[..., [j], :]).sum(-1) for j in keys], -1) / k.shape[-1] ** 0.5
            allowed = torch.tensor(True) if mask is None else mask
            weights = torch.where(allowed, scores, -torch.inf).softmax(-1)
            return sum(weights[..., [j]] * v[..., [j], :] for j in keys), weights
        """)),
]

EXERCISE = Specification(
    tells={"property_alone": "first_mask"},
    target="scaled_dot_product_attention", results="output, weights",
    parts="weights",
    contract=Contract(
        narrow=True, on=("heads",),
        sizes=special_sizes(
            one_sentence=sizes(**_BATCH | {"batch": (1,)}, mask="1 Lq Lk"),
            one_query=sizes(**_BATCH | {"Lq": 1}, mask="B Lq Lk"), one_key=sizes(**_BATCH | {"Lk": 1}),
            vectors_of_size_one=sizes(**_BATCH | {"d_k": 1, "d_v": 1}, mask="B 1 Lk"),
            equal_sizes=sizes(batch=(4, 4), Lq=4, Lk=4, d_k=4, d_v=4, mask="4 4 Lq Lk"),
            as_many_sentences_as_queries=sizes(**_BATCH | {"batch": (3,)}, mask="Lq Lk"),
            as_many_heads_as_sentences=sizes(**_HEADS | {"batch": (3, 3)}, h=3, mask="h Lq Lk"),
            queries_of_zeros=sizes(**_BATCH, q=lambda draw: torch.zeros(2, 3, 4), mask="B Lq Lk"),
            all_open_for_each_query=sizes(**_BATCH, mask=lambda draw: torch.ones(3, 1, dtype=torch.bool)),
            **{f"a mask ({shape.replace(' ', ', ')})": sizes(**_HEADS, h=3, mask=shape)
               for shape in ("1 Lk", "Lq Lk", "h Lq Lk", "1 h Lq Lk", "B 1 Lq Lk", "B h 1 Lk", "B h Lq Lk")},
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
