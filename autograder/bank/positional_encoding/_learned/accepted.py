"""Other styles in which the module of learned positions is right."""

from __future__ import annotations

from autograder.bank.positional_encoding._learned.lines import ADD_ROWS, TABLE
from autograder.oracle.specification import Accepted, Edit

ACCEPTED = [
    Accepted(name="filled_later", edits=[
        Edit(
            TABLE,
            """
            self.table = nn.Parameter(torch.empty(max_len, d_model))
            nn.init.normal_(self.table, std=0.02)
            """,
        ),
    ]),
    Accepted(name="lookup", edits=[
        Edit(
            ADD_ROWS,
            """
            positions = torch.arange(length, device=x.device)
            return nn.functional.embedding(positions, self.table) + x
            """,
        ),
    ]),
    Accepted(name="refuse_late", source="""
        class LearnedPositions(nn.Module):
            def __init__(self, d_model, max_len):
                super().__init__()
                self.register_parameter(
                    'table', nn.Parameter(torch.rand(max_len, d_model) / 50))
            def forward(self, x):
                b, length, _ = x.shape
                rows = self.table[:length]
                if len(rows) < length:
                    raise ValueError('too long')
                return x + rows.unsqueeze(0).repeat(b, 1, 1)
        """),
    Accepted(name="narrow_raised", source="""
        class LearnedPositions(nn.Module):
            def __init__(self, d_model, max_len):
                super().__init__()
                self.max_len = max_len
                self.table = nn.Parameter(torch.randn(max_len, d_model) * 0.1)
            def forward(self, x):
                if not x.shape[1] <= self.max_len:
                    raise ValueError('too long')
                return torch.add(x, self.table.narrow(0, 0, x.shape[1]))
        """),
]
