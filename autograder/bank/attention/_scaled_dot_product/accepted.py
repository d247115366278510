"""Other styles in which scaled dot-product attention is right."""

from __future__ import annotations

from autograder.bank.attention._scaled_dot_product.lines import FILL, RESULT, SOFTMAX
from autograder.oracle.specification import Accepted, Edit

ACCEPTED = [
    Accepted(name="einsum", source="""
        def scaled_dot_product_attention(q, k, v, mask=None):
            scores = torch.einsum("...id,...jd->...ij", q, k) * q.shape[-1] ** -0.5
            if mask is not None:
                scores = torch.where(mask, scores, float("-inf"))
            weights = scores.softmax(-1)
            return torch.einsum("...ij,...jd->...id", weights, v), weights
        """),
    Accepted(name="large_number", edits=[Edit("-math.inf", "-1e9")]),
    Accepted(name="smallest_number", edits=[
        Edit("-math.inf", "torch.finfo(scores.dtype).min"),
    ]),
    Accepted(name="additive", edits=[
        Edit(FILL,
             "scores + torch.zeros(mask.shape).to(scores).masked_fill(~mask, -math.inf)"),
    ]),
    Accepted(name="shares_by_logarithms", edits=[
        Edit("F.softmax(scores, dim=-1)",
             "(scores - scores.logsumexp(dim=-1, keepdim=True)).exp()"),
    ]),
    Accepted(name="scale_the_queries", edits=[
        Edit("q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))",
             "(q / math.sqrt(q.size(-1))) @ k.transpose(-2, -1)"),
    ]),
    Accepted(name="scale_the_keys", edits=[
        Edit("q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))",
             "q @ (k / k.shape[-1] ** 0.5).mT"),
    ]),
    Accepted(name="scale_last", edits=[
        Edit(" / math.sqrt(q.size(-1))", ""),
        Edit(SOFTMAX, "F.softmax(scores / math.sqrt(q.size(-1)), dim=-1)"),
    ]),
    Accepted(name="fused_output", source="""
        def scaled_dot_product_attention(q, k, v, mask=None):
            output = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
            scores = q @ k.mT / math.sqrt(q.shape[-1])
            if mask is not None:
                scores = scores.masked_fill(mask.logical_not(), -torch.inf)
            return output, scores.softmax(dim=-1)
        """),
    Accepted(name="fused_twice", source="""
        def scaled_dot_product_attention(q, k, v, mask=None):
            eye = torch.eye(k.shape[-2], dtype=k.dtype).expand(*k.shape[:-1], -1)
            weights = F.scaled_dot_product_attention(q, k, eye, attn_mask=mask)
            return weights @ v, weights
        """),
    Accepted(name="own_parts", source="""
        def scaled_dot_product_attention(q, k, v, mask=None):
            scores = scaled_scores(q, k)
            if mask is not None:
                scores = scores.masked_fill(mask == False, -math.inf)  # noqa: E712
            weights = stable_softmax(scores)
            return weights @ v, weights
        """),
    Accepted(name="in_place_on_own", edits=[
        Edit("scores = scores.masked_fill(~mask, -math.inf)",
             "scores.masked_fill_(~mask, -math.inf)"),
    ]),
    Accepted(name="masked_powers", source="""
        def scaled_dot_product_attention(q, k, v, mask=None):
            scores = q @ k.mT / math.sqrt(q.size(-1))
            keep = torch.ones_like(scores, dtype=torch.bool)
            if mask is not None:
                keep = keep & mask
            top = scores.masked_fill(~keep, -1e9).amax(-1, keepdim=True)
            powers = (scores - top).clamp(max=0).exp() * keep
            weights = powers / powers.sum(-1, keepdim=True)
            return weights @ v, weights
        """),
    Accepted(name="loops", source="""
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
        """),
    Accepted(name="bmm", source="""
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
        """),
    Accepted(name="list_returned", edits=[
        Edit(RESULT, "return [weights @ v, weights]"),
    ]),
    Accepted(name="renormalised", source="""
        def scaled_dot_product_attention(q, k, v, mask=None):
            scores = q @ k.mT / math.sqrt(q.size(-1))
            if mask is not None:
                scores = scores - (~mask).to(scores.dtype) * 1e9
            weights = F.softmax(scores, dim=-1)
            if mask is not None:
                weights = weights * mask
                weights = weights / weights.sum(-1, keepdim=True)
            return weights @ v, weights
        """),
]
