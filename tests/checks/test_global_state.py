"""What a notebook leaves set does not reach into a check, and is set afterwards."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
from torch.nn.modules import module as modules
from torch.nn.modules.module import register_module_forward_hook

from autograder import check
from autograder.checks.global_state import pristine, reset, restored
from transformer_course.solutions import attention

# What a student may write, what is then so, and what a check should see instead.
LEFT = {
    "the default type": (lambda: torch.set_default_dtype(torch.float64),
        torch.get_default_dtype, torch.float32),
    "gradients off": (lambda: torch.set_grad_enabled(False), torch.is_grad_enabled,
        True),
    "threads": (lambda: torch.set_num_threads(torch.get_num_threads() + 1),
        torch.get_num_threads, torch.get_num_threads()),
    "determinism": (lambda: torch.use_deterministic_algorithms(True),
        torch.are_deterministic_algorithms_enabled, False),
    "the default device": (lambda: torch.set_default_device("meta"),
        lambda: torch.get_default_device().type, "cpu"),
    "print options": (lambda: torch.set_printoptions(precision=1, sci_mode=True),
        lambda: str(torch.tensor([0.125])), "tensor([0.1250])"),
    "anomaly detection": (lambda: torch.autograd.set_detect_anomaly(True),
        torch.is_anomaly_enabled, False),
    "NumPy's errors": (lambda: np.seterr(all="raise"), lambda: np.geterr()["divide"],
        "warn"),
    "autocast": (lambda: torch.set_autocast_enabled("cpu", True),
        lambda: (torch.ones(1, 1) @ torch.ones(1, 1)).dtype, torch.float32),
    "a hook of all modules": (
        lambda: register_module_forward_hook(lambda *_: torch.zeros(1)),
        lambda: float(torch.nn.Identity()(torch.ones(1))),
        1.0,
    ),
}  # fmt: skip
# Of torch's ways to set something for the whole process: those above, and those that
# change nothing of what a check sees.
KNOWN = {
    "set_anomaly_enabled", "set_autocast_enabled", "set_default_device",
    "set_default_dtype", "set_default_tensor_type", "set_deterministic_debug_mode",
    "set_float32_matmul_precision", "set_grad_enabled", "set_num_threads",
    "set_printoptions", "use_deterministic_algorithms", "set_detect_anomaly",
    "register_module_forward_hook", "register_module_forward_pre_hook",
    "register_module_backward_hook", "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_buffer_registration_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
}  # fmt: skip
HARMLESS = {
    "set_autocast_cache_enabled": "of what is switched off",
    "set_autocast_cpu_dtype": "of what is switched off",
    "set_autocast_cpu_enabled": "an older name of set_autocast_enabled",
    "set_autocast_dtype": "of what is switched off",
    "set_autocast_gpu_dtype": "of what is switched off",
    "set_autocast_ipu_dtype": "of devices that nobody has",
    "set_autocast_ipu_enabled": "of devices that nobody has",
    "set_autocast_xla_dtype": "of devices that nobody has",
    "set_autocast_xla_enabled": "of devices that nobody has",
    "set_flush_denormal": "far below every tolerance, and nobody can ask for it",
    "set_multithreading_enabled": "the same gradients, sooner or later",
    "set_num_interop_threads": "once in a process; there is one thread",
    "set_rng_state": "each case has dice of its own (see observe)",
    "set_vital": "for statistics",
    "set_warn_always": "warnings are dropped (see observe)",
}  # fmt: skip


def test_all_that_torch_lets_one_set_is_known():
    """A newer version may bring another switch: is it one that a check should see?"""
    setters = [n for n in dir(torch) if n.startswith(("set_", "use_"))]
    setters += [n for n in dir(torch.autograd) if n.startswith("set_")]
    setters += [n for n in dir(modules) if n.startswith("register_module_")]
    assert not set(setters) - KNOWN - HARMLESS.keys()


@pytest.fixture(autouse=True)
def _restored():
    """This process as it was, whatever a test has set."""
    threads = torch.get_num_threads()
    options = vars(torch._tensor_str.PRINT_OPTS).copy()
    yield
    torch.set_default_dtype(torch.float32)
    torch.set_grad_enabled(True)
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(False)
    torch.set_default_device(None)
    torch.autograd.set_detect_anomaly(False)
    torch.set_autocast_enabled("cpu", False)
    np.seterr(divide="warn", over="warn", under="ignore", invalid="warn")
    modules._global_forward_hooks.clear()
    vars(torch._tensor_str.PRINT_OPTS).update(options)


@pytest.mark.parametrize("name", LEFT)
def test_a_switch_is_as_new_in_a_check_and_as_it_was_afterwards(name):
    leave, read, new = LEFT[name]
    leave()
    settings = read()
    assert settings != new
    with pristine():
        assert read() == new
    assert read() == settings


@pytest.mark.parametrize("name", LEFT)
def test_what_one_answer_leaves_set_does_not_reach_the_next(name):
    leave, read, new = LEFT[name]
    before = read()
    with restored():
        with reset():
            leave()
        with reset():
            assert read() == new
    assert read() == before


def test_a_check_draws_from_generators_of_its_own():
    random.seed(7)
    np.random.seed(7)
    wanted = random.random(), np.random.random()
    random.seed(7)
    np.random.seed(7)
    with pristine():
        first = random.random(), np.random.random()
    with pristine():
        assert (random.random(), np.random.random()) == first
    assert (random.random(), np.random.random()) == wanted


def test_a_check_inside_another_leaves_its_generators_as_they_were():
    with pristine():
        wanted = random.random(), np.random.random()
    with pristine():
        with pristine():
            random.random(), np.random.random()
        assert (random.random(), np.random.random()) == wanted


def test_half_a_pair_of_normal_numbers_is_still_there_after_a_check():
    np.random.seed(7)
    wanted = np.random.randn(), np.random.randn()
    np.random.seed(7)
    first = np.random.randn()
    with pristine():
        np.random.randn()
    assert (first, np.random.randn()) == wanted


def test_what_is_left_set_costs_no_point():
    for leave, _, _ in LEFT.values():
        leave()
    for exercise, answer in (
        ("attention/cross_attention", attention.CrossAttention),
        ("attention/softmax", attention.stable_softmax),
    ):
        verdict = check(exercise, answer)
        assert verdict.points == verdict.max_points, str(verdict)


def test_inference_mode_costs_no_point():
    with torch.inference_mode():
        verdict = check("attention/softmax", attention.stable_softmax)
    assert verdict.points == verdict.max_points


def test_what_an_answer_leaves_set_costs_as_little_here_as_in_grading():
    """There, each case finds all switches as new."""
    # Where tensors are made with another device, the answer's own case fails.
    left = [LEFT[name] for name in LEFT if name != "the default device"]

    def padding_mask(tokens, pad_id=0):
        mask = attention.padding_mask(tokens, pad_id)
        for leave, _, _ in left:
            leave()
        return mask

    before = [read() for _, read, _ in left]
    other_masks = attention.causal_mask, attention.combine_masks
    verdict = check("attention/masks", padding_mask, *other_masks)
    assert verdict.points == verdict.max_points, str(verdict)
    assert [read() for _, read, _ in left] == before
