"""Lines of the solution that many mistakes change."""

from __future__ import annotations

LOOK_UP = "self.cross_attention(x, memory, memory, memory_mask)"
LINE_1 = "x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)"
LINE_2 = "x = add_and_norm(x, look_up, self.norm2, self.dropout, self.norm_first)"
