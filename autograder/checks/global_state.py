"""torch's global switches, as they are when nobody has touched them.

A notebook may leave them set: another default type, no gradients, one thread, a seed.
A check asks what the code computes, not in which mood it is called.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.random import mtrand
from torch import _tensor_str as printing
from torch.nn.modules import module as modules

_SEED = 0
_OURS = np.random.MT19937()  # takes the place of NumPy's generator
_SEEDED = np.random.RandomState(_OURS)


def _numpys() -> tuple[Any, Any]:
    """NumPy's generator, and its state, which holds half a pair of normal numbers."""
    return mtrand.get_bit_generator(), np.random.get_state(legacy=False)


def _set_numpys(saved: tuple[Any, Any] | None) -> None:
    """Restore NumPy's saved generator, or put a newly seeded one in its place.

    Generators are exchanged, because copying their state takes a while.
    """
    if saved is None:
        _SEEDED.seed(_SEED)
        mtrand.set_bit_generator(_OURS)
        return
    generator, state = saved
    mtrand.set_bit_generator(generator)
    # An exchange forgets half a pair, and a check inside this one has drawn from ours.
    if state["has_gauss"] or generator is _OURS:
        np.random.set_state(state)


# Hooks of all modules that there are, as a student looks at shapes with, say.
_HOOKS = [
    hooks
    for name, hooks in sorted(vars(modules).items())
    if name.startswith("_global_") and isinstance(hooks, dict)
]


def _set_hooks(saved: Sequence[Mapping[Any, Any]]) -> None:
    for hooks, saved_hooks in zip(_HOOKS, saved, strict=True):
        if hooks or saved_hooks:
            hooks.clear()
            hooks.update(saved_hooks)


# How to read a switch, how to set it, and what it is in a new process.
_SWITCHES: tuple[tuple[Callable[..., Any], Callable[..., Any], object], ...] = (
    (torch.get_default_dtype, torch.set_default_dtype, torch.float32),
    (torch.is_grad_enabled, torch.set_grad_enabled, True),
    (torch.is_anomaly_enabled, torch.set_anomaly_enabled, False),
    (torch.get_deterministic_debug_mode, torch.set_deterministic_debug_mode, "default"),
    (torch.get_float32_matmul_precision, torch.set_float32_matmul_precision, "highest"),
    (random.getstate, random.setstate, random.Random(_SEED).getstate()),
    (_numpys, _set_numpys, None),
    (
        np.geterr,
        lambda saved: np.seterr(**saved),
        {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"},
    ),
    *(
        (
            partial(torch.is_autocast_enabled, device),
            partial(torch.set_autocast_enabled, device),
            False,
        )
        for device in ("cpu", "cuda")  # whose results it rounds
    ),
    (lambda: [*map(dict, _HOOKS)], _set_hooks, [{}] * len(_HOOKS)),
)
_THREADS = torch.get_num_threads()


@contextlib.contextmanager
def pristine() -> Iterator[None]:
    """Set all switches as in a new process, and restore them afterwards."""
    with restored(), reset():
        yield


@contextlib.contextmanager
def restored() -> Iterator[None]:
    """Restore all switches afterwards as they are now.

    Reading them takes longer than setting them: NumPy copies its generator's state.
    """
    with contextlib.ExitStack() as stack:
        for read, write, _ in _SWITCHES:
            stack.callback(write, read())
        stack.callback(_set_threads, torch.get_num_threads())
        options = vars(printing.PRINT_OPTS)
        stack.callback(options.update, options.copy())
        stack.callback(_set_device, torch.get_default_device())
        yield


@contextlib.contextmanager
def reset() -> Iterator[None]:
    """Set all switches as in a new process; `restored` around it puts them back."""
    for _, write, new in _SWITCHES:
        write(new)
    _set_device(torch.device("cpu"))  # not as a context: in one, none can be set
    _set_threads(_THREADS)
    torch.set_printoptions(profile="default", sci_mode=None)
    with torch.inference_mode(False), on_cpu():
        yield


def on_cpu() -> contextlib.AbstractContextManager[object]:
    """Make new tensors where the references are, whatever device the notebook has set.

    It does so only for another device, because it slows every call into torch.
    """
    if torch.get_default_device().type == "cpu":
        return contextlib.nullcontext()
    return torch.device("cpu")


def _set_device(device: torch.device) -> None:
    if torch.get_default_device() != device:  # none at all slows nothing
        torch.set_default_device(None if device.type == "cpu" else device)


def _set_threads(number: int) -> None:
    if torch.get_num_threads() != number:
        torch.set_num_threads(number)


@contextlib.contextmanager
def exchanged(*replacements: tuple[object, str, object]) -> Iterator[None]:
    """Temporarily replace attributes, each given as (holder, name, value)."""
    saved = [(holder, name, getattr(holder, name)) for holder, name, _ in replacements]
    try:
        for holder, name, value in replacements:
            setattr(holder, name, value)
        yield
    finally:
        for holder, name, value in saved:
            setattr(holder, name, value)
