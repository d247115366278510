"""Lines of the solution that many mistakes change."""

from __future__ import annotations

ANGLES = "angles = positions.unsqueeze(-1) / 10000**exponents"
