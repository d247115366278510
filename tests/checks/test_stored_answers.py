"""A mistake's answers are stored by what differs, and read again as they were."""

import torch

from autograder.checks.exercise import RAISED, Case, Other
from autograder.checks.stored_answers import pack, select_whole, unpack
from autograder.checks.values import same_answer

X, LARGE = (
    torch.arange(6.0).view(2, 3),
    torch.randn(5, 7, generator=torch.Generator().manual_seed(1)),
)
EXPECTED = {"small": X, "large": LARGE, "mask": X > 2, "form": "a row"}
MISTAKES = {
    "right": EXPECTED,
    "doubled": EXPECTED | {"small": 2 * X, "large": 2 * LARGE, "form": "two rows"},
    "flat": EXPECTED | {"small": X.flatten(), "mask": Other("list")},
    "more": EXPECTED | {"mask": X > 3, "extra": X.long()},
    "raised": {RAISED: "ValueError: no"},
}


def test_mistakes_are_the_same_after_packing():
    case = Case("c", "c", "", {"x": X}, EXPECTED, MISTAKES)
    tensors: dict[str, torch.Tensor] = {}
    packed = pack(case, "e/c/", tensors)
    assert packed["mistakes"]["right"] == {}
    answers = unpack(packed, "e/c/", tensors.__getitem__)
    assert answers["mistakes"].keys() == MISTAKES.keys()
    for name, mistake in answers["mistakes"].items():
        assert mistake.keys() == MISTAKES[name].keys()
        for label, value in mistake.items():
            assert same_answer(value, MISTAKES[name][label], case), (name, label)
    assert "large" not in select_whole(answers["mistakes"]["doubled"])
