"""Other styles in which cross-attention is right."""

from __future__ import annotations

from autograder.bank.attention._cross_attention.lines import KV
from autograder.oracle.specification import Accepted, Edit

ACCEPTED = [
    Accepted(name="by_hand", source="""
        class CrossAttention(nn.Module):
            def __init__(self, d_model, d_memory, d_k, d_v):
                super().__init__()
                self.w_v = nn.Linear(d_memory, d_v)
                self.w_k = nn.Linear(d_memory, d_k)
                self.w_q = nn.Linear(d_model, d_k)
                self.scale = 1 / math.sqrt(d_k)

            def forward(self, x, memory, mask=None):
                scores = torch.bmm(self.w_q(x), self.w_k(memory).transpose(1, 2)) * self.scale
                if mask is not None:
                    scores = torch.where(mask, scores, -1e9)
                weights = torch.softmax(scores, dim=-1)
                return torch.bmm(weights, self.w_v(memory)), weights
        """),
    Accepted(name="fused", source="""
        class CrossAttention(nn.Module):
            def __init__(self, d_model, d_memory, d_k, d_v):
                super().__init__()
                self.w_q = nn.Linear(d_model, d_k)
                self.w_k = nn.Linear(d_memory, d_k)
                self.w_v = nn.Linear(d_memory, d_v)

            def forward(self, x, memory, mask=None):
                q, k, v = self.w_q(x), self.w_k(memory), self.w_v(memory)
                _, weights = scaled_dot_product_attention(q, k, v, mask)
                return F.scaled_dot_product_attention(q, k, v, mask), weights
        """),
    Accepted(name="inherits", source="""
        class CrossAttention(SelfAttention):
            def __init__(self, d_model, d_memory, d_k, d_v):
                super().__init__(d_memory, d_k, d_v)
                self.w_q = nn.Linear(d_model, d_k)

            def forward(self, x, memory, mask=None):
                k, v = self.w_k(memory), self.w_v(memory)
                return scaled_dot_product_attention(self.w_q(x), k, v, mask)
        """),
    Accepted(name="helper_method", source="""
        class CrossAttention(nn.Module):
            def __init__(self, d_model, d_memory, d_k, d_v):
                super().__init__()
                self.w_q = nn.Linear(d_model, d_k)
                self.w_k = nn.Linear(d_memory, d_k)
                self.w_v = nn.Linear(d_memory, d_v)

            def project(self, x, memory):
                return self.w_q(x), self.w_k(memory), self.w_v(memory)

            def forward(self, x, memory, mask=None):
                return scaled_dot_product_attention(*self.project(x, memory), mask=mask)
        """),
    Accepted(name="values_last", edits=[
        Edit(KV, "k = self.w_k(memory)"),
        Edit(
            "return scaled_dot_product_attention(q, k, v, mask)",
            """
            mixed, weights = scaled_dot_product_attention(q, k, memory, mask)
            return self.w_v(mixed), weights
            """,
        ),
    ]),
]
