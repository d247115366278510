"""Other styles in which self-attention is right."""

from __future__ import annotations

from autograder.bank.attention._self_attention.lines import CALL
from autograder.oracle.specification import Accepted, Edit

ACCEPTED = [
    Accepted(name="other_order", source="""
        class SelfAttention(nn.Module):
            def __init__(self, d_model, d_k, d_v):
                super().__init__()
                self.d_k = d_k
                self.w_v = nn.Linear(d_model, d_v)
                self.w_k = nn.Linear(d_model, d_k)
                self.w_q = nn.Linear(d_model, d_k)
                nn.init.xavier_uniform_(self.w_q.weight)

            def forward(self, x, mask=None):
                scores = self.w_q(x) @ self.w_k(x).mT / self.d_k**0.5
                if mask is not None:
                    scores = scores.masked_fill(~mask, -1e9)
                weights = scores.softmax(-1)
                return torch.matmul(weights, self.w_v(x)), weights
        """),
    Accepted(name="fused", source="""
        class SelfAttention(nn.Module):
            def __init__(self, d_model, d_k, d_v):
                super().__init__()
                self.w_q, self.w_k = nn.Linear(d_model, d_k), nn.Linear(d_model, d_k)
                self.w_v = nn.Linear(d_model, d_v)

            def forward(self, x, mask=None):
                layers = (self.w_q, self.w_k, self.w_v)
                weight = torch.cat([layer.weight for layer in layers])
                bias = torch.cat([layer.bias for layer in layers])
                sizes = [layer.out_features for layer in layers]
                q, k, v = F.linear(x, weight, bias).split(sizes, dim=-1)
                return scaled_dot_product_attention(q, k, v, mask)
        """),
    Accepted(name="keywords", edits=[
        Edit(
            CALL,
            """
            out, w = scaled_dot_product_attention(q=q, k=k, v=v, mask=mask)
            return out, w
            """,
        ),
    ]),
    Accepted(name="values_last", source="""
        class SelfAttention(nn.Module):
            def __init__(self, d_model, d_k, d_v):
                super().__init__()
                self.w_q = nn.Linear(d_model, d_k)
                self.w_k = nn.Linear(d_model, d_k)
                self.w_v = nn.Linear(d_model, d_v)

            def forward(self, x, mask=None):
                mixed, weights = scaled_dot_product_attention(self.w_q(x), self.w_k(x), x, mask)
                return self.w_v(mixed), weights
        """),
    Accepted(name="per_sentence", source="""
        class SelfAttention(nn.Module):
            def __init__(self, d_model, d_k, d_v):
                super().__init__()
                self.w_q = nn.Linear(d_model, d_k)
                self.w_k = nn.Linear(d_model, d_k)
                self.w_v = nn.Linear(d_model, d_v)

            def forward(self, x, mask=None):
                B, L, _ = x.shape
                mask = torch.ones(B, L, L).bool() if mask is None else mask.expand(B, L, L)
                outputs, maps = [], []
                for sentence, keep in zip(x, mask):
                    q, k, v = self.w_q(sentence), self.w_k(sentence), self.w_v(sentence)
                    o, w = scaled_dot_product_attention(q, k, v, keep)
                    outputs.append(o)
                    maps.append(w)
                return torch.stack(outputs), torch.stack(maps)
        """),
    Accepted(name="parameters_and_einsum", source="""
        class SelfAttention(nn.Module):
            def __init__(self, d_model, d_k, d_v):
                super().__init__()
                for name, size in (("w_q", d_k), ("w_k", d_k), ("w_v", d_v)):
                    self.add_module(name, nn.Linear(d_model, size))

            def forward(self, x, mask=None):
                scores = torch.einsum("bid,bjd->bij", self.w_q(x), self.w_k(x))
                scores = scores * self.w_q.out_features ** -0.5
                if mask is not None:
                    scores = scores + torch.log(mask.to(scores.dtype))
                weights = torch.softmax(scores, dim=2)
                return torch.einsum("bij,bjd->bid", weights, self.w_v(x)), weights
        """),
]
