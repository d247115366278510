"""Lines of the solution that many mistakes change."""

from __future__ import annotations

RESULTS = "results = [head(x, mask) for head in self.heads]"
JOINED = "joined = torch.cat(outputs, dim=-1)"
LIST_RETURN = "return self.w_o(joined), torch.stack(weights, dim=1)"
