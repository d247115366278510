"""A function and a module for operators to change, and what they make of them."""

from autograder.authoring.expression_operators import OPERATORS
from autograder.authoring.mutations import mutations
from autograder.authoring.statement_operators import SLIPS

FUNCTION = '''
def scaled(q, k, mask=None):
    """Scores."""
    if mask is not None:
        raise ValueError("no masks")
    return q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
'''
MODULE = """
class Heads(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.maps = nn.ModuleList(nn.Linear(d, d) for _ in range(3))

    def forward(self, x):
        return self.maps[0](x)
"""


def codes(source: str) -> dict[str, list[str]]:
    sources: dict[str, list[str]] = {name: [] for name in OPERATORS | SLIPS}
    for mutation in mutations(source):
        sources[mutation.operator].append(mutation.source)
    return sources
