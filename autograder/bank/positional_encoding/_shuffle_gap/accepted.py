"""Other styles in which the shuffle gap is right."""

from __future__ import annotations

from autograder.oracle.specification import Accepted, Edit

ACCEPTED = [
    Accepted(name="index_select", edits=[
        Edit("mix(x[:, order])", "mix(x.index_select(1, order))"),
        Edit("mix(x)[:, order]", "mix(x).index_select(1, order)"),
    ]),
    Accepted(name="shuffle_back", source="""
        def shuffle_gap(mix, x, order):
            back = mix(x[:, order])[:, torch.argsort(order)]
            return torch.max(torch.abs(back - mix(x)))
        """),
    Accepted(name="infinity_norm", edits=[
        Edit(".abs().max()", ".flatten().norm(p=float('inf'))"),
    ]),
    Accepted(name="python_float", source="""
        def shuffle_gap(mix, x, order):
            return (mix(x[:, order]) - mix(x)[:, order]).abs().max().item()
        """),
    Accepted(name="permutation_matrix", source="""
        def shuffle_gap(mix, x, order):
            shuffle = torch.eye(len(order))[order].to(x.dtype)
            gap = mix(shuffle @ x) - shuffle @ mix(x)
            return gap.abs().amax()
        """),
    Accepted(name="loops", source="""
        def shuffle_gap(mix, x, order):
            shuffled = torch.stack([x[:, int(n)] for n in order], dim=1)
            before, after = mix(shuffled), mix(x)
            gap = torch.zeros(())
            for n, m in enumerate(order.tolist()):
                gap = torch.maximum(gap, (before[:, n] - after[:, m]).abs().max())
            return gap
        """),
]
