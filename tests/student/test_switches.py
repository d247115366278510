"""What a notebook leaves set does not reach into a check, and is set afterwards."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

from autograder import check
from autograder.solutions import attention
from autograder.student.switches import as_new, kept, renewed

# What a student may write, what is then so, and what a check should see instead.
LEFT = {
    "the default type": (
        lambda: torch.set_default_dtype(torch.float64),
        torch.get_default_dtype,
        torch.float32,
    ),
    "gradients off": (
        lambda: torch.set_grad_enabled(False),
        torch.is_grad_enabled,
        True,
    ),
    "threads": (
        lambda: torch.set_num_threads(torch.get_num_threads() + 1),
        torch.get_num_threads,
        torch.get_num_threads(),
    ),
    "determinism": (
        lambda: torch.use_deterministic_algorithms(True),
        torch.are_deterministic_algorithms_enabled,
        False,
    ),
    "the default device": (
        lambda: torch.set_default_device("meta"),
        lambda: torch.get_default_device().type,
        "cpu",
    ),
    "print options": (
        lambda: torch.set_printoptions(precision=1, sci_mode=True),
        lambda: str(torch.tensor([0.125])),
        "tensor([0.1250])",
    ),
    "anomaly detection": (
        lambda: torch.autograd.set_detect_anomaly(True),
        torch.is_anomaly_enabled,
        False,
    ),
}


@pytest.fixture(autouse=True)
def _restored():
    """This process as it was, whatever a test has set."""
    threads, options = (
        torch.get_num_threads(),
        vars(torch._tensor_str.PRINT_OPTS).copy(),
    )
    yield
    torch.set_default_dtype(torch.float32)
    torch.set_grad_enabled(True)
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(False)
    torch.set_default_device(None)
    torch.autograd.set_detect_anomaly(False)
    vars(torch._tensor_str.PRINT_OPTS).update(options)


@pytest.mark.parametrize("name", LEFT)
def test_a_switch_is_as_new_in_a_check_and_as_it_was_afterwards(name):
    leave, read, new = LEFT[name]
    leave()
    left = read()
    assert left != new
    with as_new():
        assert read() == new
    assert read() == left


@pytest.mark.parametrize("name", LEFT)
def test_what_one_answer_leaves_set_does_not_reach_the_next(name):
    leave, read, new = LEFT[name]
    before = read()
    with kept():
        with renewed():
            leave()
        with renewed():
            assert read() == new
    # A device that is set while something is asked stays set: it is no switch of ours.
    assert read() == before or name == "the default device"


def test_a_check_draws_from_generators_of_its_own():
    random.seed(7)
    np.random.seed(7)
    wanted = random.random(), np.random.random()
    random.seed(7)
    np.random.seed(7)
    with as_new():
        first = random.random(), np.random.random()
    with as_new():
        assert (random.random(), np.random.random()) == first
    assert (random.random(), np.random.random()) == wanted


def test_half_a_pair_of_normal_numbers_is_still_there_after_a_check():
    np.random.seed(7)
    wanted = np.random.randn(), np.random.randn()
    np.random.seed(7)
    first = np.random.randn()
    with as_new():
        np.random.randn()
    assert (first, np.random.randn()) == wanted


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left_set_costs_no_point(name):
    LEFT[name][0]()
    for exercise, answer in (
        ("attention/self_attention", attention.SelfAttention),
        ("attention/padding_mask", attention.padding_mask),
    ):
        verdict = check(exercise, answer)
        assert verdict.points == verdict.max_points, str(verdict)


def test_inference_mode_costs_no_point():
    with torch.inference_mode():
        verdict = check("attention/padding_mask", attention.padding_mask)
    assert verdict.points == verdict.max_points
