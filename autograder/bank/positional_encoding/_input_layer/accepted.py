"""Other styles in which the input layer is right."""

from __future__ import annotations

from autograder.bank.positional_encoding._input_layer.lines import DROP, SCALE, SCALED
from autograder.oracle.specification import Accepted, Edit

ACCEPTED = [
    Accepted(name="one_line", edits=[
        Edit(SCALED,
             "x = self.embedding(ids).mul(self.embedding.embedding_dim**0.5)"),
    ]),
    Accepted(name="functional_dropout", edits=[
        Edit(
            DROP,
            """
            return nn.functional.dropout(
                        self.positions(x), self.dropout.p, self.training)
            """,
        ),
    ]),
    Accepted(name="sequential", edits=[
        Edit("self.dropout = nn.Dropout(dropout)",
             "self.rest = nn.Sequential(positions, nn.Dropout(dropout))"),
        Edit(DROP, "return self.rest(x)"),
    ]),
    Accepted(name="scale_from_shape", edits=[
        Edit(
            SCALED,
            """
            x = self.embedding(ids)
            x = x * x.shape[-1] ** 0.5
            """,
        ),
    ]),
    Accepted(name="scale_as_buffer", edits=[
        Edit(SCALE,
             'self.register_buffer("scale", torch.tensor(float(d_model)).sqrt())'),
    ]),
    Accepted(name="functional_embedding", edits=[
        Edit(SCALED,
             "x = self.scale * nn.functional.embedding(ids, self.embedding.weight, self.embedding.padding_idx)"),
    ]),
    Accepted(name="xavier_start", edits=[
        Edit(
            SCALE,
            """
            self.scale = math.sqrt(d_model)
            nn.init.xavier_uniform_(self.embedding.weight)
            nn.init.zeros_(self.embedding.weight.data[padding_idx])
            """,
        ),
    ]),
    Accepted(name="dropout_by_hand", edits=[
        Edit(
            DROP,
            """
            x = self.positions(x)
            if self.training:
                keep = torch.rand_like(x) >= self.dropout.p
                x = x * keep / (1 - self.dropout.p)
            return x
            """,
        ),
    ]),
    Accepted(name="steps_in_a_tuple", source="""
        class InputLayer(nn.Module):
            def __init__(self, vocab_size, d_model, positions, dropout=0.1, padding_idx=0):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model, padding_idx)
                self.positions, self.drop = positions, nn.Dropout(dropout)
                self.steps = (
                    lambda ids: self.embedding(ids) * math.sqrt(d_model),
                    lambda x: self.drop(self.positions(x)),
                )
            def forward(self, x):
                for step in self.steps:
                    x = step(x)
                return x
        """),
]
