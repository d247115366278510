"""Lines of the solution that mutants and accepted solutions change."""

from __future__ import annotations

KV = "k, v = self.w_k(memory), self.w_v(memory)"
