"""Lines of the solution that many mistakes change."""

from __future__ import annotations

CALL = "return scaled_dot_product_attention(q, k, v, mask)"
PROJECT = "q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)"
