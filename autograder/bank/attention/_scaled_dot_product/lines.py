"""Lines of the solution that many mistakes change."""

from __future__ import annotations

FILL = "scores.masked_fill(~mask, -math.inf)"
SOFTMAX = "F.softmax(scores, dim=-1)"
RESULT = "return weights @ v, weights"
