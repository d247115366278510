"""The clinic of unit 9: every faulty patching tool differs from a correct one."""

import pytest
import torch

from autograder.authoring.draw import Draw
from transformer_course.look_inside.exercises.bug_clinic import CASES
from transformer_course.look_inside.probes.patches import PatchingTool, make_model

BUGS = [
    str(case.inputs(Draw("bugs"))[name]).partition(", ")[2]
    for case in CASES
    for name in ("other", "third")
]


def largest_gap(style, bug):
    """How far a tool is from a correct one in a few calls on two texts."""
    tool, correct = (
        PatchingTool(make_model(5, 3, 11), way, name)
        for way, name in ((style, bug), ("loop", ""))
    )
    ids = torch.tensor([[1, 2, 3, 4, 5]])
    other = torch.tensor([[6, 7, 8, 9, 10]])
    calls = [(ids, other, block, at) for block in range(3) for at in range(5)]
    calls += [(ids, ids, 1, 2), (other, other, 0, 0)]
    return max((tool(*call) - correct(*call)).abs().max().item() for call in calls)


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_of_a_patching_tool_is_larger_than_the_contract_says(bug):
    assert largest_gap("hooks", bug) > 1e-3


def test_both_correct_tools_agree():
    assert largest_gap("hooks", "") < 1e-5
