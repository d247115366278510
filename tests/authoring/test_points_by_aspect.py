"""Points follow understanding: what typical mistakes earn, in hundredths."""

from __future__ import annotations

import functools

import pytest

from autograder.authoring.cases import fresh_cases
from autograder.authoring.catalogue import specification
from autograder.authoring.variants import build_object
from autograder.checks.compare import judge
from autograder.checks.exercise import Case, Exercise
from autograder.checks.observe import observe
from autograder.checks.probes import find

SHARES = [
    # The idea is missing: nothing, whatever else is in order.
    ("attention/softmax", "not_divided", 0, 0),
    ("attention/scaled_dot_product", "unscaled", 0, 10),
    ("multi_head_attention/split_heads", "view_only", 0, 35),
    ("positional_encoding/bug_clinic", "accepts_all", 0, 0),
    ("positional_encoding/bug_clinic", "rejects_all", 0, 0),
    # A part of it is missing, the rest is right.
    ("attention/cross_attention", "mask_dropped", 40, 50),
    ("multi_head_attention/multi_head_attention", "mask_ignored", 40, 50),
    ("multi_head_attention/multi_head_attention", "dropout_always", 70, 80),
    ("multi_head_attention/multi_head_attention", "starts_at_zero", 75, 80),
    ("positional_encoding/embed", "detached", 40, 50),
    ("positional_encoding/input_layer", "padding_trained", 40, 80),
    ("positional_encoding/input_layer", "dropout_always", 65, 80),
    ("multi_head_attention/to_pytorch", "output_tied", 40, 50),
    ("multi_head_attention/to_pytorch", "dropout_kept", 50, 80),
    # A promised error is forgotten.
    ("positional_encoding/sinusoid", "odd_accepted", 80, 90),
    ("sequence_reversal/sampling_distribution", "zero_temperature_accepted", 80, 90),
    # Gradients are recorded for nothing.
    ("sequence_reversal/greedy_decode", "gradients", 75, 80),
    ("text_recovery/beam_search", "gradients", 65, 80),
    # A bias is missing, or a parameter is there for nothing.
    ("attention/cross_attention", "no_bias", 75, 80),
    ("encoder_decoder/transformer", "output_no_bias", 75, 80),
    ("since_2017/swiglu", "biases", 75, 80),
    # The right text comes in another form.
    ("text_recovery/beam_search", "bos_returned", 80, 90),
    ("sequence_reversal/greedy_decode", "no_padding", 10, 50),
    # One of two results is right, or a special case wrong.
    ("attention/cross_attention", "keys_as_values", 15, 35),
    ("attention/masks", "one_ahead", 60, 80),
    ("encoder_decoder/shifted", "no_shift", 30, 50),
    ("positional_encoding/embed", "padding_by_its_row", 80, 90),
    # The caller's tensor is another one afterwards.
    ("attention/softmax", "in_place", 40, 50),
]


@functools.cache
def cases(name: str) -> tuple[Case, ...]:
    return tuple(fresh_cases(specification(name), "shares"))


# Each beam decodes for seconds.
PARAMETERS = [
    pytest.param(*row, marks=[pytest.mark.slow] * row[0].endswith("beam_search"))
    for row in SHARES
]


@pytest.mark.parametrize(("name", "variant", "least", "most"), PARAMETERS)
def test_a_mistake_earns_what_it_should(name, variant, least, most):
    task = specification(name)
    variants = {
        variant.name: variant for mutant in task.mutants for variant in mutant.variants
    }
    answer, probe = build_object(task, variants[variant]), find(name)
    exercise = Exercise(name, "", 100.0, (), separate=task.separate)
    verdict = judge(
        exercise, cases(name), lambda case: observe(probe, answer, dict(case.inputs))
    )
    shares = {a: f"{x:.0f}/{y:.0f}" for a, (x, y) in verdict.aspects.items()}
    assert least <= verdict.points <= most, (verdict.points, shares)
