"""Other styles in which the encoder layer is right."""

from __future__ import annotations

from autograder.oracle.specification import Accepted, Edit

ACCEPTED = [
    Accepted(name="spelt_out", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.0,
                         norm_first=False, activation='relu'):
                super().__init__()
                self.norm2, self.norm1 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
                self.feed_forward = FeedForward(d_model, d_ff, dropout, activation)
                self.attention = multi_head_attention.MultiHeadAttention(
                    d_model, num_heads, dropout)
                self.drop1, self.drop2 = nn.Dropout(dropout), nn.Dropout(dropout)
                self.pre = norm_first
            def forward(self, x, mask=None):
                if self.pre:
                    y = self.norm1(x)
                    attended, weights = self.attention(y, y, y, mask)
                    x = x + self.drop1(attended)
                    return x + self.drop2(self.feed_forward(self.norm2(x)))
                attended, weights = self.attention(x, x, x, mask=mask)
                x = self.norm1(x + self.drop1(attended))
                return self.norm2(x + self.drop2(self.feed_forward(x)))
        """),
    Accepted(name="lambda", edits=[
        Edit(
            """
            def attend(x: Tensor) -> Tensor:
                return self.attention(x, x, x, mask)[0]
            """,
            "attend = lambda y: self.attention(y, y, y, mask)[0]",
        ),
    ]),
    Accepted(name="keywords", edits=[
        Edit("self.attention(x, x, x, mask)",
             "self.attention(query=x, key=x, value=x, mask=mask)"),
    ]),
    Accepted(name="method", edits=[
        Edit(
            """
            def attend(x: Tensor) -> Tensor:
                return self.attention(x, x, x, mask)[0]  # (B, L, d_model)
            """,
            """
            from functools import partial
            attend = partial(self._attend, mask=mask)
            """,
        ),
        Edit(
            "def forward(",
            """
            def _attend(self, x, mask):
                return self.attention(x, x, x, mask)[0]

            def forward(
            """,
        ),
    ]),
    Accepted(name="in_place_on_own", source="""
        class EncoderLayer(EncoderLayer):
            def forward(self, x, mask=None):
                for norm, f in ((self.norm1, lambda y: self.attention(y, y, y, mask)[0]),
                                (self.norm2, self.feed_forward)):
                    y = norm(x) if self.norm_first else x
                    x = self.dropout(f(y)) + x
                    x = x if self.norm_first else norm(x)
                return x
        """),
    Accepted(name="dropout_by_hand", source="""
        class ByHand(nn.Module):
            def __init__(self, rate):
                super().__init__()
                self.rate = rate
            def forward(self, x):
                if not self.training or not self.rate:
                    return x
                kept = torch.rand_like(x) >= self.rate
                return x * kept / (1 - self.rate)
        class EncoderLayer(EncoderLayer):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm_first=False,
                         activation="relu"):
                super().__init__(d_model, num_heads, d_ff, dropout, norm_first, activation)
                self.dropout = ByHand(dropout)
        """),
]
