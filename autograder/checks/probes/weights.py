"""Load weights by name into a student's module, and read them from one.

Missing and superfluous biases are tolerated, so that the rest can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import SequenceMatcher

import torch
from torch import nn

from autograder.checks.exercise import WrongAnswerError, plain
from autograder.checks.probes import (
    Inputs,
    Seen,
    describe,
    join_names,
    select_by_prefix,
)

WEIGHTS = "weights."  # before a parameter's name
AWAITED = "_its_call_is_awaited"  # marks the class of a module whose call is caught
# What `report_initialisation` reports.
INITIALISATION = (
    "parameters that are missing; parameters that do not learn; "
    "matrices that do not start at random"
)
_NEAREST = 8  # names of present parameters that are listed if one is missing
_ADDING = (nn.Linear, nn.LayerNorm)  # layers that only add their bias


def report_initialisation(module: object, inputs: Inputs) -> Seen:
    """Report parameters that a new module lacks, freezes or does not start at random.

    Each value lists parameters or is "none". Call this before weights are loaded.
    """
    # The first call will end the probe, and what is reported here would be lost.
    if is_awaited(module):
        return {}
    parameters = (
        dict(module.named_parameters()) if isinstance(module, nn.Module) else {}
    )
    lacking = [f"`{name}`" for name in _missing(module, select_weights(inputs))]
    frozen = [name for name, value in parameters.items() if not value.requires_grad]
    alike = [
        name
        for name, value in parameters.items()
        if value.dim() > 1 and not 1e-4 < float(value.detach().std()) < 10
    ]
    return {
        "parameters that are missing": join_names(lacking),
        "parameters that do not learn": join_names(sorted(frozen)),
        "matrices that do not start at random": join_names(sorted(alike)),
    }


def starting_as_zero(module: object) -> str:
    """List a new module's embedding rows that are zero (as for padding), as text."""
    named = isinstance(module, nn.Module) and module.named_parameters(
        remove_duplicate=False
    )
    zero = [
        f"row {row} of {name}"
        for name, table in sorted(named or [])
        if name.endswith("embedding.weight") and table.dim() == 2
        for row in (table == 0).all(dim=1).nonzero().flatten().tolist()
    ]
    return join_names(zero)


def is_awaited(module: object) -> bool:
    """Return whether a module's first call will be caught, which ends the probe.

    Tests of general properties catch this call, to repeat it in other ways.
    """
    return AWAITED in vars(type(module))


def parameter_shapes(module: nn.Module) -> str:
    """A module's parameters in a line: ``w_k.bias (6,), w_k.weight (6, 5)``."""
    shapes = {name: tuple(p.shape) for name, p in module.named_parameters()}
    return ", ".join(f"{name} {shapes[name]}" for name in sorted(shapes))


def weights_of(module: nn.Module) -> Seen:
    """A module's parameters as ``weights.<parameter>``, to be sent to the judge."""
    named = module.named_parameters()
    return {f"{WEIGHTS}{name}": plain(value.float()) for name, value in named}


def with_weights(model: nn.Module, weights: Inputs, refusal: str) -> nn.Module:
    """Load a student's weights, from `weights_of`, into the course's model.

    The model, in eval mode, can be examined without running the student's code. A
    bias that is missing in the weights is zero.

    Raises:
        WrongAnswerError: the weights do not fit; ``refusal`` is the message.
    """
    named = dict(model.named_parameters())
    parameters = {f"{WEIGHTS}{name}": p for name, p in named.items()}
    zeros = {n: torch.zeros_like(named[n]) for n in named if _is_added(model, n)}
    weights = {f"{WEIGHTS}{n}": zero for n, zero in zeros.items()} | dict(weights)
    fits = set(weights) == set(parameters) and all(
        isinstance(value, torch.Tensor)
        and value.dtype == torch.float32
        and value.shape == parameters[name].shape
        for name, value in weights.items()
    )
    if not fits:
        raise WrongAnswerError(refusal)
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(weights[name])
    return model.eval()


def select_weights(inputs: Inputs) -> dict[str, torch.Tensor]:
    """Select the inputs named ``weights.<parameter>``, by parameter."""
    return select_by_prefix(inputs, WEIGHTS)


def load_weights(module: nn.Module, inputs: Inputs) -> nn.Module:
    """Copy the inputs named ``weights.<parameter>`` into the module, in eval mode.

    Weights are matched by name. A missing bias is added, and a superfluous one is
    set to zero.

    Raises:
        WrongAnswerError: another parameter is missing, or a shape is wrong.
    """
    if not isinstance(module, nn.Module):
        raise WrongAnswerError(f"expected an nn.Module, got {describe(module)}")
    weights = select_weights(inputs)
    parameters = dict(completed(module, weights).named_parameters())
    _refuse_others(parameters, weights, module)
    with torch.no_grad():
        for name, value in weights.items():
            parameters[name].copy_(value)
        for name in parameters.keys() - weights:
            if _is_added(module, name):
                parameters[name].zero_()
    parts = (*parameters.values(), *module.buffers())
    for device in {value.device for value in weights.values()}:
        if any(part.device != device for part in parts):
            module.to(device)  # only if needed, as it takes a while even for nothing
    return module.eval()


def completed(module: nn.Module, weights: Mapping[str, torch.Tensor]) -> nn.Module:
    """Add the biases that a module lacks, if it lacks nothing else; return the module.

    The module can then be tried with the other weights.
    """
    missing = _missing(module, weights)
    if all(_is_added(module, name) for name in missing):
        for name in missing:
            layer = module.get_submodule(name.removesuffix(".bias"))
            layer.bias = nn.Parameter(torch.zeros_like(weights[name]))
    return module


def _missing(module: object, weights: Mapping[str, torch.Tensor]) -> list[str]:
    """Return the names of weights for which a module has no parameter.

    A parameter that a module holds under several names counts under each of them.
    """
    if not isinstance(module, nn.Module):
        return []
    parameters = dict(module.named_parameters(remove_duplicate=False))
    return [name for name in weights if name not in parameters]


def _is_added(module: nn.Module, name: str) -> bool:
    """Return whether a name is that of the bias of a Linear or LayerNorm in a module.

    The layer itself must exist, but may have been created without a bias.
    """
    layer = dict(module.named_modules()).get(name.removesuffix(".bias"))
    return isinstance(layer, _ADDING) and name.endswith(".bias")


def _refuse_others(
    parameters: Mapping[str, torch.Tensor], weights: Inputs, module: nn.Module
) -> None:
    """Raise WrongAnswerError if a weight fits no parameter in name and shape."""
    missing = [f"`{name}`" for name in weights if name not in parameters]
    if missing:
        # Further names of parameters that are shared.
        shared = (
            dict(module.named_parameters(remove_duplicate=False)).keys() - parameters
        )
        wanted = "a parameter" if len(missing) == 1 else "parameters"
        likeness = {n: SequenceMatcher(None, n, missing[0]).ratio() for n in parameters}
        nearest = sorted(parameters, key=lambda name: -likeness[name])
        # The names `found` and `more` are fields in the translated messages.
        found = ", ".join(f"`{name}`" for name in nearest[:_NEAREST])
        found = found or "no parameters at all"
        if (more := len(parameters) - _NEAREST) > 0:
            found += f" and {more} more"
        twice = [f"`{name}`" for name in weights if name in shared]
        found += f"; {', '.join(twice)}: shared with another name" if twice else ""
        raise WrongAnswerError(f"expected {wanted} {', '.join(missing)}, found {found}")
    mismatches = [
        f"`{name}` of shape {tuple(value.shape)}, found {tuple(parameters[name].shape)}"
        for name, value in weights.items()
        if parameters[name].shape != value.shape
    ]
    if mismatches:
        raise WrongAnswerError(f"expected {'; '.join(mismatches)}")
