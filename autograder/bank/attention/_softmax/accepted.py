"""Other styles in which the softmax is right."""

from __future__ import annotations

from autograder.bank.attention._softmax.lines import MAX
from autograder.oracle.specification import Accepted, Edit

ACCEPTED = [
    Accepted(name="max_values", edits=[
        Edit(MAX, "x.max(dim=-1, keepdim=True).values"),
    ]),
    Accepted(name="max_detached", edits=[
        Edit(MAX, "x.amax(dim=-1, keepdim=True).detach()"),
    ]),
    Accepted(name="logsumexp", source="""
        def stable_softmax(x):
            return (x - torch.logsumexp(x, dim=-1, keepdim=True)).exp()
        """),
    Accepted(name="double_and_back", source="""
        def stable_softmax(x):
            y = x.double() - x.double().max(-1, keepdim=True)[0]
            powers = y.exp()
            return (powers / powers.sum(-1, keepdim=True)).to(x.dtype)
        """),
    Accepted(name="loop", source="""
        def stable_softmax(x):
            rows = []
            for row in x.reshape(-1, x.shape[-1]):
                powers = torch.exp(row - row.max())
                rows.append(powers / powers.sum())
            return torch.stack(rows).reshape(x.shape)
        """),
    Accepted(name="unsqueeze", source="""
        def stable_softmax(x):
            top, _ = torch.max(x, dim=-1)
            e = torch.exp(x - top.unsqueeze(-1))
            return e / e.sum(-1).unsqueeze(-1)
        """),
    Accepted(name="in_place_on_own", source="""
        def stable_softmax(x):
            y = x - x.amax(-1, keepdim=True)
            y = y.exp()
            return y / y.sum(-1, keepdim=True)
        """),
    Accepted(name="sigmoid_of_differences", source="""
        def stable_softmax(x):
            differences = (x.unsqueeze(-2) - x.unsqueeze(-1)).nan_to_num(nan=0.0)
            differences = differences.clamp(max=80.0)
            weights = 1 / differences.exp().sum(-1)
            return torch.where(x == -math.inf, torch.zeros_like(x), weights)
        """),
]
