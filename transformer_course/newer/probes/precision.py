"""The probe of an optimizer step with float32 master copies of bfloat16 parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from autograder.checks.probes import Inputs, Seen, probe


@probe(
    "newer/master_step",
    results="parameters after the steps *; master copies after the steps *",
    form="types",
)
def master_step(step: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report parameters and master copies after every step of plain or momentum SGD.

    The inputs "start n" and "gradients n" (of all steps) belong to parameter n. In
    the step "missing", parameter 0 has no gradient.
    """
    starts = [inputs[f"start {n}"] for n in range(_count_parameters(inputs))]
    # A master copy begins with the rounded value of its parameter.
    masters = [nn.Parameter(start.bfloat16().float()) for start in starts]
    parameters = [nn.Parameter(start.bfloat16()) for start in starts]
    rate, momentum = inputs["rate"].item(), inputs["momentum"].item()
    optimizer = torch.optim.SGD(masters, rate, momentum=momentum)
    history: dict[str, list[torch.Tensor]] = {}
    for number in range(len(inputs["gradients 0"])):
        for n, parameter in enumerate(parameters):
            gradient = inputs[f"gradients {n}"][number].bfloat16()
            absent = n == 0 and number == inputs["missing"].item()
            parameter.grad = None if absent else gradient.to(parameter.dtype)
        step(parameters, masters, optimizer)
        for n, (parameter, master) in enumerate(zip(parameters, masters, strict=True)):
            for kind, tensor in (("parameters", parameter), ("master copies", master)):
                values = history.setdefault(f"{kind} after the steps {n}", [])
                values.append(tensor.detach().float().clone())
    types = {str(tensor.dtype) for tensor in parameters}
    types |= {f"copies: {tensor.dtype}" for tensor in masters}
    return {name: torch.stack(values) for name, values in history.items()} | {
        "types": ", ".join(sorted(types))
    }


def _count_parameters(inputs: Inputs) -> int:
    """The number of parameters in a case, each of which has a "start"."""
    return sum(name.startswith("start ") for name in inputs)
