"""A call can be made again, with its options in another form, or of a copy."""

import torch
from torch import nn

from autograder.checks.properties.call import Form, copied_module


def test_an_option_that_is_none_need_not_be_said():
    form = Form(["x", "mask", "rate"], {"mask": None, "rate": 0.5})
    assert form.by_name([1], {}) == ([1], {"rate": 0.5})
    assert form.in_order([1], {}) == ([1], {"rate": 0.5})
    assert form.in_order([1], {"mask": 2}) == ([1, 2, 0.5], {})


class Steps(nn.Module):
    """Its steps are functions that hold it, one of them through another."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

        def often(x, n):
            return self.layer(x) if n == 0 else often(x, n - 1)

        self.steps = ((lambda x: often(x, 2)), [lambda x: self.layer(x)])

    def forward(self, x):
        return self.steps[1][0](self.steps[0](x))


def test_functions_that_hold_a_module_hold_its_copy_in_the_copy():
    module = Steps()
    twin = copied_module(module)
    with torch.no_grad():
        twin.layer.weight.zero_()
        twin.layer.bias.fill_(3.0)
        assert twin(torch.ones(1, 2)).eq(3).all()
        assert not module(torch.ones(1, 2)).eq(3).any()
