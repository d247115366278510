"""Probes of unit 08, which call a student's answers and report what they do."""

from transformer_course.assistant.probes import (  # noqa: F401  (they register)
    chat,
    clinic,
    lora,
    preferences,
    rewards,
)
