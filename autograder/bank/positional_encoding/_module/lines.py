"""Lines of the solution that many mistakes change."""

from __future__ import annotations

REGISTER = 'self.register_buffer("pe", table)  # (max_len, d_model)'
ADD = "return x + self.pe[: x.size(1)]"
