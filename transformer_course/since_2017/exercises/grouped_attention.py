"""Cases and mistakes for an exercise: attention with shared keys and values."""

from __future__ import annotations

import torch

from autograder.authoring.contract import Contract
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification


def _draw_far_queries(draw: Draw) -> torch.Tensor:
    """Queries of two texts, of which the first has huge scores of both signs.

    The second has usual scores, because huge ones reveal few mistakes.
    """
    q = draw.tensor(2, 4, 3, 8)
    q[0, ..., 0] = 256.0
    return q


def _draw_far_keys(draw: Draw) -> torch.Tensor:
    """Draw keys of two texts; in one, allowed keys score far below the masked ones.

    This exposes functions that mask with -10,000, say, instead of minus infinity.
    """
    k = draw.tensor(2, 2, 5, 8)
    k[0, :, ::2] = 0.0
    k[0, ..., 0] = torch.tensor([-256.0, 256.0, -260.0, 256.0, -264.0])
    return k


_CHECK = """
if heads % groups:
    raise ValueError(f"{heads} query heads do not divide into {groups} groups")
"""
_BY_GROUP = "by_group = q.unflatten(1, (groups, -1))"
_SCORES = "by_group @ k.unsqueeze(2).transpose(-2, -1)"
_OUTPUT = "output = weights.unflatten(1, (groups, -1)) @ v.unsqueeze(2)"
_KEYS_IN_TURN = "(q @ k.repeat(1, heads // groups, 1, 1).transpose(-2, -1)).unflatten(1, (groups, -1))"
_VALUES_IN_TURN = "output = (weights @ v.repeat(1, heads // groups, 1, 1)).unflatten(1, (groups, -1))"

CASES = [
    case("two_groups", "6 query heads, 2 of keys", sizes(B=3, h=6, g=2, Lq=4, Lk=5, d_k=8, d_v=7),
         "Query heads 0, 1 and 2 belong to key head 0."),
    case("masked", "4 query heads, 2 of keys, a mask for each text",
         sizes(B=2, h=4, g=2, Lq=3, Lk=6, d_k=5, d_v=7, mask="B 1 Lq Lk"),
         "`True` means that the query may attend to the key."),
    case("one_group", "multi-query: 3 query heads, 1 of keys, a shared mask",
         sizes(B=5, h=3, g=1, Lq=5, Lk=4, d_k=6, d_v=8, mask="Lq Lk"),
         "All heads of queries see the same keys."),
    case("as_many", "multi-head: 4 of each, a mask for each head",
         sizes(B=3, h=4, g=4, Lq=2, Lk=7, d_k=6, d_v=5, mask="B h Lq Lk"),
         "The mask has the heads of the queries."),
    case("far", "allowed keys whose scores are far below those of masked ones",
         sizes(B=2, g=2, Lk=5, d_v=6, q=_draw_far_queries, k=_draw_far_keys,
               mask=lambda draw: (torch.arange(5) % 2 == 0).expand(3, 5).clone()),
         "Which number is below every score, however low?", aspect="limits"),
    case("refused", "5 query heads, 2 of keys", sizes(B=2, h=5, g=2, Lq=3, Lk=5, d_k=4, d_v=6),
         "The docstring names the error to raise.", aspect="errors", open=True),
    case("heads", "8 query heads, 4 of keys, a mask for each head of all texts",
         sizes(B=8, h=8, g=4, Lq=3, Lk=9, d_k=5, d_v=6, mask="h Lq Lk"),
         "The mask has the heads of the queries.", hidden_only=True),
    case("keys", "all sizes equal, a mask for all queries of a text",
         sizes(B=4, h=4, g=4, Lq=4, Lk=4, d_k=4, d_v=4, mask="B 1 1 Lk"),
         "Any mask that broadcasts to the weights will do.", hidden_only=True),
    case("refused_again", "3 query heads, 6 of keys", sizes(B=2, h=3, g=6, Lq=3, Lk=5, d_k=4, d_v=6),
         "The docstring names the error to raise.", aspect="errors", hidden_only=True, open=True),
]

MISTAKES = [
    wrong("in_turn",
          "Query head i uses head i % g of keys or of values, but neighbouring query heads should share one.",
          "With 6 query heads and 2 key heads, to which key head does query head 1 belong, and to which value head?",
          edit(_SCORES, _KEYS_IN_TURN, _OUTPUT, _VALUES_IN_TURN),
          edit(_SCORES, _KEYS_IN_TURN, name="keys_in_turn"),
          edit(_OUTPUT, _VALUES_IN_TURN, name="values_in_turn"), tests="value head"),
    wrong("one_group_for_all",
          "All query heads see the same keys and values: those of one group, or a mean of all groups.",
          "Which key head does the first query head use, and which does the last?",
          edit(_SCORES, "by_group @ k[:, :1].unsqueeze(2).transpose(-2, -1)",
               "@ v.unsqueeze(2)", "@ v[:, :1].unsqueeze(2)"),
          edit(_SCORES, "by_group @ k.mean(1, keepdim=True).unsqueeze(2).transpose(-2, -1)",
               "@ v.unsqueeze(2)", "@ v.mean(1, keepdim=True).unsqueeze(2)", name="groups_averaged")),
    wrong("queries_averaged", "The queries of a group are averaged, so all of its heads are equal.",
          "How many different queries does a group have?",
          edit(_BY_GROUP,
               "by_group = q.unflatten(1, (groups, -1)); "
               "by_group = by_group.mean(2, keepdim=True).expand_as(by_group)")),
    wrong("groups_backwards", "The groups are in the reverse order.",
          "Which key head does query head 0 see?",
          edit(_SCORES, "by_group @ k.flip(1).unsqueeze(2).transpose(-2, -1)",
               "@ v.unsqueeze(2)", "@ v.flip(1).unsqueeze(2)")),
    wrong("other_scale", "The scores are not divided by the root of `d_k`, but by another number, or not at all.",
          "By what does your code divide, and over which dimension do the dot products run?",
          edit(" / math.sqrt(q.size(-1))", ""),
          edit("math.sqrt(q.size(-1))", "q.size(-1)", name="scaled_by_d"),
          edit("math.sqrt(q.size(-1))", "math.sqrt(v.size(-1))", name="scaled_by_other_size")),
    wrong("mask_ignored", "The mask has no influence.",
          "What happens in your code if `mask` is not None?",
          edit("if mask is not None:", "if False:")),
    wrong("mask_inverted", "The mask is inverted: queries see masked keys.",
          "What does True mean in this course?",
          edit("masked_fill(~mask", "masked_fill(mask")),
    wrong("mask_too_late", "Masked weights are set to zero *after* the softmax, so the others do not sum to 1.",
          "Before or after: when do the weights of a row sum to 1?",
          edit("scores = scores.masked_fill(~mask, -math.inf)", "pass",
               "weights = scores.softmax(dim=-1)",
               "weights = scores.softmax(dim=-1) if mask is None else scores.softmax(dim=-1) * mask")),
    wrong("masked_by_group",
          "You apply the mask while the scores still have a dimension for groups, where a mask with heads does not fit.",
          "Which shape do the scores have when you mask them, and which shapes may the mask have?",
          edit("scores = scores.flatten(1, 2)  # (B, h, Lq, Lk)", "",
               "weights = scores.softmax(dim=-1)", "weights = scores.softmax(dim=-1).flatten(1, 2)")),
    wrong("softmax_over_another_dimension", "The softmax runs over queries or heads, not over the keys.",
          "Which dimension of `(…, Lq, Lk)` holds the keys?",
          edit("softmax(dim=-1)", "softmax(dim=-2)"),
          edit("softmax(dim=-1)", "softmax(dim=1)", name="softmax_over_heads")),
    wrong("not_a_pair", "You do not return the pair that the docstring promises: first the output, then the weights.",
          "What does your `return` return, and in which order?",
          edit("return output.flatten(1, 2), weights", "return weights, output.flatten(1, 2)"),
          edit("return output.flatten(1, 2), weights", "return output.flatten(1, 2)", name="output_only")),
    wrong("still_by_group", "Output or weights still have a dimension of groups.",
          "Which shapes does the docstring promise?",
          edit("return output.flatten(1, 2), weights", "return output, weights")),
    wrong("not_refused", "Numbers of heads that do not divide are accepted, or raise an error other than a ValueError.",
          "What happens with 5 query heads and 2 of keys, and which error does the docstring name?",
          edit(_CHECK, ""),
          edit(_CHECK, "assert heads % groups == 0", name="an_assertion"),
          tests="ValueError"),
    wrong("values_changed", "Your function changes one of its inputs.",
          "Which operation of yours works in place?",
          edit("heads, groups = q.size(1), k.size(1)", "heads, groups = q.size(1), k.size(1); q.div_(2); k.mul_(2)")),
    wrong("first_text_for_all", "All texts see the keys of the first one.",
          "Which text's keys does a query of text 1 see?",
          edit(_SCORES, "by_group @ k[:1].unsqueeze(2).transpose(-2, -1)")),
    wrong("finite_infinity",
          "Masked scores get a number like 0 or -100 or -10,000, not minus infinity; allowed scores can be even "
          "lower.",
          "Which number is below every score? What is `e^0`?",
          edit("-math.inf", "-100.0"),
          edit("-math.inf", "0.0", name="zero_instead_of_minus_infinity")),
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
]

EXERCISE = Specification(
    results="output, weights", fixed="h",
    parts="weights",
    contract=Contract(on=("two_groups", "masked")),
    ready_made=("F.scaled_dot_product_attention",),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
