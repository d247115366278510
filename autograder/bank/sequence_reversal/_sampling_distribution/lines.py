"""Lines of the solution that many mistakes change."""

from __future__ import annotations

DIVIDED = "scores = logits / temperature  # (..., V)"
LEAST = "least = scores.topk(min(top_k, scores.size(-1)), dim=-1).values[..., -1:]"
LAST = "return scores.softmax(dim=-1)"
