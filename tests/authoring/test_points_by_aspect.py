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
    ("attention/cross_attention", "mask_dropped", 45, 65),
    ("multi_head_attention/multi_head_attention", "mask_ignored", 50, 70),
    ("multi_head_attention/multi_head_attention", "dropout_always", 75, 85),
    ("multi_head_attention/multi_head_attention", "starts_at_zero", 90, 99),
    ("positional_encoding/embed", "detached", 70, 90),
    ("positional_encoding/input_layer", "padding_trained", 70, 90),
    ("positional_encoding/input_layer", "dropout_always", 65, 85),
    ("multi_head_attention/to_pytorch", "output_tied", 60, 85),
    ("multi_head_attention/to_pytorch", "dropout_kept", 75, 95),
    # A promised error is forgotten.
    ("positional_encoding/sinusoid", "odd_accepted", 80, 95),
    ("sequence_reversal/sampling_distribution", "zero_temperature_accepted", 80, 95),
    # Gradients are recorded for nothing.
    ("sequence_reversal/greedy_decode", "gradients", 80, 95),
    ("text_recovery/beam_search", "gradients", 65, 85),
    # A bias is missing, or a parameter is there for nothing.
    ("attention/cross_attention", "no_bias", 85, 97),
    ("encoder_decoder/transformer", "output_no_bias", 85, 97),
    ("since_2017/swiglu", "biases", 85, 97),
    # The right text comes in another form.
    ("text_recovery/beam_search", "bos_returned", 65, 85),
    ("sequence_reversal/greedy_decode", "no_padding", 65, 85),
    # One of two results is right, or a special case wrong.
    ("attention/cross_attention", "keys_as_values", 15, 35),
    ("attention/masks", "one_ahead", 60, 80),
    ("encoder_decoder/shifted", "no_shift", 40, 60),
    ("positional_encoding/embed", "padding_by_its_row", 70, 90),
    # The caller's tensor is another one afterwards.
    ("attention/softmax", "in_place", 50, 90),
]


@functools.cache
def cases(name: str) -> tuple[Case, ...]:
    return tuple(fresh_cases(specification(name), "shares"))


@pytest.mark.parametrize(("name", "variant", "least", "most"), SHARES)
def test_a_mistake_earns_what_it_should(name, variant, least, most):
    task = specification(name)
    variants = {
        variant.name: variant for mutant in task.mutants for variant in mutant.variants
    }
    answer, probe = build_object(task, variants[variant]), find(name)
    exercise = Exercise(name, "", 100.0, (), aspects=task.aspects)
    verdict = judge(
        exercise, cases(name), lambda case: observe(probe, answer, dict(case.inputs))
    )
    shares = {a: f"{x:.0f}/{y:.0f}" for a, (x, y) in verdict.aspects.items()}
    assert least <= verdict.points <= most, (verdict.points, shares)
