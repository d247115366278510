"""Slips of a whole line are among the mutants, and each is what its name says."""

from tests.authoring.mutated import codes

STACK = """
class Stack(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.first, self.second = nn.Linear(d, d), nn.Linear(d, d)
        self.layers = nn.ModuleList([nn.Linear(d, d) for _ in range(3)])
        self.none = nn.ModuleList()

    def forward(self, x):
        if self.training and 0 < x.size(0) < 9:
            x = self.first(x).relu().sum(-1)
        with torch.no_grad():
            for layer in self.layers:
                x = layer(x)
        return x[::2]
"""


def test_each_slip_is_made():
    variants = codes(STACK)
    slips = {
        "another function": "self.first(x).relu().mean(-1)",
        "another attribute": "self.second(x).relu()",
        "in training or not": "if True and 0 < x.size(0)",
        "the other way": "0 < x.size(0) > 9",
        "leave out a condition": "if self.training:",
        "leave out a step": "return x[:]",
        "exchange calls": "self.first(x).sum(-1).relu()",
        "leave out a context": "if True:\n            for layer",
        "leave out a loop": "in list(self.layers)[1:]",
        "one for all": "[nn.Linear(d, d)] * len(range(3))",
    }
    for name, text in slips.items():
        assert any(text in code for code in variants[name]), name


def test_what_has_a_name_is_returned_too_early():
    variants = codes("def f(x):\n    y = x + 1\n    return y.sum()")["return too early"]
    assert variants == ["def f(x):\n    y = x + 1\n    return y"]
