"""Mutants that exercises of several units share."""

from __future__ import annotations

from autograder.oracle.specification import Edit, Mutant, Way

_LOOK = "What does `list(module.state_dict())` show?"


def mask_in_the_state(line: str) -> Mutant:
    """A module whose state dict holds a mask; ``line`` is one of its `__init__`."""
    mask = 'self.register_buffer("causal", torch.ones(8, 8).tril().bool())'
    return Mutant(
        name="mask_in_the_state",
        says="Something of your module stands in the state dict that is none of its "
        "weights.",
        asks=_LOOK,
        ways=[Way(edits=[Edit(line, f"{line}\n{mask}")])],
    )


def weights_detached(line: str, now: str) -> Mutant:
    """Weights beside an output, returned by ``now`` in place of ``line``."""
    return Mutant(
        name="weights_detached",
        says="The numbers are right, but no gradient flows back through the weights "
        "that you return.",
        asks="What do the conventions say of gradients, and which results do they "
        "mean?",
        ways=[Way(edits=[Edit(line, now)])],
    )


def under_two_names(line: str, again: str, what: str = "The weights") -> Mutant:
    """A module that registers ``what`` a second time, by ``again`` behind ``line``."""
    return Mutant(
        name="under_two_names",
        says=f"{what} stand in the state dict twice, under two names.",
        asks=_LOOK,
        ways=[Way(edits=[Edit(line, f"{line}\n{again}")])],
    )
