"""Other right ways to write the position-wise feed-forward network."""

from __future__ import annotations

from autograder.oracle.specification import Accepted, Edit

ACCEPTED = [
    Accepted(name="in_steps", source="""
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.0, activation='relu'):
                super().__init__()
                self.drop = nn.Dropout(p=dropout)
                self.linear2 = nn.Linear(d_ff, d_model)
                self.linear1 = nn.Linear(d_model, d_ff)
                self.act = nn.ReLU() if activation == 'relu' else nn.GELU()
                nn.init.xavier_uniform_(self.linear1.weight)
            def forward(self, x):
                x = self.linear1(x)
                x = self.act(x)
                x = self.drop(x)
                x = self.linear2(x)
                return x
        """),
    Accepted(name="own_tensor_in_place", edits=[
        Edit("self.activation(self.linear1(x))",
             "self.linear1(x).relu_() if self.activation is F.relu else F.gelu(self.linear1(x))"),
    ]),
    Accepted(name="dropout_before_relu", edits=[
        Edit(
            "return self.linear2(self.dropout(hidden))",
            """
            if self.activation is F.relu:
                return self.linear2(F.relu(self.dropout(self.linear1(x))))
            return self.linear2(self.dropout(hidden))
            """,
        ),
    ]),
    Accepted(name="functional", edits=[
        Edit("hidden = self.activation(self.linear1(x))",
             "hidden = self.activation(F.linear(x, self.linear1.weight, self.linear1.bias))"),
        Edit("self.dropout(hidden)",
             "F.dropout(hidden, self.dropout.p, training=self.training)"),
    ]),
    Accepted(name="getattr", edits=[
        Edit('{"relu": F.relu, "gelu": F.gelu}[activation]',
             "getattr(F, activation)"),
    ]),
    Accepted(name="flat_rows", edits=[
        Edit(
            "return self.linear2(self.dropout(hidden))",
            """
            rows = hidden.reshape(-1, hidden.size(-1))
            return self.linear2(self.dropout(rows)).reshape(x.shape)
            """,
        ),
    ]),
]
