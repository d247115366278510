"""The published parameters come into the classes of unit 7, changed where asked."""

from types import SimpleNamespace

import torch
from torch import nn

from transformer_course.library.chat_in_classes import fill


def test_only_matrices_of_blocks_are_changed():
    network = nn.ModuleDict(
        {"embedding": nn.Embedding(4, 3), "blocks": nn.Sequential(nn.Linear(3, 3))}
    )
    weights = {name: torch.ones_like(p) for name, p in network.named_parameters()}
    modern = SimpleNamespace(published_tensor=lambda name, published, *_: weights[name])
    assert fill(network.train(), modern, weights, lambda w: 2 * w) is network
    assert not network.training
    first_values = {n: p.flatten()[0].item() for n, p in network.named_parameters()}
    assert first_values == {
        "embedding.weight": 1.0, "blocks.0.weight": 2.0, "blocks.0.bias": 1.0
    }  # fmt: skip
