"""Operators make each mutant once, and leave alone what nobody reads."""

from autograder.oracle.mutations import mutations
from autograder.oracle.operators import OPERATORS

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
    found: dict[str, list[str]] = {name: [] for name in OPERATORS}
    for mutation in mutations(source):
        found[mutation.operator].append(mutation.source)
    return found


def test_each_variant_is_made_once_and_none_is_the_solution():
    made = [mutation.source for mutation in mutations(FUNCTION)]
    assert len(made) == len(set(made)) > 30
    assert FUNCTION not in made


def test_every_variant_is_code():
    for mutation in (*mutations(FUNCTION), *mutations(MODULE)):
        compile(mutation.source, "<mutant>", "exec")


def test_classic_mistakes_are_among_them():
    found = codes(FUNCTION)
    assert any("k.transpose(-2, -1) @ q" in c for c in found["exchange operands"])
    assert any("/ math.sqrt" not in code for code in found["one operand"])
    assert any("AssertionError" in code for code in found["errors"])
    assert any("detach" in code for code in found["detach"])
    assert any("bfloat16" in code for code in found["cast"])
    assert any("_SEEN" in code for code in found["remember"])


def test_submodules_are_hidden_from_their_module():
    assert any("list(" in code for code in codes(MODULE)["registration"])


def test_the_text_of_an_error_stays_as_it_is():
    assert all(
        "no masks" in code or "ValueError" not in code
        for code in (m.source for m in mutations(FUNCTION))
    )
