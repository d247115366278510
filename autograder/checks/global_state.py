"""Reset global switches, mainly torch's, to their values in a new process.

A check's verdict must not depend on what a notebook has changed, like a seed.
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


def _get_generator() -> tuple[Any, Any]:
    """Return NumPy's global generator and its state, to be restored later."""
    return mtrand.get_bit_generator(), np.random.get_state(legacy=False)


def _set_generator(saved: tuple[Any, Any] | None) -> None:
    """Restore NumPy's saved generator; for None, put a newly seeded one in its place.

    Generators are exchanged, because copying their state takes a while.
    """
    if saved is None:
        _SEEDED.seed(_SEED)
        mtrand.set_bit_generator(_OURS)
        return
    generator, state = saved
    mtrand.set_bit_generator(generator)
    # Setting a generator loses half a pair; and if the generator is ours, a nested
    # check has drawn from it.
    if state["has_gauss"] or generator is _OURS:
        np.random.set_state(state)


# Hooks that run for every module; a student may look at shapes with one, say.
_HOOKS = [
    hooks
    for name, hooks in sorted(vars(modules).items())
    if name.startswith("_global_") and isinstance(hooks, dict)
]


def _set_hooks(saved: Sequence[Mapping[Any, Any]]) -> None:
    """Replace the contents of PyTorch's global hook dictionaries with saved ones."""
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
    (_get_generator, _set_generator, None),
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
    """Set all switches as in a new process, and restore them afterwards.

    A switch is a setting of the whole process: a default dtype, a seed, a generator.
    """
    with restored(), reset():
        yield


@contextlib.contextmanager
def restored() -> Iterator[None]:
    """Restore all global switches (dtype, seeds, threads, ...) when the context ends.

    Reading them is slow: use this once, around several calls of `reset`.
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
    """Return a context in which new tensors are created on the CPU."""
    if torch.get_default_device().type == "cpu":
        return contextlib.nullcontext()
    return torch.device("cpu")


def _set_device(device: torch.device) -> None:
    if torch.get_default_device() != device:  # an unset default slows no calls
        torch.set_default_device(None if device.type == "cpu" else device)


def _set_threads(number: int) -> None:
    if torch.get_num_threads() != number:
        torch.set_num_threads(number)


@contextlib.contextmanager
def attributes_replaced(*replacements: tuple[object, str, object]) -> Iterator[None]:
    """Temporarily replace attributes, each given as (holder, name, value)."""
    saved = [(holder, name, getattr(holder, name)) for holder, name, _ in replacements]
    try:
        for holder, name, value in replacements:
            setattr(holder, name, value)
        yield
    finally:
        for holder, name, value in saved:
            setattr(holder, name, value)
