"""Probes of unit 08, from base model to assistant."""

from transformer_course.assistant.probes import (  # noqa: F401  (they register)
    chat,
    clinic,
    lora,
    preferences,
    rewards,
)
