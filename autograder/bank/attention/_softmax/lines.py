"""Lines of the solution that many mistakes change."""

from __future__ import annotations

MAX = "x.amax(dim=-1, keepdim=True)"
SUM = "powers.sum(dim=-1, keepdim=True)"
POWERS = "(x - x.amax(dim=-1, keepdim=True)).exp()"
