"""Mistakes in the temperature."""

from __future__ import annotations

from autograder.bank.sequence_reversal._sampling_distribution.lines import DIVIDED, LAST
from autograder.oracle.specification import Edit, Mutant, Way

TEMPERATURE = [
    Mutant(
        name="temperature_ignored",
        says="The temperature has no effect.",
        asks="Where in your code does `temperature` stand?",
        ways=[
            Way(edits=[Edit(DIVIDED, "scores = logits + 0.0")]),
            Way(name="after_the_softmax", edits=[
                Edit(DIVIDED, "scores = logits + 0.0"),
                Edit(LAST, """
                    chances = scores.softmax(dim=-1) / temperature
                    return chances / chances.sum(dim=-1, keepdim=True)
                    """),
            ]),
        ],
    ),
    Mutant(
        name="multiplied",
        says="The logits are multiplied by the temperature: a high one makes the "
        "text cautious.",
        asks="What should become of the probabilities as the temperature falls to "
        "0?",
        ways=[Way(edits=[Edit("logits / temperature", "logits * temperature")])],
    ),
    Mutant(
        name="divided_probabilities",
        says="The temperature divides probabilities, not logits.",
        asks="What stands inside the exponential of a softmax with a temperature?",
        ways=[Way(edits=[
            Edit(DIVIDED, "scores = logits + 0.0"),
            Edit(LAST, "return scores.softmax(dim=-1) / temperature"),
        ])],
    ),
    Mutant(
        name="softmax_twice",
        says="Softmax is applied twice: the second time to probabilities.",
        asks="What goes into the last softmax?",
        ways=[Way(edits=[
            Edit(DIVIDED, "scores = (logits / temperature).softmax(dim=-1)"),
        ])],
    ),
    Mutant(
        name="temperature_bounded",
        says="A temperature below 0.05 counts as 0.05.",
        asks="Which temperatures does the docstring allow?",
        ways=[Way(edits=[
            Edit("logits / temperature", "logits / max(temperature, 0.05)"),
        ])],
    ),
]
