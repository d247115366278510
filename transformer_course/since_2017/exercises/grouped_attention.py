"""Attention in which heads share keys and values."""

from __future__ import annotations

import torch

from autograder.authoring.contract import Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


def _tensors(
    batch: int, heads: int, groups: int, lq: int, lk: int, d_k: int, d_v: int,
    mask: str = "", scale: float = 2.0,
) -> Maker:  # fmt: skip
    def make_inputs(draw: Draw) -> Inputs:
        inputs: Inputs = {
            "q": draw.tensor(batch, heads, lq, d_k, scale=scale),
            "k": draw.tensor(batch, groups, lk, d_k, scale=scale),
            "v": draw.tensor(batch, groups, lk, d_v),
            "pull": draw.tensor(batch, heads, lq, d_v, scale=1.0),
        }
        shapes = {
            "shared": (lq, lk),
            "by text": (batch, 1, lq, lk),
            "by head": (batch, heads, lq, lk),
            "of keys": (batch, 1, 1, lk),
            "one row": (1, lk),
            "of heads": (heads, lq, lk),
        }
        if mask:
            allowed = draw.flags(*shapes[mask])
            allowed[..., 1] = True  # no row is empty
            allowed[..., 0] = False
            inputs["mask"] = allowed
        return inputs

    return make_inputs


def _far(draw: Draw) -> Inputs:
    """Allowed scores far below zero, one far above the rest; masked ones above them.

    One allowed score is so much larger that the weights are the same however they are
    rounded. The second text has usual scores, because such weights tell little.
    """
    q, k = draw.tensor(2, 4, 3, 8), draw.tensor(2, 2, 5, 8)
    mask = torch.arange(5) % 2 == 0
    k[0, :, mask] = 0.0
    q[0, ..., 0], k[0, ..., 0] = 256.0, torch.tensor([-256.0, 256.0, -260.0, 256.0, -264.0])
    return {
        "q": q, "k": k, "v": draw.tensor(2, 2, 5, 6), "mask": mask.expand(3, 5).clone(),
    }  # fmt: skip


def _large(draw: Draw) -> Inputs:
    """Scores in the hundreds; without gradients, which would consist of rounding errors."""
    inputs = _tensors(2, 8, 4, 3, 9, 5, 6, mask="by head", scale=8.0)(draw)
    del inputs["pull"]
    return inputs


def _impossible(heads: int, groups: int) -> Maker:
    def make_inputs(draw: Draw) -> Inputs:
        return {
            "q": draw.tensor(2, heads, 3, 4), "k": draw.tensor(2, groups, 5, 4),
            "v": draw.tensor(2, groups, 5, 6), "refused": f"{heads} heads in {groups} groups",
        }  # fmt: skip

    return make_inputs


_CHECK = """
if heads % groups:
    raise ValueError(f"{heads} query heads do not divide into {groups} groups")
"""
_BY_GROUP = "by_group = q.unflatten(1, (groups, -1))"
_SCORES = "by_group @ k.unsqueeze(2).transpose(-2, -1)"
_OUTPUT = "output = weights.unflatten(1, (groups, -1)) @ v.unsqueeze(2)"

CASES = [
    case("two_groups", "6 query heads, 2 of keys", _tensors(3, 6, 2, 4, 5, 8, 7),
         "Query heads 0, 1 and 2 belong to key head 0."),
    case("masked", "4 query heads, 2 of keys, a mask for each text", _tensors(2, 4, 2, 3, 6, 5, 7, mask="by text"),
         "`True` means that the query may attend to the key."),
    case("one_group", "multi-query: 3 query heads, 1 of keys, a shared mask",
         _tensors(2, 3, 1, 5, 4, 6, 8, mask="shared"),
         "All heads of queries see the same keys."),
    case("as_many", "multi-head: 4 of each, a mask for each head", _tensors(3, 4, 4, 2, 7, 6, 5, mask="by head"),
         "The mask has the heads of the queries."),
    case("far", "allowed keys whose scores are far below those of masked ones", _far,
         "Which number is below every score, however low?"),
    case("refused", "5 query heads, 2 of keys", _impossible(5, 2),
         "The docstring names the error to raise.", aspect="errors", open=True),
    case("no_mask", "as many keys as queries, and no mask", _tensors(2, 4, 2, 9, 9, 5, 6),
         "Without a mask, every query may attend to every key."),
    case("large", "8 query heads, 4 of keys, large logits", _large,
         "As above.", hidden_only=True),
    case("refused_again", "3 query heads, 6 of keys", _impossible(3, 6),
         "The docstring names the error to raise.", aspect="errors", hidden_only=True, open=True),
]

MISTAKES = [
    wrong("in_turn",
          "Query head i uses key head i % g, but neighbouring query heads should share a key head.",
          "With 6 query heads and 2 key heads, to which key head does query head 1 belong?",
          source("""
              def grouped_attention(q, k, v, mask=None):
                  heads, groups = q.size(1), k.size(1)
                  if heads % groups:
                      raise ValueError("heads do not divide into groups")
                  k, v = (t.repeat(1, heads // groups, 1, 1) for t in (k, v))
                  scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
                  if mask is not None:
                      scores = scores.masked_fill(~mask, -math.inf)
                  weights = scores.softmax(-1)
                  return weights @ v, weights
              """)),
    wrong("values_in_turn",
          "Neighbouring query heads share keys, but query head i uses value head i % g.",
          "Do a head's keys and values belong together?",
          edit(_OUTPUT, "output = (weights @ v.repeat(1, heads // groups, 1, 1)).unflatten(1, (groups, -1))")),
    wrong("keys_in_turn",
          "Neighbouring query heads share values, but query head i uses key head i % g.",
          "Do a head's keys and values belong together?",
          edit(_SCORES, "(q @ k.repeat(1, heads // groups, 1, 1).transpose(-2, -1)).unflatten(1, (groups, -1))"),
          tests="value head"),
    wrong("first_group_for_all",
          "All query heads use the first head of keys and values.",
          "Which key head does the last query head see?",
          edit(_SCORES, "by_group @ k[:, :1].unsqueeze(2).transpose(-2, -1)",
               "@ v.unsqueeze(2)", "@ v[:, :1].unsqueeze(2)")),
    wrong("groups_averaged",
          "Keys and values of all groups are averaged.",
          "Which group's keys does query head 0 see?",
          edit(_SCORES, "by_group @ k.mean(1, keepdim=True).unsqueeze(2).transpose(-2, -1)",
               "@ v.unsqueeze(2)", "@ v.mean(1, keepdim=True).unsqueeze(2)")),
    wrong("queries_averaged",
          "The queries of a group are averaged, so all of its heads are equal.",
          "How many different queries does a group have?",
          edit(_BY_GROUP,
               "by_group = q.unflatten(1, (groups, -1)); by_group = by_group.mean(2, keepdim=True).expand_as(by_group)")),
    wrong("groups_backwards",
          "The groups are in the reverse order.",
          "Which key head does query head 0 see?",
          edit(_SCORES, "by_group @ k.flip(1).unsqueeze(2).transpose(-2, -1)",
               "@ v.unsqueeze(2)", "@ v.flip(1).unsqueeze(2)")),
    wrong("not_scaled",
          "The scores are not divided by the root of `d_k`.",
          "What was the variance argument of unit 2?",
          edit(" / math.sqrt(q.size(-1))", "")),
    wrong("scaled_by_d",
          "The scores are divided by `d_k`, not by its root.",
          "What grows with `d_k`: the variance or the standard deviation?",
          edit("math.sqrt(q.size(-1))", "q.size(-1)")),
    wrong("scaled_by_other_size",
          "The scores are scaled by a size other than `d_k`.",
          "Over which dimension do the dot products run?",
          edit("math.sqrt(q.size(-1))", "math.sqrt(v.size(-1))")),
    wrong("mask_ignored",
          "The mask has no influence.",
          "What happens in your code if `mask` is not None?",
          edit("if mask is not None:", "if False:")),
    wrong("mask_inverted",
          "The mask is inverted: queries see masked keys.",
          "What does True mean in this course?",
          edit("masked_fill(~mask", "masked_fill(mask")),
    wrong("mask_too_late",
          "Masked weights are set to zero *after* the softmax, so the others do not sum to 1.",
          "Before or after: when do the weights of a row sum to 1?",
          edit("scores = scores.masked_fill(~mask, -math.inf)", "pass",
               "weights = scores.softmax(dim=-1)",
               "weights = scores.softmax(dim=-1) if mask is None else scores.softmax(dim=-1) * mask")),
    wrong("zero_instead_of_minus_infinity",
          "Masked scores are set to 0; a score of 0 still gets weight.",
          "What is `e^0`?",
          edit("-math.inf", "0.0")),
    wrong("softmax_over_queries",
          "The softmax runs over the queries.",
          "Which dimension of `(…, Lq, Lk)` holds the keys?",
          edit("softmax(dim=-1)", "softmax(dim=-2)")),
    wrong("softmax_over_heads",
          "The softmax runs over the heads.",
          "Which weights should sum to 1?",
          edit("softmax(dim=-1)", "softmax(dim=1)")),
    wrong("pair_swapped",
          "The pair is in the wrong order: return first the output, then the weights.",
          "According to the docstring, what should be returned first?",
          edit("return output.flatten(1, 2), weights", "return weights, output.flatten(1, 2)")),
    wrong("output_only",
          "Only the output is returned.",
          "According to the docstring, what else should you return?",
          edit("return output.flatten(1, 2), weights", "return output.flatten(1, 2)")),
    wrong("still_by_group",
          "Output or weights still have a dimension of groups.",
          "Which shapes does the docstring promise?",
          edit("return output.flatten(1, 2), weights", "return output, weights")),
    wrong("not_refused",
          "Numbers of heads that do not divide are accepted, or fail with an unhelpful error.",
          "What happens with 5 query heads and 2 of keys?",
          edit(_CHECK, ""), tests="ValueError"),
    wrong("an_assertion",
          "Numbers of heads that do not divide raise an error other than a ValueError.",
          "Which kind of error does the docstring name?",
          edit(_CHECK, "assert heads % groups == 0")),
    wrong("values_changed",
          "Your function changes one of its inputs.",
          "Which operation of yours works in place?",
          edit("heads, groups = q.size(1), k.size(1)", "heads, groups = q.size(1), k.size(1); q.div_(2); k.mul_(2)")),
    wrong("first_text_for_all",
          "All texts see the keys of the first one.",
          "Which text's keys does a query of text 1 see?",
          edit(_SCORES, "by_group @ k[:1].unsqueeze(2).transpose(-2, -1)")),
    wrong("finite_infinity",
          "You use a number like -100 or -10,000 for minus infinity; allowed scores can be even lower.",
          "Which number is below every score?",
          edit("-math.inf", "-100.0")),
]

ACCEPTED = [
    right("an_error_without_words",
          edit('ValueError(f"{heads} query heads do not divide into {groups} groups")', "ValueError")),
    right("repeat_interleave", source("""
        def grouped_attention(q, k, v, mask=None):
            if q.shape[1] % k.shape[1] != 0:
                raise ValueError("the number of heads must be a multiple of the groups")
            n = q.shape[1] // k.shape[1]
            k, v = k.repeat_interleave(n, dim=1), v.repeat_interleave(n, dim=1)
            scores = torch.einsum("bhqd,bhkd->bhqk", q, k) * q.shape[-1] ** -0.5
            if mask is not None:
                scores = torch.where(mask, scores, float("-inf"))
            weights = torch.softmax(scores, -1)
            return torch.einsum("bhqk,bhkd->bhqd", weights, v), weights
        """), tests="`repeat_interleave`"),
    right("logarithms", edit("weights = scores.softmax(dim=-1)",
                             "weights = (scores - scores.logsumexp(dim=-1, keepdim=True)).exp()")),
    right("loop_over_heads", source("""
        def grouped_attention(q, k, v, mask=None):
            h, g = q.size(1), k.size(1)
            if h % g:
                raise ValueError(f"cannot share {g} groups among {h} heads")
            every = []
            for i in range(h):
                s = q[:, i] @ k[:, i * g // h].mT / q.size(-1) ** 0.5
                every.append(s)
            s = torch.stack(every, 1)
            if mask is not None:
                s = s + torch.zeros(mask.shape).masked_fill(~mask, -torch.inf).to(s.dtype)
            w = s.softmax(-1)
            return torch.stack([w[:, i] @ v[:, i * g // h] for i in range(h)], 1), w
        """)),
    right("einsum_by_group",
          edit(_SCORES, 'torch.einsum("bgnqd,bgkd->bgnqk", by_group, k)',
               _OUTPUT, 'output = torch.einsum("bgnqk,bgkd->bgnqd", weights.unflatten(1, (groups, -1)), v)')),
    right("expand", source("""
        def grouped_attention(q, k, v, mask=None):
            b, h, lq, d = q.shape
            g = k.shape[1]
            if h % g:
                raise ValueError("groups must divide heads")
            k = k[:, :, None].expand(-1, -1, h // g, -1, -1).reshape(b, h, -1, d)
            v = v[:, :, None].expand(-1, -1, h // g, -1, -1).reshape(b, h, k.shape[2], -1)
            scores = q @ k.transpose(2, 3) / math.sqrt(d)
            if mask is not None:
                scores = scores.masked_fill(mask.logical_not(), float("-inf"))
            weights = F.softmax(scores, dim=-1)
            return torch.matmul(weights, v), weights
        """)),
]

EXERCISE = Specification(
    aspects={"weights": 4.0},  # right ones are half of the way
    contract=Contract(
        arguments="q: B h Lq d; k: B g Lk d; v: B g Lk e; mask?: Lq Lk | h Lq Lk | B b Lq Lk",
        results="output: B h Lq e; weights: B h Lq Lk", on=("two_groups", "masked"),
        sizes=special(
            one_text=_tensors(1, 4, 2, 3, 5, 4, 6, mask="by text"),
            one_query=_tensors(2, 4, 2, 1, 5, 4, 6, mask="by head"), one_key=_tensors(2, 6, 3, 4, 1, 5, 3),
            as_many_keys_as_queries=_tensors(3, 4, 2, 5, 5, 4, 6),
            equal_sizes=_tensors(4, 4, 4, 4, 4, 4, 4, mask="by head"),
            a_mask_for_all_queries=_tensors(3, 4, 2, 5, 6, 4, 7, mask="of keys"),
            a_mask_for_each_head_of_all_texts=_tensors(4, 4, 2, 5, 6, 4, 7, mask="of heads"),
            as_many_texts_as_queries=_tensors(5, 4, 2, 5, 6, 4, 7, mask="shared"),
            a_mask_of_one_row=_tensors(3, 4, 2, 5, 6, 4, 7, mask="one row"),
        ),
    ),
    ready_made=("F.scaled_dot_product_attention",),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
