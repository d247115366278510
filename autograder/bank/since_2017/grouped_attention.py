"""Attention in which heads share keys and values."""

from __future__ import annotations

import torch

from autograder.oracle.draw import Draw
from autograder.oracle.promise import Promise, special
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


def _tensors(
    batch: int, heads: int, groups: int, lq: int, lk: int, d_k: int, d_v: int,
    mask: str = "", scale: float = 2.0,
) -> Maker:  # fmt: skip
    def inputs(draw: Draw) -> Inputs:
        made: Inputs = {
            "q": draw.tensor(batch, heads, lq, d_k, scale=scale),
            "k": draw.tensor(batch, groups, lk, d_k, scale=scale),
            "v": draw.tensor(batch, groups, lk, d_v),
            "pull": draw.tensor(batch, heads, lq, d_v, scale=1.0),
        }
        shapes = {
            "shared": (lq, lk), "by text": (batch, 1, lq, lk),
            "by head": (batch, heads, lq, lk), "of keys": (batch, 1, 1, lk),
            "one row": (1, lk), "of heads": (heads, lq, lk),
        }
        if mask:
            allowed = draw.flags(*shapes[mask])
            allowed[..., 1] = True  # no row is empty
            allowed[..., 0] = False
            made["mask"] = allowed
        return made

    return inputs


def _far(draw: Draw) -> Inputs:
    """Open keys far below zero, the first far above the others, and closed ones above.

    That one open score is so much larger makes the shares known to any rounding. The
    second text has usual scores: such shares tell little.
    """
    q, k = draw.tensor(2, 4, 3, 8), draw.tensor(2, 2, 5, 8)
    mask = torch.arange(5) % 2 == 0
    k[0, :, mask] = 0.0
    q[0, ..., 0], k[0, ..., 0] = 256.0, torch.tensor([-256.0, 256.0, -260.0, 256.0, -264.0])
    return {
        "q": q, "k": k, "v": draw.tensor(2, 2, 5, 6), "mask": mask.expand(3, 5).clone(),
    }  # fmt: skip


def _large(draw: Draw) -> Inputs:
    """Scores in the hundreds, without gradients: these are what rounding leaves of them."""
    made = _tensors(2, 8, 4, 3, 9, 5, 6, mask="by head", scale=8.0)(draw)
    del made["pull"]
    return made


def _impossible(heads: int, groups: int) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        return {
            "q": draw.tensor(2, heads, 3, 4), "k": draw.tensor(2, groups, 5, 4),
            "v": draw.tensor(2, groups, 5, 6), "refused": f"{heads} heads in {groups} groups",
        }  # fmt: skip

    return inputs


_CHECK = """
if heads % groups:
    raise ValueError(f"{heads} query heads do not divide into {groups} groups")
"""
_BY_GROUP = "by_group = q.unflatten(1, (groups, -1))"
_SCORES = "by_group @ k.unsqueeze(2).transpose(-2, -1)"
_OUTPUT = "output = weights.unflatten(1, (groups, -1)) @ v.unsqueeze(2)"

EXERCISE = Specification(
    name="since_2017/grouped_attention",
    title="Grouped-query attention",
    target="grouped_attention",
    aspects={"weights": 4.0},  # right ones are half of the way
    promise=Promise(
        arguments="q: B h Lq d; k: B g Lk d; v: B g Lk e; "
        "mask?: Lq Lk | h Lq Lk | B b Lq Lk",
        results="output: B h Lq e; weights: B h Lq Lk",
        on=("two_groups", "masked"),
        sizes=special(
            one_text=_tensors(1, 4, 2, 3, 5, 4, 6, mask="by text"),
            one_query=_tensors(2, 4, 2, 1, 5, 4, 6, mask="by head"),
            one_key=_tensors(2, 6, 3, 4, 1, 5, 3),
            as_many_keys_as_queries=_tensors(3, 4, 2, 5, 5, 4, 6),
            equal_sizes=_tensors(4, 4, 4, 4, 4, 4, 4, mask="by head"),
            a_mask_for_all_queries=_tensors(3, 4, 2, 5, 6, 4, 7, mask="of keys"),
            a_mask_for_each_head_of_all_texts=_tensors(
                4, 4, 2, 5, 6, 4, 7, mask="of heads"
            ),
            as_many_texts_as_queries=_tensors(5, 4, 2, 5, 6, 4, 7, mask="shared"),
            a_mask_of_one_row=_tensors(3, 4, 2, 5, 6, 4, 7, mask="one row"),
        ),
    ),
    cases=[
        CaseKind(
            name="two_groups",
            title="6 query heads, 2 of keys",
            inputs=_tensors(3, 6, 2, 4, 5, 8, 7),
            hint="Query heads 0, 1 and 2 belong to key head 0.",
        ),
        CaseKind(
            name="masked",
            title="4 query heads, 2 of keys, a mask for each text",
            inputs=_tensors(2, 4, 2, 3, 6, 5, 7, mask="by text"),
            hint="True = may attend.",
        ),
        CaseKind(
            name="one_group",
            title="multi-query: 3 query heads, 1 of keys, a shared mask",
            inputs=_tensors(2, 3, 1, 5, 4, 6, 8, mask="shared"),
            hint="All heads of queries see the same keys.",
        ),
        CaseKind(
            name="as_many",
            title="multi-head: 4 of each, a mask for each head",
            inputs=_tensors(3, 4, 4, 2, 7, 6, 5, mask="by head"),
            hint="The mask has the heads of the queries.",
        ),
        CaseKind(
            name="far",
            title="open keys whose scores are far below those of closed ones",
            inputs=_far,
            hint="Which number is below every score, however low?",
        ),
        CaseKind(
            name="refused",
            title="5 query heads, 2 of keys",
            inputs=_impossible(5, 2),
            hint="Raise a ValueError that says why.",
            aspect="errors",
            open=True,
        ),
        CaseKind(
            name="no_mask",
            title="as many keys as queries, and no mask",
            inputs=_tensors(2, 4, 2, 9, 9, 5, 6),
            hint="Without a mask, all may look at all.",
        ),
        CaseKind(
            name="large",
            title="8 query heads, 4 of keys, large logits",
            inputs=_large,
            hint="As above.",
            hidden_only=True,
        ),
        CaseKind(
            name="refused_again",
            title="3 query heads, 6 of keys",
            inputs=_impossible(3, 6),
            hint="Raise a ValueError that says why.",
            aspect="errors",
            hidden_only=True,
            open=True,
        ),
    ],
    mutants=[
        Mutant(
            name="in_turn",
            says="Query head i meets key head i % g: heads are dealt out in turn. Neighbours share.",
            asks="With 6 heads of queries and 2 of keys: to which key head does query head 1 belong?",
            ways=[
                Way(source="""
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
                    """),
                Way(name="in_turn_by_shape", edits=[
                    Edit(_BY_GROUP, "by_group = q.unflatten(1, (-1, groups)).transpose(1, 2)"),
                    Edit("scores = scores.flatten(1, 2)", "scores = scores.transpose(1, 2).flatten(1, 2)"),
                    Edit(_OUTPUT, "output = weights.unflatten(1, (-1, groups)) @ v.unsqueeze(1)")]),
            ],
        ),
        Mutant(
            name="causal_by_itself",
            says="With as many keys as queries and no mask, you close what lies ahead.",
            asks="Who decides which keys are closed?",
            ways=[Way(edits=[
                Edit(
                    "if mask is not None:",
                    """
                    if mask is None and q.size(2) == k.size(2) > 1:
                        mask = torch.ones(q.size(2), k.size(2), dtype=torch.bool).tril()
                    if mask is not None:
                    """,
                ),
            ])],
        ),
        Mutant(
            name="values_in_turn",
            says="Keys are shared by neighbours, values are dealt out in turn.",
            asks="Do a head's keys and values belong together?",
            ways=[Way(edits=[
                Edit(_OUTPUT, "output = (weights @ v.repeat(1, heads // groups, 1, 1)).unflatten(1, (groups, -1))")])],
        ),
        Mutant(
            name="keys_in_turn",
            says="Values are shared by neighbours, keys are dealt out in turn.",
            asks="Do a head's keys and values belong together?",
            ways=[Way(edits=[
                Edit(_SCORES, "(q @ k.repeat(1, heads // groups, 1, 1).transpose(-2, -1)).unflatten(1, (groups, -1))")])],
        ),
        Mutant(
            name="first_group_for_all",
            says="All query heads look at the first head of keys and values.",
            asks="Which key head does the last query head see?",
            ways=[
                Way(edits=[
                    Edit(_SCORES, "by_group @ k[:, :1].unsqueeze(2).transpose(-2, -1)"),
                    Edit("@ v.unsqueeze(2)", "@ v[:, :1].unsqueeze(2)")]),
            ],
        ),
        Mutant(
            name="groups_averaged",
            says="Keys and values of all groups are averaged.",
            asks="Of which group does query head 0 see the keys?",
            ways=[Way(edits=[
                Edit(_SCORES, "by_group @ k.mean(1, keepdim=True).unsqueeze(2).transpose(-2, -1)"),
                Edit("@ v.unsqueeze(2)", "@ v.mean(1, keepdim=True).unsqueeze(2)")])],
        ),
        Mutant(
            name="queries_averaged",
            says="The queries of a group are averaged: its heads are all alike.",
            asks="How many different queries does a group have?",
            ways=[Way(edits=[
                Edit(_BY_GROUP, "by_group = q.unflatten(1, (groups, -1)); by_group = by_group.mean(2, keepdim=True).expand_as(by_group)")])],
        ),
        Mutant(
            name="groups_backwards",
            says="The groups are in the reverse order.",
            asks="Which key head does query head 0 see?",
            ways=[Way(edits=[
                Edit(_SCORES, "by_group @ k.flip(1).unsqueeze(2).transpose(-2, -1)"),
                Edit("@ v.unsqueeze(2)", "@ v.flip(1).unsqueeze(2)")])],
        ),
        Mutant(
            name="not_scaled",
            says="The scores are not divided by the root of $d_k$.",
            asks="What was the variance argument of unit 2?",
            ways=[Way(edits=[Edit(" / math.sqrt(q.size(-1))", "")])],
        ),
        Mutant(
            name="scaled_by_d",
            says="The scores are divided by $d_k$, not by its root.",
            asks="What grows with $d_k$: the variance or the standard deviation?",
            ways=[Way(edits=[Edit("math.sqrt(q.size(-1))", "q.size(-1)")])],
        ),
        Mutant(
            name="scaled_by_other_size",
            says="The scores are scaled by another size than $d_k$.",
            asks="Which dimension do the dot products run over?",
            ways=[
                Way(edits=[Edit("math.sqrt(q.size(-1))", "math.sqrt(v.size(-1))")]),
            ],
        ),
        Mutant(
            name="mask_ignored",
            says="The mask has no influence.",
            asks="What happens in your code if `mask` is not None?",
            ways=[Way(edits=[Edit("if mask is not None:", "if False:")])],
        ),
        Mutant(
            name="mask_inverted",
            says="The mask is used the wrong way round: forbidden keys are seen.",
            asks="What does True mean in this course?",
            ways=[Way(edits=[Edit("masked_fill(~mask", "masked_fill(mask")])],
        ),
        Mutant(
            name="mask_by_text",
            says="With as many texts as queries, a mask `(Lq, Lk)` is taken for one of keys, a row for each text.",
            asks="How does PyTorch line up two dimensions with four?",
            ways=[Way(edits=[
                Edit("if mask is not None:", """
                if mask is not None:
                    if mask.dim() == 2 and len(mask) == len(q):
                        mask = mask[:, None, None]"""),
            ])],
        ),
        Mutant(
            name="mask_too_late",
            says="Forbidden weights are set to zero *after* the softmax: the rest does not sum to 1.",
            asks="Before or after: when do the weights of a row sum to 1?",
            ways=[Way(edits=[
                Edit("scores = scores.masked_fill(~mask, -math.inf)", "pass"),
                Edit("weights = scores.softmax(dim=-1)", "weights = scores.softmax(dim=-1) if mask is None else scores.softmax(dim=-1) * mask")])],
        ),
        Mutant(
            name="zero_instead_of_minus_infinity",
            says="Forbidden scores are set to 0; a score of 0 still gets weight.",
            asks="What is $e^0$?",
            ways=[Way(edits=[Edit("-math.inf", "0.0")])],
        ),
        Mutant(
            name="softmax_over_queries",
            says="The softmax runs over the queries.",
            asks="Which dimension of `(…, Lq, Lk)` holds the keys?",
            ways=[Way(edits=[Edit("softmax(dim=-1)", "softmax(dim=-2)")])],
        ),
        Mutant(
            name="softmax_over_heads",
            says="The softmax runs over the heads.",
            asks="Which weights are to sum to 1?",
            ways=[Way(edits=[Edit("softmax(dim=-1)", "softmax(dim=1)")])],
        ),
        Mutant(
            name="pair_swapped",
            says="The pair is in the wrong order: first the output, then the weights.",
            asks="What does the docstring return first?",
            ways=[Way(edits=[Edit("return output.flatten(1, 2), weights", "return weights, output.flatten(1, 2)")])],
        ),
        Mutant(
            name="output_only",
            says="Only the output is returned.",
            asks="What does the docstring return beside the output?",
            ways=[Way(edits=[Edit("return output.flatten(1, 2), weights", "return output.flatten(1, 2)")])],
        ),
        Mutant(
            name="still_by_group",
            says="Output or weights still have a dimension of groups.",
            asks="Which shapes does the docstring promise?",
            ways=[Way(edits=[Edit("return output.flatten(1, 2), weights", "return output, weights")])],
        ),
        Mutant(
            name="not_refused",
            says="Heads that cannot be divided are accepted, or fail with an error that says nothing.",
            asks="What happens with 5 query heads and 2 of keys?",
            ways=[
                Way(edits=[Edit(_CHECK, "")]),
            ],
        ),
        Mutant(
            name="an_assertion",
            says="Heads that cannot be divided raise another error than a ValueError.",
            asks="Which kind of error does the docstring name?",
            ways=[
                Way(edits=[Edit(_CHECK, "assert heads % groups == 0")]),
            ],
        ),
        Mutant(
            name="values_changed",
            says="Your function changes one of its inputs.",
            asks="Which operation of yours works in place?",
            ways=[Way(edits=[Edit("heads, groups = q.size(1), k.size(1)",
                                  "heads, groups = q.size(1), k.size(1); q.div_(2); k.mul_(2)")])],
        ),
        Mutant(
            name="first_text_for_all",
            says="All texts see the keys of the first one.",
            asks="Which text's keys does a query of text 1 meet?",
            ways=[Way(edits=[Edit(_SCORES, "by_group @ k[:1].unsqueeze(2).transpose(-2, -1)")])],
        ),

        Mutant(
            name="finite_infinity",
            says="A number like -100 or -10,000 stands for minus infinity: scores that "
            "are lower still lose against it.",
            asks="Which number is below every score?",
            ways=[
                Way(edits=[Edit("-math.inf", "-100.0")]),
                Way(name="minus_ten_thousand", edits=[Edit("-math.inf", "-1e4")]),
            ],
        ),
        Mutant(
            name="says_nothing",
            says="The error is a ValueError, but it says nothing.",
            asks="What would you like to read if your numbers of heads did not fit?",
            ways=[Way(edits=[
                Edit('ValueError(f"{heads} query heads do not divide into {groups} groups")',
                     "ValueError"),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="repeat_interleave", source="""
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
            """),
        Accepted(name="logarithms", edits=[
            Edit("weights = scores.softmax(dim=-1)",
                 "weights = (scores - scores.logsumexp(dim=-1, keepdim=True)).exp()")]),
        Accepted(name="loop_over_heads", source="""
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
            """),
        Accepted(name="einsum_by_group", edits=[
            Edit(_SCORES, 'torch.einsum("bgnqd,bgkd->bgnqk", by_group, k)'),
            Edit(_OUTPUT, 'output = torch.einsum("bgnqk,bgkd->bgnqd", weights.unflatten(1, (groups, -1)), v)')]),
        Accepted(name="expand", source="""
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
            """),
    ],
)
