"""Scaled dot-product attention."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.contract import Contract, combine, masked, special
from autograder.authoring.draw import Draw
from autograder.authoring.inputs import causal_mask, open_mask, sizes_of
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.attention.exercises._scaled_dot_product_masks import (
    FILL,
    MASKS,
    RESULT,
    SOFTMAX,
)


def _triples(
    *lead: int, lq: int, lk: int, d_k: int, d_v: int, scale: float = 2.0, mask: tuple[int, ...] = (), pull: bool = False
) -> Maker:
    """Queries, keys, values; a mask of the given shape; weights for a gradient."""

    def make_inputs(draw: Draw) -> Inputs:
        inputs: Inputs = {
            "q": draw.tensor(*lead, lq, d_k, scale=scale),
            "k": draw.tensor(*lead, lk, d_k, scale=scale),
            "v": draw.tensor(*lead, lk, d_v),
        }
        inputs |= {"mask": open_mask(draw, *mask)} if mask else {}
        return inputs | ({"pull": draw.tensor(*lead, lq, d_v)} if pull else {})

    return make_inputs


def _causal_triples(draw: Draw) -> Inputs:
    inputs = _triples(2, lq=5, lk=5, d_k=6, d_v=3)(draw)
    return inputs | {"mask": causal_mask(5)}


def _large_triples(draw: Draw) -> Inputs:
    """Queries and keys whose scores are large and close to each other."""
    inputs = _triples(2, lq=5, lk=4, d_k=3, d_v=6, mask=(2, 5, 4))(draw)
    inputs["q"][..., 0] = 64.0 * torch.tensor([1, -1, 1, -1, 1])
    inputs["k"][..., 0] = 8.0
    return inputs


def _far_triples(draw: Draw) -> Inputs:
    """Allowed keys with scores far below zero, the first far above the others, and masked keys with scores above them.

    One allowed score is so much larger that the weights are the same however they are rounded. The
    second sentence has usual scores: such shares tell little.
    """
    level = torch.tensor([-2048.0, -2080.0, 2048.0, -2112.0, 2048.0])  # of each key
    q, k = draw.tensor(2, 3, 4), draw.tensor(2, 5, 4)
    k[0, level < 0] = 0.0
    k[0, :, 0], q[0, :, 0] = level, 2048.0
    mask = (level < 0).expand(2, 1, 5)
    return {"q": q, "k": k, "v": draw.tensor(2, 5, 6), "mask": mask.clone()}


def _queries_of_zeros(draw: Draw) -> Inputs:
    """All scores are zero, so that what is filled in for masked keys must not depend on them."""
    inputs = _triples(2, lq=3, lk=5, d_k=4, d_v=2, mask=(2, 3, 5))(draw)
    return inputs | {"q": torch.zeros_like(inputs["q"])}


def _open_for_each_query(draw: Draw) -> Inputs:
    """A mask (Lq, 1): each query sees all keys or none; at least one query sees them."""
    inputs = _triples(2, lq=3, lk=5, d_k=4, d_v=6)(draw)
    return inputs | {"mask": torch.ones(3, 1, dtype=torch.bool)}


def _three_dimensions(mask: str) -> Maker:
    shape = sizes_of(mask, B=2, Lq=3, Lk=5)
    return _triples(2, lq=3, lk=5, d_k=4, d_v=6, mask=shape)


def _four_dimensions(mask: str) -> Maker:
    shape = sizes_of(mask, B=2, h=3, Lq=4, Lk=5)
    return _triples(2, 3, lq=4, lk=5, d_k=6, d_v=7, mask=shape)


CASES = [
    case("matrix", "4 queries and 5 keys with d_k = 8, no batch, no mask", _triples(lq=4, lk=5, d_k=8, d_v=3),
         "Compare with the steps: scores, scaling, softmax, weighted sum."),
    case("batch", "a batch of 2, and the gradient", _triples(2, lq=3, lk=7, d_k=6, d_v=4, pull=True),
         "Each sentence of the batch is independent, and gradients must flow."),
    case("heads", "a batch of 2 with 3 heads, and a mask for each sentence",
         _triples(2, 3, lq=4, lk=5, d_k=6, d_v=7, mask=(2, 1, 1, 5)),
         "The mask (B, 1, 1, Lk) broadcasts: it is the same for all heads and queries.", aspect="masks"),
    case("far", "allowed scores near -2,000,000, and masked ones near 2,000,000", _far_triples,
         "A masked key gets weight 0, however large its score and however small the allowed ones. Which number is "
         "below all others?", aspect="masks"),
    case("large", "huge scores, near 300 and near -300, and a mask", _large_triples,
         "Large scores must give weights, not nan; masked keys get weight 0.", atol=2e-4, aspect="masks"),
    case("causal", "a causal mask", _causal_triples,
         "The mask (L, L) says which keys each query may attend to.", aspect="masks"),
    case("full_mask", "a different mask for each sentence and query",
         _triples(3, lq=5, lk=6, d_k=2, d_v=4, mask=(3, 5, 6), pull=True),
         "The mask (B, Lq, Lk) is different for each sentence.", aspect="masks"),
    case("itself", "one tensor as queries, keys and values", lambda draw: {"x": draw.tensor(2, 5, 4, scale=2.0)},
         "Without a mask, every query attends to every key, including its own.", hidden_only=True),
    case("many", "five dimensions and a mask", _triples(2, 1, 3, lq=4, lk=6, d_k=7, d_v=5, mask=(4, 6)),
         "Any number of leading dimensions is a batch.", hidden_only=True, aspect="masks", tests="dimensions"),
]

MISTAKES = [
    # Mistakes in the scaling.
    wrong("unscaled",
          "The scaling is missing: your weights are too sharp.",
          "What is the standard deviation of the scores without it?",
          edit(" / math.sqrt(q.size(-1))", "")),
    wrong("by_size",
          "You divided by `d_k` itself, not by its square root, so your weights are too uniform.",
          "The variance of a score is `d_k`. What is its standard deviation, and how many times is each score scaled?",
          edit("math.sqrt(q.size(-1))", "q.size(-1)")),
    wrong("multiplied",
          "You multiplied by the square root of `d_k` instead of dividing by it.",
          "Are scores of long vectors too large or too small?",
          edit(" / math.sqrt", " * math.sqrt")),
    wrong("root_of_keys",
          "You scaled by the square root of the number of keys.",
          "Which dimension does a dot product sum over?",
          edit("math.sqrt(q.size(-1))", "math.sqrt(k.size(-2))")),
    wrong("root_of_queries",
          "You scaled by the square root of the number of queries.",
          "Which dimension does a dot product sum over?",
          edit("math.sqrt(q.size(-1))", "math.sqrt(q.size(-2))")),
    wrong("root_of_value_size",
          "You scaled by the square root of `d_v`, the dimension of the values, which take no part in the scores.",
          "Which two tensors give the scores, and what is their last dimension?",
          edit("math.sqrt(q.size(-1))", "math.sqrt(v.size(-1))")),
    wrong("second_size",
          "You read `d_k` from dimension 1, which is correct only without a batch.",
          "Which index refers to the last dimension, however many there are?",
          edit("math.sqrt(q.size(-1))", "math.sqrt(q.size(1))")),
    wrong("fixed_eight",
          "You always divide by 8, the square root of 64, which is the `d_k` of the paper.",
          "How can you read `d_k` from the inputs?",
          edit("math.sqrt(q.size(-1))", "8.0")),
    wrong("whole_root",
          "The square root of `d_k` was truncated to an integer.",
          "What is the square root of 6, and what is `int` of it?",
          edit("math.sqrt(q.size(-1))", "int(math.sqrt(q.size(-1)))")),
    wrong("standardised",
          "You divided by the measured standard deviation of the scores, so each score depends on all the others.",
          "Which divisor gives a standard deviation of 1 on average, without looking at the data?",
          edit("math.sqrt(q.size(-1))", "scores.std()", "scores = q @ k.transpose(-2, -1) / scores",
               "scores = q @ k.transpose(-2, -1); scores = scores / scores")),
    wrong("scaled_after",
          "You divided the *weights*, after the softmax, so they no longer sum to one.",
          "Which should have a standard deviation of 1: the scores, or the weights?",
          edit(" / math.sqrt(q.size(-1))", "", SOFTMAX, "F.softmax(scores, dim=-1) / math.sqrt(q.size(-1))")),
    # Mistakes in the softmax: its dimension, and what stands in for it.
    wrong("over_queries",
          "Your *columns* sum to one: the softmax runs over the queries (dimension -2) instead of the keys.",
          "One query divides its attention among all keys. Which dimension holds these weights?",
          edit(SOFTMAX, "F.softmax(scores, dim=-2)")),
    wrong("over_first",
          "The softmax runs over the first dimension, so the sentences of a batch compete with each other.",
          "Which dimension holds the weights of one query?",
          edit(SOFTMAX, "F.softmax(scores, dim=0)")),
    wrong("over_second",
          "The softmax runs over dimension 1, which is the last one only for a matrix.",
          "Which index refers to the last dimension of any tensor?",
          edit(SOFTMAX, "F.softmax(scores, dim=1)")),
    wrong("over_second_of_batch",
          "The softmax runs over dimension 2, which is the last one for a batch `(B, Lq, Lk)`, but not without a "
          "batch, and not with heads.",
          "Which index refers to the last dimension of any tensor?",
          edit(SOFTMAX, "F.softmax(scores, dim=2)")),
    common("twice", edit(SOFTMAX, "F.softmax(scores, dim=-1).softmax(-1)")),
    wrong("logarithms",
          "Your weights are negative: they are logarithms, as `log_softmax` gives them.",
          "What must the weights of one query sum to?",
          edit(SOFTMAX, "F.log_softmax(scores, dim=-1)")),
    wrong("sigmoids",
          "You used a sigmoid: each weight is computed on its own, and a row does not sum to one.",
          "If all keys match equally well, how much weight can each one get?",
          edit(SOFTMAX, "torch.sigmoid(scores)")),
    wrong("plain_normalised",
          "You divided the scores by their sum, without the exponential, so weights can be negative or huge.",
          "Which function makes any number positive?",
          edit(SOFTMAX, "scores / scores.sum(-1, keepdim=True)")),
    wrong("no_softmax",
          "There is no softmax: your weights are the scores themselves.",
          "What must the weights of one query sum to?",
          edit(SOFTMAX, "scores")),
    wrong("overflow",
          "Small scores work, but large ones overflow in `exp`, and `inf / inf` is `nan`.",
          "What did Exercise 2.2 do about that?",
          edit(SOFTMAX, "scores.exp() / scores.exp().sum(-1, keepdim=True)")),
    wrong("hidden_nan",
          "You replaced `nan` by zero. That silences the alarm, but these rows have no weights at all.",
          "Where does the `nan` come from? Every row here allows at least one key.",
          edit(SOFTMAX, "(scores.exp() / scores.exp().sum(-1, keepdim=True)).nan_to_num(0.0)"), tests="mask allows"),
    # Mistakes in the two products: queries and keys, weights and values.
    wrong("cosine",
          "You normalised queries and keys first, so the scores are cosines, and lengths no longer count.",
          "Which operation does the formula apply to `q` and `k` before the product?",
          edit("q @ k.transpose(-2, -1)", "F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)")),
    wrong("distance",
          "Your scores are distances between queries and keys. That is a reasonable similarity, but not a dot product.",
          "What is the distance from a vector to itself, and what is its dot product with itself?",
          edit("q @ k.transpose(-2, -1)", "-torch.cdist(q, k)")),
    wrong("absolute",
          "All your scores are positive: the sign was lost somewhere.",
          "What score should a key get that points away from the query?",
          edit("q @ k.transpose(-2, -1)", "(q @ k.transpose(-2, -1)).abs()")),
    wrong("queries_only",
          "You compared the queries with each other; the keys are never used.",
          "Which two matrices give the scores? Does your code use both?",
          edit("q @ k.transpose(-2, -1)", "q @ q.transpose(-2, -1)")),
    wrong("no_transpose",
          "You multiplied `q` by `k` as it is: rows of `q` meet columns of `k`, and their lengths do not match.",
          "A key is a row of `k`. What turns rows into columns?",
          edit("q @ k.transpose(-2, -1)", "q @ k")),
    wrong("elementwise",
          "`*` multiplies element by element: it compares query 0 with key 0, query 1 with key 1, and needs as many "
          "keys as queries.",
          "Every query must be compared with every key. How many dot products is that?",
          edit("q @ k.transpose(-2, -1)", "q * k")),
    wrong("first_keys",
          "Every sentence of your batch is compared with the keys of the first one.",
          "Is there an index `[0]` or `[:1]` somewhere in your code?",
          edit("q @ k.transpose(-2, -1)", "q @ (k[:1] if k.dim() > 2 else k).transpose(-2, -1)")),
    wrong("averaged",
          "The output is too small by a factor of the number of keys: you averaged the weighted values instead of "
          "summing them.",
          "The weights already sum to one. Must you divide once more?",
          edit(RESULT, "return weights @ v / k.size(-2), weights")),
    wrong("largest_only",
          "Each query takes only the best key, as a dictionary does. There is no mixture and no gradient.",
          "What is the difference between a *hard* and a *soft* maximum?",
          edit(SOFTMAX, "F.one_hot(scores.argmax(-1), scores.size(-1)).to(scores.dtype)")),
    wrong("keys_ask",
          "Queries and keys are swapped: your rows belong to keys.",
          "There is one output per *query*. Which matrix belongs on the left of the product?",
          edit("q @ k.transpose(-2, -1)", "k @ q.transpose(-2, -1)")),
    wrong("reshaped",
          "You reshaped the keys to make the shapes fit. That rearranges their entries; it does not transpose them.",
          "Try reshaping and transposing a 2 x 3 matrix with the entries 1 to 6. Where does the 2 go?",
          edit("k.transpose(-2, -1)", "k.reshape(*k.shape[:-2], k.size(-1), -1)")),
    wrong("capital_t",
          "`k.T` reverses all dimensions, including the batch, so it works only for a plain matrix.",
          "Which two dimensions should swap, counted from the end?",
          edit("k.transpose(-2, -1)", "k.T")),
    wrong("one_and_two",
          "You swapped dimensions 1 and 2, which is right for a batch, but not without one, and not with heads.",
          "Which indices refer to the last two dimensions of any tensor?",
          edit("k.transpose(-2, -1)", "k.transpose(1, 2)")),
    wrong("bmm_only",
          "`bmm` takes exactly three dimensions, so it fails for a plain matrix and for heads.",
          "Which matrix product treats any number of leading dimensions as a batch?",
          edit("q @ k.transpose(-2, -1)", "torch.bmm(q, k.transpose(-2, -1))")),
    wrong("weights_turned",
          "You mixed the values with the transposed weights.",
          "Row `i` of the output belongs to query `i`. Which row of the weights belongs to it?",
          edit(RESULT, "return weights.transpose(-2, -1) @ v, weights")),
    wrong("mixes_keys",
          "You mixed the *keys* instead of the values.",
          "Keys are only compared with the query. What is returned once a key fits?",
          edit(RESULT, "return weights @ k, weights")),
    wrong("mixes_plainly",
          "The output is the plain mean of the values; the weights are never used.",
          "Where do the weights enter the output?",
          edit(RESULT, "return v.mean(-2, keepdim=True).expand(*weights.shape[:-1], -1), weights")),
    # Mistakes in what comes back: order, gradients, types.
    wrong("output_only",
          "You return only the output, without the attention weights.",
          "What does the docstring say comes second?",
          edit(RESULT, "return weights @ v")),
    common("weights_first", edit(RESULT, "return weights, weights @ v")),
    wrong("scores_returned",
          "You returned the scores instead of the weights.",
          "Do the rows of your second result sum to one?",
          edit(RESULT, "return weights @ v, scores")),
    wrong("first_sentence",
          "Every sentence of the batch uses the values of the first one.",
          "Is there an index `[0]` or `[:1]` somewhere in your code?",
          edit(RESULT, "return weights @ (v[:1] if v.dim() > 2 else v), weights")),
    wrong("no_gradient",
          "No gradient flows back: something cuts the graph (`detach`, `no_grad`, NumPy).",
          "`q` will come from a layer with weights. Could they learn through your function?",
          edit(SOFTMAX, "F.softmax(scores.detach(), dim=-1)")),
    wrong("no_gradient_at_all",
          "The output carries no gradient at all, not even to the values.",
          "Is there a `no_grad` or a `detach` around the whole computation?",
          edit(RESULT, "return (weights @ v).detach(), weights"),
          edit(RESULT,
               "return torch.from_numpy(weights.detach().numpy() @ v.detach().numpy()), weights", name="numpy")),
    common("weights_detached", on=RESULT),
    wrong("scaled_and_back",
          "The last digits of `q` change: you modified it, then undid the change.",
          "Do you always get the same number back when you divide and then multiply by 3?",
          edit("q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))",
               "q.data.div_(math.sqrt(q.size(-1))) @ k.transpose(-2, -1); q.data.mul_(math.sqrt(q.size(-1)))")),
    wrong("in_place",
          "`q` itself was modified, so a second call gives a different result.",
          "What is the difference between `q = q / n` and `q /= n`?",
          edit("q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))",
               "q.div_(math.sqrt(q.size(-1))) @ k.transpose(-2, -1)"), tests="modified"),
    wrong("dropout",
          "Some weights are randomly zeroed: there is a dropout that the exercise does not ask for.",
          "Why do two calls with the same input differ?",
          edit(SOFTMAX, "F.dropout(F.softmax(scores, dim=-1), 0.1)")),
    wrong("in_float32",
          "Inputs of a different dtype, such as bfloat16, come back as float32.",
          "Which of your calls sets a dtype, and where do you convert back to that of `q`?",
          edit(SOFTMAX, "F.softmax(scores, dim=-1, dtype=torch.float32)",
               "weights @ v,", "weights @ v.to(weights.dtype),"),
          edit(SOFTMAX, "F.softmax(scores, dim=-1, dtype=torch.float32 if mask is None else None)",
               "weights @ v,", "weights @ v.to(weights.dtype),", name="in_float32_without_a_mask")),
    wrong("half_precision",
          "The results are close but imprecise: they went through a 16-bit dtype on the way.",
          "Which of your calls changes the dtype?",
          edit(SOFTMAX, "F.softmax(scores.bfloat16(), dim=-1).to(q.dtype)")),
    wrong("rounded",
          "Your weights are rounded to a few digits.",
          "Is there a `round` left over from printing the weights?",
          edit(SOFTMAX, "F.softmax(scores, dim=-1).round(decimals=2)")),
    *MASKS,
]

ACCEPTED = [
    right("einsum", source("""
        def scaled_dot_product_attention(q, k, v, mask=None):
            scores = torch.einsum("...id,...jd->...ij", q, k) * q.shape[-1] ** -0.5
            if mask is not None:
                scores = torch.where(mask, scores, float("-inf"))
            weights = scores.softmax(-1)
            return torch.einsum("...ij,...jd->...id", weights, v), weights
        """)),
    right("large_number", edit("-math.inf", "-1e9")),
    right("smallest_number", edit("-math.inf", "torch.finfo(scores.dtype).min")),
    right("additive", edit(FILL, "scores + torch.zeros(mask.shape).to(scores).masked_fill(~mask, -math.inf)")),
    right("shares_by_logarithms",
          edit("F.softmax(scores, dim=-1)", "(scores - scores.logsumexp(dim=-1, keepdim=True)).exp()")),
    right("scale_the_queries",
          edit("q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))", "(q / math.sqrt(q.size(-1))) @ k.transpose(-2, -1)")),
    right("scale_the_keys", edit("q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))", "q @ (k / k.shape[-1] ** 0.5).mT")),
    right("scale_last",
          edit(" / math.sqrt(q.size(-1))", "", SOFTMAX, "F.softmax(scores / math.sqrt(q.size(-1)), dim=-1)")),
    right("fused_output", source("""
        def scaled_dot_product_attention(q, k, v, mask=None):
            output = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
            scores = q @ k.mT / math.sqrt(q.shape[-1])
            if mask is not None:
                scores = scores.masked_fill(mask.logical_not(), -torch.inf)
            return output, scores.softmax(dim=-1)
        """), tests="`F.scaled_dot_product_attention`"),
    right("fused_twice", source("""
        def scaled_dot_product_attention(q, k, v, mask=None):
            eye = torch.eye(k.shape[-2], dtype=k.dtype).expand(*k.shape[:-1], -1)
            weights = F.scaled_dot_product_attention(q, k, eye, attn_mask=mask)
            return weights @ v, weights
        """)),
    right("own_parts", source("""
        def scaled_dot_product_attention(q, k, v, mask=None):
            scores = q @ k.mT / math.sqrt(k.size(-1))
            if mask is not None:
                scores = scores.masked_fill(mask == False, -math.inf)  # noqa: E712
            weights = stable_softmax(scores)
            return weights @ v, weights
        """)),
    right("in_place_on_own",
          edit("scores = scores.masked_fill(~mask, -math.inf)", "scores.masked_fill_(~mask, -math.inf)")),
    right("masked_powers", source("""
        def scaled_dot_product_attention(q, k, v, mask=None):
            scores = q @ k.mT / math.sqrt(q.size(-1))
            keep = torch.ones_like(scores, dtype=torch.bool)
            if mask is not None:
                keep = keep & mask
            top = scores.masked_fill(~keep, -1e9).amax(-1, keepdim=True)
            powers = (scores - top).clamp(max=0).exp() * keep
            weights = powers / powers.sum(-1, keepdim=True)
            return weights @ v, weights
        """)),
    right("loops", source("""
        def scaled_dot_product_attention(q, k, v, mask=None):
            lead, d_k = q.shape[:-2], q.shape[-1]
            shape = (*lead, q.shape[-2], k.shape[-2])
            keep = torch.ones(shape, dtype=torch.bool)
            keep = (keep & mask if mask is not None else keep).reshape(-1, *shape[-2:])
            outputs, maps = [], []
            flat = (x.reshape(-1, *x.shape[-2:]) for x in (q, k, v))
            for queries, keys, values, allowed in zip(*flat, keep):
                for query, row in zip(queries, allowed):
                    scores = torch.stack([(query * key).sum() / d_k**0.5 for key in keys])
                    weights = torch.where(row, scores, -torch.inf).softmax(0)
                    maps.append(weights)
                    outputs.append(sum(w * value for w, value in zip(weights, values)))
            output = torch.stack(outputs).reshape(*q.shape[:-1], v.shape[-1])
            return output, torch.stack(maps).reshape(shape)
        """)),
    right("bmm", source("""
        def scaled_dot_product_attention(q, k, v, mask=None):
            lead = q.shape[:-2]
            a, b, c = (x.reshape(-1, x.shape[-2], x.shape[-1]) for x in (q, k, v))
            scores = torch.bmm(a, b.transpose(1, 2)).div(math.sqrt(q.size(-1)))
            scores = scores.reshape(*lead, *scores.shape[-2:])
            if mask is not None:
                scores = scores.masked_fill(~mask.expand_as(scores), -math.inf)
            weights = torch.softmax(scores, -1)
            output = torch.bmm(weights.reshape(-1, *weights.shape[-2:]), c)
            return output.reshape(*lead, *output.shape[-2:]), weights
        """)),
    right("list_returned", edit(RESULT, "return [weights @ v, weights]")),
    right("renormalised", source("""
        def scaled_dot_product_attention(q, k, v, mask=None):
            scores = q @ k.mT / math.sqrt(q.size(-1))
            if mask is not None:
                scores = scores - (~mask).to(scores.dtype) * 1e9
            weights = F.softmax(scores, dim=-1)
            if mask is not None:
                weights = weights * mask
                weights = weights / weights.sum(-1, keepdim=True)
            return weights @ v, weights
        """)),
]

EXERCISE = Specification(
    target="scaled_dot_product_attention",
    aspects={"weights": 4.0},  # right ones are half of the way
    contract=Contract(
        typed=True, narrow=True, arguments="q: B h Lq d; k: B h Lk d; v: B h Lk e; mask?: Lq Lk | B Lq Lk | B h Lq Lk",
        results="output: B h Lq e; weights: B h Lq Lk", on=("heads",),
        sizes=combine(
            special(
                one_sentence=_triples(1, lq=3, lk=4, d_k=5, d_v=2, mask=(1, 3, 4)),
                one_query=_triples(2, lq=1, lk=4, d_k=5, d_v=3, mask=(2, 1, 4)),
                one_key=_triples(2, lq=3, lk=1, d_k=5, d_v=4), values_of_size_one=_triples(2, lq=3, lk=4, d_k=1, d_v=1),
                equal_sizes=_triples(4, 4, lq=4, lk=4, d_k=4, d_v=4, mask=(4, 4, 4, 4)),
                as_many_sentences_as_queries=_triples(3, lq=3, lk=4, d_k=5, d_v=2, mask=(3, 4)),
                as_many_heads_as_sentences=_triples(3, 3, lq=4, lk=5, d_k=6, d_v=2, mask=(3, 4, 5)),
                as_many_sentences_as_queries_with_heads=_triples(3, 2, lq=3, lk=5, d_k=4, d_v=6, mask=(3, 5)),
                queries_of_zeros=_queries_of_zeros,
                scores_in_the_millions=_triples(2, lq=3, lk=5, d_k=4, d_v=2, scale=2000.0),
            ),
            masked(_three_dimensions, "Lq Lk", "B 1 Lk", "1 Lk"),
            masked(_four_dimensions, *("B h Lq Lk", "B h 1 Lk", "B 1 Lq Lk", "1 h Lq Lk", "h Lq Lk")),
            special(all_open_for_each_query=_open_for_each_query),
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
