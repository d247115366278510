"""Mutants that exercises of several units share."""

from __future__ import annotations

from autograder.oracle.notation import edit, wrong
from autograder.oracle.specification import Mutant

_LOOK = "What does `list(module.state_dict())` show?"


def mask_in_the_state(line: str) -> Mutant:
    """A module whose state dict holds a mask; ``line`` is one of its `__init__`."""
    mask = 'self.register_buffer("causal", torch.ones(8, 8).tril().bool())'
    return wrong("mask_in_the_state",
                 "Something of your module stands in the state dict that is none of its weights.",
                 _LOOK,
                 edit(line, f"{line}\n{mask}"))


def weights_detached(line: str, now: str) -> Mutant:
    """Weights beside an output, returned by ``now`` in place of ``line``."""
    return wrong("weights_detached",
                 "The numbers are right, but no gradient flows back through the weights that you return.",
                 "What do the conventions say of gradients, and which results do they mean?",
                 edit(line, now))


def under_two_names(line: str, again: str, what: str = "The weights") -> Mutant:
    """A module that registers ``what`` a second time, by ``again`` behind ``line``."""
    return wrong("under_two_names",
                 f"{what} stand in the state dict twice, under two names.",
                 _LOOK,
                 edit(line, f"{line}\n{again}"))
