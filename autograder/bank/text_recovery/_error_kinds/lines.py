"""Lines of the solution that many mistakes change."""

from __future__ import annotations

SIGN = "if not any(c.isalnum() for side in there for c in side):"
FUNCTION = "if all(side in function_words for side in there):"
DIFFER = "if pair[0] != pair[1]"
