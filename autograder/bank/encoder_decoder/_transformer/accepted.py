"""Other styles in which the Transformer is right."""

from __future__ import annotations

from autograder.oracle.specification import Accepted, Edit

ACCEPTED = [
    Accepted(name="spelt_out", source="""
        class Transformer(nn.Module):
            def __init__(self, src_vocab, tgt_vocab, d_model, num_heads, num_layers, d_ff,
                         dropout=0.0, norm_first=False, activation='relu',
                         shared_embedding=False, pad_id=0, max_len=512, positions=None):
                super().__init__()
                self.pad = pad_id
                pe = positional_encoding
                if positions is None:
                    positions = pe.PositionalEncoding(pe.sinusoid(torch.arange(max_len), d_model))
                self.output = nn.Linear(d_model, tgt_vocab)
                self.source = pe.InputLayer(src_vocab, d_model, positions, dropout, pad_id)
                if shared_embedding:
                    if src_vocab != tgt_vocab:
                        raise ValueError('one table, one vocabulary')
                    self.target = self.source
                    self.output.weight = self.source.embedding.weight
                else:
                    self.target = pe.InputLayer(tgt_vocab, d_model, positions, dropout, pad_id)
                enc_norm = nn.LayerNorm(d_model) if norm_first else None
                dec_norm = nn.LayerNorm(d_model) if norm_first else None
                self.decoder = Decoder(lambda: DecoderLayer(d_model, num_heads, d_ff, dropout,
                    norm_first, activation), num_layers, dec_norm)
                self.encoder = Encoder(lambda: EncoderLayer(d_model, num_heads, d_ff, dropout,
                    norm_first, activation), num_layers, enc_norm)
            def encode(self, src):
                return self.encoder(self.source(src), (src != self.pad)[:, None, None])
            def decode(self, tgt, memory, src):
                src_mask, tgt_mask = make_masks(src, tgt, self.pad)
                return self.output(self.decoder(self.target(tgt), memory, tgt_mask, src_mask))
            def forward(self, src, tgt):
                memory = self.encode(src)
                return self.decode(tgt, memory, src)
        """),
    Accepted(name="tied_the_other_way", edits=[
        Edit(
            "self.output.weight = self.source.embedding.weight",
            """
            self.source.embedding.weight = self.output.weight
            nn.init.zeros_(self.output.weight.data[pad_id])
            """,
        ),
    ]),
    Accepted(name="xavier", edits=[
        Edit(
            "self.pad_id = pad_id",
            """
            self.pad_id = pad_id
            for p in self.parameters():
                if p.dim() > 1:
                    nn.init.xavier_uniform_(p)
            with torch.no_grad():
                self.source.embedding.weight[pad_id] = 0
                self.target.embedding.weight[pad_id] = 0
            """,
        ),
    ]),
    Accepted(name="keywords", edits=[
        Edit("memory, tgt_mask, src_mask)",
             "memory=memory, memory_mask=src_mask, tgt_mask=tgt_mask)"),
        Edit("self.decode(tgt, self.encode(src), src)",
             "self.decode(tgt=tgt, memory=self.encode(src), src=src)"),
    ]),
]
