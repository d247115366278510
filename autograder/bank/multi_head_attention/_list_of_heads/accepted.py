"""Other styles in which the list of heads is right."""

from __future__ import annotations

from autograder.bank.multi_head_attention._list_of_heads.lines import (
    JOINED,
    LIST_RETURN,
    RESULTS,
)
from autograder.oracle.specification import Accepted, Edit

ACCEPTED = [
    Accepted(name="plain_loop", edits=[
        Edit(
            RESULTS,
            """
            results = []
            for head in self.heads:
                results.append(head(x, mask=mask))
            """,
        ),
    ]),
    Accepted(name="append_and_unsqueeze", source="""
        class ListOfHeads(nn.Module):
            def __init__(self, d_model, num_heads, d_k, d_v, d_out):
                super().__init__()
                self.w_o = nn.Linear(d_v * num_heads, d_out)
                self.heads = nn.ModuleList()
                for _ in range(num_heads):
                    self.heads.append(attention.SelfAttention(d_model, d_k, d_v))

            def forward(self, x, mask=None):
                outs, maps = [], []
                for head in self.heads:
                    o, w = head(x, mask)
                    outs.append(o)
                    maps.append(w.unsqueeze(1))
                return self.w_o(torch.cat(outs, -1)), torch.cat(maps, 1)
        """),
    Accepted(name="stack_then_flatten", edits=[
        Edit(JOINED, "joined = torch.stack(outputs, dim=2).flatten(2)"),
    ]),
    Accepted(name="sum_of_blocks", edits=[
        Edit(
            LIST_RETURN,
            """
            blocks = self.w_o.weight.chunk(len(outputs), dim=1)
            out = sum(o @ b.T for o, b in zip(outputs, blocks))
            return out + self.w_o.bias, torch.stack(weights, dim=1)
            """,
        ),
    ]),
    Accepted(name="sequential_container_and_list_result", edits=[
        Edit(
            """
            self.heads = nn.ModuleList(
                attention.SelfAttention(d_model, d_k, d_v) for _ in range(num_heads)
            )
            """,
            "self.heads = nn.Sequential(*[attention.SelfAttention(d_model, d_k, d_v) for _ in range(num_heads)])",
        ),
        Edit(LIST_RETURN,
             "return [self.w_o(joined), torch.stack(weights, dim=1)]"),
    ]),
    Accepted(name="filled_in_place", source="""
        class ListOfHeads(nn.Module):
            def __init__(self, d_model, num_heads, d_k, d_v, d_out):
                super().__init__()
                self.heads = nn.ModuleList(
                    [attention.SelfAttention(d_model=d_model, d_k=d_k, d_v=d_v)
                     for _ in range(num_heads)])
                self.w_o = nn.Linear(in_features=num_heads * d_v, out_features=d_out)
                self.d_v = d_v

            def forward(self, x, mask=None):
                B, L, _ = x.shape
                joined = x.new_zeros(B, L, self.w_o.in_features)
                maps = x.new_zeros(B, len(self.heads), L, L)
                for i, head in enumerate(self.heads):
                    output, maps[:, i] = head(x, mask)
                    joined[..., i * self.d_v : (i + 1) * self.d_v] = output
                return self.w_o(joined), maps
        """),
]
