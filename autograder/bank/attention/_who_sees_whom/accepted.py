"""Other right ways to write who sees whom."""

from __future__ import annotations

from autograder.bank.attention._who_sees_whom import MOVED
from autograder.oracle.specification import Accepted, Edit

ACCEPTED = [
    Accepted(name="noise", edits=[
        Edit("changed[j] += 1.0", "changed[j] = torch.randn(x.size(1))"),
    ]),
    Accepted(name="subtract", edits=[
        Edit("changed[j] += 1.0", "changed[j] -= 0.7"),
    ]),
    Accepted(name="fill_a_matrix", source="""
        def who_sees_whom(layer, x):
            before = layer(x)
            matrix = torch.zeros(len(x), len(x), dtype=torch.bool)
            for j in range(len(x)):
                other = x.clone()
                other[j] = other[j] + 1
                after = layer(other)
                for i in range(len(x)):
                    matrix[i, j] = bool((after[i] - before[i]).abs().max() > 1e-6)
            return matrix
        """),
    Accepted(name="norms", edits=[
        Edit(MOVED, "(layer(changed) - before).norm(dim=-1) > 1e-6"),
    ]),
    Accepted(name="isclose", edits=[
        Edit(MOVED,
             "(~torch.isclose(layer(changed), before, rtol=0, atol=1e-6)).any(-1)"),
    ]),
    Accepted(name="one_hot_rows", source="""
        def who_sees_whom(layer, x):
            L = x.shape[0]
            bumps = torch.eye(L).to(x).unsqueeze(-1)
            moved = torch.stack([layer(x + bump) - layer(x) for bump in bumps])
            return (moved.abs().amax(-1) > 1e-6).T
        """),
    Accepted(name="small_steps", edits=[
        Edit("changed[j] += 1.0", "changed[j] += 0.1"),
    ]),
]
