"""Other styles in which the decoder layer is right."""

from __future__ import annotations

from autograder.bank.encoder_decoder._decoder_layer.lines import LOOK_UP
from autograder.oracle.specification import Accepted, Edit

ACCEPTED = [
    Accepted(name="spelt_out", source="""
        class DecoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.0,
                         norm_first=False, activation='relu'):
                super().__init__()
                for name in ('cross_attention', 'self_attention'):
                    setattr(self, name, multi_head_attention.MultiHeadAttention(
                        d_model, num_heads, dropout))
                for i in (1, 2, 3):
                    setattr(self, f'norm{i}', nn.LayerNorm(d_model))
                self.feed_forward = FeedForward(d_model, d_ff, dropout, activation)
                self.drop = nn.Dropout(dropout)
                self.pre = norm_first
            def forward(self, x, memory, tgt_mask=None, memory_mask=None):
                if self.pre:
                    y = self.norm1(x)
                    y, _ = self.self_attention(y, y, y, tgt_mask)
                    x = x + self.drop(y)
                    y, _ = self.cross_attention(self.norm2(x), memory, memory, memory_mask)
                    x = x + self.drop(y)
                    return x + self.drop(self.feed_forward(self.norm3(x)))
                y, _ = self.self_attention(x, x, x, tgt_mask)
                x = self.norm1(x + self.drop(y))
                y, _ = self.cross_attention(x, memory, memory, memory_mask)
                x = self.norm2(x + self.drop(y))
                return self.norm3(x + self.drop(self.feed_forward(x)))
        """),
    Accepted(name="loop", source="""
        class DecoderLayer(DecoderLayer):
            def forward(self, x, memory, tgt_mask=None, memory_mask=None):
                sublayers = [
                    lambda y: self.self_attention(y, y, y, tgt_mask)[0],
                    lambda y: self.cross_attention(y, memory, memory, memory_mask)[0],
                    self.feed_forward,
                ]
                norms = [self.norm1, self.norm2, self.norm3]
                for f, norm in zip(sublayers, norms):
                    x = add_and_norm(x, f, norm, self.dropout, self.norm_first)
                return x
        """),
    Accepted(name="dropout_by_hand", edits=[
        Edit("self.dropout = nn.Dropout(dropout)",
             "self.dropout = lambda x: x * (torch.rand_like(x) >= dropout) / (1 - dropout) if self.training else x"),
    ]),
    Accepted(name="keywords", edits=[
        Edit("(x, x, x, tgt_mask)", "(query=x, key=x, value=x, mask=tgt_mask)"),
        Edit(LOOK_UP,
             "self.cross_attention(x, key=memory, value=memory, mask=memory_mask)"),
    ]),
    Accepted(name="of_encoder_layer", source="""
        class DecoderLayer(nn.Module):
            def __init__(self, *args, **kwargs):
                super().__init__()
                a = EncoderLayer(*args, **kwargs)
                b = EncoderLayer(*args, **kwargs)
                self.self_attention, self.cross_attention = a.attention, b.attention
                self.feed_forward = a.feed_forward
                self.norm1, self.norm2, self.norm3 = a.norm1, a.norm2, b.norm1
                self.dropout, self.norm_first = a.dropout, a.norm_first
            def forward(self, x, memory, tgt_mask=None, memory_mask=None):
                def wrap(x, f, norm):
                    return add_and_norm(x, f, norm, self.dropout, self.norm_first)
                x = wrap(x, lambda y: self.self_attention(y, y, y, tgt_mask)[0], self.norm1)
                x = wrap(x, lambda y: self.cross_attention(y, memory, memory, memory_mask)[0], self.norm2)
                return wrap(x, self.feed_forward, self.norm3)
        """),
]
