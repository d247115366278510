"""Lines of the solution that mutants and accepted solutions change."""

from __future__ import annotations

TABLE = "self.table = nn.Parameter(0.02 * torch.randn(max_len, d_model))"
ADD_ROWS = "return x + self.table[:length]"
