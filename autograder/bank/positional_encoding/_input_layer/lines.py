"""Lines of the solution that many mistakes change."""

from __future__ import annotations

SCALED = "x = self.embedding(ids) * self.scale"
DROP = "return self.dropout(self.positions(x))"
SCALE = "self.scale = math.sqrt(d_model)"
